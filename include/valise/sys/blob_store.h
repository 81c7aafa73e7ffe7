/* valise/sys/blob_store.h -- backends that keep blobs: large files, named by their SHA-256.
 *
 * A blob has no name but its id and never changes. A backend moves bytes. It takes them in piece by
 * piece, without a name, and learns the id when all are there; it gives them back piece by piece.
 * Hashing, limits, references, garbage collection and access checks are done above it, in code that
 * all backends share. The library has two backends, `file` and `memory`; a host may bring its own.
 * A backend must pass tests/contract/blob.c.
 *
 * All or nothing: a blob is either found under its id with all of its bytes, or not found at all,
 * even after a crash in the middle of a put. Nobody finds what an unfinished put leaves behind, and
 * `clean` removes it.
 *
 * Threads: a blob store is shared; a put and a reader are single. */
#ifndef VALISE_SYS_BLOB_STORE_H
#define VALISE_SYS_BLOB_STORE_H

#include <stddef.h>
#include <stdint.h>

#include <valise/error.h>
#include <valise/id.h>
#include <valise/str.h>
#include <valise/sys/env.h>

VALISE_BEGIN

#define VALISE_BLOB_STORE_ABI 1

enum {
    VALISE_BLOB_STORE_READ_ONLY = 1, /* change nothing, not even a file */
    VALISE_BLOB_STORE_CREATE = 2,    /* create it if it does not exist */
};

typedef struct valise_blob_store_open {
    size_t size;
    const char *where; /* a folder (file); ignored (memory) */
    unsigned flags;
    const valise_env *env;
} valise_blob_store_open;

/* Receives one blob of a list. */
typedef int valise_blob_list_fn(void *arg, const valise_id *id, uint64_t size_bytes,
                                valise_error *err);

/* Receives the name of something in the blob store's place that is not a blob. temporary: it
 * belongs to a put that is going on, or that did not finish; else somebody else has put it there.
 */
typedef int valise_blob_stray_fn(void *arg, const char *name, int temporary, valise_error *err);

/* The functions of a backend. They return 0, or a negative code with err filled; outputs are
 * untouched on failure. */
typedef struct valise_blob_store_ops {
    size_t size;
    uint32_t abi; /* VALISE_BLOB_STORE_ABI */
    const char *name;

    /* VALISE_E_NOT_FOUND: it does not exist, and CREATE is not given. `how` is valid only during
     * the call, but its env remains valid. */
    int (*open)(void **self, const valise_blob_store_open *how, valise_error *err);
    /* No put and no reader is open. */
    void (*close)(void *self);

    /* Put a blob: begin, write the pieces in order, then commit or abort. A piece is never empty;
     * either all of it is taken, or the put has failed. */
    int (*put_begin)(void **put, void *self, valise_error *err);
    int (*put_write)(void *put, valise_str piece, valise_error *err);
    /* Make the written bytes, durably, the blob with this id. An existing blob is replaced, so that
     * damaged bytes are replaced by good ones. This ends the put, even if it fails; the blob is
     * then there as a whole or not at all. */
    int (*put_commit)(void *put, const valise_id *id, valise_error *err);
    void (*put_abort)(void *put);

    /* Read a blob from beginning to end, which must work even if it is removed or replaced
     * meanwhile. VALISE_E_NOT_FOUND; VALISE_E_CORRUPT: what is there cannot be a blob. */
    int (*read_open)(void **reader, uint64_t *size_bytes, void *self, const valise_id *id,
                     valise_error *err);
    /* Give at least one byte and at most `room_bytes`; none at the end. */
    int (*read_some)(size_t *len, void *reader, void *room, size_t room_bytes, valise_error *err);
    void (*read_close)(void *reader);

    /* Whether a blob is there, and its size. VALISE_E_NOT_FOUND, VALISE_E_CORRUPT. */
    int (*stat)(uint64_t *size_bytes, void *self, const valise_id *id, valise_error *err);

    /* Remove a blob. Once this returns 0, it is gone, even after a power cut. VALISE_E_NOT_FOUND.
     */
    int (*remove)(void *self, const valise_id *id, valise_error *err);

    /* List every blob once, in any order. Blobs that are put or removed meanwhile, even by fn, may
     * be listed or not. */
    int (*list)(void *self, valise_blob_list_fn *fn, void *arg, valise_error *err);

    /* ---- optional ---- */

    /* Remove what puts left behind that ended by a crash, without commit or abort, and that has not
     * changed for min_age_ns. */
    int (*clean)(uint64_t *removed, void *self, int64_t min_age_ns, valise_error *err);

    /* When a blob was last put, in nanoseconds since 1970. Without this function gc cannot tell how
     * long nothing has referred to a blob, and removes blobs only if it need not wait.
     * VALISE_E_NOT_FOUND. */
    int (*time)(int64_t *time_ns, void *self, const valise_id *id, valise_error *err);

    /* List what is there but is not a blob. */
    int (*strays)(void *self, valise_blob_stray_fn *fn, void *arg, valise_error *err);
} valise_blob_store_ops;

/* The backends of the library. They are static and never released. */
VALISE_API const valise_blob_store_ops *valise_blob_store_file(void);
VALISE_API const valise_blob_store_ops *valise_blob_store_memory(void);

VALISE_END

#endif
