/* op_checkpoint_store.c -- checkpoint:store, the bytes of files, before a manifest lists them. */
#include "base/base.h"
#include "checkpoint/ops.h"

static const valise_field content_fields[] = {
    VALISE_FIELD(vls_checkpoint_content, hash, ID, VALISE_REQUIRED, "SHA-256 of the bytes."),
    VALISE_FIELD(vls_checkpoint_content, data, DATA, VALISE_NULLABLE,
                 "The bytes; a large file is a blob under its hash."),
    VALISE_FIELD(vls_checkpoint_content, size, INT, VALISE_REQUIRED, "Its size in bytes."),
    VALISE_FIELD_END,
};
static const valise_struct content_struct = {sizeof(vls_checkpoint_content), content_fields};
static const valise_field content_item = {
    .name = "content", .type = VALISE_T_STRUCT, .more = &content_struct};

static const valise_field store_in[] = {
    VALISE_FIELD_WITH(vls_checkpoint_store_args, contents, LIST, VALISE_REQUIRED, "What to keep.",
                      .more = &content_item, .min = 1, .max = VLS_CHECKPOINT_BATCH),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_checkpoint_store_args *args = in;
    const vls_checkpoint_content *const *items = args->contents.items;
    int rc = 0;

    (void)out;
    for (size_t i = 0; rc == 0 && i < args->contents.count; i++) {
        const vls_checkpoint_content *c = items[i];
        vls_tree_content_row row = {.hash = c->hash, .size = c->size};
        if (c->data.size == VALISE_NONE)
            row.blob = c->hash;
        else
            row.object = c->data.id;
        rc = vls_tree_content_put(view, &row, err);
    }
    return rc;
}

const valise_op vls_op_checkpoint_checkpoint_store = {
    .size = sizeof(valise_op),
    .name = "checkpoint:store",
    .brief = "Keep the bytes of files.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT,
    .needs = "tree:write",
    .in = store_in,
    .in_size = sizeof(vls_checkpoint_store_args),
    .decide = decide,
    .example = "{\"contents\":[{\"hash\":"
               "\"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb\","
               "\"data\":\"YQ==\",\"size\":1}]}",
};
