/* logic.c -- evaluating rules: dispatch by the table, arguments, limits.
 *
 * What an operator allocated on the way to a number, a boolean or null is given back at once, so
 * a rule over a long array needs no more memory than one step of it. */
#include "json/logic_call.h"

#define FEW_ARGS 8         /* kept on the C stack */
#define BYTES_PER_STEP 64u /* of text that is searched, compared or converted */

static int evaluate(vls_json *out, vls_logic *run, vls_json rule);

/* ---- budget ---- */

int vls_logic_charge(vls_logic *run, uint64_t steps)
{
    if (VLS_LIKELY(steps <= run->steps_left)) {
        run->steps_left -= steps;
        return 0;
    }
    run->steps_left = 0;
    return vls_logic_fail_limit(run, "steps", run->max_steps);
}

int vls_logic_charge_text(vls_logic *run, size_t bytes)
{
    return bytes < BYTES_PER_STEP ? 0 : vls_logic_charge(run, bytes / BYTES_PER_STEP);
}

int vls_logic_array(vls_json **out, vls_logic *run, size_t count)
{
    vls_json *items;

    if (count > UINT32_MAX)
        return vls_fail(&run->error, VALISE_E_TOO_LARGE, "an array of %zu items is too large",
                        count);
    items = vls_arena_array(run->arena, count, sizeof(*items));
    if (!items)
        return vls_arena_fail(run->arena, &run->error);
    *out = items;
    return 0;
}

/* ---- evaluation ---- */

int vls_logic_arg(vls_json *out, vls_logic_call *call, size_t i)
{
    call->index = i;
    return evaluate(out, call->run, call->args[i]);
}

int vls_logic_arg_with(vls_json *out, vls_logic_call *call, size_t i, vls_json data, size_t index)
{
    vls_logic *run = call->run;
    vls_logic_scope scope = {run->scope, data, index};
    int rc;

    run->scope = &scope;
    rc = vls_logic_arg(out, call, i);
    run->scope = scope.up;
    return rc;
}

/* Whether evaluation gave back the very value that was written. */
static bool is_unchanged(vls_json a, vls_json b)
{
    return a.type == b.type && a.truth == b.truth && a.len == b.len && a.integer == b.integer;
}

/* The items' values. An array of nothing but literals is its own value and costs no memory. */
static int array_items(vls_json *out, vls_logic_call *call)
{
    vls_json *items = NULL;
    vls_json value = vls_json_null();

    for (size_t i = 0; i < call->count; i++) {
        int rc = vls_logic_arg(&value, call, i);
        if (rc == 0 && !items && !is_unchanged(value, call->args[i])) {
            rc = vls_logic_array(&items, call->run, call->count);
            if (items)
                memcpy(items, call->args, i * sizeof(*items));
        }
        if (rc < 0)
            return rc;
        if (items)
            items[i] = value;
    }
    *out = items ? vls_json_array(items, call->count) : call->written;
    return 0;
}

static int evaluate_array(vls_json *out, vls_logic *run, vls_json array)
{
    vls_logic_call call;
    int rc = vls_logic_enter_array(&call, run, array);

    if (rc < 0)
        return rc;
    rc = array_items(out, &call);
    vls_logic_leave(&call);
    return rc;
}

/* Replace the argument rules by their values; room is for the first few. */
static int evaluate_args(vls_logic_call *call, vls_json room[FEW_ARGS])
{
    vls_json *values = room;
    int rc = 0;

    if (call->count > FEW_ARGS)
        rc = vls_logic_array(&values, call->run, call->count);
    for (size_t i = 0; rc == 0 && i < call->count; i++)
        rc = vls_logic_arg(&values[i], call, i);
    if (rc < 0)
        return rc;

    call->args = values;
    call->index = VLS_LOGIC_NO_INDEX;
    if (call->op->style == VLS_LOGIC_SPREAD && !call->listed && values[0].type == VLS_JSON_ARRAY) {
        call->args = values[0].items;
        call->count = values[0].len;
    }
    return 0;
}

static int call_operator(vls_json *out, vls_logic_call *call)
{
    vls_json room[FEW_ARGS] = {{0}};
    vls_logic_style style = call->op->style;
    int rc = 0;

    if (style == VLS_LOGIC_VALUES || style == VLS_LOGIC_SPREAD)
        rc = evaluate_args(call, room);
    if (rc == 0 && style != VLS_LOGIC_AS_IS)
        rc = vls_logic_check_count(call, call->count);
    return rc < 0 ? rc : call->op->fn(out, call);
}

