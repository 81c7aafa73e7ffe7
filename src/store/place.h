/* place.h -- places: names for rows, for people, and how to find the row of any printed id.
 *
 *     session/018f2c4e-...-9b1d     collection, then each part of the key behind a slash
 *     item/run-1/user%2Fname        in texts '%', '/' and control bytes are written as %XX; in a
 *                                   path that is no UTF-8 all bytes that are not ASCII
 *     frame/3f2ab81c                ids as any unambiguous beginning of 4 or more digits
 *     session/c0ffee12              UUIDs as any unambiguous ending of 4 or more digits
 *
 * Threads: pure functions over a transaction, which is single. */
#ifndef VLS_PLACE_H
#define VLS_PLACE_H

#include "store/view.h"

#define VLS_PLACE_MIN_DIGITS 4u
#define VLS_PLACE_CANDIDATES 5u /* that an error lists */

/* Is the text a seq? A number up to the newest one is, whatever ids end like it; one that is
 * larger, or begins with 0, is part of an id where it has the digits for that. */
bool vls_place_seq(int64_t *out, const valise_view *view, valise_str text);

/* Append the place of a row. */
void vls_place_write(vls_buf *out, const vls_coll *coll, const valise_cell *key);

/* The row that a text names. The row need not be there unless a part of its key was shortened.
 * Cells live in the view's arena. VALISE_E_INVALID (no place), VALISE_E_NOT_FOUND (no such
 * collection; nothing begins or ends like this), VALISE_E_CONFLICT (several do: lists some). */
int vls_place_parse(const vls_coll **coll, valise_cell *key, valise_view *view, valise_str text,
                    valise_error *err);

typedef enum vls_target_kind {
    VLS_TARGET_ENTRY,  /* seq */
    VLS_TARGET_OBJECT, /* object */
    VLS_TARGET_ROW,    /* coll, key */
} vls_target_kind;

typedef struct vls_target {
    vls_target_kind kind;
    int64_t seq;
    vls_object_info object;
    const vls_coll *coll;
    bool by_name; /* a row, found by something else than its key */
    valise_cell key[VALISE_MAX_COLUMNS];
} vls_target;

/* Whatever a text may mean: a seq in decimal, a place, or the digits of an object, of a command,
 * of an entry's hash, or of a row whose key is one id or that has one (valise_coll.find), or
 * whatever rows are named by (valise_coll.named). Errors as above. */
int vls_target_find(vls_target *out, valise_view *view, valise_str text, valise_error *err);

/* Ids that begin with these digits, in their order, for who types one: of objects (coll NULL), or
 * of the rows of a collection whose key is one id (others have none). Any number of digits, and of
 * ids; non-zero from fn ends it, and is returned. kind: of the object, or the collection. */
typedef int vls_begin_fn(void *arg, const valise_id *id, const char *kind, valise_error *err);
int vls_target_begin(valise_view *view, const vls_coll *coll, valise_str digits, vls_begin_fn *fn,
                     void *arg, valise_error *err);

#endif
