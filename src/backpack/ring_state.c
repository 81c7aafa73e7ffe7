/* ring_state.c -- states as persistent maps, made when somebody asks. [B14]
 *
 *     roots     64       128      192   200        by seq; 200 was made from the live table
 *                         |  <-----------|         back: put what each commit superseded
 *                         |----> 131               or forwards: put each commit
 *
 * From the nearest state that there is, commits are applied or taken back. What passes a multiple
 * of VLS_RING_ROOT on the way is kept: that costs the nodes that differ. Roots are a cache, but for
 * those that checkpoints hold; only the latter survive the edge.
 *
 * Keys that have left the live table are taken out of the newest root, from which later ones are
 * made: else trees would remember all keys that ever were. */
#include "backpack/ring_impl.h"

#include "base/mem.h"

typedef vls_ring_record record;
typedef vls_ring_state state;
typedef vls_ring_root root;

/* ---- states ---- */

static int64_t time_at(const vls_ring *ring, int64_t seq)
{
    if (seq <= ring->edge)
        return ring->edge_time;
    return seq < ring->last ? vls_ring_at(ring, seq)->time : ring->last_time;
}

/* Moves map in. NULL: out of memory, and the map is released. */
static state *new_state(vls_ring *ring, int64_t seq, vls_pmap *map, int64_t items)
{
    state *s = vls_mem_zalloc(&ring->tree_env, sizeof(*s));

    if (!s || pthread_mutex_init(&s->lock, NULL) != 0) {
        vls_mem_free(&ring->tree_env, s, sizeof(*s));
        vls_pmap_release(map);
        return NULL;
    }
    vls_ref_init(&s->refs);
    s->seq = seq;
    s->time = time_at(ring, seq);
    s->map = *map;
    s->items = items;
    s->env = &ring->tree_env;
    *map = (vls_pmap){0};
    return s;
}

void vls_ring_state_unref(state *s)
{
    const valise_env *env;

    if (!s || !vls_ref_put(&s->refs))
        return;
    env = s->env;
    vls_ring_index_free(s->index, env);
    vls_pmap_release(&s->map);
    pthread_mutex_destroy(&s->lock);
    vls_mem_free(env, s, sizeof(*s));
}

/* ---- a map that moves through time ---- */

typedef struct walker {
    vls_ring *ring;
    vls_pmap map;
    int64_t seq, items;
} walker;

static int put(walker *w, record *r)
{
    void *old = NULL;
    int rc = vls_pmap_put(&old, &w->map, r);

    if (rc < 0)
        return rc;
    w->items += vls_ring_is_item(r);
    if (old) {
        w->items -= vls_ring_is_item(old);
        vls_ring_record_unref(old);
    }
    return 0;
}

static int take_out(walker *w, valise_str key)
{
    void *old = NULL;
    int rc = vls_pmap_remove(&old, &w->map, key);

    if (rc == VALISE_E_NOT_FOUND)
        return 0;
    if (rc == 0) {
        w->items -= vls_ring_is_item(old);
        vls_ring_record_unref(old);
    }
    return rc;
}

/* One commit forwards or back. A root that lost keys before the edge may lack what is taken out. */
static int step(walker *w, bool forwards)
{
    record *r = vls_ring_at(w->ring, forwards ? w->seq + 1 : w->seq);
    int rc = forwards  ? put(w, r)
             : r->prev ? put(w, r->prev)
                       : take_out(w, vls_ring_key_str(r->key));

    if (rc == 0)
        w->seq += forwards ? 1 : -1;
    return rc;
}

/* ---- the newest state, from the live table ---- */

static int compare_keys(const void *a, const void *b)
{
    const vls_ring_key *x = *(vls_ring_key *const *)a, *y = *(vls_ring_key *const *)b;

    return vls_str_compare(vls_ring_key_str(x), vls_ring_key_str(y));
}

