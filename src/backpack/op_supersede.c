/* op_supersede.c -- backpack:supersede, a fork of an earlier state takes over the name.
 *
 * A flow that was interrupted goes on from the state before the node that did not end. What that
 * node wrote is no part of it, and is not lost either:
 *
 *     before    NAME    a b c d e            e: of a run that never ended
 *     after     ASIDE   a b c d e            the same backpack: id, history, checkpoints
 *               NAME    a b c d              a fork of its state, with its permissions and rules
 *
 * Runs that were not over are closed where they got to: nobody goes on with them. Who has the old
 * one open goes on with that one, whatever it is called now. */
#include "backpack/ops.h"
#include "base/vec.h"

static const valise_field supersede_in[] = {
    VLS_OWNER_FIELDS(vls_supersede_args),
    VALISE_FIELD_WITH(vls_supersede_args, seq, INT, VALISE_REQUIRED,
                      "The commit whose state goes on.", .max = INT64_MAX),
    VALISE_FIELD_WITH(vls_supersede_args, aside, STR, VALISE_REQUIRED,
                      "What the old one is called from now on.", .min = 1, .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD_END,
};

static const valise_field supersede_out[] = {
    VALISE_FIELD(vls_supersede_result, id, UUID, 0, "Id of the new backpack."),
    VALISE_FIELD(vls_supersede_result, old, UUID, 0, "Id of the old one."),
    VALISE_FIELD_END,
};

/* ---- runs that are not over ---- */

typedef struct open_runs {
    const valise_env *env;
    vls_vec(vls_run_row) list; /* without their nodes */
} open_runs;

static void vls_auto_open_runs(open_runs *runs)
{
    vls_vec_release(&runs->list, runs->env);
}

static int note_run(void *arg, const void *row, valise_error *err)
{
    open_runs *runs = arg;
    vls_run_row run = *(const vls_run_row *)row;

    run.node_id = (valise_str){NULL, 0};
    if (run.end != VALISE_NONE)
        return 0;
    return vls_vec_push(&runs->list, runs->env, run) ? 0 : vls_fail_memory(err);
}

/* First they are found, then changed: nothing is put while it is walked over. */
static int close_runs(const vls_ledger *ledger, const valise_env *env, valise_error *err)
{
    VLS_AUTO(open_runs) open_runs runs = {.env = env};
    int rc = ledger->ops->each_row(ledger->self, &vls_bag_runs, note_run, &runs, err);

    for (size_t i = 0; i < runs.list.len && rc == 0; i++) {
        vls_run_row run = runs.list.ptr[i];
        int64_t end = 0;
        rc = vls_run_end(&end, ledger, &run, err);
        ledger->ops->enter(ledger->self);
        if (rc == 0)
            rc = ledger->ops->row_get(&run, ledger->self, &vls_bag_runs, err);
        run.end = end;
        if (rc > 0)
            rc = ledger->ops->row_put(ledger->self, &vls_bag_runs, &run, err);
        ledger->ops->leave(ledger->self);
    }
    return rc;
}

/* ---- the two backpacks ---- */

static int check_aside(valise_view *view, valise_str name, valise_error *err)
{
    vls_bag_row taken;
    int rc = vls_bag_check_name(name, err);

    if (rc == 0)
        rc = vls_rows_find(&taken, view, name, err);
    if (rc > 0)
        rc = vls_fail(err, VALISE_E_EXISTS, "a backpack '%.*s' already exists",
                      VALISE_STR_ARG(name));
    if (rc < 0)
        vls_error_prepend(err, "aside");
    return rc;
}

/* The state is taken before the old one changes, and the fork made once the name is free. */
static int take_over(vls_bag_row *made, vls_use *use, const vls_supersede_args *args,
                     valise_error *err)
{
    const vls_point point = {.kind = VLS_POINT_SEQ, .number = args->seq};
    vls_bag_row old = use->rows.bag;
    int64_t seq;
    int rc = vls_point_resolve(&seq, &use->ledger, use->scope, &point, err);

    if (rc < 0) {
        vls_error_prepend(err, "seq");
        return rc;
    }
    rc = close_runs(&use->ledger, use->view->arena.env, err);
    old.name = args->aside;
    if (rc == 0)
        rc = valise_view_put(use->view, &vls_bags, &old, err);
    if (rc == 0)
        rc = vls_use_seq(use, seq, err);
    return rc < 0 ? rc : vls_rows_fork(made, &use->ledger, args->who.backpack, err);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_supersede_args *args = in;
    vls_supersede_result *result = out;
    VLS_AUTO(use) vls_use use = {0};
    vls_bag_row made = {.name = {NULL, 0}};
    int rc = vls_use_begin(&use, view, &args->who, err);

    if (rc == 0)
        rc = vls_scope_owner_only(use.scope, "take a name over", err);
    if (rc == 0)
        rc = check_aside(view, args->aside, err);
    if (rc == 0)
        rc = take_over(&made, &use, args, err);
    if (rc < 0)
        return rc;
    result->id = made.id;
    result->old = use.rows.bag.id;
    return 0;
}

const valise_op vls_op_backpack_supersede = {
    .size = sizeof(valise_op),
    .name = "backpack:supersede",
    .brief = "Let a fork of an earlier state take over the name of a backpack.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "backpack:write",
    .in = supersede_in,
    .in_size = sizeof(vls_supersede_args),
    .out = supersede_out,
    .out_size = sizeof(vls_supersede_result),
    .decide = decide,
    .example = "{\"aside\":\"run-1.aborted-1\",\"backpack\":\"run-1\",\"seq\":41}",
};

/* ---- for flows ---- */

#define MORE_MAX 4u

static int check_memory(valise *v, valise_str name, int code, valise_error *err)
{
    vls_ephemeral *memory = vls_ephemeral_find(v, name, NULL);

    vls_ephemeral_unref(memory);
    return memory ? vls_fail(err, code, "'%.*s' is an ephemeral backpack", VALISE_STR_ARG(name))
                  : 0;
}

int vls_backpack_supersede(valise_uuid *id, valise *v, valise_str name, int64_t seq,
                           valise_str aside, const vls_run_item *more, size_t count,
                           const valise_call *call, valise_error *err)
{
    const vls_supersede_args args = {.who = {.backpack = name}, .seq = seq, .aside = aside};
    vls_supersede_result result = {.id = {{0}}};
    vls_run_item items[1 + MORE_MAX] = {
        {.op = &vls_op_backpack_supersede, .args = &args, .result = &result}};
    int rc = check_memory(v, name, VALISE_E_UNSUPPORTED, err);

    if (rc == 0)
        rc = check_memory(v, aside, VALISE_E_EXISTS, err);
    if (rc < 0)
        return rc;
    assert(count <= MORE_MAX);
    for (size_t i = 0; i < count; i++)
        items[1 + i] = more[i];
    rc = vls_run_many(v, items, 1 + count, call, err);
    if (rc == 0 && id)
        *id = result.id;
    return rc;
}

typedef struct listing {
    valise_str name;
    int64_t last;
    vls_run_fn *fn;
    void *arg;
} listing;

static int list_run(void *arg, const void *row, valise_error *err)
{
    const listing *l = arg;

    return l->fn(l->arg, row, err);
}

static int list_runs(void *arg, valise_view *view, valise_error *err)
{
    listing *l = arg;
    VLS_AUTO(rows) vls_rows rows = {0};
    vls_ledger ledger;
    vls_ledger_head head;
    int rc = vls_rows_open(&rows, view, l->name, err);

    if (rc < 0)
        return rc;
    ledger = vls_rows_ledger(&rows);
    rc = vls_look_head(&head, &ledger, err);
    if (rc == 0)
        l->last = head.last;
    if (rc == 0 && l->fn)
        rc = ledger.ops->each_row(ledger.self, &vls_bag_runs, list_run, l, err);
    return rc;
}

int vls_backpack_each_run(int64_t *last, valise *v, valise_str name, const valise_call *call,
                          vls_run_fn *fn, void *arg, valise_error *err)
{
    listing l = {.name = name, .fn = fn, .arg = arg};
    int rc = vls_with_view(v, call, list_runs, &l, err);

    if (rc >= 0 && last)
        *last = l.last;
    return rc;
}
