/* vec.h -- a growing array of any type.
 *
 *     vls_vec(int) numbers = VLS_VEC_INIT;
 *     if (!vls_vec_push(&numbers, env, 7))
 *         return vls_fail_memory(err);
 *     for (size_t i = 0; i < numbers.len; i++)
 *         use(numbers.ptr[i]);
 *     vls_vec_release(&numbers, env);
 *
 * Threads: single. */
#ifndef VLS_VEC_H
#define VLS_VEC_H

#include "base/arena.h"

#define vls_vec(type)                                                                              \
    struct {                                                                                       \
        type *ptr;                                                                                 \
        size_t len, cap;                                                                           \
    }

#define VLS_VEC_INIT                                                                               \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

/* Room for count elements in all; false when out of memory, and nothing changed. */
#define vls_vec_reserve(vec, env, count)                                                           \
    ((count) <= (vec)->cap ||                                                                      \
     vls_vec_grow(&(vec)->ptr, &(vec)->cap, (count), sizeof(*(vec)->ptr), (env)))

/* Append one element; false when out of memory. The value is evaluated only on success. */
#define vls_vec_push(vec, env, ...)                                                                \
    (vls_vec_reserve(vec, env, (vec)->len + 1) && ((vec)->ptr[(vec)->len++] = (__VA_ARGS__), true))

/* The same in an arena, with which the array goes: it is never released. */
#define vls_vec_reserve_in(vec, arena, count)                                                      \
    ((count) <= (vec)->cap ||                                                                      \
     vls_vec_grow_in(&(vec)->ptr, &(vec)->cap, (count), sizeof(*(vec)->ptr), (arena)))

#define vls_vec_push_in(vec, arena, ...)                                                           \
    (vls_vec_reserve_in(vec, arena, (vec)->len + 1) &&                                             \
     ((vec)->ptr[(vec)->len++] = (__VA_ARGS__), true))

#define vls_vec_release(vec, env)                                                                  \
    (vls_vec_drop(&(vec)->ptr, &(vec)->cap, sizeof(*(vec)->ptr), (env)), (vec)->len = 0)

/* slot: where the pointer to the elements is, whatever its type. */
bool vls_vec_grow(void *slot, size_t *cap, size_t count, size_t size, const valise_env *env);
bool vls_vec_grow_in(void *slot, size_t *cap, size_t count, size_t size, vls_arena *arena);
void vls_vec_drop(void *slot, size_t *cap, size_t size, const valise_env *env);

#endif
