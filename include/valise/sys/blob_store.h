/* valise/sys/blob_store.h -- the boundary to what keeps blobs: large files, by their SHA-256.
 *
 * A blob has no name but its id and never changes. A backend moves bytes: it takes them in pieces
 * under no name and learns the id when all are there, and it gives them back in pieces. Hashing,
 * limits, references, garbage and access are above it, in code that all backends share. There are
 * two in the library, `file` and `memory`; a host may bring its own. tests/contract/blob.c is what
 * a backend must pass.
 *
 * All or nothing: a blob is found under its id with all of its bytes or not at all, also after a
 * crash in the middle of a put. What a put that did not come to its end leaves behind is found by
 * nobody, and `clean` removes it.
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
    VALISE_BLOB_STORE_CREATE = 2,    /* make it when it is not there */
};

typedef struct valise_blob_store_open {
    size_t size;
    const char *where; /* folder (file); ignored by memory */
    unsigned flags;
    const valise_env *env;
} valise_blob_store_open;

/* One blob of a list. */
typedef int valise_blob_list_fn(void *arg, const valise_id *id, uint64_t size_bytes,
                                valise_error *err);

/* Something in the place of a blob store that is no blob: temporary, a put that goes on or did not
 * come to its end; else whatever somebody else has put there. */
typedef int valise_blob_stray_fn(void *arg, const char *name, int temporary, valise_error *err);

/* Functions return 0 or a negative code with err filled; outputs are untouched on failure. */
typedef struct valise_blob_store_ops {
    size_t size;
    uint32_t abi; /* VALISE_BLOB_STORE_ABI */
    const char *name;

    /* VALISE_E_NOT_FOUND without CREATE. `how` is valid during the call only; its env stays. */
    int (*open)(void **self, const valise_blob_store_open *how, valise_error *err);
    /* All puts and readers are over. */
    void (*close)(void *self);

    /* Take in a blob: begin, write the pieces in order, then end it in one of two ways. A piece is
     * not empty, and is taken whole or the put has failed. */
    int (*put_begin)(void **put, void *self, valise_error *err);
    int (*put_write)(void *put, valise_str piece, valise_error *err);
    /* Make what was written the blob with that id, durably, in the place of an earlier one if
     * there is one: bytes that were damaged are replaced by good ones. Ends the put also when it
     * fails; the blob is then there as a whole or not at all. */
    int (*put_commit)(void *put, const valise_id *id, valise_error *err);
    void (*put_abort)(void *put);

    /* Read a blob from its beginning to its end. It can be read to the end even if it is removed
     * or replaced meanwhile. VALISE_E_NOT_FOUND; VALISE_E_CORRUPT when what is there cannot be a
     * blob. */
    int (*read_open)(void **reader, uint64_t *size_bytes, void *self, const valise_id *id,
                     valise_error *err);
    /* At least one byte, at most `room_bytes`; none at the end. */
    int (*read_some)(size_t *len, void *reader, void *room, size_t room_bytes, valise_error *err);
    void (*read_close)(void *reader);

    /* Whether it is there, and how large. VALISE_E_NOT_FOUND, VALISE_E_CORRUPT. */
    int (*stat)(uint64_t *size_bytes, void *self, const valise_id *id, valise_error *err);

    /* It is gone when this returns 0, after a power cut too. VALISE_E_NOT_FOUND. */
    int (*remove)(void *self, const valise_id *id, valise_error *err);

    /* Every blob once, in any order. Those that are put or removed meanwhile, by fn too, may be
     * listed or not. */
    int (*list)(void *self, valise_blob_list_fn *fn, void *arg, valise_error *err);

    /* ---- optional ---- */

    /* Remove what puts left behind that ended without commit or abort, by a crash, and that did
     * not move for min_age_ns. */
    int (*clean)(uint64_t *removed, void *self, int64_t min_age_ns, valise_error *err);

    /* When it was put last, in ns since 1970. Without this gc cannot tell how long nothing refers
     * to a blob, and takes it only when it need not wait. VALISE_E_NOT_FOUND. */
    int (*time)(int64_t *time_ns, void *self, const valise_id *id, valise_error *err);

    /* What is there and is no blob. */
    int (*strays)(void *self, valise_blob_stray_fn *fn, void *arg, valise_error *err);
} valise_blob_store_ops;

/* Static: never released. */
VALISE_API const valise_blob_store_ops *valise_blob_store_file(void);
VALISE_API const valise_blob_store_ops *valise_blob_store_memory(void);

VALISE_END

#endif
