/* turns.h -- how conversations are shown to people.
 *
 * Threads: single. */
#ifndef CLI_TURNS_H
#define CLI_TURNS_H

#include "cli/print.h"

/* A turn as in a conversation: who, when, what; and in one line. */
int cli_print_turn(cli *c, const valise_op *op, vls_json row, valise_error *err);
int cli_print_turn_line(cli *c, const valise_op *op, vls_json row, valise_error *err);

/* With its versions, parents and children. */
int cli_print_turn_shown(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_branch(cli *c, const valise_op *op, vls_json row, valise_error *err);

/* "common", "-" for what only a has, "+" for what only b has. */
int cli_print_turn_diff(cli *c, const valise_op *op, vls_json row, valise_error *err);
int cli_status_of_turn_diff(const cli *c, vls_json row);

/* The graph of a session as lines, or the text that was asked for. (turn_graph.c) */
int cli_print_session_graph(cli *c, const valise_op *op, vls_json answer, valise_error *err);

/* What was said, begun or deleted just now, in a line. */
int cli_print_said(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_session_made(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_session_deleted(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_turn_deleted(cli *c, const valise_op *op, vls_json answer, valise_error *err);

/* "4e5f956f@2" */
valise_str cli_short_ref(valise_str ref);

#endif
