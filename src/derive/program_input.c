/* program_input.c -- the JSON that a program gets as its input. Written, not built: contents may be
 * large, and one after the other is enough. */
#include "base/base64.h"
#include "base/utf8.h"
#include "derive/program.h"
#include "json/json.h"

static void add_bytes(vls_buf *out, valise_str bytes)
{
    vls_buf_add_byte(out, '"');
    vls_base64_encode(out, bytes);
    vls_buf_add_byte(out, '"');
}

/* "key":"text", or "key":{"base64":"..."} for what is no UTF-8. */
static void add_word(vls_buf *out, const char *key, valise_str word)
{
    vls_json_write_string(out, valise_str_of(key));
    vls_buf_add_byte(out, ':');
    if (vls_utf8_valid(word)) {
        vls_json_write_string(out, word);
        return;
    }
    vls_buf_add(out, VLS_STR("{\"base64\":"));
    add_bytes(out, word);
    vls_buf_add_byte(out, '}');
}

static int add_input(vls_buf *out, valise_making *making, size_t i, valise_error *err)
{
    const valise_policy_input *input = valise_making_input(making, i);
    valise_str content;
    int rc = valise_making_content(&content, making, i, err);

    if (rc < 0)
        return rc;
    vls_buf_add_text(out, i == 0 ? "{" : ",{");
    add_word(out, "agent", input->agent);
    if (vls_utf8_valid(content)) {
        vls_buf_add(out, VLS_STR(",\"content\":"));
        vls_json_write_string(out, content);
    } else {
        vls_buf_add(out, VLS_STR(",\"base64\":"));
        add_bytes(out, content);
    }
    vls_buf_add_text(out, input->directory ? ",\"directory\":true," : ",\"directory\":false,");
    add_word(out, "name", input->name);
    vls_buf_add_byte(out, ',');
    add_word(out, "type", input->type);
    vls_buf_add_byte(out, '}');
    return vls_buf_check(out, err);
}

static int add_params(vls_buf *out, vls_arena *arena, valise_str params, valise_error *err)
{
    vls_json v;
    int rc = vls_json_parse(&v, arena, params.len > 0 ? params : VLS_STR("{}"), NULL, err);

    if (rc < 0)
        return rc;
    if (v.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID,
                        "parameters of a program must be an object, not %s %s",
                        v.type == VLS_JSON_ARRAY ? "an" : "a", vls_json_type_name(v));
    return vls_json_write_around(out, v, err);
}

int vls_program_input(vls_buf *out, valise_making *making, valise_str params, valise_error *err)
{
    size_t begin = out->len;
    int rc = vls_buf_check(out, err);

    if (rc < 0)
        return rc;
    vls_buf_add_text(out, valise_making_is_empty(making) ? "{\"empty\":true" : "{\"empty\":false");
    vls_buf_add(out, VLS_STR(",\"inputs\":["));
    for (size_t i = 0; rc == 0 && i < valise_making_count(making); i++)
        rc = add_input(out, making, i, err);
    vls_buf_add(out, VLS_STR("],\"params\":"));
    if (rc == 0)
        rc = add_params(out, making->arena, params, err);
    vls_buf_add_byte(out, '}');
    if (rc == 0)
        rc = vls_buf_check(out, err);
    if (rc < 0) {
        out->len = begin;
        out->failed = 0;
    }
    return rc;
}
