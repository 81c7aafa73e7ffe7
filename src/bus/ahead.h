/* ahead.h -- for each change in the log, find the next entry that changes the same row.
 *
 * The row after an old change is the image in the entry that changed it next. If it is not known
 * which entry this is, the row is found by going back from its present version, one version at a
 * time. That is fine for one entry, but quadratic for a thousand old ones. So a follower that is
 * far behind first reads the log ahead, once.
 *
 * Rows are identified by a hash. If two rows have the same hash, a link may lead to an entry that
 * does not list the row; the reader notices this and goes the long way.
 *
 * Threads: single while it is built, immutable afterwards. */
#ifndef VLS_AHEAD_H
#define VLS_AHEAD_H

#include "base/vec.h"
#include "store/log.h"

#define VLS_AHEAD_LAG 256        /* entries behind from which on it is worth it */
#define VLS_AHEAD_MAX (1u << 20) /* changes that are looked at; then it is built again */

typedef struct vls_ahead {
    const valise_env *env;
    int64_t from, to;        /* entries it knows; to 0: none */
    vls_vec(uint32_t) first; /* of each entry: the number of its first change */
    vls_vec(int64_t) next;   /* of each change: seq of the next one of the same row, or 0 */
} vls_ahead;

/* Look at the entries of txn from a seq on, in place of what it knew. A zeroed one is fine. */
int vls_ahead_build(vls_ahead *ahead, vls_txn *txn, int64_t from, valise_error *err);
void vls_ahead_release(vls_ahead *ahead); /* a zeroed or released one is fine */

/* Build it if somebody at this place is far behind txn and it is not built for there; release it
 * when he is not. */
int vls_ahead_prepare(vls_ahead *ahead, vls_txn *txn, int64_t place, valise_error *err);

/* The next entry that changes the row of change `index` (from 1 on) of an entry; 0: not known. */
int64_t vls_ahead_next(const vls_ahead *ahead, int64_t seq, uint32_t index);

static inline void vls_auto_ahead(vls_ahead *ahead)
{
    vls_ahead_release(ahead);
}

#endif
