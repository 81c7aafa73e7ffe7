/* frame.h -- frames: what somebody knows, and of what.
 *
 * A frame is immutable and belongs to no path:
 *
 *     frame    id -> type, agent, basis, recipe, content           QUIET, IMMUTABLE
 *
 *     id = tagged hash "valise.frame.1" (basis, type, agent, SHA-256 of the content)
 *
 * The *basis* is what it was made of, an object of the kind "basis": the dependencies in order, and
 * nothing else. Its id is the basis hash.
 *
 *     recipe   03 | object id (32)       how it was made; at most one, and the first
 *     node     01 | object id (32)       what lay at the path
 *     said     02 | is it a directory (1) | string name | string type | string agent |
 *              object id of the content (32)
 *                                        the head of a child's slot; name: that of the child
 *
 * What a child's head was made of itself is not in there: only what it says, which is all that the
 * frame was made of. So a change below that leaves the child's words as they are ends there.
 *
 * A *recipe* is an object of the kind "recipe": a line that says what made the frame, then whatever
 * it needs to be made again.
 *
 *     "derived\n" canonical JSON       by the engine, which can do it again (recipe.h)
 *     "program\n" canonical JSON       by a program that the engine ran, the same way
 *     "external\n" any bytes           by somebody else's program; only they know how
 *
 * A frame without a recipe is *authored*. No clock, path, media type or metadata is in an id: these
 * belong to the entry that puts a frame into a slot (slot.h).
 *
 * Threads: immutable tables, pure functions; what takes a view is single as it is. */
#ifndef VLS_FRAME_H
#define VLS_FRAME_H

#include <valise/sys/view.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"

#define VLS_FRAME_TYPE_MAX 64u
#define VLS_FRAME_AGENT_MAX 128u
#define VLS_FRAME_CONTENT_MAX ((int64_t)64 << 20) /* whatever the configuration says */
#define VLS_FRAME_CONTENT_USUAL ((int64_t)1 << 20)
#define VLS_BASIS_MAX ((size_t)16 << 20) /* bytes */
#define VLS_RECIPE_MAX ((size_t)1 << 20)
#define VLS_RECIPE_DERIVED "derived\n"
#define VLS_RECIPE_PROGRAM "program\n"
#define VLS_RECIPE_EXTERNAL "external\n"

enum { VLS_FRAME_AUTHORED, VLS_FRAME_DERIVED, VLS_FRAME_EXTERNAL };
extern const char *const vls_frame_kinds[]; /* "authored", ...; NULL-ended */

typedef struct vls_frame_row {
    valise_id id;
    valise_str type, agent;
    int64_t kind;      /* VLS_FRAME_...; follows from the recipe */
    valise_id basis;   /* object */
    valise_id recipe;  /* object; zero: none */
    valise_id content; /* object of the kind "data"; zero: erased */
    int64_t size;      /* of the content */
} vls_frame_row;

extern const valise_coll vls_frames;

/* Letters a to z, digits, '.', '_' and '-', 1 to VLS_FRAME_TYPE_MAX. VALISE_E_INVALID. */
int vls_frame_type_check(valise_str type, valise_error *err);

/* ---- bases ---- */

enum { VLS_DEP_NODE = 1, VLS_DEP_SAID, VLS_DEP_RECIPE };

typedef struct vls_dependency {
    int kind;
    valise_id id; /* object of the node, recipe or content */

    /* SAID: of the child, and of its frame */
    bool dir;
    valise_str name, type, agent;
} vls_dependency;

/* Append one; the buffer remembers a failure. */
void vls_basis_add(vls_buf *out, const vls_dependency *dependency);

/* One after the other: 1; 0 at the end; VALISE_E_CORRUPT. Strings borrow from the bytes. */
int vls_basis_next(vls_dependency *out, vls_reader *in, valise_error *err);

/* Of a basis that was written here: its recipe. 1, or 0. VALISE_E_CORRUPT for what is no basis. */
int vls_basis_recipe(valise_id *out, valise_str basis, valise_error *err);

/* ---- ids ---- */

/* content: the plain SHA-256 of it. */
void vls_frame_id(valise_id *out, const valise_id *basis, valise_str type, valise_str agent,
                  const valise_id *content);

/* ---- rows ---- */

/* A frame to be made: everything but the id is given. */
typedef struct vls_frame_new {
    valise_str type, agent;
    valise_str basis;       /* bytes */
    valise_content content; /* its object is there, or is one of the arguments */
} vls_frame_new;

/* The same for who has the bytes of the content (content.bytes) and knows the recipe: without a
 * view. kind and recipe are those of the basis. */
int vls_frame_compute(vls_frame_row *out, const vls_frame_new *frame, int64_t kind,
                      const valise_id *recipe, valise_error *err);

/* The row it will have, id and all. Nothing is put; the object of the basis is added only by
 * vls_frame_put. VALISE_E_INVALID: a type, an agent, a basis or a recipe that cannot be. */
int vls_frame_make(vls_frame_row *out, valise_view *view, const vls_frame_new *frame,
                   valise_error *err);

/* Put what make made, with its basis: 1; 0: the frame is there already, and nothing is written.
 * One whose content was erased has it again: 1. VALISE_E_CONFLICT when a frame with this id is
 * there and its bytes differ. */
int vls_frame_put(valise_view *view, const vls_frame_row *frame, const vls_frame_new *from,
                  valise_error *err);

/* 1, or 0. */
int vls_frame_get(vls_frame_row *out, valise_view *view, const valise_id *id, valise_error *err);

/* Its id, or the first digits of one, 4 or more. VALISE_E_INVALID: neither. Of digits:
 * VALISE_E_NOT_FOUND: no frame begins so; VALISE_E_CONFLICT: several do, which are listed to who
 * may read them all. */
int vls_frame_id_of(valise_id *out, valise_view *view, valise_str given, valise_error *err);

/* Frames of this type and agent that were made of this basis, in the order of their ids: for who
 * may have been killed after it had made one. 1 and the first, or 0. */
int vls_frame_of_basis(vls_frame_row *out, valise_view *view, const valise_id *basis,
                       valise_str type, valise_str agent, valise_error *err);

#endif
