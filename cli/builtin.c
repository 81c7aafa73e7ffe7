/* builtin.c -- commands that are no operations: help, version, completion. */
#include "cli/call.h"

#include "cli/complete.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/schema.h"

const cli_builtin *const cli_builtins[] = {
    &cli_builtin_agent_serve,
    &cli_builtin_backpack_bisect,
    &cli_builtin_batch,
    &cli_builtin_chat,
    &cli_builtin_commands,
    &cli_builtin_complete,
    &cli_builtin_completion,
    &cli_builtin_config_get,
    &cli_builtin_config_list,
    &cli_builtin_config_set,
    &cli_builtin_config_unset,
    &cli_builtin_context_delete,
    &cli_builtin_help,
    &cli_builtin_init,
    &cli_builtin_preference_delete,
    &cli_builtin_run,
    &cli_builtin_trust,
    &cli_builtin_version,
    &cli_builtin_watch,
    NULL,
};

/* What is text in itself is one text with --json: {"name":"..."}. */
static int wrap_text(cli *c, const char *name, valise_error *err)
{
    valise_str text = {NULL, 0};
    int rc = c->options.json ? vls_arena_dup(&text, &c->arena, vls_buf_str(&c->out->text), err) : 0;

    if (rc < 0 || !c->options.json)
        return rc;
    vls_buf_clear(&c->out->text);
    vls_buf_printf(&c->out->text, "{\"%s\":", name);
    vls_json_write_string(&c->out->text, text);
    vls_buf_add_text(&c->out->text, "}\n");
    return 0;
}

typedef struct text_result {
    valise_str text;
} text_result;

static const valise_field text_out[] = {
    VALISE_FIELD(text_result, text, STR, VALISE_REQUIRED, "All of it."),
    VALISE_FIELD_END,
};

/* ---- help ---- */

typedef struct help_args {
    valise_list command; /* of valise_str */
    bool man, schema, names, reference;
} help_args;

static const valise_field word_item = {
    .name = "word", .help = "A word of a command.", .type = VALISE_T_STR};

static const valise_field help_in[] = {
    VALISE_FIELD_WITH(help_args, command, LIST, VALISE_POSITIONAL,
                      "The command, or the first word of several.", .more = &word_item),
    VALISE_FIELD(help_args, man, BOOL, 0, "Print it as a man page, in roff."),
    VALISE_FIELD(
        help_args, schema, BOOL, 0,
        "Print the JSON Schema of what it prints with --json; without a command, of errors."),
    VALISE_FIELD(help_args, names, BOOL, VALISE_HIDDEN, "What there are pages of."),
    VALISE_FIELD(help_args, reference, BOOL, VALISE_HIDDEN, "All of it, in Markdown."),
    VALISE_FIELD_END,
};

/* The page of these words; without any that of all, or `front`, the one to begin with. */
static int print_page(cli *c, cli_page *page, bool front, size_t count, const char *const *words,
                      valise_error *err)
{
    size_t used = 0;
    const cli_command *command = cli_catalog_find(&used, c->catalog, count, words);
    const char *group = count > 0 ? cli_catalog_group(c->catalog, words[0]) : NULL;
    cli_name name = cli_name_typed(count, words);

    if (count == 0 && front)
        cli_help_front(page, c);
    else if (count == 0)
        cli_help_all(page, c);
    else if (command && used == count)
        cli_help_command(page, c, command, &name);
    else if (group && count == 1)
        cli_help_group(page, c, words[0]);
    else
        return cli_catalog_refuse(c->catalog, count, words, err);
    return 0;
}

/* On a terminal as wide as that is, but not wider than is good to read. */
static cli_page page_of(cli *c, const cli_page_format *format)
{
    const size_t least = 40, most = 100;
    cli_page page = {
        .out = &c->out->text, .format = format, .styles = c->options.json ? NULL : c->out};

    if (c->out->terminal)
        page.columns = VLS_MIN(VLS_MAX(c->out->columns, least), most);
    return page;
}

