/* blob.h -- blobs in a blob store: put, get and read with every byte hashed on the way.
 *
 * A blob is stored under the SHA-256 of its bytes and nothing else, so the same bytes are stored
 * once. A put returns the id. A get returns exactly the bytes that have this id, or
 * VALISE_E_CORRUPT. Blobs of any size pass through piece by piece, so memory does not grow with
 * them.
 *
 * References are not known here: gc removes blobs that nobody refers to (yet).
 *
 * Threads: vls_blobs is shared; vls_blob_reader is single. */
#ifndef VLS_STORE_BLOB_H
#define VLS_STORE_BLOB_H

#include <valise/sys/blob_store.h>

#include "base/blob.h"
#include "base/hash.h"

#define VLS_BLOB_PIECE_BYTES ((size_t)128 << 10) /* what goes from source to store at once */

typedef struct vls_blobs vls_blobs;
typedef struct vls_blob_reader vls_blob_reader;

typedef struct vls_blobs_options {
    const valise_env *env;
    const valise_blob_store_ops *ops;
    const char *where;
    unsigned flags; /* VALISE_BLOB_STORE_... */
} vls_blobs_options;

/* VALISE_E_UNSUPPORTED for a table of another ABI, VALISE_E_INVALID for one that lacks something;
 * VALISE_E_NOT_FOUND, and all else that a backend may say. */
int vls_blobs_open(vls_blobs **out, const vls_blobs_options *options, valise_error *err);
void vls_blobs_close(vls_blobs *blobs); /* NULL is fine; every reader must be closed */

/* VALISE_E_UNSUPPORTED for NULL: a workspace without blob storage. */
int vls_blobs_need(const vls_blobs *blobs, valise_error *err);

/* ---- in ---- */

/* Where bytes come from: at most `room_bytes` of them into room, *len 0 at the end. A negative code
 * (such as VALISE_E_CANCELLED) ends the put, which then returns it. */
typedef int vls_blob_source(size_t *len, void *arg, void *room, size_t room_bytes,
                            valise_error *err);

/* Store what the source gives; *id and *size_bytes (which may be NULL) say what that was. Durable
 * when it returns 0; otherwise nothing is stored, but for an error in the very last step, when the
 * blob may be there, whole. VALISE_E_TOO_LARGE over max_bytes; VALISE_E_DENIED when read-only;
 * VALISE_E_IO and so on. */
int vls_blobs_put(valise_id *id, uint64_t *size_bytes, vls_blobs *blobs, vls_blob_source *source,
                  void *arg, uint64_t max_bytes, valise_error *err);

/* The same from a file descriptor, from where it stands to its end. */
int vls_blobs_put_fd(valise_id *id, uint64_t *size_bytes, vls_blobs *blobs, int fd,
                     uint64_t max_bytes, valise_error *err);

/* The same from memory. */
int vls_blobs_put_bytes(valise_id *id, vls_blobs *blobs, valise_str bytes, valise_error *err);

/* ---- out ---- */

/* The whole blob as a new reference, verified. VALISE_E_NOT_FOUND, VALISE_E_CORRUPT,
 * VALISE_E_TOO_LARGE over max_bytes. */
int vls_blobs_get(valise_blob **out, vls_blobs *blobs, const valise_id *id, size_t max_bytes,
                  valise_error *err);

/* Read in pieces. Bytes are handed out before all are known to be right; so the read that would
 * hand out the last of them verifies first, and fails with VALISE_E_CORRUPT instead. Whoever acts
 * on what was read must have read to the end. */
int vls_blob_reader_open(vls_blob_reader **out, vls_blobs *blobs, const valise_id *id,
                         valise_error *err);
void vls_blob_reader_close(vls_blob_reader *reader); /* NULL is fine */
uint64_t vls_blob_reader_size(const vls_blob_reader *reader);

/* At least one byte into room, which has some; *len 0 at the end. Every read after one that failed
 * fails too. */
int vls_blob_reader_read(size_t *len, vls_blob_reader *reader, void *room, size_t room_bytes,
                         valise_error *err);

/* ---- the rest ---- */

/* Without a look at the bytes. */
int vls_blobs_exists(bool *out, vls_blobs *blobs, const valise_id *id, valise_error *err);
int vls_blobs_size(uint64_t *size_bytes, vls_blobs *blobs, const valise_id *id, valise_error *err);

/* VALISE_E_NOT_FOUND. Who reads it at the moment can read on. */
int vls_blobs_remove(vls_blobs *blobs, const valise_id *id, valise_error *err);

/* Every blob once, in any order; fn may remove and put. */
int vls_blobs_list(vls_blobs *blobs, valise_blob_list_fn *fn, void *arg, valise_error *err);

/* Remove what puts that were killed left behind, when it is older than min_age_ns: a put that goes
 * on in another process must not lose its file. *removed (which may be NULL) counts. */
int vls_blobs_clean(uint64_t *removed, vls_blobs *blobs, int64_t min_age_ns, valise_error *err);

/* When it was put last: 1, or 0 when the store does not know. VALISE_E_NOT_FOUND. */
int vls_blobs_time(int64_t *time_ns, vls_blobs *blobs, const valise_id *id, valise_error *err);

/* What is there and is no blob, as far as the store tells. */
int vls_blobs_strays(vls_blobs *blobs, valise_blob_stray_fn *fn, void *arg, valise_error *err);

static inline void vls_auto_blobs(vls_blobs **blobs)
{
    vls_blobs_close(*blobs);
}

static inline void vls_auto_blob_reader(vls_blob_reader **reader)
{
    vls_blob_reader_close(*reader);
}

#endif
