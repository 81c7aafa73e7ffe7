/* last.c -- the last row of a selection: one look, where a scan would be built and torn down.
 *
 * What the command itself has put is looked through; below it the transaction knows, or asks. Rows
 * that were moved or deleted by the command, and the past, are left to a scan. */
#include "store/view.h"

static bool is_simple(const valise_view *view, const vls_coll *coll, bool below)
{
    if (view->at != view->txn->tip.seq || view->past.rows.len > 0)
        return false;
    for (size_t i = 0; !below && i < view->changes.rows.len; i++) {
        const vls_overlay_row *change = view->changes.rows.ptr[i];
        if (change->coll == coll && (change->before || !change->row))
            return false;
    }
    return true;
}

/* In the order of the columns: which of two rows comes later? */
static int compare(const valise_cell *a, const valise_cell *b, const uint16_t *columns,
                   uint16_t count)
{
    int side = 0;

    for (uint16_t i = 0; side == 0 && i < count; i++)
        side = vls_cells_compare(&a[columns[i]], &b[columns[i]], 1);
    return side;
}

/* The last one of the command's own rows and another, if there is one. */
static const valise_cell *last_put(const valise_cell *last, const valise_view *view,
                                   const vls_coll *coll, const valise_range *range)
{
    uint16_t columns[2 * VALISE_MAX_COLUMNS];
    uint16_t count = vls_coll_order(columns, coll, range->index);

    for (size_t i = 0; i < view->changes.rows.len; i++) {
        const vls_overlay_row *change = view->changes.rows.ptr[i];
        bool inside = change->coll == coll;
        for (uint16_t c = 0; inside && c < range->equal_count; c++)
            inside = vls_cells_equal(&change->row[columns[c]], &range->equal[c], 1);
        if (inside && (!last || compare(change->row, last, columns, count) > 0))
            last = change->row;
    }
    return last;
}

static int scan_back(valise_cell *row, int64_t *from_seq, valise_view *view, const vls_coll *coll,
                     valise_range range, valise_error *err)
{
    valise_scan *scan = NULL;
    const valise_cell *cells = NULL;
    valise_cell *copy = NULL;
    int rc, found = 0;

    range.flags |= VALISE_SCAN_REVERSE;
    rc = vls_view_scan(&scan, view, coll, &range, err);
    if (rc == 0)
        rc = found = vls_scan_next_cells(&cells, from_seq, scan, err);
    if (rc > 0)
        rc = vls_cells_copy(&copy, cells, coll->field_count, &view->arena, err);
    valise_scan_close(scan);
    if (copy)
        memcpy(row, copy, coll->field_count * sizeof(*row));
    return rc < 0 ? rc : found;
}

int vls_view_last(valise_cell *row, int64_t *from_seq, valise_view *view, const valise_coll *desc,
                  const valise_select *select, valise_error *err)
{
    bool below = select->flags & VLS_SCAN_BELOW;
    valise_cell cells[2 * VALISE_MAX_COLUMNS];
    const valise_cell *last = NULL;
    int64_t made_by = 0;
    const vls_coll *coll;
    valise_range range;
    int rc;

    assert(select->from == 0);
    if (!view->txn)
        return 0;
    coll = vls_store_coll(view->txn->store, desc);
    rc = vls_scan_range(&range, cells, view, coll, select, err);
    if (rc < 0)
        return rc;
    if (!is_simple(view, coll, below))
        return scan_back(row, from_seq, view, coll, range, err);
    rc = vls_txn_last(row, view->txn, coll, range.index, range.equal, range.equal_count,
                      &view->arena, err);
    if (rc > 0) {
        last = row;
        made_by = row[vls_coll_seq_column(coll)].as.integer;
    }
    if (rc >= 0 && !below && view->changes.rows.len > 0)
        last = last_put(last, view, coll, &range);
    if (rc < 0 || !last)
        return rc;
    if (last != row) {
        memcpy(row, last, coll->field_count * sizeof(*row));
        made_by = 0;
    }
    if (from_seq)
        *from_seq = made_by;
    return 1;
}
