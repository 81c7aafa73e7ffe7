/* bundle_prove.c -- what `validate` would say of rows that came with a bundle, before they stay.
 *
 * That a bundle hashes to its last record says that it is whole, not who made it: anybody can write
 * another hash behind other rows. So rows that came are looked at as `validate` looks at them, in
 * the transaction that put them, and one finding refuses the whole bundle. They are looked at when
 * they are stored: within a command, each scan would go over all that the command has changed. */
#include "store/bundle.h"
#include "store/impl.h"
#include "store/own.h"
#include "store/validate.h"

typedef struct proving {
    valise_check check;
    valise_view view;
    valise_error first; /* finding */
} proving;

/* A check that stops hands its failure on, and it comes here once more. */
static int refuse(void *arg, const vls_finding *finding, valise_error *err)
{
    proving *p = arg;

    if (p->first.code == 0) {
        (void)vls_fail(&p->first, VALISE_E_INVALID, "%s of the bundle is not valid: %s",
                       finding->place, finding->problem);
        vls_hint(&p->first,
                 "nothing was imported; the bundle was forged, or made from a damaged workspace");
    }
    if (err)
        *err = p->first;
    return VALISE_E_INVALID;
}

static void begin(proving *p, vls_txn *txn, vls_progress *progress)
{
    *p = (proving){.check = {.store = txn->store, .txn = txn, .progress = progress, .fn = refuse},
                   .first = VALISE_ERROR_INIT};
    vls_view_init(&p->view, txn, vls_store_env(txn->store));
    p->check.view = &p->view;
    p->check.arg = p;
}

static int prove_row(proving *p, const vls_coll *coll, const valise_cell *cells, valise_error *err)
{
    valise_view *view = &p->view;
    vls_view_mark mark = vls_view_here(view);
    valise_cell *copy = NULL;
    int rc;

    (void)snprintf(p->check.place, sizeof(p->check.place), "%s", vls_coll_place(coll, cells).s);
    rc = vls_cells_copy(&copy, cells, coll->field_count, &view->arena, err);
    if (rc == 0)
        rc = vls_check_fields(&p->check, coll, copy, err);
    vls_view_rewind(view, mark);
    vls_view_forget_objects(view);
    return rc < 0 ? rc : vls_progress_step(p->check.progress, 1, err);
}

/* The thread that leads is not always the one that asked, which alone is told how far it is. */
int vls_bundle_prove(const valise_view *view, valise_error *err)
{
    vls_progress silent;
    proving p;
    int rc = 0;

    vls_progress_init(&silent, view->arena.env, NULL);
    vls_progress_begin(&silent, "check rows", "rows", 0);
    begin(&p, view->txn, &silent);
    for (size_t i = 0; rc == 0 && i < view->changes.rows.len; i++) {
        const vls_overlay_row *change = view->changes.rows.ptr[i];
        if (change->row && !vls_overlay_row_is_same(change))
            rc = prove_row(&p, change->coll, change->row, err);
    }
    vls_view_release(&p.view);
    return rc;
}

static int prove_coll(proving *p, const vls_coll *coll, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_open(&scan, p->check.txn, coll, (valise_range){.index = -1}, err);

    while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0)
        rc = prove_row(p, coll, cells, err);
    return rc;
}

int vls_bundle_prove_all(vls_txn *txn, vls_progress *progress, valise_error *err)
{
    const vls_store *store = txn->store;
    proving p;
    int rc = 0;

    begin(&p, txn, progress);
    vls_progress_begin(progress, "check rows", "rows", 0);
    for (uint32_t i = VLS_TABLE_OWN_COUNT; rc == 0 && i < vls_store_coll_count(store); i++) {
        const vls_coll *coll = vls_store_coll_at(store, i);
        if (!coll->foreign)
            rc = prove_coll(&p, coll, err);
    }
    vls_view_release(&p.view);
    if (rc == VALISE_E_INVALID && p.first.code)
        vls_hint(err, "nothing was imported; if it is a backup of a damaged workspace and the only "
                      "one, --force restores it");
    return rc < 0 ? rc : vls_progress_end(progress, err);
}
