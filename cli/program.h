/* program.h -- a program of the user's that answers with its exit code.
 *
 * Whoever names a program on the command line has consented to it. It is started by its argument
 * vector, never by a shell, in the current folder.
 *
 * Threads: single. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <valise/sys/field.h>

#include "cli/cli.h"

typedef struct cli_variable {
    const char *name, *value; /* NULL ends the list */
} cli_variable;

/* Run it with `input` as its standard input and these variables besides our own. What it prints on
 * standard output is dropped, errors go where ours go. Returns its exit code; VALISE_E_... when it
 * could not be started or a signal ended it; VALISE_E_CANCELLED after Ctrl-C. */
int cli_run_program(char *const *argv, const cli_variable *variables, valise_str input,
                    valise_error *err);

/* The same for a program that follows what happens: what it prints goes to standard error, and one
 * that a signal ended has the exit code 128 and its number, as in a shell. */
int cli_run_hook(char *const *argv, const cli_variable *variables, valise_str input,
                 valise_error *err);

/* The words of a field whose ref is CLI_PROGRAM, in the arena of the run. */
int cli_make_argv(char *const **out, cli *c, const valise_list *words, valise_error *err);

#endif
