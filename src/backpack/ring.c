/* ring.c -- rings and the ledgers that show them: beginning, end, enter and leave. Start with
 * ring_impl.h. */
#include "backpack/ring_impl.h"

#include "base/mem.h"

typedef vls_ring_record record;
typedef vls_ring_lens lens;

/* Bytes of rows that are handed out between enter and leave. */
#define ROWS_MAX ((size_t)256 << 20)

/* ---- enter and leave ---- */

void vls_ring_lock(vls_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
}

void vls_ring_unlock(vls_ring *ring)
{
    pthread_mutex_unlock(&ring->lock);
}

/* A record of the newest state's own ring stays until leave in any case. */
int vls_ring_lend(lens *l, record *r, valise_error *err)
{
    if (!l->state && vls_ring_is_own(l->ring, r))
        return 0;
    atomic_store_explicit(&l->used, true, memory_order_relaxed);
    return vls_ring_list_add(&l->lent, l->ring->env, r) ? 0 : vls_fail_memory(err);
}

static void take_back(lens *l)
{
    atomic_store_explicit(&l->used, false, memory_order_relaxed);
    vls_arena_reset(&l->arena);
    vls_ring_list_release(&l->lent, l->ring->env);
}

static void enter(void *self)
{
    vls_ring_lock(((lens *)self)->ring);
}

static void leave(void *self)
{
    lens *l = self;

    if (atomic_load_explicit(&l->used, memory_order_relaxed))
        take_back(l);
    vls_ring_prune(l->ring);
    vls_ring_drain_some(l->ring);
    vls_ring_unlock(l->ring);
}

/* Several threads may be in at once. What was handed out goes with the last of them. */
static void enter_frozen(void *self)
{
    (void)atomic_fetch_add_explicit(&((lens *)self)->inside, 1, memory_order_acquire);
}

static void leave_frozen(void *self)
{
    lens *l = self;

    if (atomic_fetch_sub_explicit(&l->inside, 1, memory_order_acq_rel) > 1 ||
        !atomic_load_explicit(&l->used, memory_order_relaxed))
        return;
    vls_ring_lock(l->ring);
    if (atomic_load_explicit(&l->inside, memory_order_acquire) == 0)
        take_back(l);
    vls_ring_unlock(l->ring);
}

static int head(vls_ledger_head *out, void *self, valise_error *err)
{
    lens *l = self;
    vls_ring *ring = l->ring;
    int rc = 0;

    if (l->state)
        vls_ring_lock(ring);
    else if (VLS_UNLIKELY(ring->open_run < 0))
        rc = vls_ring_know_run(ring, err);
    if (rc < 0)
        return rc;
    *out = (vls_ledger_head){.id = ring->id,
                             .name = ring->name,
                             .lenient = ring->lenient,
                             .taint = ring->taint,
                             .sticky = ring->sticky,
                             .origin_seq = ring->origin_seq,
                             .edge = ring->edge,
                             .last = ring->last,
                             .last_time = ring->last_time,
                             .last_run = ring->last_run,
                             .open_run = ring->edge < ring->last ? ring->open_run : 0,
                             .generation = ring->generation,
                             .max_commits = ring->max_commits,
                             .max_bytes = ring->max_bytes};
    if (ring->origin) {
        out->origin = ring->origin->id;
        out->origin_time = ring->base->time;
    }
    if (ring->last_label && !l->state) /* who looks at the past cannot hold it */
        out->last_node = ring->last_label->traits.node_id;
    if (l->state) {
        out->open_run = 0;
        out->last = l->upto;
        out->edge = VLS_MIN(ring->edge, l->upto);
        vls_ring_unlock(ring);
    }
    return 0;
}

static int present(valise_commit *out, void *self, valise_str key, valise_error *err)
{
    lens *l = self;
    vls_ring *ring = l->ring;
    record *r;
    int rc = 0;

    if (!l->state)
        return vls_ring_op_newest(out, self, key, err);
    vls_ring_lock(ring);
    r = vls_ring_newest_of(ring, key);
    if (r && vls_ring_is_shown(ring, ring->edge, r)) {
        rc = vls_ring_lend(l, r, err);
        if (rc == 0) {
            vls_ring_fill(out, r);
            rc = 1;
        }
    }
    vls_ring_unlock(ring);
    return rc;
}

