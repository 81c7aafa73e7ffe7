/* ring_live.c -- the live table: the newest record of each key; commits come in here.
 *
 * Append takes everything it needs before it changes anything. */
#include "backpack/ring_impl.h"

#include "base/hash.h"
#include "base/mem.h"

typedef vls_ring_record record;
typedef vls_ring_key ring_key;

static const valise_id no_value;

/* ---- keys ---- */

static valise_str key_name(const void *item)
{
    return vls_ring_key_str(item);
}

static uint32_t *key_at(void *item)
{
    return &((ring_key *)item)->at;
}

const vls_ring_order_ops vls_ring_key_order = {key_name, key_at};

ring_key *vls_ring_key_new(vls_ring *ring, valise_str key, uint64_t hash)
{
    ring_key *k = vls_mem_alloc(ring->env, sizeof(*k) + key.len);

    if (!k)
        return NULL;
    *k = (ring_key){.hash = hash, .refs = 1, .len = (uint32_t)key.len};
    atomic_init(&k->records, 0);
    if (key.len > 0)
        memcpy(k->bytes, key.ptr, key.len);
    ring->sums.key_bytes += (int64_t)(sizeof(*k) + key.len);
    return k;
}

void vls_ring_key_drop(vls_ring *ring, ring_key *k)
{
    if (--k->refs > 0)
        return;
    assert(!k->newest);
    ring->sums.key_bytes -= (int64_t)(sizeof(*k) + k->len);
    vls_mem_free(ring->env, k, sizeof(*k) + k->len);
}

/* Most writes look for the newest commit of their key first: remember what was found. The bytes are
 * compared, since whoever asks may use the same memory for another key. */
vls_ring_slot *vls_ring_find(vls_ring *ring, valise_str key)
{
    vls_ring_seen *seen = &ring->seen;

    if (seen->is_set && seen->len == key.len && memcmp(seen->bytes, key.ptr, key.len) == 0)
        return seen->slot;
    seen->hash = vls_str_hash(key, ring->seed);
    seen->slot = vls_ring_table_find(&ring->live, seen->hash, key);
    seen->len = key.len;
    seen->is_set = key.len > 0 && key.len <= sizeof(seen->bytes);
    if (seen->is_set)
        memcpy(seen->bytes, key.ptr, key.len);
    return seen->slot;
}

record *vls_ring_newest_of(vls_ring *ring, valise_str key)
{
    const vls_ring_slot *slot = vls_ring_find(ring, key);

    if (slot)
        return slot->newest;
    return ring->base ? vls_pmap_get(&ring->base->map, key) : NULL;
}

bool vls_ring_is_shown(const vls_ring *ring, int64_t edge, const record *r)
{
    if (vls_ring_is_item(r))
        return true;
    while (r->label->ring != ring) {
        edge = ring->origin_edge;
        ring = ring->origin;
    }
    return r->seq > edge;
}

bool vls_ring_counts(const vls_ring *ring, const record *r)
{
    if (r->restored || atomic_load_explicit(&r->key->records, memory_order_relaxed) > 1)
        return true;
    /* What a fork began with is kept, and what hides something of it. */
    return ring->base && vls_pmap_get(&ring->base->map, vls_ring_key_str(r->key));
}

int vls_ring_op_version(int64_t *out, void *self, valise_str key, valise_error *err)
{
    vls_ring *ring = ((vls_ring_lens *)self)->ring;
    const record *r = vls_ring_newest_of(ring, key);

    (void)err;
    *out = 0;
    if (r && vls_ring_counts(ring, r))
        *out = r->rare ? r->rare->version : r->version;
    return 0;
}

int vls_ring_op_newest(valise_commit *out, void *self, valise_str key, valise_error *err)
{
    vls_ring_lens *lens = self;
    vls_ring *ring = lens->ring;
    record *r = lens->state ? vls_pmap_get(&lens->state->map, key) : vls_ring_newest_of(ring, key);

    (void)err;
    if (!r || !vls_ring_is_shown(ring, lens->state ? lens->edge : ring->edge, r))
        return 0;
    vls_ring_fill(out, r);
    return 1;
}

