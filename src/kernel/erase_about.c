/* erase_about.c -- rows about one blob go with it: those whose key begins with it, as what is known
 * of it and who holds it. [K20] [W10] */
#include "base/str.h"
#include "base/vec.h"
#include "kernel/erase.h"

typedef struct finding {
    valise_view *view;
    const valise_id *blob;
    size_t most;
    vls_vec(const valise_cell *) rows; /* of one collection */
} finding;

/* 1: there are more than may go. */
static int find_rows(finding *f, const vls_coll *coll, valise_error *err)
{
    const valise_cell first = {VALISE_CELL_BLOB,
                               {.bytes = vls_str(f->blob->bytes, sizeof(*f->blob))}};
    const valise_range range = {.index = -1, .equal = &first, .equal_count = 1};
    const valise_cell *row = NULL;
    valise_scan *scan = NULL;
    int rc = vls_view_scan(&scan, f->view, coll, &range, err);

    f->rows.len = 0;
    while (rc >= 0 && (rc = vls_scan_next_cells(&row, NULL, scan, err)) > 0) {
        valise_cell *copy = NULL;
        if (f->rows.len == f->most)
            break;
        rc = vls_cells_copy(&copy, row, coll->field_count, &f->view->arena, err);
        if (rc == 0 && !vls_vec_push(&f->rows, f->view->arena.env, copy))
            rc = vls_fail_memory(err);
    }
    valise_scan_close(scan);
    return rc;
}

static int delete_rows(finding *f, const vls_coll *coll, valise_error *err)
{
    int more = find_rows(f, coll, err), rc = VLS_MIN(more, 0);

    for (size_t i = 0; rc == 0 && i < f->rows.len; i++)
        rc = vls_view_delete_cells(f->view, coll, f->rows.ptr[i], err);
    f->most -= VLS_MIN(f->most, f->rows.len);
    return rc < 0 ? rc : more;
}

int vls_erase_about(bool *more, valise_view *view, const valise_id *blob, size_t most,
                    valise_error *err)
{
    const vls_store *store = view->txn->store;
    finding f = {.view = view, .blob = blob, .most = most};
    bool any = false;
    int rc = 0;

    for (uint32_t i = 0; rc >= 0 && i < vls_store_coll_count(store); i++) {
        const vls_coll *coll = vls_store_coll_at(store, i);
        rc = vls_erase_is_about(coll) ? delete_rows(&f, coll, err) : 0;
        any |= rc > 0;
    }
    vls_vec_release(&f.rows, view->arena.env);
    if (rc >= 0)
        *more = any;
    return vls_settle(rc);
}
