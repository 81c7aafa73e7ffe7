/* prompts.h -- how prompts are shown to people.
 *
 * Threads: single. */
#ifndef CLI_PROMPTS_H
#define CLI_PROMPTS_H

#include "cli/print.h"

/* What was built, or is shown again: in a few lines; or the text that was asked for, alone. */
int cli_print_prompt(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_warn_of_prompt(cli *c, vls_json answer, valise_error *err);

/* A request that goes to a file or pipe: its bytes, piece by piece. */
int cli_pour_prompt_build(cli *c, valise *v, valise_str payload, const valise_call *call,
                          valise_error *err);
int cli_pour_prompt_show(cli *c, valise *v, valise_str payload, const valise_call *call,
                         valise_error *err);

int cli_print_prompt_blame(cli *c, const valise_op *op, vls_json row, valise_error *err);
int cli_print_prompt_diff(cli *c, const valise_op *op, vls_json row, valise_error *err);
int cli_print_prompt_miss(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_prompt_budget(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_print_lint(cli *c, const valise_op *op, vls_json row, valise_error *err);
int cli_status_of_lint(const cli *c, vls_json row);

#endif
