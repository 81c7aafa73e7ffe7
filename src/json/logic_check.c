/* logic_check.c -- what is wrong with a rule whatever the data. */
#include "json/logic_call.h"

static int check_rule(vls_logic *run, vls_json rule);

static int check_args(vls_logic_call *call)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < call->count; i++) {
        call->index = i;
        rc = check_rule(call->run, call->args[i]);
    }
    return rc;
}

/* One argument alone may turn out to be the whole list. */
static bool count_is_known(const vls_logic_call *call)
{
    return call->listed || call->op->style != VLS_LOGIC_SPREAD ||
           call->written.type != VLS_JSON_OBJECT || call->written.len == 0;
}

static int check_operation(vls_logic *run, vls_json rule)
{
    vls_logic_call call;
    int rc = vls_logic_enter(&call, run, rule);

    if (rc < 0)
        return rc;
    if (call.op->style != VLS_LOGIC_AS_IS) {
        if (count_is_known(&call))
            rc = vls_logic_check_count(&call, call.count);
        if (rc == 0)
            rc = check_args(&call);
    }
    vls_logic_leave(&call);
    return rc;
}

static int check_array(vls_logic *run, vls_json array)
{
    vls_logic_call call;
    int rc = vls_logic_enter_array(&call, run, array);

    if (rc < 0)
        return rc;
    rc = check_args(&call);
    vls_logic_leave(&call);
    return rc;
}

static int check_rule(vls_logic *run, vls_json rule)
{
    int rc = vls_logic_charge(run, 1);

    if (rc < 0)
        return rc;
    if (rule.type == VLS_JSON_ARRAY)
        return check_array(run, rule);
    if (rule.type == VLS_JSON_OBJECT && rule.len > 0)
        return check_operation(run, rule);
    return 0;
}

int vls_logic_check(vls_json rule, valise_error *err)
{
    vls_logic run = {.max_steps = VLS_LOGIC_MAX_STEPS,
                     .steps_left = VLS_LOGIC_MAX_STEPS,
                     .max_depth = VLS_LOGIC_MAX_DEPTH,
                     .depth_left = VLS_LOGIC_MAX_DEPTH};
    int rc = check_rule(&run, rule);

    if (rc < 0 && err)
        *err = run.error;
    return rc;
}
