/* scan.c -- rows in order, merged from the transaction and the overlays in front of it.
 *
 * The rows of the overlays that belong to the range are gathered and sorted once; the rows of the
 * transaction come one by one, those whose keys an overlay has are skipped. What is compared is
 * the ordered encoding of (index columns, key columns), which is how backends order too. */
#include "base/mem.h"
#include "base/str.h"
#include "store/view.h"

/* A row of an overlay and where it belongs. */
typedef struct placed {
    valise_str order;
    const vls_overlay_row *row;
} placed;

struct valise_scan {
    valise_view *view;
    const vls_coll *coll;
    valise_range range;
    vls_arena arena;     /* cells of the range, placed rows */
    vls_arena row_arena; /* strings of the row handed out last */
    vls_txn_scan below;
    valise_cell row[VALISE_MAX_COLUMNS]; /* the next row of the transaction */
    bool have_row, at_end;
    bool stored;   /* VLS_SCAN_BELOW */
    vls_buf order; /* of row */
    vls_buf key;   /* of row */
    placed *placed;
    size_t placed_count, placed_at;
};

/* ---- where a row belongs ---- */

static uint16_t order_cells(valise_cell *out, const valise_scan *scan, const valise_cell *row)
{
    uint16_t columns[2 * VALISE_MAX_COLUMNS];
    uint16_t count = vls_coll_order(columns, scan->coll, scan->range.index);

    for (uint16_t i = 0; i < count; i++)
        out[i] = row[columns[i]];
    return count;
}

/* Is the row within the range? */
static bool is_in_range(const valise_scan *scan, const valise_cell *cells)
{
    const valise_range *r = &scan->range;
    int side;

    if (!vls_cells_equal(cells, r->equal, r->equal_count))
        return false;
    if (r->from_count == 0)
        return true;
    side = vls_cells_compare(cells + r->equal_count, r->from, r->from_count);
    if (r->flags & VALISE_SCAN_REVERSE)
        side = -side;
    return side > 0 || (side == 0 && !(r->flags & VALISE_SCAN_AFTER));
}

/* ---- the overlays' part ---- */

static int compare_placed(const void *a, const void *b)
{
    return vls_str_compare(((const placed *)a)->order, ((const placed *)b)->order);
}

static int compare_placed_reverse(const void *a, const void *b)
{
    return compare_placed(b, a);
}

static int place(valise_scan *scan, const vls_overlay_row *row, valise_error *err)
{
    valise_cell cells[2 * VALISE_MAX_COLUMNS];
    uint16_t count = order_cells(cells, scan, row->row);
    placed *p = &scan->placed[scan->placed_count];
    int rc;

    if (!is_in_range(scan, cells))
        return 0;
    vls_buf_clear(&scan->order);
    vls_key_write(&scan->order, cells, count);
    rc = vls_buf_check(&scan->order, err);
    if (rc == 0)
        rc = vls_arena_dup(&p->order, &scan->arena, vls_buf_str(&scan->order), err);
    if (rc < 0)
        return rc;
    p->row = row;
    scan->placed_count++;
    return 0;
}

