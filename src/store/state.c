/* state.c -- the state hash: one id for everything that is state.
 *
 *     tagged hash "valise.state.1": for each collection that has rows and is not EXEMPT, by name:
 *         name, then the encoding of each row in the order of keys, then none
 *
 * The encoding of a row is that of its fields (field/row.h) without NULLs at its end, so that a
 * field that was added later and is not set changes nothing. */
#include "base/str.h"
#include "store/view.h"

static int compare_names(const void *a, const void *b)
{
    const vls_coll *const *x = a, *const *y = b;

    return strcmp((*x)->desc->name, (*y)->desc->name);
}

static int hash_coll(vls_hasher *hasher, vls_buf *encoded, valise_view *view, const vls_coll *coll,
                     valise_error *err)
{
    valise_range range = {.index = -1};
    valise_scan *scan = NULL;
    const valise_cell *row;
    bool any = false;
    int rc = vls_view_scan(&scan, view, coll, &range, err);

    while (rc >= 0 && (rc = vls_scan_next_cells(&row, NULL, scan, err)) > 0) {
        size_t count = coll->field_count;
        while (count > 0 && row[count - 1].type == VALISE_CELL_NULL)
            count--;
        if (!any)
            vls_hash_field(hasher, valise_str_of(coll->desc->name));
        any = true;
        vls_buf_clear(encoded);
        vls_cells_write(encoded, row, count);
        vls_hash_field(hasher, vls_buf_str(encoded));
        rc = vls_buf_check(encoded, err);
    }
    if (any)
        vls_hash_field_none(hasher);
    valise_scan_close(scan);
    return rc;
}

int vls_state_hash(valise_id *out, valise_view *view, valise_error *err)
{
    vls_hasher hasher;
    const vls_store *store = view->txn->store;
    const vls_coll *colls[VLS_COLL_MAX] = {NULL};
    VLS_AUTO(buf) vls_buf encoded = {0};
    size_t count = 0;
    int complete = vls_txn_check_complete(view->txn, err);

    if (complete < 0)
        return complete;
    for (uint32_t i = 0; i < vls_store_coll_count(store); i++) {
        const vls_coll *coll = vls_store_coll_at(store, i);
        if (vls_coll_is_state(coll))
            colls[count++] = coll;
    }
    qsort(colls, count, sizeof(colls[0]), compare_names);
    vls_buf_init(&encoded, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_hash_begin_tagged(&hasher, "valise.state.1");
    for (size_t i = 0; i < count; i++) {
        int rc = hash_coll(&hasher, &encoded, view, colls[i], err);
        if (rc < 0)
            return rc;
    }
    vls_hash_end(out, &hasher);
    return 0;
}