/* ---- append ---- */

static bool reserve_slot(vls_ring *ring, int64_t count)
{
    size_t cap = ring->cap ? ring->cap * 2 : 64;
    record **slots;

    if ((uint64_t)count <= ring->cap)
        return true;
    slots = cap < SIZE_MAX / sizeof(*slots) / 2 ? vls_mem_alloc(ring->env, cap * sizeof(record *))
                                                : NULL;
    if (!slots)
        return false;
    for (int64_t seq = ring->edge + 1; seq <= ring->last; seq++)
        slots[(size_t)seq & (cap - 1)] = vls_ring_at(ring, seq);
    vls_mem_free(ring->env, ring->slots, ring->cap * sizeof(record *));
    ring->slots = slots;
    ring->cap = cap;
    return true;
}

/* The namespace whose list the key of a record is in. */
static vls_ring_space *space_of(const record *r)
{
    return r && vls_ring_is_item(r) ? r->label->space : NULL;
}

/* What a new record is made of. What is not NULL is the draft's. */
typedef struct draft {
    vls_ring *ring;
    ring_key *key;
    vls_ring_slot *slot; /* its; NULL: it is not in the table yet */
    vls_ring_value *value;
    vls_ring_label *label;
    record *made;
} draft;

static void drop_draft(draft *d)
{
    if (d->value)
        vls_ring_value_drop(d->ring, d->value);
    if (d->key)
        vls_ring_key_drop(d->ring, d->key);
    vls_ring_label_drop(d->ring, d->label);
}

static int take_parts(draft *d, const valise_commit *commit)
{
    vls_ring *ring = d->ring;
    vls_ring_traits traits = {commit->node_id, commit->node_name, commit->namespace_name,
                              commit->tags,    commit->read,      commit->write};

    d->slot = vls_ring_find(ring, commit->key);
    if (d->slot) {
        d->key = d->slot->key;
        d->key->refs++;
    } else {
        ring->seen.is_set = false; /* slots move when the table grows */
        if (!vls_ring_table_reserve(&ring->live, ring->env) ||
            !(d->key = vls_ring_key_new(ring, commit->key, ring->seen.hash)))
            return VALISE_E_NO_MEMORY;
    }
    d->label = vls_ring_label_take(ring, &traits, ring->last_label);
    if (!d->label)
        return VALISE_E_NO_MEMORY;
    if (vls_id_equal(&commit->value, &no_value))
        return 0;
    d->value = vls_ring_value_find(ring, &commit->value);
    if (!d->value)
        return vls_map_reserve(&ring->values, ring->values.len + 1);
    d->value->refs++;
    return 0;
}

/* Everything that can fail. */
static int prepare(draft *d, const valise_commit *commit, valise_blob *blob)
{
    vls_ring *ring = d->ring;
    vls_ring_space *space;
    int rc = take_parts(d, commit);

    if (rc < 0)
        return rc;
    space = vls_commit_is_live(commit) ? d->label->space : NULL;
    if (space && (!d->slot || space != space_of(d->key->newest)) &&
        !vls_ring_order_reserve(&space->keys, ring->env))
        return VALISE_E_NO_MEMORY;
    /* Behind a gap everything before it leaves the ring. */
    if (!reserve_slot(ring, commit->seq == ring->last + 1 ? ring->last - ring->edge + 1 : 1))
        return VALISE_E_NO_MEMORY;
    d->made = vls_ring_record_new(ring, commit, d->key, d->value, blob, d->label);
    return d->made ? 0 : VALISE_E_NO_MEMORY;
}

/* The key is in the list of the namespace that its item has. */
static void move_key(record *old, record *new)
{
    vls_ring_space *from = space_of(old), *to = space_of(new);

    assert(new);
    if (from == to)
        return;
    if (from)
        vls_ring_order_remove(&from->keys, &vls_ring_key_order, new->key);
    if (to)
        vls_ring_order_add(&to->keys, &vls_ring_key_order, new->key);
}

