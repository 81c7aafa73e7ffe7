/* rows_recent.c -- the commits that a command has appended, by key.
 *
 * A scan looks through all changes of its view: a command that makes ten thousand commits and looks
 * for each key first would do so fifty million times. */
#include "backpack/rows.h"

#include "base/map.h"
#include "base/mem.h"

struct vls_recent {
    vls_arena arena; /* copies; lives as long as the ledger */
    vls_map map;     /* valise_commit, the newest of each key */
};

static bool has_key(const void *item, const void *key)
{
    return vls_str_equal(((const valise_commit *)item)->key, *(const valise_str *)key);
}

static uint64_t hash_of(const vls_rows *rows, valise_str key)
{
    return vls_str_hash(key, (uint64_t)(uintptr_t)rows->view);
}

static int make(vls_rows *rows, valise_error *err)
{
    const valise_env *env = rows->view->arena.env;
    struct vls_recent *recent = vls_mem_alloc(env, sizeof(*recent));

    if (!recent)
        return vls_fail_memory(err);
    vls_arena_init(&recent->arena, env, VLS_VIEW_MAX_BYTES);
    vls_map_init(&recent->map, env, has_key);
    rows->recent = recent;
    return 0;
}

int vls_recent_add(vls_rows *rows, const valise_commit *commit, valise_error *err)
{
    struct vls_recent *recent;
    valise_commit *copy;
    int rc = rows->recent ? 0 : make(rows, err);

    if (rc < 0)
        return rc;
    recent = rows->recent;
    copy = vls_arena_alloc(&recent->arena, sizeof(*copy));
    if (!copy)
        return vls_arena_fail(&recent->arena, err);
    rc = vls_commit_copy(copy, commit, &recent->arena, err);
    if (rc < 0)
        return rc;
    if (vls_map_put(NULL, &recent->map, hash_of(rows, copy->key), &copy->key, copy) < 0)
        return vls_fail_memory(err);
    return 0;
}

const valise_commit *vls_recent_find(const vls_rows *rows, valise_str key)
{
    return rows->recent ? vls_map_get(&rows->recent->map, hash_of(rows, key), &key) : NULL;
}

void vls_recent_free(vls_rows *rows)
{
    struct vls_recent *recent = rows->recent;

    if (!recent)
        return;
    vls_map_release(&recent->map);
    vls_arena_release(&recent->arena);
    vls_mem_free(rows->view->arena.env, recent, sizeof(*recent));
    rows->recent = NULL;
}
