/* objects.h -- what the files about objects share.
 *
 * Threads: work on a transaction, which is single. */
#ifndef VLS_OBJECTS_H
#define VLS_OBJECTS_H

#include "store/object.h"
#include "store/recipe.h"

/* Columns (own.c). */
enum {
    VLS_OBJECT_NUMBER,
    VLS_OBJECT_H8,
    VLS_OBJECT_HASH,
    VLS_OBJECT_KIND,
    VLS_OBJECT_SIZE,
    VLS_OBJECT_TIME,
    VLS_OBJECT_RECIPE,
    VLS_OBJECT_BODY,
    VLS_OBJECT_COLUMNS,
};
enum { VLS_CHUNK_NUMBER, VLS_CHUNK_H8, VLS_CHUNK_BODY };

static inline const vls_coll *vls_objects_of(const vls_txn *txn)
{
    return vls_store_coll_at(txn->store, VLS_TABLE_OBJECT);
}

/* What a row says, if it can be one. */
int vls_object_of_row(vls_object_info *out, const vls_txn *txn, const valise_cell *row,
                      valise_error *err);

/* The recipe of depth 1: outer itself, or what its chunks make up, in room. */
int vls_object_inner_recipe(vls_recipe_reader *out, vls_buf *room, vls_txn *txn,
                            vls_recipe_reader *outer, valise_error *err);

#endif
