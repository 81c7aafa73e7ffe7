/* tree.h -- how scans, directories and ignored paths are shown to people.
 *
 * Threads: single. */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include "cli/print.h"

/* "3 files, 2 directories: 5 added, 0 changed, 0 removed  root 1a2b3c4d". What could not be read is
 * listed on standard error, and makes the exit code 1. */
int cli_print_scan(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_warn_of_scan(cli *c, vls_json answer, valise_error *err);
int cli_status_of_scan(const cli *c, vls_json answer);

/* What the look of a put did not follow, on standard error. */
int cli_warn_of_put(cli *c, vls_json answer, valise_error *err);

/* Cells of tree:ls: see cli_printer. */
bool cli_tree_cell(vls_buf *out, const cli *c, const char *field, vls_json row);

/* "SOURCE:LINE:PATTERN<tab>PATH", as git check-ignore -v has it. Exit code 1 when none is. */
int cli_print_ignored(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_status_of_ignored(const cli *c, vls_json answer);

#endif
