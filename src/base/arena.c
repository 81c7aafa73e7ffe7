/* arena.c -- blocks, newest first.
 *
 *     +-------+------+------------------------+------------+
 *     | older | size | allocations, 16-aligned | free       |
 *     +-------+------+------------------------+------------+
 *                                              next         end
 *
 * Blocks double up to 1 MiB; an allocation that does not fit gets a block of at least its own
 * size. In a VLS_ARENA_SINGLE build every allocation is such a block of exactly its size. */
#include "base/arena.h"

#include "base/mem.h"

#define ALIGN 16u
#define FIRST_BLOCK (4096u - 64u) /* leaves malloc room for its header within a page */
#define LARGEST_BLOCK (1u << 20)

typedef struct vls_arena_block {
    struct vls_arena_block *older;
    size_t size; /* all of it, this header included */
    _Alignas(ALIGN) char bytes[];
} block;

#ifdef VLS_ARENA_SINGLE
static const bool single_mallocs = true;
#else
static const bool single_mallocs = false;
#endif

void vls_arena_init(vls_arena *arena, const valise_env *env, size_t max)
{
    *arena = (vls_arena){.env = env, .max = max};
}

static void pop_block(vls_arena *arena)
{
    block *gone = arena->blocks;

    arena->blocks = gone->older;
    arena->used -= gone->size;
    vls_mem_free(arena->env, gone, gone->size);
}

void vls_arena_release(vls_arena *arena)
{
    while (arena->blocks)
        pop_block(arena);
    arena->next = arena->end = NULL;
}

static char *block_end(block *b)
{
    return (char *)b + b->size;
}

void vls_arena_reset(vls_arena *arena)
{
    if (single_mallocs || !arena->blocks) {
        vls_arena_release(arena);
        return;
    }
    /* Keep the newest: blocks double, so it is the one that fits a round like the last. */
    block *kept = arena->blocks;
    arena->blocks = kept->older;
    while (arena->blocks)
        pop_block(arena);
    kept->older = NULL;
    arena->blocks = kept;
    arena->next = kept->bytes;
    arena->end = block_end(kept);
}

vls_arena_mark vls_arena_here(const vls_arena *arena)
{
    return (vls_arena_mark){arena->blocks, arena->next};
}

void vls_arena_rewind(vls_arena *arena, vls_arena_mark mark)
{
    while (arena->blocks != mark.block)
        pop_block(arena);
    arena->next = mark.next;
    arena->end = mark.block ? block_end(mark.block) : NULL;
}

/* A new block with room for size bytes, size being aligned; false when there is none. */
static bool push_block(vls_arena *arena, size_t size)
{
    size_t whole;

    arena->failed = VALISE_E_TOO_LARGE;
    if (__builtin_add_overflow(size, sizeof(block), &whole))
        return false;
    if (!single_mallocs) {
        size_t last = arena->blocks ? arena->blocks->size : FIRST_BLOCK / 2;
        whole = VLS_MAX(whole, VLS_MIN(last * 2, LARGEST_BLOCK));
    }
    /* Near the limit take what is left rather than refuse what would still fit. */
    if (whole > arena->max - arena->used)
        whole = size + sizeof(block);
    if (whole > arena->max - arena->used)
        return false;

    arena->failed = VALISE_E_NO_MEMORY;
    block *b = vls_mem_alloc(arena->env, whole);
    if (!b)
        return false;
    *b = (block){.older = arena->blocks, .size = whole};
    arena->blocks = b;
    arena->used += whole;
    arena->next = b->bytes;
    arena->end = block_end(b);
    return true;
}

/* What an allocation takes; false when that cannot be said. At least one byte: without a block yet
 * there is nothing for a size of 0 to point at. */
static bool align(size_t *aligned, size_t size)
{
    if (__builtin_add_overflow(VLS_MAX(size, 1), ALIGN - 1, aligned))
        return false;
    *aligned = single_mallocs ? VLS_MAX(size, 1) : *aligned & ~(size_t)(ALIGN - 1);
    return true;
}

void *vls_arena_alloc(vls_arena *arena, size_t size)
{
    size_t aligned;

    if (!align(&aligned, size)) {
        arena->failed = VALISE_E_TOO_LARGE;
        return NULL;
    }

    if ((single_mallocs || aligned > (size_t)(arena->end - arena->next)) &&
        !push_block(arena, aligned))
        return NULL;
    void *result = arena->next;
    arena->next += aligned;
    return result;
}

void *vls_arena_zalloc(vls_arena *arena, size_t size)
{
    void *ptr = vls_arena_alloc(arena, size);

    if (ptr)
        memset(ptr, 0, size);
    return ptr;
}

void *vls_arena_array(vls_arena *arena, size_t count, size_t size)
{
    size_t bytes;

    if (!vls_mem_multiply(&bytes, count, size)) {
        arena->failed = VALISE_E_TOO_LARGE;
        return NULL;
    }
    return vls_arena_alloc(arena, bytes);
}

void *vls_arena_resize(vls_arena *arena, void *ptr, size_t old, size_t size)
{
    size_t had = 0, needs;
    void *moved;

    if (ptr && align(&had, old) && align(&needs, size) && (char *)ptr + had == arena->next &&
        needs <= (size_t)(arena->end - (char *)ptr) && !single_mallocs) {
        arena->next = (char *)ptr + needs;
        return ptr;
    }
    if (ptr && size <= old)
        return ptr;
    moved = vls_arena_alloc(arena, size);
    if (moved && ptr)
        memcpy(moved, ptr, old);
    return moved;
}

int vls_arena_report(const vls_arena *arena, valise_error *err)
{
    if (arena->failed == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    return vls_fail(err, VALISE_E_TOO_LARGE, "working memory of %zu bytes is used up", arena->max);
}

int vls_arena_dup(valise_str *out, vls_arena *arena, valise_str s, valise_error *err)
{
    char *copy = vls_arena_alloc(arena, s.len + 1);

    if (!copy)
        return vls_arena_fail(arena, err);
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    copy[s.len] = '\0';
    *out = (valise_str){copy, s.len};
    return 0;
}
