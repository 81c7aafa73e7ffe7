/* contract.c -- what a node takes and gives: a JSON Schema for each key. [F17]
 *
 * Inputs are read as the node, and recorded as its reads; outputs are looked at by the flow. What
 * is not there is made of the schema's `default`, and packed by the node; defaults of properties
 * inside an object too. */
#include "base/text.h"
#include "flow/level.h"
#include "json/make.h"

#define DEPTH_MAX 32 /* of properties in properties */

static int fail_at(const vls_flow_contract *contract, const valise_node_run *at, const char *what,
                   const valise_error *why, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "%s '%s' of '%s'%s%s", what,
                   vls_text_short(contract->key).s, vls_text_short(at->path).s,
                   why ? ": " : " is missing", why ? why->message : "");
    if (!why)
        vls_hint(err, "pack it before, give its schema a `default`, or set `optional`: true");
    return VALISE_E_INVALID;
}

static int check_value(const vls_flow_contract *contract, const valise_node_run *at,
                       const char *what, vls_json value, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = vls_schema_check(contract->schema, value, NULL, &why);

    if (rc == 0)
        return 0;
    if (rc == VALISE_E_INVALID)
        return fail_at(contract, at, what, &why, err);
    *err = why;
    return rc;
}

/* ---- defaults ---- */

/* The value with what its properties' schemas have as defaults; the same where nothing is new. */
static int fill(vls_json *value, bool *changed, vls_arena *arena, vls_json schema, int depth,
                valise_error *err)
{
    const vls_json *properties = vls_json_get(schema, VLS_STR("properties"));
    int rc = 0;

    if (!properties || properties->type != VLS_JSON_OBJECT || value->type != VLS_JSON_OBJECT ||
        depth == 0)
        return 0;
    for (uint32_t i = 0; i < properties->len && rc == 0; i++) {
        valise_str key = vls_json_str(properties->members[i].key);
        vls_json inner = properties->members[i].value;
        const vls_json *there = vls_json_get(*value, key);
        const vls_json *usual = vls_json_get(inner, VLS_STR("default"));
        vls_json part = there ? *there : usual ? *usual : vls_json_null();
        bool part_changed = !there && usual;

        if (there || usual)
            rc = fill(&part, &part_changed, arena, inner, depth - 1, err);
        if (rc == 0 && part_changed) {
            *changed = true;
            rc = vls_json_with_key(value, arena, *value, key, part, err);
        }
    }
    return rc;
}

static int pack(const vls_flow_contract *contract, valise_node_run *at, vls_json value,
                valise_error *err)
{
    valise_str text;
    int rc = vls_json_text(&text, at->arena, value, err);

    return rc < 0 ? rc : valise_pack_str(NULL, at->view, contract->key, text, NULL, err);
}

/* ---- both ---- */

/* 1: it is there, in the arena; 0: it is not. */
static int take_value(vls_json *out, valise_node_run *at, const valise_blob *value,
                      valise_error *err)
{
    valise_str text;
    int rc;

    assert(value);
    rc = vls_arena_dup(&text, at->arena, vls_blob_bytes(value), err);
    if (rc == 0)
        rc = vls_json_parse(out, at->arena, text, NULL, err);
    return rc < 0 ? rc : 1;
}

static int check_input(const vls_flow_contract *contract, valise_node_run *at, valise_error *err)
{
    const vls_json *usual = vls_json_get(contract->json, VLS_STR("default"));
    vls_json value = vls_json_null();
    bool changed = false;
    VLS_AUTO(blob) valise_blob *found = NULL;
    int rc = valise_unpack_str(&found, at->view, contract->key, err);

    if (rc > 0)
        rc = take_value(&value, at, found, err);
    if (rc == 0 && contract->optional && !usual)
        return 0;
    if (rc == 0 && !usual)
        return fail_at(contract, at, "input", NULL, err);
    if (rc == 0) {
        value = *usual;
        changed = true;
    }
    if (rc >= 0 && contract->has_defaults)
        rc = fill(&value, &changed, at->arena, contract->json, DEPTH_MAX, err);
    if (rc >= 0)
        rc = check_value(contract, at, "input", value, err);
    return rc < 0 || !changed ? rc : pack(contract, at, value, err);
}

/* It is the flow that looks: a node need not be allowed to read what it gives. */
static int check_output(const vls_flow_contract *contract, valise_node_run *at, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *found = NULL;
    vls_json value = vls_json_null();
    valise_str key;
    int rc = vls_arena_dup(&key, at->arena, contract->key, err);

    if (rc == 0)
        rc = valise_peek(&found, at->run->bag, key.ptr, err);
    if (rc > 0)
        rc = take_value(&value, at, found, err);
    if (rc == 0)
        return contract->optional ? 0 : fail_at(contract, at, "output", NULL, err);
    return rc < 0 ? rc : check_value(contract, at, "output", value, err);
}

int vls_flow_check_inputs(valise_node_run *at, valise_error *err)
{
    int rc = 0;

    at->phase = VLS_PHASE_INPUTS;
    for (size_t i = 0; i < at->node->input_count && rc == 0; i++)
        rc = vls_settle(check_input(&at->node->inputs[i], at, err));
    return rc;
}

int vls_flow_check_outputs(valise_node_run *at, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < at->node->output_count && rc == 0; i++)
        rc = check_output(&at->node->outputs[i], at, err);
    return rc;
}
