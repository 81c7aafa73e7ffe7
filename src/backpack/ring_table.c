/* ring_table.c -- the live table: open addressing with linear probing, as base/map.c has it.
 *
 * Unlike there a slot has the key and the newest record side by side: where a backpack is larger
 * than the caches, the two are fetched at the same time and not one behind the other. */
#include "backpack/ring_impl.h"

#include "base/mem.h"

typedef vls_ring_table table;
typedef vls_ring_slot slot;

#define FIRST_CAP 16u

void vls_ring_table_release(table *t, const valise_env *env)
{
    vls_mem_free(env, t->slots, t->cap * sizeof(slot));
    *t = (table){0};
}

/* The record and the value behind it. */
static void fetch(const slot *s)
{
    __builtin_prefetch(s->newest);
    __builtin_prefetch((const char *)s->newest + 64);
    __builtin_prefetch((const char *)s->newest + 128);
}

static bool has_key(const slot *s, uint64_t hash, valise_str key)
{
    if (s->hash != hash)
        return false;
    fetch(s);
    return vls_str_equal(vls_ring_key_str(s->key), key);
}

slot *vls_ring_table_find(const table *t, uint64_t hash, valise_str key)
{
    size_t mask = t->cap - 1;

    if (t->len == 0)
        return NULL;
    for (size_t i = hash & mask; t->slots[i].key; i = (i + 1) & mask) {
        if (has_key(&t->slots[i], hash, key))
            return &t->slots[i];
    }
    return NULL;
}

/* The slot of a key that is not there yet. */
static slot *place(const table *t, uint64_t hash)
{
    size_t mask = t->cap - 1, i = hash & mask;

    while (t->slots[i].key)
        i = (i + 1) & mask;
    return &t->slots[i];
}

bool vls_ring_table_reserve(table *t, const valise_env *env)
{
    table grown = {.cap = t->cap ? t->cap * 2 : FIRST_CAP, .len = t->len};

    if (t->cap > 0 && t->len + 1 <= t->cap / 4 * 3)
        return true;
    if (grown.cap > SIZE_MAX / sizeof(slot) / 2)
        return false;
    grown.slots = vls_mem_zalloc(env, grown.cap * sizeof(slot));
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < t->cap; i++) {
        if (t->slots[i].key)
            *place(&grown, t->slots[i].hash) = t->slots[i];
    }
    vls_ring_table_release(t, env);
    *t = grown;
    return true;
}

slot *vls_ring_table_add(table *t, vls_ring_key *key)
{
    slot *s = place(t, key->hash);

    assert(t->len < t->cap);
    *s = (slot){.hash = key->hash, .key = key};
    t->len++;
    return s;
}

void vls_ring_table_remove(table *t, slot *s)
{
    size_t mask = t->cap - 1, hole = (size_t)(s - t->slots);

    /* Move back each follower whose home is not behind the hole. */
    for (size_t i = (hole + 1) & mask; t->slots[i].key; i = (i + 1) & mask) {
        size_t home = t->slots[i].hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            t->slots[hole] = t->slots[i];
            hole = i;
        }
    }
    t->slots[hole] = (slot){0};
    t->len--;
}

vls_ring_key *vls_ring_table_next(const table *t, size_t *at)
{
    while (*at < t->cap) {
        vls_ring_key *key = t->slots[(*at)++].key;
        if (key)
            return key;
    }
    return NULL;
}
