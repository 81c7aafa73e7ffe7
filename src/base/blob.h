/* blob.h -- an immutable block of bytes that is shared by counting references.
 *
 *     +------+-----+-----+--------+---------------+
 *     | refs | env | len | sealed | len bytes     |   one allocation
 *     +------+-----+-----+--------+---------------+
 *
 * A blob is made whole from a slice, or as a draft: the one who made it fills its bytes and
 * then seals it. A draft is not to be shared nor read as a blob; after the seal nobody writes.
 * A blob remembers its environment, so that whoever drops the last reference can free it.
 *
 * Threads: immutable (a draft is single). */
#ifndef VLS_BLOB_H
#define VLS_BLOB_H

#include "base/ref.h"

typedef struct vls_blob {
    vls_ref refs;
    bool sealed;
    const valise_env *env;
    size_t len;
    char bytes[];
} vls_blob;

/* A blob with a copy of these bytes. *out is a new reference; VALISE_E_NO_MEMORY leaves it
 * untouched. */
int vls_blob_new(vls_blob **out, const valise_env *env, valise_str bytes, valise_error *err);

/* A draft of len bytes, not initialised: write them at vls_blob_draft(), then seal. A draft
 * that is given up is dropped with vls_blob_unref like any blob. */
int vls_blob_new_draft(vls_blob **out, const valise_env *env, size_t len, valise_error *err);
char *vls_blob_draft(vls_blob *blob);
void vls_blob_seal(vls_blob *blob);

/* Another reference to the same blob; returns it. */
vls_blob *vls_blob_ref(vls_blob *blob);

/* Drop a reference, NULL is fine. Returns NULL. */
vls_blob *vls_blob_unref(vls_blob *blob);

/* Valid as long as a reference is held. */
static inline valise_str vls_blob_bytes(const vls_blob *blob)
{
    assert(blob->sealed);
    return (valise_str){blob->bytes, blob->len};
}

static inline void vls_auto_blob(vls_blob **blob)
{
    *blob = vls_blob_unref(*blob);
}

#endif
