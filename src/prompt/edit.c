/* edit.c -- what is done to the blocks of a turn on their way into a prompt.
 *
 * The words are the builder's own and never change without VLS_BUILDER_VERSION. */
#include "prompt/edit.h"

#include "base/hex.h"
#include "base/utf8.h"
#include "json/make.h"

int vls_text_block(vls_json *out, vls_arena *arena, valise_str text, valise_error *err)
{
    return VLS_PAIRS(out, arena, err, {"text", vls_json_string(text), false},
                     {"type", vls_json_string(VLS_STR("text")), false});
}

static int say(valise_str *out, vls_arena *arena, valise_error *err, const char *format, ...)
    VALISE_PRINTF(4, 5);

static int say(valise_str *out, vls_arena *arena, valise_error *err, const char *format, ...)
{
    vls_buf text;
    va_list args;

    vls_buf_init_in(&text, arena, VLS_NEUTRAL_MAX_BYTES);
    va_start(args, format);
    vls_buf_vprintf(&text, format, args);
    va_end(args);
    return vls_buf_keep(out, &text, err);
}

/* The first a and the last b bytes, and what is missing between them. The same text where that
 * would not be shorter. */
static int cut(valise_str *out, vls_arena *arena, const vls_part *part, const vls_prompt_edit *edit,
               valise_str text, valise_error *err)
{
    size_t a = edit->a > 0 ? (size_t)edit->a : 0, b = edit->b > 0 ? (size_t)edit->b : 0;
    valise_str head = vls_utf8_head(text, a), tail = vls_utf8_tail(text, b);

    *out = text;
    if (a >= text.len || b >= text.len - a)
        return 0;
    return say(out, arena, err,
               "%.*s\n[%zu bytes are left out here; the whole is in turn %.*s]\n%.*s",
               VALISE_STR_ARG(head), text.len - head.len - tail.len, VALISE_STR_ARG(part->name),
               VALISE_STR_ARG(tail));
}

/* What a picture or a file is called, for a line that stands for it. */
static valise_str file_name(vls_json block)
{
    valise_str name = vls_text_of(block, "filename");

    return name.ptr ? name : VLS_STR("without a name");
}

static int edit_asset(vls_json *made, vls_arena *arena, const vls_prompt_edit *edit,
                      valise_error *err)
{
    int rc = vls_json_with(made, arena, *made, "size", vls_json_int(edit->a), err);

    if (rc == 0)
        rc = vls_json_with(made, arena, *made, "mediaType", vls_json_string(edit->text), err);
    if (rc < 0)
        return rc;
    /* An id that somebody wrote into the turn would go to every provider. */
    return edit->more.len > 0
               ? vls_json_with(made, arena, *made, "fileId", vls_json_string(edit->more), err)
               : vls_json_without(made, arena, *made, "fileId", err);
}

static int edit_file_text(vls_json *made, const vls_editing *e, const vls_prompt_edit *edit,
                          valise_error *err)
{
    valise_str text = {NULL, 0};
    valise_id blob;
    int rc;

    if (!e->file_text || vls_id_parse(&blob, vls_text_of(*made, "blob"), NULL) < 0)
        return 0;
    rc = edit_asset(made, e->arena, edit, err);
    if (rc == 0)
        rc = e->file_text(&text, e->arg, e->part, edit, &blob, err);
    return rc < 0 ? rc : vls_json_with(made, e->arena, *made, "text", vls_json_string(text), err);
}

/* Of a block within a result, or of a block itself that is text or media. */
static int edit_one(vls_json *block, const vls_editing *e, const vls_prompt_edit *edit,
                    valise_error *err)
{
    valise_str text = vls_text_of(*block, "text"), type = vls_text_of(*block, "type");
    vls_json made = *block;
    int rc = 0;

    if (edit->kind == VLS_EDIT_CUT && text.ptr) {
        rc = cut(&text, e->arena, e->part, edit, text, err);
        if (rc == 0)
            rc = vls_json_with(&made, e->arena, made, "text", vls_json_string(text), err);
    } else if (edit->kind == VLS_EDIT_TEXT) {
        rc = say(&text, e->arena, err, "[%.*s %.*s: %.*s]", VALISE_STR_ARG(type),
                 VALISE_STR_ARG(file_name(*block)), VALISE_STR_ARG(edit->text));
        if (rc == 0)
            rc = vls_text_block(&made, e->arena, text, err);
    } else if (edit->kind == VLS_EDIT_ASSET) {
        rc = edit_asset(&made, e->arena, edit, err);
    } else if (edit->kind == VLS_EDIT_FILE_TEXT) {
        rc = edit_file_text(&made, e, edit, err);
    }
    if (rc == 0)
        *block = made;
    return rc;
}

