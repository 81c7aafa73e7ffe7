/* valise/blobs.h -- large files in a workspace: register, hold and read them.
 *
 *     valise_blob_registered told = VALISE_BLOB_REGISTERED_INIT;
 *     valise_blob_reader *reader = NULL;
 *
 *     rc = valise_blob_register_fd(&told, v, fd, NULL, NULL, err);
 *     rc = valise_blob_open(&reader, v, &told.sha256, NULL, err);
 *     while (rc == 0 && (rc = valise_blob_read(&len, reader, room, sizeof(room), err)) == 0 && len)
 *         ...
 *     valise_blob_close(reader);
 *     rc = valise_blob_release(NULL, v, &told.sha256, NULL, NULL, err);
 *
 * The id of a blob is the SHA-256 of its bytes, as sha256sum prints it, so the same bytes are
 * stored only once. A blob stays in the workspace as long as it has a *hold*: by a turn, by a
 * context entry, or under a name of your choice. When the last hold is released, the blob is
 * removed. Files of any size are read and written piece by piece.
 *
 * Each of these functions is an operation that takes structs in place of JSON. `call`
 * (valise/workspace.h) says who acts and who is told the progress; NULL: as the handle says.
 * Functions that change a hold take its name; NULL means "manual".
 *
 * Threads: many threads may call these functions on one handle. A reader is single. Close it before
 * the workspace. */
#ifndef VALISE_BLOBS_H
#define VALISE_BLOBS_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/id.h>
#include <valise/workspace.h>

VALISE_BEGIN

typedef struct valise_blob_reader valise_blob_reader;

/* ---- taking in ---- */

typedef struct valise_blob_options {
    size_t size;
    const char *media_type; /* NULL: detected from the first bytes */
    const char *filename;   /* NULL: none */
    const char *hold;       /* name of the hold; NULL: "manual" */
} valise_blob_options;

#define VALISE_BLOB_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_blob_options), NULL, NULL, NULL                                              \
    }

typedef struct valise_blob_registered {
    size_t size;
    valise_id sha256;
    int64_t bytes; /* `size` in JSON */
    bool taken;    /* the hold is new */
    int64_t count; /* number of holds now */
} valise_blob_registered;

#define VALISE_BLOB_REGISTERED_INIT                                                                \
    {                                                                                              \
        sizeof(valise_blob_registered), {{0}}, 0, false, 0                                         \
    }

/* Register the bytes that a descriptor gives, from its current position to the end, and hold them.
 * Registering the same bytes under the same hold again changes nothing. out and options may be
 * NULL. On failure (VALISE_E_DENIED, VALISE_E_IO, ...) no hold is taken. */
VALISE_API int valise_blob_register_fd(valise_blob_registered *out, valise *v, int fd,
                                       const valise_blob_options *options, const valise_call *call,
                                       valise_error *err);

/* Register bytes from memory; otherwise as valise_blob_register_fd. */
VALISE_API int valise_blob_register_bytes(valise_blob_registered *out, valise *v, valise_str bytes,
                                          const valise_blob_options *options,
                                          const valise_call *call, valise_error *err);

/* ---- holding ---- */

/* Take one more hold on a blob that has one already. *taken (may be NULL): whether this hold is
 * new. VALISE_E_NOT_FOUND: nobody holds the blob. Operation blob:retain. */
VALISE_API int valise_blob_hold(bool *taken, valise *v, const valise_id *blob, const char *hold,
                                const valise_call *call, valise_error *err);

/* Release a hold. *released (may be NULL): whether the blob had this hold. Operation blob:release.
 */
VALISE_API int valise_blob_release(bool *released, valise *v, const valise_id *blob,
                                   const char *hold, const valise_call *call, valise_error *err);

/* ---- reading ---- */

/* Open a blob that has a hold, to read it. The reader can read it to the end even if the blob is
 * released meanwhile. VALISE_E_NOT_FOUND, VALISE_E_DENIED. */
VALISE_API int valise_blob_open(valise_blob_reader **out, valise *v, const valise_id *blob,
                                const valise_call *call, valise_error *err);
/* Close a reader; NULL is fine. */
VALISE_API void valise_blob_close(valise_blob_reader *reader);

/* The size of the blob in bytes. */
VALISE_API int64_t valise_blob_size(const valise_blob_reader *reader);

/* Read the next bytes into room, which must not be empty. *len is at least 1, or 0 at the end.
 * Before it hands out the last bytes, the function verifies the whole blob, and fails with
 * VALISE_E_CORRUPT if it is damaged: read to the end before you rely on what you have read. */
VALISE_API int valise_blob_read(size_t *len, valise_blob_reader *reader, void *room,
                                size_t room_bytes, valise_error *err);

/* ---- listing ---- */

typedef struct valise_blob_info {
    valise_id sha256;
    int64_t bytes;                   /* `size` in JSON */
    int64_t count;                   /* number of holds */
    valise_str media_type, filename; /* "": unknown */
    int64_t created;                 /* ns */
} valise_blob_info;

typedef int valise_blob_info_fn(void *arg, const valise_blob_info *info, valise_error *err);

/* List the blobs that are held under this name (NULL: all blobs), ordered by id. Operation
 * blob:list. */
VALISE_API int valise_blob_list(valise *v, const char *hold, valise_blob_info_fn *fn, void *arg,
                                const valise_call *call, valise_error *err);

VALISE_END

#endif
