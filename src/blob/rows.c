/* rows.c -- the tables of blobs. */
#include "blob/hold.h"

#include <stddef.h>

#include "base/base.h"
#include "blob/meet.h"
#include "store/validate.h"

static const valise_field record_fields[] = {
    VALISE_FIELD_WITH(vls_blob_record, sha256, ID, VALISE_REQUIRED | VALISE_KEY,
                      "SHA-256 of its bytes.", .ref = "blob"),
    VALISE_FIELD(vls_blob_record, size, INT, 0, "Its size in bytes."),
    VALISE_FIELD_AS_WITH(vls_blob_record, media_type, "mediaType", STR,
                         VALISE_NULLABLE | VALISE_CONTENT, "What it is, such as image/png.",
                         .max = VLS_BLOB_MEDIA_TYPE_MAX),
    VALISE_FIELD_WITH(vls_blob_record, filename, STR, VALISE_NULLABLE | VALISE_CONTENT,
                      "Its file name.", .max = VLS_BLOB_FILENAME_MAX),
    VALISE_FIELD(vls_blob_record, created, TIME, 0, "When it was registered."),
    VALISE_FIELD_AS_WITH(vls_blob_record, file_ids, "fileIds", JSON,
                         VALISE_NULLABLE | VALISE_CONTENT, "What providers call it.",
                         .max = VLS_BLOB_FILE_IDS_MAX),
    VALISE_FIELD_END,
};

/* ---- validating: a record exactly where there is a hold [W10] ---- */

static int check_record(valise_check *check, valise_view *view, const void *row, valise_error *err)
{
    const vls_blob_record *record = row;
    int64_t count = 0;
    int rc = vls_blob_count(&count, view, &record->sha256, err);

    if (rc < 0)
        return rc;
    if (count == 0)
        rc = valise_check_problem(
            check, err, "`valise blob retain` it and `valise blob release` it again",
            "nobody holds it, so it should have been removed with its last hold");
    if (rc == 0 && record->size < 0)
        rc = valise_check_problem(check, err, VLS_REMEDY_RESTORE, "its size is %lld",
                                  (long long)record->size);
    return rc;
}

static int check_hold(valise_check *check, valise_view *view, const void *row, valise_error *err)
{
    const vls_blob_hold *hold = row;
    vls_blob_record record;
    int rc = vls_blob_record_of(&record, view, &hold->blob, err);

    if (rc == 0) { /* the holders of one that was erased may still be going */
        rc = vls_blob_is_erased(view, &hold->blob, err);
        return rc != 0 ? vls_settle(rc)
                       : valise_check_problem(check, err, "register the same file again",
                                              "there is no record of the blob it holds");
    }
    if (rc < 0)
        return rc;
    rc = vls_blob_holder_is_there(view, hold, err);
    if (rc != 0)
        return vls_settle(rc);
    return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                "what holds the blob is gone, or was erased");
}

const valise_coll vls_blob_records = {.size = sizeof(valise_coll),
                                      .name = "blob_records",
                                      .help = "What is known of a blob that somebody holds.",
                                      .fields = record_fields,
                                      .row_size = sizeof(vls_blob_record),
                                      .check = check_record,
                                      .needs = "blob:read",
                                      .meet = vls_blob_record_meet};

const char *const vls_hold_kinds[] = {"named", "turn", "context", "prompt", NULL};

static const valise_field hold_fields[] = {
    VALISE_FIELD_WITH(vls_blob_hold, blob, ID, VALISE_REQUIRED | VALISE_KEY, "The blob.",
                      .ref = "blob"),
    VALISE_FIELD_WITH(vls_blob_hold, kind, ENUM, VALISE_REQUIRED | VALISE_KEY, "What holds it.",
                      .more = vls_hold_kinds),
    VALISE_FIELD_WITH(vls_blob_hold, holder, STR, VALISE_REQUIRED | VALISE_KEY, "Who holds it.",
                      .min = 1, .max = VLS_BLOB_HOLDER_MAX),
    VALISE_FIELD_END,
};

static const char *const by_holder[] = {"kind", "holder", NULL};
static const valise_coll_index hold_indexes[] = {{"holder", by_holder}, {NULL, NULL}};

const valise_coll vls_blob_holds = {.size = sizeof(valise_coll),
                                    .name = "blob_hold",
                                    .help = "Who holds a blob.",
                                    .fields = hold_fields,
                                    .row_size = sizeof(vls_blob_hold),
                                    .indexes = hold_indexes,
                                    .check = check_hold,
                                    .needs = "blob:read",
                                    .leads = vls_blob_hold_leads,
                                    .arrive = vls_blob_holds_arrive};
