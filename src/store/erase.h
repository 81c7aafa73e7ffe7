/* erase.h -- remove the contents of a place from everywhere they can be.
 *
 * A place is a row with all its versions. Its contents are the fields marked CONTENT, the objects
 * that these name, and the objects that the commands which made the versions carried. They can be
 * in
 *
 *     the row itself                      put again without them, by the erase command
 *     the images of the entries that      rewritten, the erase command's own among them; of a
 *     changed the row                     QUIET row there are none
 *     payload, nonce and answer of        removed; the chain covers only a commitment, so that it
 *     these entries                       still verifies. Not those of erasures: they have none
 *     objects                             emptied, unless another place holds them; of those that
 *                                         only a payload names, also unless another payload does
 *     chunks                              removed, unless another object is made of them
 *     objects that only a WITNESS row     emptied as well, if the row says that they were of this
 *     keeps, since their history has      place (used.h)
 *     expired
 *     objects and blobs that nothing      left to gc, which after an erasure does not wait for
 *     refers to any more, since their     their grace period to end: meta `erased_time`
 *     history has expired
 *     events that were made before        made anew (bus/feed.c): meta `erased_seq`
 *     free pages, the write-ahead log     secure_delete, and a checkpoint after the commit
 *
 * To erase one object instead of a place (`only`) is to empty it, whoever holds it: the places that
 * have it as content lose it, and all others keep the id of an erased object.
 *
 * Order: vls_erase_decide runs in the command; vls_erase_apply in the same transaction, after the
 * changes of the command were written; after the commit, the write-ahead log must be emptied
 * (kernel/residue.h).
 *
 * Threads: single. */
#ifndef VLS_ERASE_H
#define VLS_ERASE_H

#include "store/refs.h"

typedef struct vls_erase_place {
    const vls_coll *coll;
    valise_str key;            /* ordered encoding */
    int64_t before_seq;        /* the entry that made or deleted what was there; 0: none is kept */
    const valise_cell *before; /* the row before the erase command; NULL: there was none */
    const valise_id *only;     /* NULL: all contents of all versions. Else only this object, and the
                                  payloads of the commands that brought it */
    valise_id source;          /* store/used.h: what was used of it, and is kept therefore */
    bool witnessed;            /* something was */
} vls_erase_place;

/* Put the row without its contents (only: see above), and have its area let go of what is held for
 * it (valise_coll.erased). VALISE_E_NOT_FOUND when there is neither a row nor a version of one in
 * the log, and nothing that was used of it; without `only` also VALISE_E_INVALID when rows of the
 * collection have no contents. *out lives as long as the view. */
int vls_erase_decide(vls_erase_place *out, valise_view *view, const vls_coll *coll,
                     const valise_cell *key, const valise_id *only, valise_error *err);

/* After all of them were decided: every place but these that holds one of the objects or blobs
 * which the contents of these places name, as they are now or in any version that is kept; and
 * every payload that keeps an object which only the payloads of these places name (site->coll
 * NULL). fn gets each once or more. VALISE_E_NOT_FOUND when one of the places has no contents and
 * never had any; one whose history has expired may have had some. */
int vls_erase_others(valise_view *view, const vls_erase_place *places, size_t count, vls_ref_fn *fn,
                     void *arg, valise_error *err);

/* Rows of the collection are about a blob: their key begins with it. When that is erased by its id,
 * all their contents go, and they themselves (kernel/erase_about.c). */
bool vls_erase_is_about(const vls_coll *coll);

/* What is erased of a place, if this content is erased wherever it is: only it, or NULL for all. */
const valise_id *vls_erase_only_of(const vls_coll *coll, const valise_cell *key,
                                   const valise_id *only);

typedef struct vls_erased {
    int64_t entries; /* whose payload was removed */
    int64_t images;
    int64_t objects; /* emptied */
    int64_t chunks;
} vls_erased;

typedef struct vls_erase_what {
    const vls_erase_place *places;
    size_t count;
    const valise_id *only; /* as in all places, of which there may be none then */
    valise_list sources;   /* of valise_str, 32 bytes each: beside those of the places */
} vls_erase_what;

/* seq: the erase command's entry, which was just written. */
int vls_erase_apply(vls_erased *out, vls_txn *txn, int64_t seq, const vls_erase_what *what,
                    valise_error *err);

#endif
