/* blobs.h -- the bytes of a blob on standard output, and what `blob register` says.
 *
 * Threads: single. */
#ifndef CLI_BLOBS_H
#define CLI_BLOBS_H

#include "cli/print.h"

/* `blob get` without --output: 1 when they were written, 0 when the operation is to be run as
 * usual. A terminal gets text only, and made harmless. */
int cli_pour_blob(cli *c, valise *v, valise_str payload, const valise_call *call,
                  valise_error *err);

int cli_print_blob_registered(cli *c, const valise_op *op, vls_json answer, valise_error *err);

#endif
