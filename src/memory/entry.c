/* entry.c -- context entries (entry.h). */
#include "memory/entry.h"

#include "base/text.h"
#include "base/time.h"
#include "blob/receive.h"
#include "bus/bus.h"
#include "store/view.h"

const valise_field vls_entry_ref_fields[] = {
    VALISE_FIELD_WITH(vls_entry_ref, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its key.",
                      .ref = VLS_REF_ENTRY, .min = 1, .max = VLS_MEMORY_KEY_MAX),
    VALISE_FIELD_END,
};

const valise_field vls_entry_made_fields[] = {
    VALISE_FIELD(vls_entry_made, key, STR, VALISE_REQUIRED, "Its key."),
    VALISE_FIELD(vls_entry_made, version, INT, VALISE_REQUIRED,
                 "How often it was written; 1 for a new one."),
    VALISE_FIELD_END,
};

/* ---- finding ---- */

static int fail_none(valise_str key, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no context entry '%s'",
                   vls_text_short(key).s);
    vls_hint(err, "'valise memory list' lists them");
    return VALISE_E_NOT_FOUND;
}

static int fail_over(const vls_context_entry_row *row, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "context entry '%s' expired at %s",
                   vls_text_short(row->key).s, vls_time_text_of(row->expires).s);
    vls_hint(err, "'valise memory history' shows what it was; 'valise memory add' adds a new one");
    return VALISE_E_NOT_FOUND;
}

int vls_entry_get(vls_context_entry_row *row, valise_view *view, valise_error *err)
{
    int64_t now = 0;
    int rc = valise_view_get(row, view, &vls_context_entries, err);

    if (rc == 0)
        return fail_none(row->key, err);
    if (rc > 0)
        rc = vls_memory_now(&now, view, err);
    if (rc < 0)
        return rc;
    return vls_entry_is_over(row, now) ? fail_over(row, err) : 0;
}

int vls_entry_current(valise_str *json, valise_view *view, valise_str key, valise_error *err)
{
    vls_context_entry_row row = {.key = key};
    int64_t now = 0;
    int rc = valise_view_get(&row, view, &vls_context_entries, err);
    bool there = rc > 0;

    if (rc >= 0)
        rc = vls_memory_now(&now, view, err);
    there = there && rc == 0 && !vls_entry_is_over(&row, now);
    return rc < 0 ? rc : vls_memory_current(json, view, there ? row.version : 0, err);
}

/* ---- what it holds ---- */

static vls_blob_hold hold_of(const vls_context_entry_row *row)
{
    return (vls_blob_hold){.blob = row->blob, .kind = VLS_HOLD_CONTEXT, .holder = row->key};
}

int vls_entry_let_go(valise_view *view, const vls_context_entry_row *row, valise_error *err)
{
    vls_blob_hold hold = hold_of(row);
    int rc = vls_id_is_none(&row->blob) ? 0 : vls_blob_release(view, &hold, err);

    return vls_settle(rc);
}

int vls_entry_remove(valise_view *view, const vls_context_entry_row *row, valise_error *err)
{
    int rc = vls_entry_let_go(view, row, err);

    if (rc == 0)
        rc = valise_view_delete(view, &vls_context_entries, row, err);
    return vls_settle(rc);
}

int vls_entry_put(valise_view *view, const vls_context_entry_row *before,
                  const vls_context_entry_row *after, const vls_entry_args *args, valise_error *err)
{
    const vls_blob_about about = vls_blob_told_of(&args->blobs, &after->blob);
    vls_blob_hold hold = hold_of(after);
    bool same = before && vls_id_equal(&before->blob, &after->blob);
    int rc = 0;

    /* First the new one: what both are must not go in between. */
    if (!vls_id_is_none(&after->blob) && !same)
        rc = vls_blob_take(view, &hold, &about, err);
    if (rc >= 0 && before && !same)
        rc = vls_entry_let_go(view, before, err);
    return rc < 0 ? rc : valise_view_put(view, &vls_context_entries, after, err);
}

/* ---- filling ---- */

static size_t count_contents(const vls_entry_args *args)
{
    return (size_t)vls_content_given(&args->text) + (size_t)vls_content_given(&args->value) +
           (size_t)!vls_id_is_none(&args->blob);
}

static int fill_content(vls_context_entry_row *row, const vls_entry_args *args, bool required,
                        valise_error *err)
{
    size_t count = count_contents(args);

    if (count > 1 || (count == 0 && required)) {
        (void)vls_fail(err, VALISE_E_INVALID,
                       count > 1 ? "an entry must have exactly one content, not %zu"
                                 : "an entry needs some content",
                       count);
        vls_hint(err, "give one of text, value, blob, data and file");
        return VALISE_E_INVALID;
    }
    if (count == 0)
        return 0;
    row->content = row->blob = (valise_id){{0}};
    if (vls_content_given(&args->text)) {
        row->type = VLS_ENTRY_TEXT;
        row->content = args->text.id;
    } else if (vls_content_given(&args->value)) {
        row->type = VLS_ENTRY_JSON;
        row->content = args->value.id;
    } else {
        row->type = VLS_ENTRY_BLOB;
        row->blob = args->blob;
    }
    return 0;
}

static int fill_expiry(vls_context_entry_row *row, valise_view *view, const vls_entry_args *args,
                       valise_error *err)
{
    int64_t now = valise_view_stamp(view)->time;

    if (args->expires != VALISE_NONE && args->ttl != VALISE_NONE)
        return vls_fail(err, VALISE_E_INVALID, "give either `expires` or `ttl`");
    if (args->expires != VALISE_NONE)
        row->expires = args->expires;
    else if (args->ttl != VALISE_NONE)
        row->expires = args->ttl > INT64_MAX - now ? INT64_MAX : now + args->ttl;
    else
        return 0;
    if (row->expires > now)
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID, "%s is already in the past",
                   vls_time_text_of(row->expires).s);
    vls_hint(err, "to remove an entry now, use 'valise memory delete'");
    return VALISE_E_INVALID;
}

int vls_entry_fill(vls_context_entry_row *row, valise_view *view, const vls_entry_args *args,
                   bool required, valise_error *err)
{
    int rc = fill_content(row, args, required, err);

    if (rc == 0)
        rc = fill_expiry(row, view, args, err);
    if (rc == 0)
        rc = vls_topics_apply(&row->topics, view, &args->topics, err);
    if (rc == 0 && vls_content_given(&args->metadata))
        row->metadata = args->metadata.id;
    return rc;
}

/* ---- bytes that come along ---- */

int vls_entry_receive(valise_prepare *prepare, void *in, valise_error *err)
{
    vls_entry_args *args = in;
    bool data = vls_content_given(&args->data), file = args->file.ptr != NULL;
    valise_str nothing = VLS_STR("[]");
    int rc;

    if (!data && !file) /* what somebody says of blobs is not believed: only what came along */
        return vls_blob_receive(&nothing, &args->blobs, prepare, args, NULL, err);
    if (count_contents(args) > 0 || (data && file)) {
        (void)vls_fail(err, VALISE_E_INVALID, "an entry must have exactly one content");
        vls_hint(err, "give one of text, value, blob, data and file");
        return VALISE_E_INVALID;
    }
    rc = vls_blob_receive_one(&args->blob, &args->blobs, prepare, args, args->data.bytes,
                              args->file, args->media_type, args->filename, err);
    if (rc < 0)
        return rc;
    args->data = (valise_content){.size = VALISE_NONE};
    args->file = args->media_type = args->filename = (valise_str){NULL, 0};
    return 0;
}
