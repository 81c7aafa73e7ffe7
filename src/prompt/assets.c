/* assets.c -- stage 4: how the bytes of pictures and documents get to the model. [P4]
 *
 * A file id that the provider still has, else inline up to a size, else a line of text or an error.
 * A file that is text, where the provider takes no such files, stands in the block as text: then
 * every adapter can send it.
 * What is chosen is an edit of the block, with media type and size: a record may change, the prompt
 * that was sent does not. */
#include "base/hex.h"
#include "base/time.h"
#include "base/utf8.h"
#include "blob/hold.h"
#include "bus/bus.h"
#include "json/make.h"
#include "prompt/cost.h"
#include "prompt/stage.h"
#include "store/blob.h"
#include "store/view.h"

/* A file id that expires sooner is not used: the request must arrive first. */
#define EXPIRES_MARGIN (INT64_C(3600) * VLS_NS_PER_SECOND)
#define INLINE_MAX_USUAL ((int64_t)20 << 20)
#define FILE_TEXT_MAX ((int64_t)512 << 10) /* more than that no model wants to read */

typedef struct asset {
    valise_id blob;
    valise_str media, file;
    int64_t size;
    const char *missing; /* why it cannot be sent; NULL: it can */
} asset;

/* The id under which the provider has it; ptr NULL: none, or not for long enough. */
static int file_id_of(valise_str *out, valise_view *view, const vls_request *request,
                      valise_str file_ids, valise_error *err)
{
    vls_json ids = vls_json_null(), entry;
    valise_str expires;
    int64_t ns = INT64_MAX;
    int rc = file_ids.ptr ? vls_json_parse(&ids, &view->arena, file_ids, NULL, err) : 0;

    *out = (valise_str){NULL, 0};
    if (rc < 0)
        return rc;
    entry = vls_member_of(ids, request->adapter->name);
    if (entry.type != VLS_JSON_OBJECT)
        entry = vls_member_of(ids, request->adapter->vendor);
    expires = vls_text_of(entry, "expires");
    rc = expires.ptr ? vls_time_parse_ns(&ns, expires, err) : 0;
    if (rc == 0 && (ns == INT64_MAX ||
                    request->time < VLS_MAX(ns, INT64_MIN + EXPIRES_MARGIN) - EXPIRES_MARGIN))
        *out = vls_text_of(entry, "fileId");
    return rc;
}

/* The most bytes that are sent inline. */
static int64_t inline_max(const vls_request *request, valise_str media)
{
    const vls_media *can = &request->adapter->media;
    int64_t max = vls_str_starts(media, VLS_STR("image/")) ? can->max_image : can->max_document;

    if (request->inline_max != VALISE_NONE)
        return request->inline_max;
    return max > 0 ? max : INLINE_MAX_USUAL;
}

static int look_up(asset *out, valise_view *view, const vls_request *request, vls_json block,
                   valise_error *err)
{
    vls_blob_record record = {.sha256 = out->blob};
    bool there = false;
    int rc = vls_blob_record_of(&record, view, &out->blob, err);

    if (rc < 0)
        return rc;
    out->media = vls_text_of(block, "mediaType");
    if (!out->media.ptr)
        out->media = rc > 0 && record.media_type.ptr ? record.media_type
                                                     : VLS_STR("application/octet-stream");
    out->size = rc > 0 ? record.size : 0;
    if (rc == 0) {
        out->missing = "it is not there";
        return 0;
    }
    rc = file_id_of(&out->file, view, request, record.file_ids, err);
    if (rc == 0 && !out->file.ptr && view->bus && view->bus->blobs)
        rc = vls_blobs_exists(&there, view->bus->blobs, &out->blob, err);
    if (rc == 0 && !out->file.ptr && !there)
        out->missing = "it is not there";
    else if (rc == 0 && !out->file.ptr && out->size > inline_max(request, out->media))
        out->missing = "it is too large to be sent";
    else if (rc == 0 && !out->file.ptr && out->size == 0)
        out->missing = "it is empty"; /* nobody takes such a file */
    return rc;
}

/* ---- files that are text ---- */

int vls_file_text(valise_str *out, valise_view *view, const valise_id *blob, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *bytes = NULL;
    const valise *v = vls_view_bus(view);
    valise_error why = VALISE_ERROR_INIT;
    valise_str text;
    int rc = VALISE_E_NOT_FOUND;

    if (v && v->blobs)
        rc = vls_blobs_get(&bytes, v->blobs, blob, (size_t)FILE_TEXT_MAX, &why);
    if (rc == VALISE_E_NOT_FOUND || rc == VALISE_E_TOO_LARGE)
        return 0;
    if (rc < 0) {
        if (err)
            *err = why;
        return rc;
    }
    text = valise_blob_bytes(bytes);
    if (!vls_utf8_valid(text) || (text.len > 0 && memchr(text.ptr, '\0', text.len)))
        return 0;
    rc = vls_arena_dup(out, &view->arena, text, err);
    return rc < 0 ? rc : 1;
}

