/* found.c -- how a hit of a search is shown: a line of what it is and where, and its text below
 * with the words in colour. */
#include "cli/found.h"

#include "base/text.h"
#include "cli/backpack.h"
#include "cli/paths.h"
#include "cli/turns.h"

/* "frame    lib/date.c [summary]  2026-01-02T03:04:05Z  food, code" */
static void add_title(cli *c, vls_json row)
{
    static const valise_field time_field = {.name = "time", .type = VALISE_T_TIME};
    vls_json path = vls_member_of(row, "path"), topics = vls_member_of(row, "topics");
    valise_str ref = cli_text_of(row, "ref"), key = cli_text_of(row, "key");

    vls_buf_printf(&c->out->text, "%-8.*s ", VALISE_STR_ARG(cli_text_of(row, "kind")));
    cli_style_begin(c->out, CLI_YELLOW);
    if (path.type != VLS_JSON_NULL) {
        cli_add_path(&c->out->text, c, path);
        vls_buf_add_text(&c->out->text, " [");
        cli_add_data(c->out, cli_text_of(row, "type"), 0);
        vls_buf_add_text(&c->out->text, "]");
    } else {
        cli_add_data(c->out, ref.len > 0 ? cli_short_ref(ref) : key, 0);
    }
    cli_style_end(c->out, CLI_YELLOW);
    if (vls_member_of(row, "time").type != VLS_JSON_NULL) {
        vls_buf_add_text(&c->out->text, "  ");
        cli_show(&c->out->text, &time_field, vls_member_of(row, "time"));
    }
    for (uint32_t i = 0; topics.type == VLS_JSON_ARRAY && i < topics.len; i++) {
        vls_buf_add_text(&c->out->text, i ? ", " : "  ");
        cli_add_data(c->out, vls_json_str(topics.items[i]), 0);
    }
    vls_buf_add_byte(&c->out->text, '\n');
}

/* Marks are pairs of bytes within the snippet, in order: whatever they say, no byte is read that is
 * not there. */
static void add_snippet(cli *c, vls_json row)
{
    valise_str text = cli_text_of(row, "snippet");
    vls_json marks = vls_member_of(row, "marks");
    size_t at = 0;

    vls_buf_add_text(&c->out->text, "    ");
    for (uint32_t i = 0; marks.type == VLS_JSON_ARRAY && i + 1 < marks.len; i += 2) {
        int64_t from = marks.items[i].integer, to = marks.items[i + 1].integer;
        if (from < (int64_t)at || to < from || to > (int64_t)text.len)
            break;
        cli_add_data(c->out, vls_str(text.ptr + at, (size_t)from - at), 0);
        cli_style_begin(c->out, CLI_RED);
        cli_add_data(c->out, vls_str(text.ptr + from, (size_t)(to - from)), 0);
        cli_style_end(c->out, CLI_RED);
        at = (size_t)to;
    }
    cli_add_data(c->out, vls_str_from(text, at), 0);
    vls_buf_add_byte(&c->out->text, '\n');
}

int cli_print_hit(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    (void)op;
    (void)err;
    add_title(c, row);
    if (cli_text_of(row, "snippet").len > 0)
        add_snippet(c, row);
    return 0;
}
