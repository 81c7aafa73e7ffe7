/* slot_check.c -- `validate`: do slots, their entries and the context fit together? [K22]
 *
 *     context        its root and counts are those of the slots there are
 *     slot           its head, mark, numbers and set of frames are what its entries amount to
 *     slot_entry     it belongs to a slot; the frame it put is in the slot's set
 *     slot_closed    its last entry closed it
 *
 * A page of a Merkle map that cannot be read is a problem of its own (merkle.c), and not told again
 * here. */
#include "base/str.h"
#include "base/text.h"
#include "base/uuid.h"
#include "context/doubt.h"
#include "context/merkle.h"
#include "context/slot_impl.h"
#include "context/state.h"
#include "store/validate.h"
#include "store/view.h"

#define PROBLEM(check, err, ...) valise_check_problem(check, err, VLS_REMEDY_RESTORE, __VA_ARGS__)

/* ---- context ---- */

static int count_slots(vls_context_row *out, valise_view *view, const valise_uuid *tree,
                       valise_error *err)
{
    const vls_slot_row probe = {.tree = *tree};
    const valise_select of_tree = {.row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_row slot;
    int rc = valise_view_scan(&scan, view, &vls_slots, &of_tree, err);

    while (rc == 0 && (rc = valise_scan_next(&slot, scan, err)) > 0) {
        out->slots++;
        out->heads += vls_slot_has_head(&slot);
        out->marked += slot.marked;
        out->frames += slot.frames;
        out->derived += !vls_id_is_none(&slot.recipe);
        rc = 0;
    }
    return rc;
}

static int compare_counts(valise_check *check, const vls_context_row *row,
                          const vls_context_row *real, valise_error *err)
{
    const struct {
        const char *name;
        int64_t said, is;
    } counts[] = {
        {"slots", row->slots, real->slots},
        {"heads", row->heads, real->heads},
        {"marked heads", row->marked, real->marked},
        {"frames", row->frames, real->frames},
        {"heads made by recipes", row->derived, real->derived},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < VLS_COUNT(counts); i++) {
        if (counts[i].said != counts[i].is)
            rc = PROBLEM(check, err, "it counts %lld %s, and there are %lld",
                         (long long)counts[i].said, counts[i].name, (long long)counts[i].is);
    }
    return rc;
}

int vls_slot_check_context(valise_check *check, valise_view *view, const void *arg,
                           valise_error *err)
{
    const vls_context_row *row = arg;
    vls_context_row real = {.slots = 0};
    int64_t heads;
    int rc = count_slots(&real, view, &row->tree, err);

    if (rc < 0)
        return rc;
    rc = compare_counts(check, row, &real, err);
    if (rc < 0)
        return rc;
    rc = vls_merkle_root(&real.root, &heads, view, &row->tree, err);
    if (rc < 0)
        return rc == VALISE_E_CORRUPT ? 0 : rc;
    if (!vls_id_equal(&real.root, &row->root))
        return PROBLEM(check, err, "its root is not that of the heads there are");
    if (heads != real.heads)
        return PROBLEM(check, err, "the map of all heads has %lld, and there are %lld",
                       (long long)heads, (long long)real.heads);
    return 0;
}

/* ---- slot ---- */

/* What the entries amount to. */
typedef struct outcome {
    int64_t entries, head_entry;
    valise_id head;
    bool marked, gap;
} outcome;

static void follow(outcome *o, const vls_slot_entry_row *entry)
{
    o->gap |= entry->number != o->entries + 1;
    o->entries = entry->number;
    if (entry->kind == VLS_ENTRY_PUT) {
        o->head = entry->frame;
        o->head_entry = entry->number;
    }
    if (entry->kind == VLS_ENTRY_PUT || entry->kind == VLS_ENTRY_REAFFIRM)
        o->marked = false;
    if (entry->kind == VLS_ENTRY_INVALIDATE)
        o->marked = true;
}

static int follow_all(outcome *out, valise_view *view, const valise_uuid *slot, valise_error *err)
{
    const vls_slot_entry_row probe = {.slot = *slot};
    const valise_select of_slot = {.row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_entry_row entry;
    int rc = valise_view_scan(&scan, view, &vls_slot_entries, &of_slot, err);

    while (rc == 0 && (rc = valise_scan_next(&entry, scan, err)) > 0) {
        follow(out, &entry);
        rc = 0;
    }
    return rc;
}

static int check_entries(valise_check *check, valise_view *view, const vls_slot_row *row,
                         valise_error *err)
{
    outcome o = {.entries = 0};
    int rc = follow_all(&o, view, &row->id, err);

    if (rc < 0)
        return rc;
    if (o.gap)
        return PROBLEM(check, err, "an entry of it is missing");
    if (o.entries != row->entries)
        return PROBLEM(check, err, "its last entry is %lld, and it says %lld", (long long)o.entries,
                       (long long)row->entries);
    if (!vls_id_equal(&o.head, &row->head) || o.head_entry != row->head_entry)
        return PROBLEM(check, err, "its head is not the one that its entries tell of");
    if (o.marked != row->marked)
        return PROBLEM(check, err, "its entries say that it is %s",
                       o.marked ? "marked" : "not marked");
    return 0;
}

/* The map of all heads has it. */
static int check_map(valise_check *check, valise_view *view, const vls_slot_row *row,
                     valise_error *err)
{
    valise_id key, value, found;
    int rc;

    vls_slot_key(&key, row->path, row->type);
    vls_slot_value(&value, &row->head, row->marked);
    rc = vls_merkle_get(&found, view, &row->tree, &key, err);
    if (rc < 0)
        return rc == VALISE_E_CORRUPT ? 0 : rc;
    if ((rc > 0) != vls_slot_has_head(row) || (rc > 0 && !vls_id_equal(&found, &value)))
        return PROBLEM(check, err, "the map of all heads has another one");
    return 0;
}

/* Its frames are of its type. */
static int check_type(valise_check *check, valise_view *view, const vls_slot_row *row,
                      valise_error *err)
{
    vls_frame_row frame;
    int rc = vls_slot_has_head(row) ? vls_frame_get(&frame, view, &row->head, err) : 0;

    if (rc <= 0 || vls_str_equal(frame.type, row->type))
        return vls_settle(rc); /* that a frame is missing is told with the reference */
    return PROBLEM(check, err, "its head is of the type '%s'", vls_text_short(frame.type).s);
}

/* Is there a reason that somebody should have written down? A policy of a newer program is none. */
static bool is_news(const vls_state *state)
{
    const vls_reason *const *reasons = state->reasons.items;
    bool news = state->state != VLS_STATE_FRESH && state->reasons.count == 0;

    for (size_t i = 0; i < state->reasons.count; i++)
        news = news || reasons[i]->reason != VLS_RECIPE_CHANGED;
    return news;
}

/* Whoever is not fresh is doubted (doubt.h). */
static int check_doubt(valise_check *check, valise_view *view, const vls_slot_row *row,
                       valise_error *err)
{
    vls_slot_doubt_row doubt = {.tree = row->tree, .path = row->path, .type = row->type};
    vls_tree_found node;
    vls_tree_row tree;
    vls_state_at at = {.tree = &tree, .path = row->path};
    vls_state state;
    int rc = vls_tree_head(&tree, view, err);

    if (rc <= 0 || !vls_slot_has_head(row) || !vls_uuid_equal(&tree.id, &row->tree))
        return vls_settle(rc);
    rc = vls_doubt_is_kept(view, &tree.id, err);
    if (rc <= 0)
        return rc;
    at.version = tree.version;
    rc = vls_tree_get(&node, view, &tree, tree.version, row->path, err);
    if (rc >= 0) {
        at.node = rc > 0 ? &node : NULL;
        rc = vls_state_of(&state, view, &at, row, NULL, err);
    }
    if (rc < 0) /* told elsewhere; LIMIT: of the tree, which has an edge that cannot be */
        return rc == VALISE_E_CORRUPT || rc == VALISE_E_LIMIT ? 0 : rc;
    if (!is_news(&state))
        return 0;
    rc = valise_view_get(&doubt, view, &vls_slot_doubts, err);
    return rc != 0 ? vls_settle(rc)
                   : valise_check_problem(check, err, "import it into a new workspace",
                                          "it no longer holds, and no run would notice");
}

int vls_slot_check_slot(valise_check *check, valise_view *view, const void *arg, valise_error *err)
{
    const vls_slot_row *row = arg;
    valise_id root, found;
    int64_t count;
    int rc = vls_merkle_root(&root, &count, view, &row->id, err);

    if (rc == 0 && vls_slot_has_head(row)) {
        rc = vls_merkle_get(&found, view, &row->id, &row->head, err);
        if (rc == 0)
            return PROBLEM(check, err, "its head is not among its frames");
    }
    if (rc < 0)
        return rc == VALISE_E_CORRUPT ? 0 : rc;
    if (!vls_id_equal(&root, &row->root) || count != row->frames)
        return PROBLEM(check, err, "its root is not that of the frames in it");
    rc = check_entries(check, view, row, err);
    if (rc == 0)
        rc = check_type(check, view, row, err);
    if (rc == 0)
        rc = check_map(check, view, row, err);
    return rc < 0 ? rc : check_doubt(check, view, row, err);
}

/* ---- slot_entry ---- */

int vls_slot_check_entry(valise_check *check, valise_view *view, const void *arg, valise_error *err)
{
    const vls_slot_entry_row *row = arg;
    bool puts = row->kind == VLS_ENTRY_PUT || row->kind == VLS_ENTRY_ATTACH;
    vls_slot_row slot;
    valise_id found;
    int rc = row->number == 1 ? vls_slot_by_id(&slot, view, &row->slot, err) : 1;

    if (rc == 0)
        return PROBLEM(check, err, "there is no slot that it is about");
    if (rc > 0 && puts != !vls_id_is_none(&row->frame) && row->kind != VLS_ENTRY_INVALIDATE &&
        row->kind != VLS_ENTRY_REAFFIRM)
        return PROBLEM(check, err, puts ? "it puts no frame" : "it has a frame and puts none");
    if (rc > 0 && puts) {
        rc = vls_merkle_get(&found, view, &row->slot, &row->frame, err);
        if (rc == 0)
            return PROBLEM(check, err, "the frame it put is not among those of the slot");
    }
    return rc == VALISE_E_CORRUPT ? 0 : vls_settle(rc);
}

/* ---- slot_closed ---- */

int vls_slot_check_closed(valise_check *check, valise_view *view, const void *arg,
                          valise_error *err)
{
    const vls_slot_closed_row *row = arg;
    vls_slot_entry_row entry;
    valise_id root;
    int64_t count;
    int rc = vls_slot_entry(&entry, view, &row->id, row->entries, err);

    if (rc < 0)
        return rc;
    if (rc == 0 || entry.kind != VLS_ENTRY_CLOSE)
        return PROBLEM(check, err, "its last entry did not close it");
    rc = vls_merkle_root(&root, &count, view, &row->id, err);
    if (rc < 0)
        return rc == VALISE_E_CORRUPT ? 0 : rc;
    return count == row->frames ? 0
                                : PROBLEM(check, err, "it counts %lld frames, and there are %lld",
                                          (long long)row->frames, (long long)count);
}
