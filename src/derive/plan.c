/* plan.c -- which slots a run looks at.
 *
 *     synthesize                the slot of each directory that is meant
 *     regenerate                those that are doubted, also where it is known that a run can do
 *                               nothing: they are told (but with only_new)
 *                               those of a policy that has another version by now
 *     regenerate, doubts lost   all */
#include "base/str.h"
#include "context/doubt.h"
#include "context/slot.h"
#include "derive/run_impl.h"
#include "store/view.h"

static size_t levels_between(valise_str above, valise_str path)
{
    size_t levels = 0;

    for (; path.len > above.len; path = vls_path_parent(path))
        levels++;
    return levels;
}

bool vls_run_is_meant(const vls_run_state *r, valise_str path)
{
    const vls_run_options *o = r->options;

    if (vls_str_equal(path, o->path))
        return true;
    if (vls_path_is_under(path, o->path))
        return o->recursive;
    return o->up > 0 && vls_path_is_under(o->path, path) &&
           levels_between(path, o->path) <= (size_t)o->up;
}

/* ---- synthesize ---- */

static int add_directory(void *arg, const vls_tree_found *node, valise_error *err)
{
    vls_run_state *r = arg;
    int rc = 0;

    if (node->node.kind == VLS_NODE_DIR)
        rc = vls_queue_add(&r->queue, node->path, r->options->type, err);
    return rc;
}

static int plan_synthesis(vls_run_state *r, valise_error *err)
{
    const vls_run_options *o = r->options;

    if (o->recursive)
        return vls_tree_walk(r->view, &r->tree, r->tree.version, o->path, add_directory, r, err);
    return vls_queue_add(&r->queue, o->path, o->type, err);
}

/* ---- regenerate ---- */

static int add_doubt(void *arg, const vls_slot_doubt_row *doubt, valise_error *err)
{
    vls_run_state *r = arg;

    if (!vls_run_is_meant(r, doubt->path))
        return 0;
    return vls_queue_add(&r->queue, doubt->path, doubt->type, err);
}

static int add_slot(void *arg, const vls_slot_row *slot, valise_error *err)
{
    vls_run_state *r = arg;

    if (!vls_slot_has_head(slot) || !vls_run_is_meant(r, slot->path))
        return 0;
    return vls_queue_add(&r->queue, slot->path, slot->type, err);
}

/* Each directory above that is meant, as if it had been asked for alone. */
static int each_above(vls_run_state *r, int (*fn)(vls_run_state *, valise_str, valise_error *),
                      valise_error *err)
{
    valise_str path = r->options->path;
    int rc = 0;

    for (int64_t i = 0; rc == 0 && i < r->options->up && path.len > 0; i++) {
        path = vls_path_parent(path);
        rc = fn(r, path, err);
    }
    return rc;
}

static int add_doubts_at(vls_run_state *r, valise_str path, valise_error *err)
{
    int rc = vls_doubt_each_at(r->view, &r->tree.id, path, false, add_doubt, r, err);

    return rc < 0 ? rc : vls_doubt_each_at(r->view, &r->tree.id, path, true, add_doubt, r, err);
}

static int add_doubts_below(vls_run_state *r, valise_str path, valise_error *err)
{
    int rc = vls_doubt_each(r->view, &r->tree.id, path, false, add_doubt, r, err);

    if (rc < 0 || r->options->only_new)
        return rc;
    return vls_doubt_each(r->view, &r->tree.id, path, true, add_doubt, r, err);
}

static int add_slots_at(vls_run_state *r, valise_str path, valise_error *err)
{
    return vls_slot_each(r->view, &r->tree.id, path, add_slot, r, err);
}

static int plan_all(vls_run_state *r, valise_error *err)
{
    int rc = add_slots_at(r, r->options->path, err);

    if (rc == 0 && r->options->recursive)
        rc = vls_slot_each_below(r->view, &r->tree.id, r->options->path, add_slot, r, err);
    r->all = r->options->recursive && r->options->path.len == 0;
    return rc < 0 ? rc : each_above(r, add_slots_at, err);
}

/* The slots of one recipe, if its policy has another version by now. */
static int add_recipe(vls_run_state *r, const valise_id *id, valise_error *err)
{
    const vls_slot_row probe = {.recipe = *id};
    const valise_select of_recipe = {.index = "recipe", .row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_row slot;
    vls_recipe recipe;
    int rc = vls_run_recipe(&recipe, NULL, r, id, err);

    if (rc <= 0) /* erased, or somebody else's: its state says so */
        return rc;
    if (!vls_recipe_is_old(r->view, &recipe))
        return 0;
    rc = valise_view_scan(&scan, r->view, &vls_slots, &of_recipe, err);
    while (rc == 0 && (rc = valise_scan_next(&slot, scan, err)) > 0)
        rc = vls_uuid_equal(&slot.tree, &r->tree.id) ? add_slot(r, &slot, err) : 0;
    return rc;
}

/* Few recipes make many slots: from one to the next in the index. */
static int plan_versions(vls_run_state *r, valise_error *err)
{
    vls_slot_row last = {.dir = true};
    int rc = 0;

    for (;;) {
        const valise_select next = {
            .index = "recipe", .row = &last, .from = 1, .flags = VALISE_SCAN_AFTER};
        VLS_AUTO(scan) valise_scan *scan = NULL;
        vls_slot_row slot = {.dir = true};
        rc = valise_view_scan(&scan, r->view, &vls_slots, &next, err);
        if (rc == 0)
            rc = valise_scan_next(&slot, scan, err);
        if (rc <= 0)
            return rc;
        last.recipe = slot.recipe;
        rc = vls_id_is_none(&slot.recipe) ? 0 : add_recipe(r, &slot.recipe, err);
        if (rc < 0)
            return rc;
    }
}

static int plan_regeneration(vls_run_state *r, valise_error *err)
{
    int rc;

    if (!r->kept)
        return plan_all(r, err);
    rc = add_doubts_at(r, r->options->path, err);
    if (rc == 0 && r->options->recursive)
        rc = add_doubts_below(r, r->options->path, err);
    if (rc == 0)
        rc = each_above(r, add_doubts_at, err);
    return rc < 0 ? rc : plan_versions(r, err);
}

int vls_run_plan(vls_run_state *r, valise_error *err)
{
    return r->options->recipe ? plan_synthesis(r, err) : plan_regeneration(r, err);
}
