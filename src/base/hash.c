/* hash.c -- SHA-256 through OpenSSL's EVP. */
#include <openssl/err.h>
#include <openssl/evp.h>

#include "base/hash.h"

#include "base/bytes.h"

#define NO_FIELD UINT64_MAX

int vls_hasher_init(vls_hasher *hasher, valise_error *err)
{
    EVP_MD *md;
    EVP_MD_CTX *ctx = NULL;
    unsigned long reason;

    /* Our failures must not stay in the error queue of a host that uses OpenSSL itself. */
    (void)ERR_set_mark();
    md = EVP_MD_fetch(NULL, "SHA256", NULL);
    reason = md ? 0 : ERR_peek_last_error();
    if (md)
        ctx = EVP_MD_CTX_new();
    (void)ERR_pop_to_mark();

    if (!md && ERR_GET_REASON(reason) != ERR_R_MALLOC_FAILURE) {
        (void)vls_fail(err, VALISE_E_UNSUPPORTED, "OpenSSL offers no SHA-256");
        vls_hint(err, "see which providers openssl.cnf loads (openssl list -providers)");
        return VALISE_E_UNSUPPORTED;
    }
    if (!ctx) {
        EVP_MD_free(md);
        return vls_fail_memory(err);
    }
    *hasher = (vls_hasher){.md = md, .ctx = ctx};
    return 0;
}

int vls_hasher_init_like(vls_hasher *hasher, const vls_hasher *other, valise_error *err)
{
    EVP_MD_CTX *ctx;
    bool shared;

    (void)ERR_set_mark();
    ctx = EVP_MD_CTX_new();
    shared = ctx && EVP_MD_up_ref(other->md) == 1;
    (void)ERR_pop_to_mark();

    if (!shared) {
        EVP_MD_CTX_free(ctx);
        return vls_fail_memory(err);
    }
    *hasher = (vls_hasher){.md = other->md, .ctx = ctx};
    return 0;
}

void vls_hasher_release(vls_hasher *hasher)
{
    EVP_MD_CTX_free(hasher->ctx);
    EVP_MD_free(hasher->md);
    *hasher = (vls_hasher){0};
}

static void begin(vls_hasher *hasher, bool tagged)
{
    hasher->running = true;
    hasher->tagged = tagged;
    hasher->left = 0;
    hasher->failed = 0;
    hasher->waiting_len = 0;
    /* With a fetched digest there is nothing but memory that can be missing here. */
    if (EVP_DigestInit_ex2(hasher->ctx, hasher->md, NULL) != 1)
        hasher->failed = VALISE_E_NO_MEMORY;
}

static void pass_on(vls_hasher *hasher, const void *bytes, size_t len)
{
    if (hasher->failed == 0 && len > 0 && EVP_DigestUpdate(hasher->ctx, bytes, len) != 1)
        hasher->failed = VALISE_E_UNSUPPORTED;
}

static void flush(vls_hasher *hasher)
{
    pass_on(hasher, hasher->waiting, hasher->waiting_len);
    hasher->waiting_len = 0;
}

static void add(vls_hasher *hasher, const void *bytes, size_t len)
{
    assert(hasher->running);
    if (len > sizeof(hasher->waiting) - hasher->waiting_len)
        flush(hasher);
    if (len > sizeof(hasher->waiting)) {
        pass_on(hasher, bytes, len);
    } else if (len > 0) {
        memcpy(hasher->waiting + hasher->waiting_len, bytes, len);
        hasher->waiting_len += len;
    }
}

void vls_hash_begin(vls_hasher *hasher)
{
    begin(hasher, false);
}

void vls_hash_update(vls_hasher *hasher, valise_str bytes)
{
    if (hasher->tagged) {
        if (bytes.len > hasher->left && hasher->failed == 0)
            hasher->failed = VALISE_E_INVALID;
        hasher->left -= VLS_MIN(bytes.len, hasher->left);
    }
    add(hasher, bytes.ptr, bytes.len);
}

static int report(const vls_hasher *hasher, valise_error *err)
{
    switch (hasher->failed) {
    case VALISE_E_NO_MEMORY:
        return vls_fail_memory(err);
    case VALISE_E_INVALID:
        return vls_fail(err, VALISE_E_INVALID, "a hashed field has not the size it was given");
    default:
        return vls_fail(err, VALISE_E_UNSUPPORTED, "OpenSSL cannot compute SHA-256 any more");
    }
}

int vls_hash_end(valise_id *out, vls_hasher *hasher, valise_error *err)
{
    valise_id id;
    unsigned len = 0;

    assert(hasher->running);
    hasher->running = false;
    if (hasher->failed == 0 && hasher->left > 0)
        hasher->failed = VALISE_E_INVALID;
    flush(hasher);
    if (hasher->failed == 0 && EVP_DigestFinal_ex(hasher->ctx, id.bytes, &len) != 1)
        hasher->failed = VALISE_E_UNSUPPORTED;
    if (hasher->failed)
        return report(hasher, err);

    assert(len == sizeof(id.bytes));
    for (size_t i = 0; hasher->tagged && i < sizeof(id.bytes); i++)
        id.bytes[i] = (uint8_t)~id.bytes[i];
    *out = id;
    return 0;
}

int vls_hash_bytes(valise_id *out, vls_hasher *hasher, valise_str bytes, valise_error *err)
{
    begin(hasher, false);
    pass_on(hasher, bytes.ptr, bytes.len);
    return vls_hash_end(out, hasher, err);
}

/* ---- tagged ---- */

static void add_u64(vls_hasher *hasher, uint64_t number)
{
    uint8_t bytes[8];

    vls_bytes_store_u64(bytes, number);
    add(hasher, bytes, sizeof(bytes));
}

/* Every field starts here: the one before it must be complete. */
static void add_size(vls_hasher *hasher, uint64_t size)
{
    assert(hasher->tagged);
    if (hasher->left > 0 && hasher->failed == 0)
        hasher->failed = VALISE_E_INVALID;
    add_u64(hasher, size);
}

void vls_hash_begin_tagged(vls_hasher *hasher, const char *tag)
{
    assert(tag && tag[0]);
    begin(hasher, true);
    vls_hash_field(hasher, valise_str_of(tag));
}

void vls_hash_field(vls_hasher *hasher, valise_str bytes)
{
    add_size(hasher, bytes.len);
    add(hasher, bytes.ptr, bytes.len);
}

void vls_hash_field_u64(vls_hasher *hasher, uint64_t number)
{
    add_size(hasher, sizeof(number));
    add_u64(hasher, number);
}

void vls_hash_field_id(vls_hasher *hasher, const valise_id *id)
{
    if (!id) {
        vls_hash_field_none(hasher);
        return;
    }
    add_size(hasher, sizeof(id->bytes));
    add(hasher, id->bytes, sizeof(id->bytes));
}

void vls_hash_field_none(vls_hasher *hasher)
{
    add_size(hasher, NO_FIELD);
}

void vls_hash_field_open(vls_hasher *hasher, uint64_t size)
{
    assert(size != NO_FIELD);
    add_size(hasher, size);
    hasher->left = size;
}
