/* op_blob_record.c -- blob:record, the rows of a blob whose bytes are there. What is known of it
 * comes with the payload: a decider looks at no file. */
#include "blob/ops.h"

static const valise_field record_in[] = {
    VALISE_FIELD(vls_blob_record_args, blob, ID, VALISE_REQUIRED, "SHA-256 of its bytes."),
    VALISE_FIELD_WITH(vls_blob_record_args, size, INT, VALISE_REQUIRED, "Its size in bytes.",
                      .min = 0, .max = INT64_MAX),
    VALISE_FIELD_AS_WITH(vls_blob_record_args, media_type, "mediaType", STR, VALISE_NULLABLE,
                         "Its media type.", .max = VLS_BLOB_MEDIA_TYPE_MAX),
    VALISE_FIELD_WITH(vls_blob_record_args, filename, STR, VALISE_NULLABLE, "Its file name.",
                      .max = VLS_BLOB_FILENAME_MAX),
    VLS_BLOB_HOLD_FIELD(vls_blob_record_args),
    VALISE_FIELD_END,
};

static const valise_field record_out[] = {
    VALISE_FIELD_AS(vls_blob_held, changed, "taken", BOOL, 0, "The hold is a new one."),
    VALISE_FIELD(vls_blob_held, count, INT, 0, "How many hold it now."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    const vls_blob_record_args *a = args;
    const vls_blob_hold hold = vls_blob_named(&a->blob, a->hold);
    const vls_blob_about about = {a->size, a->media_type, a->filename};
    vls_blob_held *out = result;
    int rc = vls_blob_take(view, &hold, &about, err);

    if (rc < 0)
        return rc;
    out->changed = rc > 0;
    return vls_blob_count(&out->count, view, &a->blob, err);
}

const valise_op vls_op_blob_blob_record = {
    .size = sizeof(valise_op),
    .name = "blob:record",
    .brief = "Hold a blob whose bytes are there.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT | VALISE_OP_INTERNAL,
    .needs = "blob:write",
    .in = record_in,
    .in_size = sizeof(vls_blob_record_args),
    .out = record_out,
    .out_size = sizeof(vls_blob_held),
    .decide = decide,
    .example = "{\"blob\":\"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\","
               "\"size\":6,\"filename\":\"hello.txt\"}",
};
