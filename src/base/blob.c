/* blob.c -- shared immutable bytes. */
#include "base/blob.h"

#include "base/mem.h"

static valise_blob *new_draft(const valise_env *env, size_t len)
{
    size_t size;

    if (__builtin_add_overflow(sizeof(valise_blob) + 1, len, &size))
        return NULL;
    valise_blob *blob = vls_mem_alloc(env, size);
    if (!blob)
        return NULL;
    vls_ref_init(&blob->refs);
    blob->sealed = false;
    blob->env = env;
    blob->len = len;
    blob->bytes[len] = '\0';
    return blob;
}

int vls_blob_new_draft(valise_blob **out, const valise_env *env, size_t len, valise_error *err)
{
    valise_blob *blob = new_draft(env, len);

    if (!blob)
        return vls_fail_memory(err);
    *out = blob;
    return 0;
}

char *vls_blob_draft(valise_blob *blob)
{
    assert(!blob->sealed);
    return blob->bytes;
}

void vls_blob_seal(valise_blob *blob)
{
    assert(!blob->sealed && vls_ref_single(&blob->refs));
    blob->sealed = true;
}

int vls_blob_new(valise_blob **out, const valise_env *env, valise_str bytes, valise_error *err)
{
    valise_blob *blob = new_draft(env, bytes.len);

    if (!blob)
        return vls_fail_memory(err);
    if (bytes.len)
        memcpy(blob->bytes, bytes.ptr, bytes.len);
    vls_blob_seal(blob);
    *out = blob;
    return 0;
}

valise_str valise_blob_bytes(const valise_blob *blob)
{
    return blob ? vls_blob_bytes(blob) : (valise_str){NULL, 0};
}

const char *valise_blob_text(const valise_blob *blob)
{
    return blob ? vls_blob_bytes(blob).ptr : "";
}

valise_blob *valise_blob_ref(valise_blob *blob)
{
    assert(blob->sealed);
    vls_ref_get(&blob->refs);
    return blob;
}

valise_blob *valise_blob_unref(valise_blob *blob)
{
    if (blob && vls_ref_put(&blob->refs))
        vls_mem_free(blob->env, blob, vls_blob_size(blob->len));
    return NULL;
}
