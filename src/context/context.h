/* context.h -- the area: its collections and operations, as a package for the registry.
 *
 * Threads: immutable. */
#ifndef VLS_CONTEXT_H
#define VLS_CONTEXT_H

#include <valise/sys/extension.h>

extern const valise_op *const vls_ops_context[]; /* made from src/ops.txt */
extern const valise_extension vls_area_context;

int vls_context_status(valise_status *status, valise_view *view, valise_error *err);

#endif