/* In order, which is how a tree is filled fastest. */
static int put_live(walker *w)
{
    const vls_ring_table *live = &w->ring->live;
    const valise_env *env = w->ring->env;
    vls_ring_key **keys;
    size_t count = 0, at = 0;
    int rc = 0;

    if (live->len == 0)
        return 0;
    keys = vls_mem_alloc(env, live->len * sizeof(*keys));
    if (!keys)
        return VALISE_E_NO_MEMORY;
    for (vls_ring_key *key; (key = vls_ring_table_next(live, &at));)
        keys[count++] = key;
    assert(count == live->len);
    qsort(keys, count, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = put(w, keys[i]->newest);
    vls_mem_free(env, keys, count * sizeof(*keys));
    return rc;
}

static int start_newest(walker *w)
{
    vls_ring *ring = w->ring;

    w->seq = ring->last;
    if (ring->base) {
        vls_pmap_snapshot(&w->map, &ring->base->map);
        w->items = ring->base->items;
    } else {
        vls_pmap_init(&w->map, &ring->tree_env, &vls_ring_record_ops);
    }
    return put_live(w);
}

/* ---- roots ---- */

/* The first root with a seq not below. */
static size_t root_at(const vls_ring *ring, int64_t seq)
{
    size_t low = 0, high = ring->roots.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ring->roots.ptr[middle].state->seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static root *find_root(const vls_ring *ring, int64_t seq)
{
    size_t at = root_at(ring, seq);

    return at < ring->roots.len && ring->roots.ptr[at].state->seq == seq ? &ring->roots.ptr[at]
                                                                         : NULL;
}

/* The array takes a reference of its own; false: out of memory. */
static bool add_root(vls_ring *ring, state *s)
{
    size_t at = root_at(ring, s->seq);

    assert(!find_root(ring, s->seq));
    if (!vls_vec_reserve(&ring->roots, ring->env, ring->roots.len + 1))
        return false;
    memmove(ring->roots.ptr + at + 1, ring->roots.ptr + at, (ring->roots.len - at) * sizeof(root));
    ring->roots.ptr[at] = (root){.state = vls_ring_state_ref(s)};
    ring->roots.len++;
    return true;
}

static void drop_root(vls_ring *ring, size_t at)
{
    vls_ring_state_unref(ring->roots.ptr[at].state);
    vls_pmap_release(&ring->roots.ptr[at].jail);
    ring->roots.len--;
    memmove(ring->roots.ptr + at, ring->roots.ptr + at + 1, (ring->roots.len - at) * sizeof(root));
}

static int64_t distance(const state *s, int64_t seq)
{
    return s->seq < seq ? seq - s->seq : s->seq - seq;
}

/* The nearest state from which commits lead to seq; NULL: none. */
static state *nearest(const vls_ring *ring, int64_t seq)
{
    size_t at = root_at(ring, seq);
    state *best = ring->recent && ring->recent->seq >= ring->edge ? ring->recent : NULL;

    for (size_t i = at > 0 ? at - 1 : 0; i <= at && i < ring->roots.len; i++) {
        state *s = ring->roots.ptr[i].state;
        if (s->seq >= ring->edge && (!best || distance(s, seq) < distance(best, seq)))
            best = s;
    }
    return best;
}

/* Keep where the walker is. What cannot be kept is made again. */
static void keep(walker *w)
{
    vls_pmap copy;
    state *s;

    if (w->seq % w->ring->root_every != 0 || find_root(w->ring, w->seq))
        return;
    vls_pmap_snapshot(&copy, &w->map);
    s = new_state(w->ring, w->seq, &copy, w->items);
    if (s)
        (void)add_root(w->ring, s);
    vls_ring_state_unref(s);
}

/* The walker becomes a state, and that the recent one. */
static int settle(state **out, walker *w)
{
    state *s = new_state(w->ring, w->seq, &w->map, w->items);

    if (!s)
        return VALISE_E_NO_MEMORY;
    vls_ring_state_unref(w->ring->recent);
    w->ring->recent = vls_ring_state_ref(s);
    if (w->seq % w->ring->root_every == 0 && !find_root(w->ring, w->seq))
        (void)add_root(w->ring, s);
    *out = s;
    return 0;
}

static int make_newest(vls_ring *ring)
{
    walker w = {.ring = ring};
    state *s = NULL;
    int rc = start_newest(&w);

    if (rc == 0)
        rc = settle(&s, &w);
    vls_pmap_release(&w.map);
    if (rc == 0 && !find_root(ring, s->seq) && !add_root(ring, s))
        rc = VALISE_E_NO_MEMORY;
    vls_ring_state_unref(s);
    return rc;
}

static int make(state **out, vls_ring *ring, int64_t seq)
{
    walker w = {.ring = ring};
    state *from = nearest(ring, seq);
    int rc = 0;

    if (!from) {
        rc = make_newest(ring);
        if (rc < 0)
            return rc;
        from = nearest(ring, seq);
    }
    if (from->seq == seq) {
        *out = vls_ring_state_ref(from);
        return 0;
    }
    vls_pmap_snapshot(&w.map, &from->map);
    w.seq = from->seq;
    w.items = from->items;
    while (w.seq != seq && rc == 0) {
        rc = step(&w, w.seq < seq);
        if (rc == 0)
            keep(&w);
    }
    if (rc == 0)
        rc = settle(out, &w);
    vls_pmap_release(&w.map);
    return rc;
}

int vls_ring_state_at(state **out, vls_ring *ring, int64_t seq, valise_error *err)
{
    root *exact = find_root(ring, seq);
    int rc;

    if (exact) {
        *out = vls_ring_state_ref(exact->state);
        return 0;
    }
    if (seq < ring->edge || seq > ring->last) {
        rc = vls_fail(err, VALISE_E_LIMIT, "the state after commit %lld is no longer kept",
                      (long long)seq);
        vls_hint(err, "the states from %lld to %lld are", (long long)ring->edge,
                 (long long)ring->last);
        return rc;
    }
    rc = make(out, ring, seq);
    return rc < 0 ? vls_fail(err, rc, "no memory for the state after commit %lld", (long long)seq)
                  : 0;
}

int vls_ring_state_found(vls_ring *ring, const state *from, valise_error *err)
{
    vls_pmap copy;

    ring->last_time = ring->edge_time = from->time;
    vls_pmap_snapshot(&copy, &from->map);
    ring->base = new_state(ring, 0, &copy, from->items);
    if (!ring->base || !add_root(ring, ring->base))
        return vls_fail_memory(err);
    ring->items = from->items;
    return 0;
}

/* ---- checkpoints ---- */

int vls_ring_state_hold(vls_ring *ring, int64_t seq, valise_error *err)
{
    VLS_AUTO(ring_state) state *s = NULL;
    root *r = find_root(ring, seq);
    int rc;

    if (!r) {
        rc = vls_ring_state_at(&s, ring, seq, err);
        if (rc < 0)
            return rc;
        if (!find_root(ring, seq) && !add_root(ring, s))
            return vls_fail_memory(err);
        r = find_root(ring, seq);
    }
    r->holds++;
    return 0;
}

void vls_ring_state_let_go(vls_ring *ring, int64_t seq)
{
    size_t at = root_at(ring, seq);
    root *r = &ring->roots.ptr[at];

    assert(at < ring->roots.len && r->state->seq == seq && r->holds > 0);
    if (--r->holds == 0 && (seq < ring->edge || seq % ring->root_every != 0))
        drop_root(ring, at);
}

/* ---- the edge ---- */

static void drop_roots(vls_ring *ring, int64_t before)
{
    for (size_t i = ring->roots.len; i > 0; i--) {
        const root *r = &ring->roots.ptr[i - 1];
        if (r->holds == 0 && r->state->seq < before)
            drop_root(ring, i - 1);
    }
}

/* Make the root's state one that nobody else has. False: out of memory. */
static bool own_root(vls_ring *ring, root *r)
{
    vls_pmap copy;
    state *s;

    if (vls_ref_single(&r->state->refs))
        return true;
    vls_pmap_snapshot(&copy, &r->state->map);
    s = new_state(ring, r->state->seq, &copy, r->state->items);
    if (!s)
        return false;
    s->time = r->state->time;
    vls_ring_state_unref(r->state);
    r->state = s;
    return true;
}

void vls_ring_states_forget(vls_ring *ring, const record *gone)
{
    valise_str key = vls_ring_key_str(gone->key);
    root *newest;

    vls_ring_state_unref(ring->recent);
    ring->recent = NULL;
    if (ring->roots.len == 0)
        return;
    newest = &ring->roots.ptr[ring->roots.len - 1];
    if (vls_pmap_get(&newest->state->map, key) != gone)
        return;
    if (!own_root(ring, newest) || vls_pmap_remove(NULL, &newest->state->map, key) < 0)
        drop_roots(ring, INT64_MAX); /* they can be made again */
}

void vls_ring_states_trim(vls_ring *ring)
{
    if (ring->recent && ring->recent->seq < ring->edge) {
        vls_ring_state_unref(ring->recent);
        ring->recent = NULL;
    }
    drop_roots(ring, ring->edge);
    /* What is left before the edge is held; rows that were released since go now. */
    for (size_t i = 0; i < ring->roots.len && ring->roots.ptr[i].state->seq < ring->edge; i++) {
        root *r = &ring->roots.ptr[i];
        if (!r->jail.env)
            vls_pmap_snapshot(&r->jail, &ring->rows[VLS_RING_QUARANTINES]);
    }
}

void vls_ring_jail_at(vls_pmap *out, const vls_ring *ring, int64_t seq)
{
    const root *r = seq < ring->edge ? find_root(ring, seq) : NULL;

    vls_pmap_snapshot(out, r && r->jail.env ? &r->jail : &ring->rows[VLS_RING_QUARANTINES]);
}

void vls_ring_states_release(vls_ring *ring)
{
    while (ring->roots.len > 0)
        drop_root(ring, ring->roots.len - 1);
    vls_vec_release(&ring->roots, ring->env);
    vls_ring_state_unref(ring->recent);
    ring->recent = NULL;
}
