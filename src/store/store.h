/* store.h -- a store: a backend, the collections in it, and transactions that check what they read.
 *
 * Every row that comes out of a transaction has been checked against its sum; every row that goes
 * in gets one. Only this file and the garbage collector talk to a backend.
 *
 * The store's own tables, by number:
 *
 *     0 meta        name -> JSON: format, workspace id, base_seq, base_hash, gc_epoch, residue, ...
 *     1 collection  number -> name, description: what the tables behind these are
 *     2 log         seq -> entry                                       (log.h)
 *     3 object      number -> hash, kind, size, body or recipe         (object.h)
 *     4 chunk       number -> bytes shared by large objects
 *     5 gone        (collection, key) -> seq of the entry that deleted the row
 *     6 read_log    number -> who read what; bounded, not state
 *     7 cursor      name -> how far a follower of the log has come
 *
 * Threads: vls_store is shared; vls_txn and vls_txn_scan are single. */
#ifndef VLS_STORE_H
#define VLS_STORE_H

#include <valise/sys/store.h>

#include "base/hash.h"
#include "store/coll.h"

#define VLS_FORMAT 1 /* of what is written; docs/formats.md, "The store" */

enum {
    VLS_TABLE_META,
    VLS_TABLE_COLLECTION,
    VLS_TABLE_LOG,
    VLS_TABLE_OBJECT,
    VLS_TABLE_CHUNK,
    VLS_TABLE_GONE,
    VLS_TABLE_READ_LOG,
    VLS_TABLE_CURSOR,
    VLS_TABLE_OWN_COUNT,
};

typedef struct vls_store vls_store;
typedef struct vls_txn vls_txn;
typedef struct vls_chunks vls_chunks; /* object.h: remembers where chunks are */

/* Brings a store from format `from` to from + 1, inside the write transaction of the open. It sees
 * the store's own tables only; `meta` and `collection` have the same columns in every format, so
 * that any program can tell what a store is. */
typedef struct vls_migration {
    int64_t from; /* 0 ends a list */
    int (*run)(vls_txn *txn, valise_error *err);
} vls_migration;

extern const vls_migration vls_migrations[];

typedef struct vls_store_options {
    const valise_env *env;
    const valise_store_ops *ops;
    const char *where;
    unsigned flags; /* VALISE_STORE_... */
    bool full_sync;
    int64_t busy_timeout_ns;
    const valise_coll *const *colls; /* NULL-ended */
    int64_t format;                  /* 0: VLS_FORMAT. Tests play an older or newer program */
    const vls_migration *migrations; /* ended by from == 0; NULL: vls_migrations */
} vls_store_options;

/* VALISE_E_NOT_FOUND, VALISE_E_UNSUPPORTED (newer format; older and read-only), and all else that
 * a backend may say. */
int vls_store_open(vls_store **out, const vls_store_options *options, valise_error *err);
/* The backend and the store's own tables alone, where more cannot be opened: to look at the damage
 * (validate.h). */
int vls_store_open_bare(vls_store **out, const vls_store_options *options, valise_error *err);
void vls_store_close(vls_store *store); /* NULL is fine; every transaction must be over */

const valise_env *vls_store_env(const vls_store *store);
const valise_store_ops *vls_store_ops(const vls_store *store, void **self);
bool vls_store_read_only(const vls_store *store);
int64_t vls_store_timeout_ns(const vls_store *store); /* how long a writer is waited for */

/* Collections: by descriptor (asserted to be known), by name and by number (NULL when there is
 * none), and all of them in order of number, the store's own first. */
const vls_coll *vls_store_coll(const vls_store *store, const valise_coll *desc);
const vls_coll *vls_store_coll_named(const vls_store *store, valise_str name);
const vls_coll *vls_store_coll_at(const vls_store *store, uint32_t number);
uint32_t vls_store_coll_count(const vls_store *store);

/* ---- transactions ---- */

/* The last entry of the log as a transaction sees it. */
typedef struct vls_tip {
    int64_t seq;      /* 0: the log is empty and always was */
    int64_t time;     /* of that entry */
    valise_id hash;   /* of that entry, or base_hash; zero: empty */
    int64_t base_seq; /* the last entry that expired, or 0 */
} vls_tip;

/* What `meta` says that every transaction needs. Each change of `meta` gives it another generation,
 * so that one row tells whether what was read before is still true. */
typedef struct vls_meta_state {
    int64_t generation;
    int64_t format;
    int64_t schema;     /* changes when a collection gets further fields or indexes */
    int64_t coll_count; /* tables, the store's own among them */
    int64_t base_seq, base_time;
    valise_id base_hash;
    int64_t gc_epoch;                  /* changes when chunks were removed */
    int64_t object_floor, chunk_floor; /* numbers up to these are not given again */
    int64_t erased_seq;                /* the newest erasure, which changed what the log says */
    valise_uuid workspace;
} vls_meta_state;

