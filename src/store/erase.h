/* erase.h -- remove the contents of a place from everywhere they can be.
 *
 * A place is a row with all its versions. Its contents are the fields marked CONTENT, and the
 * objects these name. They can be in
 *
 *     the row itself                      put again without them, by the erase command
 *     the images of the entries that      rewritten, the erase command's own among them
 *     changed the row
 *     payload, nonce and answer of        removed; the chain covers only a commitment, so that it
 *     these entries                       still verifies
 *     objects                             emptied, unless another place holds them
 *     chunks                              removed, unless another object is made of them
 *     free pages, the write-ahead log     secure_delete, and a checkpoint after the commit
 *
 * Order: vls_erase_decide in the command, vls_erase_apply in the same transaction after its changes
 * were written; after the commit the write-ahead log must be emptied (kernel/residue.h).
 *
 * Threads: single. */
#ifndef VLS_ERASE_H
#define VLS_ERASE_H

#include "store/refs.h"

typedef struct vls_erase_place {
    const vls_coll *coll;
    valise_str key;        /* ordered encoding */
    int64_t before_seq;    /* the entry that made or deleted what was there; 0: none is kept */
    const valise_id *only; /* NULL: all contents of all versions. Else only this object, and the
                              payloads of the commands that brought it */
} vls_erase_place;

/* Put the row without its contents (only: see above). VALISE_E_NOT_FOUND when there is neither a
 * row nor a version of one in the log. *out lives as long as the view. */
int vls_erase_decide(vls_erase_place *out, valise_view *view, const vls_coll *coll,
                     const valise_cell *key, const valise_id *only, valise_error *err);

/* Every place but this one that holds one of the objects which the contents of this place name, as
 * it is now or in any version that is kept. fn gets each once or more. */
int vls_erase_others(valise_view *view, const vls_erase_place *place, vls_ref_fn *fn, void *arg,
                     valise_error *err);

typedef struct vls_erased {
    int64_t entries; /* whose payload was removed */
    int64_t images;
    int64_t objects; /* emptied */
    int64_t chunks;
} vls_erased;

/* seq: the erase command's entry. */
int vls_erase_apply(vls_erased *out, vls_txn *txn, int64_t seq, const vls_erase_place *places,
                    size_t count, valise_error *err);

#endif
