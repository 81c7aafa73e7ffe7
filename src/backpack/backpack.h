/* backpack.h -- the area: its collections and operations, as a package for the registry.
 *
 * Threads: immutable. */
#ifndef VLS_BACKPACK_H
#define VLS_BACKPACK_H

#include <valise/sys/extension.h>

extern const valise_op *const vls_ops_backpack[]; /* made from src/ops.txt */
extern const valise_extension vls_area_backpack;

#endif
