/* op_tree_diff.c -- tree:diff, what is different between two states: files, and what is known about
 * them. [C28] [C31] */
#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "base/utf8.h"
#include "context/outside.h"
#include "context/place.h"
#include "context/slot.h"
#include "diff/ops.h"
#include "diff/patch.h"
#include "diff/slots.h"
#include "diff/source.h"
#include "store/view.h"
#include "tree/compare.h"

#define POINT_MAX 128u

typedef vls_diff_args diff_args;
typedef vls_diff_row diff_row;
typedef vls_diff_node side_node;
typedef vls_diff_head side_head;
typedef vls_diff_counts summary;

static const valise_field path_item = {
    .name = "path", .type = VALISE_T_PATH, .max = VLS_PATH_MAX, .ref = "tree.path"};

static const valise_field diff_in[] = {
    VALISE_FIELD_WITH(diff_args, from, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "The older state: a root or its first digits, v12, a checkpoint, a seq or a "
                      "time (default: the newest checkpoint, else the previous version).",
                      .max = POINT_MAX, .ref = "tree:list.treeRoot"),
    VALISE_FIELD_WITH(diff_args, to, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "The newer state (default: the last scan).", .max = POINT_MAX,
                      .ref = "tree:list.treeRoot"),
    VALISE_FIELD_WITH(diff_args, paths, LIST, VALISE_POSITIONAL,
                      "Only these paths and what is below them; after -- if a state is omitted.",
                      .more = &path_item, .max = VLS_DIFF_PATHS_MAX),
    VALISE_FIELD(diff_args, nodes, BOOL, 0, "Only files, directories and links."),
    VALISE_FIELD(diff_args, context, BOOL, 0, "Compare only what is known about them."),
    VALISE_FIELD(diff_args, patch, BOOL, 0, "Also show the lines that differ."),
    VALISE_FIELD(diff_args, stat, BOOL, 0, "Show only counts."),
    VALISE_FIELD_WITH(diff_args, limit, INT, 0, "At most this many; 0 for all.", .max = INT64_MAX),
    VALISE_FIELD(diff_args, dir, PATH, VALISE_NULLABLE | VALISE_HIDDEN,
                 "The folder to scan, for a workspace that has none of its own."),
    VALISE_FIELD_END,
};

/* ---- the answer ---- */

static const char *const whats[] = {"node", "slot", "summary", NULL};
static const char *const changes[] = {"added",      "changed",  "removed", "moved", "invalidated",
                                      "reaffirmed", "orphaned", "found",   NULL};

static const valise_field node_fields[] = {
    VALISE_FIELD_AS(side_node, object, "objectId", ID, VALISE_REQUIRED, "Its object id."),
    VALISE_FIELD_WITH(side_node, kind, ENUM, VALISE_REQUIRED, "Its kind.", .more = vls_node_kinds),
    VALISE_FIELD(side_node, exec, BOOL, 0, "Its owner may run it."),
    VALISE_FIELD(side_node, size, INT, 0, "Bytes; of a directory: entries."),
    VALISE_FIELD_END,
};
static const valise_struct node_struct = {sizeof(side_node), node_fields};

static const valise_field head_fields[] = {
    VALISE_FIELD_AS(side_head, frame, "frameId", ID, VALISE_NULLABLE, "The frame that is shown."),
    VALISE_FIELD(side_head, agent, STR, VALISE_NULLABLE, "Who wrote it."),
    VALISE_FIELD(side_head, invalidated, BOOL, 0, "It was marked."),
    VALISE_FIELD(side_head, orphaned, BOOL, 0, "What it is about is not there."),
    VALISE_FIELD_END,
};
static const valise_struct head_struct = {sizeof(side_head), head_fields};

#define NODES(what, name, text) VALISE_FIELD_AS(summary, nodes[VLS_DIFF_##what], name, INT, 0, text)
#define SLOTS(what, name, text) VALISE_FIELD_AS(summary, slots[VLS_DIFF_##what], name, INT, 0, text)

