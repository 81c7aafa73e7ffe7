/* main.c -- the command `valise`: finds the command, its options and operands, and runs it.
 *
 * Results go to stdout in one piece when the command has succeeded, errors to stderr. Exit codes:
 * 0 done, 1 failed, 2 wrong usage, 3 not found, 4 denied, 5 conflict, 6 invalid input, 7 corrupt,
 * 8 different (when asked to fail on that), 130 interrupted. */
#include "cli/cli.h"

#include <valise.h>

#define MAX_OPERANDS 2

typedef struct cli_call {
    const cli_command *command;
    const char *group; /* "json" where no command of that group was named, or NULL */
    char *operands[MAX_OPERANDS];
    size_t count;
    bool help, version;
} cli_call;

static int run_version(cli *c, char **operands);
static int run_help(cli *c, char **operands);

static const cli_command own_commands[] = {
    {"version", "", 0, "Print the version.", NULL, "valise version", NULL, run_version},
    {"help", "[COMMAND]", 0, "Print this overview, or what a command does.", NULL,
     "valise help json diff", NULL, run_help},
};

/* ---- help ---- */

/* Does the name of this command start with the word? */
static bool is_of_group(const cli_command *command, const char *word)
{
    size_t len = strlen(word);

    return strncmp(command->name, word, len) == 0 && command->name[len] == ' ';
}

/* List all of them, or where group is not NULL those of the group. */
static void list_commands(vls_buf *out, const cli_command *commands, size_t count,
                          const char *group)
{
    for (size_t i = 0; i < count; i++) {
        char call_text[64];
        if (group && !is_of_group(&commands[i], group))
            continue;
        (void)snprintf(call_text, sizeof(call_text), "%s %s", commands[i].name,
                       commands[i].operands);
        vls_buf_printf(out, "  %-28s %s\n", call_text, commands[i].help);
    }
}

static void add_how_values_come(vls_buf *out)
{
    vls_buf_add_text(
        out, "\nA value is JSON, @FILE for the contents of a file, or - for standard input.\n"
             "Options: --json (answers and errors as JSON), --help, --version, -- (no\n"
             "options behind it).\n");
}

static int run_help(cli *c, char **operands)
{
    (void)operands;
    vls_buf_add_text(
        &c->out, "Valise keeps the state of AI agents: what they work with, what they know and\n"
                 "what was said. This version has its foundation; the commands so far:\n\n");
    list_commands(&c->out, cli_json_commands, cli_json_command_count, NULL);
    list_commands(&c->out, own_commands, VLS_COUNT(own_commands), NULL);
    add_how_values_come(&c->out);
    return CLI_DONE;
}

static int run_group_help(cli *c, const char *group)
{
    vls_buf_printf(&c->out, "usage: valise %s COMMAND [options] ...\n\n", group);
    list_commands(&c->out, cli_json_commands, cli_json_command_count, group);
    add_how_values_come(&c->out);
    return CLI_DONE;
}

static int run_version(cli *c, char **operands)
{
    (void)operands;
    vls_buf_printf(&c->out, c->json ? "{\"version\":\"%s\"}\n" : "valise %s\n", valise_version());
    return CLI_DONE;
}

static void explain(vls_buf *out, const cli_command *command)
{
    vls_buf_printf(out, "%s\n\nusage: valise %s [options] %s\n", command->help, command->name,
                   command->operands);
    if (command->more)
        vls_buf_printf(out, "\n%s\n", command->more);
    vls_buf_add_text(out, "\n  --json         answers and errors as JSON\n");
    for (const cli_option *o = command->options; o && o->name; o++)
        vls_buf_printf(out, "  %-14s %s\n", o->name, o->help);
    vls_buf_printf(out, "\nexample:\n  %s\n", command->example);
}

/* ---- the words of the command line ---- */

/* The command that argv starts with; *used is how many words its name took. */
static const cli_command *find_command(int argc, char **argv, int *used)
{
    char two[64];

    if (argc > 1) {
        (void)snprintf(two, sizeof(two), "%s %s", argv[0], argv[1]);
        *used = 2;
        for (size_t i = 0; i < cli_json_command_count; i++) {
            if (strcmp(cli_json_commands[i].name, two) == 0)
                return &cli_json_commands[i];
        }
    }
    *used = 1;
    for (size_t i = 0; argc > 0 && i < VLS_COUNT(own_commands); i++) {
        if (strcmp(own_commands[i].name, argv[0]) == 0)
            return &own_commands[i];
    }
    return NULL;
}

