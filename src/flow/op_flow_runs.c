/* op_flow_runs.c -- flow:runs, the runs that were recorded, newest first. */
#include <valise/sys/store.h>

#include "backpack/bag.h"
#include "flow/record.h"
#include "flow/rows.h"

typedef struct runs_args {
    valise_str backpack;
    int64_t limit;
} runs_args;

static const valise_field runs_in[] = {
    VALISE_FIELD_WITH(runs_args, backpack, STR, VALISE_NULLABLE, "Only runs on this backpack.",
                      .min = 1, .max = VLS_BAG_NAME_MAX, .ref = VLS_REF_BACKPACK),
    VALISE_FIELD_WITH(runs_args, limit, INT, 0, "At most this many; 0 for all.", .max = INT64_MAX),
    VALISE_FIELD_END,
};

static const char *const states[] = {"running", "done", "failed", "cancelled", "interrupted", NULL};

typedef struct listed {
    valise_uuid id;
    valise_str backpack;
    int64_t status, steps, started, ended, resumed;
    valise_str action, node, code, error, actor;
    valise_uuid origin;
} listed;

static const valise_field runs_out[] = {
    VALISE_FIELD(listed, id, UUID, VALISE_REQUIRED, "Id of the run."),
    VALISE_FIELD(listed, backpack, STR, VALISE_REQUIRED, "The backpack, as it was called."),
    VALISE_FIELD_WITH(listed, status, ENUM, VALISE_REQUIRED,
                      "running; interrupted: nobody runs it any more; or how it ended.",
                      .more = states),
    VALISE_FIELD(listed, steps, INT, 0,
                 "Nodes that ran; of one that has not ended, that are done."),
    VALISE_FIELD(listed, started, TIME, VALISE_REQUIRED, "When it began."),
    VALISE_FIELD(listed, ended, TIME, VALISE_NULLABLE, "When it ended."),
    VALISE_FIELD(listed, node, STR, VALISE_NULLABLE, "The last node, or the one that failed."),
    VALISE_FIELD(listed, action, STR, VALISE_NULLABLE, "Its action."),
    VALISE_FIELD(listed, code, STR, VALISE_NULLABLE, "Code of the failure."),
    VALISE_FIELD(listed, error, STR, VALISE_NULLABLE, "What the failure says."),
    VALISE_FIELD(listed, actor, STR, 0, "Who ran it."),
    VALISE_FIELD(listed, origin, UUID, VALISE_NULLABLE, "The run that it repeats."),
    VALISE_FIELD(listed, resumed, INT, 0, "How often it was resumed."),
    VALISE_FIELD_END,
};

/* A process that was killed did not say how many nodes it ran: those that were done are there. What
 * a rerun took over is older than it is. */
static int count_steps(int64_t *steps, valise_view *view, const vls_flow_run_row *row,
                       valise_error *err)
{
    vls_flow_step_row step = {.run = row->id};
    const vls_flow_step_row key = step;
    const valise_select select = {.row = &key, .equal = 1};
    valise_scan *scan = NULL;
    int64_t done = 0;
    int rc = valise_view_scan(&scan, view, &vls_flow_steps, &select, err);

    while (rc >= 0 && (rc = valise_scan_next(&step, scan, err)) > 0)
        done += step.visit > 0 && step.time >= row->started;
    valise_scan_close(scan);
    *steps = VLS_MAX(*steps, done);
    return rc;
}

static int emit(valise_view *view, const vls_flow_run_row *row, valise_error *err)
{
    listed out = {.id = row->id,
                  .backpack = row->name,
                  .status = row->status,
                  .steps = row->steps,
                  .started = row->started,
                  .ended = row->ended,
                  .resumed = row->resumed,
                  .action = row->action,
                  .node = row->node,
                  .code = row->code,
                  .error = row->error,
                  .actor = row->actor,
                  .origin = row->origin};
    int locked = 1, rc = 0;

    if (row->status == VLS_FLOW_RUNNING || row->resumed > 0)
        rc = count_steps(&out.steps, view, row, err);
    if (rc < 0)
        return rc;
    if (row->status == VLS_FLOW_RUNNING)
        locked = vls_flow_is_locked(vls_view_bus(view), &row->id, err);
    if (locked == 0)
        out.status = (int64_t)VLS_COUNT(states) - 2;
    return locked < 0 ? locked : valise_view_emit(view, &out, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const runs_args *args = in;
    const valise_select select = {.index = "started", .flags = VALISE_SCAN_REVERSE};
    vls_flow_run_row row;
    valise_scan *scan = NULL;
    int64_t count = 0;
    int rc = valise_view_scan(&scan, view, &vls_flow_runs, &select, err);

    (void)out;
    while (rc == 0 && (args->limit == 0 || count < args->limit) &&
           (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = 0;
        if (args->backpack.ptr && !vls_str_equal(row.name, args->backpack))
            continue;
        count++;
        rc = emit(view, &row, err);
    }
    valise_scan_close(scan);
    return rc;
}

const valise_op vls_op_flow_flow_runs = {
    .size = sizeof(valise_op),
    .name = "flow:runs",
    .brief = "List the runs of flows, newest first.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "flow:read",
    .in = runs_in,
    .in_size = sizeof(runs_args),
    .out = runs_out,
    .out_size = sizeof(listed),
    .query = query,
    .example = "{\"limit\":10}",
};
