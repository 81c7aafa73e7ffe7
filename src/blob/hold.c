/* hold.c -- see hold.h. */
#include "blob/hold.h"

#include "base/hex.h"
#include "kernel/erase.h"
#include "store/view.h"

int vls_blob_is_erased(valise_view *view, const valise_id *blob, valise_error *err)
{
    vls_object_place place = vls_object_place_of(blob);
    vls_erasure row = {.place = valise_str_of(place.s)};
    const valise_select of_blob = {.row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_erasures, &of_blob, err);

    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    valise_scan_close(scan);
    return rc;
}

int vls_blob_fail_unknown(valise_view *view, const valise_id *blob, valise_error *err)
{
    int rc = vls_blob_is_erased(view, blob, err);

    if (rc < 0)
        return rc;
    if (rc > 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "blob %s was erased", vls_id_hex(blob).s);
        vls_hint(err, "'valise erasure list' shows by whom and why; 'valise blob register FILE' "
                      "adds its bytes again");
        return VALISE_E_NOT_FOUND;
    }
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no blob %s", vls_id_hex(blob).s);
    vls_hint(err, "'valise blob register FILE' adds one, 'valise blob list' lists them");
    return VALISE_E_NOT_FOUND;
}

int vls_blob_record_of(vls_blob_record *out, valise_view *view, const valise_id *blob,
                       valise_error *err)
{
    *out = (vls_blob_record){.sha256 = *blob};
    return valise_view_get(out, view, &vls_blob_records, err);
}

/* ---- taking ---- */

/* What was not known yet: 1 when there is something new. */
static int fill(vls_blob_record *record, const vls_blob_about *about)
{
    bool type = !record->media_type.ptr && about->media_type.ptr;
    bool name = !record->filename.ptr && about->filename.ptr;

    if (type)
        record->media_type = about->media_type;
    if (name)
        record->filename = about->filename;
    return type || name;
}

static int put_record(valise_view *view, const vls_blob_hold *hold, const vls_blob_about *about,
                      valise_error *err)
{
    vls_blob_record record;
    int rc = vls_blob_record_of(&record, view, &hold->blob, err);
    bool found = rc > 0;

    if (rc < 0)
        return rc;
    if (!found && (!about || about->size == VALISE_NONE))
        return vls_blob_fail_unknown(view, &hold->blob, err);
    if (!found) {
        record.size = about->size;
        record.created = valise_view_stamp(view)->time;
    }
    if (about && fill(&record, about) > 0)
        found = false;
    return found ? 0 : valise_view_put(view, &vls_blob_records, &record, err);
}

int vls_blob_take(valise_view *view, const vls_blob_hold *hold, const vls_blob_about *about,
                  valise_error *err)
{
    vls_blob_hold there = *hold;
    int rc = put_record(view, hold, about, err);

    if (rc == 0)
        rc = valise_view_get(&there, view, &vls_blob_holds, err);
    if (rc != 0)
        return vls_settle(rc); /* it is held already */
    rc = valise_view_put(view, &vls_blob_holds, hold, err);
    return rc < 0 ? rc : 1;
}

/* ---- letting go ---- */

/* Counts up to `most`. */
static int count_holds(int64_t *out, valise_view *view, const valise_id *blob, int64_t most,
                       valise_error *err)
{
    const vls_blob_hold key = {.blob = *blob};
    const valise_select of_blob = {.row = &key, .equal = 1};
    valise_scan *scan = NULL;
    vls_blob_hold row;
    int64_t count = 0;
    int rc = valise_view_scan(&scan, view, &vls_blob_holds, &of_blob, err);

    while (rc >= 0 && count < most && (rc = valise_scan_next(&row, scan, err)) > 0)
        count++;
    valise_scan_close(scan);
    if (rc >= 0)
        *out = count;
    return vls_settle(rc);
}

int vls_blob_count(int64_t *out, valise_view *view, const valise_id *blob, valise_error *err)
{
    return count_holds(out, view, blob, INT64_MAX, err);
}

int vls_blob_release(valise_view *view, const vls_blob_hold *hold, valise_error *err)
{
    const vls_blob_record record = {.sha256 = hold->blob};
    int64_t left = 0;
    int rc = valise_view_delete(view, &vls_blob_holds, hold, err);

    if (rc <= 0)
        return rc;
    rc = count_holds(&left, view, &hold->blob, 1, err);
    if (rc < 0 || left > 0)
        return rc < 0 ? rc : 1;
    rc = valise_view_delete(view, &vls_blob_records, &record, err);
    if (rc >= 0)
        rc = vls_view_let_go(view, &hold->blob, err);
    return rc < 0 ? rc : 1;
}

/* Prompts let go of what the selection has: those of a blob, or of an entry. */
static int release_prompts(valise_view *view, const valise_select *select, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_blob_hold row;
    int rc = valise_view_scan(&scan, view, &vls_blob_holds, select, err);

    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        if (row.kind == VLS_HOLD_PROMPT)
            rc = vls_blob_release(view, &row, err);
    valise_scan_close(scan);
    return vls_settle(rc);
}

/* Does anybody but prompts hold it? 1, or 0. */
static int has_others(valise_view *view, const valise_select *of_blob, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_blob_hold row;
    bool others = false;
    int rc = valise_view_scan(&scan, view, &vls_blob_holds, of_blob, err);

    while (rc >= 0 && !others && (rc = valise_scan_next(&row, scan, err)) > 0)
        others = row.kind != VLS_HOLD_PROMPT;
    valise_scan_close(scan);
    return rc < 0 ? rc : others;
}

int vls_blob_forget(valise_view *view, const valise_id *blob, valise_error *err)
{
    const vls_blob_hold key = {.blob = *blob};
    const valise_select of_blob = {.row = &key, .equal = 1};
    int rc = has_others(view, &of_blob, err);

    return rc != 0 ? vls_settle(rc) : release_prompts(view, &of_blob, err);
}

int vls_blob_forget_entry(valise_view *view, valise_str key, valise_error *err)
{
    const vls_blob_hold row = {.kind = VLS_HOLD_PROMPT, .holder = key};
    const valise_select of_entry = {.index = "holder", .row = &row, .equal = 2};

    return release_prompts(view, &of_entry, err);
}