static bool is_group(const char *word)
{
    for (size_t i = 0; i < cli_json_command_count; i++) {
        if (is_of_group(&cli_json_commands[i], word))
            return true;
    }
    return false;
}

/* Set what the option stands for; false when there is no such option. */
static bool take_option(cli *c, cli_call *call, const char *word)
{
    if (strcmp(word, "--json") == 0)
        return c->json = true;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return call->help = true;
    if (strcmp(word, "--version") == 0 && !call->command)
        return call->version = true;
    for (const cli_option *o = call->command ? call->command->options : NULL; o && o->name; o++) {
        if (strcmp(word, o->name) == 0)
            return *(bool *)((char *)c + o->offset) = true;
    }
    return false;
}

static bool is_option(const char *word)
{
    /* "-" is standard input and -1 is JSON. */
    return word[0] == '-' && word[1] != '\0' && !(word[1] >= '0' && word[1] <= '9');
}

/* A word that is neither an option nor an operand. */
static int refuse_word(const cli *c, const cli_call *call, const char *word)
{
    const cli_command *command = call->command;

    if (command && command->count == 0)
        return cli_usage(c, "run it with --help", "'valise %s' takes no operands", command->name);
    if (command)
        return cli_usage(c, "put JSON with spaces into quotes", "'valise %s' takes only %s",
                         command->name, command->operands);
    return cli_usage(c, "run 'valise help' for the commands there are",
                     "there is no command '%s%s%s'", call->group ? call->group : "",
                     call->group ? " " : "", word);
}

static int take_words(cli *c, cli_call *call, int argc, char **argv)
{
    bool options = true;

    for (int i = 0; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && is_option(argv[i])) {
            if (!take_option(c, call, argv[i]))
                return cli_usage(c,
                                 call->command ? "run it with --help for its options"
                                               : "run 'valise help' for what there is",
                                 "unknown option '%s'", argv[i]);
        } else if (call->command && call->count < call->command->count) {
            call->operands[call->count++] = argv[i];
        } else {
            return refuse_word(c, call, argv[i]);
        }
    }
    return CLI_DONE;
}

static int run(cli *c, int argc, char **argv)
{
    cli_call call = {0};
    int used = 0, status;

    /* --json in front of the command counts too. */
    while (argc > 0 && is_option(argv[0]) && take_option(c, &call, argv[0])) {
        argc--;
        argv++;
    }
    /* `help X` is `X --help`. */
    if (argc > 0 && strcmp(argv[0], "help") == 0) {
        call.help = true;
        argc--;
        argv++;
    }
    call.command = find_command(argc, argv, &used);
    if (!call.command && argc > 0 && is_group(argv[0]))
        call.group = argv[0];
    if (call.command || call.group) {
        argc -= used;
        argv += used;
    }
    status = take_words(c, &call, argc, argv);
    if (status != CLI_DONE)
        return status;
    if (call.version)
        return run_version(c, NULL);
    if (!call.command && !call.group)
        return run_help(c, NULL);
    if (!call.command && call.help)
        return run_group_help(c, call.group);
    if (!call.command)
        return cli_usage(c, "run it with --help for the commands there are",
                         "'valise %s' needs a command behind it", call.group);
    if (call.help) {
        explain(&c->out, call.command);
        return CLI_DONE;
    }
    if (call.count < call.command->count)
        return cli_usage(c, "run it with --help for an example", "'valise %s' needs: %s",
                         call.command->name, call.command->operands);
    return call.command->run(c, call.operands);
}

int main(int argc, char **argv)
{
    cli c = {.env = valise_env_default()};
    int status;

    vls_arena_init(&c.arena, c.env, (size_t)4 << 30);
    vls_buf_init(&c.out, c.env, (size_t)1 << 30);
    status = run(&c, argc - 1, argv + 1);
    int flushed = cli_flush(&c);
    if (flushed != CLI_DONE)
        status = flushed;
    vls_buf_release(&c.out);
    vls_arena_release(&c.arena);
    return status;
}
