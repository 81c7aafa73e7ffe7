/* blocks_brief.c -- blocks in few words, for lists and drawings. */
#include "base/text.h"
#include "chat/blocks.h"

#define TEXT_MAX 400u /* bytes of a text that are looked at */

static valise_str text_of(vls_json block, const char *name)
{
    const vls_json *member = vls_json_get(block, valise_str_of(name));

    return member && member->type == VLS_JSON_STRING ? vls_json_str(*member) : VLS_STR("");
}

static void add_line(vls_buf *out, valise_str text)
{
    vls_text_add_line(out, text, TEXT_MAX);
}

static void add_named(vls_buf *out, const char *what, valise_str name)
{
    vls_buf_add_text(out, what);
    if (name.len > 0) {
        vls_buf_add_byte(out, ' ');
        add_line(out, name);
    }
}

static void add_block(vls_buf *out, vls_json block, valise_str type)
{
    if (vls_str_equal(type, VLS_STR("tool_use"))) {
        add_line(out, text_of(block, "name"));
        vls_buf_add_text(out, "(...)");
    } else if (vls_str_equal(type, VLS_STR("tool_result"))) {
        add_named(out, "result of", text_of(block, "callId"));
    } else if (vls_str_equal(type, VLS_STR("role:transition"))) {
        add_named(out, "role", text_of(block, "to"));
    } else if (vls_str_equal(type, VLS_STR("image")) || vls_str_equal(type, VLS_STR("document"))) {
        valise_str name = text_of(block, "filename");
        add_named(out, vls_str_equal(type, VLS_STR("image")) ? "image" : "document",
                  name.len > 0 ? name : text_of(block, "mediaType"));
    } else {
        add_line(out, type);
    }
}

void vls_blocks_brief(vls_buf *out, vls_json all)
{
    uint32_t count = all.type == VLS_JSON_ARRAY ? all.len : 0;

    for (uint32_t i = 0; i < count; i++) {
        valise_str type = text_of(all.items[i], "type");
        if (vls_str_equal(type, VLS_STR("text")) || vls_str_equal(type, VLS_STR("summary"))) {
            add_line(out, text_of(all.items[i], "text"));
            return;
        }
    }
    if (count > 0)
        add_block(out, all.items[0], text_of(all.items[0], "type"));
}
