/* entry_show.c -- entries as they are shown (entry.h). */
#include "blob/hold.h"
#include "memory/entry.h"

const valise_field vls_entry_shown_fields[] = {
    VALISE_FIELD(vls_entry_shown, key, STR, VALISE_REQUIRED, "Its key."),
    VALISE_FIELD_WITH(vls_entry_shown, type, ENUM, VALISE_REQUIRED, "Its type.",
                      .more = vls_entry_types),
    VALISE_FIELD_WITH(vls_entry_shown, topics, LIST, 0, "Its topics.", .more = &vls_topic_item),
    VALISE_FIELD(vls_entry_shown, metadata, JSON, VALISE_NULLABLE, "Whatever else was told."),
    VALISE_FIELD(vls_entry_shown, expires, TIME, VALISE_NULLABLE, "When it expires."),
    VALISE_FIELD(vls_entry_shown, version, INT, VALISE_REQUIRED, "How often it was written."),
    VALISE_FIELD(vls_entry_shown, created, TIME, VALISE_REQUIRED, "When it was added."),
    VALISE_FIELD(vls_entry_shown, updated, TIME, VALISE_REQUIRED, "When it was changed last."),
    VALISE_FIELD(vls_entry_shown, actor, STR, VALISE_REQUIRED, "Who did."),
    VALISE_FIELD(vls_entry_shown, blob, ID, VALISE_NULLABLE, "The blob it is."),
    VALISE_FIELD(vls_entry_shown, size, INT, VALISE_NULLABLE, "Bytes of the blob."),
    VALISE_FIELD_AS(vls_entry_shown, media_type, "mediaType", STR, VALISE_NULLABLE,
                    "What the blob is."),
    VALISE_FIELD(vls_entry_shown, filename, STR, VALISE_NULLABLE, "What its file was called."),
    VALISE_FIELD(vls_entry_shown, value, JSON, VALISE_NULLABLE, "What it says, a JSON value."),
    VALISE_FIELD(vls_entry_shown, text, STR, VALISE_NULLABLE, "The text."),
    VALISE_FIELD_END,
};

static int show_blob(vls_entry_shown *out, valise_view *view, const valise_id *blob,
                     valise_error *err)
{
    vls_blob_record record;
    int rc = vls_blob_record_of(&record, view, blob, err);

    if (rc <= 0)
        return rc;
    out->size = record.size;
    out->media_type = record.media_type;
    out->filename = record.filename;
    return 0;
}

int vls_entry_show(vls_entry_shown *out, valise_view *view, const vls_context_entry_row *row,
                   valise_error *err)
{
    valise_str *said = row->type == VLS_ENTRY_JSON ? &out->value : &out->text;
    int rc = vls_memory_text(said, view, &row->content, err);

    out->key = row->key;
    out->type = row->type;
    out->blob = row->blob;
    out->size = VALISE_NONE;
    out->topics = row->topics;
    out->expires = row->expires;
    out->version = row->version;
    out->created = row->created;
    out->updated = row->updated;
    out->actor = row->actor;
    if (rc == 0)
        rc = vls_memory_text(&out->metadata, view, &row->metadata, err);
    if (rc == 0 && !vls_id_is_none(&row->blob))
        rc = show_blob(out, view, &row->blob, err);
    return rc;
}
