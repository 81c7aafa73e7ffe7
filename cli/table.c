/* table.c -- lists as aligned columns.
 *
 * The first rows are held back to find the widths; what comes later is fitted into them. Cells
 * stand in one line whatever they hold. On a terminal rows are cut to its width, the widest
 * columns first; elsewhere nothing is ever cut. */
#include "cli/print.h"

#include "base/text.h"
#include "cli/frames.h"
#include "cli/paths.h"

#define SAMPLE_ROWS 200u
#define SAMPLE_BYTES ((size_t)4 << 20)
#define SAMPLE_NS INT64_C(200000000) /* rows that come slowly are not waited for */
#define CELL_MAX ((size_t)64 << 20)
#define GAP 2u
#define MIN_WIDTH 8u       /* a column is not made narrower than this */
#define MAIN_MIN_WIDTH 24u /* nor the one to give back and values, while others can go */

static bool is_number(const valise_field *field)
{
    return field->type == VALISE_T_INT || field->type == VALISE_T_REAL;
}

static bool is_whole(const valise_field *field)
{
    return is_number(field) || field->type == VALISE_T_ID || field->type == VALISE_T_UUID ||
           field->type == VALISE_T_TIME || field->type == VALISE_T_DURATION ||
           field->type == VALISE_T_ENUM;
}

/* SESSION ID */
static vls_field_name heading_of(const cli_column *column)
{
    vls_field_name words = vls_field_words(column->field->name, ' ');

    if (column->heading) {
        (void)snprintf(words.s, sizeof(words.s), "%s", column->heading);
        return words;
    }

    for (char *c = words.s; *c; c++) {
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    }
    return words;
}

static void add_column(cli_table *table, const valise_field *f, bool chosen)
{
    cli_column *column = &table->columns[table->column_count];

    if (f->flags & VALISE_HIDDEN || table->column_count == VLS_FIELDS_MAX)
        return;
    *column = (cli_column){.field = f, .right = is_number(f), .whole = is_whole(f)};
    column->main = chosen && table->column_count == 0;
    column->summary = chosen && f->type == VALISE_T_JSON;
    table->column_count++;
}

/* "size", or "meta.time". */
static const valise_field *find_field(const valise_field **outer, const valise_field *fields,
                                      valise_str name)
{
    const valise_field *found;
    valise_str first, rest;

    if (vls_str_cut(&first, &rest, name, '.')) {
        *outer = vls_fields_find(fields, first);
        assert(*outer && (*outer)->type == VALISE_T_STRUCT);
        fields = ((const valise_struct *)(*outer)->more)->fields;
        name = rest;
    }
    found = vls_fields_find(fields, name);
    assert(found);
    return found;
}

void cli_table_init(cli_table *table, cli *c, const valise_field *fields, const char *const *names)
{
    *table = (cli_table){.c = c, .out = c->out, .headings = !c->options.quiet};
    vls_arena_init(&table->arena, c->env, SAMPLE_BYTES + CELL_MAX);
    table->began_ns = c->env->ticks_ns(c->env->self);
    if (!names || !names[0]) {
        for (const valise_field *f = fields; f && f->type != VALISE_T_END; f++)
            add_column(table, f, false);
        return;
    }
    for (; *names; names++) {
        valise_str name, other, heading, all = valise_str_of(*names);
        size_t at = table->column_count;
        bool named = vls_str_cut(&name, &heading, all, '=');
        bool two = vls_str_cut(&name, &other, name, '|');
        bool extra = vls_str_cut(&name, &(valise_str){NULL, 0}, name, '*');
        bool spare = vls_str_cut(&name, &(valise_str){NULL, 0}, name, '?');
        bool path = vls_str_cut(&name, &(valise_str){NULL, 0}, name, '~');
        const valise_field *outer = NULL, *f = find_field(&outer, fields, name);
        add_column(table, f, true);
        if (table->column_count == at)
            continue;
        table->columns[at].heading = named ? heading.ptr : NULL;
        table->columns[at].spare = spare;
        table->columns[at].extra = extra;
        table->columns[at].path = path;
        table->columns[at].outer = outer;
        table->columns[at].other = two ? vls_fields_find(fields, other) : NULL;
        table->columns[at].value =
            f->type == VALISE_T_VALUE || vls_str_equal(name, VLS_STR("valueSummary"));
    }
}

void cli_table_release(cli_table *table)
{
    if (table->arena.env)
        vls_vec_release(&table->cells, table->arena.env);
    vls_arena_release(&table->arena);
}

/* ---- widths ---- */

