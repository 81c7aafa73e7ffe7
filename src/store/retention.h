/* retention.h -- retention: how far the old end of the log may move, and moving it.
 *
 * When an entry expires, its payload, its answer, its record for retries and its images go with it.
 * The hash of the last expired entry stays, so that the chain verifies from there on. The state at
 * a seq can be seen as long as every later entry is there, so a pin on seq 40 keeps entry 41 and
 * all later ones.
 *
 * Threads: single; works on transactions. */
#ifndef VLS_RETENTION_H
#define VLS_RETENTION_H

#include "store/view.h"

/* VALISE_NONE: no limit. An entry goes when any limit says so. */
typedef struct vls_log_limits {
    int64_t keep_latest; /* entries */
    int64_t age_ns;
    int64_t bytes;      /* of the entries */
    int64_t pinned_seq; /* the oldest state that somebody holds */
} vls_log_limits;

/* The newest seq that may go. The newest entry always stays: the next one is chained to it and must
 * not be older. */
int vls_log_bound(int64_t *bound, vls_txn *txn, const vls_log_limits *limits, int64_t now,
                  valise_error *err);

/* Remove entries up to bound, at most max of them, the oldest first. *more: there are still some.
 */
int vls_log_expire(int64_t *removed, bool *more, vls_txn *txn, int64_t bound, int64_t max,
                   valise_error *err);

/* Forget deletions that no state which can be seen is before, at most max, from the key *after on
 * (which is moved on, in arena; "" at the start and at the end). */
int vls_gone_expire(int64_t *removed, valise_str *after, vls_txn *txn, int64_t max,
                    vls_arena *arena, valise_error *err);

#endif
