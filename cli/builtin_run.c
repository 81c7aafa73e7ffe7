/* builtin_run.c -- any operation by its name, several in one transaction, and what there is. */
#include "cli/call.h"

#include "base/hex.h"
#include "base/text.h"
#include "bus/bus.h"
#include "cli/output.h"

/* ---- run ---- */

typedef struct run_args {
    valise_str operation;
    valise_str payload;
} run_args;

static const valise_field run_in[] = {
    VALISE_FIELD_WITH(run_args, operation, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The name of an operation, such as pin:add.", .ref = "cli.operation"),
    VALISE_FIELD(run_args, payload, JSON, VALISE_NULLABLE | VALISE_POSITIONAL,
                 "Its arguments, an object; {} when it is left out."),
    VALISE_FIELD_END,
};

static int find_operation(const valise_op **out, const cli *c, valise_str name, valise_error *err)
{
    const valise_op *near;

    *out = vls_registry_op(c->registry, name);
    if (*out)
        return 0;
    near = vls_registry_near(c->registry, name);
    vls_report(err, VALISE_E_NOT_FOUND, -1, "there is no operation '%s'", vls_text_short(name).s);
    if (near)
        vls_hint(err, "did you mean '%s'? 'valise commands' lists them", near->name);
    else
        vls_hint(err, "'valise commands' lists them");
    return VALISE_E_NOT_FOUND;
}

static int run_run(int *status, cli *c, const cli_words *words, const void *args, valise_error *err)
{
    const run_args *a = args;
    const valise_op *op = NULL;
    int rc = find_operation(&op, c, a->operation, err);

    (void)words;
    if (rc < 0)
        return rc;
    for (const cli_option *o = cli_options_table; o->name; o++) {
        const char *given = (const char *)&c->options + o->offset;
        bool is_given = o->value ? *(const char *const *)given != NULL : *(const bool *)given;
        if (is_given && !cli_option_fits(o, &(cli_command){.op = op}))
            return vls_fail(err, CLI_E_USAGE, "'%s' takes no %s", op->name, o->name);
    }
    return cli_run(status, c, op, a->payload.ptr ? a->payload : VLS_STR("{}"), err);
}

const cli_builtin cli_builtin_run = {
    .op = {.size = sizeof(valise_op),
           .name = "run",
           .brief = "Run any operation by its name, with its arguments as JSON.",
           .in = run_in,
           .in_size = sizeof(run_args),
           .example = "{\"operation\":\"json:canonical\",\"payload\":{\"value\":[1.0]}}"},
    .run = run_run,
};

/* ---- batch ---- */

typedef struct batch_args {
    valise_str file;
} batch_args;

static const valise_field batch_in[] = {
    VALISE_FIELD_WITH(batch_args, file, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "Commands, one JSON object a line; - or nothing: standard input.",
                      .ref = "cli.file", .min = 1, .max = 4095),
    VALISE_FIELD_END,
};

/* One line of the file. */
typedef struct batch_line {
    valise_str type, payload, expect;
    valise_uuid id;
} batch_line;

static const valise_field line_fields[] = {
    VALISE_FIELD(batch_line, type, STR, VALISE_REQUIRED, "The operation."),
    VALISE_FIELD(batch_line, payload, JSON, VALISE_NULLABLE, "Its arguments."),
    VALISE_FIELD(batch_line, expect, JSON, VALISE_NULLABLE, "What must be there now."),
    VALISE_FIELD(batch_line, id, UUID, VALISE_NULLABLE, "The command's id."),
    VALISE_FIELD_END,
};

typedef struct batch {
    valise_command *commands;
    valise_call *calls;
    valise_reply *replies;
    size_t count;
} batch;

static int read_line(batch *b, cli *c, valise_str text, size_t number, valise_error *err)
{
    batch_line line = {0};
    vls_json value = vls_json_null();
    int rc = vls_json_parse(&value, &c->arena, text, NULL, err);

    if (rc == 0)
        rc = vls_fields_decode(&line, line_fields, sizeof(line), value, VLS_FIELD_INPUT, &c->arena,
                               err);
    if (rc < 0) {
        vls_hint(err, "line %zu; it is like {\"type\":\"pin:add\",\"payload\":{}}", number);
        return rc;
    }
    b->calls[b->count] = (valise_call)VALISE_CALL_INIT;
    b->calls[b->count].id = line.id;
    b->calls[b->count].expect = line.expect;
    b->commands[b->count] = (valise_command){
        line.type, line.payload.ptr ? line.payload : VLS_STR("{}"), &b->calls[b->count]};
    b->replies[b->count] = (valise_reply)VALISE_REPLY_INIT;
    b->count++;
    return 0;
}

static int read_lines(batch *b, cli *c, valise_str text, valise_error *err)
{
    size_t room = 1, number = 0;
    valise_str line;

    for (size_t i = 0; i < text.len; i++)
        room += text.ptr[i] == '\n';
    if (room > VLS_BATCH_MAX + 1)
        return vls_fail(err, VALISE_E_LIMIT, "%zu lines are more than %u commands", room,
                        VLS_BATCH_MAX);
    b->commands = vls_arena_array(&c->arena, room, sizeof(*b->commands));
    b->calls = vls_arena_array(&c->arena, room, sizeof(*b->calls));
    b->replies = vls_arena_array(&c->arena, room, sizeof(*b->replies));
    if (!b->commands || !b->calls || !b->replies)
        return vls_arena_fail(&c->arena, err);
    while (text.len > 0) {
        (void)vls_str_cut(&line, &text, text, '\n');
        number++;
        line = vls_str_trim(line);
        int rc = line.len > 0 ? read_line(b, c, line, number, err) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* One line for each command, in their order. */
static int print_replies(cli *c, const batch *b, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < b->count && rc == 0; i++) {
        vls_buf *out = &c->out->text;
        vls_buf_printf(out, "{\"id\":\"%s\",\"result\":", vls_uuid_text(&b->replies[i].id).s);
        cli_add_data(c->out, valise_blob_bytes(b->replies[i].json), 0);
        vls_buf_printf(out, ",\"seq\":%lld}\n", (long long)b->replies[i].seq);
        rc = vls_buf_check(out, err);
    }
    return rc;
}

static int run_batch(int *status, cli *c, const cli_words *words, const void *args,
                     valise_error *err)
{
    const batch_args *a = args;
    valise_call call;
    batch b = {0};
    valise_str text = {NULL, 0};
    int rc;

    (void)words;
    (void)status;
    rc = cli_read_file(&text, c, a->file.ptr ? a->file.ptr : "-", (size_t)1 << 30, err);
    if (rc == 0)
        rc = read_lines(&b, c, text, err);
    if (rc == 0)
        rc = cli_call_init(&call, c, err);
    if (rc == 0)
        rc = cli_open(c, err);
    if (rc < 0)
        return rc;
    rc = b.count == 0
             ? 0
             : valise_dispatch_batch(b.replies, c->workspace, b.commands, b.count, &call, err);
    c->done = rc == 0;
    if (rc == 0 && !c->options.quiet)
        rc = print_replies(c, &b, err);
    for (size_t i = 0; i < b.count; i++)
        valise_reply_release(&b.replies[i]);
    return rc;
}

const cli_builtin cli_builtin_batch = {
    .op = {.size = sizeof(valise_op),
           .name = "batch",
           .brief = "Run several commands in one transaction: all of them or none.",
           .help = "Each line is an object with `type` and `payload`, and may have `id` and\n"
                   "`expect`. The answer is a line for each, with `id`, `result` and `seq`.",
           .in = batch_in,
           .in_size = sizeof(batch_args),
           .example = "{\"file\":\"commands.ndjson\"}"},
    .run = run_batch,
};

/* ---- commands ---- */

static void add_text(vls_json_builder *b, valise_str key, const char *text)
{
    if (!text)
        return;
    vls_json_add_key(b, key);
    vls_json_add(b, vls_json_string(valise_str_of(text)));
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

    if (rc == 0) {
        vls_json_add_key(b, key);
        vls_json_add(b, schema);
    }
    return rc;
}

static int add_example(vls_json_builder *b, const valise_op *op, vls_arena *arena,
                       valise_error *err)
{
    vls_json example;
    int rc =
        op->example ? vls_json_parse(&example, arena, valise_str_of(op->example), NULL, err) : 0;

    if (rc == 0 && op->example) {
        vls_json_add_key(b, VLS_STR("example"));
        vls_json_add(b, example);
    }
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

static int run_commands(int *status, cli *c, const cli_words *words, const void *args,
                        valise_error *err)
{
    int rc = 0;

    (void)status;
    (void)words;
    (void)args;
    (void)cli_extend_catalog(c, false, NULL); /* what is built in is listed in any case */
    (void)cli_settle(c, NULL);
    cli_out_page(c->out, c);
    for (size_t i = 0; i < c->catalog->count && rc == 0; i++) {
        const valise_op *op = c->catalog->commands[i].op;
        if (c->catalog->commands[i].builtin)
            continue;
        if (c->options.json)
            rc = print_description(c, op, err);
        else
            vls_buf_printf(&c->out->text, "%-28s %-8s %s\n", op->name, kind_name(op), op->brief);
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
                   "example.",
           .example = "{}"},
    .run = run_commands,
};
