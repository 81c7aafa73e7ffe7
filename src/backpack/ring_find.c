/* ring_find.c -- commits by their numbers, and their values.
 *
 * A commit that has left the ring is looked for among those that are kept as a part of a state: by
 * going through them, which is slow and seldom.
 *
 * A fork asks its origins. It then holds its own mutex and takes theirs: always from the fork to
 * the origin. */
#include "backpack/ring_impl.h"

#include "base/hash.h"
#include "base/uuid.h"

typedef vls_ring_record record;
typedef vls_ring_lens lens;

/* ---- commits ---- */

static bool is_item_at(const vls_ring *ring, const record *r, int64_t seq)
{
    return r && r->seq == seq && vls_ring_is_own(ring, r) && vls_ring_is_item(r);
}

/* An item that `ring` made, in a map. */
static record *find_in_map(const vls_pmap *map, const vls_ring *ring, int64_t seq)
{
    vls_pmap_cursor cursor;

    for (record *r = vls_pmap_first(&cursor, map); r; r = vls_pmap_next(&cursor)) {
        if (is_item_at(ring, r, seq))
            return r;
    }
    return NULL;
}

/* A commit of this ring: in the window, or an item of the state at the edge. */
static record *find_own(vls_ring *ring, int64_t seq)
{
    record *r;
    size_t at = 0;

    if (seq > ring->edge && seq <= ring->last)
        return vls_ring_at(ring, seq);
    r = vls_ring_held_record(ring, &ring->id, seq);
    for (const vls_ring_key *key; !r && (key = vls_ring_table_next(&ring->live, &at));) {
        if (is_item_at(ring, key->newest, seq))
            r = key->newest;
    }
    for (int64_t i = ring->edge + 1; !r && i <= ring->last; i++) {
        if (is_item_at(ring, vls_ring_at(ring, i)->prev, seq))
            r = vls_ring_at(ring, i)->prev;
    }
    return r;
}

/* A commit of an origin: a reference. */
static record *find_origin(vls_ring *ring, vls_ring *origin, int64_t seq)
{
    record *r = vls_ring_held_record(ring, &origin->id, seq);

    if (!r)
        r = find_in_map(&ring->base->map, origin, seq);
    if (r) {
        vls_ref_get(&r->refs);
        return r;
    }
    vls_ring_lock(origin);
    r = find_own(origin, seq);
    if (r)
        vls_ref_get(&r->refs);
    vls_ring_unlock(origin);
    return r;
}

bool vls_ring_op_includes(void *self, const valise_uuid *backpack, int64_t seq)
{
    const lens *l = self;
    const vls_ring *ring = l->ring;
    int64_t upto = l->state ? l->upto : ring->last;

    while (ring && !vls_uuid_equal(&ring->id, backpack)) {
        upto = ring->origin_seq;
        ring = ring->origin;
    }
    return ring && seq <= upto;
}

/* A reference. The ring's mutex is held. */
static record *find(const lens *l, const valise_uuid *backpack, int64_t seq)
{
    vls_ring *ring = l->ring, *from = ring;
    int64_t upto = l->state ? l->upto : ring->last;
    record *r;

    while (from && !vls_uuid_equal(&from->id, backpack)) {
        upto = from->origin_seq;
        from = from->origin;
    }
    if (!from || seq > upto || seq < 1)
        return NULL;
    if (from != ring)
        return find_origin(ring, from, seq);
    r = find_own(ring, seq);
    if (!r && l->state)
        r = vls_ring_jailed_record(&l->jail, backpack, seq);
    if (!r && l->state)
        r = find_in_map(&l->state->map, ring, seq);
    if (r)
        vls_ref_get(&r->refs);
    return r;
}

int vls_ring_op_commit(valise_commit *out, void *self, const valise_uuid *backpack, int64_t seq,
                       valise_error *err)
{
    lens *l = self;
    record *r;
    int rc = 0;

    if (l->state)
        vls_ring_lock(l->ring);
    r = find(l, backpack, seq);
    if (r) {
        rc = vls_ring_lend(l, r, err);
        if (rc == 0) {
            vls_ring_fill(out, r);
            rc = 1;
        }
        vls_ring_record_unref(r);
    }
    if (l->state)
        vls_ring_unlock(l->ring);
    return rc;
}

/* ---- values ---- */

static valise_blob *blob_of(const record *r, const valise_id *id)
{
    return r && r->value && vls_id_equal(&r->value->id, id) ? valise_blob_ref(r->value->blob)
                                                            : NULL;
}

/* In the tables of the ring, whose mutex is held, and of its origins. */
static valise_blob *find_blob(vls_ring *ring, const valise_id *id)
{
    const vls_ring_value *v = vls_ring_value_find(ring, id);
    valise_blob *blob = v ? valise_blob_ref(v->blob) : NULL;

    for (ring = ring->origin; ring && !blob; ring = ring->origin) {
        vls_ring_lock(ring);
        v = vls_ring_value_find(ring, id);
        if (v)
            blob = valise_blob_ref(v->blob);
        vls_ring_unlock(ring);
    }
    return blob;
}

static valise_blob *find_live(vls_ring *ring, const valise_commit *commit)
{
    const vls_ring_seen *seen = &ring->seen;
    valise_blob *blob = NULL;

    /* Mostly that of the key that was just looked for. */
    if (seen->is_set && seen->slot)
        blob = blob_of(seen->slot->newest, &commit->value);
    return blob ? blob : find_blob(ring, &commit->value);
}

static valise_blob *find_frozen(const lens *l, const valise_commit *commit)
{
    valise_blob *blob = blob_of(vls_pmap_get(&l->state->map, commit->key), &commit->value);

    if (!blob) {
        vls_ring_lock(l->ring);
        blob = find_blob(l->ring, &commit->value);
        vls_ring_unlock(l->ring);
    }
    return blob;
}

int vls_ring_op_value(valise_blob **out, void *self, const valise_commit *commit, valise_error *err)
{
    lens *l = self;
    valise_blob *blob = l->state ? find_frozen(l, commit) : find_live(l->ring, commit);

    if (!blob)
        return vls_fail(err, VALISE_E_NOT_FOUND, "the value of '%.*s' is gone",
                        VALISE_STR_ARG(commit->key));
    *out = blob;
    return 0;
}