/* A long page goes through the pager; what is wrong with the settings that name one must not be in
 * the way of help. */
static int show_page(cli *c, const char *name, valise_error *err)
{
    if (c->options.json)
        return wrap_text(c, name, err);
    return cli_out_is_long(c->out) && cli_settle(c, NULL) == 0 ? cli_out_page_all(c->out, c, err)
                                                               : 0;
}

/* The same; a command that is not known may be one of an extension. */
static int find_page(cli *c, const cli_page_format *format, bool front, size_t count,
                     const char *const *words, valise_error *err)
{
    cli_page page = page_of(c, format);
    int rc;

    if (count == 0 && !front && format == &cli_page_text)
        (void)cli_extend_catalog(c, false, NULL); /* help must work whatever is wrong with them */
    rc = print_page(c, &page, front, count, words, err);
    if (rc == CLI_E_USAGE && cli_extend_catalog(c, true, NULL) == 1)
        rc = print_page(c, &page, front, count, words, err);
    return rc;
}

int cli_copy_words(const char *const **out, cli *c, const valise_list *list, valise_error *err)
{
    const char **words = vls_arena_array(&c->arena, list->count + 1, sizeof(*words));

    if (!words)
        return vls_arena_fail(&c->arena, err);
    for (size_t i = 0; i < list->count; i++) {
        valise_str copy;
        int rc = vls_arena_dup(&copy, &c->arena, ((const valise_str *)list->items)[i], err);
        if (rc < 0)
            return rc;
        words[i] = copy.ptr;
    }
    words[list->count] = NULL;
    *out = words;
    return 0;
}

/* A line of JSON, which is what it is with --json too. */
static int print_schema(cli *c, size_t count, const char *const *words, valise_error *err)
{
    const cli_command *command;
    vls_json schema = vls_json_null();
    size_t used = 0;
    int rc;

    command = cli_catalog_find(&used, c->catalog, count, words);
    if (count > used && cli_extend_catalog(c, true, NULL) == 1)
        command = cli_catalog_find(&used, c->catalog, count, words);
    if (count > 0 && (!command || used < count))
        return cli_catalog_refuse(c->catalog, count, words, err);
    rc = count > 0 ? cli_schema_of_command(&schema, c, command, err)
                   : cli_schema_of_error(&schema, c, err);
    if (rc == 0)
        rc = vls_json_write(&c->out->text, schema, err);
    vls_buf_add_byte(&c->out->text, '\n');
    return rc;
}

static int run_help(int *status, cli *c, const cli_words *words, const void *args,
                    valise_error *err)
{
    const help_args *a = args;
    const char *const *names;
    int rc;

    (void)words;
    (void)status;
    if (a->reference)
        cli_help_reference(&c->out->text, c);
    if (a->names)
        cli_help_names(&c->out->text, c);
    if (a->reference || a->names)
        return wrap_text(c, "text", err);
    rc = cli_copy_words(&names, c, &a->command, err);
    if (rc == 0 && a->schema)
        return print_schema(c, a->command.count, names, err);
    if (rc == 0)
        rc = find_page(c, a->man ? &cli_page_man : &cli_page_text, false, a->command.count, names,
                       err);
    if (rc < 0)
        return rc;
    return a->man ? wrap_text(c, "text", err) : show_page(c, "text", err);
}

int cli_print_help(cli *c, const cli_words *words, valise_error *err)
{
    cli_page page = page_of(c, &cli_page_text);
    int rc = 0;

    /* `help X --help` is about X, unless there is no X. */
    if (words->command && words->command->builtin == &cli_builtin_help && words->operand_count > 0)
        rc = find_page(c, &cli_page_text, false, words->operand_count, words->operands, err);
    else if (words->command)
        cli_help_command(&page, c, words->command, &words->name);
    else if (words->group)
        cli_help_group(&page, c, words->group);
    else
        rc = find_page(c, &cli_page_text, true, 0, NULL, err);
    return rc < 0 ? rc : show_page(c, "text", err);
}

