/* op_run.c -- backpack:run, a run of a node starts or is over. */
#include "backpack/ops.h"

static const valise_field run_in[] = {
    VLS_WHO_FIELDS(vls_run_args),
    VALISE_FIELD_WITH(vls_run_args, end, INT, 0, "The run that ends (default: a run starts).",
                      .max = INT64_MAX),
    VALISE_FIELD_END,
};

static const valise_field run_out[] = {
    VALISE_FIELD(vls_run_result, run, INT, 0, "Number of the run."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_run_args *args = in;
    vls_run_result *result = out;
    VLS_AUTO(use) vls_use use = {0};
    int rc;

    if (args->who.node.len == 0) {
        (void)vls_fail(err, VALISE_E_INVALID, "no node given: a run belongs to a node");
        vls_hint(err, "give --node NODE");
        return VALISE_E_INVALID;
    }
    rc = vls_use_begin(&use, view, &args->who, err);
    if (rc == 0)
        rc = vls_use_allows(&use, &args->who, "backpack:write", err);
    if (rc < 0)
        return rc;
    if (args->end == 0)
        return vls_bag_run_start(&result->run, &use.ledger, use.scope, err);
    result->run = args->end;
    return vls_bag_run_end(&use.ledger, use.scope, args->end, err);
}

const valise_op vls_op_backpack_run = {
    .size = sizeof(valise_op),
    .name = "backpack:run",
    .brief = "Record that a run of a node starts or ends.",
    .help = "`before:NODE` and `after:NODE` are the states that a run found and left. Without this "
            "command a run starts with the node's first write after another node's.",
    .kind = VALISE_COMMAND,
    .needs = "backpack:as-node", /* and backpack:write: there is none without a node */
    .in = run_in,
    .in_size = sizeof(vls_run_args),
    .out = run_out,
    .out_size = sizeof(vls_run_result),
    .decide = decide,
    .apart = vls_use_is_apart,
    .example = "{\"backpack\":\"run-1\",\"node\":\"research-2\"}",
};
