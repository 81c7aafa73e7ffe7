/* trim.h -- where a history begins when it does not fit. [P7] [P14]
 *
 * A beginning that moves with each turn would make every prompt a new one for the provider's cache.
 * So of the places in the first quarter of what fits the one is taken whose number on the path is
 * divisible by the highest power of two: it stays there until it no longer fits, or until a rounder
 * number comes within the quarter. Then the next place that may be one is taken: a turn of the user
 * or a summary, such that no result behind it has its call before it.
 *
 * Threads: pure functions. */
#ifndef VLS_PROMPT_TRIM_H
#define VLS_PROMPT_TRIM_H

#include "prompt/part.h"

/* A part of the history and where on the path it stands. */
typedef struct vls_place_of {
    int64_t position; /* turns before it on the path */
    bool opens;       /* it may be the first one that is sent */
} vls_place_of;

/* The number in [from, to] with the most zeros at its end in binary. */
int64_t vls_trim_round(int64_t from, int64_t to);

/* Which parts may be the first: fills `opens`. VALISE_E_NO_MEMORY. */
int vls_trim_opens(vls_place_of *places, const vls_part *parts, size_t count, vls_arena *arena,
                   valise_error *err);

/* The first part that is sent: 0 where all fits, count where not even the last unit does. whole:
 * there is nothing before parts[0]. */
size_t vls_trim(const vls_place_of *places, const vls_part *parts, size_t count, bool whole,
                int64_t room);

#endif
