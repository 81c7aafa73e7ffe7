/* status.c -- what `status` tells of the tree and of what is known about it.
 *
 *     tree ...       from the row of the tree; when it was scanned, from the stat cache's file
 *     context ...    from the row of the context: counts that every put keeps, the context root
 *
 * With --check also what nobody stores:
 *
 *     tree differs   paths that a scan would record now. It is a scan that records nothing, not
 *                    even in the stat cache, so that the next one finds the same
 *     heads ...      the states of all heads, with the files as that scan has just seen them; of a
 *                    past state, or without files, in the version of the tree that there is */
#include "base/hex.h"
#include "base/time.h"
#include "context/context.h"
#include "context/outside.h"
#include "context/slot.h"
#include "context/state.h"
#include "context/undoubted.h"
#include "store/view.h"

#define CORRUPT (VLS_STATE_ORPHANED + 1) /* what is damaged has no state */

/* ---- lines ---- */

static int add_number(valise_status *status, const char *name, int64_t number, valise_error *err)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%lld", (long long)number);
    return valise_status_add(status, name, valise_str_of(text), err);
}

/* Of what is rarely there. */
static int add_some(valise_status *status, const char *name, int64_t number, valise_error *err)
{
    return number > 0 ? add_number(status, name, number, err) : 0;
}

static int add_id(valise_status *status, const char *name, const valise_id *id, valise_error *err)
{
    char text[70];

    (void)snprintf(text, sizeof(text), "\"%s\"", vls_id_hex(id).s);
    return valise_status_add(status, name, valise_str_of(text), err);
}

static int add_time(valise_status *status, const char *name, int64_t time, valise_error *err)
{
    char text[40];

    (void)snprintf(text, sizeof(text), "\"%s\"", vls_time_text_of(time).s);
    return valise_status_add(status, name, valise_str_of(text), err);
}

/* ---- what is stored ---- */

static int tell_tree(valise_status *status, valise_view *view, const vls_tree_row *tree,
                     valise_error *err)
{
    int64_t scanned;
    int rc = add_id(status, "tree root", &tree->root, err);

    if (rc == 0)
        rc = add_number(status, "tree version", tree->version, err);
    if (rc == 0)
        rc = add_time(status, "tree changed", tree->time, err);
    if (rc == 0 && vls_outside_is_now(view) && vls_outside_when(&scanned, vls_view_bus(view)))
        rc = add_time(status, "tree scanned", scanned, err);
    if (rc == 0)
        rc = add_number(status, "tree files", tree->counts.files, err);
    if (rc == 0)
        rc = add_number(status, "tree bytes", tree->counts.bytes, err);
    if (rc == 0)
        rc = add_some(status, "tree unreadable", tree->counts.unreadable, err);
    return rc;
}

static int tell_context(valise_status *status, valise_view *view, const vls_tree_row *tree,
                        valise_error *err)
{
    vls_context_row context;
    int rc = vls_context_get(&context, view, &tree->id, err);

    if (rc >= 0)
        rc = add_id(status, "context root", &context.root, err);
    if (rc == 0)
        rc = add_number(status, "slots", context.slots, err);
    if (rc == 0)
        rc = add_number(status, "heads", context.heads, err);
    if (rc == 0)
        rc = add_some(status, "heads marked", context.marked, err);
    if (rc == 0)
        rc = add_number(status, "frames", context.frames, err);
    return rc;
}

/* ---- what is looked at ---- */

/* What is different from the newest version, in the order of paths. */
typedef struct looked {
    vls_scan scan;
    vls_arena arena;
    vls_vec(vls_tree_change) changes; /* in the arena */
} looked;

static void vls_auto_looked(looked *l)
{
    vls_tree_scan_release(&l->scan);
    vls_arena_release(&l->arena);
}

static int add_change(looked *l, vls_tree_change *change, valise_error *err)
{
    vls_node_kind kind = change->node.kind;
    int rc = vls_arena_dup(&change->path, &l->arena, change->path, err);

    if (rc == 0 && kind != VLS_NODE_DIR && kind != VLS_NODE_GONE)
        vls_node_hash(&change->node);
    change->node.target = (valise_str){NULL, 0}; /* the reader's */
    if (rc == 0 && !vls_vec_push_in(&l->changes, &l->arena, *change))
        rc = vls_arena_fail(&l->arena, err);
    return rc;
}

static int list_changes(looked *l, valise_error *err)
{
    vls_tree_changes_reader *reader = vls_arena_alloc(&l->arena, sizeof(*reader));
    vls_tree_change change;
    int rc = reader ? 0 : vls_arena_fail(&l->arena, err);

    for (size_t i = 0; rc == 0 && i < l->scan.changes.len; i++) {
        vls_tree_changes_open(reader, l->scan.changes.ptr[i]);
        while (rc == 0 && (rc = vls_tree_changes_next(&change, reader, err)) > 0)
            rc = add_change(l, &change, err);
    }
    return rc;
}

static int compare_from(const void *a, const void *b)
{
    return vls_path_compare(((const vls_scan_move *)a)->from, ((const vls_scan_move *)b)->from);
}

static int check_tree(valise_status *status, looked *l, valise_view *view, valise_error *err)
{
    VLS_AUTO(outside) vls_outside outside = {0};
    valise *v = vls_view_bus(view);
    int rc;

    if (!vls_outside_is_now(view) || !v->place.root)
        return 0;
    rc = vls_outside_open(&outside, v, VLS_STR(""), err);
    if (rc == 0)
        rc = vls_tree_scan(&l->scan, &outside.options, err);
    if (rc < 0)
        return rc;
    rc = list_changes(l, err);
    if (rc == 0)
        rc = add_number(status, "tree differs",
                        l->scan.added + l->scan.changed + l->scan.removed + l->scan.moved, err);
    if (rc == 0)
        rc = add_some(status, "tree errors", (int64_t)l->scan.errors.len, err);
    return rc;
}

