/* reread.c -- requests back into neutral prompts (reread.h). */
#include "wire/reread.h"

#include <stdarg.h>

#include "wire/rules.h"

void vls_reread_init(vls_reread *r, vls_arena *arena, valise_error *err)
{
    r->arena = arena;
    r->err = err;
    vls_json_builder_init(&r->to, arena);
    vls_json_open(&r->to, VLS_JSON_OBJECT);
    vls_read_put(r, "version", vls_json_int(VLS_NEUTRAL_VERSION));
}

int vls_reread_finish(vls_json *out, vls_reread *r)
{
    vls_json_close(&r->to);
    return vls_json_builder_finish(out, &r->to, r->err);
}

void vls_reread_release(vls_reread *r)
{
    vls_json_builder_release(&r->to);
}

void vls_read_open(vls_reread *r, const char *key, vls_json_type type)
{
    if (key)
        vls_json_add_key(&r->to, valise_str_of(key));
    vls_json_open(&r->to, type);
}

void vls_read_close(vls_reread *r)
{
    vls_json_close(&r->to);
}

void vls_read_put(vls_reread *r, const char *key, vls_json value)
{
    if (value.type == VLS_JSON_NULL)
        return;
    vls_json_add_member(&r->to, valise_str_of(key), value);
}

void vls_read_text(vls_reread *r, const char *key, valise_str text)
{
    if (text.ptr)
        vls_read_put(r, key, vls_json_string(text));
}

static void read_members(vls_reread *r, vls_json object)
{
    for (uint32_t i = 0; object.type == VLS_JSON_OBJECT && i < object.len; i++)
        vls_json_add_member(&r->to, vls_json_str(object.members[i].key), object.members[i].value);
}

void vls_read_place(vls_reread *r, const char *format, ...)
{
    char text[120];
    valise_str place = {NULL, 0};
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (vls_arena_dup(&place, r->arena, valise_str_of(text), &r->to.error) == 0)
        vls_read_text(r, "x-place", place);
}

/* ---- blocks ---- */

void vls_read_said(vls_reread *r, valise_str text, const char *place, uint32_t at)
{
    vls_read_open(r, NULL, VLS_JSON_OBJECT);
    vls_read_text(r, "type", VLS_STR("text"));
    vls_read_text(r, "text", text);
    vls_read_place(r, "%s[%u]", place, at);
    vls_read_close(r);
}

void vls_read_media(vls_reread *r, valise_str type, valise_str data, valise_str file)
{
    static const char nobody[] = "0000000000000000000000000000000000000000000000000000000000000000";
    int64_t size = (int64_t)(data.len / 4 * 3);

    if (size > 0 && data.ptr[data.len - 1] == '=')
        size -= data.len >= 2 && data.ptr[data.len - 2] == '=' ? 2 : 1;
    vls_read_text(r, "blob", valise_str_of(nobody));
    vls_read_text(r, "mediaType", type);
    if (data.ptr) {
        vls_read_put(r, "size", vls_json_int(size));
        vls_read_put(r, "x-data", vls_json_int(size));
    }
    if (file.len > 0)
        vls_read_text(r, "fileId", file);
}

void vls_read_url(vls_reread *r, valise_str url, valise_str file)
{
    static const valise_str none = {NULL, 0};
    size_t comma = vls_str_find_byte(url, ',');
    valise_str type;

    if (!vls_str_starts(url, VLS_STR("data:"))) {
        /* What stands elsewhere is not ours to look at. */
        vls_read_media(r, none, none, file.len > 0 ? file : url);
        return;
    }
    type = vls_str_from(vls_str_head(url, comma), strlen("data:"));
    type = vls_str_head(type, vls_str_find_byte(type, ';'));
    vls_read_media(r, type.len > 0 ? type : none, vls_str_from(url, VLS_MIN(comma + 1, url.len)),
                   file);
}

/* The first failure is the one that counts. */
static void note(vls_reread *r, int rc)
{
    if (rc < 0 && r->to.error.code == 0)
        r->to.error = *r->err;
}

