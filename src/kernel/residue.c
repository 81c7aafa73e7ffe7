/* residue.c -- see residue.h. */
#include "kernel/residue.h"

#include "kernel/packages.h"

#define NAME "residue"

int vls_residue_mark(vls_txn *txn, valise_error *err)
{
    return vls_meta_put_int(txn, NAME, 1, err);
}

static int is_marked(void *arg, valise_view *view, valise_error *err)
{
    int64_t mark = 0;
    int rc = vls_meta_get_int(&mark, view->txn, NAME, err);

    *(bool *)arg = rc > 0;
    return rc < 0 ? rc : 0;
}

static int unmark(void *arg, vls_txn *txn, valise_error *err)
{
    int rc = vls_meta_delete(txn, NAME, err);

    (void)arg;
    return rc < 0 ? rc : 0;
}

int vls_residue_finish(int64_t *left, valise *v, valise_error *err)
{
    void *self;
    const valise_store_ops *ops = vls_store_ops(v->store, &self);
    bool marked = false;
    int rc = vls_with_view(v, NULL, is_marked, &marked, err);

    *left = 0;
    if (rc < 0 || !marked)
        return rc;
    rc = vls_packages_forget(v, err);
    if (rc == 0 && ops->maintain)
        rc = ops->maintain(left, self, VALISE_MAINTAIN_TRUNCATE, err);
    return rc < 0 || *left > 0 ? rc : vls_with_txn(v, unmark, NULL, err);
}
