/* ring_walk.c -- going through items, versions and commits, and what differs.
 *
 * Nobody calls back with the mutex held: walks take references first, of a state or of a page of
 * records. */
#include "backpack/ring_impl.h"

typedef vls_ring_record record;
typedef vls_ring_state state;
typedef vls_ring_lens lens;

static int64_t upto_of(const lens *l)
{
    return l->state ? l->upto : l->ring->last;
}

static int64_t edge_of(lens *l)
{
    int64_t edge = l->edge;

    if (l->state)
        return edge;
    vls_ring_lock(l->ring);
    edge = l->ring->edge;
    vls_ring_unlock(l->ring);
    return edge;
}

/* The state that is shown: a reference. */
static int state_of(state **out, lens *l, valise_error *err)
{
    int rc;

    if (l->state) {
        *out = vls_ring_state_ref(l->state);
        return 0;
    }
    vls_ring_lock(l->ring);
    rc = vls_ring_state_at(out, l->ring, l->ring->last, err);
    vls_ring_unlock(l->ring);
    return rc;
}

int vls_ring_op_each_item(void *self, valise_commit_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(ring_state) state *s = NULL;
    vls_pmap_cursor cursor;
    int rc = state_of(&s, self, err);

    if (rc < 0)
        return rc;
    for (record *r = vls_pmap_seek(&cursor, &s->map, VLS_STR("")); r && rc == 0;
         r = vls_pmap_next(&cursor)) {
        valise_commit commit;
        if (!vls_ring_is_item(r))
            continue;
        vls_ring_fill(&commit, r);
        rc = fn(arg, &commit, err);
    }
    return rc;
}

int vls_ring_op_each_gone(void *self, valise_commit_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(ring_state) state *s = NULL;
    const vls_ring *ring = ((lens *)self)->ring;
    int64_t edge = edge_of(self);
    vls_pmap_cursor cursor;
    int rc = state_of(&s, self, err);

    if (rc < 0)
        return rc;
    for (record *r = vls_pmap_first(&cursor, &s->map); r && rc == 0; r = vls_pmap_next(&cursor)) {
        valise_commit commit;
        if (vls_ring_is_item(r) || !(vls_ring_is_shown(ring, edge, r) || vls_ring_counts(ring, r)))
            continue;
        vls_ring_fill(&commit, r);
        rc = fn(arg, &commit, err);
    }
    return rc;
}

/* ---- versions ---- */

/* The versions from r on that its ring has. */
static int add_versions(vls_ring_list *list, record *r, int64_t edge)
{
    vls_ring *ring = r->label->ring;
    int rc = 0;

    vls_ring_lock(ring);
    for (; r && rc == 0 && vls_ring_is_own(ring, r); r = r->prev) {
        if (vls_ring_is_shown(ring, edge, r) && !vls_ring_list_add(list, ring->env, r))
            rc = VALISE_E_NO_MEMORY;
    }
    vls_ring_unlock(ring);
    return rc;
}

/* Down to the ring that made it: what was the edge there? */
static int64_t edge_for(const vls_ring *ring, int64_t edge, const record *r)
{
    for (; r->label->ring != ring; ring = ring->origin)
        edge = ring->origin_edge;
    return edge;
}

/* The newest record of the key in the state that is shown: a reference, or NULL. */
static record *newest_of(int64_t *edge, lens *l, valise_str key)
{
    record *r;

    if (l->state) {
        r = vls_pmap_get(&l->state->map, key);
        *edge = l->edge;
        if (r)
            vls_ref_get(&r->refs);
        return r;
    }
    vls_ring_lock(l->ring);
    r = vls_ring_newest_of(l->ring, key);
    *edge = l->ring->edge;
    if (r)
        vls_ref_get(&r->refs);
    vls_ring_unlock(l->ring);
    return r;
}

