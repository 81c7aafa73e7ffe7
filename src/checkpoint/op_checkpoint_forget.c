/* op_checkpoint_forget.c -- checkpoint:forget, contents that no checkpoint needs any more. */
#include "base/base.h"
#include "base/hash.h"
#include "checkpoint/ops.h"

static const valise_field hash_item = {.name = "hash", .type = VALISE_T_ID};

static const valise_field forget_in[] = {
    VALISE_FIELD(vls_checkpoint_forget_args, state, ID, VALISE_REQUIRED,
                 "The checkpoints for which that is so."),
    VALISE_FIELD_WITH(vls_checkpoint_forget_args, hashes, LIST, VALISE_REQUIRED, "SHA-256 of each.",
                      .more = &hash_item, .min = 1, .max = 100000),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_checkpoint_forget_args *args = in;
    const valise_id *hashes = args->hashes.items;
    valise_id state;
    int rc = vls_checkpoint_state(&state, view, err);

    (void)out;
    if (rc == 0 && !vls_id_equal(&state, &args->state))
        return vls_fail(err, VALISE_E_CONFLICT, "other checkpoints were made in the meantime");
    for (size_t i = 0; rc == 0 && i < args->hashes.count; i++) {
        const vls_tree_content_row row = {.hash = hashes[i]};
        rc = vls_settle(valise_view_delete(view, &vls_tree_contents, &row, err));
    }
    return rc;
}

const valise_op vls_op_checkpoint_checkpoint_forget = {
    .size = sizeof(valise_op),
    .name = "checkpoint:forget",
    .brief = "Let go of contents that no checkpoint needs.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT,
    .needs = "tree:restore",
    .in = forget_in,
    .in_size = sizeof(vls_checkpoint_forget_args),
    .decide = decide,
    .example = "{\"hashes\":"
               "[\"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb\"],"
               "\"state\":\"00000000000000000000000000000000000000000000000000000000000000ff\"}",
};