static size_t total_width(const cli_table *table)
{
    size_t total = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].shown)
            total += table->columns[i].width + GAP;
    }
    return total > GAP ? total - GAP : 0;
}

/* The row with all columns as narrow as they may be. */
static size_t least_width(const cli_table *table)
{
    size_t total = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        const cli_column *column = &table->columns[i];
        size_t least = column->main || column->value ? MAIN_MIN_WIDTH : MIN_WIDTH;
        if (column->shown)
            total += (column->whole ? column->width : VLS_MIN(column->width, least)) + GAP;
    }
    return total > GAP ? total - GAP : 0;
}

/* Leave out what can be done without, the last first, until the rest has room. */
static void drop_columns(cli_table *table, size_t columns)
{
    for (size_t i = table->column_count; i-- > 0 && total_width(table) > columns;) {
        if (table->columns[i].extra)
            table->columns[i].shown = false;
    }
    for (size_t i = table->column_count; i-- > 0 && least_width(table) > columns;) {
        if (table->columns[i].spare)
            table->columns[i].shown = false;
    }
}

/* Take from the widest until the row fits, from the one to give back last. */
static void shrink(cli_table *table, size_t columns)
{
    size_t total = total_width(table);

    while (total > columns) {
        cli_column *widest = NULL;
        for (size_t i = 0; i < table->column_count; i++) {
            cli_column *column = &table->columns[i];
            size_t keep = column->main ? columns / 2 : MIN_WIDTH;
            if (column->shown && !column->whole && column->width > keep &&
                (!widest || column->width > widest->width))
                widest = column;
        }
        if (!widest && table->columns[0].main && table->columns[0].width > MIN_WIDTH &&
            !table->columns[0].whole)
            widest = &table->columns[0];
        if (!widest)
            return;
        widest->width--;
        total--;
    }
}

static void measure(cli_table *table)
{
    size_t count = table->column_count;

    for (size_t i = 0; i < table->cells.len; i++) {
        cli_column *column = &table->columns[i % count];
        size_t width = vls_text_width(table->cells.ptr[i]);
        if (width > 0)
            column->shown = true;
        if (width > column->width)
            column->width = width;
    }
    for (size_t i = 0; i < count; i++) {
        cli_column *column = &table->columns[i];
        size_t width = strlen(heading_of(column).s);
        if (table->cell && column->field->type == VALISE_T_ENUM)
            column->whole = false; /* "stale: the file changed" is more than a word */
        if (column->shown && table->headings && width > column->width)
            column->width = width;
        if (table->out->terminal && column->width > table->out->columns)
            column->width = table->out->columns;
    }
    if (table->out->terminal) {
        drop_columns(table, table->out->columns);
        shrink(table, table->out->columns);
    }
}

/* ---- rows ---- */

static void add_cell(cli_table *table, const cli_column *column, valise_str text, bool last)
{
    vls_buf *out = &table->out->text;
    size_t width = vls_text_width(text);
    uint32_t flags = column->right ? VLS_TEXT_PAD_FRONT : VLS_TEXT_PAD;

    bool whole = width > column->width && !table->out->terminal;
    bool bare = width <= column->width && last && !column->right; /* no spaces at a line's end */
    if (whole || bare)
        vls_buf_add(out, text);
    else
        vls_text_fit(out, text, column->width, last && !column->right ? 0 : flags);
}

static cli_style style_of(const cli_column *column, valise_str text)
{
    if (column->main)
        return CLI_YELLOW;
    if (column->value && vls_str_equal(text, VLS_STR(CLI_ERASED)))
        return CLI_DIM;
    if (column->field->type != VALISE_T_ENUM)
        return CLI_PLAIN;
    return vls_str_equal(text, VLS_STR("denied")) ? CLI_RED : cli_style_of_state(text);
}

static int add_line(cli_table *table, const valise_str *cells, cli_style style, valise_error *err)
{
    size_t last = table->column_count;

    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].shown && cells[i].len > 0)
            last = i; /* no spaces at a line's end */
    }
    cli_style_begin(table->out, style);
    for (size_t i = 0; i < table->column_count && i <= last; i++) {
        if (!table->columns[i].shown)
            continue;
        cli_style own = style == CLI_PLAIN ? style_of(&table->columns[i], cells[i]) : CLI_PLAIN;
        cli_style_begin(table->out, own);
        add_cell(table, &table->columns[i], cells[i], i == last);
        cli_style_end(table->out, own);
        if (i != last)
            vls_buf_add_text(&table->out->text, "  ");
    }
    cli_style_end(table->out, style);
    vls_buf_add_byte(&table->out->text, '\n');
    return cli_out_row(table->out, err);
}