static int place_overlay(valise_scan *scan, const vls_overlay *overlay, const vls_overlay *before,
                         valise_error *err)
{
    for (size_t i = 0; i < overlay->rows.len; i++) {
        const vls_overlay_row *row = overlay->rows.ptr[i];
        int rc;
        if (row->coll != scan->coll || !row->row)
            continue;
        if (before && vls_overlay_get(before, row->coll, row->key))
            continue;
        rc = place(scan, row, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int place_all(valise_scan *scan, valise_error *err)
{
    const valise_view *view = scan->view;
    size_t most = (scan->stored ? 0 : view->changes.rows.len) + view->past.rows.len;
    int rc = 0;

    if (most == 0)
        return 0;
    scan->placed = vls_arena_array(&scan->arena, most, sizeof(*scan->placed));
    if (!scan->placed)
        return vls_arena_fail(&scan->arena, err);
    if (!scan->stored)
        rc = place_overlay(scan, &view->changes, NULL, err);
    if (rc == 0)
        rc = place_overlay(scan, &view->past, scan->stored ? NULL : &view->changes, err);
    if (rc < 0 || scan->placed_count == 0)
        return rc;
    qsort(scan->placed, scan->placed_count, sizeof(*scan->placed),
          scan->range.flags & VALISE_SCAN_REVERSE ? compare_placed_reverse : compare_placed);
    return 0;
}

/* ---- the transaction's part ---- */

/* Does an overlay speak for this row, or did it come after the state that is seen? */
static int is_hidden(bool *out, valise_scan *scan, valise_error *err)
{
    const valise_view *view = scan->view;
    const vls_coll *coll = scan->coll;
    valise_str key;
    int rc;

    *out = false;
    if (vls_coll_is_quiet(coll) && scan->row[vls_coll_seq_column(coll)].as.integer > view->at) {
        *out = true;
        return 0;
    }
    if ((scan->stored || view->changes.rows.len == 0) && view->past.rows.len == 0)
        return 0;
    vls_buf_clear(&scan->key);
    vls_key_write(&scan->key, scan->row, coll->key_count);
    rc = vls_buf_check(&scan->key, err);
    if (rc < 0)
        return rc;
    key = vls_buf_str(&scan->key);
    *out = (!scan->stored && vls_overlay_get(&view->changes, coll, key)) ||
           vls_overlay_get(&view->past, coll, key);
    return 0;
}

/* Have the next row of the transaction at hand, unless it is at its end. */
static int fetch(valise_scan *scan, valise_error *err)
{
    while (!scan->have_row && !scan->at_end) {
        valise_cell cells[2 * VALISE_MAX_COLUMNS];
        bool hidden;
        int rc = vls_txn_scan_next(scan->row, &scan->below, err);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            scan->at_end = true;
            break;
        }
        rc = is_hidden(&hidden, scan, err);
        if (rc < 0)
            return rc;
        if (hidden)
            continue;
        scan->have_row = true;
        if (scan->placed_at < scan->placed_count) {
            vls_buf_clear(&scan->order);
            vls_key_write(&scan->order, cells, order_cells(cells, scan, scan->row));
            rc = vls_buf_check(&scan->order, err);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

/* ---- together ---- */

static bool overlay_is_next(const valise_scan *scan)
{
    int side;

    if (scan->placed_at == scan->placed_count)
        return false;
    if (!scan->have_row)
        return true;
    side = vls_str_compare(scan->placed[scan->placed_at].order, vls_buf_str(&scan->order));
    return scan->range.flags & VALISE_SCAN_REVERSE ? side > 0 : side < 0;
}

int vls_scan_next_cells(const valise_cell **row, int64_t *from_seq, valise_scan *scan,
                        valise_error *err)
{
    int rc = fetch(scan, err);

    if (rc < 0)
        return rc;
    if (overlay_is_next(scan)) {
        const vls_overlay_row *next = scan->placed[scan->placed_at++].row;
        *row = next->row;
        if (from_seq)
            *from_seq = next->from_seq;
        return 1;
    }
    if (!scan->have_row)
        return 0;
    scan->have_row = false;
    *row = scan->row;
    if (from_seq)
        *from_seq = scan->row[vls_coll_seq_column(scan->coll)].as.integer;
    return 1;
}

int valise_scan_next(void *row, valise_scan *scan, valise_error *err)
{
    const valise_coll *desc;
    const valise_cell *cells;
    int rc;

    VLS_ARG(row && scan, err);
    if (!scan->coll)
        return 0;
    desc = scan->coll->desc;
    rc = vls_scan_next_cells(&cells, NULL, scan, err);
    if (rc <= 0)
        return rc;
    vls_arena_reset(&scan->row_arena);
    rc = vls_row_from_cells(row, desc->fields, desc->row_size, cells, scan->coll->field_count,
                            &scan->row_arena, err);
    return rc < 0 ? rc : 1;
}

void valise_scan_close(valise_scan *scan)
{
    const valise_env *env;

    if (!scan)
        return;
    env = scan->arena.env;
    vls_txn_scan_close(&scan->below);
    vls_buf_release(&scan->order);
    vls_buf_release(&scan->key);
    vls_arena_release(&scan->row_arena);
    vls_arena_release(&scan->arena);
    vls_mem_free(env, scan, sizeof(*scan));
}

/* ---- opening ---- */

static valise_scan *new_scan(valise_view *view, const vls_coll *coll)
{
    const valise_env *env = view->arena.env;
    valise_scan *scan = vls_mem_zalloc(env, sizeof(*scan));

    if (!scan)
        return NULL;
    scan->view = view;
    scan->coll = coll;
    vls_arena_init(&scan->arena, env, VLS_VIEW_MAX_BYTES);
    vls_arena_init(&scan->row_arena, env, VLS_VIEW_MAX_BYTES);
    vls_buf_init(&scan->order, env, VLS_VIEW_MAX_BYTES);
    vls_buf_init(&scan->key, env, VLS_VIEW_MAX_BYTES);
    return scan;
}

int vls_view_scan(valise_scan **out, valise_view *view, const vls_coll *coll,
                  const valise_range *range, valise_error *err)
{
    VLS_AUTO(scan) valise_scan *scan = new_scan(view, coll);
    valise_cell *equal = NULL, *from = NULL;
    int rc;

    if (!scan)
        return vls_fail_memory(err);
    rc = vls_cells_copy(&equal, range->equal, range->equal_count, &scan->arena, err);
    if (rc == 0)
        rc = vls_cells_copy(&from, range->from, range->from_count, &scan->arena, err);
    if (rc < 0)
        return rc;
    scan->range = *range;
    scan->range.equal = equal;
    scan->range.from = from;
    scan->stored = range->flags & VLS_SCAN_BELOW;
    scan->range.flags &= ~VLS_SCAN_BELOW;
    if (!(coll->desc->flags & (VALISE_COLL_EXEMPT | VALISE_COLL_QUIET)))
        rc = vls_past_build(view, err);
    if (rc == 0)
        rc = place_all(scan, err);
    if (rc == 0)
        rc = vls_txn_scan_open(&scan->below, view->txn, coll, scan->range, err);
    if (rc < 0)
        return rc;
    *out = VLS_TAKE(scan);
    return 0;
}

/* The cells of the fields that select speaks of. */
static int cells_of_select(valise_cell *cells, valise_view *view, const vls_coll *coll,
                           const valise_select *select, int32_t index, valise_error *err)
{
    uint16_t columns[2 * VALISE_MAX_COLUMNS];
    uint16_t count = vls_coll_order(columns, coll, index);

    if ((size_t)select->equal + select->from > count)
        return vls_fail(err, VALISE_E_INVALID, "a scan of %s can name at most %u fields",
                        coll->desc->name, (unsigned)count);
    for (uint16_t i = 0; i < select->equal + select->from; i++) {
        const valise_field *field = &coll->desc->fields[columns[i]];
        int rc = vls_field_to_cell(&cells[i], select->row, field, &view->arena, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int vls_scan_range(valise_range *out, valise_cell cells[2 * VALISE_MAX_COLUMNS], valise_view *view,
                   const vls_coll *coll, const valise_select *select, valise_error *err)
{
    valise_range range = {.index = vls_coll_index(coll, select->index), .flags = select->flags};
    int rc;

    if (range.index < -1)
        return vls_fail(err, VALISE_E_INVALID, "collection %s has no index '%s'", coll->desc->name,
                        select->index);
    rc = cells_of_select(cells, view, coll, select, range.index, err);
    if (rc < 0)
        return rc;
    range.equal = cells;
    range.equal_count = select->equal;
    range.from = cells + select->equal;
    range.from_count = select->from;
    *out = range;
    return 0;
}

int valise_view_scan(valise_scan **out, valise_view *view, const valise_coll *desc,
                     const valise_select *select, valise_error *err)
{
    static const valise_select all = {0};
    valise_cell cells[2 * VALISE_MAX_COLUMNS];
    valise_range range;
    const vls_coll *coll;
    int rc;

    VLS_ARG(out && view && desc, err);
    if (!view->txn) {
        *out = new_scan(view, NULL);
        return *out ? 0 : vls_fail_memory(err);
    }
    coll = vls_store_coll(view->txn->store, desc);
    rc = vls_scan_range(&range, cells, view, coll, select ? select : &all, err);
    return rc < 0 ? rc : vls_view_scan(out, view, coll, &range, err);
}