/* Does it move, or something above it? What was said about it goes along, and is as true there as
 * here. */
static bool moves(const looked *l, valise_str path)
{
    while (l->scan.moves.len > 0) {
        const vls_scan_move key = {.from = path};
        if (bsearch(&key, l->scan.moves.ptr, l->scan.moves.len, sizeof(key), compare_from))
            return true;
        if (path.len == 0)
            return false;
        path = vls_path_parent(path);
    }
    return false;
}

static const vls_tree_change *find_change(const looked *l, valise_str path)
{
    size_t from = 0, to = l->changes.len;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = vls_path_compare(l->changes.ptr[middle].path, path);
        if (order == 0)
            return &l->changes.ptr[middle];
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

/* Is something above it no directory any more? What lay under that is not listed by itself. */
static bool is_buried(const looked *l, valise_str path)
{
    while (l->changes.len > 0 && path.len > 0) {
        const vls_tree_change *change = find_change(l, path = vls_path_parent(path));
        if (change && change->node.kind != VLS_NODE_DIR)
            return true;
    }
    return false;
}

/* What lies at the path of a slot: 1, or 0 when nothing does. */
static int find_node(vls_tree_found *out, valise_view *view, const vls_tree_row *tree,
                     const looked *l, valise_str path, valise_error *err)
{
    const vls_tree_change *change = find_change(l, path);
    bool moved = moves(l, path);

    if (!moved && is_buried(l, path))
        return 0;
    if (!change || moved)
        return vls_tree_get(out, view, tree, tree->version, path, err);
    *out = (vls_tree_found){.path = path, .node = change->node};
    return change->node.kind != VLS_NODE_GONE;
}

/* Does the last version have what lies at the path? */
static bool is_as_it_was(const looked *l, valise_str path)
{
    return l->changes.len == 0 || moves(l, path) || (!find_change(l, path) && !is_buried(l, path));
}

/* Of one slot. What nobody doubts is fresh, as far as the files are still those of the last
 * version. VALISE_E_CORRUPT: it is damaged. */
static int find_state(int64_t *out, vls_undoubted *known, valise_view *view,
                      const vls_tree_row *tree, const looked *l, const vls_slot_row *slot,
                      valise_error *err)
{
    vls_state_at at = {.tree = tree, .version = tree->version, .path = slot->path};
    vls_tree_found node;
    vls_state state;
    int rc = vls_undoubted_ask(known, slot, err);

    *out = VLS_STATE_FRESH;
    if (rc < 0 || (rc > 0 && is_as_it_was(l, slot->path)))
        return vls_settle(rc);
    rc = find_node(&node, view, tree, l, slot->path, err);
    at.node = rc > 0 ? &node : NULL;
    if (rc >= 0)
        rc = vls_state_of(&state, view, &at, slot, NULL, err);
    if (rc == 0)
        *out = state.state;
    return rc;
}

/* States of all heads, by VLS_STATE_... What one needs is forgotten before the next, unless it is
 * read from the past, which the view keeps in the same memory. */
static int count_states(int64_t *counts, valise_view *view, const vls_tree_row *tree,
                        const looked *l, valise_error *err)
{
    const vls_slot_row probe = {.tree = tree->id};
    const valise_select of_tree = {.row = &probe, .equal = 1};
    VLS_AUTO(undoubted) vls_undoubted known = {.more = false};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_row slot;
    int rc = vls_undoubted_begin(&known, view, tree, VLS_STR(""), err);

    if (rc == 0)
        rc = valise_view_scan(&scan, view, &vls_slots, &of_tree, err);
    while (rc >= 0 && (rc = valise_scan_next(&slot, scan, err)) > 0) {
        vls_view_mark mark = vls_view_here(view);
        valise_error why = VALISE_ERROR_INIT;
        int64_t state = CORRUPT;
        rc = find_state(&state, &known, view, tree, l, &slot, &why);
        if (rc < 0 && rc != VALISE_E_CORRUPT) {
            if (err)
                *err = why;
            return rc;
        }
        counts[rc < 0 ? CORRUPT : state]++;
        rc = 0;
        if (vls_outside_is_now(view))
            vls_view_rewind(view, mark);
    }
    return rc;
}

static int check_heads(valise_status *status, valise_view *view, const vls_tree_row *tree,
                       const looked *l, valise_error *err)
{
    int64_t counts[CORRUPT + 1] = {0};
    int rc = count_states(counts, view, tree, l, err);

    if (rc == 0)
        rc = add_number(status, "heads fresh", counts[VLS_STATE_FRESH], err);
    if (rc == 0)
        rc = add_number(status, "heads stale", counts[VLS_STATE_STALE], err);
    if (rc == 0)
        rc = add_some(status, "heads invalidated", counts[VLS_STATE_INVALIDATED], err);
    if (rc == 0)
        rc = add_number(status, "heads orphaned", counts[VLS_STATE_ORPHANED], err);
    if (rc == 0)
        rc = add_some(status, "heads corrupt", counts[CORRUPT], err);
    return rc;
}

int vls_context_status(valise_status *status, valise_view *view, valise_error *err)
{
    VLS_AUTO(looked) looked l = {0};
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    if (rc <= 0)
        return rc;
    vls_arena_init(&l.arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = tell_tree(status, view, &tree, err);
    if (rc == 0 && valise_status_checks(status))
        rc = check_tree(status, &l, view, err);
    if (rc == 0)
        rc = tell_context(status, view, &tree, err);
    if (rc == 0 && valise_status_checks(status))
        rc = check_heads(status, view, &tree, &l, err);
    return rc;
}
