/* schema.c -- see schema.h. */
#include "cli/schema.h"

#include "bus/registry.h"
#include "cli/print.h"

#define SHAPES_MAX 8u

/* ---- errors ---- */

typedef struct error_line {
    valise_str code, message, hint, path, current;
    int64_t offset;
} error_line; /* for the table: json/error.c writes it */

static const valise_field error_fields[] = {
    VALISE_FIELD(error_line, code, STR, VALISE_REQUIRED,
                 "Its name, such as NOT_FOUND; USAGE where the command line makes no sense."),
    VALISE_FIELD(error_line, message, STR, VALISE_REQUIRED, "What went wrong, for people."),
    VALISE_FIELD(error_line, hint, STR, VALISE_NULLABLE, "What to do about it, for people."),
    VALISE_FIELD(error_line, path, STR, VALISE_NULLABLE,
                 "The member of the arguments that is wrong, such as turn.blocks[2]."),
    VALISE_FIELD_WITH(error_line, offset, INT, VALISE_NULLABLE,
                      "The byte of the text that is wrong, from 0.", .min = 0, .max = INT64_MAX),
    VALISE_FIELD(error_line, current, JSON, VALISE_NULLABLE,
                 "After a CONFLICT: what is there instead of what was expected."),
    VALISE_FIELD_END,
};

const valise_struct cli_error_type = {sizeof(error_line), error_fields};

typedef struct failed_line {
    const void *error;
} failed_line;

static const valise_field failed_fields[] = {
    VALISE_FIELD_WITH(failed_line, error, STRUCT, VALISE_REQUIRED, "What went wrong.",
                      .more = &cli_error_type),
    VALISE_FIELD_END,
};

/* ---- shapes ---- */

/* The kinds of lines of one command. */
typedef struct shapes {
    vls_arena *arena;
    vls_json items[SHAPES_MAX];
    size_t count;
} shapes;

static int add_table(shapes *s, const valise_field *fields, valise_error *err)
{
    static const valise_field none[] = {VALISE_FIELD_END};

    assert(s->count < SHAPES_MAX);
    return vls_fields_schema(&s->items[s->count++], fields ? fields : none, s->arena, err);
}

static int add_tables(shapes *s, const valise_field *const *tables, valise_error *err)
{
    int rc = 0;

    for (; tables && *tables && rc == 0; tables++)
        rc = add_table(s, *tables, err);
    return rc;
}

/* What is printed is the value of one member. */
static int add_member(shapes *s, const valise_field *fields, const char *name, valise_error *err)
{
    vls_json table = vls_json_null();
    const vls_json *properties, *member;
    int rc = vls_fields_schema(&table, fields, s->arena, err);

    if (rc < 0)
        return rc;
    properties = vls_json_get(table, VLS_STR("properties"));
    member = properties ? vls_json_get(*properties, valise_str_of(name)) : NULL;
    assert(member && s->count < SHAPES_MAX);
    s->items[s->count++] = *member;
    return 0;
}

static int add_operation(shapes *s, const cli *c, const valise_op *op, valise_error *err)
{
    const cli_printer *printer = cli_printer_of(op);
    const valise_op *other;
    int rc = printer && printer->json_member ? add_member(s, op->out, printer->json_member, err)
                                             : add_table(s, op->out, err);

    if (rc == 0 && printer)
        rc = add_tables(s, printer->lines, err);
    if (rc < 0 || !printer || !printer->obstacles)
        return rc;
    other = vls_registry_op(c->registry, valise_str_of(printer->obstacles));
    return other ? add_table(s, other->out, err) : 0;
}

static int add_command(shapes *s, const cli *c, const cli_command *command, valise_error *err)
{
    const cli_builtin *builtin = command->builtin;
    const valise_op *other;
    int rc = 0;

    if (!builtin || (command->behind && !builtin->lines))
        rc = add_operation(s, c, cli_command_operation(command), err);
    else if (builtin->lines)
        rc = add_tables(s, builtin->lines, err);
    else
        rc = add_table(s, builtin->op.out, err);
    if (rc < 0 || !builtin || !builtin->other)
        return rc;
    other = vls_registry_op(c->registry, valise_str_of(builtin->other));
    return other ? add_operation(s, c, other, err) : 0;
}

/* ---- the document ---- */

/* One shape stands for itself. */
static int finish(vls_json *out, const shapes *s, valise_str title, valise_error *err)
{
    VLS_AUTO(json_builder) vls_json_builder b = {0};

    vls_json_builder_init(&b, s->arena);
    vls_json_open(&b, VLS_JSON_OBJECT);
    vls_json_add_text(&b, VLS_STR("$schema"),
                      VLS_STR("https://json-schema.org/draft/2020-12/schema"));
    vls_json_add_text(&b, VLS_STR("title"), title);
    if (s->count > 1) {
        vls_json_add_key(&b, VLS_STR("anyOf"));
        vls_json_open(&b, VLS_JSON_ARRAY);
        for (size_t i = 0; i < s->count; i++)
            vls_json_add(&b, s->items[i]);
        vls_json_close(&b);
    }
    for (uint32_t i = 0; s->count == 1 && i < s->items[0].len; i++)
        vls_json_add_member(&b, vls_json_str(s->items[0].members[i].key),
                            s->items[0].members[i].value);
    vls_json_close(&b);
    return vls_json_builder_finish(out, &b, err);
}

int cli_schema_of_command(vls_json *out, cli *c, const cli_command *command, valise_error *err)
{
    shapes s = {.arena = &c->arena};
    VLS_AUTO(buf) vls_buf title = {0};
    valise_str text = {NULL, 0};
    int rc;

    if (command->builtin && command->builtin->own) {
        (void)vls_fail(err, VALISE_E_UNSUPPORTED,
                       "'%s' has no schema: it prints no answer of its own",
                       cli_name_of(command->op).s);
        vls_hint(err, "%s", command->builtin->own);
        return VALISE_E_UNSUPPORTED;
    }
    vls_buf_init(&title, c->env, 256);
    vls_buf_printf(&title, "A line of `valise %s --json`", cli_name_of(command->op).s);
    rc = vls_buf_check(&title, err);
    if (rc == 0)
        rc = vls_arena_dup(&text, &c->arena, vls_buf_str(&title), err);
    if (rc == 0)
        rc = add_command(&s, c, command, err);
    return rc < 0 ? rc : finish(out, &s, text, err);
}

int cli_schema_of_error(vls_json *out, cli *c, valise_error *err)
{
    shapes s = {.arena = &c->arena};
    int rc = add_table(&s, failed_fields, err);

    return rc < 0
               ? rc
               : finish(out, &s, VLS_STR("What `valise --json` prints when a command fails"), err);
}
