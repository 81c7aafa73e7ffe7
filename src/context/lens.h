/* lens.h -- which frames one wants to see, how many, in which order: the views of people.
 *
 * (In code a view is what operations read through; so this is called a lens.)
 *
 *     text       part { ',' part }                     "recency,max=10,type=summary"
 *     part       heads | history                       scope: the head of each slot, or every frame
 *                recency | type | agent                order
 *                max=N  max_bytes=N  max_tokens=N      hard limits
 *                type=GLOB  agent=GLOB  path=GLOB      filters; of several of one name any fits
 *                state=fresh|stale|invalidated|orphaned
 *                seq=A..B  time=A..B                   inclusive; either end may be left out
 *
 * Left out: heads, type, max=100, nothing else. Globs are those of base/glob.h, paths with '/';
 * one with a '[' is refused.
 *
 *     recency    newest entry first (seq, then number); ties, as in all orders, by path, type, id
 *     type       by type
 *     agent      by agent
 *
 * Frames are taken in order, each if it still fits; one that does not is left out, and a smaller
 * one behind it may be taken.
 *
 * The hash of a lens is that of its canonical text (vls_lens_write): the same wish has one hash,
 * however it was written.
 *
 * Threads: immutable once parsed. */
#ifndef VLS_LENS_H
#define VLS_LENS_H

#include "base/buf.h"
#include "base/hash.h"

#define VLS_LENS_TEXT_MAX 2048u
#define VLS_LENS_GLOBS_MAX 16u
#define VLS_LENS_FRAMES_USUAL 100
#define VLS_LENS_FRAMES_MAX 10000
#define VLS_LENS_TAG "valise.view.1"

/* Stored nowhere; names are part of the language. */
enum {
    VLS_STATE_EMPTY,
    VLS_STATE_FRESH,
    VLS_STATE_STALE,
    VLS_STATE_INVALIDATED,
    VLS_STATE_ORPHANED,
};
extern const char *const vls_state_names[]; /* NULL-ended */

enum { VLS_LENS_HEADS, VLS_LENS_HISTORY };
enum { VLS_LENS_BY_TYPE, VLS_LENS_BY_AGENT, VLS_LENS_BY_RECENCY };

typedef struct vls_lens_globs {
    valise_str globs[VLS_LENS_GLOBS_MAX]; /* by their bytes, each once */
    size_t count;                         /* 0: everything fits */
} vls_lens_globs;

typedef struct vls_lens {
    int scope, order;
    int64_t max_frames, max_bytes, max_tokens; /* the last two: 0: no limit */
    vls_lens_globs types, agents, paths;
    unsigned states;            /* bits 1 << VLS_STATE_...; 0: any */
    int64_t seq_from, seq_to;   /* VALISE_NONE: open, as below */
    int64_t time_from, time_to; /* ns */
} vls_lens;

/* Borrows from text. VALISE_E_INVALID names the part that is wrong, with its offset. */
int vls_lens_parse(vls_lens *out, valise_str text, valise_error *err);

/* Is it one of the language: heads, recency, ...? Such a name no view can have. */
bool vls_lens_is_word(valise_str word);

/* Append the canonical text. The buffer remembers a failure. */
void vls_lens_write(vls_buf *out, const vls_lens *lens);

int vls_lens_hash(valise_id *out, const vls_lens *lens, valise_error *err);

/* What is known of a frame before its state is: does it pass the filters? */
typedef struct vls_lens_item {
    valise_str path, type, agent;
    int64_t seq, time;
} vls_lens_item;
bool vls_lens_fits(const vls_lens *lens, const vls_lens_item *item);

static inline bool vls_lens_wants_state(const vls_lens *lens, int state)
{
    return lens->states == 0 || (lens->states & 1u << state);
}

#endif
