/* op_flow_continue.c -- flow:continue, a run that was interrupted or failed goes on. */
#include "base/hex.h"
#include "backpack/rows.h"
#include "flow/ops.h"

static const valise_field continue_in[] = {
    VALISE_FIELD(vls_flow_continue_args, run, UUID, VALISE_REQUIRED, "The run."),
    VALISE_FIELD(vls_flow_continue_args, aside, BOOL, 0,
                 "Its backpack was moved aside: it goes on with the one that has the name now."),
    VALISE_FIELD(vls_flow_continue_args, resumed, INT, 0,
                 "How often it went on so far: where that is not so, somebody was faster."),
    VALISE_FIELD_END,
};

static int find_bag(vls_flow_run_row *row, valise_view *view, valise_error *err)
{
    vls_bag_row bag;
    int rc = vls_rows_find(&bag, view, row->name, err);

    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no backpack '%.*s'",
                        VALISE_STR_ARG(row->name));
    if (rc > 0)
        row->backpack = bag.id;
    return vls_settle(rc);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_flow_continue_args *args = in;
    vls_flow_run_row row = {.id = args->run};
    int rc = vls_flow_run_get(&row, view, err);

    (void)out;
    if (rc < 0)
        return rc;
    if (row.status == VLS_FLOW_DONE)
        return vls_fail(err, VALISE_E_CONFLICT, "the run %s has ended",
                        vls_uuid_text(&args->run).s);
    if (args->resumed != row.resumed)
        return vls_fail(err, VALISE_E_BUSY, "the run %s is still running elsewhere",
                        vls_uuid_text(&args->run).s);
    rc = args->aside ? find_bag(&row, view, err) : 0;
    if (rc < 0)
        return rc;
    row.status = VLS_FLOW_RUNNING;
    row.ended = VALISE_NONE;
    row.action = row.node = row.code = row.error = (valise_str){NULL, 0};
    row.resumed++;
    row.aborted += args->aside;
    return valise_view_put(view, &vls_flow_runs, &row, err);
}

const valise_op vls_op_flow_flow_continue = {
    .size = sizeof(valise_op),
    .name = "flow:continue",
    .brief = "A run that was interrupted, or failed, goes on.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "flow:write",
    .in = continue_in,
    .in_size = sizeof(vls_flow_continue_args),
    .decide = decide,
    .example = "{\"run\":\"00000000-0000-7000-8000-000000000001\"}",
};
