/* op_flow_rerun.c -- flow:rerun, repeat a run from some node on. [F13] */
#include "backpack/bag.h"
#include "base/text.h"
#include "flow/resume.h"
#include "json/make.h"

typedef struct rerun_args {
    valise_str run, from, name, file;
    valise_content items;
    valise_list set, param; /* of valise_str */
    int64_t max_steps;
} rerun_args;

static const valise_field param_item = {
    .name = "item", .help = "NODE.path=JSON.", .type = VALISE_T_STR, .min = 4, .max = 1 << 26};

static const valise_field rerun_in[] = {
    VALISE_FIELD_WITH(rerun_args, run, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The run: its id, the end of it, or the name of its backpack.", .min = 1,
                      .max = VLS_BAG_NAME_MAX, .ref = VLS_REF_FLOW_RUN),
    VALISE_FIELD_WITH(rerun_args, file, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "File of the flow: naming it lets the programs that it names run.", .min = 1,
                      .max = 4096, .ref = VLS_REF_FLOW_FILE),
    VALISE_FIELD_WITH(rerun_args, from, STR, VALISE_REQUIRED,
                      "The node that runs first; NODE#2 for its second run.", .min = 1,
                      .max = VLS_FLOW_PATH_MAX + 21, .ref = VLS_REF_NODE),
    VALISE_FIELD_AS_WITH(rerun_args, name, "backpack", STR, VALISE_NULLABLE,
                         "Name of the new backpack.", .min = 1, .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD_WITH(rerun_args, set, LIST, 0, "Items that are other ones: KEY=JSON.",
                      .more = &vls_flow_set_item, .max = 1000),
    VALISE_FIELD(rerun_args, items, VALUE, VALISE_NULLABLE, "The same as one object."),
    VALISE_FIELD_WITH(rerun_args, param, LIST, 0, "Params that are other ones: NODE.path=JSON.",
                      .more = &param_item, .max = 1000),
    VALISE_FIELD_AS_WITH(rerun_args, max_steps, "maxSteps", INT, 0,
                         "Nodes that may run; 0: as when it was started.", .max = INT64_MAX),
    VALISE_FIELD_END,
};

/* ---- other params ---- */

/* Another value for a member of a member: `path` is "a.b". */
static int set_path(vls_json *object, vls_arena *arena, valise_str path, vls_json value,
                    valise_error *err)
{
    valise_str key, rest;
    const vls_json *there;
    vls_json inner;
    int rc;

    if (!vls_str_cut(&key, &rest, path, '.'))
        return vls_json_with_key(object, arena, *object, path, value, err);
    there = vls_json_get(*object, key);
    inner = there ? *there : (vls_json){.type = VLS_JSON_OBJECT};
    if (inner.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "'%s' is no object", vls_text_short(key).s);
    rc = set_path(&inner, arena, rest, value, err);
    return rc < 0 ? rc : vls_json_with_key(object, arena, *object, key, inner, err);
}

/* One element of an array that is a member, replaced. */
static int replace_at(vls_json *object, vls_arena *arena, const char *member, uint32_t i,
                      vls_json value, valise_error *err)
{
    vls_json array = vls_member_of(*object, member);
    vls_json *items = vls_arena_array(arena, array.len, sizeof(*items));

    if (!items)
        return vls_arena_fail(arena, err);
    memcpy(items, array.items, array.len * sizeof(*items));
    items[i] = value;
    return vls_json_with(object, arena, *object, member, vls_json_array(items, array.len), err);
}

/* The id of a subflow is its namespace, when it has no other. */
static bool has_id(vls_json element, valise_str id)
{
    valise_str own = vls_text_of(element, "id");

    return vls_str_equal(own.ptr ? own : vls_text_of(element, "namespace"), id);
}

static int find_in(uint32_t *out, vls_json level, const char *member, valise_str id)
{
    vls_json all = vls_member_of(level, member);

    for (uint32_t i = 0; all.type == VLS_JSON_ARRAY && i < all.len; i++) {
        if (has_id(all.items[i], id)) {
            *out = i;
            return 1;
        }
    }
    return 0;
}

/* The node at a path of ids, below a level. */
static int set_param(vls_json *level, vls_arena *arena, valise_str path, valise_str param,
                     vls_json value, valise_error *err)
{
    valise_str id, rest;
    bool deeper = vls_str_cut(&id, &rest, path, '/'), subflow = false;
    vls_json node, inner;
    uint32_t i = 0;
    int rc = 0;

    if (!find_in(&i, *level, "nodes", id)) {
        subflow = deeper && find_in(&i, *level, "subflows", id);
        if (!subflow)
            return vls_fail(err, VALISE_E_NOT_FOUND,
                            "there is no node '%s' whose params could be set",
                            vls_text_short(path).s);
    }
    node = vls_member_of(*level, subflow ? "subflows" : "nodes").items[i];
    if (subflow)
        rc = set_param(&node, arena, rest, param, value, err);
    else {
        inner = vls_member_of(node, "params");
        if (inner.type != VLS_JSON_OBJECT)
            inner = (vls_json){.type = VLS_JSON_OBJECT};
        if (deeper) {
            vls_json flow = vls_member_of(inner, "flow");

            rc = set_param(&flow, arena, rest, param, value, err);
            if (rc == 0)
                rc = vls_json_with(&inner, arena, inner, "flow", flow, err);
        } else {
            rc = set_path(&inner, arena, param, value, err);
        }
        if (rc == 0)
            rc = vls_json_with(&node, arena, node, "params", inner, err);
    }
    return rc < 0 ? rc : replace_at(level, arena, subflow ? "subflows" : "nodes", i, node, err);
}

static int apply_param(vls_json *config, vls_arena *arena, valise_str text, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    valise_str name, rest, node, param;
    vls_json value;
    int rc;

    if (!vls_str_cut(&name, &rest, text, '=') || !vls_str_cut(&node, &param, name, '.')) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not NODE.path=JSON", vls_text_short(text).s);
        vls_hint(err, "for example chat.params.temperature=0.2 is written chat.temperature=0.2");
        return VALISE_E_INVALID;
    }
    rc = vls_json_parse(&value, arena, rest, NULL, &why);
    if (rc < 0)
        return vls_fail(err, rc, "the value of '%s' is no JSON: %s", vls_text_short(name).s,
                        why.message);
    return set_param(config, arena, node, param, value, err);
}

