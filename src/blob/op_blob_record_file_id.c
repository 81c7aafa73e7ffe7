/* op_blob_record_file_id.c -- blob:record-file-id, what a provider calls a blob that was uploaded
 * to it. [W9] */
#include "base/time.h"
#include "blob/ops.h"
#include "json/json.h"
#include "store/view.h"

#define PROVIDER_MAX 128
#define FILE_ID_MAX 512

typedef struct file_id_args {
    valise_id blob;
    valise_str provider, file_id;
    int64_t expires;
} file_id_args;

static const valise_field file_id_in[] = {
    VALISE_FIELD_WITH(file_id_args, blob, ID, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The blob, as sha256sum names it.", .ref = VLS_REF_BLOB),
    VALISE_FIELD_WITH(file_id_args, provider, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The provider, such as openai.", .min = 1, .max = PROVIDER_MAX),
    VALISE_FIELD_AS_WITH(file_id_args, file_id, "fileId", STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                         "The provider's id of the file.", .min = 1, .max = FILE_ID_MAX),
    VALISE_FIELD(file_id_args, expires, TIME, VALISE_NULLABLE, "When the id expires."),
    VALISE_FIELD_END,
};

/* {"fileId":...,"expires":...} */
static int make_entry(vls_json *out, valise_view *view, const file_id_args *a, valise_error *err)
{
    vls_member *members = vls_arena_array(&view->arena, 2, sizeof(*members));
    size_t count = 0;

    if (!members)
        return vls_arena_fail(&view->arena, err);
    members[count++] =
        (vls_member){vls_json_string(VLS_STR("fileId")), vls_json_string(a->file_id)};
    if (a->expires != VALISE_NONE) {
        valise_str text = {NULL, 0};
        int rc =
            vls_arena_dup(&text, &view->arena, valise_str_of(vls_time_text_of(a->expires).s), err);
        if (rc < 0)
            return rc;
        members[count++] = (vls_member){vls_json_string(VLS_STR("expires")), vls_json_string(text)};
    }
    return vls_json_object(out, members, count, err);
}

/* What was there, with this provider's in the place of an earlier one. */
static int add_entry(vls_json *ids, valise_view *view, valise_str provider, vls_json entry,
                     valise_error *err)
{
    vls_member *members = vls_arena_array(&view->arena, (size_t)ids->len + 1, sizeof(*members));
    size_t count = 0;

    if (!members)
        return vls_arena_fail(&view->arena, err);
    for (uint32_t i = 0; i < ids->len; i++) {
        if (!vls_str_equal(vls_json_str(ids->members[i].key), provider))
            members[count++] = ids->members[i];
    }
    members[count++] = (vls_member){vls_json_string(provider), entry};
    return vls_json_object(ids, members, count, err);
}

static int write_ids(vls_blob_record *row, valise_view *view, const file_id_args *a,
                     valise_error *err)
{
    vls_json ids = {.type = VLS_JSON_OBJECT}, entry;
    vls_buf text;
    int rc = 0;

    if (row->file_ids.ptr)
        rc = vls_json_parse(&ids, &view->arena, row->file_ids, NULL, err);
    if (rc == 0 && ids.type != VLS_JSON_OBJECT)
        ids = (vls_json){.type = VLS_JSON_OBJECT};
    if (rc == 0)
        rc = make_entry(&entry, view, a, err);
    if (rc == 0)
        rc = add_entry(&ids, view, a->provider, entry, err);
    if (rc < 0)
        return rc;
    vls_buf_init_in(&text, &view->arena, VLS_BLOB_FILE_IDS_MAX);
    rc = vls_json_write(&text, ids, err);
    return rc < 0 ? rc : vls_buf_keep(&row->file_ids, &text, err);
}

static int decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    const file_id_args *a = args;
    vls_blob_record row;
    int rc = vls_blob_record_of(&row, view, &a->blob, err);

    (void)result;
    if (rc == 0)
        return vls_blob_fail_unknown(view, &a->blob, err);
    if (rc > 0)
        rc = write_ids(&row, view, a, err);
    return rc < 0 ? rc : valise_view_put(view, &vls_blob_records, &row, err);
}

const valise_op vls_op_blob_blob_record_file_id = {
    .size = sizeof(valise_op),
    .name = "blob:record-file-id",
    .brief = "Record the id a provider gave an uploaded blob.",
    .help = "A newer id from the same provider replaces it. It is removed with the blob.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "blob:write",
    .in = file_id_in,
    .in_size = sizeof(file_id_args),
    .decide = decide,
    .example = "{\"blob\":\"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\","
               "\"provider\":\"openai\",\"fileId\":\"file-abc123\"}",
};
