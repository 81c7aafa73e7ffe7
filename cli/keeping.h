/* keeping.h -- what gc and repair did, in words.
 *
 * Threads: single. */
#ifndef CLI_KEEPING_H
#define CLI_KEEPING_H

#include "cli/print.h"

int cli_print_gc(cli *c, const valise_op *op, vls_json value, valise_error *err);
int cli_print_repair(cli *c, const valise_op *op, vls_json value, valise_error *err);
int cli_status_of_repair(const cli *c, vls_json value);

#endif
