/* counting_env.c -- malloc with a header that remembers the size. */
#define VLS_ALLOW_MALLOC
#include "harness/counting_env.h"

typedef struct header {
    size_t size;
    uint64_t magic;
} header;

#define MAGIC 0x56414C4953452121u

_Static_assert(sizeof(header) == 16, "blocks must stay aligned");

bool counting_env_count(counting_env *c)
{
    long long fail_at = atomic_load(&c->fail_at);

    if (atomic_load(&c->paused))
        return false;
    long long n = atomic_fetch_add(&c->calls, 1);
    if (fail_at < 0 || n < fail_at || (n > fail_at && !atomic_load(&c->onward)))
        return false;
    atomic_store(&c->failed, true);
    return true;
}

static void free_block(counting_env *c, header *h)
{
    if (!h)
        return;
    atomic_fetch_sub(&c->bytes, h->size);
    atomic_fetch_sub(&c->blocks, 1);
    h->magic = 0;
    free(h);
}

static void *counting_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    counting_env *c = self;
    header *h = ptr ? (header *)ptr - 1 : NULL;

    if (h && (h->magic != MAGIC || h->size != old_size)) {
        fprintf(stderr, "block %p of %zu bytes given back as %zu\n", ptr, h->size, old_size);
        abort();
    }
    if (!ptr && old_size != 0) {
        fprintf(stderr, "a new block has an old size of %zu\n", old_size);
        abort();
    }
    if (new_size == 0) {
        free_block(c, h);
        return NULL;
    }
    if (counting_env_count(c))
        return NULL;

    /* Always a new block: a pointer kept across a growth is then found by ASan. */
    header *fresh = new_size > SIZE_MAX - sizeof(header) ? NULL : malloc(sizeof(header) + new_size);
    if (!fresh)
        return NULL;
    *fresh = (header){new_size, MAGIC};
    memset(fresh + 1, 0xA5, new_size);
    atomic_fetch_add(&c->bytes, new_size);
    atomic_fetch_add(&c->blocks, 1);
    if (h)
        memcpy(fresh + 1, ptr, VLS_MIN(old_size, new_size));
    free_block(c, h);
    return fresh + 1;
}

void counting_env_init(counting_env *c)
{
    const valise_env *system = valise_env_default();

    c->env = *system;
    c->env.self = c;
    c->env.resize = counting_resize;
    atomic_init(&c->bytes, 0);
    atomic_init(&c->blocks, 0);
    atomic_init(&c->calls, 0);
    atomic_init(&c->fail_at, -1);
    atomic_init(&c->onward, false);
    atomic_init(&c->paused, false);
    atomic_init(&c->failed, false);
}

size_t counting_env_in_use(const counting_env *c)
{
    return atomic_load(&((counting_env *)(uintptr_t)c)->bytes);
}

size_t counting_env_blocks(const counting_env *c)
{
    return atomic_load(&((counting_env *)(uintptr_t)c)->blocks);
}

static void fail_at(counting_env *c, long long n, bool onward)
{
    atomic_store(&c->failed, false);
    atomic_store(&c->onward, onward);
    atomic_store(&c->fail_at, n < 0 ? -1 : atomic_load(&c->calls) + n);
}

void counting_env_fail_at(counting_env *c, long long n)
{
    fail_at(c, n, false);
}

void counting_env_fail_from(counting_env *c, long long n)
{
    fail_at(c, n, true);
}
