/* flow.h -- flows for people and for programs: a run while it goes on, and what a check found.
 * [F15]
 *
 * Threads: single, but for what flow_live.h says. */
#ifndef CLI_FLOW_H
#define CLI_FLOW_H

#include "cli/print.h"

/* Run, resume or rerun: what happens is told while it does, and at last
 * what came of it. */
int cli_pour_flow_run(cli *c, valise *v, valise_str payload, const valise_call *call,
                      valise_error *err);
int cli_pour_flow_resume(cli *c, valise *v, valise_str payload, const valise_call *call,
                         valise_error *err);
int cli_pour_flow_rerun(cli *c, valise *v, valise_str payload, const valise_call *call,
                        valise_error *err);

/* A cell of the list of runs. */
bool cli_flow_run_cell(vls_buf *out, const cli *c, const char *field, vls_json row);

/* Everything that a check found, with the ways out. */
int cli_print_flow_check(cli *c, const valise_op *op, vls_json answer, valise_error *err);
int cli_status_of_flow_check(const cli *c, vls_json answer);

#endif
