/* text.c -- what rows say, as plain text.
 *
 *     turn       texts, thoughts, summaries; names, arguments and results of tools; documents
 *     context    a text, or all names and values of a JSON; its key and topics
 *     slot       the content of the head, where it is UTF-8; its path
 *
 * Control characters become spaces, so that marks of snippets cannot be taken for text. */
#include "base/utf8.h"
#include "chat/rows.h"
#include "context/slot.h"
#include "field/row.h"
#include "memory/rows.h"
#include "search/search.h"

const char *const vls_search_kinds[] = {"turn", "context", "frame", NULL};

const valise_coll *vls_search_coll(int kind)
{
    static const valise_coll *const colls[] = {&vls_turns, &vls_context_entries, &vls_slots};

    assert(kind >= 0 && kind < VLS_SEARCH_KINDS);
    return colls[kind];
}

/* ---- rows ---- */

static int join_topics(valise_str *out, valise_view *view, valise_list topics, valise_error *err)
{
    const valise_str *list = topics.items;
    size_t size = 0, at = 0;
    char *text;

    for (size_t i = 0; i < topics.count; i++)
        size += list[i].len + 1;
    *out = VLS_STR("");
    if (size == 0)
        return 0;
    text = vls_arena_alloc(&view->arena, size);
    if (!text)
        return vls_arena_fail(&view->arena, err);
    for (size_t i = 0; i < topics.count; i++) {
        if (i > 0)
            text[at++] = '\n';
        memcpy(text + at, list[i].ptr, list[i].len);
        at += list[i].len;
    }
    *out = vls_str(text, at);
    return 0;
}

static int of_turn(vls_search_row *out, const vls_turn_row *turn)
{
    out->object = turn->blocks;
    out->time = turn->time;
    out->blocks = true;
    return vls_id_is_none(&turn->blocks) ? 0 : 1;
}

static int of_entry(vls_search_row *out, valise_view *view, const vls_context_entry_row *entry,
                    valise_error *err)
{
    int rc = join_topics(&out->topics, view, entry->topics, err);

    out->object = entry->content;
    out->time = entry->updated;
    out->expires = entry->expires;
    out->name = entry->key;
    out->json = entry->type == VLS_ENTRY_JSON;
    if (rc < 0)
        return rc;
    /* One that was erased has neither. */
    return vls_id_is_none(&entry->content) && vls_id_is_none(&entry->blob) ? 0 : 1;
}

static int of_slot(vls_search_row *out, valise_view *view, const vls_slot_row *slot,
                   valise_error *err)
{
    vls_slot_entry_row entry = {.slot = slot->id, .number = slot->head_entry};
    vls_frame_row frame = {.id = slot->head};
    int rc = 0;

    if (!vls_id_is_none(&slot->head))
        rc = valise_view_get(&frame, view, &vls_frames, err);
    if (rc <= 0 || vls_id_is_none(&frame.content))
        return vls_settle(rc);
    rc = valise_view_get(&entry, view, &vls_slot_entries, err);
    out->time = rc > 0 ? entry.time : VALISE_NONE;
    out->object = frame.content;
    out->frame = frame.id;
    out->name = slot->path;
    return rc < 0 ? rc : 1;
}

/* Any of the rows. */
typedef union any_row {
    vls_turn_row turn;
    vls_context_entry_row entry;
    vls_slot_row slot;
} any_row;

int vls_search_look(vls_search_row *out, valise_view *view, int kind, const valise_cell *key,
                    valise_error *err)
{
    const valise_coll *desc = vls_search_coll(kind);
    const vls_coll *coll = vls_store_coll(view->txn->store, desc);
    vls_seen seen = {0};
    any_row row = {.turn = {.role = 0}};
    int rc = vls_view_see(&seen, view, coll, key, err);

    *out = (vls_search_row){.time = VALISE_NONE, .expires = VALISE_NONE};
    if (rc < 0 || !seen.row)
        return rc;
    rc = vls_row_from_cells(&row, desc->fields, desc->row_size, seen.row, coll->field_count,
                            &view->arena, err);
    if (rc < 0)
        return rc;
    out->seq = seen.from_seq;
    if (kind == VLS_SEARCH_TURN)
        return of_turn(out, &row.turn);
    return kind == VLS_SEARCH_CONTEXT ? of_entry(out, view, &row.entry, err)
                                      : of_slot(out, view, &row.slot, err);
}