/* ---- frozen ones ---- */

static int refuse(valise_error *err)
{
    return vls_fail(err, VALISE_E_UNSUPPORTED, "a state of the past cannot be changed");
}

static int append_frozen(void *self, valise_commit *commit, valise_blob *value, valise_error *err)
{
    (void)self;
    (void)commit;
    (void)value;
    return refuse(err);
}

static int set_edge_frozen(void *self, int64_t edge, valise_error *err)
{
    (void)self;
    (void)edge;
    return refuse(err);
}

static void release(void *self)
{
    lens *l = self;
    vls_ring *ring = l->ring;

    assert(l->state && atomic_load_explicit(&l->inside, memory_order_relaxed) == 0);
    take_back(l);
    vls_arena_release(&l->arena);
    vls_ring_state_unref(l->state);
    vls_pmap_release(&l->jail);
    vls_mem_free(ring->env, l, sizeof(*l));
    vls_ring_lock(ring);
    vls_ring_drain(ring);
    vls_ring_unlock(ring);
    vls_ring_unref(ring);
}

static int freeze(vls_ledger *out, void *self, int64_t upto, valise_error *err);

#define SHARED                                                                                     \
    .name = "ring", .head = head, .newest = vls_ring_op_newest, .present = present,                \
    .includes = vls_ring_op_includes, .version = vls_ring_op_version,                              \
    .each_gone = vls_ring_op_each_gone, .commit = vls_ring_op_commit, .value = vls_ring_op_value,  \
    .row_get = vls_ring_op_row_get, .row_put = vls_ring_op_row_put,                                \
    .row_delete = vls_ring_op_row_delete, .ran = vls_ring_op_ran,                                  \
    .read_add = vls_ring_op_read_add, .each_item = vls_ring_op_each_item,                          \
    .each_named = vls_ring_op_each_named, .each_version = vls_ring_op_each_version,                \
    .each_commit = vls_ring_op_each_commit, .each_difference = vls_ring_op_each_difference,        \
    .each_row = vls_ring_op_each_row, .each_read = vls_ring_op_each_read,                          \
    .usage = vls_ring_op_usage, .freeze = freeze

static const vls_ledger_ops frozen_ops = {SHARED,
                                          .enter = enter_frozen,
                                          .leave = leave_frozen,
                                          .append = append_frozen,
                                          .set_edge = set_edge_frozen,
                                          .release = release};

static const vls_ledger_ops live_ops = {SHARED, .enter = enter, .leave = leave,
                                        .append = vls_ring_op_append,
                                        .set_edge = vls_ring_op_set_edge};

static void lens_init(lens *l, vls_ring *ring)
{
    *l = (lens){.ring = ring, .lent = VLS_VEC_INIT};
    atomic_init(&l->inside, 0);
    atomic_init(&l->used, false);
    vls_arena_init(&l->arena, ring->env, ROWS_MAX);
}

/* What a frozen one shows. */
static int state_from(lens *l, const lens *from, valise_error *err)
{
    int rc = 0;

    l->edge = VLS_MIN(l->ring->edge, l->upto);
    if (from->state && l->upto > from->upto)
        return vls_fail(err, VALISE_E_LIMIT, "a state after commit %lld has no commit %lld",
                        (long long)from->upto, (long long)l->upto);
    if (from->state && l->upto == from->upto) {
        l->edge = from->edge;
        l->state = vls_ring_state_ref(from->state);
        vls_pmap_snapshot(&l->jail, &from->jail);
        return 0;
    }
    rc = vls_ring_state_at(&l->state, l->ring, l->upto, err);
    if (rc == 0)
        vls_ring_jail_at(&l->jail, l->ring, l->upto);
    return rc;
}

