/* export_openai.c -- a session as one line of OpenAI's JSONL: the path to the head.
 *
 * A turn that came from such a line is written as it came. Others: texts, images and documents are
 * content, calls are tool_calls, each result is a message of its own. */
#include "base/base64.h"
#include "chat/rows.h"
#include "exchange/export.h"

#define BLOB_MAX ((size_t)64 << 20)

typedef struct writing {
    vls_exporting *e;
    bool some;  /* a message was written */
    bool wrote; /* something of the turn at hand */
    const vls_turn_row *turn;
    vls_vec(vls_json) parts, calls;
    vls_json refusal;
} writing;

static int write_message(writing *w, vls_json message, valise_error *err)
{
    if (w->some)
        vls_buf_add_byte(w->e->out, ',');
    w->some = true;
    w->e->turns += !w->wrote; /* a turn may be several messages */
    w->wrote = true;
    return vls_json_write_around(w->e->out, message, err);
}

/* ---- parts ---- */

static int add_part(writing *w, vls_json part, valise_error *err)
{
    return vls_vec_push_in(&w->parts, w->e->arena, part) ? 0 : vls_arena_fail(w->e->arena, err);
}

static int add_text(writing *w, valise_str text, valise_error *err)
{
    vls_json part = vls_json_null();
    int rc = VLS_PAIRS(&part, w->e->arena, err, {"type", vls_json_string(VLS_STR("text")), false},
                       {"text", vls_json_string(text), false});

    return rc < 0 ? rc : add_part(w, part, err);
}

/* "data:image/png;base64,...": 1, or 0 when the bytes are not here. */
static int make_url(valise_str *out, writing *w, vls_json block, valise_error *err)
{
    valise_str type = vls_text_of(block, "mediaType");
    valise_error missing = VALISE_ERROR_INIT;
    valise_blob *blob = NULL;
    vls_buf url;
    valise_id id;
    int rc = valise_id_parse(&id, vls_text_of(block, "blob"), NULL);

    if (rc < 0 || !w->e->blobs)
        return 0;
    rc = vls_blobs_get(&blob, w->e->blobs, &id, BLOB_MAX, &missing);
    if (rc == VALISE_E_NOT_FOUND || rc == VALISE_E_TOO_LARGE)
        return 0;
    if (rc < 0)
        return vls_fail(err, rc, "%s", missing.message);
    vls_buf_init_in(&url, w->e->arena, 2 * BLOB_MAX);
    vls_buf_add_text(&url, "data:");
    vls_buf_add(&url, type.len > 0 ? type : VLS_STR("application/octet-stream"));
    vls_buf_add_text(&url, ";base64,");
    vls_base64_encode(&url, vls_blob_bytes(blob));
    (void)valise_blob_unref(blob);
    rc = vls_buf_keep(out, &url, err);
    return rc < 0 ? rc : 1;
}

static int add_blob(writing *w, vls_json block, bool image, valise_error *err)
{
    vls_json inner, part, name = vls_member_of(block, "filename");
    valise_str url = {NULL, 0};
    int rc = make_url(&url, w, block, err);

    if (rc <= 0) {
        w->e->dropped.blocks += rc == 0;
        return rc;
    }
    if (image)
        rc = VLS_PAIRS(&inner, w->e->arena, err, {"url", vls_json_string(url), false});
    else
        rc = VLS_PAIRS(&inner, w->e->arena, err, {"file_data", vls_json_string(url), false},
                       {"filename", name, name.type != VLS_JSON_STRING});
    if (rc == 0)
        rc = VLS_PAIRS(
            &part, w->e->arena, err,
            {"type", vls_json_string(image ? VLS_STR("image_url") : VLS_STR("file")), false},
            {image ? "image_url" : "file", inner, false});
    return rc < 0 ? rc : add_part(w, part, err);
}

