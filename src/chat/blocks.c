/* blocks.c -- read the blocks of a turn: what each type must have, and what commands must know.
 *
 * A type is a row of a table: its members, and a function for what is more than a member of a
 * type. */
#include "chat/blocks.h"

#include "base/hex.h"
#include "base/text.h"
#include "chat/rows.h"

typedef struct reading {
    vls_blocks *out;
    vls_arena *arena;
    valise_error *err;
    size_t block; /* which one of the turn */
    bool within;  /* what a result holds */
} reading;

/* ---- refusing ---- */

/* The member that is wrong; the block is put in front by who reads it. */
#define refuse(r, member, ...)                                                                     \
    ((void)vls_fail((r)->err, VALISE_E_INVALID, __VA_ARGS__),                                      \
     vls_error_prepend((r)->err, "%s", (member)), VALISE_E_INVALID)

static int memory(const reading *r)
{
    return vls_arena_fail(r->arena, r->err);
}

/* ---- members ---- */

enum { OPTIONAL = 1, NOT_EMPTY = 2 };

/* A text. What is optional may also be null. out may be NULL. */
static int take_text(valise_str *out, const reading *r, vls_json block, const char *name,
                     unsigned flags)
{
    const vls_json *member = vls_json_get(block, valise_str_of(name));

    if (flags & OPTIONAL && (!member || member->type == VLS_JSON_NULL))
        return 0;
    if (!member)
        return refuse(r, name, "'%s' is missing", name);
    if (member->type != VLS_JSON_STRING)
        return refuse(r, name, "'%s' must be a string, not %s", name, vls_json_type_name(*member));
    if (flags & NOT_EMPTY && member->len == 0)
        return refuse(r, name, "'%s' is empty", name);
    if (out)
        *out = vls_json_str(*member);
    return 0;
}

static int take_call_id(const reading *r, vls_json block, bool result)
{
    valise_str id = {NULL, 0};
    int rc = take_text(&id, r, block, "callId", NOT_EMPTY);
    bool room;

    if (rc < 0)
        return rc;
    if (id.len > VLS_CALL_ID_MAX)
        return refuse(r, "callId", "'callId' has %zu bytes: at most %d", id.len, VLS_CALL_ID_MAX);
    if (result)
        room = vls_vec_push_in(&r->out->results, r->arena, id);
    else
        room = vls_vec_push_in(&r->out->calls, r->arena, id);
    return room ? 0 : memory(r);
}

static int take_blob(const reading *r, vls_json block)
{
    valise_str text = {NULL, 0};
    valise_id id;
    int rc = take_text(&text, r, block, "blob", 0);

    if (rc < 0)
        return rc;
    if (vls_id_parse(&id, text, NULL) < 0)
        return refuse(r, "blob", "'blob' must be the SHA-256 of a blob: 64 lower-case digits");
    return vls_vec_push_in(&r->out->blobs, r->arena, id) ? 0 : memory(r);
}

/* What images and documents say of their blob. */
static int take_file(const reading *r, vls_json block)
{
    int rc = take_text(NULL, r, block, "mediaType", OPTIONAL);

    return rc < 0 ? rc : take_text(NULL, r, block, "filename", OPTIONAL);
}

/* ---- types ---- */

static int read_text(reading *r, vls_json block)
{
    return take_text(NULL, r, block, "text", 0);
}

static int read_thinking(reading *r, vls_json block)
{
    int rc = take_text(NULL, r, block, "text", 0);

    return rc < 0 ? rc : take_text(NULL, r, block, "signature", OPTIONAL);
}

static int read_image(reading *r, vls_json block)
{
    int rc = take_blob(r, block);

    return rc < 0 ? rc : take_file(r, block);
}

static int read_document(reading *r, vls_json block)
{
    const vls_json *text = vls_json_get(block, VLS_STR("text"));
    const vls_json *blob = vls_json_get(block, VLS_STR("blob"));
    bool has_text = text && text->type != VLS_JSON_NULL;
    bool has_blob = blob && blob->type != VLS_JSON_NULL;
    int rc = 0;

    if (!has_text && !has_blob)
        return refuse(r, "blob", "a document must have a 'blob' or a 'text'");
    if (has_blob)
        rc = take_blob(r, block);
    if (rc == 0 && has_text)
        rc = take_text(NULL, r, block, "text", 0);
    return rc < 0 ? rc : take_file(r, block);
}

static int read_tool_use(reading *r, vls_json block)
{
    const vls_json *args = vls_json_get(block, VLS_STR("args"));
    int rc = take_call_id(r, block, false);

    if (rc == 0)
        rc = take_text(NULL, r, block, "name", NOT_EMPTY);
    if (rc < 0)
        return rc;
    if (!args)
        return refuse(r, "args", "'args' is missing");
    if (args->type != VLS_JSON_OBJECT)
        return refuse(r, "args", "'args' must be an object, not %s", vls_json_type_name(*args));
    return 0;
}

