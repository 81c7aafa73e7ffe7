/* op_frame_put.c -- frame:put, say something about a node. [C8] [C9] [C10] */
#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "context/context.h"
#include "context/ops.h"
#include "context/scan_problems.h"
#include "context/slot.h"
#include "store/view.h"

static const valise_field put_in[] = {
    VLS_NODE_FIELD(vls_frame_put_args),
    VALISE_FIELD(vls_frame_put_args, content, DATA,
                 VALISE_REQUIRED | VALISE_POSITIONAL | VALISE_FILE,
                 "A file with the content, or - for standard input."),
    VALISE_FIELD_WITH(vls_frame_put_args, type, STR, VALISE_NULLABLE,
                      "Type of the frame (default: notes).", .max = VLS_FRAME_TYPE_MAX,
                      .ref = "frame:list.type"),
    VALISE_FIELD_AS(vls_frame_put_args, frame_id, "frameId", ID, VALISE_NULLABLE,
                    "Fail unless the frame gets this id."),
    VALISE_FIELD_WITH(vls_frame_put_args, basis, STR, VALISE_NULLABLE,
                      "Id of an earlier version of the node that it describes; the head stays.",
                      .max = 64),
    VALISE_FIELD(
        vls_frame_put_args, recipe, DATA, VALISE_NULLABLE | VALISE_FILE,
        "A file with the recipe that a program followed; the frame then counts as external."),
    VALISE_FIELD_WITH(vls_frame_put_args, metadata, JSON, VALISE_NULLABLE,
                      "Any other metadata, as JSON.", .max = VLS_SLOT_METADATA_MAX),
    VALISE_FIELD_AS_WITH(vls_frame_put_args, media_type, "mediaType", STR, VALISE_NULLABLE,
                         "Media type of the content, such as text/markdown.",
                         .max = VLS_SLOT_MEDIA_TYPE_MAX),
    VLS_NO_SCAN_FIELD(vls_frame_put_args),
    VALISE_FIELD_END,
};

static const valise_field put_out[] = {
    VALISE_FIELD_AS(vls_frame_put_result, frame_id, "frameId", ID, VALISE_REQUIRED,
                    "Id of the frame."),
    VALISE_FIELD(vls_frame_put_result, existed, BOOL, VALISE_REQUIRED,
                 "It was in the slot before."),
    VALISE_FIELD(vls_frame_put_result, head, BOOL, VALISE_REQUIRED, "It is the head."),
    VALISE_FIELD_AS(vls_frame_put_result, previous_head, "previousHead", ID, VALISE_NULLABLE,
                    "What was the head."),
    VALISE_FIELD(vls_frame_put_result, path, PATH, VALISE_REQUIRED, "Path of the node."),
    VALISE_FIELD(vls_frame_put_result, type, STR, VALISE_REQUIRED, "Type of the frame."),
    VALISE_FIELD_AS(vls_frame_put_result, node_id, "nodeId", ID, VALISE_REQUIRED, "The node."),
    VALISE_FIELD(vls_frame_put_result, seq, INT, VALISE_REQUIRED,
                 "Of the log, when it came into the slot or became its head."),
    VALISE_FIELD_AS(vls_frame_put_result, frame_set_root, "frameSetRoot", ID, VALISE_REQUIRED,
                    "Root of all frames of the path."),
    VALISE_FIELD_AS(vls_frame_put_result, context_root, "contextRoot", ID, VALISE_REQUIRED,
                    "Root of all heads."),
    VALISE_FIELD_AS(vls_frame_put_result, ambiguous_count, "ambiguousCount", INT, VALISE_PASSING,
                    "What the look at the files saw that may have moved, but to or from more than "
                    "one place: it was not followed."),
    VALISE_FIELD_WITH(vls_frame_put_result, ambiguous, LIST, VALISE_PASSING, "The first of that.",
                      .more = &vls_scan_problem_item),
    VALISE_FIELD_END,
};

static valise_str type_of(const vls_frame_put_args *args)
{
    return args->type.ptr ? args->type : VLS_STR(VLS_FRAME_TYPE_USUAL);
}

