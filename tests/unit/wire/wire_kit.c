/* wire_kit.c -- prompts as requests of any adapter (wire_kit.h). */
#include "wire/wire_kit.h"

const char *quoted(const char *text)
{
    size_t len = strlen(text);
    char *copy = test_alloc(len + 1);

    for (size_t i = 0; i < len; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    return copy;
}

static void release_arena(void *arg)
{
    vls_arena_release(arg);
}

vls_arena *arena_of(test *t)
{
    vls_arena *arena = test_alloc(sizeof(*arena));

    vls_arena_init(arena, t->env, (size_t)1 << 30);
    test_defer(release_arena, arena);
    return arena;
}

/* ---- blobs ---- */

#define BLOB_MAX 8

typedef struct xs {
    const vls_wire *wire;
    size_t at, left;
} xs;

static size_t size_of(const vls_wire_hole *hole)
{
    if (hole->size == VLS_SIZE_UNKNOWN)
        return 3;
    return (size_t)VLS_MIN(hole->size, (int64_t)BLOB_MAX);
}

static int open_xs(void *arg, const valise_id *blob, valise_error *err)
{
    xs *x = arg;

    (void)blob;
    (void)err;
    x->left = size_of(&x->wire->holes.ptr[x->at++]);
    return 0;
}

static int read_xs(size_t *len, void *arg, void *room, size_t room_bytes, valise_error *err)
{
    xs *x = arg;

    (void)err;
    *len = VLS_MIN(room_bytes, x->left);
    memset(room, 'x', *len);
    x->left -= *len;
    return 0;
}

static void close_xs(void *arg)
{
    (void)arg;
}

static const char *text_of_wire(test *t, vls_wire *wire)
{
    xs x = {.wire = wire};
    vls_wire_blobs blobs = {&x, open_xs, read_xs, close_xs};
    vls_wire_walk *walk = NULL;
    size_t len = 1, total = 0;
    size_t room = wire->text.len + wire->holes.len * BLOB_MAX * 2 + 1;
    char *text = test_alloc(room);

    for (size_t i = 0; i < wire->holes.len; i++) /* ours are small, whatever prompts say */
        wire->holes.ptr[i].size = (int64_t)size_of(&wire->holes.ptr[i]);
    CHECK_OK(vls_wire_walk_new(&walk, wire, &blobs, &t->err));
    while (len > 0) {
        CHECK_OK(vls_wire_walk_read(&len, walk, text + total, room - 1 - total, &t->err));
        total += len;
    }
    vls_wire_walk_free(walk);
    text[total] = '\0';
    return text;
}

/* ---- requests ---- */

static const char *findings_text(const vls_findings *found)
{
    const char *text = "";

    for (size_t i = 0; i < found->len; i++)
        text = test_format("%s%s%s %.*s", text, i > 0 ? "; " : "", found->ptr[i].rule,
                           VALISE_STR_ARG(found->ptr[i].place));
    return text;
}

static const char *find_in(test *t, const vls_adapter *adapter, const char *body)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    vls_findings found = VLS_VEC_INIT;
    vls_json value = vls_json_null();

    vls_arena_init(&arena, t->env, (size_t)1 << 30);
    CHECK_OK(vls_json_parse(&value, &arena, valise_str_of(body), NULL, &t->err));
    CHECK_OK(vls_lint_request(&found, &arena, adapter, value, &t->err));
    return findings_text(&found);
}

const char *lint_of(test *t, const vls_adapter *adapter, const char *body)
{
    return find_in(t, adapter, quoted(body));
}

static const char *repairs_of(const vls_plan *plan)
{
    const char *text = "";

    for (size_t i = 0; i < plan->repairs.len; i++) {
        const vls_repair *repair = &plan->repairs.ptr[i];
        CHECK(repair->what[0]);
        text = test_format("%s%s%s", text, i > 0 ? " " : "", repair->rule);
        if (repair->message >= 0)
            text = test_format("%s@%d", text, (int)repair->message);
        if (repair->message >= 0 && repair->block >= 0)
            text = test_format("%s.%d", text, (int)repair->block);
        if (repair->name.len > 0)
            text = test_format("%s(%.*s)", text, VALISE_STR_ARG(repair->name));
    }
    return text;
}

request write_neutral(test *t, const vls_adapter *adapter, const char *model,
                      const vls_neutral *prompt, unsigned how)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    vls_findings found = VLS_VEC_INIT;
    vls_plan plan = {.arena = NULL};
    vls_wire_write way = {.stream = how & STREAMED, .no_cache = how & UNMARKED};
    VLS_AUTO(wire) vls_wire wire = {.env = NULL};
    request out;

    vls_arena_init(&arena, t->env, (size_t)1 << 30);
    vls_wire_init(&wire, t->env);
    CHECK_OK(vls_plan_make(&plan, &arena, adapter, prompt, valise_str_of(model), &t->err));
    CHECK_OK(vls_lint_plan(&found, &arena, adapter, &plan, NULL, &t->err));
    CHECK_TEXT("", findings_text(&found));
    CHECK_OK(adapter->write(&wire, &plan, &way, &t->err));
    out = (request){text_of_wire(t, &wire), repairs_of(&plan), wire.head};
    CHECK_TEXT("", find_in(t, adapter, out.body));
    return out;
}

request write_prompt(test *t, const vls_adapter *adapter, const char *model, valise_str prompt,
                     unsigned how)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    vls_neutral neutral = {.context = 0};

    vls_arena_init(&arena, t->env, (size_t)1 << 30);
    CHECK_OK(vls_neutral_read(&neutral, &arena, prompt, &t->err));
    return write_neutral(t, adapter, model, &neutral, how);
}

request write_request(test *t, const vls_adapter *adapter, const char *model, const char *prompt,
                      unsigned how)
{
    const char *text = quoted(prompt);
    request out;

    test_context("prompt %s", text);
    if (text[0] == '[')
        text = test_format("{\"version\":1,\"messages\":%s}", text);
    out = write_prompt(t, adapter, model, valise_str_of(text), how);
    test_context_end();
    return out;
}
