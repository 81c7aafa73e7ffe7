/* op_flow_rerun.c -- flow:rerun, repeat a run from some node on. [F13] */
#include "backpack/bag.h"
#include "flow/resume.h"

typedef struct rerun_args {
    valise_str run, from, name, file;
    valise_content items;
    valise_list set, param; /* of valise_str */
    int64_t max_steps;
} rerun_args;

static const valise_field rerun_in[] = {
    VALISE_FIELD_WITH(rerun_args, run, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The run: its id, the end of it, or the name of its backpack.", .min = 1,
                      .max = VLS_BAG_NAME_MAX, .ref = VLS_REF_FLOW_RUN),
    VALISE_FIELD_WITH(rerun_args, file, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "File of the flow. Naming it allows the programs in it to run.", .min = 1,
                      .max = 4096, .ref = VLS_REF_FLOW_FILE),
    VALISE_FIELD_WITH(rerun_args, from, STR, VALISE_REQUIRED,
                      "The node to start from; NODE#2 for its second run.", .min = 1,
                      .max = VLS_FLOW_PATH_MAX + 21, .ref = VLS_REF_NODE),
    VALISE_FIELD_AS_WITH(rerun_args, name, "backpack", STR, VALISE_NULLABLE,
                         "Name of the new backpack.", .min = 1, .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD_WITH(rerun_args, set, LIST, 0, "Override an item: KEY=JSON.",
                      .more = &vls_flow_set_item, .max = 1000),
    VALISE_FIELD(rerun_args, items, VALUE, VALISE_NULLABLE, "Initial items, as one object."),
    VALISE_FIELD_WITH(rerun_args, param, LIST, 0, "Override a parameter: NODE.path=JSON.",
                      .more = &vls_flow_param_item, .max = 1000),
    VALISE_FIELD_AS_WITH(rerun_args, max_steps, "maxSteps", INT, 0,
                         "Limit on node runs; 0 for the limit it was started with.",
                         .max = INT64_MAX),
    VALISE_FIELD_END,
};

/* ---- the new backpack ---- */

static int fork_bag(valise_backpack **out, valise_job *j, const vls_flow_branch *branch,
                    valise_str name, valise_error *err)
{
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;
    valise_backpack *from = NULL, *state = NULL;
    valise_str text;
    int rc = vls_arena_dup(&text, &j->arena, name, err); /* ends in a NUL */

    if (rc < 0)
        return rc;
    options.flags = VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_KNOWN;
    options.actor = j->actor;
    rc = valise_backpack_open(&from, j->v, branch->name.ptr, &options, err);
    if (rc == 0)
        rc = valise_snapshot_at_seq(&state, from, branch->seq, err);
    options.flags = VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_WRITE_BEHIND;
    if (rc == 0)
        rc = valise_backpack_fork(out, state, text.ptr, &options, err);
    valise_backpack_close(state);
    valise_backpack_close(from);
    return rc;
}

static int repeat(vls_flow_ran *out, valise_job *j, const rerun_args *args,
                  const vls_flow_past *past, const vls_flow_text *text, valise_error *err)
{
    VLS_AUTO(flow) valise_flow *flow = NULL;
    vls_flow_branch branch;
    valise_backpack *bag = NULL;
    valise_str name = args->name;
    vls_flow_begin begin = {.origin = &past->run.id,
                            .start = past->run.start.ptr,
                            .file = text->file,
                            .max_steps = args->max_steps ? args->max_steps : past->run.max_steps};
    int rc = vls_flow_load(&flow, j->v, text, err);

    if (rc == 0)
        rc = vls_flow_link(flow, NULL, err);
    if (rc == 0)
        rc = vls_flow_find_branch(&branch, &j->arena, j->v, j->actor, past, flow, args->from, err);
    if (rc == 0)
        rc = vls_flow_give_items(&begin.items, &j->arena, args->items.bytes, args->set, err);
    if (rc == 0)
        rc = name.ptr ? vls_arena_dup(&name, &j->arena, name, err) /* with a NUL behind it */
                      : vls_flow_new_name(&name, &j->arena, j->v, past->name, err);
    if (rc == 0)
        rc = fork_bag(&bag, j, &branch, name, err);
    begin.flow = flow;
    begin.bag = bag;
    begin.before = branch.before;
    if (rc == 0)
        rc = vls_flow_run_job(out, j, &begin, text, err);
    valise_backpack_close(bag);
    return rc;
}

/* A rerun of a rerun names the file, and the params that the file has not: they are in what was
 * recorded then. */
static int read_text(vls_flow_text *out, valise_job *j, const rerun_args *args,
                     const vls_flow_past *past, valise_error *err)
{
    const valise_list none = {NULL, 0};
    valise_error why = VALISE_ERROR_INIT;
    int rc = vls_flow_past_text(out, &j->arena, j->v, past, args->file, none, err);

    if (rc == VALISE_E_CONFLICT && args->param.count > 0 &&
        vls_flow_past_text(out, &j->arena, j->v, past, args->file, args->param, &why) == 0)
        return 0;
    return rc < 0 ? rc : vls_flow_text_set_params(out, &j->arena, j->v, args->param, err);
}

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    const rerun_args *args = in;
    vls_flow_past past = {.last = 0};
    vls_flow_text text = {.programs = false};
    int rc = vls_flow_past_read(&past, &j->arena, j->v, j->actor, args->run, err);

    if (rc == 0)
        rc = read_text(&text, j, args, &past, err);
    return rc < 0 ? rc : repeat(out, j, args, &past, &text, err);
}

const valise_op vls_op_flow_flow_rerun = {
    .size = sizeof(valise_op),
    .name = "flow:rerun",
    .brief = "Repeat a run from a given node on.",
    .help = "The new run starts on a fork of the state before that node, with other items or "
            "params if they are given; earlier nodes do not run again. The old run stays as it is, "
            "and `valise bp diff` compares the two.",
    .kind = VALISE_JOB,
    .needs = "flow:write",
    .in = rerun_in,
    .in_size = sizeof(rerun_args),
    .out = vls_flow_ran_fields,
    .out_size = sizeof(vls_flow_ran),
    .job = job,
    .example = "{\"from\":\"search\",\"run\":\"research-1a2b3c4d\","
               "\"set\":[\"query=\\\"What is life?\\\"\"]}",
};
