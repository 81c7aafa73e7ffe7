/* parts.c -- what adapters share whose arguments are texts. */
#include "wire/parts.h"

#include "wire/rules.h"

/* ---- results ---- */

int vls_part_settle_errors(vls_plan *plan, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < plan->messages.len; i++) {
        const vls_plan_message *message = &plan->messages.ptr[i];
        for (size_t j = 0; j < message->blocks.len && rc == 0; j++) {
            const vls_plan_block *block = &message->blocks.ptr[j];
            if (block->is_error && !block->made)
                rc =
                    vls_plan_mend(plan, VLS_R_ERROR, NULL, block->at, block->block, block->id, err);
        }
    }
    return rc;
}

/* ---- writing ---- */

int vls_part_model(vls_wire *wire, const vls_plan *plan, valise_error *err)
{
    if (plan->model.len == 0) {
        (void)vls_fail(err, VALISE_E_INVALID, "the request has no model");
        vls_hint(err, "name one in params, or with the provider");
        return VALISE_E_INVALID;
    }
    vls_wire_key(wire, "model");
    vls_wire_str(wire, plan->model);
    return 0;
}

void vls_part_param(vls_wire *wire, const vls_plan *plan, const char *param, const char *key)
{
    vls_json value = vls_member_of(plan->params, param);

    if (value.type == VLS_JSON_NULL || (value.type == VLS_JSON_ARRAY && value.len == 0))
        return;
    vls_wire_key(wire, key);
    vls_wire_json(wire, value);
}

void vls_part_args_text(vls_wire *wire, const vls_plan_block *call)
{
    valise_str raw = vls_text_of(call->meta, "raw");

    if (call->args.type == VLS_JSON_STRING)
        vls_wire_str(wire, vls_json_str(call->args));
    else if (raw.ptr)
        vls_wire_str(wire, raw);
    else
        vls_wire_json_text(wire, call->args);
}

void vls_part_data_url(vls_wire *wire, const vls_plan_block *block)
{
    char before[160];

    (void)snprintf(before, sizeof(before), "data:%.*s;base64,",
                   (int)VLS_MIN(block->media.len, (size_t)128), block->media.ptr);
    vls_wire_blob(wire, valise_str_of(before), block);
}
