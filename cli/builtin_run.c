/* builtin_run.c -- any operation by its name, and what there is. */
#include "cli/call.h"

#include "base/text.h"
#include "bus/bus.h"
#include "cli/output.h"

/* ---- run ---- */

typedef struct run_args {
    valise_str operation;
    valise_str payload;
} run_args; /* for the table: it is given as JSON */

static const valise_field run_in[] = {
    VALISE_FIELD_WITH(run_args, operation, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The name of an operation, such as pin:add.", .ref = "cli.operation"),
    VALISE_FIELD_WITH(run_args, payload, JSON, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "Its arguments, as an object (default: {}).", .ref = "cli.payload"),
    VALISE_FIELD_END,
};

/* One that is not known may be one of an extension. */
static int find_operation(const valise_op **out, cli *c, valise_str name, valise_error *err)
{
    const valise_op *near;
    int rc = 0;

    *out = vls_registry_op(c->registry, name);
    if (!*out)
        rc = cli_extend_catalog(c, true, err);
    if (rc == 1)
        *out = vls_registry_op(c->registry, name);
    if (rc < 0 || *out)
        return rc < 0 ? rc : 0;
    near = vls_registry_near(c->registry, name);
    vls_report(err, VALISE_E_NOT_FOUND, -1, "there is no operation '%s'", vls_text_short(name).s);
    if (near)
        vls_hint(err, "did you mean '%s'? 'valise commands' lists them", near->name);
    else
        vls_hint(err, "'valise commands' lists them");
    return VALISE_E_NOT_FOUND;
}

int cli_write_payload(valise_str *out, cli *c, const vls_json *payload, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    *out = VLS_STR("{}");
    if (!payload || payload->type == VLS_JSON_NULL)
        return 0;
    vls_buf_init(&text, c->env, (size_t)1 << 30);
    rc = vls_json_write_around(&text, *payload, err);
    return rc < 0 ? rc : vls_arena_dup(out, &c->arena, vls_buf_str(&text), err);
}

static int run_run(int *status, cli *c, const cli_words *words, const void *args, valise_error *err)
{
    const vls_json *all = args;
    valise_str payload;
    const valise_op *op = NULL;
    int rc = find_operation(&op, c, vls_json_str(*vls_json_get(*all, VLS_STR("operation"))), err);

    (void)words;
    if (rc < 0)
        return rc;
    for (const cli_option *o = cli_options_table; o->name; o++) {
        const char *given = (const char *)&c->options + o->offset;
        bool is_given = o->value ? *(const char *const *)given != NULL : *(const bool *)given;
        if (is_given && !cli_option_fits(o, &(cli_command){.op = op}))
            return vls_fail(err, CLI_E_USAGE, "'%s' takes no %s", op->name, o->name);
    }
    rc = cli_write_payload(&payload, c, vls_json_get(*all, VLS_STR("payload")), err);
    if (rc == 0 && op->kind == VALISE_JOB)
        cli_catch_termination();
    return rc < 0 ? rc : cli_run(status, c, op, payload, err);
}

const cli_builtin cli_builtin_run = {
    .op = {.size = sizeof(valise_op),
           .name = "run",
           .brief = "Run any operation by name, with its arguments as JSON.",
           .in = run_in,
           .in_size = sizeof(run_args),
           .example = "{\"operation\":\"json:canonical\",\"payload\":{\"value\":[1.0]}}"},
    .run = run_run,
    .raw = true,
    .own = "it prints what the operation prints: 'valise help --schema OPERATION'",
};

/* ---- commands ---- */

typedef struct commands_args {
    valise_list command; /* of valise_str */
} commands_args;

static const valise_field command_word = {
    .name = "word", .help = "A word of it.", .type = VALISE_T_STR, .ref = "cli.operation"};

static const valise_field commands_in[] = {
    VALISE_FIELD_WITH(commands_args, command, LIST, VALISE_POSITIONAL,
                      "Only this operation, or those of this group, such as pin.",
                      .more = &command_word),
    VALISE_FIELD_END,
};

typedef struct commands_row {
    valise_str name, alias, brief, help, needs, expect, payload, result, example;
    int64_t kind;
    valise_list flags;
} commands_row; /* for the table: describe() writes it */

static const char *const kinds[] = {"command", "query", "job", NULL};
static const char *const flag_names[] = {"destructive", "idempotent", "list",
                                         "noWorkspace", "readOnly",   NULL};
static const valise_field flag_item = {
    .name = "flag", .help = "One of them.", .type = VALISE_T_ENUM, .more = flag_names};

static const valise_field commands_out[] = {
    VALISE_FIELD(commands_row, name, STR, VALISE_REQUIRED, "Its name, such as pin:add."),
    VALISE_FIELD(commands_row, alias, STR, VALISE_NULLABLE, "Its short name on a command line."),
    VALISE_FIELD_WITH(commands_row, kind, ENUM, VALISE_REQUIRED, "What it does.", .more = kinds),
    VALISE_FIELD(commands_row, brief, STR, VALISE_REQUIRED, "What it is for, in a line."),
    VALISE_FIELD(commands_row, help, STR, VALISE_NULLABLE, "More of that, in paragraphs."),
    VALISE_FIELD(commands_row, needs, STR, VALISE_NULLABLE, "The capability it needs."),
    VALISE_FIELD(commands_row, expect, STR, VALISE_NULLABLE, "What --expect is compared with."),
    VALISE_FIELD_WITH(commands_row, flags, LIST, VALISE_REQUIRED, "What else is true of it.",
                      .more = &flag_item),
    VALISE_FIELD(commands_row, payload, JSON, VALISE_REQUIRED, "JSON Schema of its arguments."),
    VALISE_FIELD(commands_row, result, JSON, VALISE_REQUIRED,
                 "JSON Schema of its answer, or of a row."),
    VALISE_FIELD(commands_row, example, JSON, VALISE_NULLABLE, "Arguments, as an example."),
    VALISE_FIELD_END,
};

static void add_text(vls_json_builder *b, valise_str key, const char *text)
{
    if (!text)
        return;
    vls_json_add_text(b, key, valise_str_of(text));
}

static void add_flags(vls_json_builder *b, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        valise_str name;
    } names[] = {
        {VALISE_OP_DESTRUCTIVE, {"destructive", 11}},
        {VALISE_OP_IDEMPOTENT, {"idempotent", 10}},
        {VALISE_OP_LIST, {"list", 4}},
        {VALISE_OP_NO_WORKSPACE, {"noWorkspace", 11}},
        {VALISE_OP_READ_ONLY, {"readOnly", 8}},
    };

    vls_json_add_key(b, VLS_STR("flags"));
    vls_json_open(b, VLS_JSON_ARRAY);
    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        if (flags & names[i].flag)
            vls_json_add(b, vls_json_string(names[i].name));
    }
    vls_json_close(b);
}

