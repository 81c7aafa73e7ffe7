/* impl.h -- the inside of a store, for the files of src/store.
 *
 * Threads: vls_store is shared; `lock` protects what changes after open. */
#ifndef VLS_STORE_IMPL_H
#define VLS_STORE_IMPL_H

#include <pthread.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/cache.h"
#include "store/own.h"
#include "store/store.h"

struct vls_store {
    const valise_env *env;
    valise_store_ops ops; /* missing ones are NULL */
    void *backend;
    unsigned flags;
    int64_t busy_timeout_ns;
    int64_t format;      /* what this program writes */
    int64_t schema;      /* when it was opened */
    bool bare;           /* without collections, and whatever `meta` says */
    valise_error damage; /* that was seen when it was opened: nothing is written; code 0: none */
    vls_arena arena;
    vls_vec(vls_coll *) colls; /* by number */
    vls_map by_desc, by_name;

    pthread_mutex_t lock; /* over the next */
    vls_meta_state meta;  /* of that generation; 0: not read yet */

    pthread_mutex_t settle; /* txn.c: held while a write transaction is committed */
    /* The write transaction's: */
    vls_tip tip; /* what it sees if nobody else has written */
    bool tip_known;
    vls_chunks *chunks;
    vls_cache *cache; /* the same */
};

/* ---- open (schema.c, migrate.c) ---- */

/* Make the store of a new one: format and workspace id. */
int vls_store_found(vls_store *store, valise_error *err);

/* Bring an older one to the store's format, under the write lock. */
int vls_store_migrate(vls_store *store, const vls_migration *migrations, valise_error *err);

/* Attach the collections that are in the store and those of the list, creating what is not there.
 * *again: somebody else did the same meanwhile; close the backend and start over. */
int vls_store_attach(bool *again, vls_store *store, const valise_coll *const *descs,
                     valise_error *err);

/* A transaction without a look at meta and log: for open alone. */
int vls_txn_begin_bare(vls_txn *out, vls_store *store, int mode, valise_error *err);

/* Read all of what transactions need of `meta`. */
int vls_meta_read_state(vls_meta_state *out, vls_txn *txn, valise_error *err);

/* The same as far as it can be read; false: something cannot. */
bool vls_meta_salvage(vls_meta_state *out, vls_txn *txn);

/* How far `meta` has come: 0 when it is empty. */
int vls_meta_generation(int64_t *out, vls_txn *txn, valise_error *err);

#endif
