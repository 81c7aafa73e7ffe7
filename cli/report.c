/* report.c -- how a report is shown: shares, a table of types and one of agents, and the first of
 * what does not hold. */
#include "cli/frames.h"

#include "base/text.h"
#include "cli/backpack.h"
#include "cli/paths.h"

#define LISTED 10u

/* "files:       2 of 3 have something fresh (66 %)" */
static void add_share(cli *c, const char *label, vls_json answer, const char *part_name,
                      const char *all_name)
{
    long long part = (long long)cli_number_of(answer, part_name),
              all = (long long)cli_number_of(answer, all_name);

    cli_style_begin(c->out, CLI_BOLD);
    vls_buf_add_text(&c->out->text, label);
    cli_style_end(c->out, CLI_BOLD);
    vls_buf_printf(&c->out->text, "%lld of %lld", part, all);
    if (all > 0)
        vls_buf_printf(&c->out->text, " (%lld %%)", part * 100 / all);
    vls_buf_add_byte(&c->out->text, '\n');
}

static int add_lines(cli *c, const valise_op *op, vls_json answer, const char *list,
                     const char *heading, valise_error *err)
{
    const char *const columns[] = {heading,    "heads", "fresh", "stale", "invalidated",
                                   "orphaned", "files", "dirs",  NULL};
    vls_json lines = vls_member_of(answer, list);
    cli_table table;
    int rc = 0;

    if (lines.len == 0)
        return 0;
    vls_buf_add_byte(&c->out->text, '\n');
    cli_table_init(&table, c, cli_list_fields(op, list), columns);
    for (uint32_t i = 0; rc == 0 && i < lines.len; i++)
        rc = cli_table_add(&table, lines.items[i], err);
    if (rc == 0)
        rc = cli_table_end(&table, err);
    cli_table_release(&table);
    return rc;
}

static int add_kind(cli *c, vls_json answer, const char *name, const char *title, valise_error *err)
{
    vls_json kind = vls_member_of(answer, name), first = vls_member_of(kind, "first");
    long long count = (long long)cli_number_of(kind, "count");
    uint32_t shown = VLS_MIN(first.len, LISTED);
    int rc = 0;

    if (count == 0)
        return 0;
    vls_buf_printf(&c->out->text, "\n%s: %lld\n", title, count);
    for (uint32_t i = 0; rc == 0 && i < shown; i++) {
        vls_json item = first.items[i];
        vls_buf_add_text(&c->out->text, "    ");
        cli_add_path(&c->out->text, c, vls_member_of(item, "path"));
        vls_buf_add_text(&c->out->text, "  ");
        vls_text_neutralize(&c->out->text, cli_text_of(item, "type"), VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_text(&c->out->text, "  ");
        vls_text_neutralize(&c->out->text, cli_text_of(item, "agent"), VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_byte(&c->out->text, '\n');
        rc = cli_out_row(c->out, err);
    }
    if (count > (long long)shown)
        vls_buf_printf(&c->out->text, "    and %lld more\n", count - (long long)shown);
    return rc;
}

static bool wants_json(const cli *c)
{
    return c->payload && vls_str_equal(cli_text_of(*c->payload, "format"), VLS_STR("json"));
}

static int print_text(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    static const struct {
        const char *name, *title;
    } kinds[] = {{"stale", "stale"},
                 {"invalidated", "invalidated"},
                 {"orphaned", "orphaned"},
                 {"needsAuthor", "need their author"},
                 {"corrupt", "corrupt"}};
    int rc = cli_locate(c, err);

    if (rc < 0)
        return rc;
    cli_out_page(c->out, c);
    add_share(c, "covered files:       ", answer, "coveredFiles", "files");
    add_share(c, "covered directories: ", answer, "coveredDirs", "dirs");
    add_share(c, "fresh:               ", answer, "fresh", "heads");
    rc = add_lines(c, op, answer, "types", "name=TYPE", err);
    if (rc == 0)
        rc = add_lines(c, op, answer, "agents", "name=AGENT", err);
    for (size_t i = 0; rc == 0 && i < VLS_COUNT(kinds); i++)
        rc = add_kind(c, answer, kinds[i].name, kinds[i].title, err);
    return rc;
}

int cli_print_report(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    const vls_json *document = vls_json_get(answer, VLS_STR("document"));
    int rc;

    if (document && document->type == VLS_JSON_STRING) { /* made harmless when it was written */
        vls_buf_add(&c->out->text, cli_text_of(answer, "document"));
        return 0;
    }
    if (!wants_json(c))
        return print_text(c, op, answer, err);
    rc = vls_json_write(&c->out->text, answer, err);
    vls_buf_add_byte(&c->out->text, '\n');
    return rc;
}

int cli_status_of_report(const cli *c, vls_json answer)
{
    const vls_json *failed = vls_json_get(answer, VLS_STR("failed"));

    (void)c;
    return failed && failed->type == VLS_JSON_BOOL && failed->truth ? CLI_DIFFERENT : CLI_DONE;
}
