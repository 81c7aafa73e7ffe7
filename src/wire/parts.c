/* parts.c -- what adapters share when they write (parts.h). */
#include "wire/parts.h"

int vls_part_model(vls_wire *wire, const vls_plan *plan, valise_error *err)
{
    if (plan->model.len == 0) {
        (void)vls_fail(err, VALISE_E_INVALID, "the request has no model");
        vls_hint(err, "name one: --model, `model` in the params of a node, or the setting "
                      "provider.NAME.model");
        return VALISE_E_INVALID;
    }
    vls_wire_pair(wire, "model", plan->model);
    return 0;
}

static bool says_something(vls_json value)
{
    return value.type != VLS_JSON_NULL && !(value.type == VLS_JSON_ARRAY && value.len == 0);
}

bool vls_part_has_param(const vls_plan *plan, const char *param)
{
    return says_something(vls_member_of(plan->params, param));
}

void vls_part_param(vls_wire *wire, const vls_plan *plan, const char *param, const char *key)
{
    if (!vls_part_has_param(plan, param))
        return;
    vls_wire_key(wire, key);
    vls_wire_json(wire, vls_member_of(plan->params, param));
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

int vls_part_args(vls_wire *wire, const vls_plan *plan, const vls_plan_block *call,
                  valise_error *err)
{
    valise_str raw = vls_str_trim(vls_text_of(call->meta, "raw"));
    vls_json said = vls_json_null();
    int rc = raw.len > 0 ? vls_json_parse(&said, plan->arena, raw, NULL, NULL) : VALISE_E_INVALID;

    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    /* The prompt may be a stranger's: what is not the same is not believed. */
    if (rc == 0 && vls_json_equal(said, call->args))
        vls_wire_raw(wire, raw);
    else
        vls_wire_json(wire, call->args);
    return 0;
}

void vls_part_data_url(vls_wire *wire, const vls_plan_block *block)
{
    char before[160];

    (void)snprintf(before, sizeof(before), "data:%.*s;base64,",
                   (int)VLS_MIN(block->media.len, (size_t)128), block->media.ptr);
    vls_wire_blob(wire, valise_str_of(before), block);
}

void vls_part_file(vls_wire *wire, const vls_plan_block *block)
{
    vls_wire_pair(wire, "filename", block->name.len > 0 ? block->name : VLS_STR("document.pdf"));
    vls_wire_key(wire, "file_data");
    vls_part_data_url(wire, block);
}
