/* vec.c -- the part of vls_vec that need not be a macro.
 *
 * The slot holds a T * for some T; reading it as a void * would be against the aliasing rules of
 * C, so its bytes are copied. */
#include "base/vec.h"

#include "base/mem.h"

static void *load(const void *slot)
{
    void *ptr;

    memcpy(&ptr, slot, sizeof(ptr));
    return ptr;
}

static void store(void *slot, void *ptr)
{
    memcpy(slot, &ptr, sizeof(ptr));
}

static bool keep(void *slot, size_t *cap, void *grown, size_t next)
{
    if (!grown)
        return false;
    store(slot, grown);
    *cap = next;
    return true;
}

bool vls_vec_grow(void *slot, size_t *cap, size_t count, size_t size, const valise_env *env)
{
    size_t next = vls_mem_grow(*cap, count, 8);
    size_t bytes;

    return vls_mem_multiply(&bytes, next, size) &&
           keep(slot, cap, vls_mem_resize(env, load(slot), *cap * size, bytes), next);
}

bool vls_vec_grow_in(void *slot, size_t *cap, size_t count, size_t size, vls_arena *arena)
{
    size_t next = vls_mem_grow(*cap, count, 2); /* the newest of an arena grows at no cost */
    size_t bytes;

    if (!vls_mem_multiply(&bytes, next, size)) {
        arena->failed = VALISE_E_TOO_LARGE;
        return false;
    }
    return keep(slot, cap, vls_arena_resize(arena, load(slot), *cap * size, bytes), next);
}

void vls_vec_drop(void *slot, size_t *cap, size_t size, const valise_env *env)
{
    vls_mem_free(env, load(slot), *cap * size);
    store(slot, NULL);
    *cap = 0;
}