/* ---- which node ---- */

/* What lies there now has another id; or it lies elsewhere, which only who may put there hears. */
static int fail_outdated(const vls_place *place, valise_view *view, valise_str type,
                         valise_error *err)
{
    vls_place now;
    int rc = vls_place_now(&now, view, place, "context:write", type, err);

    if (rc == 0)
        return vls_place_fail(place, err);
    if (rc < 0)
        return rc;
    if (!vls_str_equal(now.path, place->path))
        (void)vls_fail(err, VALISE_E_CONFLICT, "node %s is now at '%s', as %s",
                       vls_id_hex(&place->node.id).s, vls_text_short(now.path).s,
                       vls_id_hex(&now.node.id).s);
    else
        (void)vls_fail(err, VALISE_E_CONFLICT,
                       "node %s is no longer what is at '%s': that is now %s",
                       vls_id_hex(&place->node.id).s, vls_text_short(place->path).s,
                       vls_id_hex(&now.node.id).s);
    vls_hint(err,
             "give the path to write about what is there now, and also --basis %.16s to write "
             "about how it was",
             vls_id_hex(&place->node.id).s);
    return VALISE_E_CONFLICT;
}

typedef struct asking {
    valise_view *view;
    valise_str path;
    int64_t after, until;
} asking;

static int has_left(void *arg, const vls_slot_row *slot, valise_error *err)
{
    const asking *a = arg;

    return vls_slot_left(a->view, slot, a->path, a->after, a->until, err);
}

/* Is what lies here what that node became? 1, or 0: it lay elsewhere, or went away from here with
 * what was said about it. */
static int has_become(const vls_place *place, valise_view *view, const vls_tree_found *node,
                      valise_error *err)
{
    asking a = {.view = view, .path = node->path};
    bool same = vls_str_equal(node->path, place->path);
    valise_str path;
    int rc = vls_tree_went(&a.after, &a.until, view, &place->tree, node, err);

    if (rc <= 0)
        return rc < 0 ? rc : same;
    rc = vls_slot_each(view, &place->tree.id, place->path, has_left, &a, err);
    if (rc != 0 || !same)
        return rc;
    rc = vls_slot_moved_to(&path, view, &place->tree.id, node->path, a.after, a.until, err);
    return rc < 0 ? rc : rc == 0;
}

/* The version of the node that the frame is about: what lies there, or an earlier one. */
static int find_basis(vls_tree_found *out, bool *attach, const vls_place *place, valise_view *view,
                      valise_str basis, valise_error *err)
{
    int rc, came = 1;

    *out = place->node;
    *attach = false;
    if (!basis.ptr)
        return 0;
    rc = vls_tree_find(out, view, &place->tree, place->version, basis, err);
    if (rc == VALISE_E_CONFLICT) { /* without those that it could be, which lie anywhere */
        (void)vls_fail(err, rc, "'%s' is ambiguous", vls_text_short(basis).s);
        vls_hint(err, "give more digits");
    }
    if (rc == 0) {
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "there is no node '%s' to use as the basis",
                      vls_text_short(basis).s);
        vls_place_hint(&place->tree, "the basis must be an earlier version of the same node", err);
    }
    if (rc > 0)
        came = has_become(place, view, out, err);
    if (came < 0)
        return came;
    if (rc > 0 && !came) {
        /* Which it is, and where, is not for everybody to hear who may say something here. */
        (void)vls_fail(err, VALISE_E_INVALID, "node %.*s was never at '%s'", VALISE_STR_ARG(basis),
                       vls_text_short(place->path).s);
        vls_hint(err, "the basis must be an earlier version of the same node");
        return VALISE_E_INVALID;
    }
    *attach = rc == 2;
    return vls_settle(rc);
}

/* ---- the frame ---- */