static int read_block(reading *r, vls_json block);

static int read_content(reading *r, vls_json items)
{
    int rc = 0;

    if (items.len > VLS_BLOCKS_MAX) {
        rc = vls_fail(r->err, VALISE_E_LIMIT, "%u blocks: at most %d", items.len, VLS_BLOCKS_MAX);
        vls_error_prepend(r->err, "content");
        return rc;
    }
    r->within = true;
    for (uint32_t i = 0; i < items.len && rc == 0; i++) {
        rc = read_block(r, items.items[i]);
        if (rc < 0)
            vls_error_prepend(r->err, "content[%u]", i);
    }
    r->within = false;
    return rc;
}

static int read_tool_result(reading *r, vls_json block)
{
    const vls_json *content = vls_json_get(block, VLS_STR("content"));
    const vls_json *is_error = vls_json_get(block, VLS_STR("isError"));
    int rc = take_call_id(r, block, true);

    if (rc < 0)
        return rc;
    if (!content)
        return refuse(r, "content", "'content' is missing");
    if (content->type != VLS_JSON_STRING && content->type != VLS_JSON_ARRAY)
        return refuse(r, "content", "'content' must be a string or an array of blocks, not %s",
                      vls_json_type_name(*content));
    if (is_error && is_error->type != VLS_JSON_BOOL && is_error->type != VLS_JSON_NULL)
        return refuse(r, "isError", "'isError' must be true or false, not %s",
                      vls_json_type_name(*is_error));
    return content->type == VLS_JSON_ARRAY ? read_content(r, *content) : 0;
}

/* A TurnRef of the range. */
static int take_ref(valise_str *out, const reading *r, vls_json covers, const char *name)
{
    vls_turn_ref ref;
    int rc = take_text(out, r, covers, name, 0);

    if (rc == 0 && !vls_turn_ref_read(&ref, *out))
        return refuse(r, name, "'%s' must be ID@VERSION of a turn", name);
    return rc;
}

static int read_covers(const reading *r, vls_json json)
{
    vls_block_covers covers = {.block = r->block};
    valise_id hash;
    int rc = take_ref(&covers.from, r, json, "from");

    if (rc == 0)
        rc = take_ref(&covers.to, r, json, "to");
    if (rc == 0)
        rc = take_text(&covers.hash, r, json, "hash", OPTIONAL);
    if (rc == 0 && covers.hash.ptr && vls_id_parse(&hash, covers.hash, NULL) < 0)
        rc = refuse(r, "hash", "'hash' must be 64 lower-case digits");
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&r->out->covers, r->arena, covers) ? 0 : memory(r);
}

static int read_summary(reading *r, vls_json block)
{
    const vls_json *covers = vls_json_get(block, VLS_STR("covers"));
    int rc = take_text(NULL, r, block, "text", 0);

    if (rc < 0)
        return rc;
    if (!covers)
        return refuse(r, "covers", "'covers' is missing");
    if (covers->type != VLS_JSON_OBJECT)
        return refuse(r, "covers", "'covers' must be an object, not %s",
                      vls_json_type_name(*covers));
    rc = read_covers(r, *covers);
    if (rc < 0)
        vls_error_prepend(r->err, "covers");
    return rc;
}

static int read_transition(reading *r, vls_json block)
{
    valise_str to = {NULL, 0};
    int rc = take_text(NULL, r, block, "from", OPTIONAL);

    if (rc == 0)
        rc = take_text(&to, r, block, "to", NOT_EMPTY);
    if (rc < 0)
        return rc;
    if (to.len > VLS_ROLE_NAME_MAX)
        return refuse(r, "to", "'to' has %zu bytes: the name of a role has at most %d", to.len,
                      VLS_ROLE_NAME_MAX);
    if (r->out->all.len > 1)
        return refuse(r, "type", "a role:transition must be the only block of its turn");
    r->out->to = to;
    return 0;
}

/* ---- blocks ---- */

typedef struct block_type {
    const char *name;
    int (*read)(reading *r, vls_json block);
    bool within; /* may stand in a result */
} block_type;

static const block_type types[] = {
    {"text", read_text, true},          {"thinking", read_thinking, false},
    {"image", read_image, true},        {"document", read_document, true},
    {"tool_use", read_tool_use, false}, {"tool_result", read_tool_result, false},
    {"summary", read_summary, false},   {"role:transition", read_transition, false},
};

static int read_block(reading *r, vls_json block)
{
    valise_str type = {NULL, 0};
    int rc;

    if (block.type != VLS_JSON_OBJECT)
        return vls_fail(r->err, VALISE_E_INVALID, "a block must be an object, not %s",
                        vls_json_type_name(block));
    rc = take_text(&type, r, block, "type", NOT_EMPTY);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < VLS_COUNT(types); i++) {
        if (!vls_str_equal(type, valise_str_of(types[i].name)))
            continue;
        if (r->within && !types[i].within)
            return refuse(r, "type", "a %s cannot stand in a tool_result", types[i].name);
        return types[i].read(r, block);
    }
    r->out->unknown++;
    return 0;
}

