/* op_quarantine.c -- backpack:quarantine, take an item out of the active state. */
#include "backpack/ops.h"

static const valise_field quarantine_in[] = {
    VLS_WHO_FIELDS(vls_op_quarantine_args),
    VALISE_FIELD_WITH(vls_op_quarantine_args, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Key of the item.", .min = 1, .max = VLS_BAG_KEY_MAX, .ref = VLS_REF_KEY),
    VALISE_FIELD_WITH(vls_op_quarantine_args, reason, STR, VALISE_REQUIRED, "The reason.", .min = 1,
                      .max = VLS_BAG_REASON_MAX),
    VALISE_FIELD(vls_op_quarantine_args, error, JSON, VALISE_NULLABLE,
                 "The error that led to it, as JSON."),
    VALISE_FIELD(vls_op_quarantine_args, forget, BOOL, 0,
                 "Keep no entry: it cannot be released later."),
    VLS_LABEL_FIELDS(vls_op_quarantine_args),
    VLS_TAINTS_FIELD(vls_op_quarantine_args),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_op_quarantine_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    vls_quarantine_args q = {.key = args->key,
                             .reason = args->reason,
                             .error = args->error,
                             .forget = args->forget,
                             .node_id = args->who.node_id,
                             .node_name = args->who.node_name,
                             .taints = args->taints};
    vls_done done = {.denied = false};
    int rc = vls_use_begin(&use, view, &args->who, err);

    if (rc < 0)
        return rc;
    rc = vls_bag_quarantine(&done, &use.ledger, use.scope, &q, &use.call, err);
    return vls_use_done(out, &use, rc, &done, args->key, VALISE_ACTION_QUARANTINE);
}

const valise_op vls_op_backpack_quarantine = {
    .size = sizeof(valise_op),
    .name = "backpack:quarantine",
    .brief = "Take an item out of the active state without losing it.",
    .help = "A quarantined item is invisible to unpack, namespace queries and prompts. It stays in "
            "the history, and `release` brings it back.",
    .kind = VALISE_COMMAND,
    .needs = "backpack:write",
    .in = quarantine_in,
    .in_size = sizeof(vls_op_quarantine_args),
    .out = vls_packed_fields,
    .out_size = sizeof(valise_packed),
    .decide = decide,
    .apart = vls_use_is_apart,
    .example = "{\"backpack\":\"run-1\",\"key\":\"retry_0\",\"reason\":\"A retry succeeded.\"}",
};
