/* check.c -- a backpack, or one value of it, against a JSON Schema. */
#include "backpack/look.h"

#include "json/schema.h"

/* The state as one object, or one value. */
static int write_instance(vls_buf *out, const vls_ledger *ledger, vls_scope *scope, valise_str key,
                          int64_t now, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    vls_look look = {.required = true, .now = now};
    int rc;

    if (key.len == 0)
        return vls_bag_object(out, ledger, scope, (valise_str){NULL, 0}, err);
    rc = vls_bag_get(&value, ledger, scope, key, &look, err);
    if (rc < 0)
        return rc;
    vls_buf_add(out, vls_blob_bytes(value));
    return vls_buf_check(out, err);
}

static int found(void *arg, const vls_schema_finding *f)
{
    vls_buf *out = arg;

    vls_buf_add_text(out, vls_str_ends(vls_buf_str(out), VLS_STR("}")) ? ",{" : "{");
    vls_buf_add_text(out, "\"instancePath\":");
    vls_json_write_string(out, f->instance_path);
    vls_buf_add_text(out, ",\"keyword\":");
    vls_json_write_string(out, f->keyword);
    vls_buf_add_text(out, ",\"reason\":");
    vls_json_write_string(out, f->reason);
    vls_buf_add_text(out, ",\"schemaPath\":");
    vls_json_write_string(out, f->schema_path);
    vls_buf_add_byte(out, '}');
    return 0;
}

int vls_bag_validate(vls_buf *errors, const vls_ledger *ledger, vls_scope *scope, valise_str key,
                     valise_str schema_text, int64_t now, valise_error *err)
{
    const valise_env *env = vls_scope_env(scope);
    const vls_json_limits limits = {.max_bytes = UINT32_MAX, .around = 1}; /* of all values */
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    VLS_AUTO(schema) vls_schema *schema = NULL;
    vls_schema_report report = {.found = found, .arg = errors};
    valise_error first = VALISE_ERROR_INIT;
    vls_json v, instance;
    int rc, checked;

    vls_arena_init(&arena, env, SIZE_MAX);
    vls_buf_init(&text, env, UINT32_MAX);
    rc = vls_json_parse(&v, &arena, schema_text, NULL, err);
    if (rc == 0)
        rc = vls_schema_compile(&schema, env, v, NULL, err);
    if (rc == 0)
        rc = write_instance(&text, ledger, scope, key, now, err);
    if (rc == 0)
        rc = vls_json_parse(&instance, &arena, vls_buf_str(&text), &limits, err);
    if (rc != 0)
        return rc;
    vls_buf_add_byte(errors, '[');
    checked = vls_schema_check(schema, instance, &report, &first);
    vls_buf_add_byte(errors, ']');
    if (checked < 0 && checked != VALISE_E_INVALID) {
        if (err)
            *err = first;
        return checked;
    }
    rc = vls_buf_check(errors, err);
    return rc < 0 ? rc : checked == 0;
}
