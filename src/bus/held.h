/* held.h -- results of C functions: a struct for the caller, followed by the memory that it points
 * to. A result needs nothing of the handle any more.
 *
 *     typedef struct held {
 *         valise_report report;       first: what the caller has
 *         vls_held own;
 *     } held;
 *
 * Threads: single. */
#ifndef VLS_HELD_H
#define VLS_HELD_H

#include "base/arena.h"
#include "base/mem.h"
#include "bus/bus.h"
#include "store/view.h"

typedef struct vls_held {
    const valise_env *env;
    size_t size;       /* of the whole block */
    vls_memory memory; /* of the operation that answered: strings, and structs as they are */
    vls_arena arena;   /* of other structs */
} vls_held;

/* A zeroed block of this size, whose vls_held lies at `own`; NULL: there is no memory. */
static inline void *vls_held_new(const valise_env *env, size_t size, size_t own)
{
    char *block = vls_mem_zalloc(env, size);
    vls_held *held;

    if (!block)
        return NULL;
    held = (vls_held *)(void *)(block + own);
    held->env = env;
    held->size = size;
    vls_arena_init(&held->arena, env, VLS_VIEW_MAX_BYTES);
    return block;
}

static inline void vls_held_free(void *block, vls_held *held)
{
    vls_memory_release(&held->memory);
    vls_arena_release(&held->arena);
    vls_mem_free(held->env, block, held->size);
}

#endif
