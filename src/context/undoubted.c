/* undoubted.c -- see undoubted.h. */
#include "context/undoubted.h"

#include "base/str.h"
#include "context/recipe.h"
#include "context/slot.h"
#include "store/view.h"

#define ARENA_MAX ((size_t)256 << 20)

typedef struct known_recipe {
    valise_id id;
    bool current; /* what was made by it would be made by it today */
} known_recipe;

static bool has_id(const void *item, const void *key)
{
    return vls_id_equal(&((const known_recipe *)item)->id, key);
}

static uint64_t hash_of(const valise_id *id)
{
    return vls_str_hash(vls_str((const char *)id->bytes, sizeof(id->bytes)), 0);
}

static int next(vls_undoubted *known, valise_error *err)
{
    int rc = valise_scan_next(&known->at, known->scan, err);

    known->more = rc > 0;
    return vls_settle(rc);
}

int vls_undoubted_begin(vls_undoubted *out, valise_view *view, const vls_tree_row *tree,
                        valise_str path, valise_error *err)
{
    const vls_slot_doubt_row probe = {.tree = tree->id, .path = path};
    const valise_select select = {.row = &probe, .equal = 1, .from = 1};
    VLS_AUTO(undoubted) vls_undoubted known = {.more = false};
    int rc = vls_doubt_is_kept(view, &tree->id, err);

    if (rc > 0) {
        known.view = view;
        vls_arena_init(&known.arena, view->arena.env, ARENA_MAX);
        vls_map_init(&known.recipes, view->arena.env, has_id);
        rc = valise_view_scan(&known.scan, view, &vls_slot_doubts, &select, err);
        if (rc == 0)
            rc = next(&known, err);
    }
    if (rc < 0)
        return rc;
    *out = known;
    known.view = NULL;
    return 0;
}

void vls_undoubted_release(vls_undoubted *known)
{
    if (!known->view)
        return;
    valise_scan_close(known->scan);
    vls_map_release(&known->recipes);
    vls_arena_release(&known->arena);
    known->view = NULL;
}

static int read_recipe(bool *current, vls_undoubted *known, const valise_id *id, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    vls_recipe recipe;
    valise_str bytes;
    int rc = valise_view_object(&bytes, known->view, id, &why);

    if (rc == 0)
        rc = vls_recipe_read(&recipe, bytes, &known->arena, &why);
    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    *current = rc == 0 || (rc > 0 && !vls_recipe_is_old(known->view, &recipe));
    return 0;
}

/* Many slots have one recipe. */
static int is_current(vls_undoubted *known, const valise_id *id, valise_error *err)
{
    uint64_t hash = hash_of(id);
    known_recipe *it = vls_map_get(&known->recipes, hash, id);
    int rc = 0;

    if (!it) {
        it = vls_arena_zalloc(&known->arena, sizeof(*it));
        if (!it)
            return vls_arena_fail(&known->arena, err);
        it->id = *id;
        rc = read_recipe(&it->current, known, id, err);
        if (rc == 0 && vls_map_put(NULL, &known->recipes, hash, id, it) < 0)
            rc = vls_fail_memory(err);
    }
    return rc < 0 ? rc : it->current;
}

/* Where it lies, against the next doubt. */
static int order_of(const vls_undoubted *known, const vls_slot_row *slot)
{
    int order = vls_str_compare(known->at.path, slot->path);

    return order != 0 ? order : vls_str_compare(known->at.type, slot->type);
}

int vls_undoubted_ask(vls_undoubted *known, const vls_slot_row *slot, valise_error *err)
{
    int rc = 0;

    if (!known->view || !vls_slot_has_head(slot))
        return 0;
    while (rc == 0 && known->more && order_of(known, slot) < 0)
        rc = next(known, err);
    if (rc < 0 || (known->more && order_of(known, slot) == 0))
        return rc;
    return vls_id_is_none(&slot->recipe) ? 1 : is_current(known, &slot->recipe, err);
}
