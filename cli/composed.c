/* composed.c -- how a composition is shown: each frame as a line of what it is and its content
 * below, then in a few lines how much there was; or, with --explain, a table of scores. */
#include <limits.h>

#include "cli/frames.h"

#include "base/text.h"
#include "cli/backpack.h"
#include "cli/paths.h"

#define LISTED 5u /* of what was left out */

/* "lib/date.c  parent  summary 1f2e3d4c  fresh  local  12 tokens" */
static void add_title(cli *c, vls_json row)
{
    VLS_AUTO(buf) vls_buf state = {0};

    vls_buf_init(&state, c->env, (size_t)4 * PATH_MAX);
    cli_add_state(&state, c, row);
    cli_style_begin(c->out, CLI_YELLOW);
    cli_add_path(&c->out->text, c, vls_member_of(row, "path"));
    cli_style_end(c->out, CLI_YELLOW);
    cli_add_text(c, "  ");
    cli_add_inline(c, cli_text_of(row, "relation"));
    cli_add_text(c, "  ");
    cli_add_inline(c, cli_text_of(row, "type"));
    cli_add_text(c, " ");
    cli_add_id(c, row, "frameId");
    cli_add_text(c, "  ");
    cli_style_begin(c->out, cli_style_of_state(vls_buf_str(&state)));
    cli_add_inline(c, vls_buf_str(&state));
    cli_style_end(c->out, cli_style_of_state(vls_buf_str(&state)));
    cli_add_text(c, "  ");
    cli_add_inline(c, cli_text_of(row, "agent"));
    cli_add_text(c, "  ");
    cli_add_count(&c->out->text, cli_number_of(row, "tokens"), "token", "tokens");
    cli_add_text(c, "\n\n");
}

static int add_entries(cli *c, vls_json entries, valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < entries.len; i++) {
        add_title(c, entries.items[i]);
        rc = cli_add_frame_content(c, entries.items[i], err);
        cli_add_text(c, "\n");
        if (rc == 0)
            rc = cli_out_row(c->out, err);
    }
    return rc;
}

/* ---- scores ---- */

const valise_field *cli_list_fields(const valise_op *op, const char *list)
{
    const valise_field *field = op->out;
    const valise_struct *item;

    while (strcmp(field->name, list) != 0)
        field++;
    item = ((const valise_field *)field->more)->more;
    return item->fields;
}

static int add_scores(cli *c, const valise_op *op, vls_json entries, valise_error *err)
{
    static const char *const columns[] = {"path~",
                                          "relation?",
                                          "type",
                                          "frameId?=FRAME",
                                          "state",
                                          "score.total=SCORE",
                                          "score.relation=+RELATION",
                                          "score.type=+TYPE",
                                          "score.agent=+AGENT",
                                          "score.freshness=+FRESH",
                                          "score.query=+QUERY",
                                          NULL};
    cli_table table;
    int rc = 0;

    cli_table_init(&table, c, cli_list_fields(op, "entries"), columns);
    table.cell = cli_frame_cell;
    for (uint32_t i = 0; rc == 0 && i < entries.len; i++)
        rc = cli_table_add(&table, entries.items[i], err);
    if (rc == 0 && entries.len > 0)
        rc = cli_table_end(&table, err);
    cli_table_release(&table);
    if (entries.len > 0)
        cli_add_text(c, "\n");
    return rc;
}

/* ---- how much ---- */

/* "cut: 3 frames" and which. */
static void add_left(cli *c, vls_json answer, const char *name, const char *count_name,
                     const char *what)
{
    vls_json list = vls_member_of(answer, name);
    long long count = (long long)cli_number_of(answer, count_name);

    if (count == 0)
        return;
    vls_buf_printf(&c->out->text, "%s: ", what);
    cli_add_count(&c->out->text, cli_number_of(answer, count_name), "frame", "frames");
    cli_add_text(c, "\n");
    for (uint32_t i = 0; i < VLS_MIN(list.len, LISTED); i++) {
        cli_add_text(c, "    ");
        cli_add_path(&c->out->text, c, vls_member_of(list.items[i], "path"));
        cli_add_text(c, " ");
        cli_add_inline(c, cli_text_of(list.items[i], "type"));
        cli_add_text(c, " ");
        cli_add_id(c, list.items[i], "frameId");
        cli_add_text(c, "\n");
    }
    if (list.len > 0 && count > (long long)VLS_MIN(list.len, LISTED))
        vls_buf_printf(&c->out->text, "    and %lld more\n",
                       count - (long long)VLS_MIN(list.len, LISTED));
}

static void add_counts(cli *c, vls_json answer)
{
    long long candidates = (long long)cli_number_of(answer, "candidates"),
              returned = (long long)cli_number_of(answer, "returned");

    if (candidates == 0)
        cli_add_text(c, "no frames");
    else if (candidates == returned)
        cli_add_count(&c->out->text, cli_number_of(answer, "returned"), "frame", "frames");
    else
        vls_buf_printf(&c->out->text, "%lld of %lld frames", returned, candidates);
    if (returned > 0) {
        cli_add_text(c, ", ");
        cli_add_count(&c->out->text, cli_number_of(answer, "tokens"), "token", "tokens");
    }
    cli_add_text(c, ", policy ");
    cli_add_id(c, answer, "policyHash");
    cli_add_text(c, "\n");
    add_left(c, answer, "cut", "cutCount", "over the limits");
    add_left(c, answer, "missing", "missingCount", "erased");
    add_left(c, answer, "corrupt", "corruptCount", "damaged");
}

int cli_print_composed(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    vls_json entries = vls_member_of(answer, "entries");
    const vls_json *first = entries.len > 0 ? &entries.items[0] : NULL;
    int rc;

    cli_out_page(c->out, c);
    if (first && vls_json_get(*first, VLS_STR("score")))
        rc = add_scores(c, op, entries, err);
    else
        rc = add_entries(c, entries, err);
    if (rc == 0)
        add_counts(c, answer);
    return rc;
}
