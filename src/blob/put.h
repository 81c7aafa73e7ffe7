/* put.h -- put bytes into the blob store, piece by piece, and detect their type from the first
 * ones.
 *
 * Threads: single. */
#ifndef VLS_BLOB_PUT_H
#define VLS_BLOB_PUT_H

#include "base/progress.h"
#include "blob/receive.h"
#include "store/blob.h"
#include "store/store.h"

#define VLS_BLOB_MAX_BYTES ((uint64_t)1 << 40)

typedef struct vls_blob_input {
    vls_blobs *blobs;
    bool only_hash;   /* a dry run: nothing is stored */
    valise_str bytes; /* ptr NULL: from fd */
    int fd;
    vls_progress *progress; /* counts bytes; NULL: nobody is told */
} vls_blob_input;

/* Put them, from where fd stands to its end. out: id, size, and what they are by their looks. */
int vls_blob_put(vls_blob_told *out, const vls_blob_input *input, valise_error *err);

/* Open a file to read it all: 1 for a regular one, 0 for a pipe or device. VALISE_E_NOT_FOUND,
 * VALISE_E_INVALID for a folder, with its name. */
int vls_blob_open_file(int *out, valise_str path, valise_error *err);

/* What comes behind the last slash. */
valise_str vls_blob_name_of(valise_str path);

#endif
