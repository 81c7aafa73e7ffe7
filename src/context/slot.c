/* slot.c -- slots: the tables, and what is read from them. */
#include "context/slot.h"

#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "base/uuid.h"
#include "context/merkle.h"
#include "context/slot_impl.h"
#include "store/view.h"
#include "tree/node.h"
#include "tree/rows.h"

static const char *const entry_kinds[] = {"put",  "attach", "invalidate", "reaffirm",
                                          "move", "close",  NULL};

/* ---- tables ---- */

#define PATH_FIELD(row)                                                                            \
    VALISE_FIELD_WITH(row, path, PATH, VALISE_KEY, "Path of the node.", .max = VLS_PATH_MAX)
#define TYPE_FIELD(row)                                                                            \
    VALISE_FIELD_WITH(row, type, STR, VALISE_REQUIRED | VALISE_KEY, "Type of its frames.",         \
                      .min = 1, .max = VLS_FRAME_TYPE_MAX)

static const valise_field context_fields[] = {
    VALISE_FIELD_WITH(vls_context_row, tree, UUID, VALISE_REQUIRED | VALISE_KEY, "The tree.",
                      .ref = "tree"),
    VALISE_FIELD(vls_context_row, root, ID, VALISE_REQUIRED, "The context root."),
    VALISE_FIELD(vls_context_row, slots, INT, 0, "How many slots there are."),
    VALISE_FIELD(vls_context_row, heads, INT, 0, "How many of them have a head."),
    VALISE_FIELD(vls_context_row, marked, INT, 0, "How many heads are marked."),
    VALISE_FIELD(vls_context_row, frames, INT, 0, "How many frames there are in all slots."),
    VALISE_FIELD(vls_context_row, derived, INT, 0, "How many heads were made by a recipe."),
    VALISE_FIELD_END,
};

/* By the context root of the workspace's own tree. */
static int named_context(valise_view *view, valise_str text, bool widely, valise_named_fn *fn,
                         void *arg, valise_error *err)
{
    vls_context_row context;
    vls_tree_row tree;
    int rc = widely || !vls_tree_is_digits(text) ? 0 : vls_tree_head(&tree, view, err);

    if (rc <= 0)
        return rc;
    rc = vls_context_get(&context, view, &tree.id, err);
    if (rc < 0 || context.slots == 0 || !vls_tree_has_digits(&context.root, text))
        return rc;
    return fn(arg, &context, vls_id_hex(&context.root).s, err);
}

const valise_coll vls_contexts = {.size = sizeof(valise_coll),
                                  .name = "context_root",
                                  .help = "What is known about a tree, in numbers.",
                                  .fields = context_fields,
                                  .row_size = sizeof(vls_context_row),
                                  .check = vls_slot_check_context,
                                  .needs = "context:read",
                                  .named = named_context};

static const valise_field slot_fields[] = {
    VALISE_FIELD_WITH(vls_slot_row, tree, UUID, VALISE_REQUIRED | VALISE_KEY, "The tree.",
                      .ref = "tree"),
    PATH_FIELD(vls_slot_row),
    TYPE_FIELD(vls_slot_row),
    VALISE_FIELD_WITH(vls_slot_row, id, UUID, VALISE_REQUIRED, "Id of the slot.",
                      .ref = "slot_entry"),
    VALISE_FIELD_WITH(vls_slot_row, head, ID, VALISE_NULLABLE, "The frame that counts.",
                      .ref = "frame"),
    VALISE_FIELD_AS(vls_slot_row, head_entry, "headEntry", INT, 0, "The entry that made it so."),
    VALISE_FIELD(vls_slot_row, entries, INT, 0, "Number of its last entry."),
    VALISE_FIELD(vls_slot_row, frames, INT, 0, "How many frames are in it."),
    VALISE_FIELD(vls_slot_row, root, ID, VALISE_REQUIRED, "Root of the set of its frames."),
    VALISE_FIELD(vls_slot_row, marked, BOOL, 0, "The head was invalidated."),
    VALISE_FIELD(vls_slot_row, dir, BOOL, 0, "It is about a directory."),
    VALISE_FIELD_WITH(vls_slot_row, recipe, ID, VALISE_NULLABLE, "The recipe of the head.",
                      .ref = "object"),
    VALISE_FIELD_AS_WITH(vls_slot_row, moved_from, "movedFrom", PATH, VALISE_NULLABLE,
                         "Where it lay before.", .max = VLS_PATH_MAX),
    VALISE_FIELD_END,
};

