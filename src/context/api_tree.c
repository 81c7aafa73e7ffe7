/* api_tree.c -- the C functions on the tree as a whole: scans, and the roots that name all of it.
 */
#include <valise/context.h>

#include "base/sized.h"
#include "base/str.h"
#include "context/ops.h"
#include "context/outside.h"

/* ---- scans ---- */

typedef struct telling {
    valise_tree_change_fn *fn;
    void *arg;
} telling;

static int tell_changes(const telling *to, const vls_tree_scan_result *found, valise_error *err)
{
    static const int kinds[] = {[VLS_CHANGE_ADDED] = VALISE_TREE_ADDED,
                                [VLS_CHANGE_CHANGED] = VALISE_TREE_CHANGED,
                                [VLS_CHANGE_REMOVED] = VALISE_TREE_REMOVED};
    const vls_tree_scan_change *const *items = found->changes.items;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < found->changes.count; i++)
        rc = to->fn(to->arg,
                    &(valise_tree_change){.kind = kinds[items[i]->change],
                                          .path = items[i]->path,
                                          .from = VLS_STR(""),
                                          .reason = VLS_STR("")},
                    err);
    return rc;
}

static int tell_moves(const telling *to, const vls_tree_scan_result *found, valise_error *err)
{
    const vls_scan_move *const *items = found->moves.items;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < found->moves.count; i++)
        rc = to->fn(to->arg,
                    &(valise_tree_change){.kind = VALISE_TREE_MOVED,
                                          .path = items[i]->to,
                                          .from = items[i]->from,
                                          .reason = VLS_STR("")},
                    err);
    return rc;
}

static int tell_problems(const telling *to, int kind, const valise_list *list, valise_error *err)
{
    const vls_tree_scan_problem *const *items = list->items;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < list->count; i++)
        rc = to->fn(to->arg,
                    &(valise_tree_change){.kind = kind,
                                          .path = items[i]->path,
                                          .from = VLS_STR(""),
                                          .reason = items[i]->reason},
                    err);
    return rc;
}

static int tell(const telling *to, const vls_tree_scan_result *found, valise_error *err)
{
    int rc;

    if (!to->fn)
        return 0;
    rc = tell_changes(to, found, err);
    if (rc == 0)
        rc = tell_moves(to, found, err);
    if (rc == 0)
        rc = tell_problems(to, VALISE_TREE_AMBIGUOUS, &found->ambiguous, err);
    if (rc == 0)
        rc = tell_problems(to, VALISE_TREE_ERROR, &found->errors, err);
    return rc;
}

static void give(valise_tree_scanned *out, const vls_tree_scan_result *found)
{
    const valise_tree_scanned ours = {.old_tree_root = found->old_tree_root,
                                      .tree_root = found->tree_root,
                                      .version = found->version,
                                      .added = found->added,
                                      .changed = found->changed,
                                      .removed = found->removed,
                                      .moved = found->moved,
                                      .ambiguous = found->ambiguous_count,
                                      .errors = found->error_count,
                                      .hashed = found->hashed,
                                      .skipped = found->skipped,
                                      .ignored = found->ignored,
                                      .files = found->counts.files,
                                      .dirs = found->counts.dirs,
                                      .links = found->counts.links,
                                      .unreadable = found->counts.unreadable,
                                      .bytes = found->counts.bytes};

    if (out)
        vls_sized_give(out, &ours, sizeof(ours));
}

static int take_options(valise_tree_scan_options *out, const valise_tree_scan_options *options,
                        valise_error *err)
{
    int rc;

    *out = (valise_tree_scan_options)VALISE_TREE_SCAN_OPTIONS_INIT;
    rc = vls_sized_take(out, sizeof(*out), options, offsetof(valise_tree_scan_options, path),
                        "valise_tree_scan_options", err);
    if (rc == 0 && (out->flags & ~(unsigned)VALISE_TREE_SCAN_FORCE))
        rc = vls_fail(err, VALISE_E_INVALID, "valise_tree_scan_options has unknown flags 0x%x",
                      out->flags);
    return rc;
}

int valise_tree_scan(valise_tree_scanned *out, valise *v, const valise_tree_scan_options *options,
                     const valise_call *call, valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    valise_tree_scan_options o;
    vls_tree_scan_args args = {.force = false};
    vls_tree_scan_result found;
    int rc;

    VLS_ARG(v, err);
    rc = take_options(&o, options, err);
    if (rc == 0 && out)
        rc = vls_sized_check(out, offsetof(valise_tree_scanned, version), "valise_tree_scanned",
                             err);
    if (rc < 0)
        return rc;
    args.path = vls_str_or_none(o.path);
    args.dir = vls_str_or_none(o.dir);
    args.force = o.flags & VALISE_TREE_SCAN_FORCE;
    rc = vls_run(v, &vls_op_context_tree_scan, &args, &found, &memory, call, NULL, err);
    if (rc < 0)
        return rc;
    give(out, &found);
    return tell(&(telling){o.fn, o.arg}, &found, err);
}

/* ---- roots ---- */

typedef struct roots_result {
    valise_id tree;
    int64_t version;
    vls_context_row context;
} roots_result;

static const valise_field roots_out[] = {
    VALISE_FIELD(roots_result, tree, ID, VALISE_NULLABLE, "Root of the tree."),
    VALISE_FIELD_END,
};

static int query_roots(valise_view *view, const void *in, void *out, valise_error *err)
{
    roots_result *result = out;
    vls_place place = {.path = VLS_STR("")};
    int rc = vls_place_allows(&place, view, "context:read", VLS_STR(""), err);

    (void)in;
    if (rc == 0)
        rc = vls_tree_head(&place.tree, view, err);
    if (rc >= 0)
        rc = vls_context_get(&result->context, view, &place.tree.id, err);
    if (rc < 0)
        return rc;
    result->tree = place.tree.root;
    result->version = place.tree.version;
    return 0;
}

/* Nobody else asks for this alone (node:get tells it too), so that it is in no registry; but it
 * goes the way of all operations. */
static const valise_op roots_op = {
    .size = sizeof(valise_op),
    .name = "context:roots",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_ASKS,
    .needs = "context:read",
    .out = roots_out,
    .out_size = sizeof(roots_result),
    .query = query_roots,
};

int valise_roots_get(valise_roots *out, valise *v, const valise_call *call, valise_error *err)
{
    roots_result result;
    const vls_context_row *context = &result.context;
    valise_roots ours;
    int rc;

    VLS_ARG(out && v, err);
    rc = vls_sized_check(out, offsetof(valise_roots, version), "valise_roots", err);
    if (rc == 0)
        rc = vls_run(v, &roots_op, NULL, &result, NULL, call, NULL, err);
    if (rc < 0)
        return rc;
    ours = (valise_roots){.tree = result.tree,
                          .context = context->root,
                          .version = result.version,
                          .slots = context->slots,
                          .heads = context->heads,
                          .marked = context->marked,
                          .frames = context->frames};
    vls_sized_give(out, &ours, sizeof(ours));
    return 0;
}
