/* coll.h -- a collection as the store sees it: its table, and the meaning of each column.
 *
 *     | fields of the table ... | from_seq | sum |
 *
 * from_seq is the seq of the command that made this version of the row. sum is XXH3 over the
 * encoding (field/row.h) of from_seq and the fields up to the last one that is not NULL; it is
 * checked whenever the row is read. So the sum of a row stays right when its table gets further
 * fields. The store's own tables (`own`) have no from_seq: they are not state.
 *
 * Backends add columns only at the end. So if fields were added later, the table itself is
 *
 *     | first fields ... | from_seq | sum | later fields ... |
 *
 * and a transaction brings the cells of a row into the order above.
 *
 * Threads: immutable once the store is open. */
#ifndef VLS_COLL_H
#define VLS_COLL_H

#include <valise/sys/view.h>

#include "field/row.h"

#define VLS_COLL_MAX 512u /* collections of one store */

/* The place (place.h) of any row fits: three bytes for each one of its key, the name of its
 * collection, and slashes and numbers of 64 parts. Only the key of an erasure is a place itself. */
#define VLS_PLACE_MAX_BYTES 16384u
#define VLS_PLACE_REF "any.place" /* ref of a field that takes what vls_target_find takes */

typedef struct vls_coll {
    const valise_coll *desc; /* made from the stored description when `foreign` */
    uint32_t number;         /* of the table; also what log entries call it */
    uint16_t field_count;    /* columns without from_seq and sum */
    uint16_t first_count;    /* those the table had when it was made */
    uint16_t key_count;
    bool own;         /* one of the store's own tables */
    bool refs_inside; /* lists, structs or unions of a row can refer to something */
    bool foreign;     /* of an extension that is not here: can be read, not written */
    bool missing;     /* of a read-only store: there is no table yet, and so no row */
    valise_table table;
} vls_coll;

/* Build the table of a collection in arena. VALISE_E_INVALID when the descriptor makes no sense. */
int vls_coll_build(vls_coll *out, const valise_coll *desc, bool own, vls_arena *arena,
                   valise_error *err);

/* The same for a table, not the store's own, that had first_count fields when it was made. */
int vls_coll_build_grown(vls_coll *out, const valise_coll *desc, size_t first_count,
                         vls_arena *arena, valise_error *err);

/* ---- what stands in the store about a collection ---- */

/* Append the canonical JSON that the table `collection` holds: {"fields", "first", "flags", "help",
 * "indexes"}. */
int vls_coll_describe(vls_buf *out, const vls_coll *coll, vls_arena *arena, valise_error *err);

/* The collection that a description is about, for who has no descriptor of its own. */
int vls_coll_restore(vls_coll *out, valise_str name, valise_str text, vls_arena *arena,
                     valise_error *err);

/* Build the collection of a descriptor whose table was made after an older description of it.
 * Fields that are NULLABLE and indexes may have come behind those that were there;
 * VALISE_E_UNSUPPORTED names whatever else has changed. *have: columns of the table as it is;
 * *grown: it needs more of them, or indexes. */
int vls_coll_build_over(vls_coll *out, uint16_t *have, bool *grown, const valise_coll *desc,
                        valise_str text, vls_arena *arena, valise_error *err);

/* Whether a row with this key may be put: VALISE_E_TOO_LARGE over VALISE_MAX_KEY_BYTES. */
int vls_coll_check_key(const vls_coll *coll, const valise_cell *key, valise_error *err);

/* Number of the index of that name; -1 for NULL, -2 when there is none. */
int32_t vls_coll_index(const vls_coll *coll, const char *name);

/* The fields that rows are ordered by, in an index or by key (-1): those of the index, then the
 * key. How many there are. */
uint16_t vls_coll_order(uint16_t columns[2 * VALISE_MAX_COLUMNS], const vls_coll *coll,
                        int32_t index);

/* Rows exist from the seq that made them, and the log has no images of them. */
static inline bool vls_coll_is_quiet(const vls_coll *coll)
{
    return coll->desc->flags & VALISE_COLL_QUIET;
}

/* Its rows are state: in the state hash, and in bundles. */
static inline bool vls_coll_is_state(const vls_coll *coll)
{
    return !coll->own && !(coll->desc->flags & VALISE_COLL_EXEMPT);
}

/* The column of from_seq and of sum. */
static inline uint16_t vls_coll_seq_column(const vls_coll *coll)
{
    assert(!coll->own);
    return coll->field_count;
}

static inline uint16_t vls_coll_sum_column(const vls_coll *coll)
{
    return (uint16_t)(coll->table.column_count - 1);
}

/* The field that a column of the table holds; not for from_seq and sum. */
static inline uint16_t vls_coll_field_of(const vls_coll *coll, uint16_t column)
{
    uint16_t extra = (uint16_t)(coll->table.column_count - coll->field_count);

    return column < coll->first_count ? column : (uint16_t)(column - extra);
}

/* The struct of a row from its cells, in arena. */
int vls_row_of_cells(void **out, const vls_coll *coll, const valise_cell *cells, vls_arena *arena,
                     valise_error *err);

/* "session 018f...": how messages name a row. */
typedef struct vls_place_text {
    char s[160];
} vls_place_text;
vls_place_text vls_coll_place(const vls_coll *coll, const valise_cell *key);

#endif
