/* op_list.c -- backpack:list, the backpacks there are: those of the workspace, and the ephemeral
 * ones of this handle. */
#include <valise/sys/operation.h>

#include "backpack/use.h"
#include "base/uuid.h"

typedef struct list_row {
    valise_uuid id;
    valise_str name;
    int64_t created;
    valise_str actor;
    bool lenient, taint, ephemeral;
    valise_uuid origin;
    valise_str origin_name;
    int64_t origin_seq, commits, last_seq, edge;
} list_row;

static const valise_field list_out[] = {
    VALISE_FIELD(list_row, name, STR, 0, "Its name."),
    VALISE_FIELD(list_row, id, UUID, 0, "Its id."),
    VALISE_FIELD(list_row, created, TIME, 0, "When it was made."),
    VALISE_FIELD(list_row, actor, STR, 0, "Who made it."),
    VALISE_FIELD(list_row, commits, INT, 0, "How many commits its history has."),
    VALISE_FIELD_AS(list_row, last_seq, "lastSeq", INT, 0, "Number of its newest commit."),
    VALISE_FIELD(list_row, edge, INT, 0, "Commits up to here may have been dropped."),
    VALISE_FIELD(list_row, lenient, BOOL, 0, "Denied access fails silently."),
    VALISE_FIELD(list_row, taint, BOOL, 0, "Sticky tags spread."),
    VALISE_FIELD(list_row, ephemeral, BOOL, 0, "It lives in the memory of this process."),
    VALISE_FIELD(list_row, origin, UUID, VALISE_NULLABLE, "The backpack it was forked from."),
    VALISE_FIELD_AS(list_row, origin_name, "originName", STR, VALISE_NULLABLE, "Name of that one."),
    VALISE_FIELD_AS(list_row, origin_seq, "originSeq", INT, VALISE_NULLABLE,
                    "The commit of it that it starts with."),
    VALISE_FIELD_END,
};

/* Of what it was forked from, where there is such a thing. */
static int read_origin(list_row *row, valise_view *view, const valise_uuid *id, int64_t seq,
                       valise_error *err)
{
    vls_bag_row origin = {.id = *id};
    int rc;

    row->origin_seq = VALISE_NONE;
    if (vls_uuid_is_none(id))
        return 0;
    row->origin = *id;
    row->origin_seq = seq;
    rc = valise_view_get(&origin, view, &vls_bags, err);
    if (rc > 0)
        row->origin_name = origin.name;
    return rc < 0 ? rc : 0;
}

static int emit_row(valise_view *view, const vls_bag_row *bag, valise_error *err)
{
    list_row row = {.id = bag->id,
                    .name = bag->name,
                    .created = bag->created,
                    .actor = bag->actor,
                    .lenient = bag->lenient,
                    .taint = bag->taint,
                    .edge = bag->edge};
    int rc = vls_rows_last_seq(&row.last_seq, view, &bag->id, err);

    row.last_seq = VLS_MAX(row.last_seq, bag->edge);
    row.commits = row.last_seq - bag->edge;
    if (rc == 0)
        rc = read_origin(&row, view, &bag->origin, bag->origin_seq, err);
    return rc < 0 ? rc : valise_view_emit(view, &row, err);
}

static int emit_memory(valise_view *view, const vls_ephemeral *e, valise_error *err)
{
    vls_ledger ledger = vls_ring_ledger(e->ring);
    vls_ledger_head head;
    list_row row = {.id = e->id,
                    .name = vls_ephemeral_name(e),
                    .created = e->created,
                    .actor = vls_str(e->actor, e->actor_len),
                    .ephemeral = true};
    int rc = vls_look_head(&head, &ledger, err);

    if (rc < 0)
        return rc;
    row.lenient = head.lenient;
    row.taint = head.taint;
    row.last_seq = head.last;
    row.edge = head.edge;
    row.commits = head.last - head.edge;
    rc = read_origin(&row, view, &head.origin, head.origin_seq, err);
    return rc < 0 ? rc : valise_view_emit(view, &row, err);
}

typedef struct memories {
    vls_ephemeral **list;
    size_t count, next;
} memories;

/* Those whose names come before this one; ptr NULL: all that are left. */
static int emit_until(memories *m, valise_view *view, valise_str name, valise_error *err)
{
    int rc = 0;

    while (rc == 0 && m->next < m->count &&
           (!name.ptr || vls_str_compare(vls_ephemeral_name(m->list[m->next]), name) < 0))
        rc = emit_memory(view, m->list[m->next++], err);
    return rc;
}

static int emit_all(memories *m, valise_view *view, valise_error *err)
{
    const valise_select by_name = {.index = "name"};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_bag_row bag;
    int rc = valise_view_scan(&scan, view, &vls_bags, &by_name, err);

    while (rc == 0 && (rc = valise_scan_next(&bag, scan, err)) > 0) {
        rc = 0;
        if (bag.dropped)
            continue;
        rc = emit_until(m, view, bag.name, err);
        if (rc == 0)
            rc = emit_row(view, &bag, err);
    }
    return rc < 0 ? rc : emit_until(m, view, (valise_str){NULL, 0}, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    memories m = {NULL, 0, 0};
    valise *v = vls_view_bus(view);
    int rc = 0;

    (void)in;
    (void)out;
    if (v && view->txn && view->at == view->txn->tip.seq) /* the past knows nothing of them */
        rc = vls_ephemeral_list(&m.list, &m.count, v, err);
    if (rc == 0)
        rc = emit_all(&m, view, err);
    vls_ephemeral_list_free(m.list, m.count, v);
    return rc;
}

const valise_op vls_op_backpack_list = {
    .size = sizeof(valise_op),
    .name = "backpack:list",
    .brief = "List the backpacks.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .out = list_out,
    .out_size = sizeof(list_row),
    .query = query,
    .example = "{}",
};
