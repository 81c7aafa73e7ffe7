/* rows_usage.c -- how much a durable backpack holds, counted anew each time.
 *
 * The numbers mean what they mean for a ring (ring_record.c). Every commit of the backpack counts
 * once, as 128 bytes, and every value once, however many commits have it:
 *
 *     a commit behind the edge    history
 *     one up to the edge          state, if the present, the edge or the quarantine needs it; else
 *                                 held
 *     a value                     state, if something of the state has it; else history; else held
 *
 * What a fork began with is its origin's. Values that other backpacks have as well are counted for
 * each. */
#include "backpack/rows.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/uuid.h"

typedef struct counting {
    const vls_rows *rows;
    valise_usage usage;
    int64_t edge;
    vls_arena arena;
    vls_map values;  /* ids that were counted */
    vls_map commits; /* seqs up to the edge that were */
    uint64_t seed;
} counting;

static bool is_id(const void *item, const void *key)
{
    return vls_id_equal(item, key);
}

static bool is_seq(const void *item, const void *key)
{
    return *(const int64_t *)item == *(const int64_t *)key;
}

/* Is it new to the map? 1, or 0. */
static int note(counting *c, vls_map *map, const void *key, size_t size, valise_error *err)
{
    uint64_t hash = vls_str_hash(vls_str(key, size), c->seed);
    void *copy;

    if (vls_map_get(map, hash, key))
        return 0;
    copy = vls_arena_alloc(&c->arena, size);
    if (!copy)
        return vls_arena_fail(&c->arena, err);
    memcpy(copy, key, size);
    return vls_map_put(NULL, map, hash, copy, copy) < 0 ? vls_fail_memory(err) : 1;
}

/* Add what was not counted yet to one of the sums. Commits behind the edge are history's. */
static int count_commit(int64_t *bytes, counting *c, const valise_commit *commit, valise_error *err)
{
    int rc = 0;

    if (!vls_uuid_equal(&commit->backpack, &c->rows->bag.id))
        return 0;
    if (commit->seq <= c->edge)
        rc = note(c, &c->commits, &commit->seq, sizeof(commit->seq), err);
    if (rc > 0)
        *bytes += VLS_BAG_COMMIT_BYTES;
    if (rc >= 0 && !vls_id_is_none(&commit->value)) {
        rc = note(c, &c->values, &commit->value, sizeof(commit->value), err);
        if (rc > 0)
            *bytes += commit->value_size;
    }
    return vls_settle(rc);
}

static int count_state(void *arg, const valise_commit *commit, valise_error *err)
{
    counting *c = arg;

    return count_commit(&c->usage.state_bytes, c, commit, err);
}

static int count_item(void *arg, const valise_commit *commit, valise_error *err)
{
    counting *c = arg;

    c->usage.items++;
    return count_state(c, commit, err);
}

/* What a state from the edge on has in quarantine: the item, and the commit that put it there. */
static int count_entry(void *arg, const void *row, valise_error *err)
{
    counting *c = arg;
    const vls_quarantine_row *entry = row;
    const vls_rows_range item = {&entry->item_backpack, entry->item, entry->item, false},
                         put = {&c->rows->bag.id, entry->seq, entry->seq, false};
    int rc = 0;

    c->usage.quarantined += entry->released == 0;
    if (entry->released != 0 && entry->released <= c->edge)
        return 0;
    if (entry->item > 0)
        rc = vls_rows_each(c->rows, &item, count_state, c, err);
    return rc < 0 || !vls_uuid_equal(&entry->from, &(valise_uuid){{0}})
               ? rc
               : vls_rows_each(c->rows, &put, count_state, c, err);
}

/* The state at the edge is exact, whatever has become of its items since. */
static int count_edge(counting *c, void *self, valise_error *err)
{
    const vls_ledger ledger = vls_rows_ledger(self);
    vls_ledger edge;
    int rc;

    if (c->edge == 0 || c->edge > c->rows->upto)
        return 0;
    rc = ledger.ops->freeze(&edge, self, c->edge, err);
    if (rc < 0)
        return rc;
    rc = edge.ops->each_item(edge.self, count_state, c, err);
    if (rc == 0)
        rc = edge.ops->each_gone(edge.self, count_state, c, err);
    edge.ops->release(edge.self);
    return rc;
}

static int count_history(void *arg, const valise_commit *commit, valise_error *err)
{
    counting *c = arg;

    c->usage.commits++;
    c->usage.history_bytes += VLS_BAG_COMMIT_BYTES;
    if (c->usage.first_seq == 0)
        c->usage.first_seq = commit->seq;
    c->usage.last_seq = commit->seq;
    return count_commit(&c->usage.history_bytes, c, commit, err);
}

static int count_held(void *arg, const valise_commit *commit, valise_error *err)
{
    counting *c = arg;

    return count_commit(&c->usage.held_bytes, c, commit, err);
}

static int count_read(void *arg, const vls_ledger_read *read, valise_error *err)
{
    counting *c = arg;

    (void)err;
    c->usage.reads++;
    c->usage.read_bytes += VLS_BAG_COMMIT_BYTES + (int64_t)read->key.len;
    return 0;
}

static int count(counting *c, void *self, valise_error *err)
{
    const vls_ledger ledger = vls_rows_ledger(self);
    const vls_rows_range old = {&c->rows->bag.id, 0, c->edge, false};
    int rc = ledger.ops->each_item(self, count_item, c, err);

    if (rc == 0)
        rc = ledger.ops->each_gone(self, count_state, c, err);
    if (rc == 0)
        rc = ledger.ops->each_row(self, &vls_bag_quarantines, count_entry, c, err);
    if (rc == 0)
        rc = count_edge(c, self, err);
    if (rc == 0)
        rc = ledger.ops->each_commit(self, 0, INT64_MAX, false, count_history, c, err);
    if (rc == 0)
        rc = vls_rows_each(c->rows, &old, count_held, c, err);
    return rc < 0 ? rc : ledger.ops->each_read(self, count_read, c, err);
}

int vls_rows_usage(valise_usage *out, void *self, valise_error *err)
{
    const vls_rows *rows = self;
    const valise_env *env = rows->view->arena.env;
    const vls_ledger ledger = vls_rows_ledger(self);
    counting c = {
        .rows = rows, .usage = {.size = sizeof(c.usage)}, .seed = (uint64_t)(uintptr_t)rows};
    vls_ledger_head head;
    int rc;

    ledger.ops->enter(self);
    rc = ledger.ops->head(&head, self, err);
    ledger.ops->leave(self);
    if (rc < 0)
        return rc;
    c.edge = head.edge;
    vls_arena_init(&c.arena, env, VLS_VIEW_MAX_BYTES);
    vls_map_init(&c.values, env, is_id);
    vls_map_init(&c.commits, env, is_seq);
    rc = count(&c, self, err);
    vls_map_release(&c.commits);
    vls_map_release(&c.values);
    vls_arena_release(&c.arena);
    if (rc == 0)
        *out = c.usage;
    return rc;
}
