/* used.h -- rows that say whose contents were used.
 *
 * Rows of a WITNESS collection say that something was used, and keep it. If such a collection has a
 * key field `source` (an ID) and an index of that name, a row also says whose contents they were:
 * it has the hash of a place (store/place.h), or of another name that its area uses for all
 * versions of something. With it, an erasure or a deletion finds what nothing else refers to any
 * more.
 *
 * Threads: single, as the view or transaction is. */
#ifndef VLS_USED_H
#define VLS_USED_H

#include "base/vec.h"
#include "store/view.h"

/* The source that a text stands for. */
void vls_used_source(valise_id *out, valise_str text);

/* That of a row: of its place. */
int vls_used_source_of(valise_id *out, const vls_coll *coll, const valise_cell *key,
                       vls_arena *arena, valise_error *err);

int vls_used_by_row(valise_id *out, valise_view *view, const valise_coll *desc, const void *row,
                    valise_error *err);

/* Has anything of it been used? 1, or 0. */
int vls_used_has(valise_view *view, const valise_id *source, valise_error *err);

/* In a command: the row was deleted, and is not kept for the sake of who used it. */
int vls_used_forget_row(valise_view *view, const valise_coll *desc, const void *row,
                        valise_error *err);

/* The source that the key of a row of such a collection tells: 1; 0: it tells none. */
int vls_used_told(valise_id *out, const vls_coll *coll, valise_str key, vls_arena *arena,
                  valise_error *err);

#endif