static int write_basis(vls_buf *out, valise_view *view, const vls_frame_put_args *args,
                       const vls_tree_found *node, valise_error *err)
{
    vls_dependency dep = {.kind = VLS_DEP_NODE, .id = node->node.object};
    VLS_AUTO(buf) vls_buf recipe = {0};
    valise_str bytes = args->recipe.bytes;
    int rc = 0;

    if (args->recipe.size != VALISE_NONE) {
        vls_dependency how = {.kind = VLS_DEP_RECIPE};
        vls_buf_init(&recipe, view->arena.env, VLS_RECIPE_MAX);
        if (!bytes.ptr)
            rc = valise_view_object(&bytes, view, &args->recipe.id, err);
        vls_buf_add_text(&recipe, VLS_RECIPE_EXTERNAL);
        vls_buf_add(&recipe, bytes);
        if (rc == 0 && bytes.len > VLS_RECIPE_MAX - 9)
            return vls_fail(err, VALISE_E_TOO_LARGE,
                            "the recipe has %zu bytes; at most %u are allowed", bytes.len,
                            (unsigned)VLS_RECIPE_MAX - 9);
        if (rc == 0)
            rc = vls_buf_check(&recipe, err);
        if (rc == 0)
            rc = valise_view_add(&how.id, view, "recipe", vls_buf_str(&recipe), err);
        if (rc < 0)
            return rc;
        vls_basis_add(out, &how);
    }
    vls_basis_add(out, &dep);
    return vls_buf_check(out, err);
}

static int check_size(valise_view *view, const vls_frame_put_args *args, valise_error *err)
{
    int64_t most;
    int rc = vls_context_frame_max(&most, view, err);

    /* What was accepted once is accepted again, whatever the configuration says today. */
    if (rc < 0 || view->replaying || args->content.size <= most)
        return rc;
    (void)vls_fail(err, VALISE_E_TOO_LARGE, "the content has %lld bytes; at most %lld are allowed",
                   (long long)args->content.size, (long long)most);
    if (args->content.size <= VLS_FRAME_CONTENT_MAX)
        vls_hint(err, "to allow more: valise config set context.frame-max %lld",
                 (long long)args->content.size);
    return VALISE_E_TOO_LARGE;
}

static int make(vls_frame_row *out, vls_frame_new *from, valise_view *view,
                const vls_frame_put_args *args, const vls_tree_found *node, vls_buf *basis,
                valise_error *err)
{
    int rc = write_basis(basis, view, args, node, err);

    if (rc < 0)
        return rc;
    *from = (vls_frame_new){.type = type_of(args),
                            .agent = valise_view_stamp(view)->actor,
                            .basis = vls_buf_str(basis),
                            .content = args->content};
    rc = vls_frame_make(out, view, from, err);
    if (rc < 0 || vls_id_is_none(&args->frame_id) || vls_id_equal(&args->frame_id, &out->id))
        return rc;
    (void)vls_fail(err, VALISE_E_INVALID, "the frame would be %s and not %s, as declared",
                   vls_id_hex(&out->id).s, vls_id_hex(&args->frame_id).s);
    vls_hint(err, "its content, type, agent or node is not the declared one; nothing was written");
    return VALISE_E_INVALID;
}

/* ---- all of it ---- */