static int evaluate_operation(vls_json *out, vls_logic *run, vls_json rule)
{
    vls_arena_mark mark = vls_arena_here(run->arena);
    vls_logic_call call;
    int rc = vls_logic_enter(&call, run, rule);

    if (rc < 0)
        return rc;
    rc = call_operator(out, &call);
    vls_logic_leave(&call);
    if (rc == 0 && vls_logic_is_scalar(*out))
        vls_arena_rewind(run->arena, mark);
    return rc;
}

static int evaluate(vls_json *out, vls_logic *run, vls_json rule)
{
    int rc = vls_logic_charge(run, 1);

    if (rc < 0)
        return rc;
    if (rule.type == VLS_JSON_ARRAY)
        return evaluate_array(out, run, rule);
    if (rule.type == VLS_JSON_OBJECT && rule.len > 0)
        return evaluate_operation(out, run, rule);
    *out = rule;
    return 0;
}

/* ---- applying ---- */

/* A rule can nest a value in itself again and again, and then it has more levels or, counted one
 * by one, more parts than anybody could write. Such a value does not leave. */
static int check_size(vls_logic *run, vls_json v, uint32_t depth_left)
{
    int rc = vls_logic_charge(run, 1);

    if (v.type != VLS_JSON_ARRAY && v.type != VLS_JSON_OBJECT)
        return rc;
    if (depth_left == 0)
        return vls_logic_fail_limit(run, "levels in the result", VLS_JSON_MAX_DEPTH);
    for (size_t i = 0; rc == 0 && i < v.len; i++)
        rc = check_size(run, v.type == VLS_JSON_ARRAY ? v.items[i] : v.members[i].value,
                        depth_left - 1);
    return rc;
}

static int check_result(vls_logic *run, vls_json v)
{
    run->steps_left = run->max_steps;
    return check_size(run, v, VLS_JSON_MAX_DEPTH);
}

static void start(vls_logic *run, vls_arena *arena, const vls_logic_limits *limits)
{
    uint64_t steps = limits ? limits->max_steps : 0;
    uint32_t depth = limits ? limits->max_depth : 0;

    memset(run, 0, sizeof(*run));
    run->arena = arena;
    run->max_steps = run->steps_left = steps ? steps : VLS_LOGIC_MAX_STEPS;
    run->max_depth = run->depth_left =
        depth ? VLS_MIN(depth, VLS_LOGIC_MAX_DEPTH) : VLS_LOGIC_MAX_DEPTH;
}

static int finish(vls_logic *run, int rc, valise_error *err)
{
    if (rc < 0 && err)
        *err = run->error;
    return rc;
}

static int run_rule(vls_json *out, vls_logic *run, vls_arena *arena, vls_json rule, vls_json data,
                    const vls_logic_limits *limits)
{
    vls_logic_scope scope = {NULL, data, VLS_LOGIC_NO_INDEX};
    int rc;

    start(run, arena, limits);
    /* cppcheck-suppress autoVariables ; taken out again below */
    run->scope = &scope;
    rc = evaluate(out, run, rule);
    run->scope = NULL;
    return rc;
}

int vls_logic_run(vls_json *out, vls_json *thrown, vls_arena *arena, vls_json rule, vls_json data,
                  const vls_logic_limits *limits, valise_error *err)
{
    vls_logic run;
    vls_json result;
    int rc = run_rule(&result, &run, arena, rule, data, limits);

    if (rc == 0)
        rc = check_result(&run, result);
    if (rc == VALISE_E_INVALID && thrown) {
        int bad = check_result(&run, run.thrown);
        rc = bad < 0 ? bad : rc;
        if (bad == 0)
            *thrown = run.thrown;
    }
    if (rc == 0)
        *out = result;
    return finish(&run, rc, err);
}

int vls_logic_apply(vls_json *out, vls_arena *arena, vls_json rule, vls_json data,
                    const vls_logic_limits *limits, valise_error *err)
{
    return vls_logic_run(out, NULL, arena, rule, data, limits, err);
}

int vls_logic_holds(bool *out, vls_arena *arena, vls_json rule, vls_json data,
                    const vls_logic_limits *limits, valise_error *err)
{
    vls_logic run;
    vls_json result;
    int rc = run_rule(&result, &run, arena, rule, data, limits);

    if (rc == 0)
        *out = vls_logic_truthy(result);
    return finish(&run, rc, err);
}
