/* op_diff.c -- backpack:diff, what is different between two states. */
#include "backpack/use.h"

#include "json/diff.h"
#include "json/json.h"

typedef struct diff_args {
    vls_who who;
    valise_str from, to, other;
} diff_args;

static const valise_field diff_in[] = {
    VLS_WHO_FIELDS(diff_args),
    VALISE_FIELD_WITH(diff_args, from, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The older state: a seq, a time, a commit, before:NODE, a checkpoint.",
                      .min = 1, .max = VLS_POINT_MAX, .ref = VLS_REF_POINT),
    VALISE_FIELD_WITH(diff_args, to, STR, VALISE_POSITIONAL, "The newer state (default: now).",
                      .max = VLS_POINT_MAX, .ref = VLS_REF_POINT),
    VALISE_FIELD_WITH(diff_args, other, STR, 0, "Take the newer state from this backpack.",
                      .max = VLS_BAG_NAME_MAX, .ref = VLS_REF_BACKPACK),
    VALISE_FIELD_END,
};

typedef struct diff_row {
    valise_str key;
    int64_t change;
    valise_content before, after;
    valise_str patch;
    valise_str node_id, node_name;
    valise_uuid commit;
    int64_t seq;
} diff_row;

static const char *const changes[] = {"added", "modified", "deleted", NULL};

static const valise_field diff_out[] = {
    VALISE_FIELD(diff_row, key, STR, 0, "Key of the item."),
    VALISE_FIELD_WITH(diff_row, change, ENUM, 0, "What became of it.", .more = changes),
    VALISE_FIELD(diff_row, before, VALUE, VALISE_NULLABLE, "The older value."),
    VALISE_FIELD(diff_row, after, VALUE, VALISE_NULLABLE, "The newer value."),
    VALISE_FIELD(diff_row, patch, JSON, VALISE_NULLABLE,
                 "How the older becomes the newer, as a JSON Patch (RFC 6902)."),
    VALISE_FIELD_AS(diff_row, node_id, "nodeId", STR, VALISE_NULLABLE, "The node that changed it."),
    VALISE_FIELD_AS(diff_row, node_name, "nodeName", STR, VALISE_NULLABLE, "Name of that node."),
    VALISE_FIELD(diff_row, seq, INT, 0, "The commit that changed it."),
    VALISE_FIELD_AS(diff_row, commit, "commitId", UUID, VALISE_NULLABLE, "Id of that commit."),
    VALISE_FIELD_END,
};

static int make_patch(vls_buf *out, const valise_change *change, const valise_env *env,
                      valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json old = {0}, new = {0}, patch = {0};
    int rc;

    vls_arena_init(&arena, env, VLS_JSON_MAX_BYTES * 8);
    rc = vls_json_parse(&old, &arena, vls_blob_bytes(change->old_value), NULL, err);
    if (rc == 0)
        rc = vls_json_parse(&new, &arena, vls_blob_bytes(change->new_value), NULL, err);
    if (rc == 0)
        rc = vls_json_diff(&patch, &arena, old, new, NULL, err);
    return rc < 0 ? rc : vls_json_write(out, patch, err);
}

static int emit(void *arg, const valise_change *change, valise_error *err)
{
    valise_view *view = arg;
    VLS_AUTO(buf) vls_buf patch = {0};
    diff_row row = {.key = change->key,
                    .change = change->kind,
                    .before = vls_use_content(change->old_value),
                    .after = vls_use_content(change->new_value)};
    int rc = 0;

    if (change->by) {
        row.node_id = change->by->node_id;
        row.node_name = change->by->node_name;
        row.commit = change->by->id;
        row.seq = change->by->seq;
    }
    vls_buf_init(&patch, view->arena.env, VLS_JSON_MAX_BYTES);
    if (change->kind == VALISE_CHANGE_MODIFIED && change->old_value && change->new_value) {
        rc = make_patch(&patch, change, view->arena.env, err);
        row.patch = vls_buf_str(&patch);
    }
    return rc < 0 ? rc : valise_view_emit(view, &row, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const diff_args *args = in;
    VLS_AUTO(use) vls_use a = {0};
    VLS_AUTO(use) vls_use b = {0};
    const vls_who other = {.backpack = args->other, .node = args->who.node};
    vls_scoped old, new;
    int rc = vls_use_begin(&a, view, &args->who, err);

    (void)out;
    if (rc == 0)
        rc = args->other.len > 0 ? vls_use_begin_other(&b, view, &other, "other", err)
                                 : vls_use_begin(&b, view, &args->who, err);
    if (rc == 0)
        rc = vls_use_point(&a, args->from, err);
    if (rc == 0)
        rc = vls_use_point(&b, args->to.len ? args->to : VLS_STR("now"), err);
    old = vls_use_scoped(&a);
    new = vls_use_scoped(&b);
    return rc < 0 ? rc : vls_bag_diff(&old, &new, false, emit, view, err);
}

const valise_op vls_op_backpack_diff = {
    .size = sizeof(valise_op),
    .name = "backpack:diff",
    .brief = "Compare two states and show who made each change.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = diff_in,
    .in_size = sizeof(diff_args),
    .out = diff_out,
    .out_size = sizeof(diff_row),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"from\":\"before:research-2\"}",
};