/* "text/csv; charset=utf-8", "application/json", "application/problem+json". */
static bool names_text(valise_str media)
{
    static const char *const others[] = {
        "application/json", "application/xml",      "application/yaml",       "application/x-yaml",
        "application/toml", "application/x-ndjson", "application/javascript", "application/sql"};
    valise_str type = vls_str_trim(vls_str_head(media, vls_str_find(media, VLS_STR(";"))));

    if (vls_str_starts(type, VLS_STR("text/")) || vls_str_ends(type, VLS_STR("+json")) ||
        vls_str_ends(type, VLS_STR("+xml")))
        return true;
    for (size_t i = 0; i < VLS_COUNT(others); i++) {
        if (vls_str_equal(type, valise_str_of(others[i])))
            return true;
    }
    return false;
}

static bool takes_file(const vls_media *can, valise_str media)
{
    for (size_t i = 0; can->documents != 0 && can->document_types && can->document_types[i]; i++) {
        if (vls_str_equal(media, valise_str_of(can->document_types[i])))
            return true;
    }
    return can->documents != 0 && !can->document_types;
}

/* Whether it is sent as text, and what it says then: 1, or 0. */
static int read_text(valise_str *out, valise_view *view, const vls_request *request, vls_json block,
                     const asset *a, valise_error *err)
{
    if (vls_str_equal(vls_text_of(block, "type"), VLS_STR("image")) ||
        vls_text_of(block, "text").ptr || a->size > FILE_TEXT_MAX || !names_text(a->media) ||
        takes_file(&request->adapter->media, a->media))
        return 0;
    return vls_file_text(out, view, &a->blob, err);
}

static int edit_block(vls_part *part, valise_view *view, const vls_request *request, vls_json block,
                      int32_t at, int32_t inner, valise_error *err)
{
    asset a = {.size = 0};
    vls_prompt_edit edit = {.kind = VLS_EDIT_ASSET, .block = at, .inner = inner};
    valise_str digits = vls_text_of(block, "blob");
    int rc = digits.ptr ? vls_id_parse(&a.blob, digits, err) : 0;

    if (rc < 0 || !digits.ptr)
        return rc; /* a document that is text has no blob */
    rc = look_up(&a, view, request, block, err);
    if (rc < 0)
        return rc;
    if (a.missing && request->missing == VLS_MISSING_FAIL) {
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "blob %s of %s %.*s cannot be sent: %s",
                      vls_id_hex(&a.blob).s, part->kind == VLS_PART_TURN ? "turn" : "entry",
                      VALISE_STR_ARG(part->name), a.missing);
        vls_hint(err, "give --missing text to mention it in a line instead");
        return rc;
    }
    if (a.missing) {
        edit.kind = VLS_EDIT_TEXT;
        edit.text = valise_str_of(a.missing);
        edit.reason = a.missing;
        return vls_part_edit(part, &view->arena, &edit, err);
    }
    edit.a = a.size;
    rc = read_text(&edit.bytes, view, request, block, &a, err);
    if (rc > 0) {
        edit.kind = VLS_EDIT_FILE_TEXT;
        edit.b = vls_text_cost(edit.bytes);
    }
    part->tokens += rc > 0 ? edit.b : vls_media_cost(a.media, a.size);
    rc = rc < 0 ? rc : vls_arena_dup(&edit.text, &view->arena, a.media, err);
    if (rc == 0 && a.file.ptr && edit.kind == VLS_EDIT_ASSET)
        rc = vls_arena_dup(&edit.more, &view->arena, a.file, err);
    return rc < 0 ? rc : vls_part_edit(part, &view->arena, &edit, err);
}

static bool is_media(vls_json block)
{
    valise_str type = vls_text_of(block, "type");

    return vls_str_equal(type, VLS_STR("image")) || vls_str_equal(type, VLS_STR("document"));
}

int vls_part_assets(vls_part *part, valise_view *view, const vls_request *request,
                    valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < part->value.len && rc == 0; i++) {
        vls_json block = part->value.items[i], content = vls_json_null();

        if (is_media(block))
            rc = edit_block(part, view, request, block, (int32_t)i, -1, err);
        else if (vls_str_equal(vls_text_of(block, "type"), VLS_STR("tool_result")))
            content = vls_member_of(block, "content");
        for (uint32_t k = 0; content.type == VLS_JSON_ARRAY && k < content.len && rc == 0; k++)
            if (is_media(content.items[k]))
                rc = edit_block(part, view, request, content.items[k], (int32_t)i, (int32_t)k, err);
    }
    return rc;
}

int vls_entry_asset(vls_part *part, valise_view *view, const vls_request *request,
                    valise_error *err)
{
    char json[160];
    vls_json block = vls_json_null();
    int rc;

    (void)snprintf(json, sizeof(json), "{\"blob\":\"%s\"}", vls_id_hex(&part->blob).s);
    rc = vls_json_parse(&block, &view->arena, valise_str_of(json), NULL, err);
    return rc < 0 ? rc : edit_block(part, view, request, block, 0, -1, err);
}
