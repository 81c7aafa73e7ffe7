/* checkpoint.h -- how checkpoints and restores are shown to people.
 *
 * Threads: single. */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include "cli/print.h"

/* "checkpoint one: 3 files, 14 B; 3 contents were new, 14 B". What it lacks is listed on standard
 * error; exit code 1 when something of that is not only too large. */
int cli_print_checkpoint(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_warn_of_checkpoint(cli *c, vls_json answer, valise_error *err);
int cli_status_of_checkpoint(const cli *c, vls_json answer);

/* A line for each path, what became of them together, and how to take it back. What could not be
 * done is listed on standard error; exit code 1 when something was in the way. */
int cli_print_restore(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_warn_of_restore(cli *c, vls_json answer, valise_error *err);
int cli_status_of_restore(const cli *c, vls_json answer);

/* "removed checkpoint one; 2 contents (4 KiB) are needed by no other". */
int cli_print_removed(cli *c, const valise_op *op, vls_json answer, valise_error *err);

#endif
