/* foreign.c -- what the readers share: ids, members, blocks, blobs. */
#include "exchange/foreign.h"

#include <math.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/hex.h"
#include "blob/receive.h"
#include "chat/blocks.h"

#define TIME_MAX 9000000000.0 /* seconds: the year 2255, before nanoseconds run over */

void vls_foreign_id(valise_uuid *out, const char *format, valise_str name, valise_str record)
{
    vls_hasher hasher;
    valise_id id;

    vls_hash_begin_tagged(&hasher, "valise.foreign.1");
    vls_hash_field(&hasher, valise_str_of(format));
    vls_hash_field(&hasher, name);
    if (record.ptr)
        vls_hash_field(&hasher, record);
    else
        vls_hash_field_none(&hasher);
    vls_hash_end(&id, &hasher);
    memcpy(out->bytes, id.bytes, sizeof(out->bytes));
    out->bytes[6] = (uint8_t)(0x80 | (out->bytes[6] & 0x0F));
    out->bytes[8] = (uint8_t)(0x80 | (out->bytes[8] & 0x3F));
}

/* ---- parsing ---- */

/* The code unit of an escape "\uXXXX" at `at`, or -1. */
static int unit_at(valise_str s, size_t at)
{
    int unit = 0;

    if (s.len < 6 || at > s.len - 6 || s.ptr[at] != '\\' || s.ptr[at + 1] != 'u')
        return -1;
    for (size_t i = at + 2; i < at + 6; i++) {
        char c = s.ptr[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* Replace lone halves of surrogate pairs, which take as many bytes; whether there was one. */
static bool mend_surrogates(char *text, size_t len)
{
    valise_str s = {text, len};
    bool mended = false;

    for (size_t at = 0; at < len; at++) {
        int unit;
        if (text[at] != '\\')
            continue;
        unit = unit_at(s, at);
        if (unit < 0xD800 || unit > 0xDFFF) {
            at++; /* whatever it is that is escaped */
            continue;
        }
        if (unit <= 0xDBFF) {
            int low = unit_at(s, at + 6);
            if (low >= 0xDC00 && low <= 0xDFFF) {
                at += 11;
                continue;
            }
        }
        memcpy(text + at, "\\ufffd", 6);
        at += 5;
        mended = true;
    }
    return mended;
}

int vls_foreign_parse(vls_json *out, vls_translation *r, valise_str text, valise_error *err)
{
    static const vls_json_limits limits = {.max_bytes = UINT32_MAX - 1,
                                           .max_depth = VLS_FOREIGN_DEPTH,
                                           .flags = VLS_JSON_LAST_KEY_WINS};
    valise_error first = VALISE_ERROR_INIT;
    char *copy;
    int rc = vls_json_parse(out, r->arena, text, &limits, &first);

    if (rc == VALISE_E_INVALID && vls_str_find(text, VLS_STR("\\u")) < text.len) {
        copy = vls_arena_alloc(r->arena, text.len);
        if (!copy)
            return vls_arena_fail(r->arena, err);
        memcpy(copy, text.ptr, text.len);
        if (mend_surrogates(copy, text.len))
            rc = vls_json_parse(out, r->arena, vls_str(copy, text.len), &limits, &first);
    }
    if (rc < 0 && err)
        *err = first;
    return rc;
}

int64_t vls_foreign_time(vls_json value)
{
    double seconds = vls_json_is_number(value) ? vls_json_to_double(value) : -1;

    if (!(seconds > 0) || seconds > TIME_MAX)
        return VALISE_NONE;
    /* A double has microseconds at most: the rest would be noise. */
    return (int64_t)llround(seconds * 1e6) * 1000;
}

/* ---- blocks ---- */

int vls_blocks_add(vls_blocks_new *b, vls_json block, valise_error *err)
{
    if (b->items.len >= VLS_BLOCKS_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "more than %d blocks in one turn", VLS_BLOCKS_MAX);
    return vls_vec_push_in(&b->items, b->arena, block) ? 0 : vls_arena_fail(b->arena, err);
}

int vls_blocks_text(vls_blocks_new *b, valise_str text, valise_error *err)
{
    vls_json block = vls_json_null();
    int rc = VLS_PAIRS(&block, b->arena, err, {"type", vls_json_string(VLS_STR("text")), false},
                       {"text", vls_json_string(text), false});

    return rc < 0 ? rc : vls_blocks_add(b, block, err);
}

vls_json vls_blocks_all(const vls_blocks_new *b)
{
    static const vls_member empty_text[] = {
        {{.type = VLS_JSON_STRING, .len = 4, .text = "text"},
         {.type = VLS_JSON_STRING, .text = ""}},
        {{.type = VLS_JSON_STRING, .len = 4, .text = "type"},
         {.type = VLS_JSON_STRING, .len = 4, .text = "text"}},
    };
    static const vls_json empty[] = {{.type = VLS_JSON_OBJECT, .len = 2, .members = empty_text}};

    return b->items.len > 0 ? vls_json_array(b->items.ptr, b->items.len) : vls_json_array(empty, 1);
}

int vls_blocks_new_unknown(vls_blocks_new *b, vls_translation *r, valise_str type, vls_json object,
                           valise_error *err)
{
    vls_json block = object;
    valise_str name = type;
    int rc = vls_notes_unknown(r->notes, type, err);

    /* Blocks of our own types must be as we say; theirs of the same name may not be. */
    if (rc == 0 && (vls_blocks_know(type) || type.len == 0)) {
        vls_buf text;
        vls_buf_init_in(&text, b->arena, 256);
        vls_buf_add_text(&text, "x-");
        vls_buf_add(&text, type.len > 0 ? type : VLS_STR("unknown"));
        rc = vls_buf_keep(&name, &text, err);
    }
    if (rc == 0 && object.type == VLS_JSON_OBJECT)
        rc = vls_json_with(&block, b->arena, object, "type", vls_json_string(name), err);
    else if (rc == 0)
        rc = VLS_PAIRS(&block, b->arena, err, {"type", vls_json_string(name), false},
                       {"value", object, false});
    return rc < 0 ? rc : vls_blocks_add(b, block, err);
}

int vls_blocks_call(vls_blocks_new *b, valise_str call_id, valise_str name, vls_json args,
                    valise_str raw, valise_error *err)
{
    vls_json block, object = args;
    int rc = 0;

    if (args.type != VLS_JSON_OBJECT)
        rc = VLS_PAIRS(&object, b->arena, err, {"value", args, args.type == VLS_JSON_NULL});
    if (rc == 0)
        rc = VLS_PAIRS(&block, b->arena, err, {"type", vls_json_string(VLS_STR("tool_use")), false},
                       {"callId", vls_json_string(call_id), false},
                       {"name", vls_json_string(name.len > 0 ? name : VLS_STR("unknown")), false},
                       {"args", object, false}, {"arguments", vls_json_string(raw), !raw.ptr});
    return rc < 0 ? rc : vls_blocks_add(b, block, err);
}

int vls_foreign_call_id(valise_str *out, vls_translation *r, valise_str given, valise_error *err)
{
    valise_id id;

    *out = given;
    if (given.len > 0 && given.len <= VLS_CALL_ID_MAX)
        return 0;
    if (given.len == 0) {
        *out = VLS_STR("(none)");
        return 0;
    }
    vls_hash_bytes(&id, given);
    return vls_arena_dup(out, r->arena, valise_str_of(vls_id_hex(&id).s), err);
}

/* ---- blobs ---- */

int vls_foreign_decode(vls_foreign_blob *out, vls_translation *r, valise_str base64,
                       valise_str media_type, valise_error *err)
{
    valise_error ignored = VALISE_ERROR_INIT;
    vls_buf bytes;
    int rc;

    vls_buf_init_in(&bytes, r->arena, UINT32_MAX);
    rc = vls_base64_decode_unpadded(&bytes, base64, &ignored);
    if (rc == VALISE_E_INVALID || (rc == 0 && bytes.len == 0))
        return 0;
    if (rc < 0) {
        if (err)
            *err = ignored;
        return rc;
    }
    *out = (vls_foreign_blob){.media_type = media_type};
    rc = vls_buf_keep(&out->bytes, &bytes, err);
    if (rc < 0)
        return rc;
    vls_hash_bytes(&out->id, out->bytes);
    return 1;
}

int vls_blocks_blob(vls_blocks_new *b, vls_translation *r, vls_foreign_blobs *blobs,
                    const vls_foreign_blob *blob, valise_error *err)
{
    vls_foreign_blob kept = *blob;
    valise_str hex;
    vls_json block = vls_json_null();
    bool image;
    int rc = vls_arena_dup(&hex, r->arena, valise_str_of(vls_id_hex(&blob->id).s), err);

    if (kept.media_type.len == 0 || kept.media_type.len > VLS_BLOB_MEDIA_TYPE_MAX)
        kept.media_type = valise_str_of(vls_blob_sniff(kept.bytes, true));
    image = vls_str_starts(kept.media_type, VLS_STR("image/"));
    if (rc == 0 && !vls_vec_push_in(blobs, r->arena, kept))
        rc = vls_arena_fail(r->arena, err);
    if (rc == 0)
        rc = VLS_PAIRS(
            &block, r->arena, err,
            {"type", vls_json_string(image ? VLS_STR("image") : VLS_STR("document")), false},
            {"blob", vls_json_string(hex), false},
            {"mediaType", vls_json_string(kept.media_type), false},
            {"filename", vls_json_string(kept.filename), kept.filename.len == 0});
    return rc < 0 ? rc : vls_blocks_add(b, block, err);
}
