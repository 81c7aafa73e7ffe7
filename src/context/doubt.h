/* doubt.h -- which slots of the workspace's own tree need a look.
 *
 *     slot_doubt     (tree, path, type) -> known            EXEMPT
 *     doubt_base     tree -> since when they are kept       EXEMPT
 *
 * Whether a slot is fresh is computed, and depends on the tree and on what is said about what lies
 * in a directory. What is kept is where to look:
 *
 *     every slot with a head that is not fresh is doubted
 *
 * and some that are fresh may be. Who changes something doubts what may no longer hold because of
 * it: the slots at a path that changed (its directories are among them), under one that is no
 * directory any more, and the derived slots of the directory above a slot whose head or mark is
 * another one. What came about in another way (an import, an erasure) is not followed: then there
 * is no base, or an older one, and all slots count as doubted (vls_doubt_is_kept).
 *
 *     look      something changed since somebody looked
 *     known     somebody looked, and could do nothing about it: an author must, or a program
 *
 * Derived data: not in the log, the state hash or bundles, and of the newest state only. A doubt
 * where there is no slot any more does no harm.
 *
 * Threads: immutable tables; what takes a view is single as it is. */
#ifndef VLS_DOUBT_H
#define VLS_DOUBT_H

#include <valise/sys/view.h>

#include "context/slot.h"

typedef struct vls_slot_doubt_row {
    valise_uuid tree;
    valise_str path, type;
    bool known;
    int64_t since; /* of an orphan whose version was pruned: when that was; VALISE_NONE: not told */
} vls_slot_doubt_row;

typedef struct vls_doubt_base_row {
    valise_uuid tree;
    int64_t erasures; /* of the workspace, that were taken into account */
} vls_doubt_base_row;

extern const valise_coll vls_slot_doubts, vls_doubt_bases;

/* ---- changing (commands) ---- */

int vls_doubt_slot(valise_view *view, const valise_uuid *tree, valise_str path, valise_str type,
                   valise_error *err);
/* The derived slots of the directory above that may be made of this one: of a directory only the
 * frame of their own type goes in. */
int vls_doubt_above(valise_view *view, const vls_slot_row *slot, valise_error *err);
/* The slots at a path that changed; under it as well where it is no directory (any more). */
int vls_doubt_path(valise_view *view, const valise_uuid *tree, valise_str path, bool dir,
                   valise_error *err);

/* Somebody looked: the slot is fresh, or (known) it is not, and that is known. */
int vls_doubt_end(valise_view *view, const valise_uuid *tree, valise_str path, valise_str type,
                  bool known, valise_error *err);

/* The row that says when what lay at a path went is about to be pruned: its slots remember. */
int vls_doubt_remember(valise_view *view, const valise_uuid *tree, valise_str path, int64_t time,
                       valise_error *err);

/* From now on doubts are kept: all slots were looked at, or there are none. */
int vls_doubt_begin(valise_view *view, const valise_uuid *tree, valise_error *err);

/* Something happened that nobody followed: all must be looked at. */
int vls_doubt_lose(valise_view *view, const valise_uuid *tree, valise_error *err);

/* ---- reading ---- */

/* 1: whoever is not doubted is fresh. 0: nobody can tell, all must be looked at. */
int vls_doubt_is_kept(valise_view *view, const valise_uuid *tree, valise_error *err);

/* Is the slot doubted, known or not? 1, or 0. */
int vls_doubt_has(valise_view *view, const valise_uuid *tree, valise_str path, valise_str type,
                  valise_error *err);

typedef int vls_doubt_fn(void *arg, const vls_slot_doubt_row *doubt, valise_error *err);

/* Those at a path alone. */
int vls_doubt_each_at(valise_view *view, const valise_uuid *tree, valise_str path, bool known,
                      vls_doubt_fn *fn, void *arg, valise_error *err);

/* Those at a path and under it, by path and type. Non-zero from fn ends both, and is
 * returned. What fn gets is valid until it returns. */
int vls_doubt_each(valise_view *view, const valise_uuid *tree, valise_str path, bool known,
                   vls_doubt_fn *fn, void *arg, valise_error *err);

#endif
