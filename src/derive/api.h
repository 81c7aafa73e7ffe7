/* api.h -- a C function of valise/derive.h, by whoever runs the operation.
 *
 * Threads: as the runner. */
#ifndef VLS_DERIVE_API_H
#define VLS_DERIVE_API_H

#include <valise/derive.h>

#include "bus/runner.h"

/* valise_synthesize. */
int vls_synthesize_by(valise_derived **out, const vls_runner *runner, const char *node,
                      const valise_synthesize_options *options, const valise_call *call,
                      valise_error *err);

#endif
