/* claude_blocks.c -- what a line of a Claude Code session says, in blocks of ours. */
#include "chat/rows.h"
#include "exchange/claude.h"

typedef struct saying {
    vls_translation *r;
    vls_foreign_blobs *blobs;
    vls_blocks_new blocks;
    bool results, others; /* there are such blocks */
} saying;

static int add_thinking(saying *s, vls_json block, valise_error *err)
{
    vls_json signature = vls_member_of(block, "signature"), out = vls_json_null();
    int rc =
        VLS_PAIRS(&out, s->r->arena, err, {"type", vls_json_string(VLS_STR("thinking")), false},
                  {"text", vls_json_string(vls_text_of(block, "thinking")), false},
                  {"signature", signature, signature.type != VLS_JSON_STRING});

    return rc < 0 ? rc : vls_blocks_add(&s->blocks, out, err);
}

/* Opaque: as an answer of Anthropic's has it, so that it goes back there. */
static int add_redacted(saying *s, vls_json block, valise_error *err)
{
    vls_json out = vls_json_null();
    int rc =
        VLS_PAIRS(&out, s->r->arena, err, {"type", vls_json_string(VLS_STR("thinking")), false},
                  {"text", vls_json_string(vls_text_of(block, "data")), false},
                  {"redacted", vls_json_bool(true), false});

    return rc < 0 ? rc : vls_blocks_add(&s->blocks, out, err);
}

static int add_call(saying *s, vls_json block, valise_error *err)
{
    valise_str id = {NULL, 0};
    int rc = vls_foreign_call_id(&id, s->r, vls_text_of(block, "id"), err);

    return rc < 0 ? rc
                  : vls_blocks_call(&s->blocks, id, vls_text_of(block, "name"),
                                    vls_member_of(block, "input"), (valise_str){NULL, 0}, err);
}

/* Bytes of an image or a document; what is elsewhere (a URL, a file id) stays as it is. */
static int add_source(saying *s, valise_str type, vls_json block, valise_error *err)
{
    vls_json source = vls_member_of(block, "source"), out = vls_json_null();
    valise_str kind = vls_text_of(source, "type"), data = vls_text_of(source, "data");
    vls_foreign_blob blob = {.bytes = {NULL, 0}};
    int rc = 0;

    if (vls_type_is(kind, "base64"))
        rc = vls_foreign_decode(&blob, s->r, data, vls_text_of(source, "media_type"), err);
    if (rc > 0) {
        blob.filename = vls_text_of(block, "title");
        return vls_blocks_blob(&s->blocks, s->r, s->blobs, &blob, err);
    }
    if (rc == 0 && vls_type_is(type, "document") && vls_type_is(kind, "text")) {
        rc =
            VLS_PAIRS(&out, s->r->arena, err, {"type", vls_json_string(VLS_STR("document")), false},
                      {"text", vls_json_string(data), false},
                      {"mediaType", vls_json_string(VLS_STR("text/plain")), false});
        return rc < 0 ? rc : vls_blocks_add(&s->blocks, out, err);
    }
    return rc < 0 ? rc : vls_blocks_new_unknown(&s->blocks, s->r, type, block, err);
}

static int add_block(saying *s, vls_json block, bool within, valise_error *err);

static int add_result(saying *s, vls_json block, valise_error *err)
{
    vls_json content = vls_member_of(block, "content"), out = vls_json_null();
    saying inner = {.r = s->r, .blobs = s->blobs, .blocks = {.arena = s->r->arena}};
    valise_str id = {NULL, 0};
    int rc = vls_foreign_call_id(&id, s->r, vls_text_of(block, "tool_use_id"), err);

    if (content.type == VLS_JSON_ARRAY) {
        for (uint32_t i = 0; rc == 0 && i < content.len; i++)
            rc = add_block(&inner, content.items[i], true, err);
        content = vls_blocks_all(&inner.blocks);
    } else if (content.type != VLS_JSON_STRING) {
        content = vls_json_string(VLS_STR(""));
    }
    if (rc == 0)
        rc = VLS_PAIRS(&out, s->r->arena, err,
                       {"type", vls_json_string(VLS_STR("tool_result")), false},
                       {"callId", vls_json_string(id), false}, {"content", content, false},
                       {"isError", vls_json_bool(true), !vls_truth_of(block, "is_error")});
    return rc < 0 ? rc : vls_blocks_add(&s->blocks, out, err);
}

/* What a result cannot hold stands in it as its JSON. */
static int add_within(saying *s, valise_str type, vls_json block, valise_error *err)
{
    valise_str text = {NULL, 0};
    int rc = vls_notes_unknown(s->r->notes, type, err);

    if (rc == 0)
        rc = vls_json_text(&text, s->r->arena, block, err);
    return rc < 0 ? rc : vls_blocks_text(&s->blocks, text, err);
}

static int add_block(saying *s, vls_json block, bool within, valise_error *err)
{
    valise_str type = vls_text_of(block, "type");
    bool result = !within && vls_type_is(type, "tool_result");

    s->results |= result;
    s->others |= !result;
    if (result)
        return add_result(s, block, err);
    if (vls_type_is(type, "text") && vls_text_of(block, "text").ptr)
        return vls_blocks_text(&s->blocks, vls_text_of(block, "text"), err);
    if (vls_type_is(vls_text_of(vls_member_of(block, "source"), "type"), "base64") &&
        (vls_type_is(type, "image") || vls_type_is(type, "document")))
        return add_source(s, type, block, err);
    if (within)
        return add_within(s, type, block, err);
    if (vls_type_is(type, "thinking") && vls_text_of(block, "thinking").ptr)
        return add_thinking(s, block, err);
    if (vls_type_is(type, "redacted_thinking") && vls_text_of(block, "data").ptr)
        return add_redacted(s, block, err);
    if (vls_type_is(type, "tool_use"))
        return add_call(s, block, err);
    if (vls_type_is(type, "image") || vls_type_is(type, "document"))
        return add_source(s, type, block, err);
    return vls_blocks_new_unknown(&s->blocks, s->r, type, block, err);
}

