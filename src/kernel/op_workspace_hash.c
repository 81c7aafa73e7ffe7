/* op_workspace_hash.c -- workspace:hash, one id for everything that is state. */
#include "kernel/kernel.h"
#include "store/view.h"

typedef struct hash_result {
    valise_id hash;
    int64_t seq;
} hash_result;

static const valise_field hash_out[] = {
    VALISE_FIELD(hash_result, hash, ID, 0, "SHA-256 over all state."),
    VALISE_FIELD(hash_result, seq, INT, 0, "The log seq it belongs to."),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *args, void *out, valise_error *err)
{
    hash_result *result = out;

    (void)args;
    result->seq = view->at;
    return vls_state_hash(&result->hash, view, err);
}

const valise_op vls_op_kernel_workspace_hash = {
    .size = sizeof(valise_op),
    .name = "workspace:hash",
    .brief = "Print a hash of the whole state.",
    .help =
        "Two workspaces with the same hash hold the same state, however they got there and "
        "whatever store they are in. The log and derived data such as indexes are not part of it.",
    .kind = VALISE_QUERY,
    .needs = "log:read",
    .out = hash_out,
    .out_size = sizeof(hash_result),
    .query = query,
    .example = "{}",
};
