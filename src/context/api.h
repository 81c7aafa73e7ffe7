/* api.h -- C functions of valise/context.h, by whoever runs the operation.
 *
 * Threads: as the runner. */
#ifndef VLS_CONTEXT_API_H
#define VLS_CONTEXT_API_H

#include <valise/context.h>

#include "bus/runner.h"

/* valise_node_get and valise_frame_put. */
int vls_node_get_by(valise_frames **out, const vls_runner *runner, const char *node,
                    const char *view, const valise_node_options *options, const valise_call *call,
                    valise_error *err);
int vls_frame_put_by(valise_placed *out, const vls_runner *runner, const char *node,
                     valise_str content, const valise_frame_options *options,
                     const valise_call *call, valise_error *err);

#endif
