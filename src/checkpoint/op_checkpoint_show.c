/* op_checkpoint_show.c -- checkpoint:show, what a checkpoint has and lacks. [C31] */
#include "base/base.h"
#include "checkpoint/manifest.h"
#include "checkpoint/ops.h"
#include "store/view.h"

typedef vls_checkpoint_show_row show_row;

static const valise_field show_in[] = {
    VALISE_FIELD_WITH(vls_checkpoint_show_args, checkpoint, STR,
                      VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of a checkpoint, a version such as v12, or the first digits of a root.",
                      .ref = "checkpoint:list.name", .min = 1, .max = VLS_CHECKPOINT_NAME_MAX),
    VALISE_FIELD_WITH(vls_checkpoint_show_args, path, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "Only this path and what is below it.", .max = VLS_PATH_MAX,
                      .ref = "tree.path"),
    VALISE_FIELD_END,
};

static const valise_field show_out[] = {
    VALISE_FIELD_WITH(show_row, kind, ENUM, VALISE_REQUIRED, "Its kind.",
                      .more = vls_manifest_kinds),
    VALISE_FIELD(show_row, mode, STR, VALISE_NULLABLE, "Permissions."),
    VALISE_FIELD(show_row, size, INT, VALISE_NULLABLE, "Bytes."),
    VALISE_FIELD(show_row, path, PATH, VALISE_REQUIRED, "Where it lies."),
    VALISE_FIELD(show_row, content, ID, VALISE_NULLABLE,
                 "SHA-256 of the bytes; tree_content/HASH is where they are."),
    VALISE_FIELD(show_row, target, PATH, VALISE_NULLABLE, "Where a link points."),
    VALISE_FIELD(show_row, reason, STR, VALISE_NULLABLE, "Why it is lacking."),
    VALISE_FIELD_END,
};

/* What is in the manifest, unless it was erased since. */
static int fill(show_row *out, char mode[8], valise_view *view, const vls_manifest_entry *e,
                valise_error *err)
{
    vls_tree_content_row content;
    int lack = e->lack, rc;

    *out = (show_row){.path = e->path, .kind = e->kind, .size = VALISE_NONE, .target = e->target};
    if (e->kind == VLS_MANIFEST_FILE || e->kind == VLS_MANIFEST_DIR) {
        (void)snprintf(mode, 8, "%03o", e->mode);
        out->mode = valise_str_of(mode);
    }
    if (e->kind == VLS_MANIFEST_FILE) {
        out->size = e->size;
        out->content = e->content;
        rc = vls_tree_content_get(&content, view, &e->content, err);
        if (rc < 0)
            return rc;
        if (rc != 1) {
            out->kind = VLS_MANIFEST_LACKING;
            lack = VLS_LACK_ERASED;
        }
    }
    if (out->kind == VLS_MANIFEST_LACKING)
        out->reason = valise_str_of(vls_lack_text(lack));
    return 0;
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const vls_checkpoint_show_args *args = in;
    VLS_AUTO(manifest_reader) vls_manifest_reader reader = {.any = false};
    VLS_AUTO(buf) vls_buf under = {0};
    vls_checkpoint_row row;
    vls_manifest_entry e;
    valise_str bytes;
    show_row out;
    char mode[8];
    int rc = vls_checkpoint_find(&row, view, args->checkpoint, err);

    (void)result;
    vls_buf_init(&under, view->arena.env, VLS_PATH_MAX);
    if (rc == 0)
        rc = vls_path_resolve(&under, VLS_STR(""), args->path, err);
    if (rc == 0)
        rc = vls_checkpoint_manifest(&bytes, view, &row, err);
    if (rc == 0)
        rc = vls_manifest_open(&reader, view->arena.env, bytes, err);
    while (rc == 0 && (rc = vls_manifest_next(&e, &reader, err)) > 0) {
        rc = 0;
        if (e.path.len == 0 || !vls_path_is_under(e.path, vls_buf_str(&under)))
            continue;
        rc = fill(&out, mode, view, &e, err);
        if (rc == 0)
            rc = valise_view_emit(view, &out, err);
    }
    return rc;
}

const valise_op vls_op_checkpoint_checkpoint_show = {
    .size = sizeof(valise_op),
    .name = "checkpoint:show",
    .brief = "List what a checkpoint contains and what it lacks.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "tree:read",
    .in = show_in,
    .in_size = sizeof(vls_checkpoint_show_args),
    .out = show_out,
    .out_size = sizeof(show_row),
    .query = query,
    .example = "{\"checkpoint\":\"before-refactoring\"}",
};
