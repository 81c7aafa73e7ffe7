/* op_frame_show.c -- frame:show, one frame by its id: what it says, what it was made of, and where
 * it is. */
#include "base/hex.h"
#include "base/str.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "context/context.h"
#include "context/ops.h"
#include "context/shown.h"
#include "context/slot.h"
#include "store/view.h"

#define SLOTS_MAX 64u  /* that are told; more are only counted */
#define ENTRIES_MAX 64 /* of a child's slot that are looked at, the newest first */

typedef vls_frame_show_args show_args;
typedef vls_frame_show_result show_result;

/* What it was made of, and the frame that said so where that can be found. */
typedef struct dependency {
    valise_frame_part part; /* what functions in C get */
    valise_id frame;        /* zero: it is not known */
} dependency;

static const valise_field show_in[] = {
    VALISE_FIELD_WITH(show_args, frame, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Id of the frame, or its first digits.", .max = 64, .ref = "frame"),
    VLS_NO_SCAN_FIELD(show_args),
    VALISE_FIELD_END,
};

static const char *const dep_kinds[] = {"none", "node", "said", "recipe", NULL};

static const valise_field dependency_fields[] = {
    VALISE_FIELD_AS_WITH(dependency, part.kind, "kind", ENUM, VALISE_REQUIRED, "Its kind.",
                         .more = dep_kinds),
    VALISE_FIELD_AS(dependency, part.id, "id", ID, VALISE_REQUIRED,
                    "Object id of a node, of a recipe, or of a content."),
    VALISE_FIELD_AS(dependency, part.name, "name", PATH, VALISE_NULLABLE,
                    "Said: name of the child."),
    VALISE_FIELD_AS(dependency, part.type, "type", STR, VALISE_NULLABLE,
                    "Said: type of its frame."),
    VALISE_FIELD_AS(dependency, part.agent, "agent", STR, VALISE_NULLABLE, "Said: who said it."),
    VALISE_FIELD_AS(dependency, part.directory, "directory", BOOL, 0,
                    "Said: the child is a directory."),
    VALISE_FIELD_AS(dependency, frame, "frameId", ID, VALISE_NULLABLE,
                    "Said: the frame, where the child still has it."),
    VALISE_FIELD_END,
};
static const valise_struct dependency_struct = {sizeof(dependency), dependency_fields};
static const valise_field dependency_item = {
    .name = "dependency", .type = VALISE_T_STRUCT, .more = &dependency_struct};

static const valise_field show_out[] = {
    VALISE_FIELD_AS(show_result, frame_id, "frameId", ID, VALISE_REQUIRED, "Its id."),
    VALISE_FIELD(show_result, type, STR, VALISE_REQUIRED, "Its type."),
    VALISE_FIELD(show_result, agent, STR, VALISE_REQUIRED, "Who wrote it."),
    VALISE_FIELD_WITH(show_result, kind, ENUM, VALISE_REQUIRED, "How it came about.",
                      .more = vls_frame_kinds),
    VALISE_FIELD(show_result, basis, ID, VALISE_REQUIRED, "Hash of what it was made of."),
    VALISE_FIELD(show_result, recipe, ID, VALISE_NULLABLE, "How it was made."),
    VALISE_FIELD_AS_WITH(show_result, made_of, "madeOf", LIST, VALISE_REQUIRED,
                         "What it was made of, in order.", .more = &dependency_item),
    VALISE_FIELD(show_result, size, INT, VALISE_REQUIRED, "Bytes of the content."),
    VALISE_FIELD(show_result, erased, BOOL, 0, "Its content was erased."),
    VALISE_FIELD(show_result, text, STR, VALISE_NULLABLE, "The content, where it is text."),
    VALISE_FIELD(show_result, data, BYTES, VALISE_NULLABLE, "The content, where it is not."),
    VALISE_FIELD_AS(show_result, slot_count, "slotCount", INT, VALISE_REQUIRED,
                    "In how many slots it is."),
    VALISE_FIELD_WITH(show_result, slots, LIST, VALISE_REQUIRED,
                      "The first of them, and whether it holds there.", .more = &vls_shown_item),
    VALISE_FIELD_END,
};

/* ---- what it was made of ---- */

/* The newest entry of a slot whose frame says that. */
static int find_said(valise_id *out, valise_view *view, const vls_slot_row *slot,
                     const vls_dependency *dep, valise_error *err)
{
    vls_slot_entry_row entry;
    vls_frame_row frame;

    for (int64_t i = slot->entries; i > VLS_MAX(slot->entries - ENTRIES_MAX, 0); i--) {
        int rc = vls_slot_entry(&entry, view, &slot->id, i, err);
        if (rc > 0 && !vls_id_is_none(&entry.frame))
            rc = vls_frame_get(&frame, view, &entry.frame, err);
        else
            rc = vls_settle(rc);
        if (rc < 0)
            return rc;
        if (rc > 0 && vls_id_equal(&frame.content, &dep->id) &&
            vls_str_equal(frame.agent, dep->agent)) {
            *out = frame.id;
            return 0;
        }
    }
    return 0;
}

/* A basis names what a child's frame said and not the frame: it may be said again by another one
 * that was made of something else. So it is looked for where the child is. */
static int look_said(valise_id *out, valise_view *view, const vls_shown *where,
                     const vls_dependency *dep, valise_error *err)
{
    VLS_AUTO(buf) vls_buf path = {0};
    vls_tree_row tree;
    vls_slot_row slot;
    int rc;

    if (dep->kind != VLS_DEP_SAID || !where || (where->meta && where->meta->closed))
        return 0;
    vls_buf_init(&path, view->arena.env, VLS_PATH_MAX);
    vls_path_below(&path, where->path, dep->name);
    if (vls_buf_check(&path, NULL) < 0)
        return path.failed == VALISE_E_NO_MEMORY ? vls_fail_memory(err) : 0;
    rc = vls_tree_head(&tree, view, err);
    if (rc > 0)
        rc = vls_path_readable(view, vls_buf_str(&path), dep->type, err);
    if (rc > 0)
        rc = vls_slot_get(&slot, view, &tree.id, vls_buf_str(&path), dep->type, err);
    return rc <= 0 ? rc : find_said(out, view, &slot, dep, err);
}

/* where: a slot that the frame is in; NULL: none. */
static int list_basis(valise_list *out, valise_view *view, const valise_id *basis,
                      const vls_shown *where, valise_error *err)
{
    vls_vec(const dependency *) list = VLS_VEC_INIT;
    vls_arena *arena = &view->arena;
    vls_dependency dep;
    vls_reader in;
    valise_str bytes;
    int rc = valise_view_object(&bytes, view, basis, err);

    if (rc == VALISE_E_NOT_FOUND) { /* erased */
        vls_error_clear(err);
        bytes = VLS_STR("");
        rc = 0;
    }
    if (rc < 0)
        return rc;
    in = vls_reader_of(bytes);
    while ((rc = vls_basis_next(&dep, &in, err)) > 0) {
        dependency *d = vls_arena_zalloc(arena, sizeof(*d));
        if (!d || !vls_vec_push_in(&list, arena, d))
            return vls_arena_fail(arena, err);
        d->part = (valise_frame_part){dep.kind, dep.id, dep.name, dep.type, dep.agent, dep.dir};
        rc = look_said(&d->frame, view, where, &dep, err);
        if (rc < 0)
            return rc;
    }
    *out = (valise_list){list.ptr ? (const void *)list.ptr : "", list.len};
    return rc;
}

/* ---- where it is ---- */

typedef struct looking {
    valise_view *view;
    const vls_frame_row *frame;
    vls_tree_row tree;
    bool no_scan;
    int64_t count;       /* of slots that the actor may read */
    int denied;          /* there are others */
    valise_error reason; /* of the last of these */
    vls_vec(const vls_shown *) list;
} looking;

static int add_slot(void *arg, const vls_slot_row *slot, valise_error *err)
{
    looking *l = arg;
    vls_arena *arena = &l->view->arena;
    vls_shown *shown;
    vls_place place;
    int rc;

    if (!vls_uuid_equal(&slot->tree, &l->tree.id))
        return 0;
    rc = vls_place_of(&place, l->view, &l->tree, slot->path, err);
    if (rc < 0)
        return rc;
    rc = vls_place_allows(&place, l->view, "context:read", slot->type, &l->reason);
    if (rc == VALISE_E_DENIED) {
        l->denied = rc;
        return 0;
    }
    if (rc < 0 && err)
        *err = l->reason;
    if (rc < 0 || ++l->count > SLOTS_MAX)
        return rc;
    shown = vls_arena_zalloc(arena, sizeof(*shown));
    if (!shown || !vls_vec_push_in(&l->list, arena, shown))
        return vls_arena_fail(arena, err);
    rc = vls_place_look(&place, l->view, l->no_scan, err);
    return rc < 0 ? rc : vls_shown_fill(shown, l->view, &place, slot, l->frame, err);
}

/* One who may read only some paths or types may see the frame where it is in one of these. One that
 * is nowhere (yet) has a type alone. */
static int judge(const looking *l, valise_error *err)
{
    const char *attrs[] = {"type", NULL, NULL};
    valise_str type;
    int rc;

    if (l->count > 0)
        return 0;
    if (l->denied < 0) {
        if (err)
            *err = l->reason;
        return l->denied;
    }
    rc = vls_arena_dup(&type, &l->view->arena, l->frame->type, err);
    attrs[1] = type.ptr;
    return rc < 0 ? rc : valise_view_allows(l->view, "context:read", attrs, err);
}

static int find_slots(show_result *out, valise_view *view, const vls_frame_row *frame, bool no_scan,
                      valise_error *err)
{
    looking l = {.view = view, .frame = frame, .no_scan = no_scan, .reason = VALISE_ERROR_INIT};
    int rc = vls_tree_head(&l.tree, view, err);

    if (rc > 0)
        rc = vls_slot_each_of(view, &frame->id, add_slot, &l, err);
    if (rc == 0)
        rc = judge(&l, err);
    if (rc < 0)
        return rc;
    out->slots = (valise_list){l.list.ptr ? (const void *)l.list.ptr : "", l.list.len};
    out->slot_count = l.count;
    return 0;
}

/* ---- all of it ---- */

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const show_args *args = in;
    show_result *result = out;
    const vls_shown *where = NULL;
    vls_frame_row frame;
    vls_shown shown = {0};
    valise_id id;
    int rc = vls_frame_id_of(&id, view, args->frame, err);

    if (rc < 0)
        return rc;
    rc = vls_frame_get(&frame, view, &id, err);
    if (rc == 0) {
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "there is no frame %s", vls_id_hex(&id).s);
        vls_hint(
            err,
            "'valise list-frames NODE' lists them; frames of deleted files may have been pruned");
    }
    if (rc > 0)
        rc = find_slots(result, view, &frame, args->no_scan, err);
    if (rc < 0)
        return rc;
    shown.erased = vls_id_is_none(&frame.content);
    rc = vls_shown_content(&shown, NULL, view, &frame, err);
    if (rc < 0)
        return rc;
    result->frame_id = frame.id;
    result->type = frame.type;
    result->agent = frame.agent;
    result->kind = frame.kind;
    result->basis = frame.basis;
    result->recipe = frame.recipe;
    result->size = frame.size;
    result->erased = shown.erased;
    result->text = shown.text;
    result->data = shown.data;
    if (result->slots.count > 0)
        where = *(const vls_shown *const *)result->slots.items;
    return list_basis(&result->made_of, view, &frame.basis, where, err);
}

const valise_op vls_op_context_frame_show = {
    .size = sizeof(valise_op),
    .name = "frame:show",
    .brief = "Show one frame and what it was made from.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_ASKS,
    .needs = "context:read",
    .in = show_in,
    .in_size = sizeof(show_args),
    .out = show_out,
    .out_size = sizeof(show_result),
    .query = query,
    .example = "{\"frame\":\"7b531a68e313f0eb4e82bd36cbed8bc918bd45b1eb661c594cffd8aa07e7333b\"}",
};