static int apply_params(vls_flow_text *text, vls_arena *arena, const valise *v, valise_list params,
                        valise_error *err)
{
    const valise_str *each = params.items;
    valise_str changed;
    vls_json config;
    int rc = 0;

    if (params.count == 0)
        return 0;
    rc = vls_json_parse(&config, arena, text->text, NULL, err);
    for (size_t i = 0; i < params.count && rc == 0; i++) {
        rc = apply_param(&config, arena, each[i], err);
        if (rc < 0)
            vls_error_prepend(err, "param[%zu]", i);
    }
    if (rc == 0)
        rc = vls_json_text(&changed, arena, config, err);
    return rc < 0 ? rc : vls_flow_text_change(text, v, changed, err);
}

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

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    const rerun_args *args = in;
    vls_flow_past past = {.last = 0};
    vls_flow_text text = {.programs = false};
    int rc = vls_flow_past_read(&past, &j->arena, j->v, j->actor, args->run, err);

    if (rc == 0)
        rc = vls_flow_past_text(&text, &j->arena, j->v, &past, args->file, err);
    if (rc == 0)
        rc = apply_params(&text, &j->arena, j->v, args->param, err);
    return rc < 0 ? rc : repeat(out, j, args, &past, &text, err);
}

const valise_op vls_op_flow_flow_rerun = {
    .size = sizeof(valise_op),
    .name = "flow:rerun",
    .brief = "Repeat a run from some node on.",
    .help =
        "The new run begins on a fork of the state before that node, with other items or params "
        "where they are given; what ran before it is not run again. The old run stays as it is, "
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
