/* op_points.c -- backpack:points, the states that have a name: checkpoints and runs of nodes. */
#include "backpack/use.h"

typedef struct point_row {
    valise_str point;
    int64_t kind, seq;
    valise_str node_id;
} point_row;

enum { CHECKPOINT, BEFORE, AFTER };
static const char *const kinds[] = {"checkpoint", "before", "after", NULL};

static const valise_field points_out[] = {
    VALISE_FIELD(point_row, point, STR, 0, "What to write for the state."),
    VALISE_FIELD(point_row, seq, INT, VALISE_NULLABLE,
                 "The commit whose state it is; of a run that goes on its last one so far."),
    VALISE_FIELD_WITH(point_row, kind, ENUM, 0, "Why it has a name.", .more = kinds),
    VALISE_FIELD_AS(point_row, node_id, "nodeId", STR, VALISE_NULLABLE, "The node that ran."),
    VALISE_FIELD_END,
};

typedef struct listing {
    valise_view *view;
    const vls_ledger *ledger;
    int64_t edge; /* what is older cannot be seen */
} listing;

/* "before:NODE", of later runs "before:NODE#2"; so also where the node's id could be misread. */
static int emit_side(const listing *l, const vls_run_row *run, int64_t kind, valise_error *err)
{
    valise_view *view = l->view;
    VLS_AUTO(buf) vls_buf text = {0};
    point_row row = {.kind = kind, .node_id = run->node_id, .seq = run->start};
    bool plain = run->nth == 1 && vls_str_find_byte(run->node_id, '#') == run->node_id.len;
    int rc;

    vls_buf_init(&text, view->arena.env, (size_t)2 * VLS_BAG_NODE_MAX);
    vls_buf_printf(&text, "%s:%.*s", kinds[kind], VALISE_STR_ARG(run->node_id));
    if (!plain)
        vls_buf_printf(&text, "#%lld", (long long)run->nth);
    rc = vls_buf_check(&text, err);
    row.point = vls_buf_str(&text);
    if (rc == 0 && kind == AFTER)
        rc = vls_run_end(&row.seq, l->ledger, run, err);
    return rc < 0 || row.seq < l->edge ? rc : valise_view_emit(view, &row, err);
}

static int emit_run(void *arg, const void *row, valise_error *err)
{
    int rc = emit_side(arg, row, BEFORE, err);

    return rc < 0 ? rc : emit_side(arg, row, AFTER, err);
}

static int emit_checkpoint(void *arg, const void *row, valise_error *err)
{
    const listing *l = arg;
    const vls_bag_checkpoint_row *checkpoint = row;
    const point_row out = {.point = checkpoint->name, .kind = CHECKPOINT, .seq = checkpoint->seq};

    return valise_view_emit(l->view, &out, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_who_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    const vls_ledger *ledger = &use.ledger;
    listing l = {view, ledger, 0};
    vls_ledger_head head;
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    if (rc == 0)
        rc = vls_scope_owner_only(use.scope, "list the points", err);
    if (rc == 0)
        rc = vls_look_head(&head, ledger, err);
    l.edge = rc == 0 ? head.edge : 0;
    if (rc == 0)
        rc = ledger->ops->each_row(ledger->self, &vls_bag_checkpoints, emit_checkpoint, &l, err);
    if (rc == 0)
        rc = ledger->ops->each_row(ledger->self, &vls_bag_runs, emit_run, &l, err);
    return rc;
}

const valise_op vls_op_backpack_points = {
    .size = sizeof(valise_op),
    .name = "backpack:points",
    .brief = "List the named states: checkpoints, and before and after each node run.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = vls_owner_in,
    .in_size = sizeof(vls_who_args),
    .out = points_out,
    .out_size = sizeof(point_row),
    .query = query,
    .example = "{\"backpack\":\"run-1\"}",
};