static int freeze(vls_ledger *out, void *self, int64_t upto, valise_error *err)
{
    const lens *from = self;
    vls_ring *ring = from->ring;
    lens *l = vls_mem_alloc(ring->env, sizeof(*l));
    int rc;

    if (!l)
        return vls_fail_memory(err);
    lens_init(l, ring);
    l->upto = upto;
    vls_ring_lock(ring);
    rc = state_from(l, from, err);
    vls_ring_unlock(ring);
    if (rc < 0) {
        vls_mem_free(ring->env, l, sizeof(*l));
        return rc;
    }
    vls_ring_ref(ring);
    *out = (vls_ledger){.ops = &frozen_ops, .self = l, .frozen = true};
    return 0;
}

/* ---- beginning ---- */

/* Trees are allocated here, so that usage knows of them. */
static void *tree_resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    vls_ring *ring = self;
    void *moved = ring->env->resize(ring->env->self, ptr, old_size, new_size);

    if (moved || new_size == 0) {
        (void)atomic_fetch_add_explicit(&ring->tree_bytes, new_size, memory_order_relaxed);
        (void)atomic_fetch_sub_explicit(&ring->tree_bytes, old_size, memory_order_relaxed);
    }
    return moved;
}

static int copy_options(vls_ring *ring, const vls_ring_options *options, valise_error *err)
{
    int rc = vls_arena_dup(&ring->name, &ring->kept, options->name, err);

    if (rc == 0)
        rc = vls_bag_take_tags(&ring->sticky, options->sticky, &ring->kept, err);
    return rc < 0 ? rc : vls_bag_copy_names(&ring->sticky, &ring->kept, err);
}

static void init(vls_ring *ring, const valise_env *env, const vls_ring_options *options)
{
    vls_ref_init(&ring->refs);
    ring->env = env;
    ring->tree_env = *env;
    ring->tree_env.self = ring;
    ring->tree_env.resize = tree_resize;
    atomic_init(&ring->tree_bytes, 0);
    atomic_init(&ring->dead, NULL);
    atomic_init(&ring->has_pruned, false);
    lens_init(&ring->newest, ring);
    vls_arena_init(&ring->kept, env, (size_t)1 << 20);
    ring->id = options->id;
    ring->lenient = options->lenient;
    ring->taint = options->taint;
    ring->archive = options->archive;
    ring->max_commits = options->max_commits ? options->max_commits : VLS_RING_MAX_COMMITS;
    ring->max_bytes = options->max_bytes ? options->max_bytes : VLS_RING_MAX_BYTES;
    ring->keep = VLS_RING_KEEP;
    ring->root_every = VLS_RING_ROOT;
    ring->generation = 1;
    vls_map_init(&ring->values, env, vls_ring_value_equal);
    vls_map_init(&ring->labels, env, vls_ring_label_equal);
    vls_map_init(&ring->space_map, env, vls_ring_space_equal);
    vls_ring_rows_init(ring);
}

int vls_ring_new(vls_ring **out, const valise_env *env, const vls_ring_options *options,
                 valise_error *err)
{
    vls_ring *ring;
    int rc;

    if (options->max_commits < 0 || options->max_bytes < 0)
        return vls_fail(err, VALISE_E_INVALID, "the bounds of a history must not be negative");
    ring = vls_mem_zalloc(env, sizeof(*ring));
    if (!ring)
        return vls_fail_memory(err);
    if (pthread_mutex_init(&ring->lock, NULL) != 0) {
        vls_mem_free(env, ring, sizeof(*ring));
        return vls_fail_memory(err);
    }
    (void)pthread_cond_init(&ring->archived, NULL);
    init(ring, env, options);
    rc = copy_options(ring, options, err);
    if (rc == 0 && env->random(env->self, &ring->seed, sizeof(ring->seed)) < 0)
        rc = vls_fail(err, VALISE_E_IO, "the environment provides no random bytes for a hash key");
    if (rc < 0) {
        vls_ring_unref(ring);
        return rc;
    }
    *out = ring;
    return 0;
}

