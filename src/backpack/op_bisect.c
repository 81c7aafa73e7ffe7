/* op_bisect.c -- backpack:bisect, the first commit after which a rule holds. */
#include "backpack/use.h"

#include "json/logic.h"

typedef struct bisect_args {
    vls_who who;
    valise_str from, to;
    valise_content rule;
} bisect_args;

static const valise_field bisect_in[] = {
    VLS_WHO_FIELDS(bisect_args),
    VALISE_FIELD_WITH(bisect_args, from, STR, VALISE_POSITIONAL,
                      "A point where the condition does not hold (default: the oldest).",
                      .max = VLS_POINT_MAX, .ref = VLS_REF_POINT),
    VALISE_FIELD_WITH(bisect_args, to, STR, VALISE_POSITIONAL,
                      "A point where it holds (default: now).", .max = VLS_POINT_MAX,
                      .ref = VLS_REF_POINT),
    VALISE_FIELD(bisect_args, rule, VALUE, VALISE_REQUIRED,
                 "JSON Logic over the state, an object of keys and values."),
    VALISE_FIELD_END,
};

typedef struct asking {
    const vls_ledger *ledger;
    vls_scope *scope;
    valise_str rule;
    const valise_env *env;
} asking;

static int holds(void *arg, int64_t seq, valise_error *err)
{
    const asking *a = arg;
    vls_ledger state = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json rule, data;
    bool yes = false;
    int rc;

    vls_buf_init(&text, a->env, VLS_REPLY_MAX);
    vls_arena_init(&arena, a->env, VLS_VIEW_MAX_BYTES);
    rc = a->ledger->ops->freeze(&state, a->ledger->self, seq, err);
    if (rc == 0) {
        rc = vls_bag_object(&text, &state, a->scope, (valise_str){NULL, 0}, err);
        state.ops->release(state.self);
    }
    if (rc == 0)
        rc = vls_json_parse(&rule, &arena, a->rule, NULL, err);
    if (rc == 0)
        rc = vls_json_parse(&data, &arena, vls_buf_str(&text), NULL, err);
    if (rc == 0)
        rc = vls_logic_holds(&yes, &arena, rule, data, NULL, err);
    return rc < 0 ? rc : yes;
}

static int point(int64_t *seq, const vls_use *use, valise_str text, valise_error *err)
{
    vls_point p;
    int rc = vls_point_parse(&p, text, err);

    return rc < 0 ? rc : vls_point_resolve(seq, &use->ledger, use->scope, &p, err);
}

static int bounds(int64_t *from, int64_t *to, const vls_use *use, const bisect_args *args,
                  valise_error *err)
{
    vls_ledger_head head;
    int rc = vls_look_head(&head, &use->ledger, err);

    if (rc < 0)
        return rc;
    *from = head.edge;
    *to = head.last;
    if (args->from.len > 0)
        rc = point(from, use, args->from, err);
    if (rc == 0 && args->to.len > 0)
        rc = point(to, use, args->to, err);
    return rc;
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const bisect_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    asking a = {.ledger = &use.ledger, .rule = args->rule.bytes, .env = view->arena.env};
    int64_t from, to, seq;
    int rc = vls_use_begin(&use, view, &args->who, err);

    a.scope = use.scope;
    if (rc == 0)
        rc = bounds(&from, &to, &use, args, err);
    if (rc == 0)
        rc = vls_bisect(&seq, from, to, holds, &a, err);
    if (rc == 0)
        rc = vls_bag_commit(out, &use.ledger, use.scope, seq, &view->arena, err);
    if (rc == 0)
        vls_commit_out(out);
    return rc;
}

const valise_op vls_op_backpack_bisect = {
    .size = sizeof(valise_op),
    .name = "backpack:bisect",
    .brief = "Find the first commit at which a rule holds.",
    .kind = VALISE_QUERY,
    .needs = "backpack:read",
    .in = bisect_in,
    .in_size = sizeof(bisect_args),
    .out = vls_commit_fields,
    .out_size = sizeof(valise_commit),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"rule\":{\"==\":[{\"var\":\"capital\"},\"Lyon\"]}}",
};