static int add_schema(vls_json_builder *b, valise_str key, const valise_field *fields,
                      vls_arena *arena, valise_error *err)
{
    static const valise_field none[] = {VALISE_FIELD_END};
    vls_json schema;
    int rc = vls_fields_schema(&schema, fields ? fields : none, arena, err);

    if (rc == 0)
        vls_json_add_member(b, key, schema);
    return rc;
}

static int add_example(vls_json_builder *b, const valise_op *op, vls_arena *arena,
                       valise_error *err)
{
    vls_json example;
    int rc =
        op->example ? vls_json_parse(&example, arena, valise_str_of(op->example), NULL, err) : 0;

    if (rc == 0 && op->example)
        vls_json_add_member(b, VLS_STR("example"), example);
    return rc;
}

static const char *kind_name(const valise_op *op)
{
    return op->kind == VALISE_COMMAND ? "command" : op->kind == VALISE_QUERY ? "query" : "job";
}

static int describe(vls_json *out, const valise_op *op, vls_arena *arena, valise_error *err)
{
    VLS_AUTO(json_builder) vls_json_builder b = {0};
    int rc;

    vls_json_builder_init(&b, arena);
    vls_json_open(&b, VLS_JSON_OBJECT);
    add_text(&b, VLS_STR("name"), op->name);
    add_text(&b, VLS_STR("alias"), op->alias);
    add_text(&b, VLS_STR("kind"), kind_name(op));
    add_text(&b, VLS_STR("brief"), op->brief);
    add_text(&b, VLS_STR("help"), op->help);
    add_text(&b, VLS_STR("needs"), op->needs);
    add_text(&b, VLS_STR("expect"), op->current ? op->expect_help : NULL);
    add_flags(&b, op->flags);
    rc = add_schema(&b, VLS_STR("payload"), op->in, arena, err);
    if (rc == 0)
        rc = add_schema(&b, VLS_STR("result"), op->out, arena, err);
    if (rc == 0)
        rc = add_example(&b, op, arena, err);
    vls_json_close(&b);
    return rc < 0 ? rc : vls_json_builder_finish(out, &b, err);
}

