/* shown.h -- frames as reads show them: chosen by a lens, in its order, with their state.
 *
 * What depends on the tree, the heads and the lens alone stands at the top; what also depends on
 * how the state came about (seqs, times, ids of slots, metadata) stands under `meta`. So two
 * workspaces with equal roots show the same bytes, but for `meta`. [C13]
 *
 * Threads: single, as the view is. */
#ifndef VLS_SHOWN_H
#define VLS_SHOWN_H

#include "context/place.h"

typedef struct vls_shown_meta {
    int64_t seq, time, entry; /* VALISE_NONE: no frame */
    valise_uuid slot;
    bool closed;   /* the slot was: what it was about is not there any more */
    valise_str by; /* who put it there; ptr NULL: its author */
    valise_str media_type, metadata, regenerated_by, moved_from;
    valise_str invalidated_by, reason; /* of what is invalidated; ptr NULL: nobody, or none given */
    valise_str tree;                   /* see place.h */
} vls_shown_meta;

typedef struct vls_shown {
    valise_str path, type;
    valise_id frame_id; /* zero: the slot has none */
    valise_str agent;
    int64_t kind; /* VALISE_NONE: no frame */
    valise_id basis, recipe;
    int64_t size; /* VALISE_NONE: no frame */
    bool head;
    bool erased; /* nobody has the content any more */
    vls_state state;
    valise_str text, data; /* the content: UTF-8, or else bytes; ptr NULL: not asked for */
    const vls_shown_meta *meta;
} vls_shown;

extern const valise_struct vls_shown_meta_struct;
extern const valise_field vls_shown_fields[];
extern const valise_field vls_shown_item; /* of a list of them */

typedef struct vls_shown_list {
    const vls_shown **frames; /* in the view's memory */
    size_t count;
    int64_t total, matched; /* before the filters, and before the limits */
} vls_shown_list;

/* The frames of a place that the actor may read: others are as if they were not there. contents:
 * with them (they count against the limits in any case). History has those of closed slots too, as
 * orphaned. */
int vls_shown_choose(vls_shown_list *out, valise_view *view, const vls_place *place,
                     const vls_lens *lens, bool contents, valise_error *err);

/* The lens that is meant: one with this name in the configuration, or the text itself. */
int vls_shown_lens(vls_lens *out, valise_view *view, valise_str given, valise_error *err);

/* head:get, frame:list */
typedef struct vls_frames_args {
    valise_str node, type; /* type: ptr NULL: any */
    bool no_scan;
} vls_frames_args;

/* An earlier version of something that has moved since: what was said about it went along, and is
 * to be found there. */
int vls_shown_follow(vls_place *place, valise_view *view, valise_str type, valise_error *err);

/* What frame:list and head:get do: the frames that the lens shows of what the arguments name, all
 * of them; VALISE_E_NOT_FOUND where there is nothing. The place is that of the node, for more. */
int vls_shown_list_of(vls_shown_list *out, vls_place *place, valise_view *view,
                      const vls_frames_args *args, const char *lens, bool contents,
                      valise_error *err);

/* What a read that takes a type shows where there is no frame of it. */
int vls_shown_empty(vls_shown *out, valise_view *view, const vls_place *place, valise_str type,
                    valise_error *err);

/* One of the slots that a frame is in, as vls_slot_each_of tells them: the frame there, without its
 * content. The slot lies at the place. */
int vls_shown_fill(vls_shown *out, valise_view *view, const vls_place *place,
                   const vls_slot_row *slot, const vls_frame_row *frame, valise_error *err);

/* Read the content into text or data, and its size in tokens (which may be NULL). */
int vls_shown_content(vls_shown *shown, int64_t *tokens, valise_view *view,
                      const vls_frame_row *frame, valise_error *err);

/* The same for the functions in C. Borrows. */
valise_frame vls_shown_frame(const vls_shown *shown);

#endif
