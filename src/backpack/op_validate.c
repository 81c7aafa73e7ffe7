/* op_validate.c -- backpack:validate, the state against a JSON Schema. */
#include "backpack/use.h"

typedef struct validate_args {
    vls_who who;
    valise_content schema;
    valise_str key, point;
} validate_args;

static const valise_field validate_in[] = {
    VLS_WHO_FIELDS(validate_args),
    VALISE_FIELD(validate_args, schema, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL,
                 "A JSON Schema (2020-12)."),
    VALISE_FIELD_WITH(validate_args, key, STR, 0,
                      "Check only this item (default: the whole state, as an object).",
                      .max = VLS_BAG_KEY_MAX, .ref = VLS_REF_KEY),
    VLS_POINT_FIELD(validate_args, point),
    VALISE_FIELD_END,
};

typedef struct validate_result {
    bool valid;
    valise_str findings;
} validate_result;

static const valise_field validate_out[] = {
    VALISE_FIELD(validate_result, valid, BOOL, 0, "Whether the schema holds."),
    VALISE_FIELD(validate_result, findings, JSON, VALISE_NULLABLE,
                 "Every error with the path in the value and in the schema."),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const validate_args *args = in;
    validate_result *result = out;
    VLS_AUTO(use) vls_use use = {0};
    VLS_AUTO(buf) vls_buf errors = {0};
    int rc = vls_use_begin(&use, view, &args->who, err);

    vls_buf_init(&errors, view->arena.env, VLS_JSON_MAX_BYTES);
    if (rc == 0)
        rc = vls_use_point(&use, args->point, err);
    if (rc == 0)
        rc = vls_bag_validate(&errors, &use.ledger, use.scope, args->key, args->schema.bytes,
                              view->stamp.time, err);
    if (rc < 0)
        return rc;
    result->valid = rc > 0;
    return vls_arena_dup(&result->findings, &view->arena, vls_buf_str(&errors), err);
}

const valise_op vls_op_backpack_validate = {
    .size = sizeof(valise_op),
    .name = "backpack:validate",
    .brief = "Check the state of a backpack against a JSON Schema.",
    .kind = VALISE_QUERY,
    .needs = "backpack:read",
    .in = validate_in,
    .in_size = sizeof(validate_args),
    .out = validate_out,
    .out_size = sizeof(validate_result),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"schema\":{\"required\":[\"query\"]}}",
};
