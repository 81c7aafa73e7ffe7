/* slot.h -- slots: where frames live. A slot is a path and a type of frames.
 *
 *     context       tree -> context root, counts
 *     slot          (tree, path, type) -> its id, head, set of frames, mark
 *     slot_entry    (slot id, number) -> what happened to it            QUIET
 *     slot_closed   (tree, path, type, slot id) -> one that was closed  QUIET
 *
 * A slot has an id of its own, which stays when its file moves; its history are its entries, 1, 2,
 * 3. The slot's row is what they amount to. An entry is of one of these kinds:
 *
 *     put          a frame is the head now; it may have been in the slot before
 *     attach       a frame is in the slot, about a state of the past; the head stays
 *     invalidate   the head is marked: not to be relied on
 *     reaffirm     the head is good: the mark is gone
 *     move         the slot lies at another path
 *     close        what lay at the path is now something else (file, directory); nothing follows
 *
 * Sets and roots (merkle.h; docs/formats.md, "Slots"):
 *
 *     of a slot      its frames: frame id -> frame id. The set's id is the slot's
 *     of a path      tagged hash "valise.frame-set.1": list of type, root of that slot's set; by
 *                    type. Without slots: an empty list
 *     of a tree      all heads: tagged hash "valise.slot.1" (path, type)
 *                    -> tagged hash "valise.head.1" (frame id, 1 if marked else 0)
 *                    The set's id is the tree's; its root is the *context root*
 *
 * Threads: immutable tables; everything else is single, as the view is. */
#ifndef VLS_SLOT_H
#define VLS_SLOT_H

#include <valise/sys/view.h>

#include "base/hash.h"
#include "context/frame.h"

#define VLS_SLOT_METADATA_MAX 65536u
#define VLS_SLOT_MEDIA_TYPE_MAX 128u
#define VLS_SLOT_REASON_MAX 1024u

enum {
    VLS_ENTRY_PUT,
    VLS_ENTRY_ATTACH,
    VLS_ENTRY_INVALIDATE,
    VLS_ENTRY_REAFFIRM,
    VLS_ENTRY_MOVE,
    VLS_ENTRY_CLOSE,
};

typedef struct vls_context_row {
    valise_uuid tree;
    valise_id root;               /* of all heads */
    int64_t slots, heads, marked; /* how many there are, have a head, are marked */
    int64_t frames;               /* in all slots */
    int64_t derived;              /* slots whose head was made by a recipe */
} vls_context_row;

typedef struct vls_slot_row {
    valise_uuid tree;
    valise_str path, type;
    valise_uuid id;
    valise_id head;        /* frame; zero: none */
    int64_t head_entry;    /* the entry that made it the head; 0: none */
    int64_t entries;       /* number of the last one */
    int64_t frames;        /* in its set */
    valise_id root;        /* of that */
    bool marked;           /* the head was invalidated */
    bool dir;              /* what lies at the path is a directory */
    valise_id recipe;      /* of the head; zero: none */
    valise_str moved_from; /* path; ptr NULL: it never moved */
} vls_slot_row;

typedef struct vls_slot_entry_row {
    valise_uuid slot;
    int64_t number;
    int64_t kind;
    valise_id frame; /* zero: it is about none */
    valise_id node;  /* the node as it was then; zero: it is about none */
    int64_t seq;     /* of the log */
    int64_t time;
    valise_str agent;          /* who did it; the author is the frame's */
    valise_str media_type;     /* ptr NULL: not told */
    valise_str metadata;       /* JSON; ptr NULL: none */
    valise_str reason;         /* invalidate; ptr NULL: none */
    valise_str regenerated_by; /* ptr NULL: nobody */
    valise_str from;           /* move: path; ptr NULL: none */
} vls_slot_entry_row;

typedef struct vls_slot_closed_row {
    valise_uuid tree;
    valise_str path, type;
    valise_uuid id;
    valise_id head;
    int64_t entries, frames;
    int64_t seq; /* of the log */
} vls_slot_closed_row;

extern const valise_coll vls_contexts, vls_slots, vls_slot_entries, vls_slots_closed;

static inline bool vls_slot_has_head(const vls_slot_row *slot)
{
    return !vls_id_is_none(&slot->head);
}

/* ---- reading ---- */

/* Of a tree nobody knows anything about: zeros, and the root of the empty set. */
int vls_context_get(vls_context_row *out, valise_view *view, const valise_uuid *tree,
                    valise_error *err);

/* 1, or 0. Strings live as long as the view. */
int vls_slot_get(vls_slot_row *out, valise_view *view, const valise_uuid *tree, valise_str path,
                 valise_str type, valise_error *err);

typedef int vls_slot_fn(void *arg, const vls_slot_row *slot, valise_error *err);

/* The slots of a path, by type. Non-zero from fn ends it, and is returned. What fn gets is valid
 * until it returns. */
int vls_slot_each(valise_view *view, const valise_uuid *tree, valise_str path, vls_slot_fn *fn,
                  void *arg, valise_error *err);

