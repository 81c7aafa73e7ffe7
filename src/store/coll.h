/* coll.h -- a collection as the store sees it: its table, and what stands in which column.
 *
 *     | fields of the table ... | from_seq | sum |
 *
 * from_seq is the seq of the command that made this version of the row; sum is XXH3 over the
 * encoding of everything before it (field/row.h), checked whenever the row is read. The store's own
 * tables (`own`) have no from_seq: nothing of them is state.
 *
 * Threads: immutable once the store is open. */
#ifndef VLS_COLL_H
#define VLS_COLL_H

#include <valise/sys/view.h>

#include "field/row.h"

#define VLS_COLL_MAX 512u /* collections of one store */

typedef struct vls_coll {
    const valise_coll *desc; /* made from the stored description when `foreign` */
    uint32_t number;         /* of the table; also what log entries call it */
    uint16_t field_count;    /* columns without from_seq and sum */
    uint16_t key_count;
    bool own;     /* one of the store's own tables */
    bool foreign; /* of an extension that is not here: can be read, not written */
    valise_table table;
} vls_coll;

/* Build the table of a collection in arena. VALISE_E_INVALID when the descriptor makes no sense. */
int vls_coll_build(vls_coll *out, const valise_coll *desc, bool own, vls_arena *arena,
                   valise_error *err);

/* Number of the index of that name; -1 for NULL, -2 when there is none. */
int32_t vls_coll_index(const vls_coll *coll, const char *name);

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

/* "session 018f...": how messages name a row. */
typedef struct vls_place_text {
    char s[160];
} vls_place_text;
vls_place_text vls_coll_place(const vls_coll *coll, const valise_cell *key);

#endif
