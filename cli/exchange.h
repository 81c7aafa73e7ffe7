/* exchange.h -- how imports and exports of conversations are shown to people.
 *
 * Threads: single. */
#ifndef CLI_EXCHANGE_H
#define CLI_EXCHANGE_H

#include "cli/print.h"

/* "imported 3 sessions, 10 turns; 4 turns were there already". Problems, and what was not
 * understood, go to standard error. */
int cli_print_imported(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_warn_of_import(cli *c, vls_json answer, valise_error *err);

/* The text itself; what was left out is told on standard error. */
int cli_print_exported(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_warn_of_export(cli *c, vls_json answer, valise_error *err);

#endif
