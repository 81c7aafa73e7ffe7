/* chatgpt.c -- one conversation of a ChatGPT export: `mapping` is a tree of nodes, all of which are
 * taken; `current_node` is the head.
 *
 *     text, code, user_editable_context     text
 *     multimodal_text                       texts, and images whose files lie with the export
 *     thoughts, reasoning_recap             thinking
 *     recipient other than "all"            tool_use, with a callId of our own
 *     role tool                             tool_result for the call above it
 *     anything else                         a block of that type, as it is
 *
 * A node without a message (the root) is none: its children have no parent then. */
#include "exchange/foreign.h"

#include <stdio.h>

#include "base/map.h"
#include "base/text.h"
#include "chat/rows.h"

#define FORMAT "chatgpt"
#define UP_MAX 64u /* turns above a result in which its call is looked for */

/* A node of the mapping. */
typedef struct node {
    valise_str id, parent;
    vls_json message;
    size_t turn;                   /* VLS_NO_TURN: it has no message */
    struct node *above;            /* the nearest with a turn; NULL: none */
    valise_str call_id, call_name; /* ptr NULL: it calls nothing */
    bool result;
} node;

typedef struct telling {
    vls_translation *r;
    vls_foreign *f;
    vls_map map; /* of nodes by their id */
    uint64_t seed;
    node *nodes;
    size_t count;
    vls_foreign_turn *turn; /* at hand */
    vls_blocks_new blocks;
} telling;

static bool has_id(const void *item, const void *key)
{
    return vls_str_equal(((const node *)item)->id, *(const valise_str *)key);
}

static node *find(const telling *t, valise_str id)
{
    return id.ptr ? vls_map_get(&t->map, vls_str_hash(id, t->seed), &id) : NULL;
}

/* ---- contents ---- */

static int join(valise_str *out, telling *t, valise_str a, valise_str b, valise_error *err)
{
    vls_buf text;

    vls_buf_init_in(&text, t->r->arena, UINT32_MAX);
    vls_buf_add(&text, a);
    if (a.len > 0 && b.len > 0)
        vls_buf_add_text(&text, "\n\n");
    vls_buf_add(&text, b);
    return vls_buf_keep(out, &text, err);
}

static int add_joined(telling *t, vls_json content, const char *first, const char *second,
                      valise_error *err)
{
    valise_str text = {NULL, 0};
    int rc = join(&text, t, vls_text_of(content, first), vls_text_of(content, second), err);

    return rc < 0 ? rc : vls_blocks_text(&t->blocks, text, err);
}

static int add_thinking(telling *t, valise_str text, valise_error *err)
{
    vls_json block = vls_json_null();
    int rc =
        VLS_PAIRS(&block, t->r->arena, err, {"type", vls_json_string(VLS_STR("thinking")), false},
                  {"text", vls_json_string(text), false});

    return rc < 0 ? rc : vls_blocks_add(&t->blocks, block, err);
}

static int add_thoughts(telling *t, vls_json content, valise_error *err)
{
    vls_json thoughts = vls_member_of(content, "thoughts");
    valise_str text = {NULL, 0};
    int rc = 0;

    for (uint32_t i = 0; thoughts.type == VLS_JSON_ARRAY && rc == 0 && i < thoughts.len; i++) {
        rc = join(&text, t, vls_text_of(thoughts.items[i], "summary"),
                  vls_text_of(thoughts.items[i], "content"), err);
        if (rc == 0)
            rc = add_thinking(t, text, err);
    }
    return rc;
}

/* "file-service://file-ABC" and "sediment://file_0001#x" name a file of the export. */
static valise_str asset_id(valise_str pointer)
{
    size_t at = vls_str_find(pointer, VLS_STR("://"));
    valise_str id = vls_str_from(pointer, at + 3);

    id.len = vls_str_find_byte(id, '#');
    return id;
}

static int add_image(telling *t, vls_json part, valise_error *err)
{
    valise_str id = asset_id(vls_text_of(part, "asset_pointer"));
    vls_foreign_blob blob;
    int rc = id.len > 0 && t->r->asset ? t->r->asset(t->r->self, &blob, id, err) : 0;

    if (rc < 0)
        return rc;
    return rc > 0 ? vls_blocks_blob(&t->blocks, t->r, &t->turn->blobs, &blob, err)
                  : vls_blocks_new_unknown(&t->blocks, t->r, VLS_STR("image_asset_pointer"), part,
                                           err);
}

