/* op_checkpoint_make.c -- checkpoint:make, a checkpoint whose contents are stored. */
#include "base/base.h"
#include "checkpoint/manifest.h"
#include "checkpoint/ops.h"
#include "store/view.h"

typedef vls_checkpoint_make_args make_args;

static const valise_field make_in[] = {
    VALISE_FIELD_WITH(make_args, name, STR, 0, "Its name; empty: made of prefix and seq.",
                      .max = VLS_CHECKPOINT_NAME_MAX),
    VALISE_FIELD_WITH(make_args, prefix, STR, 0, "Beginning of a name that is made up.", .max = 64),
    VALISE_FIELD(make_args, manifest, DATA, VALISE_REQUIRED, "What it lists."),
    VALISE_FIELD(make_args, partial, BOOL, 0, "It has only what a restore will change."),
    VALISE_FIELD(make_args, tree, UUID, VALISE_REQUIRED, "The tree."),
    VALISE_FIELD(make_args, version, INT, VALISE_REQUIRED, "Version of the tree."),
    VALISE_FIELD(make_args, root, ID, VALISE_REQUIRED, "Root of that version."),
    VLS_CHECKPOINT_COUNT_FIELDS(make_args),
    VALISE_FIELD_END,
};

static const valise_field make_out[] = {
    VALISE_FIELD(vls_checkpoint_made, name, STR, VALISE_REQUIRED, "What it is called."),
    VALISE_FIELD(vls_checkpoint_made, seq, INT, VALISE_REQUIRED, "The command that made it."),
    VALISE_FIELD_END,
};

/* A manifest is only as good as the contents that are there. */
static int check(valise_view *view, valise_str bytes, valise_error *err)
{
    VLS_AUTO(manifest_reader) vls_manifest_reader reader = {.any = false};
    vls_tree_content_row content;
    vls_manifest_entry e;
    int rc = vls_manifest_open(&reader, view->arena.env, bytes, err);

    while (rc == 0 && (rc = vls_manifest_next(&e, &reader, err)) > 0) {
        rc = 0;
        if (e.kind != VLS_MANIFEST_FILE)
            continue;
        rc = vls_tree_content_get(&content, view, &e.content, err);
        if (rc == 0)
            return vls_fail(err, VALISE_E_CONFLICT,
                            "some content is no longer stored: somebody removed checkpoints");
        rc = vls_settle(rc);
    }
    return rc;
}

static int name_it(vls_checkpoint_row *row, valise_view *view, const make_args *args,
                   valise_error *err)
{
    vls_checkpoint_row other;
    vls_buf text;
    int rc;

    row->name = args->name;
    if (args->name.len == 0) {
        vls_buf_init_in(&text, &view->arena, VLS_CHECKPOINT_NAME_MAX);
        vls_buf_add(&text, args->prefix);
        vls_buf_add_i64(&text, row->seq);
        rc = vls_buf_keep(&row->name, &text, err);
        if (rc < 0)
            return rc;
    }
    rc = vls_checkpoint_name_check(row->name, err);
    if (rc < 0)
        return rc;
    other = (vls_checkpoint_row){.tree = row->tree, .name = row->name};
    rc = valise_view_get(&other, view, &vls_checkpoints, err);
    if (rc <= 0)
        return rc;
    (void)vls_fail(err, VALISE_E_EXISTS, "a checkpoint '%.*s' already exists",
                   VALISE_STR_ARG(row->name));
    vls_hint(err, "give another name, or remove it with 'valise checkpoint remove'");
    return VALISE_E_EXISTS;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const make_args *args = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_checkpoint_made *result = out;
    valise_str bytes = args->manifest.bytes;
    vls_checkpoint_row row = {.tree = args->tree,
                              .manifest = args->manifest.id,
                              .partial = args->partial,
                              .version = args->version,
                              .root = args->root,
                              .time = stamp->time,
                              .seq = stamp->seq,
                              .agent = stamp->actor,
                              .files = args->files,
                              .dirs = args->dirs,
                              .links = args->links,
                              .bytes = args->bytes,
                              .lacking = args->lacking};
    int rc = bytes.ptr ? 0 : valise_view_object(&bytes, view, &args->manifest.id, err);

    if (rc == 0)
        rc = name_it(&row, view, args, err);
    if (rc == 0)
        rc = check(view, bytes, err);
    if (rc == 0)
        rc = valise_view_put(view, &vls_checkpoints, &row, err);
    if (rc == 0)
        *result = (vls_checkpoint_made){row.name, row.seq};
    return rc;
}

const valise_op vls_op_checkpoint_checkpoint_make = {
    .size = sizeof(valise_op),
    .name = "checkpoint:make",
    .brief = "Make a checkpoint whose contents are stored.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "tree:write",
    .in = make_in,
    .in_size = sizeof(make_args),
    .out = make_out,
    .out_size = sizeof(vls_checkpoint_made),
    .decide = decide,
    .example = "{\"manifest\":\"dmFsaXNlIG1hbmlmZXN0IDEKAQ==\",\"partial\":true,"
               "\"prefix\":\"before-restore-\","
               "\"root\":\"00000000000000000000000000000000000000000000000000000000000000ff\","
               "\"tree\":\"00000000-0000-7000-8000-000000000001\",\"version\":1}",
};
