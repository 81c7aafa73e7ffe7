/* error.c -- see error.h. */
#include "json/error.h"

#include "base/text.h"

#define ERROR_MAX ((size_t)1 << 20)

static void add_member(vls_buf *out, const valise_env *env, const char *key, const char *text)
{
    VLS_AUTO(buf) vls_buf harmless = {0};

    if (!text[0])
        return;
    vls_buf_init(&harmless, env, ERROR_MAX);
    vls_text_neutralize(&harmless, valise_str_of(text), VLS_TEXT_KEEP_BACKSLASH);
    vls_json_write_string(out, valise_str_of(key));
    vls_buf_add_byte(out, ':');
    vls_json_write_string(out, vls_buf_str(&harmless));
    vls_buf_add_byte(out, ',');
}

/* Members in the order of their keys. */
void vls_json_write_error(vls_buf *out, const valise_env *env, const valise_error *err,
                          const char *code, valise_str current)
{
    vls_buf_add_byte(out, '{');
    add_member(out, env, "code", code ? code : valise_error_name(err->code));
    if (current.len > 0) {
        vls_buf_add_text(out, "\"current\":");
        vls_buf_add(out, current);
        vls_buf_add_byte(out, ',');
    }
    add_member(out, env, "hint", err->hint);
    add_member(out, env, "message", err->message[0] ? err->message : valise_error_text(err->code));
    if (err->offset >= 0)
        vls_buf_printf(out, "\"offset\":%lld,", (long long)err->offset);
    add_member(out, env, "path", err->path);
    if (out->len > 0 && out->ptr[out->len - 1] == ',')
        out->len--;
    vls_buf_add_byte(out, '}');
}

/* ---- back ---- */

/* The text of a member, harmless, in room; "": none. */
static void take(char *room, size_t size, const valise_env *env, vls_json v, const char *key)
{
    const vls_json *member = vls_json_get(v, valise_str_of(key));
    VLS_AUTO(buf) vls_buf text = {0};
    size_t len;

    room[0] = '\0';
    if (!member || member->type != VLS_JSON_STRING)
        return;
    vls_buf_init(&text, env, ERROR_MAX);
    vls_text_neutralize(&text, vls_str_head(vls_json_str(*member), size), VLS_TEXT_KEEP_BACKSLASH);
    len = VLS_MIN(text.len, size - 1);
    while (len > 0 && len < text.len && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
        len--; /* not in the middle of a character */
    if (len > 0)
        memcpy(room, text.ptr, len);
    room[len] = '\0';
}

int vls_json_read_error(valise_error *err, const valise_env *env, vls_json v)
{
    const vls_json *name = vls_json_get(v, VLS_STR("code"));
    const vls_json *offset = vls_json_get(v, VLS_STR("offset"));
    valise_error e = VALISE_ERROR_INIT;

    if (!name || name->type != VLS_JSON_STRING)
        return 0;
    e.code = vls_error_of_name(vls_json_str(*name));
    if (e.code == 0)
        return 0;
    take(e.message, sizeof(e.message), env, v, "message");
    take(e.hint, sizeof(e.hint), env, v, "hint");
    take(e.path, sizeof(e.path), env, v, "path");
    if (offset && offset->type == VLS_JSON_INT && offset->integer >= 0)
        e.offset = offset->integer;
    if (err)
        *err = e;
    return e.code;
}
