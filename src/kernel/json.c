/* json.c -- arguments and answers of the operations on plain JSON. */
#include "kernel/json.h"

#include "store/view.h"

const valise_field vls_json_answer_out[] = {
    VALISE_FIELD(vls_json_answer, value, VALUE, 0, "The value."),
    VALISE_FIELD_END,
};

vls_arena *vls_json_arena(valise_view *view)
{
    return &view->arena;
}

int vls_json_argument(vls_json *out, valise_view *view, const valise_content *content,
                      valise_error *err)
{
    return vls_json_parse(out, &view->arena, content->bytes, NULL, err);
}

int vls_json_shown(valise_str *out, valise_view *view, vls_json value, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, view->arena.env, (size_t)1 << 30);
    rc = vls_json_write(&text, value, err);
    return rc < 0 ? rc : vls_arena_dup(out, &view->arena, vls_buf_str(&text), err);
}

int vls_json_content(valise_content *out, valise_view *view, vls_json value, valise_error *err)
{
    valise_str text;
    int rc = vls_json_shown(&text, view, value, err);

    if (rc == 0)
        *out = (valise_content){.bytes = text, .size = (int64_t)text.len};
    return rc;
}