const cli_builtin cli_builtin_help = {
    .op = {.size = sizeof(valise_op),
           .name = "help",
           .brief = "Show help for valise or for one command.",
           .in = help_in,
           .in_size = sizeof(help_args),
           .out = text_out,
           .out_size = sizeof(text_result),
           .example = "{\"command\":[\"json\",\"diff\"]}"},
    .run = run_help,
};

/* ---- version ---- */

void cli_print_version(cli *c)
{
    vls_buf_printf(&c->out->text, c->options.json ? "{\"version\":\"%s\"}\n" : "valise %s\n",
                   valise_version());
}

typedef struct version_result {
    valise_str version;
} version_result;

static const valise_field version_out[] = {
    VALISE_FIELD(version_result, version, STR, VALISE_REQUIRED, "Such as 1.2.3."),
    VALISE_FIELD_END,
};

static int run_version(int *status, cli *c, const cli_words *words, const void *args,
                       valise_error *err)
{
    (void)status;
    (void)words;
    (void)args;
    (void)err;
    cli_print_version(c);
    return 0;
}

const cli_builtin cli_builtin_version = {
    .op = {.size = sizeof(valise_op),
           .name = "version",
           .brief = "Print the version.",
           .out = version_out,
           .out_size = sizeof(version_result),
           .example = "{}"},
    .run = run_version,
};

/* ---- completion ---- */

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

typedef struct completion_args {
    int64_t shell;
} completion_args;

static const valise_field completion_in[] = {
    VALISE_FIELD_WITH(completion_args, shell, ENUM, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The shell.", .more = shells),
    VALISE_FIELD_END,
};

typedef struct completion_result {
    valise_str script;
} completion_result;

static const valise_field completion_out[] = {
    VALISE_FIELD(completion_result, script, STR, VALISE_REQUIRED, "The script."),
    VALISE_FIELD_END,
};

static int run_completion(int *status, cli *c, const cli_words *words, const void *args,
                          valise_error *err)
{
    const completion_args *a = args;

    (void)status;
    (void)words;
    cli_completion_script(&c->out->text, shells[a->shell]);
    return wrap_text(c, "script", err);
}

const cli_builtin cli_builtin_completion = {
    .op = {.size = sizeof(valise_op),
           .name = "completion",
           .brief = "Print a completion script for a shell.",
           .help = "bash: put `. <(valise completion bash)` into ~/.bashrc.\n\n"
                   "zsh: put the script into a file _valise in a folder of $fpath.\n\n"
                   "fish: valise completion fish >~/.config/fish/completions/valise.fish",
           .in = completion_in,
           .in_size = sizeof(completion_args),
           .out = completion_out,
           .out_size = sizeof(completion_result),
           .example = "{\"shell\":\"bash\"}"},
    .run = run_completion,
};

static int run_complete(int *status, cli *c, const cli_words *words, const void *args,
                        valise_error *err)
{
    (void)status;
    (void)args;
    (void)err;
    c->options = (cli_options){.quiet = true};
    (void)cli_extend_catalog(c, false, NULL);
    cli_complete(&c->out->text, c, words->operand_count, words->operands);
    return 0;
}

typedef struct complete_args {
    valise_list words;
} complete_args;

static const valise_field complete_in[] = {
    VALISE_FIELD_WITH(complete_args, words, LIST, VALISE_POSITIONAL,
                      "The words so far; the last one is being typed.", .more = &word_item),
    VALISE_FIELD_END,
};

const cli_builtin cli_builtin_complete = {
    .op = {.size = sizeof(valise_op),
           .name = "__complete",
           .brief = "Say what could stand at the end of a command line.",
           .flags = VALISE_OP_INTERNAL,
           .in = complete_in,
           .in_size = sizeof(complete_args)},
    .run = run_complete,
    .own = "it prints a candidate a line, for shells",
};
