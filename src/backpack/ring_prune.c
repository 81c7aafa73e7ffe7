/* ring_prune.c -- the bounds of the history, and the exact edge. [B8]
 *
 * A commit that leaves the ring becomes a part of the state at the edge, in the place of what it
 * superseded, which is let go:
 *
 *     before   a <- b <- [c <- d]      edge state: b        [ ]: in the ring
 *     after         c    <- [d]        edge state: c; b is freed unless somebody holds it
 *
 * One that is no item and the newest of its key takes the key along. It stays, unseen, while other
 * records of the key are kept (what checkpoints and the quarantine hold), since versions count on;
 * and in a fork where the base has the key: it is what hides it. */
#include "backpack/ring_impl.h"

typedef vls_ring_record record;

static bool may_go(const vls_ring *ring, const record *r)
{
    return !vls_ring_is_item(r) && !vls_ring_counts(ring, r);
}

void vls_ring_forget_alone(vls_ring *ring, vls_ring_key *key)
{
    record *r = key->newest;

    if (r && !r->kept && may_go(ring, r))
        vls_ring_forget(ring, r);
}

static void take_out(vls_ring *ring, record *r)
{
    record *prev = r->prev;
    bool is_newest = !r->superseded;

    r->prev = NULL;
    vls_ring_recount(ring, r, is_newest ? 0 : 1, -1);
    if (prev && vls_ring_is_own(ring, prev))
        vls_ring_recount(ring, prev, -1, 0);
    if (prev)
        vls_ring_record_unref(prev);
    if (is_newest && may_go(ring, r))
        vls_ring_forget(ring, r);
    vls_ring_record_unref(r);
}

/* Have memory at hand that take_out will need soon. A long history lies in no cache. */
static void fetch(const vls_ring *ring, int64_t seq, int64_t edge)
{
    const record *r;

    if (seq + 24 > edge)
        return;
    r = vls_ring_at(ring, seq + 24);
    __builtin_prefetch(r);
    __builtin_prefetch(&r->rare); /* records lie across lines */
    r = vls_ring_at(ring, seq + 14);
    __builtin_prefetch(r->value ? &r->value->pins : NULL);
    __builtin_prefetch(r->prev);
    __builtin_prefetch(r->prev ? &r->prev->rare : NULL);
    r = vls_ring_at(ring, seq + 6)->prev;
    __builtin_prefetch(r ? r->key : NULL);
    if (r && r->value)
        __builtin_prefetch(&r->value->pins);
}

void vls_ring_prune_to(vls_ring *ring, int64_t edge)
{
    assert(edge <= ring->last);
    if (ring->edge < edge)
        ring->edge_time = vls_ring_at(ring, edge)->time;
    while (ring->edge < edge) {
        record *r = vls_ring_at(ring, ring->edge + 1);
        fetch(ring, ring->edge + 1, edge);
        ring->edge++;
        take_out(ring, r);
    }
    vls_ring_states_trim(ring);
    vls_ring_rows_trim(ring);
}

/* ---- the bounds ---- */

static bool is_over(const vls_ring *ring)
{
    int64_t commits = ring->last - ring->edge;

    return commits > ring->keep &&
           (commits > ring->max_commits ||
            commits * VLS_BAG_COMMIT_BYTES + ring->sums.history_values > ring->max_bytes);
}

static void drop_first(vls_ring *ring, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vls_ring_record_unref(ring->dropped.ptr[i]);
    ring->dropped.len -= count;
    memmove(ring->dropped.ptr, ring->dropped.ptr + count,
            ring->dropped.len * sizeof(*ring->dropped.ptr));
    if (ring->dropped.len == 0)
        vls_vec_release(&ring->dropped, ring->env);
}

/* An archive that takes nothing must not make the ring grow without bound: as much as history may
 * hold waits on, and what is older is lost. */
static void lose_oldest(vls_ring *ring)
{
    size_t left = ring->dropped.len;
    int64_t count = 0, bytes = 0;

    for (; left > 0; left--) {
        const record *r = ring->dropped.ptr[left - 1];
        bytes += VLS_BAG_COMMIT_BYTES + (r->value ? vls_ring_value_size(r->value) : 0);
        if (++count > ring->max_commits || bytes > ring->max_bytes)
            break;
    }
    if (left > 0)
        drop_first(ring, left);
    ring->lost += (int64_t)left;
}

