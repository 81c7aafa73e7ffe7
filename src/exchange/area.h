/* area.h -- the area: conversations of other programs, in and out.
 *
 * Threads: immutable tables. */
#ifndef VLS_EXCHANGE_AREA_H
#define VLS_EXCHANGE_AREA_H

#include <valise/sys/extension.h>

extern const valise_op *const vls_ops_exchange[]; /* made from src/ops.txt */
extern const valise_extension vls_area_exchange;

#endif
