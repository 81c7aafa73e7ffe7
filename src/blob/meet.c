/* meet.c -- see meet.h. */
#include "blob/meet.h"

#include "base/buf.h"
#include "base/str.h"
#include "blob/hold.h"
#include "json/json.h"
#include "store/view.h"

int vls_blob_hold_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                        valise_error *err)
{
    const vls_blob_record record = {.sha256 = ((const vls_blob_hold *)row)->blob};

    (void)view;
    return fn(arg, &vls_blob_records, &record, err);
}

/* The members of ours, and those of theirs that ours has not. */
static int join(valise_str *out, valise_view *view, valise_str ours, valise_str theirs,
                valise_error *err)
{
    vls_json a = vls_json_null(), b = vls_json_null(), all;
    vls_member *members;
    size_t count = 0;
    vls_buf text;
    int rc = vls_json_parse(&a, &view->arena, ours, NULL, err);

    if (rc == 0)
        rc = vls_json_parse(&b, &view->arena, theirs, NULL, err);
    if (rc < 0)
        return rc;
    if (a.type != VLS_JSON_OBJECT || b.type != VLS_JSON_OBJECT)
        return 0;
    members = vls_arena_array(&view->arena, (size_t)a.len + b.len + 1, sizeof(*members));
    if (!members)
        return vls_arena_fail(&view->arena, err);
    for (size_t i = 0; i < a.len; i++)
        members[count++] = a.members[i];
    for (size_t i = 0; i < b.len; i++) {
        if (!vls_json_get(a, vls_json_str(b.members[i].key)))
            members[count++] = b.members[i];
    }
    rc = vls_json_object(&all, members, count, err);
    if (rc < 0)
        return rc;
    vls_buf_init_in(&text, &view->arena, VLS_BLOB_FILE_IDS_MAX);
    rc = vls_json_write(&text, all, err);
    if (rc == VALISE_E_TOO_LARGE)
        return 0; /* ours, then */
    return rc < 0 ? rc : vls_buf_keep(out, &text, err);
}

static bool differs(const vls_blob_record *a, const vls_blob_record *b)
{
    return !vls_str_equal(a->media_type, b->media_type) ||
           !vls_str_equal(a->filename, b->filename) || !vls_str_equal(a->file_ids, b->file_ids);
}

int vls_blob_record_meet(valise_view *view, const void *here, const void *there, valise_error *err)
{
    const vls_blob_record *ours = here, *theirs = there;
    vls_blob_record record = *ours;
    int rc = 0;

    if (!record.media_type.ptr)
        record.media_type = theirs->media_type;
    if (!record.filename.ptr)
        record.filename = theirs->filename;
    if (!record.file_ids.ptr)
        record.file_ids = theirs->file_ids;
    else if (theirs->file_ids.ptr)
        rc = join(&record.file_ids, view, ours->file_ids, theirs->file_ids, err);
    return rc < 0 || !differs(ours, &record)
               ? rc
               : valise_view_put(view, &vls_blob_records, &record, err);
}
