/* holders.h -- find out which rows are referred to: `ref` in the other direction.
 *
 * Rows have no reference counts. Whoever wants to delete some asks here for all of them at once.
 * Every collection that has a field with such a `ref` is searched, whichever package it comes from.
 * If an index begins with that field, this is one seek for each id; otherwise all rows are read.
 *
 * Threads: single, as the view is. */
#ifndef VLS_HOLDERS_H
#define VLS_HOLDERS_H

#include "store/view.h"

typedef struct vls_holders {
    const char *target;   /* the collection that the ids are keys of */
    const valise_id *ids; /* sorted, each once */
    size_t count;
    bool *held; /* answer: one for each */

    /* Collections that are known to refer to nothing that another one does not; NULL-ended. */
    const valise_coll *const *except;
    /* Does the reference of this row count? It may be one that goes as well. NULL: all do. */
    bool (*counts)(void *arg, const vls_coll *coll, const valise_cell *row);
    void *arg;
} vls_holders;

/* As it was before the running command. */
int vls_holders_find(const vls_holders *h, valise_view *view, valise_error *err);

#endif
