/* gc.h -- remove objects that nothing refers to, and chunks that no object is made of.
 *
 *     1 mark     in one read transaction: every object that a row, an image in the log or a payload
 *                names (refs.h); pins are rows
 *     2 sweep    in short write transactions: objects that are not marked and old enough
 *     3 chunks   marked from the recipes of all objects that are left; swept the same way
 *     4 shrink   the backend gives free space back
 *
 * Writers go on meanwhile. This is safe for objects because a command that makes a row refer to an
 * object renews the object's time if it is older than VLS_OBJECT_RENEW_NS, by the clock of the log,
 * which never goes back. So anything referred to since the mark is younger than
 * VLS_GC_MIN_GRACE_NS. With a shorter grace period, mark and sweep are one write transaction. So
 * they are in the first gc after an erasure, which removes without waiting what existed at that
 * time, since this may be left from the history of the erased contents. It is safe for chunks
 * because recipes come only with new objects, whose numbers are higher than all before: each
 * transaction that sweeps first marks the recipes that came since the last one. Numbers are never
 * reused.
 *
 * Whatever stops a gc (an error, cancelling, kill -9) stops it between two transactions: nothing
 * needed was removed, and the next gc does the rest.
 *
 * Threads: vls_gc is called from any thread, beside writers, also beside another gc. */
#ifndef VLS_GC_H
#define VLS_GC_H

#include "base/progress.h"
#include "store/object.h"

#define VLS_GC_MIN_GRACE_NS (2 * VLS_OBJECT_RENEW_NS)

typedef struct vls_gc_result {
    int64_t objects, chunks; /* that were removed */
    int64_t bytes;           /* what they held */
    int64_t freed;           /* what the store really gave back to the disk */
    int64_t residue;         /* bytes of the write-ahead log that a reader still holds */
} vls_gc_result;

/* grace_ns: how long an object that nothing refers to is kept; 0: not at all. now_ns: the wall
 * clock. VALISE_E_CANCELLED; VALISE_E_CORRUPT when something that may refer to objects cannot be
 * read; VALISE_E_DENIED for a store that was opened for reading. *out says also after a failure
 * what was done. */
int vls_gc(vls_gc_result *out, vls_store *store, int64_t grace_ns, int64_t now_ns,
           vls_progress *progress, valise_error *err);

#endif