static int add_parts(telling *t, vls_json content, valise_error *err)
{
    vls_json parts = vls_member_of(content, "parts");
    int rc = 0;

    for (uint32_t i = 0; parts.type == VLS_JSON_ARRAY && rc == 0 && i < parts.len; i++) {
        vls_json part = parts.items[i];
        valise_str type = vls_text_of(part, "content_type");
        if (part.type == VLS_JSON_STRING && part.len > 0)
            rc = vls_blocks_text(&t->blocks, vls_json_str(part), err);
        else if (vls_type_is(type, "image_asset_pointer"))
            rc = add_image(t, part, err);
        else if (vls_type_is(type, "audio_transcription") && vls_text_of(part, "text").len > 0)
            rc = vls_blocks_text(&t->blocks, vls_text_of(part, "text"), err);
        else if (part.type != VLS_JSON_STRING && part.type != VLS_JSON_NULL)
            rc = vls_blocks_new_unknown(&t->blocks, t->r, type, part, err);
    }
    return rc;
}

static int add_code(telling *t, vls_json content, valise_error *err)
{
    vls_json block, language = vls_member_of(content, "language");
    int rc = VLS_PAIRS(&block, t->r->arena, err, {"type", vls_json_string(VLS_STR("text")), false},
                       {"text", vls_json_string(vls_text_of(content, "text")), false},
                       {"language", language, language.type != VLS_JSON_STRING});

    return rc < 0 ? rc : vls_blocks_add(&t->blocks, block, err);
}

static int add_content(telling *t, vls_json content, valise_error *err)
{
    valise_str type = vls_text_of(content, "content_type");
    bool tool = t->turn->role == VLS_TURN_TOOL;

    if (vls_type_is(type, "text") || vls_type_is(type, "multimodal_text"))
        return add_parts(t, content, err);
    if (vls_type_is(type, "code"))
        return add_code(t, content, err);
    if (vls_type_is(type, "thoughts"))
        return add_thoughts(t, content, err);
    if (vls_type_is(type, "reasoning_recap"))
        return add_thinking(t, vls_text_of(content, "content"), err);
    if (vls_type_is(type, "user_editable_context"))
        return add_joined(t, content, "user_profile", "user_instructions", err);
    if (tool && (vls_type_is(type, "execution_output") || vls_type_is(type, "tether_quote") ||
                 vls_type_is(type, "system_error")))
        return vls_blocks_text(&t->blocks, vls_text_of(content, "text"), err);
    if (tool && vls_type_is(type, "tether_browsing_display"))
        return add_joined(t, content, "summary", "result", err);
    return vls_blocks_new_unknown(&t->blocks, t->r, type, content, err);
}

/* ---- calls and results ---- */

static int call_id_of(valise_str *out, telling *t, valise_str node_id, valise_error *err)
{
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, t->r->arena, UINT32_MAX);
    vls_buf_add_text(&text, "chatgpt-");
    vls_buf_add(&text, node_id);
    rc = vls_buf_keep(out, &text, err);
    return rc < 0 ? rc : vls_foreign_call_id(out, t->r, *out, err);
}

/* What is said to a tool: arguments as JSON, a program, or any text. */
static int add_call(telling *t, node *n, valise_str recipient, vls_json content, valise_error *err)
{
    valise_str text = vls_text_of(content, "text");
    vls_json parts = vls_member_of(content, "parts"), args = vls_json_null();
    vls_json language = vls_member_of(content, "language");
    valise_error ignored = VALISE_ERROR_INIT;
    int rc = call_id_of(&n->call_id, t, n->id, err);

    if (!text.ptr && parts.type == VLS_JSON_ARRAY && parts.len > 0 &&
        parts.items[0].type == VLS_JSON_STRING)
        text = vls_json_str(parts.items[0]);
    if (rc == 0 &&
        (vls_foreign_parse(&args, t->r, text, &ignored) < 0 || args.type != VLS_JSON_OBJECT))
        rc = VLS_PAIRS(&args, t->r->arena, err, {"text", vls_json_string(text), false},
                       {"language", language, language.type != VLS_JSON_STRING});
    n->call_name = recipient;
    return rc < 0 ? rc
                  : vls_blocks_call(&t->blocks, n->call_id, recipient, args, (valise_str){NULL, 0},
                                    err);
}

/* The nearest call above: of this tool, else of any. */
static const node *call_above(const node *n, valise_str tool)
{
    const node *any = NULL, *up = n->above;

    for (unsigned i = 0; up && up != n && i < UP_MAX; i++, up = up->above) {
        if (up->call_id.ptr && vls_str_equal(up->call_name, tool))
            return up;
        if (up->call_id.ptr && !any)
            any = up;
    }
    return any;
}

