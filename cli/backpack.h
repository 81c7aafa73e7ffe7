/* backpack.h -- how commits, differences and items of backpacks are shown to people.
 *
 * Threads: single. */
#ifndef CLI_BACKPACK_H
#define CLI_BACKPACK_H

#include "cli/print.h"

/* Rows of a list, or whole answers: see cli_printer. */
int cli_print_commit(cli *c, const valise_op *op, vls_json row, valise_error *err);
int cli_print_commit_line(cli *c, const valise_op *op, vls_json row, valise_error *err);
int cli_print_change(cli *c, const valise_op *op, vls_json row, valise_error *err);
int cli_print_conflict(cli *c, const valise_op *op, vls_json row, valise_error *err);
int cli_print_shown(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_packed(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_backpack_made(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_backpack_checkpoint(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_merged(cli *c, const valise_op *op, vls_json answer, valise_error *err);

/* What `valise show` found: a commit as `bp show` has it, anything else as it is. */
int cli_print_anything(cli *c, const valise_op *op, vls_json answer, valise_error *err);

/* One line of a commit; decoration: in brackets behind its id, or "". indent: columns that stand
 * before it. On a terminal it is cut to its width. */
void cli_add_commit_line(cli *c, vls_json row, valise_str decoration, size_t indent);

/* The history of a backpack and of its forks, as branches. (graph.c) */
int cli_draw_history(cli *c, const valise_op *op, valise_str payload, valise_error *err);

int cli_status_of_found(const cli *c, vls_json answer);

#endif
