/* diff.h -- the area: its operations, as a package for the registry.
 *
 * Threads: immutable. */
#ifndef VLS_DIFF_H
#define VLS_DIFF_H

#include <valise/sys/extension.h>

extern const valise_op *const vls_ops_diff[]; /* made from src/ops.txt */
extern const valise_extension vls_area_diff;

#endif