void vls_read_args(vls_reread *r, vls_json args)
{
    valise_str text = {NULL, 0};

    if (args.type == VLS_JSON_OBJECT) {
        vls_read_put(r, "args", args);
        return;
    }
    vls_read_put(r, "args", (vls_json){.type = VLS_JSON_OBJECT});
    if (args.type == VLS_JSON_STRING)
        text = vls_json_str(args);
    else
        note(r, vls_json_text(&text, r->arena, args, r->err));
    vls_read_text(r, "rawArgs", text);
}

void vls_read_args_text(vls_reread *r, const char *vendor, valise_str text)
{
    vls_json members = {.type = VLS_JSON_OBJECT};

    note(r, vls_answer_args(&members, r->arena, vendor, text, r->err));
    read_members(r, members);
}

void vls_read_tool(vls_reread *r, vls_json name, vls_json description, vls_json schema)
{
    vls_read_open(r, NULL, VLS_JSON_OBJECT);
    vls_read_put(r, "name", name);
    vls_read_put(r, "description", description);
    vls_read_put(r, "inputSchema", schema);
    vls_read_close(r);
}

void vls_read_limit(vls_reread *r, vls_json number)
{
    if (number.type == VLS_JSON_INT && number.integer > 0 && number.integer <= INT32_MAX)
        vls_read_put(r, "maxTokens", number);
}

void vls_read_thinking(vls_reread *r, vls_json thinking)
{
    if (thinking.type != VLS_JSON_OBJECT)
        return;
    vls_read_open(r, "extras", VLS_JSON_OBJECT);
    vls_read_put(r, "thinking", thinking);
    vls_read_close(r);
}

/* ---- what is none ---- */

int vls_read_expect(vls_json value, vls_json_type type, const char *name, valise_error *err)
{
    int rc;

    if (value.type == type)
        return 0;
    rc = vls_fail(err, VALISE_E_INVALID, "'%s' must be %s, not %s", name,
                  type == VLS_JSON_ARRAY    ? "an array"
                  : type == VLS_JSON_OBJECT ? "an object"
                                            : "a text",
                  vls_json_type_name(value));
    vls_error_prepend(err, "%s", name);
    return rc;
}

int vls_read_item(vls_json value, const char *what, valise_error *err)
{
    return value.type == VLS_JSON_OBJECT
               ? 0
               : vls_fail(err, VALISE_E_INVALID, "a %s must be an object, not %s", what,
                          vls_json_type_name(value));
}

/* ---- looking ---- */

static int look_at_mark(vls_looking *looking, uint32_t *count, const char *mark, vls_json block,
                        const char *place, uint32_t at, valise_error *err)
{
    if (vls_member_of(block, mark).type != VLS_JSON_OBJECT)
        return 0;
    ++*count;
    return *count == VLS_MARKS_MAX + 1
               ? vls_look_find(looking, VLS_R_MARKS, VLS_STR(""), err, "%s[%u]", place, at)
               : 0;
}

static int look_at_blocks(vls_looking *looking, uint32_t *count, const char *mark, vls_json blocks,
                          const char *place, valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; blocks.type == VLS_JSON_ARRAY && i < blocks.len && rc == 0; i++) {
        vls_json inner = vls_member_of(blocks.items[i], "content");
        for (uint32_t j = 0; inner.type == VLS_JSON_ARRAY && j < inner.len && rc == 0; j++)
            rc = look_at_mark(looking, count, mark, inner.items[j], place, i, err);
        if (rc == 0)
            rc = look_at_mark(looking, count, mark, blocks.items[i], place, i, err);
    }
    return rc;
}

int vls_look_at_marks(vls_looking *looking, const char *mark, vls_json request, vls_json tools,
                      const char *tools_place, valise_error *err)
{
    vls_json messages = vls_member_of(request, "messages");
    uint32_t count = 0;
    int rc = look_at_blocks(looking, &count, mark, tools, tools_place, err);

    if (rc == 0)
        rc = look_at_blocks(looking, &count, mark, vls_member_of(request, "system"), "system", err);
    for (uint32_t i = 0; messages.type == VLS_JSON_ARRAY && i < messages.len && rc == 0; i++) {
        char place[64];
        (void)snprintf(place, sizeof(place), "messages[%u].content", i);
        rc = look_at_blocks(looking, &count, mark, vls_member_of(messages.items[i], "content"),
                            place, err);
    }
    return rc;
}
