/* vec.c -- the part of vls_vec that need not be a macro. */
#include "base/vec.h"

#include "base/mem.h"

bool vls_vec_grow(void **ptr, size_t *cap, size_t count, size_t size, const valise_env *env)
{
    size_t next = vls_mem_grow(*cap, count, 8);
    size_t bytes;

    if (!vls_mem_multiply(&bytes, next, size))
        return false;
    void *grown = vls_mem_resize(env, *ptr, *cap * size, bytes);
    if (!grown)
        return false;
    *ptr = grown;
    *cap = next;
    return true;
}

void vls_vec_drop(void **ptr, size_t *cap, size_t size, const valise_env *env)
{
    vls_mem_free(env, *ptr, *cap * size);
    *ptr = NULL;
    *cap = 0;
}
