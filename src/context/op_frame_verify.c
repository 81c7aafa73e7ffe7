/* op_frame_verify.c -- frame:verify, what a proof says, without a workspace. */
#include "context/context.h"
#include "context/merkle.h"
#include "context/ops.h"
#include "store/view.h"

typedef vls_frame_verify_args verify_args;
typedef vls_frame_verify_result verify_result;

static const valise_field verify_in[] = {
    VALISE_FIELD(verify_args, root, ID, VALISE_REQUIRED | VALISE_POSITIONAL, "The trusted root."),
    VALISE_FIELD(verify_args, key, ID, VALISE_REQUIRED | VALISE_POSITIONAL,
                 "The frame id, or the key of a slot."),
    VALISE_FIELD_WITH(verify_args, proof, BYTES, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The proof, as frame:proof gives it.", .max = VLS_MERKLE_PROOF_MAX),
    VALISE_FIELD_END,
};

static const valise_field verify_out[] = {
    VALISE_FIELD(verify_result, member, BOOL, VALISE_REQUIRED, "It is in the set."),
    VALISE_FIELD(verify_result, value, ID, VALISE_NULLABLE, "What the set has under the key."),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const verify_args *args = in;
    verify_result *result = out;
    int rc = vls_merkle_verify(&result->value, &args->root, &args->key, args->proof, err);

    (void)view;
    if (rc == VALISE_E_CORRUPT)
        vls_hint(err, "give root, key and proof as one 'valise frame proof' printed them");
    if (rc < 0)
        return rc;
    result->member = rc > 0;
    return 0;
}

const valise_op vls_op_context_frame_verify = {
    .size = sizeof(valise_op),
    .name = "frame:verify",
    .brief = "Check a frame proof against a root hash.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE,
    .in = verify_in,
    .in_size = sizeof(verify_args),
    .out = verify_out,
    .out_size = sizeof(verify_result),
    .query = query,
    .example = "{\"key\":\"7b531a68e313f0eb4e82bd36cbed8bc918bd45b1eb661c594cffd8aa07e7333b\","
               "\"proof\":\"\","
               "\"root\":\"d3b86d4c2855d4c055581ba2d02e3be9ae657d9d61a80373b5418e3e7567ec3a\"}",
};