static int add_call(writing *w, vls_json block, valise_error *err)
{
    vls_json raw = vls_member_of(block, "arguments"), function, one;
    valise_str text = vls_json_str(raw);
    int rc = 0;

    if (raw.type != VLS_JSON_STRING)
        rc = vls_json_text(&text, w->e->arena, vls_member_of(block, "args"), err);
    if (rc == 0)
        rc = VLS_PAIRS(&function, w->e->arena, err, {"name", vls_member_of(block, "name"), false},
                       {"arguments", vls_json_string(text), false});
    if (rc == 0)
        rc = VLS_PAIRS(&one, w->e->arena, err, {"id", vls_member_of(block, "callId"), false},
                       {"type", vls_json_string(VLS_STR("function")), false},
                       {"function", function, false});
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&w->calls, w->e->arena, one) ? 0 : vls_arena_fail(w->e->arena, err);
}

/* ---- results ---- */

/* Texts of a result; what else it holds has no place in such a message. */
static int result_text(valise_str *out, writing *w, vls_json content, valise_error *err)
{
    vls_buf text;

    *out = vls_json_str(content);
    if (content.type == VLS_JSON_STRING)
        return 0;
    vls_buf_init_in(&text, w->e->arena, UINT32_MAX);
    for (uint32_t i = 0; content.type == VLS_JSON_ARRAY && i < content.len; i++) {
        vls_json one = vls_member_of(content.items[i], "text");
        if (one.type != VLS_JSON_STRING) {
            w->e->dropped.blocks++;
            continue;
        }
        if (text.len > 0)
            vls_buf_add_byte(&text, '\n');
        vls_buf_add(&text, vls_json_str(one));
    }
    return vls_buf_keep(out, &text, err);
}

static int write_result(writing *w, vls_json block, valise_error *err)
{
    vls_json message;
    valise_str text = {NULL, 0};
    int rc = result_text(&text, w, vls_member_of(block, "content"), err);

    if (rc == 0)
        rc =
            VLS_PAIRS(&message, w->e->arena, err, {"role", vls_json_string(VLS_STR("tool")), false},
                      {"tool_call_id", vls_member_of(block, "callId"), false},
                      {"content", vls_json_string(text), false});
    return rc < 0 ? rc : write_message(w, message, err);
}

/* ---- turns ---- */

static int add_block(writing *w, vls_json block, valise_error *err)
{
    valise_str type = vls_text_of(block, "type");

    if (vls_type_is(type, "text") || vls_type_is(type, "summary"))
        return add_text(w, vls_text_of(block, "text"), err);
    if (vls_type_is(type, "document") && vls_text_of(block, "text").ptr)
        return add_text(w, vls_text_of(block, "text"), err);
    if (vls_type_is(type, "image") || vls_type_is(type, "document"))
        return add_blob(w, block, vls_type_is(type, "image"), err);
    if (vls_type_is(type, "tool_use"))
        return add_call(w, block, err);
    if (vls_type_is(type, "tool_result") || vls_type_is(type, "x-orphan-tool_result"))
        return write_result(w, block, err);
    if (vls_type_is(type, "image_url") || vls_type_is(type, "input_audio") ||
        vls_type_is(type, "file"))
        return add_part(w, block, err);
    if (vls_type_is(type, "refusal"))
        w->refusal = vls_member_of(block, "value");
    else if (vls_type_is(type, "thinking"))
        w->e->dropped.thinking++;
    else
        w->e->dropped.blocks++;
    return 0;
}

static vls_json content_of(const writing *w)
{
    if (w->parts.len == 0)
        return vls_json_null();
    if (w->parts.len == 1 && vls_type_is(vls_text_of(w->parts.ptr[0], "type"), "text"))
        return vls_member_of(w->parts.ptr[0], "text");
    return vls_json_array(w->parts.ptr, w->parts.len);
}

