/* valise/blob.h -- an immutable block of bytes, shared by counting references.
 *
 * Whatever comes out of a store comes as a blob: it is not copied, and its bytes stay valid and
 * unchanged as long as somebody holds a reference, whatever happens to the store.
 *
 * Threads: immutable. References may be taken and dropped on any thread. */
#ifndef VALISE_BLOB_H
#define VALISE_BLOB_H

#include <valise/str.h>

VALISE_BEGIN

typedef struct valise_blob valise_blob;

/* The bytes of a blob, valid as long as a reference is held; empty if blob is NULL. The last byte
 * is followed by a NUL, which is not counted. */
VALISE_API valise_str valise_blob_bytes(const valise_blob *blob);

/* The bytes as a C string, for printf's "%s"; "" if blob is NULL. A blob that is not text may
 * contain NULs; the string then seems to end at the first. */
VALISE_API const char *valise_blob_text(const valise_blob *blob);

/* Take another reference to a blob. Returns blob. */
VALISE_API valise_blob *valise_blob_ref(valise_blob *blob);

/* Drop a reference to a blob; NULL is fine. Returns NULL. */
VALISE_API valise_blob *valise_blob_unref(valise_blob *blob);

VALISE_END

#endif
