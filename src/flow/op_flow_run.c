/* op_flow_run.c -- flow:run, run a flow on a backpack. [F15] */
#include "backpack/bag.h"
#include "bus/job.h"
#include "flow/begin.h"
#include "flow/give.h"
#include "flow/load.h"
#include "flow/ops.h"

typedef struct run_args {
    valise_str file, backpack, start;
    valise_content flow, items;
    valise_list set; /* of valise_str */
    int64_t max_steps;
    bool ephemeral;
} run_args;

static const valise_field run_in[] = {
    VALISE_FIELD_WITH(run_args, file, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "File of the flow. Naming it allows the programs in it to run.", .min = 1,
                      .max = 4096, .ref = VLS_REF_FLOW_FILE),
    VALISE_FIELD(run_args, flow, VALUE, VALISE_NULLABLE,
                 "The flow itself, instead of a file; its programs must be trusted."),
    VALISE_FIELD_WITH(run_args, backpack, STR, VALISE_NULLABLE,
                      "The backpack to run on (default: a new one).", .min = 1,
                      .max = VLS_BAG_NAME_MAX, .ref = VLS_REF_BACKPACK),
    VALISE_FIELD_WITH(run_args, set, LIST, 0, "An initial item: KEY=JSON.",
                      .more = &vls_flow_set_item, .max = 1000),
    VALISE_FIELD(run_args, items, VALUE, VALISE_NULLABLE, "Initial items, as one object."),
    VALISE_FIELD_WITH(run_args, start, STR, VALISE_NULLABLE, "Start at this node instead.",
                      .min = 1, .max = VLS_FLOW_ID_MAX),
    VALISE_FIELD_AS_WITH(run_args, max_steps, "maxSteps", INT, 0,
                         "Limit on node runs; 0 for the limit in the flow.", .max = INT64_MAX),
    VALISE_FIELD(run_args, ephemeral, BOOL, 0,
                 "Use a backpack in memory: nothing is recorded, and the run cannot be resumed."),
    VALISE_FIELD_END,
};

static int open_bag(valise_backpack **out, valise_job *job, const run_args *args, valise_str name,
                    valise_error *err)
{
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;
    valise_str text;
    int rc = vls_arena_dup(&text, &job->arena, name, err);

    options.flags = args->ephemeral ? 0 : VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_WRITE_BEHIND;
    options.actor = job->actor;
    return rc < 0 ? rc
                  : valise_backpack_open(out, valise_job_workspace(job), text.ptr, &options, err);
}

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    const run_args *args = in;
    VLS_AUTO(flow) valise_flow *flow = NULL;
    valise_backpack *bag = NULL;
    vls_flow_text text = {.text = {NULL, 0}};
    vls_flow_begin begin = {.max_steps = args->max_steps};
    valise_str name = args->backpack, start = {NULL, 0};
    int rc = vls_flow_text_given(&text, &j->arena, j->v, args->file, args->flow.bytes, err);

    if (rc == 0)
        rc = vls_flow_give_items(&begin.items, &j->arena, args->items.bytes, args->set, err);
    if (rc == 0 && args->start.ptr)
        rc = vls_arena_dup(&start, &j->arena, args->start, err); /* ends in a NUL */
    if (rc == 0)
        rc = vls_flow_load(&flow, j->v, &text, err);
    if (rc == 0 && !name.ptr)
        rc = vls_flow_new_name(&name, &j->arena, j->v, text.name, err);
    if (rc == 0)
        rc = open_bag(&bag, j, args, name, err);
    begin.flow = flow;
    begin.bag = bag;
    begin.file = text.file;
    begin.start = start.ptr;
    if (rc == 0)
        rc = vls_flow_run_job(out, j, &begin, &text, err);
    valise_backpack_close(bag);
    return rc;
}

const valise_op vls_op_flow_flow_run = {
    .size = sizeof(valise_op),
    .name = "flow:run",
    .brief = "Run a flow on a backpack.",
    .help = "A flow passes a backpack from node to node and records what each of them reads and "
            "packs. On a durable backpack each finished node is recorded, too: `valise flow "
            "resume` continues a run that was killed or failed.\n\nOn a terminal the nodes are "
            "shown as they run, with what they stream; with --json each event is a line.",
    .kind = VALISE_JOB,
    .needs = "flow:write",
    .in = run_in,
    .in_size = sizeof(run_args),
    .out = vls_flow_ran_fields,
    .out_size = sizeof(vls_flow_ran),
    .job = job,
    .example = "{\"file\":\"research.json\",\"set\":[\"query=\\\"What is AI?\\\"\"]}",
};