static int make_result(telling *t, const node *n, valise_error *err)
{
    vls_foreign_turn *turn = &t->f->turns.ptr[n->turn];
    vls_json content = turn->blocks, block, *items;
    const node *call = call_above(n, vls_text_of(vls_member_of(n->message, "author"), "name"));
    valise_str id = call ? call->call_id : (valise_str){NULL, 0};
    bool failed = vls_type_is(vls_text_of(vls_member_of(n->message, "content"), "content_type"),
                              "system_error");
    int rc = id.ptr ? 0 : call_id_of(&id, t, n->id, err);

    if (rc < 0)
        return rc;
    if (content.len == 1 && vls_type_is(vls_text_of(content.items[0], "type"), "text"))
        content = vls_member_of(content.items[0], "text");
    rc = VLS_PAIRS(&block, t->r->arena, err,
                   {"type", vls_json_string(VLS_STR("tool_result")), false},
                   {"callId", vls_json_string(id), false}, {"content", content, false},
                   {"isError", vls_json_bool(true), !failed});
    items = rc < 0 ? NULL : vls_arena_alloc(t->r->arena, sizeof(*items));
    if (!items)
        return rc < 0 ? rc : vls_arena_fail(t->r->arena, err);
    *items = block;
    turn->blocks = vls_json_array(items, 1);
    return 0;
}

/* ---- nodes ---- */

static int64_t role_of(valise_str role)
{
    for (int64_t i = 0; vls_turn_roles[i]; i++)
        if (vls_type_is(role, vls_turn_roles[i]))
            return i;
    return VALISE_NONE;
}

static int read_metadata(telling *t, vls_json message, valise_error *err)
{
    vls_json metadata = vls_member_of(message, "metadata"),
             model = vls_member_of(metadata, "model_slug"),
             attachments = vls_member_of(metadata, "attachments");
    bool some = attachments.type == VLS_JSON_ARRAY && attachments.len > 0;

    t->turn->hidden = vls_truth_of(metadata, "is_visually_hidden_from_conversation");
    if (model.type != VLS_JSON_STRING && !some)
        return 0;
    return VLS_PAIRS(&t->turn->metadata, t->r->arena, err,
                     {"model", model, model.type != VLS_JSON_STRING},
                     {"attachments", attachments, !some});
}

static int read_said(telling *t, node *n, valise_error *err)
{
    vls_json content = vls_member_of(n->message, "content");
    valise_str recipient = vls_text_of(n->message, "recipient");
    int rc;

    t->blocks = (vls_blocks_new){.arena = t->r->arena};
    if (t->turn->role == VLS_TURN_ASSISTANT && recipient.len > 0 && !vls_type_is(recipient, "all"))
        rc = add_call(t, n, recipient, content, err);
    else
        rc = add_content(t, content, err);
    n->result = t->turn->role == VLS_TURN_TOOL;
    t->turn->blocks = vls_blocks_all(&t->blocks);
    if (rc == 0)
        rc = read_metadata(t, n->message, err);
    return rc;
}

/* Each node as it is written in the file. */
static int keep_sources(telling *t, valise_error *err)
{
    vls_foreign_slice *slices = NULL;
    size_t count = 0;
    int rc = vls_foreign_slices(&slices, &count, t->r, "mapping", err);

    for (size_t i = 0; rc == 0 && i < count; i++) {
        const node *n = find(t, slices[i].key);
        if (n && n->turn != VLS_NO_TURN)
            t->f->turns.ptr[n->turn].source = slices[i].text;
    }
    return rc;
}

static int read_node(const telling *told, node *n, valise_error *err)
{
    telling own = *told, *t = &own; /* with a turn of its own */
    vls_foreign_turn turn = {.parent = VLS_NO_TURN,
                             .covers_to = VLS_NO_TURN,
                             .time = vls_foreign_time(vls_member_of(n->message, "create_time")),
                             .line = t->r->line};
    valise_str role = vls_text_of(vls_member_of(n->message, "author"), "role");
    int rc;

    n->turn = VLS_NO_TURN;
    if (n->message.type == VLS_JSON_NULL)
        return 0;
    turn.role = role_of(role);
    if (turn.role == VALISE_NONE || t->f->turns.len >= VLS_FOREIGN_TURNS_MAX)
        return vls_notes_problem(
            t->r->notes, t->r->line, t->r->offset, err, "node '%s' %s", vls_text_short(n->id).s,
            turn.role == VALISE_NONE ? "has an unknown author" : "is one too many");
    t->turn = &turn;
    vls_foreign_id(&turn.id, FORMAT, t->f->name, n->id);
    rc = read_said(t, n, err);
    if (rc < 0)
        return rc;
    n->turn = t->f->turns.len;
    return vls_vec_push_in(&t->f->turns, t->r->arena, turn) ? 0 : vls_arena_fail(t->r->arena, err);
}

