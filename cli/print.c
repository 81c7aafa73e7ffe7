/* print.c -- answers, whole ones and lists. */
#include "cli/print.h"

#include "base/mem.h"
#include "base/text.h"

#define ROW_MAX_BYTES ((size_t)1 << 30)

/* JSON as it is, in a line; what steers a terminal is escaped there. */
static void add_json_line(cli_out *out, valise_str json)
{
    cli_add_data(out, json, 0);
    vls_buf_add_byte(&out->text, '\n');
}

static int add_value_line(cli *c, vls_json value, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, c->env, ROW_MAX_BYTES);
    rc = vls_json_write_around(&text, value, err);
    if (rc == 0)
        add_json_line(c->out, vls_buf_str(&text));
    return rc;
}

/* A member alone: a text as it is, everything else as JSON. */
static int add_member(cli *c, const valise_op *op, const char *name, vls_json value,
                      valise_error *err)
{
    const vls_json *member = vls_json_get(value, valise_str_of(name));
    const valise_field *field = vls_fields_find(op->out, valise_str_of(name));

    if (!member || !field)
        return 0;
    bool json =
        c->options.json ||
        (!c->options.text && (field->type == VALISE_T_VALUE || field->type == VALISE_T_JSON));
    if (member->type != VLS_JSON_STRING || json)
        return add_value_line(c, *member, err);
    cli_add_data(c->out, vls_json_str(*member), VLS_TEXT_KEEP_NEWLINE);
    if (!vls_str_ends(vls_json_str(*member), VLS_STR("\n")))
        vls_buf_add_byte(&c->out->text, '\n');
    return 0;
}

static int print_for_people(cli *c, const valise_op *op, const cli_printer *printer, vls_json value,
                            valise_error *err)
{
    if (printer && printer->print)
        return printer->print(c, op, value, err);
    if (printer && printer->human_member)
        return add_member(c, op, printer->human_member, value, err);
    return !op->out ? 0 : cli_show_object(c, op->out, value, 0, err);
}

/* With --quiet the exit code is the answer of what does something. What only looks still says what
 * it saw: nobody would ask otherwise. */
static bool is_silent(const cli *c, const valise_op *op)
{
    return c->options.quiet && (op->kind == VALISE_COMMAND || op->kind == VALISE_JOB);
}

int cli_print_answer(int *status, cli *c, const valise_op *op, valise_str json, valise_error *err)
{
    const cli_printer *printer = cli_printer_of(op);
    vls_json value;
    int rc = vls_json_parse(
        &value, &c->arena, json,
        &(vls_json_limits){.max_bytes = UINT32_MAX - 1, .around = VLS_JSON_MAX_AROUND}, err);

    if (rc < 0)
        return rc;
    if (printer && printer->warn && !c->options.json)
        rc = printer->warn(c, value, err);
    if (rc < 0 || is_silent(c, op))
        ; /* the exit code is all there is to tell */
    else if (!c->options.json)
        rc = print_for_people(c, op, printer, value, err);
    else if (printer && printer->json_member)
        rc = add_member(c, op, printer->json_member, value, err);
    else
        add_json_line(c->out, json);
    if (rc == 0)
        *status = printer && printer->status ? printer->status(c, value) : CLI_DONE;
    return rc;
}

/* ---- lists ---- */

struct cli_rows {
    cli *c;
    const valise_op *op;
    const cli_printer *printer;
    vls_arena arena; /* of one row */
    cli_table table;
    size_t count;
    int status; /* what the rows make of it */
};

int cli_rows_new(cli_rows **out, cli *c, const valise_op *op, valise_error *err)
{
    cli_rows *rows = vls_mem_zalloc(c->env, sizeof(*rows));

    if (!rows)
        return vls_fail_memory(err);
    rows->c = c;
    rows->op = op;
    rows->printer = cli_printer_of(op);
    vls_arena_init(&rows->arena, c->env, ROW_MAX_BYTES);
    cli_table_init(&rows->table, c, op->out, rows->printer ? rows->printer->columns : NULL);
    rows->table.cell = rows->printer ? rows->printer->cell : NULL;
    cli_out_page(c->out, c);
    *out = rows;
    return 0;
}

void cli_rows_free(cli_rows *rows)
{
    if (!rows)
        return;
    cli_table_release(&rows->table);
    vls_arena_release(&rows->arena);
    vls_mem_free(rows->c->env, rows, sizeof(*rows));
}

int cli_rows_add(cli_rows *rows, valise_str json, valise_error *err)
{
    const cli_printer *printer = rows->printer;
    vls_json value;
    int rc;

    rows->count++;
    if (is_silent(rows->c, rows->op))
        return cli_check_interrupt(err);
    if (rows->c->options.json)
        add_json_line(rows->c->out, json);
    if (rows->c->options.json && !(printer && printer->status))
        return cli_out_row(rows->c->out, err);
    vls_arena_reset(&rows->arena);
    rc = vls_json_parse(&value, &rows->arena, json,
                        &(vls_json_limits){.around = VLS_JSON_MAX_AROUND}, err);
    if (rc < 0)
        return rc;
    if (printer && printer->status) {
        int status = printer->status(rows->c, value);
        rows->status = VLS_MAX(rows->status, status);
    }
    if (rows->c->options.json)
        return cli_out_row(rows->c->out, err);
    if (!printer || !printer->print)
        return cli_table_add(&rows->table, value, err);
    if (rows->c->options.oneline && printer->brief)
        rc = printer->brief(rows->c, rows->op, value, err);
    else
        rc = printer->print(rows->c, rows->op, value, err);
    return rc < 0 ? rc : cli_out_row(rows->c->out, err);
}

int cli_rows_end(cli_rows *rows, valise_error *err)
{
    return rows->c->options.json ? 0 : cli_table_end(&rows->table, err);
}

int cli_rows_status(const cli_rows *rows)
{
    /* Where a row can say so itself, not all of them are differences. */
    bool differs =
        rows->printer && rows->printer->differs && !rows->printer->status && rows->count > 0;

    return differs && rows->c->options.exit_code ? CLI_DIFFERENT : rows->status;
}

int cli_rows_flush(cli_rows *rows, valise_error *err)
{
    int rc = rows->c->options.json ? 0 : cli_table_flush(&rows->table, err);

    return rc < 0 ? rc : cli_out_flush(rows->c->out, err);
}
