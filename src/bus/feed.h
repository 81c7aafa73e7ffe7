/* feed.h -- what the bus tells those who follow the log of a handle.
 *
 * Followers (memory indexes, subscribers, processors) set one table on the handle with
 * vls_bus_follow before the handle is used. The bus calls it for what this handle commits; what
 * other handles and processes wrote is found in the log.
 *
 *     commit of the group  ->  committed()  ->  next leader and callers wake up  ->  publish()
 *
 * Threads: `committed` is never called by two threads at once and the calls are in the order of
 * seq; `publish` may be called by several threads at once. */
#ifndef VLS_FEED_H
#define VLS_FEED_H

#include <valise/sys/operation.h>

#include "store/view.h"

/* One command that was committed. All of it is borrowed until `committed` returns. */
typedef struct vls_commit {
    const valise_op *op;
    const vls_entry *entry;     /* with commitment, hash and changes */
    const vls_overlay *changes; /* rows in the order in which they came: coll, key, row, before */
    valise_view *view;          /* whose memory holds the rows; its transaction is over */
} vls_commit;

typedef struct vls_feed_ops {
    /* The group is durable; nobody was told yet. In order of seq; no lock is held, but no other
     * command of this handle runs meanwhile: patch, copy what `publish` needs, and return. Must
     * not dispatch. It cannot fail: who runs out of memory catches up from the log later. */
    void (*committed)(void *self, const vls_commit *commits, size_t count);

    /* Everybody was told; nothing is held. Callbacks may call the API. Called on the thread of a
     * caller whose own command is done. */
    void (*publish)(void *self);
} vls_feed_ops;

#endif
