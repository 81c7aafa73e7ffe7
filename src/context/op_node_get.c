/* op_node_get.c -- node:get, a node and what is known about it. [C4] [C13] */
#include "base/str.h"
#include "base/vec.h"
#include "context/context.h"
#include "context/ops.h"
#include "context/shown.h"
#include "store/view.h"

#define CHILDREN_MAX 256 /* more are only counted */

typedef vls_node_get_args get_args;
typedef vls_node_get_meta get_meta;
typedef vls_node_get_result get_result;
typedef valise_tree_node record;
typedef valise_tree_child child;

static const valise_field get_in[] = {
    VLS_NODE_FIELD(get_args),
    VALISE_FIELD_WITH(get_args, view, STR, VALISE_NULLABLE,
                      "Which frames, how many and in which order; or the name of a view.",
                      .max = VLS_LENS_TEXT_MAX),
    VALISE_FIELD_WITH(
        get_args, at, STR, VALISE_NULLABLE,
        "The node as of this tree root or version (v12); or all as of a seq, a time or "
        "a commit (default: the newest).",
        .max = 64, .ref = "tree:list.treeRoot"),
    VLS_NO_SCAN_FIELD(get_args),
    VALISE_FIELD_END,
};

static const valise_field child_fields[] = {
    VALISE_FIELD(child, name, PATH, VALISE_REQUIRED, "Its name."),
    VALISE_FIELD_WITH(child, kind, ENUM, VALISE_REQUIRED, "Its kind.", .more = vls_node_kinds),
    VALISE_FIELD_AS(child, node_id, "nodeId", ID, VALISE_REQUIRED, "Its id."),
    VALISE_FIELD_END,
};
static const valise_struct child_struct = {sizeof(child), child_fields};
static const valise_field child_item = {
    .name = "child", .type = VALISE_T_STRUCT, .more = &child_struct};

static const valise_field record_fields[] = {
    VALISE_FIELD_AS(record, node_id, "nodeId", ID, VALISE_REQUIRED, "Its id."),
    VALISE_FIELD_AS(record, object_id, "objectId", ID, VALISE_REQUIRED,
                    "Id of what it is, wherever it lies."),
    VALISE_FIELD(record, path, PATH, VALISE_REQUIRED, "Its path."),
    VALISE_FIELD_WITH(record, kind, ENUM, VALISE_REQUIRED, "Its kind.", .more = vls_node_kinds),
    VALISE_FIELD(record, size, INT, VALISE_REQUIRED, "Bytes; of a directory: entries."),
    VALISE_FIELD(record, exec, BOOL, 0, "Its owner may run it."),
    VALISE_FIELD(record, content, ID, VALISE_NULLABLE, "Of a file: SHA-256 of its bytes."),
    VALISE_FIELD(record, target, PATH, VALISE_NULLABLE, "Of a link: where it points."),
    VALISE_FIELD(record, parent, PATH, VALISE_NULLABLE, "Path of the directory it is in."),
    VALISE_FIELD_AS(record, parent_id, "parentId", ID, VALISE_NULLABLE, "Id of that."),
    VALISE_FIELD_WITH(record, children, LIST, VALISE_NULLABLE,
                      "Of a directory with up to 256 entries: these.", .more = &child_item),
    VALISE_FIELD_END,
};
static const valise_struct record_struct = {sizeof(record), record_fields};

static const valise_field meta_fields[] = {
    VALISE_FIELD(get_meta, version, INT, VALISE_REQUIRED, "Version of the tree."),
    VALISE_FIELD_AS(get_meta, frame_set_root, "frameSetRoot", ID, VALISE_REQUIRED,
                    "Root of all frames of the path."),
    VLS_TREE_IS_FIELD(get_meta),
    VALISE_FIELD(get_meta, now, PATH, VALISE_NULLABLE, "Of an earlier one: where today's lies."),
    VALISE_FIELD_END,
};
static const valise_struct meta_struct = {sizeof(get_meta), meta_fields};

static const valise_field get_out[] = {
    VALISE_FIELD_WITH(get_result, node, STRUCT, VALISE_REQUIRED, "The node.",
                      .more = &record_struct),
    VALISE_FIELD_WITH(get_result, frames, LIST, VALISE_REQUIRED, "What is known about it.",
                      .more = &vls_shown_item),
    VALISE_FIELD(get_result, total, INT, VALISE_REQUIRED, "Frames there are."),
    VALISE_FIELD(get_result, matched, INT, VALISE_REQUIRED, "Frames that pass the filters."),
    VALISE_FIELD(get_result, returned, INT, VALISE_REQUIRED, "Frames that are shown."),
    VALISE_FIELD_AS(get_result, tree_root, "treeRoot", ID, VALISE_REQUIRED, "Root of the tree."),
    VALISE_FIELD_AS(get_result, context_root, "contextRoot", ID, VALISE_REQUIRED,
                    "Root of all heads."),
    VALISE_FIELD_AS(get_result, view_hash, "viewHash", ID, VALISE_REQUIRED, "Hash of the view."),
    VALISE_FIELD_WITH(get_result, meta, STRUCT, VALISE_REQUIRED,
                      "What else depends on how it came about.", .more = &meta_struct),
    VALISE_FIELD_END,
};

/* ---- the node ---- */

typedef struct listing {
    valise_view *view;
    vls_vec(const child *) list;
} listing;

