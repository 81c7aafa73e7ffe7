/* arena.h -- memory that is freed all at once.
 *
 * There is one arena per operation: allocate freely, release once. An arena has a maximum, so that
 * hostile input cannot take all memory. In debug builds (VLS_ARENA_SINGLE) every allocation is a
 * malloc of its own, so that ASan notices an access past its end or after a reset.
 *
 * Threads: single. */
#ifndef VLS_ARENA_H
#define VLS_ARENA_H

#include "base/base.h"

typedef struct vls_arena {
    const valise_env *env;
    struct vls_arena_block *blocks; /* newest first */
    char *next, *end;               /* free part of the newest block */
    size_t used, max;               /* bytes taken from env, and their limit */
    int failed;                     /* why the last allocation that failed did */
} vls_arena;

/* A point to go back to; see vls_arena_rewind. */
typedef struct vls_arena_mark {
    struct vls_arena_block *block;
    char *next;
} vls_arena_mark;

void vls_arena_init(vls_arena *arena, const valise_env *env, size_t max);
void vls_arena_release(vls_arena *arena); /* a zeroed or released arena is fine */

/* Everything allocated is gone; some memory is kept for the next round. */
void vls_arena_reset(vls_arena *arena);

/* Forget what was allocated since the mark was taken. */
vls_arena_mark vls_arena_here(const vls_arena *arena);
void vls_arena_rewind(vls_arena *arena, vls_arena_mark mark);

/* size bytes, aligned to 16, not initialised; NULL when out of memory or over the maximum
 * (vls_arena_fail says which). A size of 0 gives a pointer too, which one must not read. */
void *vls_arena_alloc(vls_arena *arena, size_t size) VLS_NODISCARD;
void *vls_arena_zalloc(vls_arena *arena, size_t size) VLS_NODISCARD;
void *vls_arena_array(vls_arena *arena, size_t count, size_t size) VLS_NODISCARD;

/* Another size for what was allocated with old bytes (ptr NULL: nothing was). In place when it is
 * the newest; else, to grow, a copy. NULL leaves it as it is. */
void *vls_arena_resize(vls_arena *arena, void *ptr, size_t old, size_t size) VLS_NODISCARD;

/* Report a NULL of the functions above. */
int vls_arena_report(const vls_arena *arena, valise_error *err);

static inline int vls_arena_fail(const vls_arena *arena, valise_error *err)
{
    int code = vls_arena_report(arena, err);

    assert(code < 0);
    return code;
}

/* Copy bytes in, with a NUL behind them. */
int vls_arena_dup(valise_str *out, vls_arena *arena, valise_str s, valise_error *err);

static inline void vls_auto_arena(vls_arena *arena)
{
    vls_arena_release(arena);
}

#endif
