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
    vls_map_release(&overlay->map);
    overlay->rows.ptr = NULL; /* the arena's */
    overlay->rows.len = overlay->rows.cap = 0;
}

vls_overlay_row *vls_overlay_get(const vls_overlay *overlay, const vls_coll *coll, valise_str key)
{
    overlay_key k = {coll, key};

    if (overlay->map.len > 0)
        return vls_map_get(&overlay->map, hash_key(overlay, coll, key), &k);
    for (size_t i = 0; i < overlay->rows.len; i++) {
        if (has_key(overlay->rows.ptr[i], &k))
            return overlay->rows.ptr[i];
    }
    return NULL;
}

/* Room for one more row was made. */
static void put_in_map(vls_overlay *overlay, vls_overlay_row *row)
{
    overlay_key k = {row->coll, row->key};
    int rc = vls_map_put(NULL, &overlay->map, hash_key(overlay, row->coll, row->key), &k, row);

    assert(rc == 0);
    (void)rc;
}

int vls_overlay_add(vls_overlay_row **out, vls_overlay *overlay, vls_arena *arena,
                    const vls_coll *coll, valise_str key, valise_error *err)
{
    size_t count = overlay->rows.len + 1;
    vls_overlay_row *row;
    int rc;

    if (count > VLS_VIEW_FEW && vls_map_reserve(&overlay->map, count) < 0)
        return vls_fail_memory(err);
    row = vls_arena_zalloc(arena, sizeof(*row));
    if (!row)
        return vls_arena_fail(arena, err);
    row->coll = coll;
    rc = vls_arena_dup(&row->key, arena, key, err);
    if (rc < 0)
        return rc;
    /* Last of what can fail: who goes back in the arena must find the list as it was. */
    if (!vls_vec_push_in(&overlay->rows, arena, row))
        return vls_arena_fail(arena, err);
    for (size_t i = overlay->map.len; count > VLS_VIEW_FEW && i < count; i++)
        put_in_map(overlay, overlay->rows.ptr[i]);
    *out = row;
    return 0;
}
