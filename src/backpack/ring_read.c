/* ring_read.c -- the log of reads: the newest ones, in a ring of their own, so that they never push
 * writes out. [B8] */
#include "backpack/ring_impl.h"

#include "base/mem.h"

typedef vls_ring_read ring_read;
typedef vls_ring_reads reads;
typedef vls_ring_lens lens;

static ring_read *read_at(const reads *r, int64_t number)
{
    return &r->slots[(size_t)number % r->cap];
}

static bool grow(vls_ring *ring)
{
    reads *r = &ring->reads;
    size_t cap = VLS_MIN(r->cap ? r->cap * 2 : 64, VLS_RING_READS);
    ring_read *slots;

    if (r->len < r->cap || r->cap == VLS_RING_READS)
        return true;
    slots = vls_mem_alloc(ring->env, cap * sizeof(*slots));
    if (!slots)
        return r->cap > 0; /* the oldest one makes room */
    for (int64_t n = r->last - (int64_t)r->len + 1; n <= r->last; n++)
        slots[(size_t)n % cap] = *read_at(r, n);
    vls_mem_free(ring->env, r->slots, r->cap * sizeof(*slots));
    r->slots = slots;
    r->cap = cap;
    return true;
}

static void drop(vls_ring *ring, ring_read *read)
{
    vls_ring_key_drop(ring, read->key);
    vls_ring_label_drop(ring, read->label);
}

/* The key of an item, or one that only this read has. */
static vls_ring_key *key_of(vls_ring *ring, valise_str key)
{
    const vls_ring_slot *slot = vls_ring_find(ring, key);

    if (slot) {
        slot->key->refs++;
        return slot->key;
    }
    return key.len <= VLS_BAG_KEY_MAX ? vls_ring_key_new(ring, key, 0) : NULL;
}

static void add(vls_ring *ring, const vls_ledger_read *read)
{
    reads *r = &ring->reads;
    vls_ring_label *hint = r->len > 0 ? read_at(r, r->last)->label : NULL;
    ring_read *slot;
    vls_ring_traits traits = {.node_id = read->node_id,
                              .node_name = read->node_name,
                              .namespace_name = read->namespace_name,
                              .tags = read->tags};
    ring_read new = {.seq = read->seq,
                     .version = read->version,
                     .time = read->time,
                     .action = (uint8_t)read->action,
                     .outcome = (uint8_t)read->outcome};

    if (!grow(ring) || !(new.label = vls_ring_label_take(ring, &traits, hint)))
        return;
    new.key = key_of(ring, read->key);
    if (!new.key) {
        vls_ring_label_drop(ring, new.label);
        return;
    }
    slot = read_at(r, ++r->last);
    if (r->len == r->cap)
        drop(ring, slot);
    else
        r->len++;
    *slot = new;
    /* What the next call drops. */
    slot = slot + 1 < r->slots + r->len ? slot + 1 : r->slots;
    __builtin_prefetch(slot->key);
}

void vls_ring_op_read_add(void *self, const vls_ledger_read *read)
{
    lens *l = self;

    if (l->state)
        vls_ring_lock(l->ring);
    add(l->ring, read);
    if (l->state)
        vls_ring_unlock(l->ring);
}

/* ---- walking ---- */

typedef struct page {
    ring_read reads[VLS_RING_PAGE];
    size_t len;
    int64_t first; /* number of reads[0] */
} page;

/* Up to number `from`, newest first; what has gone meanwhile is not there. */
static void take_page(page *p, vls_ring *ring, int64_t from)
{
    const reads *r = &ring->reads;

    p->len = 0;
    vls_ring_lock(ring);
    p->first = VLS_MIN(from, r->last);
    for (int64_t n = p->first; n > r->last - (int64_t)r->len && p->len < VLS_RING_PAGE; n--) {
        ring_read *read = &p->reads[p->len++];
        *read = *read_at(r, n);
        read->key->refs++;
        read->label->refs++;
    }
    vls_ring_unlock(ring);
}

static void release_page(page *p, vls_ring *ring)
{
    vls_ring_lock(ring);
    for (size_t i = 0; i < p->len; i++)
        drop(ring, &p->reads[i]);
    vls_ring_drain(ring);
    vls_ring_unlock(ring);
}

static void fill(vls_ledger_read *out, const ring_read *read)
{
    const vls_ring_traits *t = &read->label->traits;

    *out = (vls_ledger_read){.node_id = t->node_id,
                             .node_name = t->node_name,
                             .namespace_name = t->namespace_name,
                             .key = vls_ring_key_str(read->key),
                             .action = read->action,
                             .seq = read->seq,
                             .version = read->version,
                             .outcome = read->outcome,
                             .time = read->time,
                             .tags = t->tags};
}

int vls_ring_op_each_read(void *self,
                          int (*fn)(void *arg, const vls_ledger_read *read, valise_error *err),
                          void *arg, valise_error *err)
{
    vls_ring *ring = ((lens *)self)->ring;
    int64_t from = INT64_MAX;
    page *p = vls_mem_alloc(ring->env, sizeof(*p));
    int rc = 0;

    if (!p)
        return vls_fail_memory(err);
    do {
        take_page(p, ring, from);
        from = p->first - (int64_t)p->len;
        for (size_t i = 0; i < p->len && rc == 0; i++) {
            vls_ledger_read read;
            fill(&read, &p->reads[i]);
            rc = fn(arg, &read, err);
        }
        release_page(p, ring);
    } while (rc == 0 && p->len > 0);
    vls_mem_free(ring->env, p, sizeof(*p));
    return rc;
}

void vls_ring_reads_release(vls_ring *ring)
{
    reads *r = &ring->reads;

    for (size_t i = 0; i < r->len; i++)
        drop(ring, read_at(r, r->last - (int64_t)i));
    vls_mem_free(ring->env, r->slots, r->cap * sizeof(*r->slots));
    *r = (reads){0};
}
