/* logic_ops_control.c -- if, and, or, not, ??, try, throw, preserve, log. */
#include "json/logic_call.h"

/* condition, then, condition, then, ..., else. Of one argument: that. */
int vls_logic_if(vls_json *out, vls_logic_call *call)
{
    vls_json condition;
    size_t i = 0;

    for (; i + 1 < call->count; i += 2) {
        int rc = vls_logic_arg(&condition, call, i);
        if (rc < 0)
            return rc;
        if (vls_logic_truthy(condition))
            return vls_logic_arg(out, call, i + 1);
    }
    if (i < call->count)
        return vls_logic_arg(out, call, i);
    *out = vls_json_null();
    return 0;
}

/* The first argument that is as truthy as wanted, else the last; false of none. */
static int first_that_is(bool truthy, vls_json *out, vls_logic_call *call)
{
    vls_json value = vls_json_bool(false);

    for (size_t i = 0; i < call->count; i++) {
        int rc = vls_logic_arg(&value, call, i);
        if (rc < 0)
            return rc;
        if (vls_logic_truthy(value) == truthy)
            break;
    }
    *out = value;
    return 0;
}

int vls_logic_and(vls_json *out, vls_logic_call *call)
{
    return first_that_is(false, out, call);
}

int vls_logic_or(vls_json *out, vls_logic_call *call)
{
    return first_that_is(true, out, call);
}

int vls_logic_not(vls_json *out, vls_logic_call *call)
{
    *out = vls_json_bool(call->count == 0 || !vls_logic_truthy(call->args[0]));
    return 0;
}

int vls_logic_not_not(vls_json *out, vls_logic_call *call)
{
    *out = vls_json_bool(call->count > 0 && vls_logic_truthy(call->args[0]));
    return 0;
}

int vls_logic_coalesce(vls_json *out, vls_logic_call *call)
{
    vls_json value = vls_json_null();

    for (size_t i = 0; i < call->count && value.type == VLS_JSON_NULL; i++) {
        int rc = vls_logic_arg(&value, call, i);
        if (rc < 0)
            return rc;
    }
    *out = value;
    return 0;
}

/* What the last argument throws nobody catches here. Only VALISE_E_INVALID is thrown: limits and
 * want of memory pass through. */
int vls_logic_try(vls_json *out, vls_logic_call *call)
{
    vls_logic *run = call->run;
    int rc = VALISE_E_INVALID;

    for (size_t i = 0; rc == VALISE_E_INVALID && i < call->count; i++) {
        uint32_t catches = i + 1 < call->count;
        run->catchers += catches;
        if (i == 0)
            rc = vls_logic_arg(out, call, i);
        else
            rc = vls_logic_arg_with(out, call, i, run->thrown, VLS_LOGIC_NO_INDEX);
        run->catchers -= catches;
    }
    return rc;
}

int vls_logic_throw_op(vls_json *out, vls_logic_call *call)
{
    (void)out;
    return vls_logic_throw_value(call->run, call->args[0]);
}

int vls_logic_preserve(vls_json *out, vls_logic_call *call)
{
    *out = call->written;
    return 0;
}

/* For rules that have it from elsewhere. A library has nowhere to print to. */
int vls_logic_log(vls_json *out, vls_logic_call *call)
{
    *out = call->count > 0 ? call->args[0] : vls_json_null();
    return 0;
}
