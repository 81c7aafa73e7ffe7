/* openai.c -- OpenAI's JSONL: {"messages":[...],"tools":[...]} a line, one conversation each.
 *
 *     content            a text, or parts: text, image_url and file with their bytes; other parts
 *                        as they are
 *     tool_calls         tool_use; `arguments` stays where it is not canonical JSON
 *     function_call      the same, with a callId of our own
 *     role tool          tool_result
 *     weight, name       in the metadata of the turn
 *
 * The records have no ids: the hash of one stands for it. */
#include "exchange/foreign.h"

#include <stdio.h>

#include "base/hex.h"
#include "chat/rows.h"

#define FORMAT "openai"

typedef struct speaking {
    vls_translation *r;
    vls_foreign_turn *turn;
    vls_blocks_new blocks;
    valise_str last_call; /* of function_call, for the result that follows */
    size_t number;
} speaking;

/* "data:image/png;base64,AAAA": 1, or 0 for another URL. */
static int decode_url(vls_foreign_blob *out, vls_translation *r, valise_str url, valise_error *err)
{
    valise_str head, data;

    if (!vls_str_starts(url, VLS_STR("data:")) ||
        !vls_str_cut(&head, &data, vls_str_from(url, 5), ',') ||
        !vls_str_ends(head, VLS_STR(";base64")))
        return 0;
    head.len -= 7;
    return vls_foreign_decode(out, r, data, head, err);
}

static int add_image(speaking *s, vls_json part, valise_error *err)
{
    vls_json image = vls_member_of(part, "image_url");
    valise_str url =
        image.type == VLS_JSON_STRING ? vls_json_str(image) : vls_text_of(image, "url");
    vls_foreign_blob blob;
    int rc = decode_url(&blob, s->r, url, err);

    if (rc < 0)
        return rc;
    return rc > 0 ? vls_blocks_blob(&s->blocks, s->r, &s->turn->blobs, &blob, err)
                  : vls_blocks_new_unknown(&s->blocks, s->r, VLS_STR("image_url"), part, err);
}

/* A document with its bytes; one that is elsewhere (file_id) stays as it is. */
static int add_file(speaking *s, vls_json part, valise_error *err)
{
    vls_json file = vls_member_of(part, "file");
    vls_foreign_blob blob = {.bytes = {NULL, 0}};
    int rc = decode_url(&blob, s->r, vls_text_of(file, "file_data"), err);

    if (rc < 0)
        return rc;
    blob.filename = vls_text_of(file, "filename");
    return rc > 0 ? vls_blocks_blob(&s->blocks, s->r, &s->turn->blobs, &blob, err)
                  : vls_blocks_new_unknown(&s->blocks, s->r, VLS_STR("file"), part, err);
}

static int add_part(speaking *s, vls_json part, valise_error *err)
{
    valise_str type = vls_text_of(part, "type");
    vls_json text = vls_member_of(part, "text");

    if (part.type == VLS_JSON_STRING)
        return vls_blocks_text(&s->blocks, vls_json_str(part), err);
    if (vls_str_equal(type, VLS_STR("text")) && text.type == VLS_JSON_STRING)
        return vls_blocks_text(&s->blocks, vls_json_str(text), err);
    if (vls_str_equal(type, VLS_STR("image_url")))
        return add_image(s, part, err);
    if (vls_str_equal(type, VLS_STR("file")))
        return add_file(s, part, err);
    return vls_blocks_new_unknown(&s->blocks, s->r, type, part, err);
}

static int add_content(speaking *s, vls_json message, valise_error *err)
{
    vls_json content = vls_member_of(message, "content"),
             refusal = vls_member_of(message, "refusal");
    int rc = 0;

    if (content.type == VLS_JSON_STRING)
        rc = vls_blocks_text(&s->blocks, vls_json_str(content), err);
    else if (content.type == VLS_JSON_ARRAY)
        for (uint32_t i = 0; rc == 0 && i < content.len; i++)
            rc = add_part(s, content.items[i], err);
    else if (content.type != VLS_JSON_NULL)
        rc = vls_blocks_new_unknown(&s->blocks, s->r, VLS_STR("content"), content, err);
    if (rc == 0 && refusal.type == VLS_JSON_STRING)
        rc = vls_blocks_new_unknown(&s->blocks, s->r, VLS_STR("refusal"), refusal, err);
    return rc;
}

