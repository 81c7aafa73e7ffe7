/* sealed.h -- copies of files in memory that nobody can change any more.
 *
 * The bytes that are checked must be the bytes that are used: code to be loaded or run is sealed
 * first, then hashed and judged, and the sealed copy is what runs.
 *
 * Threads: single. */
#ifndef VLS_SEALED_H
#define VLS_SEALED_H

#include "base/base.h"

#define VLS_SEALED_MAX_BYTES ((size_t)256 << 20) /* of a shared object or program */

/* Bytes that cannot change any more, and what they hash to. */
typedef struct vls_sealed {
    int fd; /* a copy in memory, sealed against writing; -1: none */
    valise_id id;
} vls_sealed;

/* Copy a file (not through a link in its last step) and hash the copy. VALISE_E_NOT_FOUND,
 * VALISE_E_INVALID for what is no regular file, VALISE_E_TOO_LARGE. */
int vls_sealed_open(vls_sealed *out, const char *path, valise_error *err);
void vls_sealed_close(vls_sealed *sealed); /* one with fd -1 is fine */

static inline void vls_auto_sealed(vls_sealed *sealed)
{
    vls_sealed_close(sealed);
}

#endif
