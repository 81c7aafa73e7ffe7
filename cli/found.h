/* found.h -- how hits of a search are shown to people.
 *
 * Threads: single. */
#ifndef CLI_FOUND_H
#define CLI_FOUND_H

#include "cli/print.h"

int cli_print_hit(cli *c, const valise_op *op, vls_json row, valise_error *err);

#endif
