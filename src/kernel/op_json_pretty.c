/* op_json_pretty.c -- json:pretty, a value over several lines. */
#include "kernel/json.h"

typedef struct pretty_args {
    valise_content value;
} pretty_args;

typedef struct pretty_result {
    valise_str text;
} pretty_result;

static const valise_field pretty_in[] = {
    VALISE_FIELD(pretty_args, value, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL, "Any JSON value."),
    VALISE_FIELD_END,
};

static const valise_field pretty_out[] = {
    VALISE_FIELD_WITH(pretty_result, text, STR, 0, "The value over several lines.",
                      .max = INT64_C(1) << 30),
    VALISE_FIELD_END,
};

static int pretty_query(valise_view *view, const void *args, void *result, valise_error *err)
{
    const pretty_args *a = args;
    VLS_AUTO(buf) vls_buf text = {0};
    vls_json value;
    int rc = vls_json_argument(&value, view, &a->value, err);

    if (rc < 0)
        return rc;
    vls_buf_init(&text, vls_json_arena(view)->env, (size_t)1 << 30);
    rc = vls_json_write_pretty(&text, value, err);
    if (rc < 0)
        return rc;
    return vls_arena_dup(&((pretty_result *)result)->text, vls_json_arena(view), vls_buf_str(&text),
                         err);
}

const valise_op vls_op_kernel_json_pretty = {
    .size = sizeof(valise_op),
    .name = "json:pretty",
    .brief = "Print a value indented over several lines.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE | VALISE_OP_IDEMPOTENT,
    .in = pretty_in,
    .in_size = sizeof(pretty_args),
    .out = pretty_out,
    .out_size = sizeof(pretty_result),
    .query = pretty_query,
    .example = "{\"value\":{\"turns\":[{\"role\":\"user\"}]}}",
};
