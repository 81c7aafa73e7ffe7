/* trim.h -- where a history begins when it does not fit. [P7] [P14]
 *
 * A beginning that moves with each turn would make every prompt a new one for the provider's cache.
 * So of the places in the first quarter of what fits the one is taken whose number on the path is
 * divisible by the highest power of two: it stays there until it no longer fits, or until a rounder
 * number comes within the quarter. Then the next place is taken that separates no result from its
 * call: if possible one where the user speaks, or a summary, but not if that gives up half of what
 * fits. In the long work of an agent nobody else speaks.
 *
 * Threads: pure functions. */
#ifndef VLS_PROMPT_TRIM_H
#define VLS_PROMPT_TRIM_H

#include "prompt/part.h"

/* May a part be the first one that is sent? */
typedef enum vls_opens {
    VLS_OPENS_NEVER, /* a result behind it has its call before it */
    VLS_OPENS_BLIND, /* the call of a result behind it was not read: it may be before it */
    VLS_OPENS_BARE,  /* nothing is separated */
    VLS_OPENS_WELL,  /* and somebody speaks anew */
} vls_opens;

/* A part of the history and where on the path it stands. */
typedef struct vls_place_of {
    int64_t position; /* turns before it on the path */
    vls_opens opens;
} vls_place_of;

/* The number in [from, to] with the most zeros at its end in binary. */
int64_t vls_trim_round(int64_t from, int64_t to);

/* Which parts may be the first: fills `opens`. whole: there is nothing before parts[0].
 * VALISE_E_NO_MEMORY. */
int vls_trim_opens(vls_place_of *places, const vls_part *parts, size_t count, bool whole,
                   vls_arena *arena, valise_error *err);

/* The first part that is sent: 0 where all fits, count where not even the last unit does. */
size_t vls_trim(const vls_place_of *places, const vls_part *parts, size_t count, bool whole,
                int64_t room);

#endif