static int add_content(saying *s, vls_json content, valise_error *err)
{
    int rc = 0;

    if (content.type == VLS_JSON_STRING) {
        s->others = true;
        return vls_blocks_text(&s->blocks, vls_json_str(content), err);
    }
    for (uint32_t i = 0; content.type == VLS_JSON_ARRAY && rc == 0 && i < content.len; i++)
        rc = add_block(s, content.items[i], false, err);
    return rc;
}

/* ---- turns ---- */

static int read_metadata(vls_foreign_turn *turn, vls_translation *r, vls_json message,
                         valise_error *err)
{
    vls_json model = vls_member_of(message, "model"), usage = vls_member_of(message, "usage"),
             stop = vls_member_of(message, "stop_reason");

    if (model.type != VLS_JSON_STRING)
        return 0;
    return VLS_PAIRS(&turn->metadata, r->arena, err, {"model", model, false},
                     {"usage", usage, usage.type != VLS_JSON_OBJECT},
                     {"stopReason", stop, stop.type != VLS_JSON_STRING});
}

/* Its texts as one block of type summary, whose range comes later. */
static int make_summary(saying *s, valise_error *err)
{
    vls_blocks_new all = {.arena = s->r->arena};
    vls_json block = vls_json_null();
    valise_str said = {NULL, 0};
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, s->r->arena, UINT32_MAX);
    for (size_t i = 0; i < s->blocks.items.len; i++)
        vls_buf_add(&text, vls_text_of(s->blocks.items.ptr[i], "text"));
    rc = vls_buf_keep(&said, &text, err);
    if (rc == 0)
        rc = VLS_PAIRS(&block, s->r->arena, err,
                       {"type", vls_json_string(VLS_STR("summary")), false},
                       {"text", vls_json_string(said), false});
    if (rc == 0)
        rc = vls_blocks_add(&all, block, err);
    s->blocks = all;
    return rc;
}

int vls_claude_said(vls_foreign_turn *turn, vls_translation *r, vls_claude_line_of *line,
                    valise_error *err)
{
    vls_json message = vls_member_of(line->record, "message");
    saying s = {.r = r, .blobs = &turn->blobs, .blocks = {.arena = r->arena}};
    int rc;

    if (line->kind == VLS_LINE_SYSTEM) {
        turn->role = VLS_TURN_SYSTEM;
        turn->noprompt = true;
        rc = vls_blocks_text(&s.blocks, vls_text_of(line->record, "content"), err);
        turn->blocks = vls_blocks_all(&s.blocks);
        return rc;
    }
    rc = add_content(&s, vls_member_of(message, "content"), err);
    line->is_summary =
        line->kind == VLS_LINE_USER && vls_truth_of(line->record, "isCompactSummary") && !s.results;
    if (rc == 0 && line->is_summary)
        rc = make_summary(&s, err);
    turn->role = line->kind == VLS_LINE_ASSISTANT ? VLS_TURN_ASSISTANT
                 : s.results && !s.others         ? VLS_TURN_TOOL
                                                  : VLS_TURN_USER;
    turn->noprompt = vls_truth_of(line->record, "isApiErrorMessage");
    turn->blocks = vls_blocks_all(&s.blocks);
    return rc < 0 ? rc : read_metadata(turn, r, message, err);
}

/* The record that the turn ends with now. */
static int add_part(vls_foreign_turn *turn, vls_translation *r, valise_str text, valise_error *err)
{
    size_t n = turn->parts.len;
    const vls_foreign_part part = {.id = turn->id,
                                   .text = text,
                                   .source = n > 0 ? turn->parts.ptr[n - 1].source + 1 + text.len
                                                   : text.len,
                                   .blocks = turn->blocks.len,
                                   .blobs = turn->blobs.len};

    return vls_vec_push_in(&turn->parts, r->arena, part) ? 0 : vls_arena_fail(r->arena, err);
}

int vls_claude_join(vls_foreign_turn *turn, vls_translation *r, valise_error *err)
{
    vls_buf text;

    if (turn->parts.len == 0)
        return 0;
    vls_buf_init_in(&text, r->arena, UINT32_MAX);
    for (size_t i = 0; i < turn->parts.len; i++) {
        if (i > 0)
            vls_buf_add_byte(&text, '\n');
        vls_buf_add(&text, turn->parts.ptr[i].text);
    }
    return vls_buf_keep(&turn->source, &text, err);
}

int vls_claude_more(vls_foreign_turn *turn, vls_translation *r, vls_claude_line_of *line,
                    valise_error *err)
{
    vls_json message = vls_member_of(line->record, "message");
    saying s = {.r = r, .blobs = &turn->blobs, .blocks = {.arena = r->arena}};
    size_t blobs = turn->blobs.len;
    int rc = turn->parts.len == 0 ? add_part(turn, r, turn->source, err) : 0;

    for (uint32_t i = 0; rc == 0 && i < turn->blocks.len; i++)
        rc = vls_blocks_add(&s.blocks, turn->blocks.items[i], err);
    if (rc == 0)
        rc = add_content(&s, vls_member_of(message, "content"), err);
    if (rc < 0) {
        turn->blobs.len = blobs; /* the turn stays as it was */
        return rc;
    }
    turn->blocks = vls_blocks_all(&s.blocks);
    line->part = turn->parts.len;
    rc = add_part(turn, r, line->text, err);
    return rc < 0 ? rc : read_metadata(turn, r, message, err);
}