/* Without memory for the archive's list nothing is dropped now. */
static bool archive(vls_ring *ring, int64_t edge)
{
    size_t count = (size_t)(edge - ring->edge);

    if (!vls_vec_reserve(&ring->dropped, ring->env, ring->dropped.len + count))
        return false;
    for (int64_t seq = ring->edge + 1; seq <= edge; seq++)
        (void)vls_ring_list_add(&ring->dropped, ring->env, vls_ring_at(ring, seq));
    if (ring->archive_fails && !ring->archiving)
        lose_oldest(ring);
    return true;
}

void vls_ring_prune(vls_ring *ring)
{
    if (VLS_UNLIKELY(ring->rows[VLS_RING_RUNS].len > ring->runs_most))
        vls_ring_rows_trim(ring);
    while (is_over(ring)) {
        int64_t commits = ring->last - ring->edge;
        int64_t fifth = VLS_MAX(commits / 5, 1);
        int64_t edge = ring->edge + VLS_MIN(fifth, commits - ring->keep);

        if (ring->archive && !archive(ring, edge))
            return;
        ring->pruned.commits += edge - ring->edge;
        vls_ring_prune_to(ring, edge);
        ring->pruned.edge = edge;
        atomic_store_explicit(&ring->has_pruned, true, memory_order_relaxed);
    }
}

/* Whose commit pruned sees that itself, whatever others see when. */
void vls_ring_take_pruned(vls_ring_pruned *out, vls_ring *ring)
{
    *out = (vls_ring_pruned){0};
    if (!atomic_load_explicit(&ring->has_pruned, memory_order_relaxed))
        return;
    vls_ring_lock(ring);
    *out = ring->pruned;
    out->edge = ring->edge;
    ring->pruned = (vls_ring_pruned){0};
    atomic_store_explicit(&ring->has_pruned, false, memory_order_relaxed);
    vls_ring_unlock(ring);
}

/* ---- the archive ---- */

/* The first of those that wait, with references of the caller's: 1, or 0 where there are none for
 * this thread. Whoever was called by what is being put there goes on behind it. */
static int take_dropped(vls_ring_list *out, vls_ring *ring, bool wait)
{
    size_t bytes = 0, count;
    int rc = 0;

    vls_ring_lock(ring);
    while (ring->archiving && !pthread_equal(ring->archiver, pthread_self()) &&
           (wait || ring->dropped.len > (size_t)ring->max_commits))
        (void)pthread_cond_wait(&ring->archived, &ring->lock);
    count = ring->archiving ? 0 : VLS_MIN(ring->dropped.len, (size_t)VLS_RING_DROPPED_COMMITS);
    for (size_t i = 0; rc >= 0 && i < count && bytes < VLS_RING_DROPPED_BYTES; i++) {
        const record *r = ring->dropped.ptr[i];
        bytes += r->value && r->value->blob ? r->value->blob->len : 0;
        rc = vls_ring_list_add(out, ring->env, ring->dropped.ptr[i]) ? 1 : VALISE_E_NO_MEMORY;
    }
    if (rc > 0) {
        ring->archiving = true;
        ring->archiver = pthread_self();
    }
    vls_ring_unlock(ring);
    return rc;
}

/* The first `count` are in the archive now; or it failed. */
static void let_go(vls_ring *ring, size_t count, bool failed)
{
    vls_ring_lock(ring);
    drop_first(ring, count);
    if (failed)
        lose_oldest(ring);
    ring->archive_fails = failed;
    ring->archiving = false;
    (void)pthread_cond_broadcast(&ring->archived);
    vls_ring_drain(ring);
    vls_ring_unlock(ring);
}

int vls_ring_dropped(vls_ring *ring, bool wait, vls_ring_dropped_fn *each,
                     int (*done)(void *arg, valise_error *err), void *arg, valise_error *err)
{
    vls_ring_list taken = VLS_VEC_INIT;
    int rc = take_dropped(&taken, ring, wait);

    if (rc <= 0) {
        vls_ring_list_release(&taken, ring->env);
        return rc < 0 ? vls_fail_memory(err) : 0;
    }
    rc = 0;
    for (size_t i = 0; i < taken.len && rc == 0; i++) {
        const record *r = taken.ptr[i];
        valise_commit commit;
        vls_ring_fill(&commit, r);
        rc = each(arg, &commit, r->value ? r->value->blob : NULL, err);
    }
    if (rc == 0)
        rc = done(arg, err);
    let_go(ring, rc == 0 ? taken.len : 0, rc < 0);
    vls_ring_list_release(&taken, ring->env);
    return rc;
}

int64_t vls_ring_take_lost(vls_ring *ring)
{
    int64_t lost;

    vls_ring_lock(ring);
    lost = ring->lost;
    ring->lost = 0;
    vls_ring_unlock(ring);
    return lost;
}
