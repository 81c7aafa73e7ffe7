/* apply.c -- a command's changes into the store, and the entry that tells of them.
 *
 * Every change goes through vls_view_apply; it is the only writer of state. For each changed row
 * it writes the new version, tagged with the entry's seq, and puts the old one into the entry. */
#include "base/str.h"
#include "store/own.h"
#include "store/view.h"

/* Does the log say what became of its rows? */
static bool has_history(const vls_coll *coll)
{
    return !(coll->desc->flags & (VALISE_COLL_EXEMPT | VALISE_COLL_QUIET));
}

/* Does the entry speak of this change? Of a QUIET row only that it came, and only where that makes
 * an event: neither what an erasure leaves of it nor its expiry is one. */
static bool is_listed(const vls_overlay_row *change)
{
    if (vls_coll_is_quiet(change->coll))
        return change->coll->desc->event && !change->before;
    return has_history(change->coll);
}

bool vls_view_has_changes(const valise_view *view)
{
    for (size_t i = 0; i < view->changes.rows.len; i++) {
        if (!vls_overlay_row_is_same(view->changes.rows.ptr[i]))
            return true;
    }
    return false;
}

/* ---- references ---- */

typedef struct reference_check {
    valise_view *view;
    const vls_overlay_row *change;
    valise_error *err;
} reference_check;

/* A reference that the row makes: what it names must be there, and gc must see that it is needed.
 */
static int check_reference(void *arg, const valise_field *field, void *member)
{
    const reference_check *check = arg;
    valise_view *view = check->view;
    const valise_id *id = member;
    int rc = 0;

    if (!field->ref || field->type != VALISE_T_ID)
        return 0;
    if (strcmp(field->ref, "object") == 0 && !vls_view_find_new(view, id))
        rc = vls_object_touch(view->txn, id, view->stamp.time,
                              view->stamp.time - VLS_OBJECT_RENEW_NS, check->err);
    /* gc removes blobs while nobody else writes: from here on it sees the reference. */
    if (strcmp(field->ref, "blob") == 0 && view->hooks.blob)
        rc = view->hooks.blob(view->hooks.self, id, check->err);
    if (rc < 0)
        vls_error_prepend(check->err, "%s.%s", check->change->coll->desc->name, field->name);
    return rc;
}

static int check_cell(reference_check *check, const valise_field *field, const valise_cell *cell)
{
    valise_id id;

    if (!field->ref || cell->type != VALISE_CELL_BLOB || cell->as.bytes.len != sizeof(id))
        return 0;
    memcpy(&id, cell->as.bytes.ptr, sizeof(id));
    return check_reference(check, field, &id);
}

/* References inside of lists and structs: for these the row is needed as a struct. */
static int check_inside(reference_check *check)
{
    const vls_overlay_row *change = check->change;
    void *row = NULL;
    int rc = vls_row_of_cells(&row, change->coll, change->row, &check->view->arena, check->err);

    return rc < 0 ? rc
                  : vls_fields_each_ref(row, change->coll->desc->fields, check_reference, check);
}

/* What the row referred to before is known to be there, and was seen by gc. */
static int check_references(valise_view *view, const vls_overlay_row *change, valise_error *err)
{
    const valise_field *fields = change->coll->desc->fields;
    reference_check check = {view, change, err};
    bool inside = false; /* one of its parts is another */
    int rc = 0;

    for (uint16_t i = 0; change->row && rc == 0 && i < change->coll->field_count; i++) {
        bool parts = vls_field_has_parts(&fields[i]);
        if (!parts && !fields[i].ref)
            continue;
        if (change->before && vls_cells_equal(&change->row[i], &change->before[i], 1))
            continue;
        if (parts)
            inside = true;
        else
            rc = check_cell(&check, &fields[i], &change->row[i]);
    }
    return rc < 0 || !inside || !change->coll->refs_inside ? rc : check_inside(&check);
}

/* ---- the entry's list ---- */

static int list_change(vls_buf *list, vls_txn *txn, const vls_overlay_row *change, int64_t gone_seq,
                       valise_error *err)
{
    vls_buf *cells = &txn->scratch;
    vls_image image = {.coll = change->coll->number, .key = change->key};

    vls_buf_clear(cells);
    if (change->before) {
        vls_cells_write(cells, change->before, change->coll->field_count);
        image.from_seq = change->before_seq;
        image.cells = vls_buf_str(cells);
    } else {
        image.gone_seq = gone_seq;
    }
    vls_changes_write(list, &image);
    return vls_buf_check(cells, err);
}

/* ---- rows ---- */

