/* kit.c -- see kit.h. */
#include "context/kit.h"

#include "base/base64.h"
#include "base/hex.h"
#include "bus/bus.h"
#include "context/ops.h"
#include "context/ops_tree.h"
#include "json/json.h"
#include "kit/replayed.h"

static void close_it(void *arg)
{
    yard *y = arg;

    valise_close(y->v);
}

yard *yard_open_with(test *t, const valise_env *env)
{
    yard *y = test_alloc(sizeof(*y));
    bool memory = !t->param || strcmp(t->param, "memory") == 0;
    valise_options o = VALISE_OPTIONS_INIT;

    *y = (yard){.t = t};
    o.env = env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_OK(valise_open(&y->v, memory ? ":memory:" : test_format("%s/yard", test_tmpdir()), &o,
                         &t->err));
    return y;
}

yard *yard_open(test *t)
{
    yard *y = yard_open_with(t, t->env);

    test_defer(close_it, y);
    (void)yard_run(y, "agent:add", "{\"id\":\"r\",\"role\":\"reader\"}");
    (void)yard_run(y, "agent:add", "{\"id\":\"w\",\"role\":\"writer\"}");
    (void)yard_run(y, "agent:add", "{\"id\":\"s\",\"role\":\"synthesis\"}");
    return y;
}

/* ---- the tree ---- */

static int add_moves(yard *y, const char *moves, valise_error *err)
{
    vls_slot_move all[16];
    const vls_slot_move *items[16];
    valise_str rest = valise_str_of(moves), word;
    size_t count = 0;

    while (rest.len > 0) {
        (void)vls_str_cut(&word, &rest, rest, ' ');
        (void)vls_str_cut(&all[count].from, &all[count].to, word, '>');
        items[count] = &all[count];
        count++;
    }
    return count == 0 ? 0
                      : vls_run(y->v, &vls_op_context_slot_move,
                                &(vls_slot_move_args){.moves = {items, count}}, NULL, NULL, NULL,
                                &(vls_run_more){.internal = true}, err);
}

int yard_try_grow(yard *y, const char *words, const char *moves, valise_error *err)
{
    test *t = y->t;
    grove_state state = grove_read(words);
    vls_buf lists[4];
    size_t count =
        grove_changes(lists, 4, t->env, y->version ? &y->state : &(grove_state){0}, &state, 0);
    vls_run_more more = {.internal = true};
    vls_tree_commit_args about = {.base = y->version,
                                  .object = grove_get(&state, "")->node.object,
                                  .counts = grove_counts(&state)};
    int rc = add_moves(y, moves, err);

    for (size_t i = 0; i < count; i++) {
        vls_tree_record_args args = {.base = y->version,
                                     .changes = {.bytes = vls_buf_str(&lists[i])}};
        if (rc == 0)
            rc = vls_run(y->v, &vls_op_context_tree_record, &args, NULL, NULL, NULL, &more, err);
        vls_buf_release(&lists[i]);
    }
    if (rc == 0)
        rc = vls_run(y->v, &vls_op_context_tree_commit, &about, NULL, NULL, NULL, &more, err);
    if (rc < 0)
        return rc;
    y->state = state;
    y->version++;
    return 0;
}

void yard_grow(yard *y, const char *words, const char *moves)
{
    test *t = y->t;

    CHECK_OK(yard_try_grow(y, words, moves, &t->err));
}

void yard_move(yard *y, const char *moves)
{
    test *t = y->t;

    CHECK_OK(add_moves(y, moves, &t->err));
}

/* ---- operations ---- */

static const char *answer_of(valise_reply *reply)
{
    const char *text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply->json)));

    valise_reply_release(reply);
    return text;
}

const char *yard_run_as(yard *y, const char *actor, const char *type, const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    test *t = y->t;

    call.actor = valise_str_of(actor);
    CHECK_OK(valise_dispatch(&reply, y->v, type, payload, &call, &t->err));
    return answer_of(&reply);
}

const char *yard_run(yard *y, const char *type, const char *payload)
{
    return yard_run_as(y, NULL, type, payload);
}

int yard_try(yard *y, const char *actor, const char *type, const char *payload, const char *expect)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    test *t = y->t;
    int rc;

    t->err = (valise_error)VALISE_ERROR_INIT;
    call.actor = valise_str_of(actor);
    call.expect = valise_str_of(expect);
    rc = valise_dispatch(&reply, y->v, type, payload, &call, &t->err);
    valise_reply_release(&reply);
    return rc;
}

static const char *payload_of(yard *y, const char *node, const char *type, const char *content,
                              const char *extra)
{
    VLS_AUTO(buf) vls_buf data = {0};
    test *t = y->t;

    vls_buf_init(&data, t->env, SIZE_MAX / 2);
    vls_base64_encode(&data, valise_str_of(content));
    return test_format("{\"node\":\"%s\",\"type\":\"%s\",\"content\":\"%.*s\",\"noScan\":true%s}",
                       node, type, VALISE_STR_ARG(vls_buf_str(&data)), extra);
}

int yard_try_put(yard *y, const char *actor, const char *node, const char *type,
                 const char *content, const char *extra)
{
    return yard_try(y, actor, "frame:put", payload_of(y, node, type, content, extra), NULL);
}

const char *yard_put(yard *y, const char *actor, const char *node, const char *type,
                     const char *content, const char *extra)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    test *t = y->t;

    call.actor = valise_str_of(actor);
    CHECK_OK(valise_dispatch(&reply, y->v, "frame:put", payload_of(y, node, type, content, extra),
                             &call, &t->err));
    return answer_of(&reply);
}

/* ---- answers ---- */

const char *yard_member(yard *y, const char *json, const char *path)
{
    test *t = y->t;
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str rest = valise_str_of(path), step;
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&text, t->env, SIZE_MAX / 2);
    CHECK_OK(vls_json_parse(&v, &arena, valise_str_of(json), NULL, &t->err));
    while (rest.len > 0) {
        const vls_json *next = NULL;
        uint64_t index;
        (void)vls_str_cut(&step, &rest, rest, '.');
        if (v.type == VLS_JSON_ARRAY && vls_str_to_u64(&index, step) && index < v.len)
            next = &v.items[index];
        else if (v.type == VLS_JSON_OBJECT)
            next = vls_json_get(v, step);
        if (!next)
            return "";
        v = *next;
    }
    if (v.type == VLS_JSON_STRING)
        return test_format("%.*s", VALISE_STR_ARG(vls_json_str(v)));
    CHECK_OK(vls_json_write(&text, v, &t->err));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&text)));
}

const char *yard_state(yard *y, const char *node, const char *type)
{
    const char *heads =
        yard_run(y, "head:get", test_format("{\"node\":\"%s\",\"type\":\"%s\"}", node, type));
    const char *state = yard_member(y, heads, "items.0.state");

    for (int i = 0;; i++) {
        const char *reason = yard_member(y, heads, test_format("items.0.reasons.%d.reason", i));
        const char *child = yard_member(y, heads, test_format("items.0.reasons.%d.child", i));
        if (!reason[0])
            return state;
        state = test_format("%s %s%s%s", state, reason, child[0] ? ":" : "", child);
    }
}

void yard_check(yard *y)
{
    const char *found = yard_run(y, "workspace:validate", NULL);

    CHECK_MSG(!strstr(found, "\"kind\":\"problem\""), "%s", found);
    CHECK_TEXT(state_of(y->t, y->v), replayed(y->t, y->v));
}
