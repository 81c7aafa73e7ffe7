/* example.c -- the example of an operation, which is JSON, as a command line. */
#include "cli/help.h"

#include "base/base64.h"
#include "cli/words.h"

#define WORD_MAX ((size_t)64 << 10)

static bool is_plain(char c)
{
    return vls_is_alnum(c) || (c != '\0' && strchr("_-./:,@%+=", c));
}

void cli_add_quoted(vls_buf *out, valise_str word)
{
    bool plain = word.len > 0;

    for (size_t i = 0; i < word.len; i++)
        plain = plain && is_plain(word.ptr[i]);
    if (plain) {
        vls_buf_add(out, word);
        return;
    }
    vls_buf_add_byte(out, '\'');
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '\'')
            vls_buf_add_text(out, "'\\''");
        else
            vls_buf_add_byte(out, word.ptr[i]);
    }
    vls_buf_add_byte(out, '\'');
}

/* The word that value.c would read as this value; false when there is none. */
static bool make_word(vls_buf *out, const valise_field *field, vls_json value)
{
    bool text = value.type == VLS_JSON_STRING;

    if (field->flags & VALISE_FILE) {
        vls_buf_add_text(out, "notes.md");
        return true;
    }
    switch (field->type) {
    case VALISE_T_JSON:
    case VALISE_T_VALUE:
    case VALISE_T_STRUCT:
    case VALISE_T_UNION:
    case VALISE_T_LIST:
        return vls_json_write(out, value, NULL) == 0;
    case VALISE_T_DATA:
        return text && vls_base64_decode(out, vls_json_str(value), NULL) == 0 &&
               vls_str_find_byte(vls_buf_str(out), '\0') == out->len;
    case VALISE_T_TEXT:
        if (text && value.len > 0 && value.text[0] == '@')
            vls_buf_add_byte(out, '@');
        break;
    default:
        break;
    }
    if (!text)
        return vls_json_write(out, value, NULL) == 0;
    vls_buf_add(out, vls_json_str(value));
    return true;
}

static bool is_program(const valise_field *field)
{
    return field->type == VALISE_T_LIST && cli_is_program(field->more);
}

typedef struct example {
    vls_buf *out;
    const cli *c;
} example;

static void add_option(const example *e, const char *name, const valise_field *field,
                       vls_json value)
{
    VLS_AUTO(buf) vls_buf word = {0};

    if (cli_is_switch(field)) {
        vls_buf_printf(e->out, " --%s%s", value.truth ? "" : "no-", name);
        return;
    }
    vls_buf_init(&word, e->c->env, WORD_MAX);
    if (!make_word(&word, field, value))
        return;
    vls_buf_printf(e->out, " --%s ", name);
    cli_add_quoted(e->out, vls_buf_str(&word));
}

static void add_options(const example *e, const valise_field *field, vls_json value)
{
    const cli_option_text name = cli_option_name(field);

    if (field->type != VALISE_T_LIST)
        add_option(e, name.s, field, value);
    else if (value.len == 0 && cli_can_be_empty(field))
        vls_buf_printf(e->out, " --no-%s", vls_field_words(field->name, '-').s);
    for (uint32_t i = 0; field->type == VALISE_T_LIST && i < value.len; i++)
        add_option(e, name.s, field->more, value.items[i]);
}

/* An operand; *dashes: "--" has been written, because one of them looks like an option. */
static void add_operand(const example *e, const valise_field *field, vls_json value, bool *dashes)
{
    VLS_AUTO(buf) vls_buf word = {0};
    const char *text;

    vls_buf_init(&word, e->c->env, WORD_MAX);
    if (!make_word(&word, field, value) || !(text = vls_buf_cstr(&word)))
        return;
    if (cli_is_option(text) && !*dashes) {
        vls_buf_add_text(e->out, " --");
        *dashes = true;
    }
    vls_buf_add_byte(e->out, ' ');
    cli_add_quoted(e->out, vls_buf_str(&word));
}

/* Behind "--", whatever stands before it. */
static void add_program(const example *e, const valise_field *fields, vls_json value)
{
    bool dashes = true;

    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        const vls_json *v = vls_json_get(value, valise_str_of(f->name));
        if (!is_program(f) || !v)
            continue;
        vls_buf_add_text(e->out, " --");
        for (uint32_t i = 0; i < v->len; i++)
            add_operand(e, f->more, v->items[i], &dashes);
    }
}

static void add_operands(const example *e, const valise_field *fields, const valise_field *end,
                         vls_json value)
{
    bool dashes = false;

    for (const valise_field *f = fields; f != end; f++) {
        const vls_json *v = vls_json_get(value, valise_str_of(f->name));
        if (!(f->flags & VALISE_POSITIONAL) || f->flags & VALISE_SECRET || is_program(f))
            continue;
        for (uint32_t i = 0; f->type == VALISE_T_LIST && i < v->len; i++)
            add_operand(e, f->more, v->items[i], &dashes);
        if (f->type != VALISE_T_LIST)
            add_operand(e, f, *v, &dashes);
    }
}

/* Operands can be left out only at the end: from the first gap on, options have to do. */
static const valise_field *first_gap(const valise_field *fields, vls_json value)
{
    const valise_field *f = fields;

    for (; f->type != VALISE_T_END; f++) {
        bool operand =
            f->flags & VALISE_POSITIONAL && !(f->flags & VALISE_SECRET) && !is_program(f);
        const vls_json *v = vls_json_get(value, valise_str_of(f->name));
        if (operand && (!v || v->type == VLS_JSON_NULL))
            return f;
        if (operand && f->type == VALISE_T_LIST)
            return f + 1;
    }
    return f;
}

static void add_fields(const example *e, const valise_op *op, vls_json value)
{
    const valise_field *gap = first_gap(op->in, value);

    for (const valise_field *f = op->in; f->type != VALISE_T_END; f++) {
        const vls_json *v = vls_json_get(value, valise_str_of(f->name));
        bool operand = (f->flags & VALISE_POSITIONAL && f < gap) || is_program(f);
        if (v && v->type != VLS_JSON_NULL && !operand && !(f->flags & VALISE_SECRET))
            add_options(e, f, *v);
    }
    add_operands(e, op->in, gap, value);
    add_program(e, op->in, value);
}

/* The arguments of the example; what needs none is its own example. */
static const char *arguments_of(const valise_op *op)
{
    if (op->example || op->flags & VALISE_OP_INTERNAL)
        return op->example;
    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        if (f->flags & VALISE_REQUIRED)
            return NULL;
    }
    return "{}";
}

void cli_add_example(vls_buf *out, const cli *c, const valise_op *op, const cli_name *name)
{
    example e = {.out = out, .c = c};
    const char *arguments = arguments_of(op);
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json value = vls_json_null();

    vls_arena_init(&arena, c->env, (size_t)16 << 20);
    if (!arguments || vls_json_parse(&value, &arena, valise_str_of(arguments), NULL, NULL) < 0)
        return;
    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        if (f->flags & VALISE_SECRET && vls_json_get(value, valise_str_of(f->name)))
            vls_buf_printf(out, "%s=... ", cli_secret_variable(f->name).s);
    }
    vls_buf_printf(out, "valise %s", name->s);
    if (op->in)
        add_fields(&e, op, value);
}
