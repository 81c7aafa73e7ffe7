/* status.c -- how much there is, for people: in words, and without what is not there. --json has
 * the names of the fields. */
#include "cli/status.h"

#include "base/text.h"

#define LINES_MAX 200u

/* ---- lines of areas ---- */

/* They have no field tables: what a value is shows by its looks. */
static valise_field field_of(valise_str name, const vls_json *value)
{
    valise_str text = value->type == VLS_JSON_STRING ? vls_json_str(*value) : VLS_STR("");
    valise_field field = {.name = "value", .type = VALISE_T_STR};

    if (value->type == VLS_JSON_INT)
        field.type = VALISE_T_INT;
    if (vls_str_ends(name, VLS_STR("bytes")))
        field.name = "bytes";
    if (text.len == 64)
        field.type = VALISE_T_ID;
    else if (text.len > 20 && text.ptr[10] == 'T' && vls_str_ends(text, VLS_STR("Z")))
        field.type = VALISE_T_TIME;
    return field;
}

void cli_show_line(vls_buf *out, valise_str name, vls_json value)
{
    const vls_json *count = vls_json_get(value, VLS_STR("count"));
    const vls_json *more = vls_json_get(value, VLS_STR("more"));
    valise_field field = field_of(name, &value);

    if (count && count->type == VLS_JSON_INT && more)
        vls_buf_printf(out, "%lld%s", (long long)count->integer, more->truth ? " or more" : "");
    else
        cli_show(out, &field, value);
}

const vls_json *cli_status_line(vls_json status, const char *name)
{
    const vls_json *areas = vls_json_get(status, VLS_STR("areas"));

    for (uint32_t i = 0; areas && i < areas->len; i++) {
        if (vls_str_equal(vls_text_of(areas->items[i], "name"), valise_str_of(name)))
            return vls_json_get(areas->items[i], VLS_STR("value"));
    }
    return NULL;
}

/* ---- all lines ---- */

/* A name and what is said, which are aligned once all are there. */
typedef struct said {
    valise_str name, text;
} said;

typedef struct lines {
    cli *c;
    vls_json status;
    said said[LINES_MAX];
    size_t count;
    vls_buf text; /* of the line that is being made */
} lines;

static int add(lines *l, valise_str name, valise_error *err)
{
    said line = {.name = name};
    int rc = vls_buf_check(&l->text, err);

    if (rc == 0)
        rc = vls_arena_dup(&line.text, &l->c->arena, vls_buf_str(&l->text), err);
    vls_buf_clear(&l->text);
    if (rc == 0 && l->count < LINES_MAX)
        l->said[l->count++] = line;
    return rc;
}

static const vls_json *member(const lines *l, const char *name)
{
    return vls_json_get(l->status, valise_str_of(name));
}

static void show(lines *l, const valise_op *op, const char *name)
{
    const valise_field *field = vls_fields_find(op->out, valise_str_of(name));
    const vls_json *value = member(l, name);

    if (field && value)
        cli_show(&l->text, field, *value);
}

static int add_field(lines *l, const valise_op *op, const char *name, valise_error *err)
{
    if (!member(l, name))
        return 0;
    show(l, op, name);
    return add(l, valise_str_of(name), err);
}

static int add_store(lines *l, const valise_op *op, valise_error *err)
{
    show(l, op, "store");
    vls_buf_add_text(&l->text, ", format ");
    show(l, op, "format");
    vls_buf_add_text(&l->text, ", ");
    show(l, op, "bytes");
    return add(l, VLS_STR("store"), err);
}

static int add_log(lines *l, const valise_op *op, valise_error *err)
{
    int rc;

    show(l, op, "seq");
    if (member(l, "time")) {
        vls_buf_add_text(&l->text, " (newest ");
        show(l, op, "time");
        vls_buf_add_byte(&l->text, ')');
    }
    rc = add(l, VLS_STR("log entries"), err);
    if (rc < 0)
        return rc;
    vls_buf_add_text(&l->text, "entry ");
    show(l, op, "oldest");
    return add(l, VLS_STR("history since"), err);
}