/* The content of a result as a whole. */
static int edit_content(vls_json *block, const vls_editing *e, const vls_prompt_edit *edit,
                        valise_error *err)
{
    vls_json content = vls_member_of(*block, "content");
    valise_str text = {NULL, 0};
    int rc = 0;

    if (edit->kind == VLS_EDIT_CLEAR)
        rc = say(&text, e->arena, err, "[The result was cleared; it is in turn %.*s.]",
                 VALISE_STR_ARG(e->part->name));
    else if (edit->kind == VLS_EDIT_CUT && content.type == VLS_JSON_STRING)
        rc = cut(&text, e->arena, e->part, edit, vls_json_str(content), err);
    if (rc < 0 || !text.ptr)
        return rc;
    return vls_json_with(block, e->arena, *block, "content", vls_json_string(text), err);
}

/* All edits of one block within a result: 1, or 0 when it is dropped. */
static int edit_inner(vls_json *item, const vls_editing *e, int32_t number, int32_t inner,
                      size_t from, size_t to, valise_error *err)
{
    for (size_t i = from; i < to; i++) {
        const vls_prompt_edit *edit = &e->part->edits.ptr[i];
        int rc;

        if (edit->block != number || edit->inner != inner)
            continue;
        if (edit->kind == VLS_EDIT_DROP)
            return 0;
        rc = edit_one(item, e, edit, err);
        if (rc < 0)
            return rc;
    }
    return 1;
}

/* Those with an `inner`, on a content that is a list. */
static int edit_items(vls_json *block, const vls_editing *e, int32_t number, size_t from, size_t to,
                      valise_error *err)
{
    vls_json content = vls_member_of(*block, "content");
    vls_json *items;
    size_t n = 0;

    if (content.type != VLS_JSON_ARRAY)
        return 0;
    items = vls_arena_array(e->arena, content.len + 1, sizeof(*items));
    if (!items)
        return vls_arena_fail(e->arena, err);
    for (uint32_t i = 0; i < content.len; i++) {
        vls_json item = content.items[i];
        int rc = edit_inner(&item, e, number, (int32_t)i, from, to, err);

        if (rc < 0)
            return rc;
        if (rc > 0)
            items[n++] = item;
    }
    return vls_json_with(block, e->arena, *block, "content", vls_json_array(items, n), err);
}

static bool is_result(vls_json block)
{
    return vls_str_equal(vls_text_of(block, "type"), VLS_STR("tool_result"));
}

static bool is_asset(const vls_prompt_edit *edit)
{
    return edit->kind == VLS_EDIT_ASSET || edit->kind == VLS_EDIT_FILE_TEXT;
}

int vls_edit_block(vls_json *out, const char **reason, const vls_editing *editing, vls_json block,
                   int32_t number, size_t *from, valise_error *err)
{
    const vls_part *part = editing->part;
    size_t first = *from, last = first;
    bool inner = false;
    int rc = 0;

    *reason = NULL;
    while (last < part->edits.len && part->edits.ptr[last].block == number)
        inner |= part->edits.ptr[last++].inner >= 0;
    *from = last;
    if (inner)
        rc = edit_items(&block, editing, number, first, last, err);
    for (size_t i = first; i < last && rc == 0; i++) {
        const vls_prompt_edit *edit = &part->edits.ptr[i];

        *reason = is_asset(edit) ? *reason : edit->reason;
        if (edit->inner >= 0)
            continue;
        if (edit->kind == VLS_EDIT_DROP)
            return 0;
        rc = is_result(block) ? edit_content(&block, editing, edit, err)
                              : edit_one(&block, editing, edit, err);
    }
    if (rc < 0)
        return rc;
    *out = block;
    return 1;
}