/* The entry that a row says it was made by. Of a QUIET row nothing else tells since when it is
 * there, so that it stays the first one. */
static int64_t seq_of(const valise_view *view, const vls_overlay_row *change)
{
    return vls_coll_is_quiet(change->coll) && change->before ? change->before_seq : view->stamp.seq;
}

/* Was there such a row before, and which entry deleted it? 1, or 0. Where none of the collection's
 * rows was ever deleted, or none with so great a key, the last one tells, which writers know. */
static int find_gone(vls_gone *gone, valise_view *view, valise_error *err)
{
    vls_txn *txn = view->txn;
    const valise_cell coll = {.type = VALISE_CELL_INT, .as.integer = gone->coll};
    valise_cell last[VALISE_MAX_COLUMNS];
    int rc = vls_txn_last(last, txn, vls_store_coll_at(txn->store, VLS_TABLE_GONE), -1, &coll, 1,
                          &view->arena, err);

    return rc <= 0 ? rc : vls_own_get(gone, txn, VLS_TABLE_GONE, &view->arena, err);
}

static int write_row(valise_view *view, const vls_overlay_row *change, int64_t *gone_seq,
                     valise_error *err)
{
    vls_txn *txn = view->txn;
    const vls_coll *coll = change->coll;
    vls_gone gone = {.coll = coll->number, .key = change->key};
    int rc = 0;

    *gone_seq = 0;
    if (!change->before && has_history(coll)) {
        rc = find_gone(&gone, view, err);
        if (rc > 0) {
            *gone_seq = gone.seq;
            rc = vls_own_del(txn, VLS_TABLE_GONE, &gone, err);
        }
    }
    if (rc < 0)
        return rc;
    if (change->row)
        return vls_txn_put(txn, coll, change->row, seq_of(view, change), err);
    /* A key's own cells are at the front of the row. */
    rc = vls_txn_del(txn, coll, change->before, err);
    if (rc > 0 && has_history(coll)) {
        gone.seq = view->stamp.seq;
        rc = vls_own_put(txn, VLS_TABLE_GONE, &gone, err);
    }
    return rc < 0 ? rc : 0;
}

static int check_immutable(const valise_view *view, const vls_overlay_row *change,
                           valise_error *err)
{
    const vls_coll *coll = change->coll;

    if (change->erasing || !change->before ||
        !(coll->desc->flags & (VALISE_COLL_IMMUTABLE | VALISE_COLL_QUIET)) ||
        (!change->row && (!vls_coll_is_quiet(coll) || view->expiring)))
        return 0;
    return vls_fail(err, VALISE_E_CONFLICT, "%s exists already and cannot be changed",
                    vls_coll_place(coll, change->before).s);
}

static int apply_change(vls_buf *list, valise_view *view, const vls_overlay_row *change,
                        valise_error *err)
{
    int64_t gone_seq;
    int rc = check_immutable(view, change, err);

    if (rc == 0)
        rc = check_references(view, change, err);
    if (rc == 0)
        rc = write_row(view, change, &gone_seq, err);
    if (rc == 0 && is_listed(change))
        rc = list_change(list, view->txn, change, gone_seq, err);
    return rc;
}

/* ---- all of it ---- */

static int write_objects(valise_view *view, valise_error *err)
{
    for (size_t i = 0; i < view->objects.len; i++) {
        const vls_new_object *o = view->objects.ptr[i];
        bool existed;
        int rc =
            vls_object_put(view->txn, &o->id, o->kind, o->bytes, view->stamp.time, &existed, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int vls_view_apply(vls_entry *entry, valise_view *view, valise_error *err)
{
    vls_buf list;
    int rc;

    assert(view->changing && view->stamp.seq == view->txn->tip.seq + 1);
    vls_buf_init_in(&list, &view->arena, VLS_CHANGES_MAX);
    rc = write_objects(view, err);
    for (size_t i = 0; rc == 0 && i < view->changes.rows.len; i++) {
        if (!vls_overlay_row_is_same(view->changes.rows.ptr[i]))
            rc = apply_change(&list, view, view->changes.rows.ptr[i], err);
    }
    if (rc < 0)
        return rc;
    if (list.failed == VALISE_E_TOO_LARGE) {
        (void)vls_fail(err, VALISE_E_LIMIT,
                       "one command cannot change so much (more than %zu MiB of rows)",
                       VLS_CHANGES_MAX >> 20);
        vls_hint(err, "split it into several commands");
        return VALISE_E_LIMIT;
    }
    entry->seq = view->stamp.seq;
    rc = vls_buf_keep(&entry->changes, &list, err);
    return rc < 0 ? rc : vls_log_append(view->txn, entry, err);
}
