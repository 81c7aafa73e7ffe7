/* op_blob_list.c -- blob:list, the blobs that somebody holds. [W9]
 *
 * Records and holds are in the same order: both are read once, side by side. */
#include <stddef.h>

#include "base/glob.h"
#include "base/str.h"
#include "blob/ops.h"

static const valise_field list_in[] = {
    VALISE_FIELD_AS_WITH(vls_blob_list_args, media_type, "mediaType", STR, 0,
                         "Only this media type; * matches anything.",
                         .max = VLS_BLOB_MEDIA_TYPE_MAX),
    VALISE_FIELD_WITH(vls_blob_list_args, filename, STR, 0,
                      "Only files with this name; * matches anything.",
                      .max = VLS_BLOB_FILENAME_MAX),
    VALISE_FIELD_WITH(vls_blob_list_args, hold, STR, 0, "Only what is held under this name.",
                      .max = VLS_BLOB_HOLDER_MAX),
    VALISE_FIELD_END,
};

static const valise_field list_out[] = {
    VALISE_FIELD(vls_blob_line, sha256, ID, VALISE_REQUIRED, "SHA-256 of its bytes."),
    VALISE_FIELD(vls_blob_line, size, INT, VALISE_REQUIRED, "Its size in bytes."),
    VALISE_FIELD(vls_blob_line, count, INT, VALISE_REQUIRED, "How many hold it."),
    VALISE_FIELD_AS(vls_blob_line, media_type, "mediaType", STR, VALISE_NULLABLE,
                    "Its media type."),
    VALISE_FIELD(vls_blob_line, filename, STR, VALISE_NULLABLE, "Its file name."),
    VALISE_FIELD(vls_blob_line, created, TIME, VALISE_REQUIRED, "When it was registered."),
    VALISE_FIELD_END,
};

typedef struct listing {
    const vls_blob_list_args *args;
    valise_scan *holds;
    vls_blob_hold hold;
    int more; /* hold is filled */
} listing;

/* Count the holds of one blob; *named: the one that was asked for is among them. */
static int count_holds(int64_t *out, bool *named, listing *l, const valise_id *blob,
                       valise_error *err)
{
    int order = 0;

    *out = 0;
    *named = l->args->hold.len == 0;
    while (l->more > 0 && (order = memcmp(&l->hold.blob, blob, sizeof(*blob))) <= 0) {
        if (order == 0) {
            ++*out;
            *named = *named || (l->hold.kind == VLS_HOLD_NAMED &&
                                vls_str_equal(l->hold.holder, l->args->hold));
        }
        l->more = valise_scan_next(&l->hold, l->holds, err);
    }
    return VLS_MIN(l->more, 0);
}

static bool matches(valise_str pattern, valise_str text)
{
    return pattern.len == 0 || (text.ptr && vls_glob_match(&vls_glob_flat, pattern, text));
}

static int list_all(listing *l, valise_view *view, valise_scan *records, valise_error *err)
{
    vls_blob_record row;
    int rc;

    while ((rc = valise_scan_next(&row, records, err)) > 0) {
        vls_blob_line line = {.sha256 = row.sha256,
                              .size = row.size,
                              .media_type = row.media_type,
                              .filename = row.filename,
                              .created = row.created};
        bool named = false;
        rc = count_holds(&line.count, &named, l, &row.sha256, err);
        if (rc == 0 && named && matches(l->args->media_type, row.media_type) &&
            matches(l->args->filename, row.filename))
            rc = valise_view_emit(view, &line, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int query(valise_view *view, const void *args, void *result, valise_error *err)
{
    listing l = {.args = args};
    valise_scan *records = NULL;
    int rc = valise_view_scan(&records, view, &vls_blob_records, NULL, err);

    (void)result;
    if (rc == 0)
        rc = valise_view_scan(&l.holds, view, &vls_blob_holds, NULL, err);
    if (rc == 0)
        rc = l.more = valise_scan_next(&l.hold, l.holds, err);
    if (rc >= 0)
        rc = list_all(&l, view, records, err);
    valise_scan_close(l.holds);
    valise_scan_close(records);
    return rc;
}

const valise_op vls_op_blob_blob_list = {
    .size = sizeof(valise_op),
    .name = "blob:list",
    .brief = "List the blobs in use.",
    .help = "Files that only checkpoints need are not listed.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "blob:read",
    .in = list_in,
    .in_size = sizeof(vls_blob_list_args),
    .out = list_out,
    .out_size = sizeof(vls_blob_line),
    .query = query,
    .example = "{\"mediaType\":\"image/*\"}",
};
