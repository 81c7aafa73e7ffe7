/* checkpoint.h -- the area: its collections and operations, as a package for the registry.
 *
 * Threads: immutable. */
#ifndef VLS_CHECKPOINT_H
#define VLS_CHECKPOINT_H

#include <valise/sys/extension.h>

extern const valise_op *const vls_ops_checkpoint[]; /* made from src/ops.txt */
extern const valise_extension vls_area_checkpoint;

#endif
