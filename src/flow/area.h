/* area.h -- the area: flows.
 *
 * Threads: immutable tables. */
#ifndef VLS_FLOW_AREA_H
#define VLS_FLOW_AREA_H

#include <valise/sys/extension.h>

extern const valise_op *const vls_ops_flow[]; /* made from src/ops.txt */
extern const valise_extension vls_area_flow;

/* What gc lets go of (collect.c): what was recorded of runs whose backpack is gone. */
int vls_flows_collect(valise *v, valise_error *err);

#endif
