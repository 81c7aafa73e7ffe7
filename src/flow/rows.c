/* rows.c -- the tables of runs. */
#include "flow/rows.h"

#include "backpack/bag.h"
#include "base/hex.h"

const char *const vls_flow_states[] = {"running", "done", "failed", "cancelled", NULL};

static const valise_field run_fields[] = {
    VALISE_FIELD(vls_flow_run_row, id, UUID, VALISE_REQUIRED | VALISE_KEY, "Id of the run."),
    VALISE_FIELD_WITH(vls_flow_run_row, status, ENUM, 0, "How it ended, if it did.",
                      .more = vls_flow_states),
    VALISE_FIELD_WITH(vls_flow_run_row, backpack, UUID, VALISE_LOOSE, "The backpack it runs on.",
                      .ref = "backpack"),
    VALISE_FIELD_WITH(vls_flow_run_row, name, STR, 0, "Name of the backpack when it began.",
                      .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD_WITH(vls_flow_run_row, config, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "The flow, as it was.", .ref = "object"),
    VALISE_FIELD_WITH(vls_flow_run_row, file, PATH, VALISE_NULLABLE, "The file of the flow.",
                      .max = 4096),
    VALISE_FIELD_WITH(vls_flow_run_row, start, STR, VALISE_NULLABLE, "Another first node.",
                      .max = VLS_FLOW_ID_MAX),
    VALISE_FIELD_AS(vls_flow_run_row, max_steps, "maxSteps", INT, 0, "Its limit of steps."),
    VALISE_FIELD_WITH(vls_flow_run_row, actor, STR, 0, "Who runs it.", .max = VLS_ACTOR_MAX),
    VALISE_FIELD(vls_flow_run_row, started, TIME, 0, "When it began."),
    VALISE_FIELD(vls_flow_run_row, ended, TIME, VALISE_NULLABLE, "When it ended."),
    VALISE_FIELD(vls_flow_run_row, steps, INT, 0, "Nodes that ran."),
    VALISE_FIELD_WITH(vls_flow_run_row, action, STR, VALISE_NULLABLE, "The last action.",
                      .max = VLS_FLOW_ACTION_MAX),
    VALISE_FIELD_WITH(vls_flow_run_row, node, STR, VALISE_NULLABLE, "The last node.",
                      .max = VLS_FLOW_PATH_MAX),
    VALISE_FIELD_WITH(vls_flow_run_row, code, STR, VALISE_NULLABLE, "Code of the failure.",
                      .max = 64),
    VALISE_FIELD_WITH(vls_flow_run_row, error, STR, VALISE_NULLABLE | VALISE_CONTENT,
                      "What the failure says.", .max = VLS_FLOW_ERROR_MAX),
    VALISE_FIELD_WITH(vls_flow_run_row, origin, UUID, VALISE_NULLABLE | VALISE_LOOSE,
                      "The run that it repeats from some node on.", .ref = "flow_run"),
    VALISE_FIELD(vls_flow_run_row, resumed, INT, 0, "How often it was resumed."),
    VALISE_FIELD(vls_flow_run_row, aborted, INT, 0, "Backpacks that were moved aside for it."),
    VALISE_FIELD_END,
};

static const char *const by_backpack[] = {"backpack", NULL};
static const char *const by_started[] = {"started", NULL};
static const valise_coll_index run_indexes[] = {
    {"backpack", by_backpack}, {"started", by_started}, {NULL, NULL}};

static int check_run(valise_check *check, valise_view *view, const void *row, valise_error *err)
{
    const vls_flow_run_row *run = row;

    (void)view;
    if (run->status == VLS_FLOW_RUNNING || run->ended != VALISE_NONE)
        return 0;
    return valise_check_problem(check, err, "restore the workspace from a bundle or a backup",
                                "it ended, but the time is missing");
}

const valise_coll vls_flow_runs = {.size = sizeof(valise_coll),
                                   .name = "flow_run",
                                   .help = "A run of a flow.",
                                   .fields = run_fields,
                                   .row_size = sizeof(vls_flow_run_row),
                                   .indexes = run_indexes,
                                   .check = check_run,
                                   .needs = "flow:read"};

static const valise_field step_fields[] = {
    VALISE_FIELD_WITH(vls_flow_step_row, run, UUID, VALISE_REQUIRED | VALISE_KEY, "The run.",
                      .ref = "flow_run"),
    VALISE_FIELD(vls_flow_step_row, number, INT, VALISE_REQUIRED | VALISE_KEY,
                 "The tick at which it ended."),
    VALISE_FIELD(vls_flow_step_row, begun, INT, 0, "The tick at which it began."),
    VALISE_FIELD_WITH(vls_flow_step_row, path, STR, 0, "The node.", .max = VLS_FLOW_PATH_MAX),
    VALISE_FIELD(
        vls_flow_step_row, visit, INT, 0,
        "The how manyth run of the node it was; 0: an attempt that failed; below 0: it failed, or, "
        "without a code, it began."),
    VALISE_FIELD_WITH(vls_flow_step_row, backpack, UUID, VALISE_LOOSE, "On which backpack.",
                      .ref = "backpack"),
    VALISE_FIELD(vls_flow_step_row, start, INT, 0, "Seq of the state that it found."),
    VALISE_FIELD_WITH(vls_flow_step_row, action, STR, 0, "What it chose.",
                      .max = VLS_FLOW_ACTION_MAX),
    VALISE_FIELD_WITH(vls_flow_step_row, next, STR, VALISE_NULLABLE, "Id of the next node.",
                      .max = VLS_FLOW_ID_MAX),
    VALISE_FIELD_WITH(vls_flow_step_row, code, STR, VALISE_NULLABLE, "Code of its failure.",
                      .max = 64),
    VALISE_FIELD_WITH(vls_flow_step_row, error, STR, VALISE_NULLABLE | VALISE_CONTENT,
                      "What the failure says.", .max = VLS_FLOW_ERROR_MAX),
    VALISE_FIELD(vls_flow_step_row, time, TIME, 0, "When it ended."),
    VALISE_FIELD_END,
};

const valise_coll vls_flow_steps = {.size = sizeof(valise_coll),
                                    .name = "flow_step",
                                    .help = "What one visit of a node came to.",
                                    .fields = step_fields,
                                    .row_size = sizeof(vls_flow_step_row),
                                    .flags = VALISE_COLL_QUIET | VALISE_COLL_IMMUTABLE,
                                    .needs = "flow:read"};

int vls_flow_run_get(vls_flow_run_row *run, valise_view *view, valise_error *err)
{
    int rc = valise_view_get(run, view, &vls_flow_runs, err);

    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no run %s", vls_uuid_text(&run->id).s);
    return vls_settle(rc);
}

int vls_flow_each_other(valise_view *view, const vls_flow_run_row *run, vls_flow_other_fn *fn,
                        void *arg, valise_error *err)
{
    vls_flow_run_row other = *run;
    const vls_flow_run_row key = *run;
    const valise_select select = {.index = "backpack", .row = &key, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_flow_runs, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&other, scan, err)) > 0) {
        rc = 0;
        if (vls_uuid_equal(&other.id, &run->id) ||
            (other.status == VLS_FLOW_DONE && other.resumed == 0))
            continue;
        rc = fn(arg, &other, err);
    }
    valise_scan_close(scan);
    return vls_settle(rc);
}
