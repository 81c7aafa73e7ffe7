/* blob.h -- the inside of valise/blob.h: how blobs are made, and their layout.
 *
 *     +------+-----+-----+--------+---------------+-----+
 *     | refs | env | len | sealed | len bytes     | NUL |   one allocation
 *     +------+-----+-----+--------+---------------+-----+
 *
 * A blob is made from a slice, or as a draft: its maker fills in the bytes and then seals it. A
 * draft must not be shared, nor read as a blob; after the seal nobody writes. A blob remembers its
 * environment, so that whoever drops the last reference can free it.
 *
 * Threads: immutable (a draft is single). */
#ifndef VLS_BLOB_H
#define VLS_BLOB_H

#include <valise/blob.h>

#include "base/ref.h"

struct valise_blob {
    vls_ref refs;
    bool sealed;
    const valise_env *env;
    size_t len;
    char bytes[];
};

/* A blob with a copy of these bytes. *out is a new reference; VALISE_E_NO_MEMORY leaves it
 * untouched. */
int vls_blob_new(valise_blob **out, const valise_env *env, valise_str bytes, valise_error *err);

/* A draft of len bytes, not initialised: write them at vls_blob_draft(), then seal. A draft
 * that is given up is dropped with valise_blob_unref like any blob. */
int vls_blob_new_draft(valise_blob **out, const valise_env *env, size_t len, valise_error *err);
char *vls_blob_draft(valise_blob *blob);
void vls_blob_seal(valise_blob *blob);

/* valise_blob_bytes without a call. */
static inline valise_str vls_blob_bytes(const valise_blob *blob)
{
    assert(blob->sealed);
    return (valise_str){blob->bytes, blob->len};
}

/* What a blob of so many bytes takes. */
static inline size_t vls_blob_size(size_t len)
{
    return sizeof(valise_blob) + len + 1;
}

static inline void vls_auto_blob(valise_blob **blob)
{
    *blob = valise_blob_unref(*blob);
}

#endif
