/* op_points.c -- backpack:points, the states that have a name: checkpoints and runs of nodes. */
#include "backpack/use.h"

#include "base/vec.h"

typedef struct point_row {
    valise_str point;
    int64_t kind, seq;
    valise_str node_id;
} point_row;

enum { CHECKPOINT, BEFORE, AFTER };
static const char *const kinds[] = {"checkpoint", "before", "after", NULL};

static const valise_field points_out[] = {
    VALISE_FIELD(point_row, point, STR, 0, "What to write for the state."),
    VALISE_FIELD(point_row, seq, INT, VALISE_NULLABLE, "The commit whose state it is."),
    VALISE_FIELD_WITH(point_row, kind, ENUM, 0, "Why it has a name.", .more = kinds),
    VALISE_FIELD_AS(point_row, node_id, "nodeId", STR, VALISE_NULLABLE, "The node that ran."),
    VALISE_FIELD_END,
};

/* How often a node has run so far. */
typedef struct counter {
    valise_str node_id;
    int64_t runs;
} counter;

typedef struct listing {
    valise_view *view;
    vls_vec(counter) nodes;
} listing;

static int64_t *runs_of(listing *l, valise_str node_id, valise_error *err)
{
    counter fresh = {.runs = 0};

    for (size_t i = 0; i < l->nodes.len; i++) {
        if (vls_str_equal(l->nodes.ptr[i].node_id, node_id))
            return &l->nodes.ptr[i].runs;
    }
    if (vls_arena_dup(&fresh.node_id, &l->view->arena, node_id, err) < 0)
        return NULL;
    if (!vls_vec_push(&l->nodes, l->view->arena.env, fresh)) {
        (void)vls_fail_memory(err);
        return NULL;
    }
    return &l->nodes.ptr[l->nodes.len - 1].runs;
}

/* "before:NODE", of later runs "before:NODE#2"; so also where the node's id could be misread. */
static int emit_side(listing *l, const vls_run_row *run, int64_t number, int64_t kind,
                     valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    point_row row = {.kind = kind, .node_id = run->node_id, .seq = run->start};
    bool plain = number == 1 && vls_str_find_byte(run->node_id, '#') == run->node_id.len;
    int rc;

    vls_buf_init(&text, l->view->arena.env, (size_t)2 * VLS_BAG_NODE_MAX);
    vls_buf_printf(&text, "%s:%.*s", kinds[kind], VALISE_STR_ARG(run->node_id));
    if (!plain)
        vls_buf_printf(&text, "#%lld", (long long)number);
    rc = vls_buf_check(&text, err);
    row.point = vls_buf_str(&text);
    if (kind == AFTER)
        row.seq =
            run->end > 0 ? run->end : VALISE_NONE; /* it goes on, or ended without saying so */
    return rc < 0 ? rc : valise_view_emit(l->view, &row, err);
}

static int emit_run(void *arg, const void *row, valise_error *err)
{
    listing *l = arg;
    const vls_run_row *run = row;
    int64_t *count = runs_of(l, run->node_id, err);
    int rc;

    if (!count)
        return VALISE_E_NO_MEMORY;
    (*count)++;
    rc = emit_side(l, run, *count, BEFORE, err);
    return rc < 0 ? rc : emit_side(l, run, *count, AFTER, err);
}

static int emit_checkpoint(void *arg, const void *row, valise_error *err)
{
    const listing *l = arg;
    const vls_checkpoint_row *checkpoint = row;
    const point_row out = {.point = checkpoint->name, .kind = CHECKPOINT, .seq = checkpoint->seq};

    return valise_view_emit(l->view, &out, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_who_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    listing l = {.view = view};
    const vls_ledger *ledger = &use.ledger;
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    if (rc == 0)
        rc = vls_scope_owner_only(use.scope, "list the points", err);
    if (rc == 0)
        rc = ledger->ops->each_row(ledger->self, &vls_bag_checkpoints, emit_checkpoint, &l, err);
    if (rc == 0)
        rc = ledger->ops->each_row(ledger->self, &vls_bag_runs, emit_run, &l, err);
    vls_vec_release(&l.nodes, view->arena.env);
    return rc;
}

const valise_op vls_op_backpack_points = {
    .size = sizeof(valise_op),
    .name = "backpack:points",
    .brief = "List the states that have a name: checkpoints, and those around runs of nodes.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = vls_who_in,
    .in_size = sizeof(vls_who_args),
    .out = points_out,
    .out_size = sizeof(point_row),
    .query = query,
    .example = "{\"backpack\":\"run-1\"}",
};
