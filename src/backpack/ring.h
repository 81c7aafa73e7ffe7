/* ring.h -- a ledger in memory: the ephemeral backpack.
 *
 *     live      table: key -> its newest record, of whatever action
 *     ring      seq -> record, edge + 1 .. last
 *     record    one commit: interned node, namespace, tags and lists; a counted value; `prev`, the
 *               record of the key that it superseded
 *     values    table: id -> value; each is held once, however many commits have it
 *     names     namespace -> keys in it, sorted when somebody asks
 *     roots     some states as persistent maps (base/pmap.h), one per 32 commits, made when a
 *               snapshot, fork or diff wants them; from the nearest one, commits are applied
 *               forwards or, through `prev`, taken back
 *     reads     ring of the newest 10,000 reads
 *
 * Records are counted. While a commit is in the ring, its `prev` is alive; when it leaves the ring
 * it lets go of `prev` and, if it is the newest of its key and no item, of the key. So what is left
 * of the records before the edge is exactly the state at the edge: no second table holds it. [B8]
 *
 * Bounds: max_commits, and max_bytes over 128 bytes a commit and the size of each distinct value
 * that only history holds. At a bound the oldest fifth goes, never the newest 100, never what a
 * held state (checkpoint, snapshot, fork) needs.
 *
 * Threads: shared; one mutex, which enter takes. A frozen ledger is immutable: its items are read
 * without the mutex. */
#ifndef VLS_RING_H
#define VLS_RING_H

#include "backpack/ledger.h"

#define VLS_RING_MAX_COMMITS 10000
#define VLS_RING_MAX_BYTES (INT64_C(50) << 20)
#define VLS_RING_KEEP 100    /* newest commits that no bound takes */
#define VLS_RING_READS 10000 /* newest reads that are kept */
#define VLS_RING_ROOT 32     /* commits between two roots */

typedef struct vls_ring vls_ring;

typedef struct vls_ring_options {
    valise_uuid id;
    valise_str name;
    bool lenient, taint;
    valise_list sticky;
    int64_t max_commits, max_bytes; /* 0: the defaults above */
    bool archive; /* keep the commits that are dropped until vls_ring_dropped takes them */
} vls_ring_options;

/* One reference. Texts are copied. */
int vls_ring_new(vls_ring **out, const valise_env *env, const vls_ring_options *options,
                 valise_error *err);

/* One that starts with the state that `from` (a ledger of a ring) shows, without copying it: origin
 * and origin_seq of its head say so. Permissions and rules are copied, and the entries of the
 * quarantine. Versions go on. */
int vls_ring_fork(vls_ring **out, const vls_ledger *from, const vls_ring_options *options,
                  valise_error *err);

vls_ring *vls_ring_ref(vls_ring *ring);
void vls_ring_unref(vls_ring *ring); /* NULL is fine */

/* The ledger that shows the newest state. Borrows the ring. */
vls_ledger vls_ring_ledger(vls_ring *ring);

/* What pruning did since it was asked last, for the event and for the archive. Outside of enter and
 * leave. */
typedef struct vls_ring_pruned {
    int64_t commits; /* how many; 0: none */
    int64_t edge;    /* now; where there are none it is not said */
} vls_ring_pruned;
void vls_ring_take_pruned(vls_ring_pruned *out, vls_ring *ring);

/* Hand dropped commits over, oldest first, with their values (NULL: none); they are let go once
 * done has returned 0. Not more at once than a command can take: call it until there are none, when
 * done is not called. One thread at a time: the others find nothing, unless they `wait` for it, as
 * all do once more wait for the archive than history may hold.
 *
 * After a failure no more wait on than that: the oldest are lost, and counted. */
#define VLS_RING_DROPPED_COMMITS 2000
#define VLS_RING_DROPPED_BYTES ((size_t)8 << 20)
typedef int vls_ring_dropped_fn(void *arg, const valise_commit *commit, valise_blob *value,
                                valise_error *err);
int vls_ring_dropped(vls_ring *ring, bool wait, vls_ring_dropped_fn *each,
                     int (*done)(void *arg, valise_error *err), void *arg, valise_error *err);

/* How many were lost since it was asked last. */
int64_t vls_ring_take_lost(vls_ring *ring);

static inline void vls_auto_ring(vls_ring **ring)
{
    vls_ring_unref(*ring);
}

#endif