struct vls_txn {
    vls_store *store;
    void *backend; /* its transaction; NULL: over */
    bool write;
    bool changed;        /* write: somebody else committed since our last one */
    bool meta_changed;   /* the generation was moved on already */
    vls_meta_state meta; /* when it began */
    vls_tip tip;
    vls_buf scratch;
    struct vls_cache *cache; /* write: rows that were read or written (cache.h) */
};

/* VALISE_E_BUSY; VALISE_E_UNSUPPORTED when another program has changed the format or the fields of
 * a collection meanwhile; VALISE_E_DENIED for a write transaction on a read-only store. */
int vls_txn_begin(vls_txn *out, vls_store *store, int mode, valise_error *err);

/* For who must see everything there is (gc, validate, export, the state hash): VALISE_E_UNSUPPORTED
 * when another program has added a collection since this store was opened. */
int vls_txn_check_complete(const vls_txn *txn, valise_error *err);
/* Over also when it fails. */
int vls_txn_commit(vls_txn *txn, valise_error *err);
void vls_txn_rollback(vls_txn *txn); /* a zeroed one, or one that is over, is fine */
int vls_txn_mark(vls_txn *txn, int what, valise_error *err); /* VALISE_MARK_... */

static inline void vls_auto_txn(vls_txn *txn)
{
    vls_txn_rollback(txn);
}

static inline valise_cell vls_int_cell(int64_t integer)
{
    return (valise_cell){.type = VALISE_CELL_INT, .as.integer = integer};
}

/* Rows as cells: all columns. 1, or 0 when there is none. The cells are the backend's and valid
 * until the next call with this transaction. VALISE_E_CORRUPT names the row. */
int vls_txn_get(valise_cell *row, vls_txn *txn, const vls_coll *coll, const valise_cell *key,
                valise_error *err);
/* The last row, in the order of an index or by key (-1), of those that begin with these cells; what
 * does not come from the cache is copied into arena. */
int vls_txn_last(valise_cell *row, vls_txn *txn, const vls_coll *coll, int32_t index,
                 const valise_cell *equal, uint16_t count, vls_arena *arena, valise_error *err);
/* fields: field_count cells; from_seq is ignored for the store's own tables. VALISE_E_DENIED for a
 * foreign collection, as del. */
int vls_txn_put(vls_txn *txn, const vls_coll *coll, const valise_cell *fields, int64_t from_seq,
                valise_error *err);
/* 1 when there was one, else 0. */
int vls_txn_del(vls_txn *txn, const vls_coll *coll, const valise_cell *key, valise_error *err);

/* Is the sum of this row (all columns) right? */
int vls_txn_check_row(vls_txn *txn, const vls_coll *coll, const valise_cell *row,
                      valise_error *err);

typedef struct vls_txn_scan {
    vls_txn *txn;
    const vls_coll *coll;
    void *backend;
    bool unchecked; /* hand out rows whose sum is wrong too: validate does */
} vls_txn_scan;

/* range.table is filled in from coll. */
/* Add the number of rows of a collection to *total, for who tells how far work is: nothing where
 * that cannot be known quickly. */
int vls_txn_count(uint64_t *total, vls_txn *txn, const vls_coll *coll, valise_error *err);

int vls_txn_scan_open(vls_txn_scan *out, vls_txn *txn, const vls_coll *coll, valise_range range,
                      valise_error *err);
int vls_txn_scan_next(valise_cell *row, vls_txn_scan *scan, valise_error *err);
void vls_txn_scan_close(vls_txn_scan *scan);

static inline void vls_auto_txn_scan(vls_txn_scan *scan)
{
    vls_txn_scan_close(scan);
}

/* The same with structs (store/own.h), for the store's own tables: strings live in arena. */
int vls_own_get(void *row, vls_txn *txn, uint32_t table, vls_arena *arena, valise_error *err);
int vls_own_put(vls_txn *txn, uint32_t table, const void *row, valise_error *err);
int vls_own_del(vls_txn *txn, uint32_t table, const void *row, valise_error *err);

/* ---- meta ---- */

#define VLS_META_ERASED_SEQ "erased_seq"
#define VLS_META_ERASED_TIME "erased_time"   /* of the newest erasure, until gc has followed it */
#define VLS_META_ERASED_BLOBS "erased_blobs" /* the same, until it has looked at the blobs */

/* 1 and the number, or 0. VALISE_E_CORRUPT when it is no integer. */
int vls_meta_get_int(int64_t *out, vls_txn *txn, const char *name, valise_error *err);
int vls_meta_put_int(vls_txn *txn, const char *name, int64_t value, valise_error *err);
int vls_meta_put_str(vls_txn *txn, const char *name, valise_str value, valise_error *err);
int vls_meta_delete(vls_txn *txn, const char *name, valise_error *err);

vls_chunks *vls_store_chunks(vls_store *store);

#endif