/* ---- calls and results ---- */

static int add_call(speaking *s, valise_str id, vls_json function, valise_error *err)
{
    vls_json arguments = vls_member_of(function, "arguments"), args = arguments;
    valise_error ignored = VALISE_ERROR_INIT;
    valise_str raw = {NULL, 0}, canonical;
    int rc = vls_foreign_call_id(&id, s->r, id, err);

    if (rc == 0 && arguments.type == VLS_JSON_STRING) {
        raw = vls_json_str(arguments);
        if (vls_foreign_parse(&args, s->r, raw, &ignored) < 0) {
            args = arguments;
        } else if (args.type == VLS_JSON_OBJECT) {
            rc = vls_json_text(&canonical, s->r->arena, args, err);
            if (rc == 0 && vls_str_equal(canonical, raw))
                raw.ptr = NULL;
        }
    }
    if (rc == 0)
        rc = vls_blocks_call(&s->blocks, id, vls_text_of(function, "name"), args, raw, err);
    s->last_call = id;
    return rc;
}

static int made_call_id(valise_str *out, speaking *s, valise_error *err)
{
    char text[40];

    (void)snprintf(text, sizeof(text), "function_call-%zu", s->number);
    return vls_arena_dup(out, s->r->arena, valise_str_of(text), err);
}

static int add_calls(speaking *s, vls_json message, valise_error *err)
{
    vls_json calls = vls_member_of(message, "tool_calls"),
             old = vls_member_of(message, "function_call");
    valise_str id;
    int rc = 0;

    for (uint32_t i = 0; calls.type == VLS_JSON_ARRAY && rc == 0 && i < calls.len; i++) {
        vls_json function = vls_member_of(calls.items[i], "function");
        if (function.type == VLS_JSON_OBJECT)
            rc = add_call(s, vls_text_of(calls.items[i], "id"), function, err);
        else
            rc =
                vls_blocks_new_unknown(&s->blocks, s->r, VLS_STR("tool_call"), calls.items[i], err);
    }
    if (rc == 0 && old.type == VLS_JSON_OBJECT) {
        rc = made_call_id(&id, s, err);
        if (rc == 0)
            rc = add_call(s, id, old, err);
    }
    return rc;
}

/* What was said so far becomes what the tool says. */
static int make_result(speaking *s, valise_str id, valise_error *err)
{
    vls_json block, content = vls_blocks_all(&s->blocks);
    int rc = vls_foreign_call_id(&id, s->r, id, err);

    if (rc < 0)
        return rc;
    if (content.len == 1 && vls_str_equal(vls_text_of(content.items[0], "type"), VLS_STR("text")))
        content = vls_member_of(content.items[0], "text");
    rc = VLS_PAIRS(&block, s->r->arena, err,
                   {"type", vls_json_string(VLS_STR("tool_result")), false},
                   {"callId", vls_json_string(id), false}, {"content", content, false});
    s->blocks = (vls_blocks_new){.arena = s->r->arena};
    return rc < 0 ? rc : vls_blocks_add(&s->blocks, block, err);
}

/* ---- turns ---- */

static int64_t role_of(valise_str role)
{
    if (vls_str_equal(role, VLS_STR("user")))
        return VLS_TURN_USER;
    if (vls_str_equal(role, VLS_STR("assistant")))
        return VLS_TURN_ASSISTANT;
    if (vls_str_equal(role, VLS_STR("system")) || vls_str_equal(role, VLS_STR("developer")))
        return VLS_TURN_SYSTEM;
    if (vls_str_equal(role, VLS_STR("tool")) || vls_str_equal(role, VLS_STR("function")))
        return VLS_TURN_TOOL;
    return VALISE_NONE;
}

