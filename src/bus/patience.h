/* patience.h -- trying again where others were faster, for as long as a writer is waited for.
 *
 * What is looked at outside (files) is compared with a state, and fits only as long as that is the
 * newest one. Commands come one at a time, so whoever is late has only to look again: that is
 * nothing to bother the caller with.
 *
 *     vls_patience_init     the time begins
 *     vls_patience_again    something did not fit: wait a moment, and try again?
 *     vls_patience_fail     if not: VALISE_E_BUSY, as for any writer who had to wait for too long
 *
 * Threads: single. */
#ifndef VLS_PATIENCE_H
#define VLS_PATIENCE_H

#include "bus/bus.h"

typedef struct vls_patience {
    const valise *v;
    unsigned tries;    /* that failed */
    unsigned alone;    /* the last of them: nobody had done anything in between */
    int64_t state;     /* of the last one */
    int64_t left_ns;   /* of pauses, for a clock that stands still */
    int64_t end_ticks; /* of all */
} vls_patience;

void vls_patience_init(vls_patience *patience, const valise *v);

/* state: any number that becomes another one when others write (a seq, a version). What does not
 * fit although nobody did is not a matter of time: after a few tries false is said at once. */
bool vls_patience_again(vls_patience *patience, int64_t state);

/* After false. rc and err: of the last try, which stay what they are unless the time was over.
 * what: that others kept changing, such as "the tree". */
int vls_patience_fail(const vls_patience *patience, int rc, const char *what, valise_error *err);

#endif