static int add_pins(lines *l, const valise_op *op, valise_error *err)
{
    if (cli_number_of(l->status, "pins") == 0)
        return 0;
    show(l, op, "pins");
    if (member(l, "pinned")) {
        vls_buf_add_text(&l->text, " (the oldest at entry ");
        show(l, op, "pinned");
        vls_buf_add_byte(&l->text, ')');
    }
    return add(l, VLS_STR("pins"), err);
}

static int add_own(lines *l, const valise_op *op, valise_error *err)
{
    int rc = add_field(l, op, "workspace", err);

    if (rc == 0)
        rc = add_field(l, op, "label", err);
    if (rc == 0)
        rc = add_field(l, op, "metadata", err);
    if (rc == 0)
        rc = add_store(l, op, err);
    if (rc == 0)
        rc = add_log(l, op, err);
    if (rc == 0)
        rc = add_pins(l, op, err);
    return rc < 0 ? rc : add_field(l, op, "actors", err);
}

/* Words of the model are told in others. */
static int name_in_words(valise_str *name, vls_arena *arena, valise_error *err)
{
    static const struct {
        const char *word, *words;
    } known[] = {{"slots", "frame slots"}, {"heads", "current frames"}};

    for (size_t i = 0; i < VLS_COUNT(known); i++) {
        valise_str word = valise_str_of(known[i].word);
        char words[128];
        if (!vls_str_starts(*name, word))
            continue;
        (void)snprintf(words, sizeof(words), "%s%.*s", known[i].words,
                       VALISE_STR_ARG(vls_str_from(*name, word.len)));
        return vls_arena_dup(name, arena, valise_str_of(words), err);
    }
    return 0;
}

static int add_areas(lines *l, valise_error *err)
{
    const vls_json *areas = member(l, "areas");
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && areas && i < areas->len; i++) {
        const vls_json *value = vls_json_get(areas->items[i], VLS_STR("value"));
        valise_str name = cli_text_of(areas->items[i], "name");
        if (!value)
            continue;
        cli_show_line(&l->text, name, *value);
        rc = name_in_words(&name, &l->c->arena, err);
        if (rc == 0)
            rc = add(l, name, err);
    }
    return rc;
}

static void print_lines(const lines *l, size_t from, size_t to, cli_out *out)
{
    size_t width = 0;

    for (size_t i = from; i < to; i++)
        width = VLS_MAX(width, l->said[i].name.len);
    for (size_t i = from; i < to; i++) {
        const said *line = &l->said[i];
        cli_style_begin(out, CLI_BOLD);
        cli_add_data(out, line->name, 0);
        vls_buf_add_byte(&out->text, ':');
        cli_style_end(out, CLI_BOLD);
        for (size_t n = line->name.len; n < width + 1; n++)
            vls_buf_add_byte(&out->text, ' ');
        cli_add_data(out, line->text, 0);
        vls_buf_add_byte(&out->text, '\n');
    }
}

int cli_print_status(cli *c, const valise_op *op, vls_json value, valise_error *err)
{
    lines *l = vls_arena_zalloc(&c->arena, sizeof(*l));
    size_t own;
    int rc;

    if (!l)
        return vls_arena_fail(&c->arena, err);
    l->c = c;
    l->status = value;
    vls_buf_init(&l->text, c->env, (size_t)1 << 20);
    rc = add_own(l, op, err);
    own = l->count;
    if (rc == 0)
        rc = add_areas(l, err);
    vls_buf_release(&l->text);
    if (rc < 0)
        return rc;
    print_lines(l, 0, own, c->out);
    if (l->count > own)
        vls_buf_add_byte(&c->out->text, '\n');
    print_lines(l, own, l->count, c->out);
    return 0;
}
