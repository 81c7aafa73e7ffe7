/* memory.h -- the store in memory: what its files share. Start reading at memory.c.
 *
 *     store ---> state ---> table ---> rows     (vls_pmap: key -> row)
 *                  |          +------> indexes  (vls_pmap each: index and key -> entry -> row)
 *                  +------> table ...
 *
 * States, tables, rows and entries have reference counts, and never change while they are shared. A
 * transaction holds a state, and copies it before the first change: a copy of a state shares all
 * tables, a copy of a table shares all nodes of its maps. A mark is one more reference to the
 * state, and so is the snapshot of a reader. A commit replaces the state of the store with that of
 * the transaction.
 *
 * Threads: states, tables, rows and entries are immutable while shared; transactions and scans
 * are single. */
#ifndef VLS_STORE_MEMORY_H
#define VLS_STORE_MEMORY_H

#include "base/buf.h"
#include "base/pmap.h"
#include "base/ref.h"
#include "base/vec.h"
#include "store/table.h"
#include "store/turn.h"

/* What stands in a map: a row, or an entry of an index. The key is in the order of base/order.h
 * and lies behind the cells in the same block. */
typedef struct vls_memory_item {
    vls_ref refs;
    const valise_env *env;
    size_t size; /* of the whole block */
    valise_str key;
    struct vls_memory_item *row; /* of an entry; NULL in a row */
    uint16_t count;              /* cells; columns that the table has got since are NULL */
    valise_cell cells[];
} vls_memory_item;

typedef struct vls_memory_table {
    vls_ref refs;
    const valise_env *env;
    uint16_t map_count;
    vls_pmap maps[]; /* the rows, then one map per index */
} vls_memory_table;

typedef struct vls_memory_state {
    vls_ref refs;
    const valise_env *env;
    uint32_t count;
    vls_memory_table *tables[]; /* NULL: attached, but not created */
} vls_memory_state;

typedef struct vls_memory_store {
    const valise_env *env;
    int64_t busy_timeout_ns;
    vls_table_defs defs;
    vls_turn turn;
    pthread_mutex_t lock;    /* of what follows, and never held for long */
    vls_memory_state *state; /* the last commit */
    bool known;              /* a write transaction asked for changes and was committed */
    size_t open_txns;
} vls_memory_store;

typedef struct vls_memory_txn {
    vls_memory_store *store;
    bool writes, asked;
    int spoiled; /* the code of a change that failed half way; 0: none */
    size_t scans;
    vls_memory_state *state;
    vls_vec(vls_memory_state *) marks;
    vls_buf key; /* scratch */
} vls_memory_txn;

/* ---- memory_table.c ---- */

/* NULL when out of memory; each map empty. */
vls_memory_table *vls_memory_table_new(const valise_env *env, uint16_t map_count);
vls_memory_table *vls_memory_table_copy(const vls_memory_table *table);
void vls_memory_table_unref(vls_memory_table *table); /* NULL is fine */

/* table is the caller's own. A failure may leave it half changed: *half says so. scratch is
 * for keys. */
int vls_memory_table_put(bool *half, vls_memory_table *table, const vls_table_def *def,
                         vls_buf *scratch, const valise_cell *cells, valise_error *err);
int vls_memory_table_del(bool *half, vls_memory_table *table, const vls_table_def *def,
                         vls_buf *scratch, const valise_cell *key, valise_error *err);
int vls_memory_table_get(valise_cell *row, const vls_memory_table *table, const vls_table_def *def,
                         vls_buf *scratch, const valise_cell *key, valise_error *err);

/* A copy of old with the maps that def asks for, the new ones filled from the rows. */
int vls_memory_table_widen(vls_memory_table **out, const vls_memory_table *old,
                           const vls_table_def *def, vls_buf *scratch, valise_error *err);

/* The cells of a row, NULL for columns that are newer than it. */
void vls_memory_cells(valise_cell *out, const vls_memory_item *row, uint16_t count);

/* Append one cell to a key. */
void vls_memory_key_add(vls_buf *key, const valise_cell *cell);

/* ---- memory_scan.c ---- */

/* table: of the range, as the transaction sees it; it has the index of the range. */
int vls_memory_scan_open(void **out, vls_memory_txn *txn, const vls_table_def *def,
                         vls_memory_table *table, const valise_range *range, valise_error *err);
int vls_memory_scan_next(valise_cell *row, void *arg, valise_error *err);
void vls_memory_scan_close(void *arg);

#endif
