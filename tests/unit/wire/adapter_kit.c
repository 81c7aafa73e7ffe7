/* adapter_kit.c -- requests and answers of adapters (adapter_kit.h). */
#include "wire/adapter_kit.h"

#include "harness/fault.h"
#include "wire/stream.h"

static const char *json_text(vls_arena *arena, vls_json value)
{
    vls_buf text;

    vls_buf_init_in(&text, arena, (size_t)1 << 26);
    CHECK_INT(0, vls_json_write_around(&text, value, NULL));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&text)));
}

const char *body_of(test *t, const vls_adapter *adapter, const char *model, const char *prompt,
                    bool no_cache, const char **repairs)
{
    request made = write_request(t, adapter, model, prompt, no_cache ? UNMARKED : 0);

    if (repairs)
        *repairs = made.repairs;
    return made.body;
}

/* ---- answers ---- */

static const char *answer_text(vls_arena *arena, const vls_answer *answer)
{
    const vls_usage *u = &answer->usage;
    const int64_t counts[] = {u->input, u->output, u->cache_read, u->cache_write, u->reasoning};
    const char *text = test_format("{\"blocks\":%s,\"stop\":\"%s\",\"usage\":[",
                                   json_text(arena, answer->blocks), vls_stops[answer->stop]);

    for (size_t i = 0; i < VLS_COUNT(counts); i++) {
        if (counts[i] == VALISE_NONE)
            text = test_format("%s%snull", text, i > 0 ? "," : "");
        else
            text = test_format("%s%s%lld", text, i > 0 ? "," : "", (long long)counts[i]);
    }
    text = test_format("%s]", text);
    for (size_t i = 0; i < answer->dropped.count; i++)
        text = test_format("%s,\"dropped\":\"%.*s\"", text,
                           VALISE_STR_ARG(((const valise_str *)answer->dropped.items)[i]));
    return test_format("%s%s}", text, answer->partial ? ",\"partial\":true" : "");
}

const char *answer_of(test *t, const vls_adapter *adapter, const char *response)
{
    vls_arena *arena = arena_of(t);
    vls_answer answer = {.stop = 0};

    CHECK_OK(vls_answer_read(&answer, arena, adapter, valise_str_of(quoted(response)), &t->err));
    return answer_text(arena, &answer);
}

const char *stream_of(test *t, const vls_adapter *adapter, const char *sse, long cut)
{
    VLS_AUTO(stream) vls_stream *stream = NULL;
    vls_arena *arena = arena_of(t);
    vls_answer answer = {.stop = 0};
    valise_str all = valise_str_of(quoted(sse));
    size_t first = cut > 0 ? (size_t)cut : 0;

    CHECK_OK(vls_stream_new(&stream, t->env, adapter, NULL, NULL, &t->err));
    for (size_t i = 0; cut < 0 && i < all.len; i++)
        CHECK_OK(vls_stream_feed(stream, vls_str(all.ptr + i, 1), &t->err));
    if (cut >= 0) {
        CHECK_OK(vls_stream_feed(stream, vls_str(all.ptr, first), &t->err));
        CHECK_OK(vls_stream_feed(stream, vls_str_from(all, first), &t->err));
    }
    CHECK_OK(vls_stream_finish(stream, &t->err));
    CHECK_OK(vls_stream_answer(&answer, arena, stream, &t->err));
    return answer_text(arena, &answer);
}

void check_answer(test *t, const vls_adapter *adapter, const char *response, const char *sse,
                  const char *said)
{
    size_t len = strlen(sse);

    CHECK_TEXT(quoted(said), answer_of(t, adapter, response));
    CHECK_TEXT(quoted(said), stream_of(t, adapter, sse, -1));
    for (size_t i = 0; i <= len; i++) {
        const char *cut = stream_of(t, adapter, sse, (long)i);
        CHECK_MSG(strcmp(quoted(said), cut) == 0, "cut at %zu: %s", i, cut);
    }
}

/* ---- requests ---- */

void check_no_request(test *t, const vls_adapter *adapter, const char *body, const char *path)
{
    vls_arena *arena = arena_of(t);
    vls_findings found = VLS_VEC_INIT;
    vls_json value = vls_json_null();

    CHECK_OK(vls_json_parse(&value, arena, valise_str_of(quoted(body)), NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_lint_request(&found, arena, adapter, value, &t->err));
    CHECK_TEXT(path, t->err.path);
}

void check_no_answer(test *t, const vls_adapter *adapter, int rc, const char *response,
                     const char *message)
{
    vls_answer answer = {.stop = 0};

    CHECK_RC(rc, vls_answer_read(&answer, arena_of(t), adapter, valise_str_of(quoted(response)),
                                 &t->err));
    CHECK_PART(t->err.message, message);
}

const char *read_of(test *t, const vls_adapter *adapter, const char *body)
{
    vls_arena *arena = arena_of(t);
    vls_json value = vls_json_null(), prompt = vls_json_null();
    vls_neutral neutral = {.context = 0};

    CHECK_OK(vls_json_parse(&value, arena, valise_str_of(quoted(body)), NULL, &t->err));
    CHECK_OK(adapter->read(&prompt, arena, adapter, value, &t->err));
    CHECK_OK(vls_neutral_of(&neutral, prompt, &t->err));
    return json_text(arena, prompt);
}

/* ---- memory ---- */

typedef struct errand {
    const vls_adapter *adapter;
    const char *response;
} errand;

static int hear_once(fault *f, void *arg)
{
    const errand *e = arg;
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    vls_answer answer = {.stop = 0};

    vls_arena_init(&arena, f->env, (size_t)1 << 26);
    return vls_answer_read(&answer, &arena, e->adapter, valise_str_of(e->response), &f->err);
}

void check_memory(test *t, const vls_adapter *adapter, const char *response)
{
    errand e = {adapter, quoted(response)};

    (void)fault_each_alloc(t, 0, hear_once, &e);
}
