/* logic_ops_string.c -- cat, substr, in.
 *
 * Positions count characters (code points), where JavaScript counts UTF-16 units: so no text is
 * ever cut within a character. */
#include "json/logic_call.h"

int vls_logic_cat(vls_json *out, vls_logic_call *call)
{
    VLS_AUTO(buf) vls_buf buf = {0};
    vls_arena *arena = call->run->arena;
    valise_str text;
    int rc = 0;

    vls_logic_text_buf(&buf, call->run);
    if (call->count == 1 && call->args[0].type == VLS_JSON_STRING) {
        *out = call->args[0];
        return 0;
    }
    for (size_t i = 0; rc == 0 && i < call->count; i++)
        rc = vls_logic_add_text(&buf, call->run, call->args[i]);
    if (rc == 0)
        rc = vls_buf_check(&buf, &call->run->error);
    if (rc == 0)
        rc = vls_logic_charge_text(call->run, buf.len);
    if (rc == 0)
        rc = vls_arena_dup(&text, arena, vls_buf_str(&buf), &call->run->error);
    if (rc == 0)
        *out = vls_json_string(text);
    return rc;
}

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

static size_t count_characters(valise_str s)
{
    size_t count = 0;

    for (size_t i = 0; i < s.len; i++)
        count += starts_character(s.ptr[i]);
    return count;
}

/* Where the character with that number starts; s.len when there is none. */
static size_t find_character(valise_str s, size_t number)
{
    size_t i = 0;

    for (; i < s.len; i++) {
        if (starts_character(s.ptr[i]) && number-- == 0)
            break;
    }
    return i;
}

/* From start, counted from the end when negative, as many as length says; a negative length
 * leaves so many out at the end. */
static valise_str cut(valise_str s, int64_t start, int64_t length)
{
    int64_t count = (int64_t)count_characters(s);
    int64_t from = start < 0 ? VLS_MAX(count + start, 0) : VLS_MIN(start, count);
    int64_t to = length < 0 ? count + length : from + VLS_MIN(length, count - from);

    if (to <= from)
        return (valise_str){NULL, 0};
    size_t first = find_character(s, (size_t)from);
    s = vls_str_from(s, first);
    return vls_str_head(s, find_character(s, (size_t)(to - from)));
}

int vls_logic_substr(vls_json *out, vls_logic_call *call)
{
    int64_t start, length = UINT32_MAX;
    valise_str text;
    int rc = vls_logic_to_text(&text, call->run, call->args[0]);

    if (rc == 0)
        rc = vls_logic_charge_text(call->run, text.len);
    if (rc == 0)
        rc = vls_logic_integer_arg(&start, call, 1, UINT32_MAX);
    if (rc == 0 && call->count > 2)
        rc = vls_logic_integer_arg(&length, call, 2, UINT32_MAX);
    if (rc == 0)
        *out = vls_json_string(cut(text, start, length));
    return rc;
}

static int in_array(bool *out, vls_logic *run, vls_json item, vls_json array)
{
    bool found = false;
    int rc = 0;

    for (size_t i = 0; rc == 0 && !found && i < array.len; i++)
        rc = vls_logic_equal(&found, run, item, array.items[i]);
    *out = found;
    return rc;
}

/* A text, number or boolean within a text; nothing else is in one. */
static int in_text(bool *out, vls_logic *run, vls_json item, valise_str text)
{
    char room[VLS_LOGIC_KEY];
    valise_str needle;
    int rc = vls_logic_charge_text(run, text.len);

    *out = vls_logic_to_key(&needle, room, item) &&
           (needle.len == 0 || vls_str_find(text, needle) < text.len);
    return rc;
}

int vls_logic_in(vls_json *out, vls_logic_call *call)
{
    vls_json where = call->args[1];
    bool found = false;
    int rc = 0;

    if (where.type == VLS_JSON_ARRAY)
        rc = in_array(&found, call->run, call->args[0], where);
    else if (where.type == VLS_JSON_STRING)
        rc = in_text(&found, call->run, call->args[0], vls_json_str(where));
    if (rc == 0)
        *out = vls_json_bool(found);
    return rc;
}