static const char *const by_id[] = {"id", NULL};
static const char *const by_recipe[] = {"recipe", NULL};
static const valise_coll_index slot_indexes[] = {
    {"id", by_id}, {"recipe", by_recipe}, {NULL, NULL}};

const valise_coll vls_slots = {.size = sizeof(valise_coll),
                               .name = "slot",
                               .help = "Where the frames of one type about one node are.",
                               .fields = slot_fields,
                               .row_size = sizeof(vls_slot_row),
                               .indexes = slot_indexes,
                               .check = vls_slot_check_slot,
                               .event = vls_slot_event,
                               .needs = "context:read"};

static const valise_field entry_fields[] = {
    VALISE_FIELD_WITH(vls_slot_entry_row, slot, UUID, VALISE_REQUIRED | VALISE_KEY, "The slot.",
                      .ref = "merkle"),
    VALISE_FIELD(vls_slot_entry_row, number, INT, VALISE_REQUIRED | VALISE_KEY, "1, 2, 3."),
    VALISE_FIELD_WITH(vls_slot_entry_row, kind, ENUM, 0, "What happened.", .more = entry_kinds),
    VALISE_FIELD_WITH(vls_slot_entry_row, frame, ID, VALISE_NULLABLE, "The frame.", .ref = "frame"),
    VALISE_FIELD(vls_slot_entry_row, node, ID, VALISE_NULLABLE, "The node, as it was."),
    VALISE_FIELD(vls_slot_entry_row, seq, INT, 0, "Of the log."),
    VALISE_FIELD(vls_slot_entry_row, time, TIME, 0, "When."),
    VALISE_FIELD_WITH(vls_slot_entry_row, agent, STR, 0, "Who did it.", .max = VLS_FRAME_AGENT_MAX),
    VALISE_FIELD_AS_WITH(vls_slot_entry_row, media_type, "mediaType", STR, VALISE_NULLABLE,
                         "What the content is.", .max = VLS_SLOT_MEDIA_TYPE_MAX),
    VALISE_FIELD_WITH(vls_slot_entry_row, metadata, JSON, VALISE_NULLABLE | VALISE_CONTENT,
                      "Whatever else was told.", .max = VLS_SLOT_METADATA_MAX),
    VALISE_FIELD_WITH(vls_slot_entry_row, reason, STR, VALISE_NULLABLE | VALISE_CONTENT,
                      "Why it was invalidated.", .max = VLS_SLOT_REASON_MAX),
    VALISE_FIELD_AS_WITH(vls_slot_entry_row, regenerated_by, "regeneratedBy", STR, VALISE_NULLABLE,
                         "Who had it made again.", .max = VLS_FRAME_AGENT_MAX),
    VALISE_FIELD_WITH(vls_slot_entry_row, from, PATH, VALISE_NULLABLE, "Where it lay before.",
                      .max = VLS_PATH_MAX),
    VALISE_FIELD_END,
};

static const char *const by_frame[] = {"frame", "slot", "number", NULL};
static const valise_coll_index entry_indexes[] = {{"frame", by_frame}, {NULL, NULL}};

const valise_coll vls_slot_entries = {.size = sizeof(valise_coll),
                                      .name = "slot_entry",
                                      .help = "Something that happened to a slot.",
                                      .fields = entry_fields,
                                      .row_size = sizeof(vls_slot_entry_row),
                                      .flags = VALISE_COLL_QUIET | VALISE_COLL_IMMUTABLE,
                                      .indexes = entry_indexes,
                                      .check = vls_slot_check_entry,
                                      .needs = "context:read"};