int vls_ring_op_each_version(void *self, valise_str key, valise_commit_fn *fn, void *arg,
                             valise_error *err)
{
    lens *l = self;
    const valise_env *env = l->ring->env;
    vls_ring_list list = VLS_VEC_INIT;
    int64_t edge = 0;
    record *r = newest_of(&edge, l, key);
    int rc = 0;

    while (r && rc == 0) {
        const vls_ring_state *base = r->label->ring->base;
        record *next = base ? vls_pmap_get(&base->map, key) : NULL;
        rc = add_versions(&list, r, edge_for(l->ring, edge, r));
        vls_ring_record_unref(r);
        r = next;
        if (r)
            vls_ref_get(&r->refs);
    }
    if (r)
        vls_ring_record_unref(r);
    rc = rc < 0 ? vls_fail_memory(err) : vls_ring_list_walk(&list, fn, arg, err);
    vls_ring_list_release(&list, env);
    return rc;
}

/* ---- commits ---- */

/* The next page of [*first, *last], which gets smaller. */
static int next_page(vls_ring_list *page, lens *l, int64_t *first, int64_t *last, bool reverse)
{
    vls_ring *ring = l->ring;
    int64_t upto;
    int rc = 0;

    vls_ring_lock(ring);
    upto = upto_of(l);
    *first = VLS_MAX(*first, ring->edge + 1);
    *last = VLS_MIN(*last, upto);
    while (*first <= *last && page->len < VLS_RING_PAGE && rc == 0) {
        record *r = vls_ring_at(ring, reverse ? *last : *first);
        if (!vls_ring_list_add(page, ring->env, r))
            rc = VALISE_E_NO_MEMORY;
        else if (reverse)
            --*last;
        else
            ++*first;
    }
    vls_ring_unlock(ring);
    return rc;
}

int vls_ring_op_each_commit(void *self, int64_t first, int64_t last, bool reverse,
                            valise_commit_fn *fn, void *arg, valise_error *err)
{
    lens *l = self;
    int rc = 0;
    bool more = true;

    while (more && rc == 0) {
        vls_ring_list page = VLS_VEC_INIT;
        if (next_page(&page, l, &first, &last, reverse) < 0)
            rc = vls_fail_memory(err);
        more = page.len > 0 && first <= last;
        if (rc == 0)
            rc = vls_ring_list_walk(&page, fn, arg, err);
        vls_ring_list_release(&page, l->ring->env);
    }
    return rc;
}

/* ---- differences ---- */

typedef struct difference {
    const lens *a, *b;
    int64_t edge_a, edge_b;
    int (*fn)(void *arg, const valise_commit *in_self, const valise_commit *in_other,
              valise_error *err);
    void *arg;
    valise_error *err;
} difference;

static int report(void *arg, void *in_a, void *in_b)
{
    const difference *d = arg;
    const record *a = in_a, *b = in_b;
    valise_commit x, y;

    if (a && !vls_ring_is_shown(d->a->ring, d->edge_a, a))
        a = NULL;
    if (b && !vls_ring_is_shown(d->b->ring, d->edge_b, b))
        b = NULL;
    if (!a && !b)
        return 0;
    if (a)
        vls_ring_fill(&x, a);
    if (b)
        vls_ring_fill(&y, b);
    return d->fn(d->arg, a ? &x : NULL, b ? &y : NULL, d->err);
}

int vls_ring_op_each_difference(void *self, void *other,
                                int (*fn)(void *arg, const valise_commit *in_self,
                                          const valise_commit *in_other, valise_error *err),
                                void *arg, valise_error *err)
{
    VLS_AUTO(ring_state) state *a = NULL;
    VLS_AUTO(ring_state) state *b = NULL;
    difference d = {.a = self, .b = other, .fn = fn, .arg = arg, .err = err};
    int rc = state_of(&a, self, err);

    if (rc == 0)
        rc = state_of(&b, other, err);
    if (rc < 0 || a == b)
        return rc;
    assert(a && b);
    if (d.a->ring == d.b->ring && a->seq == b->seq)
        return 0;
    d.edge_a = edge_of(self);
    d.edge_b = edge_of(other);
    return vls_pmap_diff(&a->map, &b->map, report, &d);
}
