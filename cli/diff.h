/* diff.h -- how differences of states and checkpoints are shown to people.
 *
 * Threads: single. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "cli/print.h"

/* "changed     src/a.c", "changed     src/a.c [notes] 1a2b3c4d -> 5e6f7081 by alice"; the lines
 * that differ below it, where there are any; or in one line how much there is of each. */
int cli_print_diff(cli *c, const valise_op *op, vls_json row, valise_error *err);

/* The same of checkpoints: "mode        run.sh 644 -> 755". */
int cli_print_checkpoint_diff(cli *c, const valise_op *op, vls_json row, valise_error *err);

#endif