static int print_description(cli *c, const valise_op *op, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json value;
    int rc;

    vls_arena_init(&arena, c->env, (size_t)64 << 20);
    rc = describe(&value, op, &arena, err);
    if (rc == 0)
        rc = vls_json_write(&c->out->text, value, err);
    vls_buf_add_byte(&c->out->text, '\n');
    return rc;
}

/* One operation, or a group, or both where they have the same name; neither: all. */
typedef struct wanted {
    const cli_command *only;
    const char *group;
} wanted;

static int find_wanted(wanted *out, cli *c, const valise_list *list, valise_error *err)
{
    const char *const *words;
    size_t used = 0;
    int rc = cli_copy_words(&words, c, list, err);

    if (rc < 0 || list->count == 0)
        return rc;
    out->group = list->count == 1 ? cli_catalog_group(c->catalog, words[0]) : NULL;
    out->only = cli_catalog_find(&used, c->catalog, list->count, words);
    if (out->only && used == list->count && !cli_command_operation(out->only) && !out->group) {
        vls_report(err, CLI_E_USAGE, -1, "'%s' is a command, but not an operation", words[0]);
        vls_hint(err, "run 'valise help %s', or 'valise help --schema %s'", words[0], words[0]);
        return CLI_E_USAGE;
    }
    if (out->only && (used < list->count || !cli_command_operation(out->only)))
        out->only = NULL;
    return out->only || out->group ? 0 : cli_catalog_refuse(c->catalog, list->count, words, err);
}

static bool is_wanted(const cli_command *command, const wanted *w)
{
    if (!w->only && !w->group)
        return true;
    return command == w->only ||
           (w->group && cli_command_is_of(command, w->group, strlen(w->group)));
}

/* A terminal that is too narrow gets the beginning, as it does of a table. */
static void print_line(cli_out *out, const valise_op *op)
{
    size_t before = out->text.len;

    vls_buf_printf(&out->text, "%-28s %-8s ", op->name, kind_name(op));
    size_t used = out->text.len - before;
    vls_text_fit(&out->text, valise_str_of(op->brief),
                 out->terminal && out->columns > used ? out->columns - used : SIZE_MAX, 0);
    vls_buf_add_byte(&out->text, '\n');
}

static int run_commands(int *status, cli *c, const cli_words *words, const void *args,
                        valise_error *err)
{
    int rc = 0;

    const commands_args *a = args;
    wanted w = {NULL, NULL};

    (void)status;
    (void)words;
    /* What is built in is listed in any case. */
    if (cli_extend_catalog(c, true, NULL) < 0)
        (void)cli_extend_catalog(c, false, NULL);
    (void)cli_settle(c, NULL);
    rc = find_wanted(&w, c, &a->command, err);
    if (rc < 0)
        return rc;
    cli_out_page(c->out, c);
    for (size_t i = 0; i < c->catalog->count && rc == 0; i++) {
        const valise_op *op = cli_command_operation(&c->catalog->commands[i]);
        if (!op || !is_wanted(&c->catalog->commands[i], &w))
            continue;
        if (c->options.json)
            rc = print_description(c, op, err);
        else
            print_line(c->out, op);
        if (rc == 0)
            rc = cli_out_row(c->out, err);
    }
    return rc;
}

const cli_builtin cli_builtin_commands = {
    .op = {.size = sizeof(valise_op),
           .name = "commands",
           .brief = "List all operations; with --json also their schemas.",
           .help = "With --json there is a line for each: name, kind (command, query or job), "
                   "brief, needs (the capability), flags, payload and result (JSON Schemas), and "
                   "example. `valise help --schema COMMAND` shows the schema of what a command "
                   "prints, which for a few commands is not the same as the result.",
           .flags = VALISE_OP_LIST,
           .in = commands_in,
           .in_size = sizeof(commands_args),
           .out = commands_out,
           .out_size = sizeof(commands_row),
           .example = "{}"},
    .run = run_commands,
};