/* The slots under a directory, by path and type. */
int vls_slot_each_below(valise_view *view, const valise_uuid *tree, valise_str dir, vls_slot_fn *fn,
                        void *arg, valise_error *err);

/* The same for slots that were closed: rows without a head. */
int vls_slot_each_closed(valise_view *view, const valise_uuid *tree, valise_str path,
                         vls_slot_fn *fn, void *arg, valise_error *err);

/* The slots that a frame is in or was put into, of all trees, the closed ones too. What fn gets
 * lives as long as the view. */
int vls_slot_each_of(valise_view *view, const valise_id *frame, vls_slot_fn *fn, void *arg,
                     valise_error *err);

/* Make the strings of what a function gets live as long as the view. */
int vls_slot_stay(vls_slot_row *slot, valise_view *view, valise_error *err);

/* The last entry that put the frame into the slot or attached it: 1; 0: the frame is not in it. */
int vls_slot_find(vls_slot_entry_row *out, valise_view *view, const valise_uuid *slot,
                  const valise_id *frame, valise_error *err);

int vls_slot_entry(vls_slot_entry_row *out, valise_view *view, const valise_uuid *slot,
                   int64_t number, valise_error *err);

/* An entry or a frame that a slot speaks of is not there. In a state of the past: VALISE_E_LIMIT,
 * it was pruned since, and went from all states. In the newest one: VALISE_E_CORRUPT, `what`. */
int vls_slot_fail_missing(const valise_view *view, const vls_slot_row *slot, const char *what,
                          valise_error *err);

/* Did the slot move away from the path by a command behind `after`, up to `until` (seqs)? 1, or 0.
 */
int vls_slot_left(valise_view *view, const vls_slot_row *slot, valise_str path, int64_t after,
                  int64_t until, valise_error *err);

/* And where is one that did: 1, and *out lives as long as the view; or 0. Asks every slot that ever
 * moved. */
int vls_slot_moved_to(valise_str *out, valise_view *view, const valise_uuid *tree, valise_str path,
                      int64_t after, int64_t until, valise_error *err);

/* The frame set root of a path. */
int vls_slot_path_root(valise_id *out, valise_view *view, const valise_uuid *tree, valise_str path,
                       valise_error *err);

/* Key and value of a slot in the map of all heads. */
void vls_slot_key(valise_id *out, valise_str path, valise_str type);
void vls_slot_value(valise_id *out, const valise_id *head, bool marked);

/* ---- changing (commands) ---- */

typedef struct vls_slot_put_args {
    valise_uuid tree;
    valise_str path;
    bool dir;
    const vls_frame_row *frame; /* is there; says the type */
    valise_id node;
    valise_str media_type, metadata, regenerated_by; /* ptr NULL: none */
    bool attach;                                     /* the head stays */
    bool again; /* an entry, although it is the head already: it clears the mark */
} vls_slot_put_args;

typedef struct vls_slot_done {
    bool existed;       /* the frame was in the slot */
    bool wrote;         /* an entry */
    valise_id previous; /* the head before; zero: none */
    vls_slot_row slot;  /* as it is now */
} vls_slot_done;

/* Put a frame into the slot of its type at the path, which is made when there is none. Nothing is
 * written when it is the head already (attach: when it is in the slot). A mark goes with a head
 * that is another one. When what lies there is a directory now and was none, or the reverse, the
 * slot is closed first. */
int vls_slot_put(vls_slot_done *out, valise_view *view, const vls_slot_put_args *args,
                 valise_error *err);

/* Mark the head: 1; 0: it is marked, or there is none, and nothing is written. */
int vls_slot_invalidate(valise_view *view, vls_slot_row *slot, valise_str reason,
                        valise_error *err);

/* Take the mark from the head: 1; 0: there is none. */
int vls_slot_reaffirm(valise_view *view, vls_slot_row *slot, valise_error *err);

/* Close the slots of a path that are about another kind of thing: a file where there is a directory
 * now (dir), or the reverse. */
int vls_slot_close(valise_view *view, const valise_uuid *tree, valise_str path, bool dir,
                   valise_error *err);

/* Let go of a slot that nobody needs any more, open or closed: its row, its entries and the set of
 * its frames. The frames themselves stay. INTERNAL commands alone may do it, since entries go from
 * the states of the past as well. */
int vls_slot_drop(valise_view *view, const vls_slot_row *slot, valise_error *err);
int vls_slot_drop_closed(valise_view *view, const vls_slot_closed_row *closed, valise_error *err);

typedef struct vls_slot_move {
    valise_str from, to;
} vls_slot_move;

/* The slots at each `from` and below it lie at `to` and below it from now on; where one `from` lies
 * below another, the longer one counts. All are taken away before the first is put, so that swaps
 * work. A slot that is in the way at a target is one that lost its file before: it is closed, and
 * the one that comes with its file takes its place. */
int vls_slot_move_all(valise_view *view, const valise_uuid *tree, const vls_slot_move *moves,
                      size_t count, valise_error *err);

#endif