static const valise_field summary_fields[] = {
    VALISE_FIELD_AS(summary, from_version, "fromVersion", INT, 0, "The older version."),
    VALISE_FIELD_AS(summary, to_version, "toVersion", INT, 0, "The newer version."),
    VALISE_FIELD_AS(summary, from_root, "fromRoot", ID, VALISE_NULLABLE, "Its root."),
    VALISE_FIELD_AS(summary, to_root, "toRoot", ID, VALISE_NULLABLE, "Its root."),
    NODES(ADDED, "added", "Nodes that came."),
    NODES(CHANGED, "changed", "Nodes that changed."),
    NODES(REMOVED, "removed", "Nodes that went."),
    NODES(MOVED, "moved", "What moved; a directory with all in it is one."),
    SLOTS(ADDED, "slotsAdded", "Slots that came."),
    SLOTS(CHANGED, "slotsChanged", "Slots with another head."),
    SLOTS(REMOVED, "slotsRemoved", "Slots that went."),
    SLOTS(MOVED, "slotsMoved", "Slots that went along with their files."),
    SLOTS(INVALIDATED, "slotsInvalidated", "Slots that were marked."),
    SLOTS(REAFFIRMED, "slotsReaffirmed", "Slots whose mark is gone."),
    SLOTS(ORPHANED, "slotsOrphaned", "Slots that lost their files."),
    SLOTS(FOUND, "slotsFound", "Slots whose files are back."),
    VALISE_FIELD_END,
};
static const valise_struct summary_struct = {sizeof(summary), summary_fields};

static const valise_field diff_out[] = {
    VALISE_FIELD_WITH(diff_row, what, ENUM, VALISE_REQUIRED, "What it is about.", .more = whats),
    VALISE_FIELD_WITH(diff_row, change, ENUM, VALISE_NULLABLE, "What became of it.",
                      .more = changes),
    VALISE_FIELD(diff_row, path, PATH, VALISE_NULLABLE, "Where it is, or was."),
    VALISE_FIELD(diff_row, from, PATH, VALISE_NULLABLE, "Where it was before it moved."),
    VALISE_FIELD_WITH(diff_row, before, STRUCT, VALISE_NULLABLE, "A node, as it was.",
                      .more = &node_struct),
    VALISE_FIELD_WITH(diff_row, after, STRUCT, VALISE_NULLABLE, "And as it is.",
                      .more = &node_struct),
    VALISE_FIELD(diff_row, type, STR, VALISE_NULLABLE, "Type of a slot."),
    VALISE_FIELD_AS_WITH(diff_row, head_before, "headBefore", STRUCT, VALISE_NULLABLE,
                         "Its head, as it was.", .more = &head_struct),
    VALISE_FIELD_AS_WITH(diff_row, head_after, "headAfter", STRUCT, VALISE_NULLABLE,
                         "And as it is.", .more = &head_struct),
    VALISE_FIELD(diff_row, patch, STR, VALISE_NULLABLE, "The lines that differ."),
    VALISE_FIELD_AS(diff_row, patch_data, "patchData", BYTES, VALISE_NULLABLE,
                    "The same where they are no UTF-8."),
    VALISE_FIELD(diff_row, unshown, STR, VALISE_NULLABLE, "Why these are not shown."),
    VALISE_FIELD_WITH(diff_row, summary, STRUCT, VALISE_NULLABLE, "How much there is.",
                      .more = &summary_struct),
    VALISE_FIELD_END,
};

/* ---- what is wanted ---- */

typedef struct diffing {
    valise_view *view;
    const diff_args *args;
    vls_tree_row tree;
    vls_diff_point from, to;
    valise_str *paths;
    size_t path_count;
    vls_tree_diff nodes;
    vls_scan found;               /* moves */
    vls_vec(vls_scan_move) moves; /* that may be told, by where they are */
    vls_vec(vls_scan_move) went;  /* the same by where they were */
    summary counts;
    int64_t emitted;
    vls_source source;
    vls_buf patch;
} diffing;

static void vls_auto_diffing(diffing *d)
{
    vls_arena_release(&d->found.arena);
    vls_source_close(&d->source);
    vls_buf_release(&d->patch);
}

static bool enters(void *arg, valise_str dir)
{
    const diffing *d = arg;

    for (size_t i = 0; i < d->path_count; i++)
        if (vls_path_is_under(d->paths[i], dir))
            return true;
    return vls_path_is_among(dir, d->paths, d->path_count);
}

