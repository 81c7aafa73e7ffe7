/* kit.c -- see kit.h. */
#include "prompt/kit.h"

#include <stdarg.h>

#include "bus/bus.h"
#include "chat/find.h"
#include "json/make.h"
#include "store/view.h"

/* ---- short texts ---- */

const char *pot_quote(const char *text)
{
    char *copy = test_alloc(strlen(text) + 1);

    for (size_t i = 0; text[i]; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    return copy;
}

static const char *keep(valise_str text)
{
    char *copy = test_alloc(text.len + 1);

    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

static void show_block(vls_buf *out, vls_json block)
{
    valise_str type = vls_text_of(block, "type"), text = vls_text_of(block, "text");
    vls_json content = vls_member_of(block, "content");

    if (vls_str_equal(type, VLS_STR("text"))) {
        vls_buf_add(out, text);
    } else if (vls_str_equal(type, VLS_STR("thinking"))) {
        vls_buf_printf(out, "(%.*s)", VALISE_STR_ARG(text));
    } else if (vls_str_equal(type, VLS_STR("summary"))) {
        vls_buf_printf(out, "{%.*s}", VALISE_STR_ARG(text));
    } else if (vls_str_equal(type, VLS_STR("tool_use"))) {
        vls_buf_printf(out, "call(%.*s,%.*s)", VALISE_STR_ARG(vls_text_of(block, "callId")),
                       VALISE_STR_ARG(vls_text_of(block, "name")));
    } else if (vls_str_equal(type, VLS_STR("tool_result"))) {
        vls_buf_printf(out, "res(%.*s,", VALISE_STR_ARG(vls_text_of(block, "callId")));
        if (content.type == VLS_JSON_STRING)
            vls_buf_add(out, vls_json_str(content));
        for (uint32_t i = 0; content.type == VLS_JSON_ARRAY && i < content.len; i++) {
            if (i > 0)
                vls_buf_add_byte(out, '+');
            show_block(out, content.items[i]);
        }
        vls_buf_add_byte(out, ')');
    } else {
        vls_buf_printf(out, "%.*s(%.*s,%.*s,%lld)", VALISE_STR_ARG(type),
                       VALISE_STR_ARG(vls_text_of(block, "mediaType")),
                       VALISE_STR_ARG(vls_text_of(block, "fileId")),
                       (long long)vls_member_of(block, "size").integer);
        if (text.ptr)
            vls_buf_printf(out, "={%.*s}", VALISE_STR_ARG(text));
    }
}

static void show_blocks(vls_buf *out, vls_json blocks)
{
    for (uint32_t i = 0; blocks.type == VLS_JSON_ARRAY && i < blocks.len; i++) {
        if (i > 0)
            vls_buf_add_byte(out, '|');
        show_block(out, blocks.items[i]);
    }
}

static const char *show_messages(test *t, vls_json all)
{
    vls_json messages = vls_member_of(all, "messages");
    vls_buf out;
    const char *text;

    vls_buf_init(&out, t->env, SIZE_MAX / 2);
    for (uint32_t i = 0; i < messages.len; i++) {
        valise_str role = vls_text_of(messages.items[i], "role");

        vls_buf_printf(&out, "%s%c[", i > 0 ? " " : "", role.ptr[0] - 'a' + 'A');
        show_blocks(&out, vls_member_of(messages.items[i], "blocks"));
        vls_buf_add_byte(&out, ']');
    }
    text = keep(vls_buf_str(&out));
    vls_buf_release(&out);
    return text;
}

static const char *show_system(test *t, vls_json all)
{
    vls_buf out;
    const char *text;

    vls_buf_init(&out, t->env, SIZE_MAX / 2);
    show_blocks(&out, vls_member_of(all, "system"));
    text = keep(vls_buf_str(&out));
    vls_buf_release(&out);
    return text;
}

/* ---- the workspace ---- */

static pot *make_pot(test *t, talk *k)
{
    pot *p = test_alloc(sizeof(*p));

    p->t = t;
    p->k = k;
    p->provider = "openai";
    p->ask = (vls_request){.time = INT64_C(1700000000000000000),
                           .inline_max = VALISE_NONE,
                           .window = VALISE_NONE,
                           .scale = 16,
                           .context_share = 25,
                           .tail_share = 25,
                           .model = VLS_STR("m"),
                           .asked = VLS_STR("{}")};
    return p;
}

pot *pot_open(test *t)
{
    return make_pot(t, talk_open(t));
}

pot *pot_open_another(test *t, int number)
{
    talk *k = test_alloc(sizeof(*k));
    bool files = strcmp(t->param, "sqlite") == 0;

    talk_open_at(k, t, t->env,
                 files ? test_format("%s/talk%d", test_tmpdir(), number) : ":memory:");
    return make_pot(t, k);
}

const char *pot_do(pot *p, const char *type, const char *format, ...)
{
    va_list args;
    char *payload;
    int len;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    payload = test_alloc((size_t)len + 1);
    va_start(args, format);
    (void)vsnprintf(payload, (size_t)len + 1, format, args);
    va_end(args);
    return talk_run(p->k, type, "%s", pot_quote(payload));
}

const char *pot_session(pot *p, const char *topics)
{
    return talk_member(p->k, pot_do(p, "session:create", "{'topics':[%s]}", topics), "id");
}

const char *pot_say_with(pot *p, const char *session, const char *role, const char *blocks,
                         const char *flags)
{
    const char *list =
        blocks[0] == '[' ? blocks : test_format("[{'type':'text','text':'%s'}]", blocks);

    return talk_member(p->k,
                       pot_do(p, "turn:add",
                              "{'sessionId':'%s','turn':{'role':'%s','blocks':%s%s%s}}", session,
                              role, list, flags[0] ? "," : "", flags),
                       "ref");
}

const char *pot_say(pot *p, const char *session, const char *role, const char *blocks)
{
    return pot_say_with(p, session, role, blocks, "");
}

/* ---- builds ---- */

typedef struct building {
    pot *p;
    const char *session;
} building;

static const char *show_parts(test *t, const vls_choice *choice)
{
    vls_buf out;
    const char *text;

    vls_buf_init(&out, t->env, SIZE_MAX / 2);
    for (size_t i = 0; i < choice->parts.len; i++) {
        const vls_part *part = &choice->parts.ptr[i];

        vls_buf_printf(&out, "%s%s %s %.*s", i > 0 ? "|" : "", vls_sections[part->section],
                       vls_part_kinds[part->kind], VALISE_STR_ARG(part->name));
    }
    text = keep(vls_buf_str(&out));
    vls_buf_release(&out);
    return text;
}

static const char *show_left(test *t, const vls_choice *choice)
{
    vls_buf out;
    const char *text;

    vls_buf_init(&out, t->env, SIZE_MAX / 2);
    for (size_t i = 0; i < choice->left.len; i++) {
        const vls_left *left = &choice->left.ptr[i];

        vls_buf_printf(&out, "%s%s %.*s: %.*s", i > 0 ? "|" : "", vls_part_kinds[left->kind],
                       VALISE_STR_ARG(left->name), VALISE_STR_ARG(left->reason));
    }
    text = keep(vls_buf_str(&out));
    vls_buf_release(&out);
    return text;
}

/* Spans have no gaps, sum up to the text, and name parts that there are. [P8] */
static void check_spans(const vls_built *built)
{
    size_t sum = 0;

    for (size_t i = 0; i < built->rendered.spans.len; i++) {
        const vls_span *span = &built->rendered.spans.ptr[i];

        CHECK(span->length > 0);
        CHECK(span->part >= -1 && span->part < (int64_t)built->choice.parts.len);
        sum += span->length;
    }
    CHECK_INT(sum, built->rendered.text.len);
}

/* What the builder holds as a value is what it has as text. [P6] */
static void check_text(test *t, const vls_built *built, vls_arena *arena)
{
    vls_buf again;
    vls_json parsed;

    vls_buf_init(&again, t->env, SIZE_MAX / 2);
    CHECK_OK(vls_json_write_around(&again, built->rendered.all, &t->err));
    CHECK(vls_str_equal(vls_buf_str(&again), vls_buf_str(&built->rendered.text)));
    vls_buf_clear(&again);
    CHECK_OK(vls_json_parse(&parsed, arena, vls_buf_str(&built->rendered.text), NULL, &t->err));
    CHECK_OK(vls_json_write(&again, parsed, &t->err));
    CHECK(vls_str_equal(vls_buf_str(&again), vls_buf_str(&built->rendered.text)));
    vls_buf_release(&again);
}

static void take(pot *p, const vls_built *built)
{
    test *t = p->t;
    vls_buf manifest;

    p->neutral = keep(vls_buf_str(&built->rendered.text));
    p->wire = keep(vls_buf_str(&built->wire.text));
    p->parts = show_parts(t, &built->choice);
    p->left = show_left(t, &built->choice);
    p->said = show_messages(t, built->rendered.all);
    p->system = show_system(t, built->rendered.all);
    p->budget = built->choice.budget;
    p->trimmed = built->choice.trimmed;
    p->left_turns = built->choice.left_count[VLS_PART_TURN];
    p->context = built->rendered.context;
    p->history = built->rendered.history;
    p->part_count = built->choice.parts.len;
    p->repairs = built->plan.repairs.len;
    vls_buf_init(&manifest, t->env, SIZE_MAX / 2);
    CHECK_OK(vls_manifest_write(&manifest, &built->manifest, &t->err));
    p->manifest = keep(vls_buf_str(&manifest));
    vls_buf_release(&manifest);
}

static void copy_parts(vls_parts *out, const vls_choice *choice)
{
    out->ptr = test_alloc((choice->parts.len + 1) * sizeof(*out->ptr));
    out->len = choice->parts.len;
    for (size_t i = 0; i < choice->parts.len; i++) {
        const vls_part *from = &choice->parts.ptr[i];
        vls_part *to = &out->ptr[i];

        *to = (vls_part){.section = from->section,
                         .kind = from->kind,
                         .says = from->says,
                         .tokens = from->tokens,
                         .id = from->id,
                         .name = valise_str_of(keep(from->name)),
                         .words = valise_str_of(keep(from->words)),
                         .reason = valise_str_of(keep(from->reason)),
                         .author = valise_str_of(keep(from->author)),
                         .kept = from->kept};
        to->edits.ptr = test_alloc((from->edits.len + 1) * sizeof(*to->edits.ptr));
        to->edits.len = from->edits.len;
        for (size_t e = 0; e < from->edits.len; e++) {
            to->edits.ptr[e] = from->edits.ptr[e];
            to->edits.ptr[e].text = valise_str_of(keep(from->edits.ptr[e].text));
            to->edits.ptr[e].more = valise_str_of(keep(from->edits.ptr[e].more));
        }
    }
}

/* Without its text a build is the same. [P8] */
static void check_no_text(test *t, const vls_built *built, valise_view *view, vls_request request)
{
    vls_built again = {0};

    request.no_text = true;
    CHECK_OK(vls_build(&again, view, &request, &t->err));
    CHECK_INT(0, again.rendered.text.len);
    CHECK_INT(built->rendered.text.len, again.rendered.bytes);
    CHECK(vls_id_equal(&built->manifest.neutral, &again.manifest.neutral));
    CHECK(vls_id_equal(&built->manifest.wire, &again.manifest.wire));
    CHECK_INT(built->rendered.spans.len, again.rendered.spans.len);
    vls_built_release(&again);
}

static int build(void *arg, valise_view *view, valise_error *err)
{
    const building *b = arg;
    pot *p = b->p;
    test *t = p->t;
    vls_request request = p->ask;
    vls_built built = {0};
    int rc = vls_session_find(&request.session, view, valise_str_of(b->session), err);

    if (rc == 0 && request.session.head.version > 0)
        rc = vls_turn_get(&request.head, view, &request.session.head, err);
    if (rc >= 0)
        rc = vls_adapter_get(&request.adapter, valise_str_of(p->provider), err);
    if (rc == 0)
        rc = vls_build(&built, view, &request, err);
    if (rc < 0)
        return rc;
    check_spans(&built);
    check_text(t, &built, &view->arena);
    check_no_text(t, &built, view, request);
    take(p, &built);
    if (p->also)
        copy_parts(p->also, &built.choice);
    vls_built_release(&built);
    return 0;
}

static valise_call call_of(const pot *p)
{
    valise_call call = VALISE_CALL_INIT;

    if (p->actor)
        call.actor = valise_str_of(p->actor);
    return call;
}

int pot_try(pot *p, const char *session)
{
    building b = {p, session};
    valise_call call = call_of(p);

    p->t->err = (valise_error)VALISE_ERROR_INIT;
    return vls_with_view(p->k->v, &call, build, &b, &p->t->err);
}

void pot_build(pot *p, const char *session)
{
    test *t = p->t;

    CHECK_OK(pot_try(p, session));
}

/* ---- again ---- */

typedef struct rebuilding {
    pot *p;
    const char *manifest;
    pot_again *out;
} rebuilding;

static int rebuild(void *arg, valise_view *view, valise_error *err)
{
    rebuilding *r = arg;
    test *t = r->p->t;
    vls_manifest manifest = {0};
    vls_rebuilt again = {0};
    int rc = vls_manifest_read(&manifest, &view->arena, valise_str_of(r->manifest), err);

    if (rc == 0)
        rc = vls_rebuild(&again, view, &manifest, err);
    if (rc < 0)
        return rc;
    *r->out = (pot_again){.neutral_same = again.neutral_same,
                          .wire_same = again.wire_same,
                          .erased = again.erased,
                          .denied = again.denied,
                          .neutral = keep(vls_buf_str(&again.rendered.text)),
                          .said = show_messages(t, again.rendered.all),
                          .system = show_system(t, again.rendered.all)};
    vls_rebuilt_release(&again);
    return 0;
}

int pot_try_rebuild(pot_again *out, pot *p, const char *manifest)
{
    rebuilding r = {p, manifest, out};
    valise_call call = call_of(p);

    p->t->err = (valise_error)VALISE_ERROR_INIT;
    return vls_with_view(p->k->v, &call, rebuild, &r, &p->t->err);
}

pot_again pot_rebuild(pot *p, const char *manifest)
{
    test *t = p->t;
    pot_again out = {0};

    CHECK_OK(pot_try_rebuild(&out, p, manifest));
    return out;
}
