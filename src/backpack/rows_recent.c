/* rows_recent.c -- the commits that a command has made, by key.
 *
 * A scan looks through all changes of its view: a command that makes ten thousand commits and looks
 * for each key first would do so fifty million times. Here each change is looked at once, when
 * somebody asks. */
#include "backpack/rows.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/uuid.h"

struct vls_recent {
    vls_arena arena; /* copies; lives as long as the ledger */
    vls_map map;     /* valise_commit, the newest of each key */
    size_t seen;     /* changes of the view that were looked at */
};

static bool has_key(const void *item, const void *key)
{
    return vls_str_equal(((const valise_commit *)item)->key, *(const valise_str *)key);
}

static uint64_t hash_of(const vls_rows *rows, valise_str key)
{
    return vls_str_hash(key, (uint64_t)(uintptr_t)rows->view);
}

int vls_recent_new(vls_rows *rows, valise_error *err)
{
    const valise_env *env = rows->view->arena.env;
    struct vls_recent *recent = vls_mem_zalloc(env, sizeof(*recent));

    if (!recent)
        return vls_fail_memory(err);
    vls_arena_init(&recent->arena, env, VLS_VIEW_MAX_BYTES);
    vls_map_init(&recent->map, env, has_key);
    rows->recent = recent;
    return 0;
}

static int add(const vls_rows *rows, const valise_cell *cells, valise_error *err)
{
    struct vls_recent *recent = rows->recent;
    valise_commit *commit = vls_arena_alloc(&recent->arena, sizeof(*commit));
    int rc;

    if (!commit)
        return vls_arena_fail(&recent->arena, err);
    rc = vls_rows_decode(commit, rows, cells, 0, &recent->arena, err);
    if (rc < 0 || !vls_uuid_equal(&commit->backpack, &rows->bag.id))
        return rc;
    if (vls_map_put(NULL, &recent->map, hash_of(rows, commit->key), &commit->key, commit) < 0)
        return vls_fail_memory(err);
    return 0;
}

/* Changes come in the order of commits. */
static int look(const vls_rows *rows, valise_error *err)
{
    const valise_view *view = rows->view;
    struct vls_recent *recent = rows->recent;

    while (recent->seen < view->changes.rows.len) {
        const vls_overlay_row *change = view->changes.rows.ptr[recent->seen];
        if (change->coll->desc == &vls_bag_commits && change->row) {
            int rc = add(rows, change->row, err);
            if (rc < 0)
                return rc;
        }
        recent->seen++;
    }
    return 0;
}

int vls_recent_find(const valise_commit **out, const vls_rows *rows, valise_str key,
                    valise_error *err)
{
    int rc = look(rows, err);

    if (rc < 0)
        return rc;
    *out = vls_map_get(&rows->recent->map, hash_of(rows, key), &key);
    return *out != NULL;
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