static int read_metadata(speaking *s, vls_json message, valise_error *err)
{
    vls_json weight = vls_member_of(message, "weight"), name = vls_member_of(message, "name"),
             role = vls_member_of(message, "role");
    bool developer = vls_str_equal(vls_json_str(role), VLS_STR("developer"));

    if (weight.type == VLS_JSON_NULL && name.type == VLS_JSON_NULL && !developer)
        return 0;
    return VLS_PAIRS(&s->turn->metadata, s->r->arena, err,
                     {"weight", weight, weight.type == VLS_JSON_NULL},
                     {"name", name, name.type == VLS_JSON_NULL}, {"role", role, !developer});
}

static int read_message(speaking *s, vls_json message, valise_error *err)
{
    valise_str role = vls_text_of(message, "role");
    int rc;

    s->blocks = (vls_blocks_new){.arena = s->r->arena};
    s->turn->role = role_of(role);
    rc = add_content(s, message, err);
    if (rc == 0 && s->turn->role == VLS_TURN_TOOL)
        rc = make_result(s,
                         vls_str_equal(role, VLS_STR("tool")) ? vls_text_of(message, "tool_call_id")
                                                              : s->last_call,
                         err);
    if (rc == 0)
        rc = add_calls(s, message, err);
    if (rc == 0)
        rc = read_metadata(s, message, err);
    s->turn->blocks = vls_blocks_all(&s->blocks);
    return rc;
}

static int read_messages(vls_foreign *f, vls_translation *r, vls_json messages, valise_error *err)
{
    speaking s = {.r = r};
    vls_foreign_slice *slices = NULL;
    size_t count = 0;
    int rc = vls_foreign_slices(&slices, &count, r, "messages", err);

    for (uint32_t i = 0; rc == 0 && i < messages.len; i++) {
        vls_foreign_turn turn = {.parent = f->turns.len > 0 ? f->turns.len - 1 : VLS_NO_TURN,
                                 .time = VALISE_NONE,
                                 .covers_to = VLS_NO_TURN,
                                 .source = i < count ? slices[i].text : (valise_str){NULL, 0},
                                 .line = r->line};
        char number[24];
        if (role_of(vls_text_of(messages.items[i], "role")) == VALISE_NONE) {
            rc = vls_notes_problem(r->notes, r->line, r->offset, err,
                                   "messages[%u] has no known role", i);
            continue;
        }
        s.turn = &turn;
        s.number = i;
        (void)snprintf(number, sizeof(number), "%u", i);
        vls_foreign_id(&turn.id, FORMAT, f->name, valise_str_of(number));
        rc = read_message(&s, messages.items[i], err);
        if (rc == 0 && !vls_vec_push_in(&f->turns, r->arena, turn))
            rc = vls_arena_fail(r->arena, err);
    }
    f->head = f->turns.len > 0 ? f->turns.len - 1 : VLS_NO_TURN;
    return rc;
}

int vls_openai_read(vls_foreign *out, vls_translation *r, vls_json record, const valise_id *hash,
                    uint64_t nth, valise_error *err)
{
    vls_json messages = vls_member_of(record, "messages"), rest;
    vls_foreign f = {.format = FORMAT, .created = VALISE_NONE, .head = VLS_NO_TURN};
    char name[VALISE_ID_TEXT + 24];
    int rc;

    if (messages.type != VLS_JSON_ARRAY)
        return vls_notes_problem(r->notes, r->line, r->offset, err, "there are no \"messages\"");
    (void)snprintf(name, sizeof(name), "%s/%llu", vls_id_hex(hash).s, (unsigned long long)nth);
    rc = vls_arena_dup(&f.name, r->arena, valise_str_of(name), err);
    if (rc < 0)
        return rc;
    vls_foreign_id(&f.id, FORMAT, f.name, (valise_str){NULL, 0});
    rc = read_messages(&f, r, messages, err);
    if (rc == 0)
        rc = vls_json_without(&rest, r->arena, record, "messages", err);
    if (rc == 0 && rest.len > 0)
        rc = vls_json_text(&f.source, r->arena, rest, err);
    if (rc < 0)
        return rc;
    *out = f;
    return 1;
}
