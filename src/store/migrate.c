/* migrate.c -- from one format of the store to the next.
 *
 * A step sees the store's own tables and brings them from its format to the one after it; all steps
 * that are needed run in one write transaction, so that the store is in the old format or in the
 * new one. A step that needs further columns in one of the own tables asks the backend's `create`
 * for them; the tables `meta` and `collection` always stay as they are. */
#include "store/impl.h"

/* Format 1 is the first. */
const vls_migration vls_migrations[] = {{0, NULL}};

static const vls_migration *find_step(const vls_migration *migrations, int64_t from)
{
    for (; migrations->from != 0; migrations++) {
        if (migrations->from == from)
            return migrations;
    }
    return NULL;
}

static int run_steps(vls_txn *txn, const vls_migration *migrations, int64_t from, valise_error *err)
{
    for (int64_t format = from; format < txn->store->format; format++) {
        const vls_migration *step = find_step(migrations, format);
        int rc = step ? step->run(txn, err)
                      : vls_fail(err, VALISE_E_UNSUPPORTED,
                                 "the store cannot be brought from format %lld to %lld",
                                 (long long)format, (long long)(format + 1));
        if (rc == 0)
            rc = vls_meta_put_int(txn, "format", format + 1, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int vls_store_migrate(vls_store *store, const vls_migration *migrations, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_meta_state meta;
    int rc = vls_txn_begin_bare(&txn, store, VALISE_TXN_WRITE, err);

    if (rc == 0)
        rc = vls_meta_read_state(&meta, &txn, err);
    if (rc == 0)
        rc =
            run_steps(&txn, migrations, meta.format, err); /* none, if another program was faster */
    return rc < 0 ? rc : vls_txn_commit(&txn, err);
}