/* ---- texts ---- */

/* A piece more, on a line of its own. What is over the maximum is left out. */
static void add_piece(vls_buf *out, valise_str text)
{
    size_t room = VLS_SEARCH_TEXT_MAX > out->len ? VLS_SEARCH_TEXT_MAX - out->len : 0;
    char *at;

    if (text.len == 0 || room < 2)
        return;
    text = vls_utf8_head(text, room - 1);
    if (out->len > 0)
        vls_buf_add_byte(out, '\n');
    at = vls_buf_reserve(out, text.len);
    if (!at)
        return;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        at[i] = (char)((c < ' ' && c != '\n') || c == 0x7F ? ' ' : c);
    }
    vls_buf_advance(out, text.len);
}

/* Names and values, wherever they are. As deep as JSON may be, and no deeper. */
static void add_json(vls_buf *out, vls_json v)
{
    char text[32];

    switch (v.type) {
    case VLS_JSON_STRING:
    case VLS_JSON_BIG:
        add_piece(out, vls_json_str(v));
        break;
    case VLS_JSON_INT:
        (void)snprintf(text, sizeof(text), "%lld", (long long)v.integer);
        add_piece(out, valise_str_of(text));
        break;
    case VLS_JSON_REAL:
        (void)snprintf(text, sizeof(text), "%.17g", v.real);
        add_piece(out, valise_str_of(text));
        break;
    case VLS_JSON_ARRAY:
        for (uint32_t i = 0; i < v.len; i++)
            add_json(out, v.items[i]);
        break;
    case VLS_JSON_OBJECT:
        for (uint32_t i = 0; i < v.len; i++) {
            add_piece(out, vls_json_str(v.members[i].key));
            add_json(out, v.members[i].value);
        }
        break;
    default:
        break;
    }
}

static void add_member(vls_buf *out, vls_json block, const char *name)
{
    const vls_json *value = vls_json_get(block, valise_str_of(name));

    if (value && value->type == VLS_JSON_STRING)
        add_piece(out, vls_json_str(*value));
}

/* depth 1: within a result. */
static void add_blocks(vls_buf *out, vls_json blocks, int depth)
{
    static const char *const members[] = {"text", "filename", "name"};

    for (uint32_t i = 0; blocks.type == VLS_JSON_ARRAY && i < blocks.len; i++) {
        vls_json block = blocks.items[i];
        const vls_json *args = vls_json_get(block, VLS_STR("args"));
        const vls_json *content = vls_json_get(block, VLS_STR("content"));
        for (size_t n = 0; n < VLS_COUNT(members); n++)
            add_member(out, block, members[n]);
        if (args)
            add_json(out, *args);
        if (content && content->type == VLS_JSON_STRING)
            add_piece(out, vls_json_str(*content));
        else if (content && depth < 2)
            add_blocks(out, *content, depth + 1);
    }
}

static int add_object(vls_buf *out, valise_view *view, const vls_search_row *row, valise_str bytes,
                      valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json value;
    int rc;

    if (!row->json && !row->blocks) {
        if (vls_utf8_valid(bytes))
            add_piece(out, bytes);
        return vls_buf_check(out, err);
    }
    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_json_parse(&value, &arena, bytes, NULL, err);
    if (rc < 0)
        return rc;
    if (row->blocks)
        add_blocks(out, value, 0);
    else
        add_json(out, value);
    return vls_buf_check(out, err);
}

int vls_search_text(vls_buf *out, valise_view *view, const vls_search_row *row, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    if (vls_id_is_none(&row->object))
        return 0;
    rc = vls_view_blob(&blob, view, &row->object, &why);
    /* A damaged object is for validate to tell of: the others are found all the same. */
    if (rc == VALISE_E_NOT_FOUND || rc == VALISE_E_CORRUPT)
        return 0;
    if (rc == 0)
        rc = add_object(out, view, row, valise_blob_bytes(blob), &why);
    if (rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT)
        return 0; /* no JSON: the same */
    if (rc < 0 && err)
        *err = why;
    return rc;
}
