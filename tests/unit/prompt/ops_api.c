/* ops_api.c -- valise/prompt.h, every function of it. [P6] [P8] */
#include <valise/prompt.h>

#include "base/hash.h"
#include "base/hex.h"
#include "prompt/ops_kit.h"

TEST_PARAMS(ops_api, "memory", "sqlite")

static bool has(valise_str text, const char *part)
{
    return vls_str_find(text, valise_str_of(part)) < text.len;
}

TEST(ops_api, build_and_show_are_the_same)
{
    ops *o = ops_open(t);
    valise_prompt_options options = VALISE_PROMPT_OPTIONS_INIT;
    valise_prompt *p = NULL, *again = NULL;
    const char *digits;

    options.model = "m";
    options.window = 5000;
    options.tools = "[ {\"name\" : \"read\", \"inputSchema\":{\"type\":\"object\"}} ]";
    options.params = "{ \"temperature\": 0.5 }";
    CHECK_OK(valise_prompt_build(&p, o->d->v, "s", "anthropic", &options, NULL, &t->err));
    CHECK_STR(VLS_STR("anthropic"), p->provider);
    CHECK_STR(VLS_STR("m"), p->model);
    CHECK(p->same && p->erased == 0 && p->denied == 0 && p->trimmed == 0);
    CHECK(p->tokens > 0 && p->tokens < p->limit && p->limit <= 5000);
    CHECK(p->head.ptr && has(p->head, "@1"));
    CHECK(has(p->neutral, "planted-session") && has(p->wire, "planted-session"));
    CHECK(has(p->neutral, "\"name\":\"read\"") && has(p->wire, "\"temperature\":0.5"));
    CHECK(!has(p->wire, "\"stream\":true"));
    digits = test_format("%.10s", vls_id_hex(&p->id).s);
    CHECK_OK(valise_prompt_show(&again, o->d->v, digits, NULL, &t->err));
    CHECK(vls_id_equal(&p->id, &again->id));
    CHECK_STR(p->wire, again->wire);
    CHECK_STR(p->neutral, again->neutral);
    CHECK_STR(p->head, again->head);
    CHECK(again->same && again->trimmed == p->trimmed && again->tokens == p->tokens);
    valise_prompt_free(again);
    valise_prompt_free(p);
    valise_prompt_free(NULL);
}

typedef struct pieces {
    valise_str neutral;
    const char *text;
    int count, stop_at;
    bool all_there; /* each piece says what the prompt says there */
} pieces;

static int take_piece(void *arg, const valise_prompt_piece *piece, valise_error *err)
{
    pieces *p = arg;
    valise_str there = vls_str(p->neutral.ptr + piece->offset, (size_t)piece->length);

    (void)err;
    p->all_there = p->all_there && piece->cut == (piece->text.len < there.len) &&
                   memcmp(piece->text.ptr, there.ptr, piece->text.len) == 0;
    if (piece->kind == VALISE_SOURCE_TURN)
        p->text = test_format("%s%.*s by %.*s\n", p->text, VALISE_STR_ARG(piece->text),
                              VALISE_STR_ARG(piece->author));
    return ++p->count == p->stop_at ? 5 : 0;
}

TEST(ops_api, blame_tells_each_piece) /* [P8] */
{
    ops *o = ops_open(t);
    valise_prompt *p = NULL;
    pieces found = {.text = "", .all_there = true}, first = {.text = "", .stop_at = 1};
    const char *digits;

    CHECK_OK(valise_prompt_build(&p, o->d->v, "s", "compatible", NULL, NULL, &t->err));
    digits = test_format("%s", vls_id_hex(&p->id).s);
    found.neutral = first.neutral = p->neutral;
    CHECK_OK(valise_prompt_blame(o->d->v, digits, take_piece, &found, NULL, &t->err));
    CHECK(found.count > 1 && found.all_there);
    CHECK_MSG(strstr(found.text, "And more?"), "%s", found.text);
    CHECK_INT(5, valise_prompt_blame(o->d->v, digits, take_piece, &first, NULL, &t->err));
    CHECK_INT(1, first.count);
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_prompt_blame(o->d->v, "ffffffff", take_piece, &first, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_prompt_blame(o->d->v, digits, NULL, NULL, NULL, &t->err));
    valise_prompt_free(p);
}

