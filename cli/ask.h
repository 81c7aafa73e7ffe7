/* ask.h -- `valise ask` for people: the text of the answer on standard output, as it comes. [P11]
 *
 * Threads: single. */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "cli/print.h"

/* Everything else that is known of the answer is with --json; what somebody must know beside the
 * text goes to standard error. */
int cli_pour_answer(cli *c, valise *v, valise_str payload, const valise_call *call,
                    valise_error *err);

#endif
