/* derive.h -- the area: its operations and policies, as a package for the registry.
 *
 * Threads: immutable. */
#ifndef VLS_DERIVE_H
#define VLS_DERIVE_H

#include <valise/sys/extension.h>

extern const valise_op *const vls_ops_derive[]; /* made from src/ops.txt */
extern const valise_extension vls_area_derive;

#endif
