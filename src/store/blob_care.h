/* blob_care.h -- blobs and the rows that refer to them: remove unused blobs, check the others.
 *
 * A row refers to a blob with an ID field whose `ref` is "blob". To add such a row, put the blob
 * first and then the row; the command is refused if there is no such blob. Only the present rows
 * keep a blob; what the log says of the past does not.
 *
 * Removing is safe beside writers: files are removed while a write transaction is held in which
 * nothing refers to them, so a command that comes later finds that the blob is gone and says so.
 * The grace period protects those who have put a blob but not yet the row. After an erasure, the
 * blobs that existed at that time get no grace period: they may be what is left of the erased
 * contents.
 *
 * Threads: called from any thread, beside writers. */
#ifndef VLS_BLOB_CARE_H
#define VLS_BLOB_CARE_H

#include "store/blob.h"
#include "store/validate.h"

typedef struct vls_blob_gc {
    int64_t blobs, bytes; /* that were removed */
    int64_t strays;       /* files of puts that did not come to their end */
} vls_blob_gc;

/* Remove blobs that no row refers to and that were put longer than grace_ns ago; now_ns is the wall
 * clock. *out says also after a failure what was done. */
int vls_blobs_collect(vls_blob_gc *out, vls_store *store, vls_blobs *blobs, int64_t grace_ns,
                      int64_t now_ns, vls_progress *progress, valise_error *err);

typedef struct vls_blob_check {
    vls_finding_fn *problem; /* a blob that is damaged, or missing though a row refers to it */
    vls_finding_fn *note;    /* files that are no blobs */
    void *arg;
    int64_t blobs, problems;
    int64_t unverifiable; /* references to what was erased */
    int64_t past;         /* references of the log to what went with its last row */
} vls_blob_check;

/* Hash every blob, and look for every one that a row or the log refers to. The counts are filled
 * in. */
int vls_blobs_validate(vls_blob_check *check, vls_store *store, vls_blobs *blobs,
                       vls_progress *progress, valise_error *err);

/* Was the blob erased by its id? Rows may name it still. */
int vls_blob_was_erased(bool *out, vls_txn *txn, const valise_id *id, valise_error *err);

/* Does a row of the newest state name the blob? A transaction that began earlier may have rows that
 * name blobs which are gone: they went with the last row that named them. */
int vls_blob_is_named(bool *out, vls_store *store, const valise_id *id, valise_error *err);

#endif
