/* overlay.c -- rows that stand in front of those of a lower layer (view.h). */
#include "base/str.h"
#include "store/view.h"

typedef struct overlay_key {
    const vls_coll *coll;
    valise_str key;
} overlay_key;

static bool has_key(const void *item, const void *key)
{
    const vls_overlay_row *row = item;
    const overlay_key *k = key;

    return row->coll == k->coll && vls_str_equal(row->key, k->key);
}

static uint64_t hash_key(const vls_overlay *overlay, const vls_coll *coll, valise_str key)
{
    return vls_str_hash(key, overlay->seed + coll->number);
}

void vls_overlay_init(vls_overlay *overlay, const valise_env *env)
{
    *overlay = (vls_overlay){.rows = VLS_VEC_INIT};
    vls_map_init(&overlay->map, env, has_key);
    /* Keys are chosen by others; where this lies in memory is not. */
    overlay->seed = (uint64_t)(uintptr_t)overlay * UINT64_C(0x9e3779b97f4a7c15);
}

void vls_overlay_release(vls_overlay *overlay)
{
    if (overlay->map.env)
        vls_vec_release(&overlay->rows, overlay->map.env);
    vls_map_release(&overlay->map);
}

vls_overlay_row *vls_overlay_get(const vls_overlay *overlay, const vls_coll *coll, valise_str key)
{
    overlay_key k = {coll, key};

    if (overlay->map.len == 0)
        return NULL;
    return vls_map_get(&overlay->map, hash_key(overlay, coll, key), &k);
}

int vls_overlay_add(vls_overlay_row **out, vls_overlay *overlay, vls_arena *arena,
                    const vls_coll *coll, valise_str key, valise_error *err)
{
    const valise_env *env = overlay->map.env;
    vls_overlay_row *row = vls_arena_zalloc(arena, sizeof(*row));
    overlay_key k;
    int rc;

    if (!row)
        return vls_arena_fail(arena, err);
    row->coll = coll;
    rc = vls_arena_dup(&row->key, arena, key, err);
    if (rc < 0)
        return rc;
    if (!vls_vec_reserve(&overlay->rows, env, overlay->rows.len + 1))
        return vls_fail_memory(err);
    k = (overlay_key){coll, row->key};
    if (vls_map_put(NULL, &overlay->map, hash_key(overlay, coll, row->key), &k, row) < 0)
        return vls_fail_memory(err);
    overlay->rows.ptr[overlay->rows.len++] = row;
    *out = row;
    return 0;
}
