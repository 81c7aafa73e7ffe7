/* rows_usage.c -- how much a durable backpack holds, counted anew each time.
 *
 * A value that several commits have is stored once, and counted once: with the state if an item or
 * an entry of the quarantine has it, else with history. Values that other backpacks have as well
 * are counted for each. */
#include "backpack/rows.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/uuid.h"

typedef struct counting {
    const vls_rows *rows;
    valise_usage usage;
    vls_arena arena;
    vls_map values; /* ids that were counted */
    uint64_t seed;
} counting;

static bool is_id(const void *item, const void *key)
{
    return vls_id_equal(item, key);
}

/* The bytes of a value that was not counted yet, else 0. */
static int count_value(int64_t *bytes, counting *c, const valise_commit *commit, valise_error *err)
{
    static const valise_id none;
    uint64_t hash = vls_str_hash(vls_str(&commit->value, sizeof(commit->value)), c->seed);
    valise_id *id;

    if (vls_id_equal(&commit->value, &none) || vls_map_get(&c->values, hash, &commit->value))
        return 0;
    id = vls_arena_alloc(&c->arena, sizeof(*id));
    if (!id)
        return vls_arena_fail(&c->arena, err);
    *id = commit->value;
    if (vls_map_put(NULL, &c->values, hash, id, id) < 0)
        return vls_fail_memory(err);
    *bytes += commit->value_size;
    return 0;
}

/* What quarantine holds is state, but no item. */
static int count_state(void *arg, const valise_commit *commit, valise_error *err)
{
    counting *c = arg;

    c->usage.state_bytes += VLS_BAG_COMMIT_BYTES;
    return count_value(&c->usage.state_bytes, c, commit, err);
}

static int count_item(void *arg, const valise_commit *commit, valise_error *err)
{
    counting *c = arg;

    c->usage.items++;
    return count_state(c, commit, err);
}

static int count_held(void *arg, const void *row, valise_error *err)
{
    counting *c = arg;
    const vls_quarantine_row *entry = row;
    const vls_rows_range range = {&entry->item_backpack, entry->item, entry->item, false};

    if (entry->released != 0)
        return 0;
    c->usage.quarantined++;
    if (entry->item == 0)
        return 0;
    return vls_rows_each(c->rows, &range, count_state, c, err);
}

static int count_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    counting *c = arg;

    c->usage.commits++;
    c->usage.history_bytes += VLS_BAG_COMMIT_BYTES;
    if (c->usage.first_seq == 0)
        c->usage.first_seq = commit->seq;
    c->usage.last_seq = commit->seq;
    return count_value(&c->usage.history_bytes, c, commit, err);
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
    int rc = ledger.ops->each_item(self, count_item, c, err);

    if (rc == 0)
        rc = ledger.ops->each_row(self, &vls_bag_quarantines, count_held, c, err);
    if (rc == 0)
        rc = ledger.ops->each_commit(self, 0, INT64_MAX, false, count_commit, c, err);
    return rc < 0 ? rc : ledger.ops->each_read(self, count_read, c, err);
}

int vls_rows_usage(valise_usage *out, void *self, valise_error *err)
{
    const vls_rows *rows = self;
    const valise_env *env = rows->view->arena.env;
    counting c = {
        .rows = rows, .usage = {.size = sizeof(c.usage)}, .seed = (uint64_t)(uintptr_t)rows};
    int rc;

    vls_arena_init(&c.arena, env, VLS_VIEW_MAX_BYTES);
    vls_map_init(&c.values, env, is_id);
    rc = count(&c, self, err);
    vls_map_release(&c.values);
    vls_arena_release(&c.arena);
    if (rc == 0)
        *out = c.usage;
    return rc;
}