static const valise_field closed_fields[] = {
    VALISE_FIELD_WITH(vls_slot_closed_row, tree, UUID, VALISE_REQUIRED | VALISE_KEY, "The tree.",
                      .ref = "tree"),
    PATH_FIELD(vls_slot_closed_row),
    TYPE_FIELD(vls_slot_closed_row),
    VALISE_FIELD_WITH(vls_slot_closed_row, id, UUID, VALISE_REQUIRED | VALISE_KEY,
                      "Id of the slot.", .ref = "slot_entry"),
    VALISE_FIELD_WITH(vls_slot_closed_row, head, ID, VALISE_NULLABLE, "Its last head.",
                      .ref = "frame"),
    VALISE_FIELD(vls_slot_closed_row, entries, INT, 0, "Number of its last entry."),
    VALISE_FIELD(vls_slot_closed_row, frames, INT, 0, "How many frames are in it."),
    VALISE_FIELD(vls_slot_closed_row, seq, INT, 0, "Of the log, when it was closed."),
    VALISE_FIELD_END,
};

static const valise_coll_index closed_indexes[] = {{"id", by_id}, {NULL, NULL}};

const valise_coll vls_slots_closed = {.size = sizeof(valise_coll),
                                      .name = "slot_closed",
                                      .help = "A slot whose file became a directory, or so.",
                                      .fields = closed_fields,
                                      .row_size = sizeof(vls_slot_closed_row),
                                      .flags = VALISE_COLL_QUIET | VALISE_COLL_IMMUTABLE,
                                      .indexes = closed_indexes,
                                      .check = vls_slot_check_closed,
                                      .event = vls_slot_closed_event,
                                      .needs = "context:read"};

/* ---- reading ---- */

int vls_context_get(vls_context_row *out, valise_view *view, const valise_uuid *tree,
                    valise_error *err)
{
    vls_context_row row = {.tree = *tree};
    int rc = valise_view_get(&row, view, &vls_contexts, err);

    if (rc == 0)
        rc = vls_merkle_root(&row.root, NULL, view, tree, err);
    if (rc >= 0)
        *out = row;
    return vls_settle(rc);
}

int vls_slot_get(vls_slot_row *out, valise_view *view, const valise_uuid *tree, valise_str path,
                 valise_str type, valise_error *err)
{
    vls_slot_row row = {.tree = *tree, .path = path, .type = type};
    int rc = valise_view_get(&row, view, &vls_slots, err);

    if (rc > 0)
        *out = row;
    return rc;
}

int vls_slot_each(valise_view *view, const valise_uuid *tree, valise_str path, vls_slot_fn *fn,
                  void *arg, valise_error *err)
{
    const vls_slot_row probe = {.tree = *tree, .path = path};
    const valise_select at_path = {.row = &probe, .equal = 2};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_row row;
    int rc = valise_view_scan(&scan, view, &vls_slots, &at_path, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = fn(arg, &row, err);
    return rc;
}

int vls_slot_each_below(valise_view *view, const valise_uuid *tree, valise_str dir, vls_slot_fn *fn,
                        void *arg, valise_error *err)
{
    VLS_AUTO(scan) valise_scan *scan = NULL;
    char room[VLS_PATH_MAX + 2];
    vls_buf prefix = {.ptr = room, .cap = sizeof(room), .max = VLS_PATH_MAX + 1};
    vls_slot_row row, probe = {.tree = *tree};
    const valise_select below = {.row = &probe, .equal = 1, .from = 1};
    int rc;

    vls_buf_add(&prefix, dir);
    if (dir.len > 0)
        vls_buf_add_byte(&prefix, '/');
    rc = vls_buf_check(&prefix, err);
    if (rc < 0)
        return rc;
    probe.path = vls_buf_str(&prefix);
    rc = valise_view_scan(&scan, view, &vls_slots, &below, err);
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (!vls_str_starts(row.path, probe.path))
            return 0;
        rc = row.path.len > 0 ? fn(arg, &row, err) : 0; /* the root lies not under itself */
    }
    return rc;
}

