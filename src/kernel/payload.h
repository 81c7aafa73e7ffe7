/* payload.h -- for `validate`: are the objects there that payloads in the log name?
 *
 * Threads: as the handle. */
#ifndef VLS_KERNEL_PAYLOAD_H
#define VLS_KERNEL_PAYLOAD_H

#include "bus/bus.h"
#include "store/validate.h"

/* Each that is missing is a finding, and counted. */
int vls_payloads_check(int64_t *problems, valise *v, vls_finding_fn *fn, void *arg,
                       valise_error *err);

#endif
