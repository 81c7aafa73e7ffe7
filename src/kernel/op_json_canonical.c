/* op_json_canonical.c -- json:canonical, the bytes that are hashed and stored. */
#include "kernel/json.h"

typedef struct canonical_args {
    valise_content value;
} canonical_args;

static const valise_field canonical_in[] = {
    VALISE_FIELD(canonical_args, value, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL,
                 "Any JSON value."),
    VALISE_FIELD_END,
};

static int canonical_query(valise_view *view, const void *args, void *result, valise_error *err)
{
    (void)view;
    (void)err;
    /* Arguments are canonical once they are decoded. */
    ((vls_json_answer *)result)->value = ((const canonical_args *)args)->value;
    return 0;
}

const valise_op vls_op_kernel_json_canonical = {
    .size = sizeof(valise_op),
    .name = "json:canonical",
    .brief = "Print JSON in canonical form, as it is hashed and stored.",
    .help = "RFC 8785, except that integers keep all their digits. Duplicate keys, numbers\nthat "
            "no double can hold and text that is not UTF-8 are refused; the error names the byte.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE | VALISE_OP_IDEMPOTENT,
    .in = canonical_in,
    .in_size = sizeof(canonical_args),
    .out = vls_json_answer_out,
    .out_size = sizeof(vls_json_answer),
    .query = canonical_query,
    .example = "{\"value\":{\"a\":9007199254740993,\"b\":1.5}}",
};
