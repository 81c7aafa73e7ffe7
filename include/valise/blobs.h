/* valise/blobs.h -- large files in a workspace: take them in, hold them, read them.
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
 * A blob's id is the SHA-256 of its bytes, what sha256sum prints: the same bytes are stored once.
 * It stays as long as somebody holds it: a turn, a context entry, or a name that somebody chose.
 * With its last holder it goes. Files of any size are read and written piece by piece.
 *
 * Each of these functions is an operation, called with structs in place of JSON; `call`
 * (valise/workspace.h) says who acts and who hears of progress; NULL: as the handle says. Where a
 * hold is changed, NULL is "manual".
 *
 * Threads: all functions may be called on one handle by many threads; a reader is single. */
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
    const char *media_type; /* NULL: told by how it begins */
    const char *filename;   /* NULL: none */
    const char *hold;       /* who holds it; NULL: "manual" */
} valise_blob_options;

#define VALISE_BLOB_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_blob_options), NULL, NULL, NULL                                              \
    }

typedef struct valise_blob_registered {
    size_t size;
    valise_id sha256;
    int64_t bytes;
    bool taken;    /* the hold is a new one */
    int64_t count; /* how many hold it now */
} valise_blob_registered;

#define VALISE_BLOB_REGISTERED_INIT                                                                \
    {                                                                                              \
        sizeof(valise_blob_registered), {{0}}, 0, false, 0                                         \
    }

/* Take in what a descriptor gives, from where it stands to its end, and hold it. Idempotent per
 * hold. out and options may be NULL. VALISE_E_DENIED, VALISE_E_IO and so on: nothing is held then.
 */
VALISE_API int valise_blob_register_fd(valise_blob_registered *out, valise *v, int fd,
                                       const valise_blob_options *options, const valise_call *call,
                                       valise_error *err);

/* The same from memory. */
VALISE_API int valise_blob_register_bytes(valise_blob_registered *out, valise *v, valise_str bytes,
                                          const valise_blob_options *options,
                                          const valise_call *call, valise_error *err);

/* ---- holding ---- */

/* Hold what somebody holds already. *taken (may be NULL): this hold is a new one.
 * VALISE_E_NOT_FOUND. blob:retain */
VALISE_API int valise_blob_hold(bool *taken, valise *v, const valise_id *blob, const char *hold,
                                const valise_call *call, valise_error *err);

/* Let go of it. *released (may be NULL): this hold was there. blob:release */
VALISE_API int valise_blob_release(bool *released, valise *v, const valise_id *blob,
                                   const char *hold, const valise_call *call, valise_error *err);

/* ---- reading ---- */

/* Open a blob that somebody holds. It can be read to its end whatever becomes of it meanwhile.
 * VALISE_E_NOT_FOUND, VALISE_E_DENIED. */
VALISE_API int valise_blob_open(valise_blob_reader **out, valise *v, const valise_id *blob,
                                const valise_call *call, valise_error *err);
VALISE_API void valise_blob_close(valise_blob_reader *reader); /* NULL is fine */

/* How many bytes it has. */
VALISE_API int64_t valise_blob_size(const valise_blob_reader *reader);

/* At least one byte into room, which has some; *len 0 at the end. The read that would hand out the
 * last bytes verifies all of them first, and fails with VALISE_E_CORRUPT, which names the blob: who
 * acts on what was read must have read to the end. */
VALISE_API int valise_blob_read(size_t *len, valise_blob_reader *reader, void *room,
                                size_t room_bytes, valise_error *err);

/* ---- listing ---- */

typedef struct valise_blob_info {
    size_t size;
    valise_id sha256;
    int64_t bytes;
    int64_t count;                   /* how many hold it */
    valise_str media_type, filename; /* "": not known */
    int64_t created;                 /* ns */
} valise_blob_info;

typedef int valise_blob_info_fn(void *arg, const valise_blob_info *info, valise_error *err);

/* Each that is held under this name; NULL: all. In the order of their ids. blob:list */
VALISE_API int valise_blob_list(valise *v, const char *hold, valise_blob_info_fn *fn, void *arg,
                                const valise_call *call, valise_error *err);

VALISE_END

#endif