/* What is left of a slot that was closed. */
static vls_slot_row row_of_closed(const vls_slot_closed_row *closed)
{
    return (vls_slot_row){.tree = closed->tree,
                          .path = closed->path,
                          .type = closed->type,
                          .id = closed->id,
                          .entries = closed->entries,
                          .frames = closed->frames};
}

int vls_slot_each_closed(valise_view *view, const valise_uuid *tree, valise_str path,
                         vls_slot_fn *fn, void *arg, valise_error *err)
{
    const vls_slot_closed_row probe = {.tree = *tree, .path = path};
    const valise_select at_path = {.row = &probe, .equal = 2};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_closed_row row;
    int rc = valise_view_scan(&scan, view, &vls_slots_closed, &at_path, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        const vls_slot_row slot = row_of_closed(&row);
        rc = fn(arg, &slot, err);
    }
    return rc;
}

int vls_slot_by_id(vls_slot_row *out, valise_view *view, const valise_uuid *id, valise_error *err)
{
    const vls_slot_row probe = {.id = *id};
    const vls_slot_closed_row closed_probe = {.id = *id};
    const valise_select open = {.index = "id", .row = &probe, .equal = 1};
    const valise_select shut = {.index = "id", .row = &closed_probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *opened = NULL;
    VLS_AUTO(scan) valise_scan *closed = NULL;
    vls_slot_closed_row row;
    int rc = valise_view_scan(&opened, view, &vls_slots, &open, err);

    if (rc == 0)
        rc = valise_scan_next(out, opened, err);
    if (rc == 0)
        rc = valise_view_scan(&closed, view, &vls_slots_closed, &shut, err);
    if (rc == 0 && closed) {
        rc = valise_scan_next(&row, closed, err);
        if (rc > 0)
            *out = row_of_closed(&row);
    }
    if (rc > 0) {
        int kept = vls_slot_stay(out, view, err);
        return kept < 0 ? kept : 1;
    }
    return rc;
}

int vls_slot_stay(vls_slot_row *slot, valise_view *view, valise_error *err)
{
    int rc = vls_arena_dup(&slot->path, &view->arena, slot->path, err);

    if (rc == 0)
        rc = vls_arena_dup(&slot->type, &view->arena, slot->type, err);
    if (rc == 0 && slot->moved_from.ptr)
        rc = vls_arena_dup(&slot->moved_from, &view->arena, slot->moved_from, err);
    return rc;
}

int vls_slot_each_of(valise_view *view, const valise_id *frame, vls_slot_fn *fn, void *arg,
                     valise_error *err)
{
    const vls_slot_entry_row probe = {.frame = *frame};
    const valise_select select = {.index = "frame", .row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_entry_row row;
    vls_slot_row slot = {.entries = 0};
    int rc = valise_view_scan(&scan, view, &vls_slot_entries, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        bool again = vls_uuid_equal(&row.slot, &slot.id); /* they come one slot after the other */
        rc = again ? 0 : vls_slot_by_id(&slot, view, &row.slot, err);
        if (rc > 0)
            rc = fn(arg, &slot, err);
    }
    return rc;
}

int vls_slot_entry(vls_slot_entry_row *out, valise_view *view, const valise_uuid *slot,
                   int64_t number, valise_error *err)
{
    vls_slot_entry_row row = {.slot = *slot, .number = number};
    int rc = valise_view_get(&row, view, &vls_slot_entries, err);

    if (rc > 0)
        *out = row;
    return rc;
}

int vls_slot_fail_missing(const valise_view *view, const vls_slot_row *slot, const char *what,
                          valise_error *err)
{
    if (view->at >= view->txn->tip.seq)
        return vls_fail(err, VALISE_E_CORRUPT, "%s", what);
    (void)vls_fail(err, VALISE_E_LIMIT, "what was known about '%s' (%s) then was pruned since",
                   slot->path.len > 0 ? vls_text_short(slot->path).s : ".",
                   vls_text_short(slot->type).s);
    vls_hint(err, "to keep states from being pruned, pin them: 'valise pin add'");
    return VALISE_E_LIMIT;
}

int vls_slot_left(valise_view *view, const vls_slot_row *slot, valise_str path, int64_t after,
                  int64_t until, valise_error *err)
{
    vls_slot_entry_row entry;

    for (int64_t i = slot->moved_from.ptr ? slot->entries : 0; i > 0; i--) {
        int rc = vls_slot_entry(&entry, view, &slot->id, i, err);
        if (rc < 0 || (rc > 0 && entry.seq <= after))
            return vls_settle(rc);
        if (rc > 0 && entry.kind == VLS_ENTRY_MOVE && entry.seq <= until &&
            vls_str_equal(entry.from, path))
            return 1;
    }
    return 0;
}

int vls_slot_moved_to(valise_str *out, valise_view *view, const valise_uuid *tree, valise_str path,
                      int64_t after, int64_t until, valise_error *err)
{
    const vls_slot_row probe = {.tree = *tree};
    const valise_select of_tree = {.row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_row row;
    int rc = valise_view_scan(&scan, view, &vls_slots, &of_tree, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        valise_str at = row.path;
        rc = vls_slot_left(view, &row, path, after, until, err);
        if (rc > 0)
            rc = vls_arena_dup(out, &view->arena, at, err);
        else if (rc == 0)
            continue;
        return rc < 0 ? rc : 1;
    }
    return rc;
}

int vls_slot_find(vls_slot_entry_row *out, valise_view *view, const valise_uuid *slot,
                  const valise_id *frame, valise_error *err)
{
    const vls_slot_entry_row probe = {.frame = *frame, .slot = *slot};
    const valise_select select = {
        .index = "frame", .row = &probe, .equal = 2, .flags = VALISE_SCAN_REVERSE};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_entry_row row;
    int rc = valise_view_scan(&scan, view, &vls_slot_entries, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (row.kind == VLS_ENTRY_PUT || row.kind == VLS_ENTRY_ATTACH)
            return vls_slot_entry(out, view, slot, row.number, err); /* strings that stay */
        rc = 0;
    }
    return rc;
}

/* ---- roots ---- */

void vls_slot_key(valise_id *out, valise_str path, valise_str type)
{
    vls_hasher hasher;

    vls_hash_begin_tagged(&hasher, "valise.slot.1");
    vls_hash_field(&hasher, path);
    vls_hash_field(&hasher, type);
    vls_hash_end(out, &hasher);
}

void vls_slot_value(valise_id *out, const valise_id *head, bool marked)
{
    vls_hasher hasher;

    vls_hash_begin_tagged(&hasher, "valise.head.1");
    vls_hash_field_id(&hasher, head);
    vls_hash_field_u64(&hasher, marked);
    vls_hash_end(out, &hasher);
}

static int count_slot(void *arg, const vls_slot_row *slot, valise_error *err)
{
    (void)slot, (void)err;
    ++*(uint64_t *)arg;
    return 0;
}

static int hash_slot(void *arg, const vls_slot_row *slot, valise_error *err)
{
    (void)err;
    vls_hash_field(arg, slot->type);
    vls_hash_field_id(arg, &slot->root);
    return 0;
}

int vls_slot_path_root(valise_id *out, valise_view *view, const valise_uuid *tree, valise_str path,
                       valise_error *err)
{
    vls_hasher hasher;
    uint64_t count = 0;
    int rc = vls_slot_each(view, tree, path, count_slot, &count, err);

    if (rc < 0)
        return rc;
    vls_hash_begin_tagged(&hasher, "valise.frame-set.1");
    vls_hash_field_u64(&hasher, count);
    rc = vls_slot_each(view, tree, path, hash_slot, &hasher, err);
    if (rc == 0)
        vls_hash_end(out, &hasher);
    return rc;
}
