/* area.h -- the area: roles, preferences, context entries.
 *
 * Threads: immutable tables. */
#ifndef VLS_MEMORY_AREA_H
#define VLS_MEMORY_AREA_H

#include <valise/sys/extension.h>

extern const valise_op *const vls_ops_memory[]; /* made from src/ops.txt */
extern const valise_extension vls_area_memory;

#endif