static int read_points(diffing *d, valise_error *err)
{
    const diff_args *a = d->args;
    int rc = vls_tree_head(&d->tree, d->view, err);

    if (rc == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "the files were never scanned");
        vls_hint(err, "run 'valise scan'");
        return VALISE_E_NOT_FOUND;
    }
    d->to = vls_diff_point_now(d->view, &d->tree);
    if (rc > 0)
        rc = a->to.len > 0 ? vls_diff_point_find(&d->to, d->view, &d->tree, a->to, err) : 0;
    if (rc == 0)
        rc = a->from.len > 0 ? vls_diff_point_find(&d->from, d->view, &d->tree, a->from, err)
                             : vls_diff_point_before(&d->from, d->view, &d->tree, &d->to, err);
    d->nodes = (vls_tree_diff){
        .view = d->view, .tree = &d->tree, .was = d->from.version, .is = d->to.version};
    return rc;
}

/* ---- rows ---- */

/* 1: nobody wants more. */
static int emit(diffing *d, diff_row *row, valise_error *err)
{
    int rc;

    if (row->what == VLS_DIFF_NODE)
        d->counts.nodes[row->change]++;
    else if (row->what == VLS_DIFF_SLOT)
        d->counts.slots[row->change]++;
    if (d->args->stat && row->what != VLS_DIFF_SUMMARY)
        return 0;
    if (vls_utf8_valid(row->patch)) {
        row->patch_data = (valise_str){NULL, 0};
    } else {
        row->patch_data = row->patch;
        row->patch = (valise_str){NULL, 0};
    }
    rc = valise_view_emit(d->view, row, err);
    return rc < 0 ? rc : ++d->emitted == d->args->limit;
}

/* ---- nodes: moves ---- */

static int by_to(const void *a, const void *b)
{
    return vls_path_compare(((const vls_scan_move *)a)->to, ((const vls_scan_move *)b)->to);
}

static int by_from(const void *a, const void *b)
{
    return vls_path_compare(((const vls_scan_move *)a)->from, ((const vls_scan_move *)b)->from);
}

