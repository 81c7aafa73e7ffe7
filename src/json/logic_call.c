/* logic_call.c -- starting and ending calls: which operator, how its arguments are written, and
 * how many it takes. Evaluation and check share this. */
#include "json/logic_call.h"

static int push_call(vls_logic_call *call)
{
    vls_logic *run = call->run;

    if (run->depth_left == 0)
        return vls_logic_fail_limit(run, "levels", run->max_depth);
    run->depth_left--;
    call->up = run->call;
    run->call = call;
    return 0;
}

void vls_logic_leave(vls_logic_call *call)
{
    call->run->depth_left++;
    call->run->call = call->up;
}

int vls_logic_enter_array(vls_logic_call *call, vls_logic *run, vls_json array)
{
    *call = (vls_logic_call){.run = run,
                             .written = array,
                             .args = array.items,
                             .count = array.len,
                             .listed = true,
                             .index = VLS_LOGIC_NO_INDEX};
    return push_call(call);
}

/* What is wrong with a call that can be said before its arguments are looked at. */
static int check_call(const vls_logic_call *call)
{
    if (!call->op) {
        int rc =
            vls_logic_throw(call->run, VLS_LOGIC_UNKNOWN_OPERATOR, "there is no operator \"%.*s\"",
                            VALISE_STR_ARG(vls_logic_shown(call->name)));
        vls_hint(&call->run->error, "write data that is not a rule as {\"preserve\": ...}");
        return rc;
    }
    if (call->op->style == VLS_LOGIC_LIST && !call->listed)
        return vls_logic_throw(call->run, VLS_LOGIC_BAD_ARGUMENTS,
                               "the arguments must be written as an array");
    return 0;
}

int vls_logic_enter(vls_logic_call *call, vls_logic *run, vls_json rule)
{
    int rc;

    assert(rule.type == VLS_JSON_OBJECT && rule.len > 0);
    if (rule.len > 1) {
        rc = vls_logic_throw(run, VLS_LOGIC_UNKNOWN_OPERATOR,
                             "an object of %lu members is not an operation",
                             (unsigned long)rule.len);
        vls_hint(&run->error, "write data that is not a rule as {\"preserve\": ...}");
        return rc;
    }
    *call = (vls_logic_call){.run = run,
                             .name = vls_json_str(rule.members[0].key),
                             .written = rule.members[0].value,
                             .index = VLS_LOGIC_NO_INDEX};
    call->op = vls_logic_find(call->name);
    call->listed = call->written.type == VLS_JSON_ARRAY;
    call->args = call->listed ? call->written.items : &call->written;
    call->count = call->listed ? call->written.len : 1;

    rc = push_call(call);
    if (rc < 0)
        return rc;
    rc = check_call(call);
    if (rc < 0)
        vls_logic_leave(call);
    return rc;
}

static const char *ending(uint32_t count)
{
    return count == 1 ? "" : "s";
}

int vls_logic_check_count(vls_logic_call *call, size_t count)
{
    const vls_logic_op *op = call->op;
    unsigned long min = op->min_args, max = op->max_args;

    if (count >= min && (count <= max || op->max_args == VLS_LOGIC_ANY))
        return 0;
    call->index = VLS_LOGIC_NO_INDEX;
    if (op->max_args == VLS_LOGIC_ANY)
        return vls_logic_throw(call->run, VLS_LOGIC_BAD_ARGUMENTS,
                               "at least %lu argument%s wanted, %zu given", min,
                               ending(op->min_args), count);
    if (min == max)
        return vls_logic_throw(call->run, VLS_LOGIC_BAD_ARGUMENTS,
                               "%lu argument%s wanted, %zu given", min, ending(op->min_args),
                               count);
    return vls_logic_throw(call->run, VLS_LOGIC_BAD_ARGUMENTS,
                           "%lu to %lu arguments wanted, %zu given", min, max, count);
}
