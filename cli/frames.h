/* frames.h -- how nodes and what is known about them are shown to people.
 *
 * Threads: single. */
#ifndef CLI_FRAMES_H
#define CLI_FRAMES_H

#include "cli/print.h"

/* "fresh", "stale: the file changed", "invalidated: it was wrong", "orphaned"; of a row that has
 * `state`, `reasons` and `meta`. */
void cli_add_state(vls_buf *out, const cli *c, vls_json row);
cli_style cli_style_of_state(valise_str text);

/* The content of a row that has `text` or `data`, indented. */
int cli_add_frame_content(cli *c, vls_json row, valise_error *err);

/* Cells of tables: see cli_printer. */
bool cli_frame_cell(vls_buf *out, const cli *c, const char *field, vls_json row);

/* "src/y.c summary 1f2e3d4c  new head (was 99aabbcc)" */
int cli_print_put(cli *c, const valise_op *op, vls_json answer, valise_error *err);

/* With --type the content alone, byte by byte; what there is to say of it goes to standard error.
 * Otherwise each head with a line above it. CLI's exit code 3 where there is none. */
int cli_print_head(cli *c, const valise_op *op, vls_json row, valise_error *err);
int cli_status_of_head(const cli *c, vls_json row);

int cli_print_node(cli *c, const valise_op *op, vls_json answer, valise_error *err);
/* Each frame with a line above it, and what was left out; with --explain a table of scores. */
int cli_print_composed(cli *c, const valise_op *op, vls_json answer, valise_error *err);
/* The fields of a list of structs in an answer. */
const valise_field *cli_list_fields(const valise_op *op, const char *list);

/* Shares, tables by type and agent, what does not hold; or the document that was asked for. Exit
 * code 1 where there is something that must not be. */
int cli_print_report(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_status_of_report(const cli *c, vls_json answer);

/* "3 versions of the tree (6 nodes) went; v4 is the oldest", and the slots. */
int cli_print_pruned(cli *c, const valise_op *op, vls_json answer, valise_error *err);

int cli_print_frame(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_proof(cli *c, const valise_op *op, vls_json answer, valise_error *err);

/* Exit code 1 where it is not in the set. */
int cli_print_verified(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_status_of_verified(const cli *c, vls_json answer);

#endif