/* One of which an end may not be seen is something that came, or went. */
static int find_moves(diffing *d, valise_error *err)
{
    vls_arena *arena = &d->found.arena;
    int rc;

    vls_arena_init(arena, d->view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_tree_diff_moves(&d->found, &d->nodes, err);
    for (size_t i = 0; rc == 0 && i < d->found.moves.len; i++) {
        vls_scan_move m = d->found.moves.ptr[i];
        rc = vls_path_readable(d->view, m.from, VLS_STR(""), err);
        if (rc > 0)
            rc = vls_path_readable(d->view, m.to, VLS_STR(""), err);
        if (rc > 0 &&
            (!vls_vec_push_in(&d->moves, arena, m) || !vls_vec_push_in(&d->went, arena, m)))
            rc = vls_arena_fail(arena, err);
        rc = vls_settle(rc);
    }
    if (d->moves.len > 1)
        qsort(d->moves.ptr, d->moves.len, sizeof(vls_scan_move), by_to);
    if (d->went.len > 1)
        qsort(d->went.ptr, d->went.len, sizeof(vls_scan_move), by_from);
    return rc;
}

static valise_str end_of(const vls_scan_move *m, bool to)
{
    return to ? m->to : m->from;
}

/* The move that the path is an end of, or lies below an end of; NULL: none. */
static const vls_scan_move *move_of(const diffing *d, valise_str path, bool to)
{
    const vls_scan_move *all = to ? d->moves.ptr : d->went.ptr;
    size_t low = 0, high = d->moves.len;

    while (low < high) { /* the last that is not behind the path */
        size_t mid = low + (high - low) / 2;
        if (vls_path_compare(end_of(&all[mid], to), path) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 && vls_path_is_under(path, end_of(&all[low - 1], to)) ? &all[low - 1] : NULL;
}

/* ---- nodes: contents ---- */

/* The files are looked at where the workspace has a folder, or was told of one. */
static int open_source(diffing *d, valise_error *err)
{
    VLS_AUTO(outside) vls_outside outside = {0};
    valise *v = vls_view_bus(d->view);
    int rc = v ? vls_outside_open(&outside, v, d->args->dir, NULL) : VALISE_E_UNSUPPORTED;

    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    return vls_source_open(&d->source, d->view, rc < 0 ? NULL : outside.options.root, err);
}

static uint32_t mode_of(const vls_node *node)
{
    if (!node)
        return 0;
    return node->kind == VLS_NODE_LINK ? VLS_PATCH_LINK
                                       : VLS_PATCH_FILE | (node->exec ? 0755 : 0644);
}

static int fill_side(vls_patch_side *out, vls_content *content, diffing *d, const vls_node *node,
                     valise_str path, valise_error *err)
{
    int rc;

    *out = (vls_patch_side){.path = path, .mode = mode_of(node)};
    if (!node)
        return 0;
    if (node->kind == VLS_NODE_LINK) {
        out->bytes = node->target;
        return 0;
    }
    rc = vls_source_get(content, &d->source, &node->content, node->size, path, err);
    if (rc == 0 && !content->why)
        out->bytes = content->bytes;
    return rc;
}

static bool has_lines(const vls_node *node)
{
    return !node || node->kind == VLS_NODE_FILE || node->kind == VLS_NODE_LINK;
}

/* The lines of a file that differ, into d->patch. */
static int write_patch(diffing *d, diff_row *row, const vls_difference *diff, valise_error *err)
{
    VLS_AUTO(content) vls_content old = {.why = NULL};
    VLS_AUTO(content) vls_content new = {.why = NULL};
    vls_patch_side was, is;
    const char *why = NULL;
    int rc;

    if (vls_path_allows(d->view, "tree:read", row->path, VLS_STR(""), NULL) < 0) {
        row->unshown = VLS_STR("tree:read is needed to see it");
        return 0;
    }
    rc = fill_side(&was, &old, d, diff->was, row->path, err);
    if (rc == 0)
        rc = fill_side(&is, &new, d, diff->is, row->path, err);
    vls_buf_clear(&d->patch);
    if (rc == 0)
        rc = vls_patch_write(&d->patch, &why, &was, &is, d->view->arena.env, err);
    if (rc > 0)
        row->patch = vls_buf_str(&d->patch);
    why = old.why ? old.why : new.why ? new.why : why;
    if (rc == 0 && why)
        row->unshown = valise_str_of(why);
    return vls_settle(rc);
}

static int write_move(diffing *d, diff_row *row, const vls_node *node, valise_error *err)
{
    vls_patch_side was = {row->from, mode_of(node), VLS_STR("")};
    vls_patch_side is = {row->path, mode_of(node), VLS_STR("")};
    const char *why = NULL;
    int rc;

    vls_buf_clear(&d->patch);
    rc = vls_patch_write(&d->patch, &why, &was, &is, d->view->arena.env, err);
    if (rc > 0)
        row->patch = vls_buf_str(&d->patch);
    return vls_settle(rc);
}

/* ---- nodes ---- */

static side_node node_out(const vls_node *node)
{
    return (side_node){.object = node->object,
                       .kind = (int64_t)node->kind,
                       .exec = node->exec,
                       .size = node->size};
}

/* from: where it was, of what moved. */
static int emit_node(diffing *d, int change, const vls_difference *diff, valise_str from,
                     valise_error *err)
{
    diff_row row = {.what = VLS_DIFF_NODE, .change = change, .path = diff->path, .from = from};
    side_node was, is;
    int rc;

    if (!vls_path_is_among(diff->path, d->paths, d->path_count) &&
        !(from.ptr && vls_path_is_among(from, d->paths, d->path_count)))
        return 0;
    rc = vls_path_readable(d->view, diff->path, VLS_STR(""), err);
    if (rc <= 0)
        return rc;
    rc = 0;
    if (diff->was) {
        was = node_out(diff->was);
        row.before = &was;
    }
    if (diff->is) {
        is = node_out(diff->is);
        row.after = &is;
    }
    if (d->args->patch && !d->args->stat && has_lines(diff->was) && has_lines(diff->is))
        rc = change == VLS_DIFF_MOVED ? write_move(d, &row, diff->is, err)
                                      : write_patch(d, &row, diff, err);
    else if (d->args->patch && !(diff->is && diff->is->kind == VLS_NODE_DIR) &&
             !(diff->was && diff->was->kind == VLS_NODE_DIR))
        row.unshown = VLS_STR("it could not be read");
    return rc < 0 ? rc : emit(d, &row, err);
}

/* What came: it may be from somewhere. What lies in a directory that moved goes with that; only
 * patches have no directories. */
static int tell_came(diffing *d, const vls_difference *diff, valise_error *err)
{
    const vls_scan_move *move = move_of(d, diff->path, true);
    vls_difference came = {.path = diff->path, .is = diff->is};
    VLS_AUTO(buf) vls_buf from = {0};
    int rc;

    if (!move)
        return emit_node(d, VLS_DIFF_ADDED, &came, (valise_str){NULL, 0}, err);
    if (diff->path.len > move->to.len && !(d->args->patch && !d->args->stat))
        return 0;
    came.was = diff->is; /* it is the same */
    vls_buf_init(&from, d->view->arena.env, VLS_PATH_MAX);
    vls_buf_add(&from, move->from);
    vls_buf_add(&from, vls_str_from(diff->path, move->to.len));
    rc = vls_buf_check(&from, err);
    return rc < 0 ? rc : emit_node(d, VLS_DIFF_MOVED, &came, vls_buf_str(&from), err);
}

static int tell_node(void *arg, const vls_difference *diff, valise_error *err)
{
    diffing *d = arg;
    const vls_difference went = {.path = diff->path, .was = diff->was};
    int rc = 0;

    if (diff->path.len == 0)
        return 0;
    if (vls_difference_is_kept(diff)) {
        if (diff->was->kind == VLS_NODE_DIR && diff->is->kind == VLS_NODE_DIR)
            return 0;
        return emit_node(d, VLS_DIFF_CHANGED, diff, (valise_str){NULL, 0}, err);
    }
    if (diff->was && !move_of(d, diff->path, false))
        rc = emit_node(d, VLS_DIFF_REMOVED, &went, (valise_str){NULL, 0}, err);
    return rc == 0 && diff->is ? tell_came(d, diff, err) : rc;
}

static int tell_nodes(diffing *d, valise_error *err)
{
    int rc = find_moves(d, err);

    if (d->path_count > 0 && d->moves.len == 0) {
        d->nodes.enters = enters;
        d->nodes.arg = d;
    }
    if (rc == 0)
        rc = vls_tree_diff_each(&d->nodes, tell_node, d, err);
    d->nodes.enters = NULL;
    return rc;
}

/* ---- slots ---- */

static const int slot_changes[] = {
    [VLS_SLOT_ADDED] = VLS_DIFF_ADDED,
    [VLS_SLOT_REMOVED] = VLS_DIFF_REMOVED,
    [VLS_SLOT_MOVED] = VLS_DIFF_MOVED,
    [VLS_SLOT_CHANGED] = VLS_DIFF_CHANGED,
    [VLS_SLOT_INVALIDATED] = VLS_DIFF_INVALIDATED,
    [VLS_SLOT_REAFFIRMED] = VLS_DIFF_REAFFIRMED,
    [VLS_SLOT_ORPHANED] = VLS_DIFF_ORPHANED,
    [VLS_SLOT_FOUND] = VLS_DIFF_FOUND,
};

/* A side of a slot: its frame, and what it says when that is wanted. */
typedef struct voice {
    side_head head;
    vls_frame_row frame;
    bool there; /* the slot has a frame */
    vls_content content;
    vls_buf label;
} voice;

static void vls_auto_voice(voice *v)
{
    vls_content_release(&v->content);
    vls_buf_release(&v->label);
}

static int fill_voice(voice *v, diffing *d, const vls_slot_row *slot, bool orphaned,
                      valise_error *err)
{
    int rc = 0;

    if (!slot)
        return 0;
    v->head = (side_head){.frame = slot->head, .invalidated = slot->marked, .orphaned = orphaned};
    if (vls_slot_has_head(slot))
        rc = vls_frame_get(&v->frame, d->view, &slot->head, err);
    v->there = rc > 0;
    if (rc > 0)
        v->head.agent = v->frame.agent;
    return vls_settle(rc);
}

/* "frame 1a2b3c4d src/a.c [notes]"; of none "/dev/null". */
static int read_voice(voice *v, diffing *d, const vls_slot_row *slot, valise_error *err)
{
    int rc;

    vls_buf_init(&v->label, d->view->arena.env, (size_t)8 * VLS_PATH_MAX);
    v->content.bytes = VLS_STR("");
    if (!slot || !v->there) {
        vls_buf_add_text(&v->label, "/dev/null");
        return vls_buf_check(&v->label, err);
    }
    vls_buf_printf(&v->label, "frame %.8s ", vls_id_hex(&v->frame.id).s);
    vls_text_quote(&v->label, slot->path.len > 0 ? slot->path : VLS_STR("."));
    vls_buf_printf(&v->label, " [%.*s]", VALISE_STR_ARG(slot->type));
    rc = vls_buf_check(&v->label, err);
    if (rc < 0)
        return rc;
    if (vls_id_is_none(&v->frame.content))
        v->content.why = "its content was erased";
    else if (v->frame.size > VLS_DIFF_CONTENT_MAX)
        v->content.why = "it is too large";
    if (v->content.why)
        return 0;
    rc = vls_view_blob(&v->content.blob, d->view, &v->frame.content, err);
    if (rc == 0)
        v->content.bytes = valise_blob_bytes(v->content.blob);
    return rc;
}

static int write_voices(diffing *d, diff_row *row, voice *was, voice *is,
                        const vls_slot_difference *diff, valise_error *err)
{
    const char *why = NULL;
    int rc = read_voice(was, d, diff->was, err);

    if (rc == 0)
        rc = read_voice(is, d, diff->is, err);
    if (rc < 0)
        return rc;
    why = was->content.why ? was->content.why : is->content.why;
    vls_buf_clear(&d->patch);
    if (!why)
        rc = vls_patch_texts(&d->patch, &why, vls_buf_str(&was->label), was->content.bytes,
                             vls_buf_str(&is->label), is->content.bytes, d->view->arena.env, err);
    if (rc > 0)
        row->patch = vls_buf_str(&d->patch);
    else if (rc == 0 && why)
        row->unshown = valise_str_of(why);
    return vls_settle(rc);
}

static int emit_slot(diffing *d, const vls_slot_difference *diff, valise_error *err)
{
    const vls_slot_row *slot = diff->is ? diff->is : diff->was;
    diff_row row = {.what = VLS_DIFF_SLOT, .change = slot_changes[diff->change]};
    VLS_AUTO(voice) voice was = {.there = false};
    VLS_AUTO(voice) voice is = {.there = false};
    int rc = fill_voice(&was, d, diff->was, diff->was_orphaned, err);

    assert(slot); /* there is one side at least */
    row.path = slot->path;
    row.type = slot->type;
    if (rc == 0)
        rc = fill_voice(&is, d, diff->is, diff->is_orphaned, err);
    if (diff->change == VLS_SLOT_MOVED)
        row.from = diff->was->path;
    row.head_before = diff->was ? &was.head : NULL;
    row.head_after = diff->is ? &is.head : NULL;
    if (rc == 0 && d->args->patch && !d->args->stat)
        rc = write_voices(d, &row, &was, &is, diff, err);
    return rc < 0 ? rc : emit(d, &row, err);
}

/* One side that may not be seen is none. */
static int tell_slot(void *arg, const vls_slot_difference *diff, valise_error *err)
{
    diffing *d = arg;
    vls_slot_difference seen = *diff;
    bool wanted = false;
    int rc;

    for (int i = 0; i < 2; i++) {
        const vls_slot_row **slot = i == 0 ? &seen.was : &seen.is;
        if (!*slot)
            continue;
        rc = vls_path_readable(d->view, (*slot)->path, (*slot)->type, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            *slot = NULL;
        else
            wanted = wanted || vls_path_is_among((*slot)->path, d->paths, d->path_count);
    }
    if (!wanted || (!seen.was && !seen.is))
        return 0;
    if (!seen.was || !seen.is)
        seen.change = seen.is ? VLS_SLOT_ADDED : VLS_SLOT_REMOVED;
    return emit_slot(d, &seen, err);
}

static int tell_slots(diffing *d, valise_error *err)
{
    if (d->from.elsewhere || d->to.elsewhere) {
        if (!d->args->context)
            return 0;
        (void)vls_fail(err, VALISE_E_UNSUPPORTED,
                       "version %lld came with a bundle: what was known then is not in this log",
                       (long long)(d->from.elsewhere ? d->from.version : d->to.version));
        vls_hint(err, "compare states since the import, or compare them where the bundle was made");
        return VALISE_E_UNSUPPORTED;
    }
    return vls_slots_diff(d->view, &d->nodes, &d->from, &d->to, tell_slot, d, err);
}

/* Before anything is told: does the log reach back? */
static int check_log(const diffing *d, valise_error *err)
{
    int64_t base = d->view->txn->tip.base_seq;
    int64_t first = VLS_MIN(d->from.seq, d->to.seq);

    if (d->from.version == 0 || d->to.version == 0 || d->from.elsewhere || d->to.elsewhere ||
        first >= base)
        return 0;
    (void)vls_fail(err, VALISE_E_LIMIT,
                   "what was known at seq %lld can no longer be seen: the log reaches back to seq "
                   "%lld",
                   (long long)first, (long long)base);
    vls_hint(err, "--nodes compares only the files");
    return VALISE_E_LIMIT;
}

/* ---- all of it ---- */

static int get_root(valise_id *out, const diffing *d, int64_t version, valise_error *err)
{
    vls_tree_found root;
    int rc = version > 0 ? vls_tree_get(&root, d->view, &d->tree, version, VLS_STR(""), err) : 0;

    if (rc > 0)
        *out = root.id;
    return vls_settle(rc);
}

static int tell_summary(diffing *d, valise_error *err)
{
    diff_row row = {.what = VLS_DIFF_SUMMARY, .change = VALISE_NONE, .summary = &d->counts};
    int64_t any = 0;
    int rc;

    for (size_t i = 0; i < VLS_DIFF_CHANGES; i++)
        any += d->counts.nodes[i] + d->counts.slots[i];
    if (any == 0)
        return 0;
    d->counts.from_version = d->from.version;
    d->counts.to_version = d->to.version;
    rc = get_root(&d->counts.from_root, d, d->from.version, err);
    if (rc == 0)
        rc = get_root(&d->counts.to_root, d, d->to.version, err);
    return rc < 0 ? rc : emit(d, &row, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const diff_args *args = in;
    VLS_AUTO(diffing)
    diffing d = {.view = view,
                 .args = args,
                 .path_count = args->paths.count,
                 .source = {.reach = {.root = -1}}};
    bool both = args->nodes == args->context;
    int rc = read_points(&d, err);

    (void)out;
    vls_buf_init(&d.patch, view->arena.env, VLS_PATCH_MAX);
    if (rc == 0)
        rc = vls_paths_resolve(&d.paths, &view->arena, args->paths.items, d.path_count, err);
    if (rc == 0 && (both || args->context))
        rc = check_log(&d, err);
    if (rc == 0 && args->patch)
        rc = open_source(&d, err);
    if (rc == 0 && (both || args->nodes))
        rc = tell_nodes(&d, err);
    if (rc == 0 && (both || args->context))
        rc = tell_slots(&d, err);
    if (rc == 0 && args->stat)
        rc = tell_summary(&d, err);
    return vls_settle(rc);
}

const valise_op vls_op_diff_tree_diff = {
    .size = sizeof(valise_op),
    .name = "tree:diff",
    .alias = "diff",
    .brief = "Compare two states of the files and what is known about them.",
    .help = "A state is given as a root of the tree or of the context (its first digits will do), "
            "as a\nversion such as v12, as a checkpoint, or as a seq or a time of the log. A "
            "version stands\nfor what was known when it was recorded, `now` for the newest "
            "state.\n\nFiles are compared as they were last scanned: run `valise scan` first, or "
            "compare the\nfiles on disk with `valise checkpoint diff`. -p shows the lines of a "
            "file if both sides\nare known: from a checkpoint, or from the file if it is still the "
            "same. `git apply` and\n`patch -p1` read what `--nodes -p` writes.\n\nWith --exit-code "
            "the exit code is 8 when there are differences.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST | VALISE_OP_ASKS,
    .needs = "context:read",
    .in = diff_in,
    .in_size = sizeof(diff_args),
    .out = diff_out,
    .out_size = sizeof(diff_row),
    .query = query,
    .example = "{\"from\":\"v1\",\"paths\":[\"src\"],\"patch\":true}",
};
