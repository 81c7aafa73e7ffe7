/* cli.h -- one run of the command: what was asked for in general, and where it reads and writes.
 *
 * The command line is derived from the registry: words.c makes a payload from the words by the
 * field table of an operation, call.c dispatches it, print.c shows the answer by the field table
 * of the result. Nothing here knows what an operation does.
 *
 * Functions return 0 or a negative code and fill a valise_error, as in the library; wrong usage
 * has a code of its own. Only main.c turns codes into exit codes.
 *
 * Threads: single. */
#ifndef CLI_H
#define CLI_H

#include <valise/workspace.h>

#include "base/arena.h"
#include "base/buf.h"
#include "json/json.h"

/* Exit codes that errors.def does not have. */
enum {
    CLI_DONE = 0,
    CLI_USAGE = 2,
    CLI_DIFFERENT = 8,
    CLI_INTERRUPTED = 130,
};

#define CLI_E_USAGE (-1000) /* the words make no sense; exit code CLI_USAGE, "USAGE" in JSON */

typedef enum cli_color {
    CLI_COLOR_AUTO,
    CLI_COLOR_ALWAYS,
    CLI_COLOR_NEVER,
} cli_color;

/* What every command may be told (words.c has the table). Strings are words of the command line
 * or of the environment; NULL: not given. */
typedef struct cli_options {
    const char *directory;                        /* -C: as if started there */
    const char *workspace;                        /* --workspace: this folder, not one above */
    const char *actor, *agent, *at, *expect, *id; /* agent: what actor is for frames */
    const char *color;
    bool json, dry_run, exit_code, follow, oneline, graph, text, no_pager, quiet, help, version;
} cli_options;

struct cli_catalog;
struct cli_out;
struct vls_config;
struct vls_registry;

typedef struct cli {
    const valise_env *env;
    vls_arena arena; /* for the whole run */
    cli_options options;
    struct vls_registry *built_in;       /* NULL in tests that bring a catalog of their own */
    const struct vls_registry *registry; /* that, or one that has extensions too */
    const struct cli_catalog *catalog;
    struct cli_out *out;
    struct vls_config *settings; /* of the user and the environment; NULL: not read yet */
    valise *workspace;           /* opened when the first operation needs it */
    valise *none;                /* a handle without a workspace, as well */
    valise_str current;          /* after a conflict: what was there instead, as JSON */
    valise_str tree_root;    /* folder of the tree, without its first slash; ptr NULL: unknown */
    valise_str tree_here;    /* the current folder in it, a path of the tree; "" when it is not */
    const vls_json *payload; /* of the operation that runs, for those who show what it says */
    bool stdin_used;
    bool one_value; /* only one was given: errors need not say which */
    bool done;      /* what was to be done is done: from now on only an answer can be lost */
} cli;

/* Until something can be read from standard input; false: a signal came first. */
bool cli_wait_for_input(void);

/* Has Ctrl-C been pressed? (signal.c) */
bool cli_is_interrupted(void);
/* For a call that ends when it was, and shows nothing meanwhile. */
valise_progress cli_stop_on_interrupt(void);
void cli_catch_signals(void);
/* What was interrupted is over; from now on the next one is noted. */
void cli_forget_interrupt(void);

/* For commands that take long, or go on until they are told to end: SIGTERM and SIGHUP interrupt
 * what is going on, and everything that it started, as Ctrl-C does. The number of the one that
 * came; 0: none did. */
void cli_catch_termination(void);
int cli_is_terminated(void);

/* Whoever is started with standard input, output or error closed would get a file of the
 * workspace in its place, and what is printed would be written there. After this they are open, and
 * reading and writing fails as it did. */
void cli_guard_streams(void);

/* VALISE_E_CANCELLED after Ctrl-C, else 0. */
int cli_check_interrupt(valise_error *err);

/* ---- errors (error.c) ---- */

/* Report err on stderr, as a line of what and a line of what to do, or with --json as
 * {"error":{...}}. Returns the exit code. */
int cli_report(const cli *c, const valise_error *err);

/* The way out, where an error has none: what is wrong with a value is in the help of the command
 * (NULL: of none), and so on. */
struct cli_words;
void cli_hint(valise_error *err, const struct cli_words *words);

/* What the library says of an operation ("tree:scan: ...") is said of the command as it was typed:
 * "scan: ...". */
void cli_say_words(valise_error *err, const struct cli_words *words);

/* ---- in (input.c) ---- */

/* The bytes of a file, or of standard input for "-", in the arena of the run. */
int cli_read_file(valise_str *out, cli *c, const char *path, size_t max_bytes, valise_error *err);

/* The bytes that a word stands for: its own, the file of "@file", standard input for "-". "@@x"
 * stands for "@x". */
int cli_read_word(valise_str *out, cli *c, const char *word, valise_error *err);

/* The same, parsed as JSON: a value with so many containers around it. Errors say how a text is
 * quoted. */
int cli_read_json(vls_json *out, cli *c, const char *word, uint32_t around, valise_error *err);

/* A secret: from VALISE_SECRET_NAME, NAME in capitals; or from a file that nobody else can read.
 * path NULL: only the environment. *out has ptr NULL when there is none. */
int cli_read_secret(valise_str *out, cli *c, const char *field_name, const char *path,
                    valise_error *err);

/* VALISE_SECRET_API_KEY for apiKey. */
typedef struct cli_secret_name {
    char s[128];
} cli_secret_name;
cli_secret_name cli_secret_variable(const char *field_name);

#endif
