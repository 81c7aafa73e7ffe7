/* derive.h -- how runs, marks and reaffirmations are shown to people.
 *
 * Threads: single. */
#ifndef CLI_DERIVE_H
#define CLI_DERIVE_H

#include "cli/print.h"

/* context:synthesize, context:regenerate: a line for each slot that is news, then counts. */
int cli_print_run(cli *c, const valise_op *op, vls_json answer, valise_error *err);

/* 1 where something could not be made; with --quiet that is still said on standard error. */
int cli_status_of_run(const cli *c, vls_json answer);
int cli_warn_of_run(cli *c, vls_json answer, valise_error *err);

/* A program that is named on the command line (a field whose ref is CLI_HOST_PROGRAM) may run: make
 * its path absolute, and tell the handle. For words that somebody typed, and nothing else. */
int cli_consent(vls_json *payload, cli *c, const valise_op *op, valise_error *err);

/* slot:invalidate, slot:reaffirm: one line. */
int cli_print_invalidated(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_reaffirmed(cli *c, const valise_op *op, vls_json answer, valise_error *err);

#endif