/* The nearest one above that has a turn; a node that is above itself has none. It is kept with all
 * that were passed, so that a long row of nodes without turns is walked once. */
static void pass_empty(node *n, size_t most)
{
    node *up = n->above, *next;

    while (up && up->turn == VLS_NO_TURN && most-- > 0)
        up = up->above;
    if (up && up->turn == VLS_NO_TURN)
        up = NULL;
    for (; n && n->above != up; n = next) {
        next = n->above;
        n->above = up;
    }
}

static int read_nodes(telling *t, vls_json mapping, valise_error *err)
{
    int rc = 0;

    t->nodes = vls_arena_zalloc(t->r->arena, (mapping.len + (size_t)1) * sizeof(*t->nodes));
    if (!t->nodes)
        return vls_arena_fail(t->r->arena, err);
    t->count = mapping.len;
    for (size_t i = 0; rc == 0 && i < t->count; i++) {
        vls_json record = mapping.members[i].value;
        t->nodes[i] = (node){.id = vls_json_str(mapping.members[i].key),
                             .parent = vls_text_of(record, "parent"),
                             .message = vls_member_of(record, "message")};
        rc = vls_map_put(NULL, &t->map, vls_str_hash(t->nodes[i].id, t->seed), &t->nodes[i].id,
                         &t->nodes[i]);
        if (rc < 0)
            return vls_fail_memory(err);
        rc = read_node(t, &t->nodes[i], err);
    }
    for (size_t i = 0; rc == 0 && i < t->count; i++)
        t->nodes[i].above = find(t, t->nodes[i].parent);
    for (size_t i = 0; rc == 0 && i < t->count; i++)
        pass_empty(&t->nodes[i], t->count);
    return rc;
}

static int link_nodes(telling *t, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < t->count; i++) {
        const node *n = &t->nodes[i];
        if (n->turn == VLS_NO_TURN)
            continue;
        if (n->above)
            t->f->turns.ptr[n->turn].parent = n->above->turn;
        if (n->result)
            rc = make_result(t, n, err);
    }
    return rc;
}

/* current_node, or what is above it; without one the leaf that was made last. */
static size_t head_of(const telling *t, vls_json record)
{
    const node *n = find(t, vls_text_of(record, "current_node"));
    size_t last = VLS_NO_TURN;

    if (n && n->turn == VLS_NO_TURN)
        n = n->above;
    if (n)
        return n->turn;
    for (size_t i = 0; i < t->f->turns.len; i++)
        if (last == VLS_NO_TURN || t->f->turns.ptr[i].time >= t->f->turns.ptr[last].time)
            last = i;
    return last;
}

static int read_all(vls_foreign *f, telling *t, vls_json record, valise_error *err)
{
    vls_json rest;
    int rc = read_nodes(t, vls_member_of(record, "mapping"), err);

    if (rc == 0)
        rc = keep_sources(t, err);
    if (rc == 0)
        rc = link_nodes(t, err);
    if (rc == 0)
        rc = vls_json_without(&rest, t->r->arena, record, "mapping", err);
    if (rc == 0)
        rc = vls_json_text(&f->source, t->r->arena, rest, err);
    f->head = head_of(t, record);
    return rc;
}

int vls_chatgpt_read(vls_foreign *out, vls_translation *r, vls_json record, valise_error *err)
{
    vls_foreign f = {.format = FORMAT,
                     .head = VLS_NO_TURN,
                     .name = vls_text_of(record, "conversation_id"),
                     .label = vls_text_of(record, "title"),
                     .created = vls_foreign_time(vls_member_of(record, "create_time"))};
    telling t = {.r = r, .f = &f, .seed = (uint64_t)(uintptr_t)&f};
    int rc;

    if (!f.name.ptr)
        f.name = vls_text_of(record, "id");
    if (!f.name.ptr || vls_member_of(record, "mapping").type != VLS_JSON_OBJECT)
        return vls_notes_problem(r->notes, r->line, r->offset, err,
                                 "this is not a conversation: it has no id, or no mapping");
    vls_map_init(&t.map, r->env, has_id);
    vls_foreign_id(&f.id, FORMAT, f.name, (valise_str){NULL, 0});
    rc = read_all(&f, &t, record, err);
    vls_map_release(&t.map);
    if (rc < 0)
        return rc;
    *out = f;
    return 1;
}
