/* retention.h -- letting go of what the rows of `retention` say may go.
 *
 * Threads: single; called from jobs. */
#ifndef VLS_KERNEL_RETENTION_H
#define VLS_KERNEL_RETENTION_H

#include "bus/bus.h"

typedef struct vls_expired {
    int64_t entries;
} vls_expired;

/* At most max entries (0: all that may go), in transactions of their own, in turn with the
 * commands. *more: there are still some. Nothing happens without limits. */
int vls_retention_apply(vls_expired *out, bool *more, valise *v, int64_t max, valise_error *err);

/* A bounded step of it, after commands were written. What fails is tried again the next time, and
 * `valise gc` says why. */
void vls_retention_upkeep(valise *v);

#endif
