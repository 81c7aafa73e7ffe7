/* table.h -- table descriptions and cells, checked once for all backends.
 *
 * A backend gets descriptions of tables and cells from unknown code. Both are checked here: names
 * that may be used in a statement, columns that exist, cells of the right type. After these checks
 * a backend relies on them.
 *
 * Threads: a vls_table_def is immutable; the functions are pure. */
#ifndef VLS_STORE_TABLE_H
#define VLS_STORE_TABLE_H

#include "base/vec.h"

#include <valise/sys/store.h>

#define VLS_TABLE_MAX_NAME 63u
#define VLS_TABLE_MAX_INDEXES 64u
#define VLS_STORE_MAX_TABLES 65536u

/* The columns an order goes by: those of the index, then those of the key that are not among
 * them. By key (index -1): the key. */
typedef struct vls_table_order {
    uint16_t count;
    uint16_t column[VALISE_MAX_COLUMNS];
} vls_table_order;

typedef struct vls_table_def {
    const valise_table *table;
    size_t size;              /* of this block */
    vls_table_order orders[]; /* by key, then one for each index */
} vls_table_def;

/* The tables of a store, by number. Threads: single. */
typedef vls_vec(vls_table_def *) vls_table_defs;

/* What valise_store_ops.attach says. */
int vls_table_defs_attach(vls_table_defs *defs, const valise_env *env, uint32_t number,
                          const valise_table *table, valise_error *err);
void vls_table_defs_release(vls_table_defs *defs, const valise_env *env);

/* index: -1 or one of the table's. */
static inline const vls_table_order *vls_table_def_order(const vls_table_def *def, int32_t index)
{
    return &def->orders[index + 1];
}

/* A row, or the cells of a key. VALISE_E_INVALID, VALISE_E_TOO_LARGE (VALISE_MAX_ROW_BYTES). */
int vls_table_check_row(const vls_table_def *def, const valise_cell *row, valise_error *err);
int vls_table_check_key(const vls_table_def *def, const valise_cell *key, valise_error *err);
int vls_table_check_range(const vls_table_def *def, const valise_range *range, valise_error *err);

/* The part of open that is the same everywhere: sizes, flags that exclude each other. */
int vls_store_check_open(const valise_store_open *how, valise_error *err);

/* -0.0 is kept as 0.0: they are equal, and one of two equal keys would be lost. */
static inline double vls_cell_real(double value)
{
    return value + 0.0;
}

#endif