TEST(ops_api, options)
{
    ops *o = ops_open(t);
    valise_prompt_options options = VALISE_PROMPT_OPTIONS_INIT;
    valise_prompt *p = NULL;
    const valise_id none = {{0}};
    int64_t seq = den_seq(o->d);

    CHECK_RC(VALISE_E_INVALID,
             valise_prompt_build(&p, o->d->v, "s", "openai", NULL, NULL, &t->err));
    CHECK(strstr(t->err.message, "no model") && !p);
    CHECK_INT(seq, den_seq(o->d));
    CHECK_OK(valise_prompt_build(&p, o->d->v, "s", "compatible", NULL, NULL, &t->err));
    CHECK(!p->model.ptr && p->limit == INT64_MIN && !vls_id_equal(&p->id, &none));
    CHECK(has(p->neutral, "And more?"));
    valise_prompt_free(p);
    CHECK(den_seq(o->d) > seq);
    seq = den_seq(o->d);
    options.turn = "HEAD~1";
    options.model = "m";
    options.stream = true;
    options.no_record = true;
    CHECK_OK(valise_prompt_build(&p, o->d->v, "s", "openai", &options, NULL, &t->err));
    CHECK(vls_id_equal(&p->id, &none) && !has(p->neutral, "And more?"));
    CHECK(has(p->wire, "\"stream\":true"));
    valise_prompt_free(p);
    CHECK_INT(seq, den_seq(o->d));
}

/* A program that was built against other headers: members that it does not know are as usual, and
 * ones that we do not know are not looked at. */
TEST(ops_api, sizes_of_options)
{
    ops *o = ops_open(t);
    struct {
        valise_prompt_options options;
        int64_t more;
    } newer = {VALISE_PROMPT_OPTIONS_INIT, 1};
    valise_prompt_options options = VALISE_PROMPT_OPTIONS_INIT;
    valise_prompt *p = NULL;

    options.size = offsetof(valise_prompt_options, model);
    options.model = (const char *)1; /* not looked at */
    options.tools = (const char *)1;
    CHECK_OK(valise_prompt_build(&p, o->d->v, "s", "compatible", &options, NULL, &t->err));
    CHECK(!p->model.ptr);
    valise_prompt_free(p);
    p = NULL;
    newer.options.size = sizeof(newer);
    newer.options.model = "m";
    CHECK_OK(valise_prompt_build(&p, o->d->v, "s", "compatible", &newer.options, NULL, &t->err));
    CHECK_STR(VLS_STR("m"), p->model);
    valise_prompt_free(p);
    p = NULL;
    options.size = 0;
    CHECK_RC(VALISE_E_INVALID,
             valise_prompt_build(&p, o->d->v, "s", "compatible", &options, NULL, &t->err));
    CHECK(strstr(t->err.message, "valise_prompt_options"));
    CHECK(!p);
}

