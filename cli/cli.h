/* cli.h -- what every command of the command line works with.
 *
 * A command is one row of a table: name, arguments, a line of help, an example, a function. The
 * function gets its operands in order and a `cli` with the options that every command has. It
 * prints results to cli->out, and returns an exit code; errors go through cli_fail().
 *
 * Threads: single. */
#ifndef CLI_H
#define CLI_H

#include "base/arena.h"
#include "base/buf.h"
#include "json/json.h"

enum {
    CLI_DONE = 0,
    CLI_USAGE = 2,
    CLI_DIFFERENT = 8,
};

typedef struct cli {
    const valise_env *env;
    vls_arena arena;       /* for the whole run */
    vls_buf out;           /* what goes to stdout when the command is done */
    bool json;             /* --json: results and errors as JSON */
    bool tests, exit_code; /* options of `json diff` */
    bool stdin_used;
} cli;

/* A switch that a command takes besides those that all of them take. */
typedef struct cli_option {
    const char *name; /* "--exit-code"; NULL ends the list */
    const char *help;
    size_t offset; /* of a bool in cli */
} cli_option;

typedef struct cli_command {
    const char *name;     /* "json diff" */
    const char *operands; /* "A B" */
    size_t count;         /* how many operands it takes */
    const char *help;     /* one line */
    const char *more;     /* a paragraph, or NULL */
    const char *example;
    const cli_option *options; /* may be NULL */
    int (*run)(cli *c, char **operands);
} cli_command;

extern const cli_command cli_json_commands[];
extern const size_t cli_json_command_count;

/* Report err on stderr, as a line of what and a line of what to do, or with --json as
 * {"error":{...}}, and forget what was to be printed: a part would look whole. Returns the exit
 * code that goes with it. */
int cli_fail(cli *c, const valise_error *err);

/* Say how the command is used wrongly; returns CLI_USAGE. */
int cli_usage(const cli *c, const char *hint, const char *format, ...) VALISE_PRINTF(3, 4);

/* The bytes an operand stands for: itself, the file of "@file", or standard input for "-". */
int cli_read_operand(valise_str *out, cli *c, const char *operand, valise_error *err);

/* The same, parsed as JSON. Errors name the operand. */
int cli_read_json(vls_json *out, cli *c, const char *operand, valise_error *err);

/* Append a value and a newline to c->out: canonical, or over several lines when pretty. */
int cli_print_json(cli *c, vls_json v, bool pretty, valise_error *err);

/* Write c->out to stdout, made harmless when that is a terminal. */
int cli_flush(cli *c);

#endif