static int check_depth(const vls_ring *ring, valise_error *err)
{
    size_t depth = 0;

    for (; ring; ring = ring->origin)
        depth++;
    return depth < VLS_BAG_DEPTH_MAX
               ? 0
               : vls_fail(err, VALISE_E_LIMIT, "forks of forks are nested %d deep already",
                          VLS_BAG_DEPTH_MAX);
}

static int64_t last_of(const lens *l)
{
    int64_t last = l->upto;

    if (!l->state) {
        vls_ring_lock(l->ring);
        last = l->ring->last;
        vls_ring_unlock(l->ring);
    }
    return last;
}

int vls_ring_fork(vls_ring **out, const vls_ledger *from, const vls_ring_options *options,
                  valise_error *err)
{
    VLS_AUTO(ring) vls_ring *ring = NULL;
    vls_ledger state = {0};
    const lens *l = from->self;
    int rc = check_depth(l->ring, err);

    if (rc == 0)
        rc = vls_ring_new(&ring, l->ring->env, options, err);
    if (rc == 0)
        rc = freeze(&state, from->self, last_of(l), err);
    if (rc < 0)
        return rc;
    l = state.self;
    assert(ring && l);
    ring->origin = vls_ring_ref(l->ring);
    ring->origin_seq = l->upto;
    ring->origin_edge = l->edge;
    rc = vls_ring_state_found(ring, l->state, err);
    if (rc == 0)
        rc = vls_ring_rows_fork(ring, ring->origin, &l->jail, l->upto, err);
    release(state.self);
    if (rc == 0)
        *out = VLS_TAKE(ring);
    return rc;
}

vls_ledger vls_ring_ledger(vls_ring *ring)
{
    return (vls_ledger){.ops = &live_ops, .self = &ring->newest};
}

/* ---- end ---- */

vls_ring *vls_ring_ref(vls_ring *ring)
{
    vls_ref_get(&ring->refs);
    return ring;
}

/* All commits leave, and then all keys. */
static void release_records(vls_ring *ring)
{
    size_t at = 0;

    vls_ring_prune_to(ring, ring->last);
    for (vls_ring_key *key; (key = vls_ring_table_next(&ring->live, &at));) {
        record *r = key->newest;
        if (vls_ring_is_item(r) && r->label->space)
            vls_ring_order_remove(&r->label->space->keys, &vls_ring_key_order, key);
        key->newest = NULL;
        vls_ring_recount(ring, r, -1, 0);
        vls_ring_record_unref(r);
    }
    vls_ring_list_release(&ring->dropped, ring->env);
}

static void free_ring(vls_ring *ring)
{
    const valise_env *env = ring->env;

    take_back(&ring->newest);
    vls_arena_release(&ring->newest.arena);
    vls_ring_states_release(ring);
    vls_ring_rows_release(ring);
    vls_ring_reads_release(ring);
    release_records(ring);
    vls_ring_state_unref(ring->base);
    vls_ring_label_drop(ring, ring->last_label);
    vls_ring_drain(ring);
    vls_ring_spare_release(ring);
    assert(ring->values.len == 0 && ring->labels.len == 0 && ring->space_map.len == 0);
    vls_ring_table_release(&ring->live, env);
    vls_map_release(&ring->values);
    vls_map_release(&ring->labels);
    vls_map_release(&ring->space_map);
    vls_ring_order_release(&ring->spaces, env);
    vls_mem_free(env, ring->slots, ring->cap * sizeof(record *));
    vls_arena_release(&ring->kept);
    (void)pthread_cond_destroy(&ring->archived);
    pthread_mutex_destroy(&ring->lock);
    vls_mem_free(env, ring, sizeof(*ring));
}

/* A fork goes before its origin, which may go with it. */
void vls_ring_unref(vls_ring *ring)
{
    while (ring && vls_ref_put(&ring->refs)) {
        vls_ring *origin = ring->origin;
        free_ring(ring);
        ring = origin;
    }
}