static int add_child(void *arg, const vls_tree_found *found, valise_error *err)
{
    listing *l = arg;
    vls_arena *arena = &l->view->arena;
    child *c = vls_arena_zalloc(arena, sizeof(*c));
    int rc;

    if (!c || !vls_vec_push_in(&l->list, arena, c))
        return vls_arena_fail(arena, err);
    rc = vls_arena_dup(&c->name, arena, vls_path_name(found->path), err);
    c->kind = (int64_t)found->node.kind;
    c->node_id = found->id;
    return rc;
}

static int fill_parent(record *out, valise_view *view, const vls_place *place, valise_error *err)
{
    vls_tree_found parent;
    int rc;

    if (out->path.len == 0)
        return 0;
    out->parent = vls_path_parent(out->path);
    rc = vls_tree_get(&parent, view, &place->tree, place->version, out->parent, err);
    if (rc > 0)
        out->parent_id = parent.id;
    return vls_settle(rc);
}

static int fill_record(const record **out, valise_view *view, const vls_place *place,
                       valise_error *err)
{
    const vls_node *node = &place->node.node;
    record *r = vls_arena_zalloc(&view->arena, sizeof(*r));
    listing l = {.view = view};
    int rc = 0;

    if (!r)
        return vls_arena_fail(&view->arena, err);
    *r = (record){.node_id = place->node.id,
                  .object_id = node->object,
                  .path = place->path,
                  .kind = (int64_t)node->kind,
                  .size = node->size,
                  .exec = node->exec,
                  .content = node->content,
                  .target = node->target};
    if (node->kind == VLS_NODE_DIR && node->size <= CHILDREN_MAX) {
        rc = vls_tree_children(view, &place->tree, place->version, place->path, add_child, &l, err);
        r->children = (valise_list){l.list.ptr ? (const void *)l.list.ptr : "", l.list.len};
    }
    if (rc == 0)
        rc = fill_parent(r, view, place, err);
    if (rc == 0)
        *out = r;
    return rc;
}

/* ---- all of it ---- */

/* Where today's version of an earlier one lies. */
static int find_now(valise_str *out, valise_view *view, const vls_place *place, valise_error *err)
{
    vls_place now;
    int rc = vls_place_now(&now, view, place, "context:read", VLS_STR(""), err);

    if (rc > 0)
        *out = now.path;
    return vls_settle(rc);
}

static int fill_meta(get_result *out, valise_view *view, const vls_place *place, valise_error *err)
{
    get_meta *meta = vls_arena_zalloc(&view->arena, sizeof(*meta));
    int rc;

    if (!meta)
        return vls_arena_fail(&view->arena, err);
    meta->version = place->version;
    meta->tree = place->tree_is;
    out->meta = meta;
    rc = place->tree_is.ptr && place->version < place->tree.version
             ? find_now(&meta->now, view, place, err)
             : 0;
    if (rc < 0)
        return rc;
    return vls_slot_path_root(&meta->frame_set_root, view, &place->tree.id, place->path, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const get_args *args = in;
    get_result *result = out;
    vls_context_row context = {.slots = 0};
    vls_shown_list list = {0};
    vls_place place, followed;
    vls_lens lens;
    valise_str at = args->at;
    int rc = vls_place_when(&at, view, err);

    if (rc == 0)
        rc = vls_shown_lens(&lens, view, args->view, err);
    if (rc == 0)
        rc = vls_place_find(&place, view, args->node, at, err);
    if (rc == 0)
        rc = vls_place_allows(&place, view, "context:read", VLS_STR(""), err);
    if (rc == 0)
        rc = vls_place_look(&place, view, args->no_scan, err);
    if (rc == 0)
        vls_place_go(&place);
    if (rc == 0)
        rc = vls_place_root(&result->tree_root, view, &place, err);
    if (rc == 0 && !place.there)
        rc = vls_place_explain(&place, view, err);
    if (rc == 0)
        rc = fill_record(&result->node, view, &place, err);
    followed = place;
    if (rc == 0)
        rc = vls_shown_follow(&followed, view, VLS_STR(""), err);
    if (rc == 0)
        rc = vls_shown_choose(&list, view, &followed, &lens, true, err);
    if (rc == 0)
        rc = vls_context_get(&context, view, &place.tree.id, err);
    if (rc == 0)
        rc = vls_lens_hash(&result->view_hash, &lens, err);
    if (rc == 0)
        rc = fill_meta(result, view, &place, err);
    if (rc < 0)
        return rc;
    result->frames = (valise_list){list.frames ? (const void *)list.frames : "", list.count};
    result->total = list.total;
    result->matched = list.matched;
    result->returned = (int64_t)list.count;
    result->context_root = context.root;
    return 0;
}

const valise_op vls_op_context_node_get = {
    .size = sizeof(valise_op),
    .name = "node:get",
    .alias = "get-node",
    .brief = "Show a file or directory and what is known about it.",
    .help = "A view says which frames are shown: words and settings, separated by commas.\n\nheads "
            "or history: the newest frame of each type, or all there are.\ntype, agent or recency: "
            "the order.\nmax=N, max_bytes=N, max_tokens=N: at most that.\ntype=, agent=, path= "
            "(with stars), state=fresh|stale|invalidated|orphaned,\nseq=A..B, time=A..B: only "
            "those.\n\nTo give a view a name: `valise config set view.NAME.spec SPEC`.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_ASKS,
    .needs = "context:read",
    .in = get_in,
    .in_size = sizeof(get_args),
    .out = get_out,
    .out_size = sizeof(get_result),
    .query = query,
    .example = "{\"node\":\"lib/date.c\",\"view\":\"recency,max=10,type=summary\"}",
};