static int answer(vls_frame_put_result *out, valise_view *view, const vls_place *place,
                  const vls_tree_found *node, const vls_frame_row *frame, const vls_slot_done *done,
                  valise_error *err)
{
    const vls_scan_seen *seen = view->seen;
    vls_context_row context = {.slots = 0};
    vls_slot_entry_row entry;
    int rc = vls_slot_find(&entry, view, &done->slot.id, &frame->id, err);

    *out = (vls_frame_put_result){.frame_id = frame->id,
                                  .existed = done->existed,
                                  .head = vls_id_equal(&done->slot.head, &frame->id),
                                  .previous_head = done->previous,
                                  .path = place->path,
                                  .type = frame->type,
                                  .node_id = node->id,
                                  .seq = rc > 0 ? entry.seq : 0};
    if (rc >= 0)
        rc = vls_slot_path_root(&out->frame_set_root, view, &place->tree.id, place->path, err);
    if (rc == 0)
        rc = vls_context_get(&context, view, &place->tree.id, err);
    if (rc == 0)
        out->context_root = context.root;
    if (seen) {
        out->ambiguous = seen->ambiguous;
        out->ambiguous_count = seen->ambiguous_count;
    }
    return rc;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_frame_put_args *args = in;
    VLS_AUTO(buf) vls_buf basis = {0};
    vls_slot_put_args put = {.media_type = args->media_type, .metadata = args->metadata};
    vls_place place;
    vls_tree_found node;
    vls_frame_row frame;
    vls_frame_new from;
    vls_slot_done done;
    int rc = vls_place_find(&place, view, args->node, VLS_STR(""), err);

    vls_buf_init(&basis, view->arena.env, VLS_BASIS_MAX);
    if (rc == 0)
        rc = vls_place_allows(&place, view, "context:write", type_of(args), err);
    if (rc == 0 && place.outdated)
        rc = fail_outdated(&place, view, type_of(args), err);
    if (rc == 0 && !place.there)
        rc = vls_place_fail(&place, err);
    if (rc == 0)
        rc = check_size(view, args, err);
    if (rc == 0)
        rc = find_basis(&node, &put.attach, &place, view, args->basis, err);
    if (rc == 0)
        rc = make(&frame, &from, view, args, &node, &basis, err);
    if (rc == 0)
        rc = vls_frame_put(view, &frame, &from, err);
    if (rc < 0)
        return rc;
    put.tree = place.tree.id;
    put.path = place.path;
    put.dir = place.node.node.kind == VLS_NODE_DIR;
    put.frame = &frame;
    put.node = node.id;
    rc = vls_slot_put(&done, view, &put, err);
    return rc < 0 ? rc : answer(out, view, &place, &node, &frame, &done, err);
}

/* ---- before ---- */

static int prepare(valise_prepare *p, const void *in, valise_error *err)
{
    const vls_frame_put_args *args = in;

    return vls_place_prepare(p, args->node, args->no_scan, err);
}

/* The head's frame id, for `expect`. */
static int current(valise_str *json, valise_view *view, const void *in, valise_error *err)
{
    const vls_frame_put_args *args = in;
    vls_place place;
    vls_slot_row slot;
    char room[sizeof(vls_id_text) + 2];
    int rc = vls_place_find(&place, view, args->node, VLS_STR(""), err);

    /* What is there is told in a conflict: only to who might put something here. */
    if (rc == 0)
        rc = vls_place_allows(&place, view, "context:write", type_of(args), err);
    if (rc == 0)
        rc = vls_slot_get(&slot, view, &place.tree.id, place.path, type_of(args), err);
    if (rc < 0)
        return rc;
    if (rc == 0 || !vls_slot_has_head(&slot)) {
        *json = VLS_STR("null");
        return 0;
    }
    (void)snprintf(room, sizeof(room), "\"%s\"", vls_id_hex(&slot.head).s);
    return vls_arena_dup(json, &view->arena, valise_str_of(room), err);
}

const valise_op vls_op_context_frame_put = {
    .size = sizeof(valise_op),
    .name = "frame:put",
    .alias = "put-frame",
    .brief = "Record a note (a frame) about a file or directory.",
    .help = "A frame is immutable. Its id is a hash of the content, its type, its author and "
            "the\nfile as it is now. It becomes the head, the current frame of this type for the "
            "node; the\nformer head stays in the history.\n\nPutting the frame that is the head "
            "already changes nothing. Putting an earlier one makes\nit the head again.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT | VALISE_OP_ASKS,
    .needs = "context:write",
    .in = put_in,
    .in_size = sizeof(vls_frame_put_args),
    .out = put_out,
    .out_size = sizeof(vls_frame_put_result),
    .current = current,
    .expect_help = "the frame id of the head, or null",
    .decide = decide,
    .prepare = prepare,
    .example =
        "{\"content\":\"UGFyc2VzIGRhdGVzLgo=\",\"node\":\"lib/date.c\",\"type\":\"summary\"}",
};
