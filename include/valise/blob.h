/* valise/blob.h -- an immutable block of bytes that is shared by counting references.
 *
 * What Valise hands out of a store is a blob: it is not copied, and it stays as it is for as long
 * as somebody holds a reference to it, whatever happens to the store.
 *
 * Threads: immutable. References may be taken and dropped on any thread. */
#ifndef VALISE_BLOB_H
#define VALISE_BLOB_H

#include <valise/str.h>

VALISE_BEGIN

typedef struct valise_blob valise_blob;

/* The bytes, valid as long as a reference is held; of NULL none. Behind the last one stands a NUL,
 * which is not counted. */
VALISE_API valise_str valise_blob_bytes(const valise_blob *blob);

/* The same as a C string, for printf's "%s"; of NULL "". A blob that is no text may have NULs among
 * its bytes, too: then it seems to end at the first. */
VALISE_API const char *valise_blob_text(const valise_blob *blob);

/* Another reference to the same blob; returns it. */
VALISE_API valise_blob *valise_blob_ref(valise_blob *blob);

/* Drop a reference, NULL is fine. Returns NULL. */
VALISE_API valise_blob *valise_blob_unref(valise_blob *blob);

VALISE_END

#endif
