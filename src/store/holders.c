/* holders.c -- see holders.h. */
#include "store/holders.h"

#include "base/str.h"

/* ---- one reference ---- */

static void hold(const vls_holders *h, const valise_id *id)
{
    const valise_id *found =
        h->count > 0 ? bsearch(id, h->ids, h->count, sizeof(*id), vls_id_order) : NULL;

    if (found)
        h->held[found - h->ids] = true;
}

static bool is_target(const vls_holders *h, const valise_field *field)
{
    return field->type == VALISE_T_ID && field->ref && strcmp(field->ref, h->target) == 0;
}

static int hold_member(void *arg, const valise_field *field, void *member)
{
    const vls_holders *h = *(const vls_holders **)arg;

    if (is_target(h, field))
        hold(h, member);
    return 0;
}

static bool row_counts(const vls_holders *h, const vls_coll *coll, const valise_cell *row)
{
    return !h->counts || h->counts(h->arg, coll, row);
}

/* ---- by an index ---- */

/* The index that begins with a field; -1: the key does; -2: none. */
static int32_t index_of(const vls_coll *coll, uint16_t field)
{
    uint16_t columns[2 * VALISE_MAX_COLUMNS];
    const valise_coll_index *list = coll->desc->indexes;

    for (int32_t i = -1; i < 0 || (list && list[i].name); i++) {
        (void)vls_coll_order(columns, coll, i);
        if (columns[0] == field)
            return i;
    }
    return -2;
}

/* Does a row that counts have this id in the field that the index begins with? */
static int seek(bool *out, const vls_holders *h, valise_view *view, const vls_coll *coll,
                int32_t index, const valise_id *id, valise_error *err)
{
    const valise_cell equal = {.type = VALISE_CELL_BLOB,
                               .as.bytes = {(const char *)id->bytes, sizeof(id->bytes)}};
    const valise_range range = {
        .index = index, .equal = &equal, .equal_count = 1, .flags = VLS_SCAN_BELOW};
    const valise_cell *cells;
    VLS_AUTO(scan) valise_scan *scan = NULL;
    int rc = vls_view_scan(&scan, view, coll, &range, err);

    while (rc == 0 && (rc = vls_scan_next_cells(&cells, NULL, scan, err)) > 0) {
        *out = row_counts(h, coll, cells);
        if (*out)
            break;
        rc = 0;
    }
    return vls_settle(rc);
}

static int seek_all(const vls_holders *h, valise_view *view, const vls_coll *coll, int32_t index,
                    valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < h->count; i++) {
        if (!h->held[i])
            rc = seek(&h->held[i], h, view, coll, index, &h->ids[i], err);
    }
    return rc;
}

/* ---- by reading all rows ---- */

static int read_all(const vls_holders *h, valise_view *view, const vls_coll *coll,
                    valise_error *err)
{
    const valise_range all = {.index = -1, .flags = VLS_SCAN_BELOW};
    VLS_AUTO(arena) vls_arena arena = {0};
    const valise_cell *cells;
    VLS_AUTO(scan) valise_scan *scan = NULL;
    int rc = vls_view_scan(&scan, view, coll, &all, err);

    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    while (rc == 0 && (rc = vls_scan_next_cells(&cells, NULL, scan, err)) > 0) {
        void *row = NULL;
        rc = vls_row_of_cells(&row, coll, cells, &arena, err);
        if (rc == 0 && row_counts(h, coll, cells))
            rc = vls_fields_each_ref(row, coll->desc->fields, hold_member, &h);
        vls_arena_reset(&arena);
    }
    return rc;
}

/* ---- all collections ---- */

static bool is_left_out(const vls_holders *h, const vls_coll *coll)
{
    for (size_t i = 0; h->except && h->except[i]; i++) {
        if (strcmp(h->except[i]->name, coll->desc->name) == 0)
            return true;
    }
    return coll->missing;
}

static int look_at(const vls_holders *h, valise_view *view, const vls_coll *coll, valise_error *err)
{
    bool whole = false;
    int rc = 0;

    for (uint16_t i = 0; rc == 0 && i < coll->field_count; i++) {
        const valise_field *field = &coll->desc->fields[i];
        int32_t index = is_target(h, field) ? index_of(coll, i) : -2;
        if (index > -2)
            rc = seek_all(h, view, coll, index, err);
        else if (is_target(h, field) || (vls_field_has_parts(field) && vls_field_refers(field)))
            whole = true;
    }
    return rc < 0 || !whole ? rc : read_all(h, view, coll, err);
}

int vls_holders_find(const vls_holders *h, valise_view *view, valise_error *err)
{
    const vls_store *store = view->txn->store;
    int rc = 0;

    for (size_t i = 0; i < h->count; i++)
        h->held[i] = false;
    for (uint32_t i = VLS_TABLE_OWN_COUNT; rc == 0 && i < vls_store_coll_count(store); i++) {
        const vls_coll *coll = vls_store_coll_at(store, i);
        if (!is_left_out(h, coll))
            rc = look_at(h, view, coll, err);
    }
    return rc;
}
