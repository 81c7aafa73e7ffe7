/* retention.h -- removing history that the rows of `retention` no longer keep.
 *
 * Threads: single; called from jobs. */
#ifndef VLS_KERNEL_RETENTION_H
#define VLS_KERNEL_RETENTION_H

#include "bus/bus.h"

typedef struct vls_expired {
    int64_t entries; /* of the log */
    int64_t rows;    /* of the kinds that areas have */
} vls_expired;

/* At most max entries (0: all that may go), in transactions of their own, in turn with the
 * commands. *more: there are still some. Nothing happens without limits. */
int vls_retention_apply(vls_expired *out, bool *more, valise *v, int64_t max, valise_error *err);

/* ---- kinds of history that areas have ----
 *
 * An area brings a kind by having an INTERNAL job "KIND:retain" with these tables: it lets go of
 * what the limits say may go, by INTERNAL commands of its own, `max` at most (0: all). */

typedef struct vls_retain_args {
    int64_t keep_latest, keep_one_in, bytes, age; /* VALISE_NONE: no limit */
    int64_t max;
} vls_retain_args;

typedef struct vls_retained {
    int64_t removed;
    bool more; /* there is more that may go */
} vls_retained;

extern const valise_field vls_retain_in[], vls_retain_out[];

/* The same for a kind that is counted, and has no bytes that could be measured. */
extern const valise_field vls_retain_counted_in[];

/* The kind that an operation is the job of; empty: it is none. */
valise_str vls_retention_kind(const valise_op *op);

/* The job of a kind; NULL: there is no such kind, or it is the log. */
const valise_op *vls_retention_job(const valise *v, valise_str kind);

/* A bounded step of it, after commands were written. What fails is tried again the next time, and
 * `valise gc` says why. */
void vls_retention_upkeep(valise *v);

#endif
