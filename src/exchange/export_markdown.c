/* export_markdown.c -- a session for people to read: a heading for each turn, calls and results in
 * fences, blobs by name and hash.
 *
 * What was said is data: what a terminal would obey is written as an escape. */
#include "base/text.h"
#include "base/time.h"
#include "chat/rows.h"
#include "exchange/export.h"

#define KEEP (VLS_TEXT_KEEP_NEWLINE | VLS_TEXT_KEEP_TAB | VLS_TEXT_KEEP_BACKSLASH)

static void add_data(vls_exporting *e, valise_str text)
{
    vls_text_neutralize(e->out, text, KEEP);
}

/* In one line. */
static void add_word(vls_exporting *e, valise_str text)
{
    vls_text_neutralize(e->out, text, VLS_TEXT_KEEP_BACKSLASH);
}

/* A fence is longer than any run of backticks in what it holds. */
static void add_fenced(vls_exporting *e, const char *language, valise_str text)
{
    size_t run = 0, fence = 3;

    for (size_t i = 0; i < text.len; i++) {
        run = text.ptr[i] == '`' ? run + 1 : 0;
        fence = VLS_MAX(fence, run + 1);
    }
    for (size_t i = 0; i < fence; i++)
        vls_buf_add_byte(e->out, '`');
    vls_buf_add_text(e->out, language);
    vls_buf_add_byte(e->out, '\n');
    add_data(e, text);
    if (!vls_str_ends(text, VLS_STR("\n")))
        vls_buf_add_byte(e->out, '\n');
    for (size_t i = 0; i < fence; i++)
        vls_buf_add_byte(e->out, '`');
    vls_buf_add_text(e->out, "\n\n");
}

static int add_paragraph(vls_exporting *e, valise_str text, valise_error *err)
{
    valise_str said = {NULL, 0};
    bool tame = true;
    int rc = vls_export_said(&said, &tame, e->arena, text, err);

    if (rc < 0)
        return rc;
    if (tame)
        add_data(e, said);
    else
        add_fenced(e, "", text);
    vls_buf_add_text(e->out, tame ? "\n\n" : "");
    return 0;
}

static int add_json(vls_exporting *e, vls_json value, valise_error *err)
{
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, e->arena, UINT32_MAX);
    rc = vls_json_write_pretty(&text, value, err);
    if (rc == 0)
        rc = vls_buf_check(&text, err);
    if (rc == 0)
        add_fenced(e, "json", vls_buf_str(&text));
    return rc;
}

static void add_blob(vls_exporting *e, vls_json block)
{
    valise_str name = vls_text_of(block, "filename"), type = vls_text_of(block, "mediaType");

    vls_buf_add_text(e->out, "*");
    add_word(e, vls_text_of(block, "type"));
    if (name.len > 0) {
        vls_buf_add_byte(e->out, ' ');
        add_word(e, name);
    }
    vls_buf_add_text(e->out, "* ");
    if (type.len > 0) {
        vls_buf_add_byte(e->out, '(');
        add_word(e, type);
        vls_buf_add_text(e->out, ") ");
    }
    vls_buf_add_text(e->out, "blob `");
    add_word(e, vls_text_of(block, "blob"));
    vls_buf_add_text(e->out, "`\n\n");
}

static int add_result(vls_exporting *e, vls_json block, valise_error *err)
{
    vls_json content = vls_member_of(block, "content");

    vls_buf_add_text(e->out,
                     vls_truth_of(block, "isError") ? "**failed**, call `" : "**result**, call `");
    add_word(e, vls_text_of(block, "callId"));
    vls_buf_add_text(e->out, "`\n\n");
    if (content.type == VLS_JSON_STRING)
        add_fenced(e, "", vls_json_str(content));
    for (uint32_t i = 0; content.type == VLS_JSON_ARRAY && i < content.len; i++) {
        vls_json one = content.items[i];
        int rc = 0;
        if (vls_text_of(one, "text").ptr)
            add_fenced(e, "", vls_text_of(one, "text"));
        else if (vls_text_of(one, "blob").ptr)
            add_blob(e, one);
        else
            rc = add_json(e, one, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int add_call(vls_exporting *e, vls_json block, valise_error *err)
{
    vls_buf_add_text(e->out, "**calls** `");
    add_word(e, vls_text_of(block, "name"));
    vls_buf_add_text(e->out, "`, call `");
    add_word(e, vls_text_of(block, "callId"));
    vls_buf_add_text(e->out, "`\n\n");
    return add_json(e, vls_member_of(block, "args"), err);
}

static int add_block(vls_exporting *e, vls_json block, valise_error *err)
{
    valise_str type = vls_text_of(block, "type"), text = vls_text_of(block, "text");

    if (vls_type_is(type, "thinking")) {
        if (!e->everything) {
            e->dropped.thinking++;
            return 0;
        }
        vls_buf_add_text(e->out, "*thinking*\n\n");
        add_fenced(e, "", text);
        return 0;
    }
    if (vls_type_is(type, "tool_use"))
        return add_call(e, block, err);
    if (vls_type_is(type, "tool_result"))
        return add_result(e, block, err);
    if (vls_text_of(block, "blob").ptr)
        add_blob(e, block);
    else if (vls_type_is(type, "text") || vls_type_is(type, "document"))
        return add_paragraph(e, text, err);
    else if (vls_type_is(type, "summary")) {
        vls_buf_add_text(e->out, "*summary of what was said before*\n\n");
        return add_paragraph(e, text, err);
    } else if (vls_type_is(type, "role:transition")) {
        vls_buf_add_text(e->out, "*from here on as ");
        add_word(e, vls_text_of(block, "to"));
        vls_buf_add_text(e->out, "*\n\n");
    } else {
        return add_json(e, block, err);
    }
    return 0;
}

static int write_turn(void *arg, const vls_turn_row *turn, valise_error *err)
{
    vls_exporting *e = arg;
    vls_json blocks = vls_json_null();
    int rc;

    vls_arena_reset(e->arena);
    if (turn->hidden && !e->everything) {
        e->dropped.hidden++;
        return 0;
    }
    rc = vls_export_blocks(&blocks, e, turn, err);
    if (rc < 0)
        return rc;
    vls_buf_printf(e->out, "## %s, %s%s%s\n\n", vls_turn_roles[turn->role],
                   vls_time_text_of(turn->time).s, turn->hidden ? ", hidden" : "",
                   turn->noprompt ? ", not shown to models" : "");
    if (rc == 0) {
        vls_buf_add_text(e->out, "*erased*\n\n");
        return 0;
    }
    e->turns++;
    rc = 0;
    for (uint32_t i = 0; rc == 0 && i < blocks.len; i++)
        rc = add_block(e, blocks.items[i], err);
    return rc < 0 ? rc : vls_export_flush(e, err);
}

int vls_export_markdown(vls_exporting *e, const vls_session_row *session, const vls_trail *trail,
                        valise_error *err)
{
    vls_buf_add_text(e->out, "# ");
    if (session->label.len > 0)
        add_word(e, session->label);
    else
        vls_buf_add_text(e->out, "A conversation");
    vls_buf_printf(e->out, "\n\nBegun %s.\n\n", vls_time_text_of(session->created).s);
    return vls_trail_each(trail, e->view, 0, false, write_turn, e, err);
}
