/* answer.c -- what comes of a call, for a model to read. */
#include "base/utf8.h"
#include "json/make.h"
#include "tool/inside.h"

int vls_tool_tell(vls_tool_answer *out, vls_arena *arena, int code, valise_str message,
                  valise_error *err)
{
    valise_str name = valise_str_of(valise_error_name(code)), text;
    vls_json error;
    int rc = vls_arena_dup(&text, arena, message, err);

    if (rc == 0)
        rc = VLS_PAIRS(&error, arena, err, {"code", vls_json_string(name), false},
                       {"message", vls_json_string(text), false});
    if (rc == 0)
        rc = VLS_PAIRS(&out->value, arena, err, {"error", error, false});
    out->failed = rc == 0;
    return rc;
}

int vls_tool_tell_error(vls_tool_answer *out, vls_arena *arena, const valise_error *why,
                        valise_error *err)
{
    char text[sizeof(why->message) + sizeof(why->hint) + 4];

    if (why->code == VALISE_E_NO_MEMORY) {
        if (err)
            *err = *why;
        return VALISE_E_NO_MEMORY;
    }
    (void)snprintf(text, sizeof(text), why->hint[0] ? "%s (%s)" : "%s%s", why->message, why->hint);
    return vls_tool_tell(out, arena, why->code, valise_str_of(text), err);
}

/* Bytes that are no UTF-8 become \xff. */
static int take_text(vls_json *out, vls_arena *arena, valise_str output, valise_error *err)
{
    VLS_AUTO(buf) vls_buf plain = {0};
    valise_str text;
    int rc;

    if (!vls_utf8_valid(output)) {
        vls_buf_init(&plain, arena->env, 4 * output.len);
        vls_text_neutralize(&plain, output,
                            VLS_TEXT_KEEP_NEWLINE | VLS_TEXT_KEEP_TAB | VLS_TEXT_KEEP_BACKSLASH);
        rc = vls_buf_check(&plain, err);
        if (rc < 0)
            return rc;
        output = vls_buf_str(&plain);
    }
    rc = vls_arena_dup(&text, arena, output, err);
    if (rc == 0)
        *out = vls_json_string(text);
    return rc;
}

int vls_tool_take_output(vls_json *out, vls_arena *arena, valise_str output, valise_error *err)
{
    vls_arena_mark mark = vls_arena_here(arena);
    valise_str text;
    int rc = vls_arena_dup(&text, arena, output, err);

    if (rc < 0)
        return rc;
    rc = vls_json_parse(out, arena, text, NULL, err);
    if (rc == 0 || rc == VALISE_E_NO_MEMORY)
        return rc;
    vls_arena_rewind(arena, mark);
    return take_text(out, arena, output, err);
}