/* ---- all of them ---- */

static void sort_blobs(vls_blocks *blocks)
{
    size_t kept = 0;

    if (blocks->blobs.len == 0)
        return;
    qsort(blocks->blobs.ptr, blocks->blobs.len, sizeof(*blocks->blobs.ptr), vls_id_order);
    for (size_t i = 1; i < blocks->blobs.len; i++) {
        if (!vls_id_equal(&blocks->blobs.ptr[i], &blocks->blobs.ptr[kept]))
            blocks->blobs.ptr[++kept] = blocks->blobs.ptr[i];
    }
    blocks->blobs.len = kept + 1;
}

/* Say which one is the second. */
static int stands_twice(const reading *r, valise_str id, const char *type)
{
    bool second = false;

    for (uint32_t i = 0; i < r->out->all.len; i++) {
        vls_json block = r->out->all.items[i];
        const vls_json *name = vls_json_get(block, VLS_STR("type"));
        const vls_json *call = vls_json_get(block, VLS_STR("callId"));
        if (!call || !vls_str_equal(vls_json_str(*name), valise_str_of(type)) ||
            !vls_str_equal(vls_json_str(*call), id))
            continue;
        if (second) {
            int rc =
                refuse(r, "callId", "another %s has the callId '%s'", type, vls_text_short(id).s);
            vls_error_prepend(r->err, "[%u]", i);
            return rc;
        }
        second = true;
    }
    return 0;
}

/* A call can be answered, and answers can be told apart, where each id stands once. */
static int check_once(const reading *r, const valise_str *ids, size_t count, const char *type)
{
    valise_str *sorted;

    if (count < 2)
        return 0;
    sorted = vls_arena_array(r->arena, count, sizeof(*sorted));
    if (!sorted)
        return memory(r);
    memcpy(sorted, ids, count * sizeof(*ids));
    qsort(sorted, count, sizeof(*sorted), vls_str_order);
    for (size_t i = 1; i < count; i++) {
        if (vls_str_equal(sorted[i], sorted[i - 1]))
            return stands_twice(r, sorted[i], type);
    }
    return 0;
}

static int read_all(reading *r)
{
    vls_blocks *out = r->out;
    int rc = 0;

    if (out->all.type != VLS_JSON_ARRAY)
        return vls_fail(r->err, VALISE_E_INVALID, "blocks must be an array, not %s",
                        vls_json_type_name(out->all));
    if (out->all.len == 0)
        return vls_fail(r->err, VALISE_E_INVALID, "there must be at least one block");
    if (out->all.len > VLS_BLOCKS_MAX)
        return vls_fail(r->err, VALISE_E_LIMIT, "%u blocks: at most %d", out->all.len,
                        VLS_BLOCKS_MAX);
    for (; rc == 0 && r->block < out->all.len; r->block++) {
        rc = read_block(r, out->all.items[r->block]);
        if (rc < 0) {
            vls_error_prepend(r->err, "[%zu]", r->block);
            return rc;
        }
    }
    rc = check_once(r, out->calls.ptr, out->calls.len, "tool_use");
    if (rc == 0)
        rc = check_once(r, out->results.ptr, out->results.len, "tool_result");
    return rc;
}

int vls_blocks_read(vls_blocks *out, vls_arena *arena, valise_str json, valise_error *err)
{
    vls_blocks blocks = {.unknown = 0};
    reading r = {.out = &blocks, .arena = arena, .err = err};
    int rc = vls_json_parse(&blocks.all, arena, json, NULL, err);

    if (rc == 0)
        rc = read_all(&r);
    if (rc < 0) {
        vls_error_prepend(err, "blocks");
        return rc;
    }
    sort_blobs(&blocks);
    *out = blocks;
    return 0;
}

/* ---- what nobody knows ---- */

bool vls_blocks_know(valise_str type)
{
    for (size_t i = 0; i < VLS_COUNT(types); i++) {
        if (vls_str_equal(type, valise_str_of(types[i].name)))
            return true;
    }
    return false;
}

static int64_t count_unknown(vls_json all, bool within)
{
    uint32_t count = all.type == VLS_JSON_ARRAY ? all.len : 0;
    int64_t unknown = 0;

    for (uint32_t i = 0; i < count; i++) {
        const vls_json *type = vls_json_get(all.items[i], VLS_STR("type"));
        const vls_json *content = vls_json_get(all.items[i], VLS_STR("content"));
        valise_str name = {NULL, 0};
        if (type && type->type == VLS_JSON_STRING)
            name = vls_json_str(*type);
        if (!vls_blocks_know(name))
            unknown++;
        else if (content && !within && vls_str_equal(name, VLS_STR("tool_result")))
            unknown += count_unknown(*content, true);
    }
    return unknown;
}

int64_t vls_blocks_unknown(vls_json all)
{
    return count_unknown(all, false);
}
