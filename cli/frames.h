/* frames.h -- how nodes and what is known about them are shown to people.
 *
 * Threads: single. */
#ifndef CLI_FRAMES_H
#define CLI_FRAMES_H

#include "cli/print.h"

/* "fresh", "stale: the file changed", "orphaned"; of a row that has `state` and `reasons`. */
void cli_add_state(vls_buf *out, const cli *c, vls_json row);
cli_style cli_style_of_state(valise_str text);

/* Cells of tables: see cli_printer. */
bool cli_frame_cell(vls_buf *out, const cli *c, const char *field, vls_json row);

/* "src/y.c summary 1f2e3d4c  new head (was 99aabbcc)" */
int cli_print_put(cli *c, const valise_op *op, vls_json answer, valise_error *err);

/* With --type the content alone, byte by byte; what there is to say of it goes to standard error.
 * Otherwise each head with a line above it. CLI's exit code 3 where there is none. */
int cli_print_head(cli *c, const valise_op *op, vls_json row, valise_error *err);
int cli_status_of_head(const cli *c, vls_json row);

int cli_print_node(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_frame(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_proof(cli *c, const valise_op *op, vls_json answer, valise_error *err);

/* Exit code 1 where it is not in the set. */
int cli_print_verified(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_status_of_verified(const cli *c, vls_json answer);

#endif
