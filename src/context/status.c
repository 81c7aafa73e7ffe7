/* status.c -- what `status` tells of the tree and of what is known about it.
 *
 *     tree ...       from the row of the tree; when it was scanned, from the stat cache's file
 *     context ...    from the row of the context: counts that every put keeps, the context root
 *
 * With --check also what nobody stores:
 *
 *     tree differs   paths that a scan would record now. It is a scan that records nothing, not
 *                    even in the stat cache, so that the next one finds the same
 *     heads ...      the states of all heads, in the version of the tree that there is */
#include "base/hex.h"
#include "base/time.h"
#include "context/context.h"
#include "context/outside.h"
#include "context/slot_impl.h"
#include "context/state.h"
#include "store/view.h"

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

static int add_time(valise_status *status, const char *name, const valise_env *env, int64_t time,
                    valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, env, 64);
    vls_buf_add_byte(&text, '"');
    rc = vls_time_write(&text, vls_time_of_ns(time), err);
    vls_buf_add_byte(&text, '"');
    if (rc == 0)
        rc = vls_buf_check(&text, err);
    return rc < 0 ? rc : valise_status_add(status, name, vls_buf_str(&text), err);
}

/* ---- what is stored ---- */

static int tell_tree(valise_status *status, valise_view *view, const vls_tree_row *tree,
                     valise_error *err)
{
    const valise_env *env = view->arena.env;
    int64_t scanned;
    int rc = add_id(status, "tree root", &tree->root, err);

    if (rc == 0)
        rc = add_number(status, "tree version", tree->version, err);
    if (rc == 0)
        rc = add_time(status, "tree changed", env, tree->time, err);
    if (rc == 0 && vls_outside_is_now(view) && vls_outside_when(&scanned, vls_view_bus(view)))
        rc = add_time(status, "tree scanned", env, scanned, err);
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

static int check_tree(valise_status *status, valise_view *view, valise_error *err)
{
    VLS_AUTO(outside) vls_outside outside = {0};
    VLS_AUTO(tree_scan) vls_scan scan = {0};
    valise *v = vls_view_bus(view);
    int rc;

    if (!vls_outside_is_now(view) || !v->place.root)
        return 0;
    rc = vls_outside_open(&outside, v, VLS_STR(""), err);
    if (rc == 0)
        rc = vls_tree_scan(&scan, &outside.options, err);
    if (rc == 0)
        rc = add_number(status, "tree differs",
                        scan.added + scan.changed + scan.removed + scan.moved, err);
    if (rc == 0)
        rc = add_some(status, "tree errors", (int64_t)scan.errors.len, err);
    return rc;
}

/* States of all heads, by VLS_STATE_... What one needs is forgotten before the next, unless it is
 * read from the past, which the view keeps in the same memory. */
static int count_states(int64_t *counts, valise_view *view, const vls_tree_row *tree,
                        valise_error *err)
{
    const vls_slot_row probe = {.tree = tree->id};
    const valise_select of_tree = {.row = &probe, .equal = 1};
    VLS_AUTO(slot_scan) valise_scan *scan = NULL;
    vls_slot_row slot;
    int rc = valise_view_scan(&scan, view, &vls_slots, &of_tree, err);

    while (rc >= 0 && (rc = valise_scan_next(&slot, scan, err)) > 0) {
        vls_view_mark mark = vls_view_here(view);
        vls_state_at at = {.tree = tree, .version = tree->version, .path = slot.path};
        vls_tree_found node;
        vls_state state = {.state = VLS_STATE_EMPTY};
        rc = vls_tree_get(&node, view, tree, tree->version, slot.path, err);
        at.node = rc > 0 ? &node : NULL;
        if (rc >= 0)
            rc = vls_state_of(&state, view, &at, &slot, NULL, err);
        counts[state.state]++;
        if (vls_outside_is_now(view))
            vls_view_rewind(view, mark);
    }
    return rc;
}

static int check_heads(valise_status *status, valise_view *view, const vls_tree_row *tree,
                       valise_error *err)
{
    int64_t counts[VLS_STATE_ORPHANED + 1] = {0};
    int rc = count_states(counts, view, tree, err);

    if (rc == 0)
        rc = add_number(status, "heads fresh", counts[VLS_STATE_FRESH], err);
    if (rc == 0)
        rc = add_number(status, "heads stale", counts[VLS_STATE_STALE], err);
    if (rc == 0)
        rc = add_some(status, "heads invalidated", counts[VLS_STATE_INVALIDATED], err);
    if (rc == 0)
        rc = add_number(status, "heads orphaned", counts[VLS_STATE_ORPHANED], err);
    return rc;
}

int vls_context_status(valise_status *status, valise_view *view, valise_error *err)
{
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    if (rc <= 0)
        return rc;
    rc = tell_tree(status, view, &tree, err);
    if (rc == 0 && valise_status_checks(status))
        rc = check_tree(status, view, err);
    if (rc == 0)
        rc = tell_context(status, view, &tree, err);
    if (rc == 0 && valise_status_checks(status))
        rc = check_heads(status, view, &tree, err);
    return rc;
}