/* What came so far lies before the edge. */
static void restore_all(vls_ring *ring)
{
    for (int64_t seq = ring->edge + 1; seq <= ring->last; seq++)
        vls_ring_at(ring, seq)->restored = true;
    vls_ring_prune_to(ring, ring->last);
}

/* Nothing fails from here on. */
static void put_in(vls_ring *ring, record *r, vls_ring_slot *slot)
{
    ring_key *key = r->key;
    valise_str name = vls_ring_key_str(key);
    record *old;

    if (r->seq > ring->last + 1) {
        restore_all(ring);
        ring->edge = r->seq - 1;
        slot = vls_ring_find(ring, name); /* which may have gone or moved */
    }
    old = key->newest;
    if (!slot) {
        ring->seen.is_set = false;
        slot = vls_ring_table_add(&ring->live, key);
        if (ring->base && !old) {
            old = vls_pmap_get(&ring->base->map, name);
            if (old)
                vls_ref_get(&old->refs);
        }
    }
    move_key(key->newest, r);
    ring->items += vls_ring_is_item(r) - (old && vls_ring_is_item(old));
    key->newest = slot->newest = r;
    r->prev = old; /* with the reference that the key had */
    vls_ring_recount(ring, r, 1, 1);
    if (old && vls_ring_is_own(ring, old)) {
        old->superseded = true;
        if (old->kept)
            vls_ring_recount(ring, old, -1, 0);
    }
    ring->slots[(size_t)r->seq & (ring->cap - 1)] = r;
    ring->appended++;
    ring->last = r->seq;
    ring->last_time = r->time;
    if (vls_ring_run_of(r) != ring->open_run)
        ring->open_run = vls_ring_run_of(r) == ring->begun_run ? ring->begun_run : -1;
    vls_ring_label_drop(ring, ring->last_label);
    ring->last_label = r->label;
    r->label->refs++;
}

int vls_ring_op_append(void *self, valise_commit *commit, valise_blob *value, valise_error *err)
{
    vls_ring *ring = ((vls_ring_lens *)self)->ring;
    draft d = {.ring = ring};
    int64_t given = commit->seq;

    assert(value || vls_id_equal(&commit->value, &no_value));
    vls_ring_value_seek(ring, &commit->value);
    if (given != 0 && (given <= ring->last || given == INT64_MAX))
        return vls_fail(err, VALISE_E_INVALID, "commit %lld cannot follow commit %lld",
                        (long long)given, (long long)ring->last);
    if (given == 0)
        commit->seq = ring->last + 1;
    if (prepare(&d, commit, value) < 0) {
        commit->seq = given;
        drop_draft(&d);
        return vls_fail_memory(err);
    }
    put_in(ring, d.made, d.slot);
    commit->backpack = ring->id;
    commit->id = vls_commit_id(&ring->id, commit->seq, commit->time);
    return 0;
}

/* ---- out again ---- */

void vls_ring_forget(vls_ring *ring, record *r)
{
    ring_key *key = r->key;
    vls_ring_slot *slot = vls_ring_table_find(&ring->live, key->hash, vls_ring_key_str(key));

    assert(slot && slot->newest == r && !vls_ring_is_item(r));
    ring->seen.is_set = false;
    vls_ring_table_remove(&ring->live, slot);
    key->newest = NULL;
    vls_ring_states_forget(ring, r);
    vls_ring_recount(ring, r, -1, 0);
    vls_ring_record_unref(r);
}

int vls_ring_op_set_edge(void *self, int64_t edge, valise_error *err)
{
    vls_ring *ring = ((vls_ring_lens *)self)->ring;

    if (edge < ring->last || edge == INT64_MAX)
        return vls_fail(err, VALISE_E_INVALID, "the edge %lld is before commit %lld",
                        (long long)edge, (long long)ring->last);
    restore_all(ring);
    ring->edge = ring->last = edge;
    vls_ring_states_trim(ring);
    vls_ring_rows_trim(ring);
    return 0;
}