static int start(cli_table *table, valise_error *err)
{
    vls_field_name names[VLS_FIELDS_MAX];
    valise_str heads[VLS_FIELDS_MAX] = {{NULL, 0}};
    size_t count = table->column_count;
    int rc = 0;

    measure(table);
    table->started = true;
    for (size_t i = 0; i < count; i++) {
        names[i] = heading_of(&table->columns[i]);
        heads[i] = valise_str_of(names[i].s);
    }
    if (table->headings && table->cells.len > 0)
        rc = add_line(table, heads, CLI_BOLD, err);
    for (size_t i = 0; i + count <= table->cells.len && count > 0 && rc == 0; i += count)
        rc = add_line(table, table->cells.ptr + i, CLI_PLAIN, err);
    table->cells.len = 0;
    vls_arena_reset(&table->arena);
    return rc;
}

static const vls_json *value_of(const cli_column *column, vls_json row)
{
    const vls_json *in =
        column->outer ? vls_json_get(row, valise_str_of(column->outer->name)) : &row;

    return in ? vls_json_get(*in, valise_str_of(column->field->name)) : NULL;
}

/* The text of a cell: one line, harmless, in the arena. ptr NULL: nothing is there. */
static int make_cell(valise_str *out, cli_table *table, const cli_column *column, vls_json row,
                     valise_error *err)
{
    const valise_field *field = column->field;
    const vls_json *value = value_of(column, row);
    VLS_AUTO(buf) vls_buf text = {0};
    VLS_AUTO(buf) vls_buf harmless = {0};
    int rc;

    *out = (valise_str){NULL, 0};
    if (!value && column->other) {
        field = column->other;
        value = vls_json_get(row, valise_str_of(field->name));
    }
    if (!value && column->value && cli_is_erased(row))
        return vls_arena_dup(out, &table->arena, VLS_STR(CLI_ERASED), err);
    if (!value || (value->type == VLS_JSON_NULL && field->type != VALISE_T_VALUE))
        return 0;
    vls_buf_init(&text, table->arena.env, CELL_MAX);
    vls_buf_init(&harmless, table->arena.env, CELL_MAX);
    if (table->cell && table->cell(&text, table->c, field->name, row))
        ; /* it has its own way */
    else if (column->path)
        cli_add_path(&text, table->c, *value);
    else if (column->summary)
        cli_show_summary(&text, *value, row);
    else
        cli_show(&text, field, *value);
    vls_text_neutralize(&harmless, vls_buf_str(&text), VLS_TEXT_KEEP_BACKSLASH);
    if (column->value && field == column->field && cli_is_cut(row))
        vls_buf_add_text(&harmless, CLI_MORE);
    rc = vls_buf_check(&text, err);
    if (rc == 0)
        rc = vls_buf_check(&harmless, err);
    return rc < 0 ? rc : vls_arena_dup(out, &table->arena, vls_buf_str(&harmless), err);
}

/* A column that was empty in all rows so far: better ragged than lost. */
static void show_late(cli_table *table, const valise_str *cells)
{
    for (size_t i = 0; i < table->column_count; i++) {
        cli_column *column = &table->columns[i];
        if (column->shown || cells[i].len == 0)
            continue;
        column->shown = true;
        column->width = vls_text_width(cells[i]);
    }
}

int cli_table_add(cli_table *table, vls_json row, valise_error *err)
{
    valise_str cells[VLS_FIELDS_MAX] = {{NULL, 0}};
    const valise_env *env = table->arena.env;
    int rc = 0;

    for (size_t i = 0; i < table->column_count && rc == 0; i++)
        rc = make_cell(&cells[i], table, &table->columns[i], row, err);
    if (rc < 0)
        return rc;
    if (table->started) {
        show_late(table, cells);
        rc = add_line(table, cells, CLI_PLAIN, err);
        vls_arena_reset(&table->arena);
        return rc;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        if (!vls_vec_push(&table->cells, env, cells[i]))
            return vls_fail_memory(err);
    }
    if (table->cells.len >= SAMPLE_ROWS * table->column_count ||
        table->arena.used >= SAMPLE_BYTES || env->ticks_ns(env->self) - table->began_ns > SAMPLE_NS)
        return start(table, err);
    return 0;
}

int cli_table_end(cli_table *table, valise_error *err)
{
    return table->started ? 0 : start(table, err);
}

int cli_table_flush(cli_table *table, valise_error *err)
{
    return table->started || table->cells.len == 0 ? 0 : start(table, err);
}