TEST(ops_api, arguments_that_are_none)
{
    ops *o = ops_open(t);
    valise *v = o->d->v;
    valise_prompt *p = NULL;

    CHECK_INT(VALISE_E_INVALID, valise_prompt_build(NULL, v, "s", "openai", NULL, NULL, &t->err));
    CHECK_INT(VALISE_E_INVALID, valise_prompt_build(&p, NULL, "s", "openai", NULL, NULL, &t->err));
    CHECK_INT(VALISE_E_INVALID, valise_prompt_build(&p, v, NULL, "openai", NULL, NULL, &t->err));
    CHECK_INT(VALISE_E_INVALID, valise_prompt_build(&p, v, "s", NULL, NULL, NULL, &t->err));
    CHECK_INT(VALISE_E_INVALID, valise_prompt_show(NULL, v, o->a, NULL, &t->err));
    CHECK_INT(VALISE_E_INVALID, valise_prompt_show(&p, NULL, o->a, NULL, &t->err));
    CHECK_INT(VALISE_E_INVALID, valise_prompt_show(&p, v, NULL, NULL, &t->err));
    /* Without a place for the error, too. */
    CHECK_INT(VALISE_E_NOT_FOUND, valise_prompt_show(&p, v, "ffffffff", NULL, NULL));
    CHECK_INT(VALISE_E_NOT_FOUND, valise_prompt_build(&p, v, "no", "openai", NULL, NULL, NULL));
    CHECK(!p);
}

/* Bounds that the field tables have count here too. */
TEST(ops_api, bad_arguments)
{
    ops *o = ops_open(t);
    valise *v = o->d->v;
    valise_prompt_options options = VALISE_PROMPT_OPTIONS_INIT;
    valise_prompt *p = NULL;
    char *large = test_alloc(100001);
    int64_t seq = den_seq(o->d);

    memset(large, 'x', 100000);
    CHECK_RC(VALISE_E_NOT_FOUND, valise_prompt_build(&p, v, "s", "nowhere", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_prompt_build(&p, v, "", "openai", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_prompt_build(&p, v, large, "openai", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_prompt_build(&p, v, "s", large, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_prompt_build(&p, v, "s\xff", "openai", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_prompt_show(&p, v, "", NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_prompt_show(&p, v, "abc", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_prompt_show(&p, v, large, NULL, &t->err));
    options.tools = "[";
    CHECK_RC(VALISE_E_INVALID, valise_prompt_build(&p, v, "s", "openai", &options, NULL, &t->err));
    options.tools = "{}";
    CHECK_RC(VALISE_E_INVALID, valise_prompt_build(&p, v, "s", "openai", &options, NULL, &t->err));
    options.tools = NULL;
    options.params = "7";
    CHECK_RC(VALISE_E_INVALID, valise_prompt_build(&p, v, "s", "openai", &options, NULL, &t->err));
    options.params = NULL;
    options.model = "";
    CHECK_RC(VALISE_E_INVALID, valise_prompt_build(&p, v, "s", "openai", &options, NULL, &t->err));
    options.model = large;
    CHECK_RC(VALISE_E_INVALID, valise_prompt_build(&p, v, "s", "openai", &options, NULL, &t->err));
    options.model = NULL;
    options.window = 5;
    CHECK_RC(VALISE_E_LIMIT, valise_prompt_build(&p, v, "s", "openai", &options, NULL, &t->err));
    options.window = INT64_MAX;
    CHECK_RC(VALISE_E_INVALID, valise_prompt_build(&p, v, "s", "openai", &options, NULL, &t->err));
    options.window = -1;
    CHECK_RC(VALISE_E_INVALID, valise_prompt_build(&p, v, "s", "openai", &options, NULL, &t->err));
    CHECK(!p);
    CHECK_INT(seq, den_seq(o->d));
}

/* As somebody who may not. */
TEST(ops_api, as_another_actor)
{
    ops *o = ops_open(t);
    valise_call call = VALISE_CALL_INIT;
    valise_prompt *p = NULL;

    ops_admit(o, "guest", "'prompt:read','session:read'");
    call.actor = VLS_STR("guest");
    CHECK_RC(VALISE_E_DENIED,
             valise_prompt_build(&p, o->d->v, "s", "openai", NULL, &call, &t->err));
    CHECK(!p);
    CHECK_OK(valise_prompt_show(&p, o->d->v, o->a, &call, &t->err));
    CHECK(!p->same && p->denied >= 3);
    CHECK(has(p->wire, "planted-session") && !has(p->wire, "planted-memory"));
    valise_prompt_free(p);
}
