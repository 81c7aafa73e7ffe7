/* log_replay.h -- run a whole log again, in an empty store of any backend.
 *
 * The same deciders run on the same payloads with the same ids and times, without middleware,
 * access checks or followers, since the log contains the commands as they were executed. What was
 * accepted under wider limits of a field is accepted again. Contents come from the objects of the
 * source. The chain must come out the same, entry by entry; then the state hash is the same too,
 * unless a decider depends on more than its arguments and view.
 *
 * Threads: single; the stores are shared. */
#ifndef KIT_LOG_REPLAY_H
#define KIT_LOG_REPLAY_H

#include "bus/bus.h"

typedef struct log_replay {
    vls_store *from; /* read in one transaction */
    vls_store *to;   /* empty, with the same collections */
    const vls_registry *registry;
    vls_bus_access access; /* for deciders that ask whether their actor may */
    valise_progress progress;
} log_replay;

/* *count: entries that were run (may be NULL). VALISE_E_UNSUPPORTED for a partial log (entries
 * expired or were erased: the message says which) and for operations that are not registered;
 * VALISE_E_EXISTS when `to` is not empty; VALISE_E_CORRUPT when an entry does not come out as it
 * was logged. After a failure `to` has the entries before it, or some of them. */
int log_replay_run(int64_t *count, const log_replay *how, valise_error *err);

#endif