static int write_said(writing *w, valise_error *err)
{
    vls_json metadata = vls_json_null(), message, weight, name, role;
    int rc;

    if (w->parts.len == 0 && w->calls.len == 0 && w->refusal.type == VLS_JSON_NULL)
        return 0;
    rc = vls_export_object(&metadata, w->e, &w->turn->metadata, err);
    if (rc < 0)
        return rc;
    weight = vls_member_of(metadata, "weight");
    name = vls_member_of(metadata, "name");
    role = vls_member_of(metadata, "role");
    if (!vls_type_is(vls_text_of(metadata, "role"), "developer"))
        role = vls_json_string(valise_str_of(vls_turn_roles[w->turn->role]));
    rc = VLS_PAIRS(&message, w->e->arena, err, {"role", role, false},
                   {"content", content_of(w), false},
                   {"tool_calls", vls_json_array(w->calls.ptr, w->calls.len), w->calls.len == 0},
                   {"refusal", w->refusal, w->refusal.type == VLS_JSON_NULL},
                   {"weight", weight, weight.type == VLS_JSON_NULL},
                   {"name", name, name.type != VLS_JSON_STRING});
    return rc < 0 ? rc : write_message(w, message, err);
}

/* A message of theirs, as it came: records of other programs have their role further within. */
static bool is_message(vls_json source)
{
    return vls_text_of(source, "role").ptr != NULL;
}

static int write_turn(void *arg, const vls_turn_row *turn, valise_error *err)
{
    writing *w = arg;
    vls_json blocks = vls_json_null(), source = vls_json_null();
    int rc;

    vls_arena_reset(w->e->arena);
    w->turn = turn;
    memset(&w->parts, 0, sizeof(w->parts));
    memset(&w->calls, 0, sizeof(w->calls));
    w->refusal = vls_json_null();
    if (turn->noprompt) {
        w->e->dropped.noprompt++;
        return 0;
    }
    rc = vls_export_blocks(&blocks, w->e, turn, err);
    if (rc <= 0)
        return rc;
    w->wrote = false;
    rc = vls_export_object(&source, w->e, &turn->source, err);
    if (rc > 0 && is_message(source)) {
        rc = write_message(w, source, err);
        return rc < 0 ? rc : vls_export_flush(w->e, err);
    }
    rc = vls_settle(rc);
    for (uint32_t i = 0; rc == 0 && i < blocks.len; i++)
        rc = add_block(w, blocks.items[i], err);
    if (rc == 0)
        rc = write_said(w, err);
    return rc < 0 ? rc : vls_export_flush(w->e, err);
}

/* Members besides messages, of a session that came from such a line. */
static int write_rest(vls_exporting *e, const vls_session_row *session, valise_error *err)
{
    vls_json metadata = vls_json_null(), rest = vls_json_null();
    int rc;

    vls_arena_reset(e->arena);
    rc = vls_export_object(&metadata, e, &session->metadata, err);
    if (rc <= 0 || !vls_type_is(vls_text_of(vls_member_of(metadata, "import"), "format"), "openai"))
        return vls_settle(rc);
    rc = vls_export_object(&rest, e, &session->source, err);
    if (rc <= 0 || rest.type != VLS_JSON_OBJECT)
        return vls_settle(rc);
    for (uint32_t i = 0; rc >= 0 && i < rest.len; i++) {
        vls_buf_add_byte(e->out, ',');
        vls_json_write_string(e->out, vls_json_str(rest.members[i].key));
        vls_buf_add_byte(e->out, ':');
        rc = vls_json_write_around(e->out, rest.members[i].value, err);
    }
    return vls_settle(rc);
}

int vls_export_openai(vls_exporting *e, const vls_session_row *session, const vls_trail *trail,
                      valise_error *err)
{
    writing w = {.e = e};
    int rc;

    vls_buf_add_text(e->out, "{\"messages\":[");
    rc = vls_trail_each(trail, e->view, 0, false, write_turn, &w, err);
    vls_buf_add_byte(e->out, ']');
    if (rc == 0)
        rc = write_rest(e, session, err);
    vls_buf_add_text(e->out, "}\n");
    return rc < 0 ? rc : vls_export_flush(e, err);
}
