/* hash.c -- SHA-256 of OpenSSL.
 *
 * Its functions from before EVP need no memory, cannot fail, and start nothing up: two thirds of
 * the time for 64 bytes, the same for many. OpenSSL calls them deprecated since 3.0 and keeps them;
 * so do those who forked it. Nothing else of the library is used. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include "base/hash.h"

#include "base/bytes.h"

#define NO_FIELD UINT64_MAX
#define SHORT_FIELD 56

_Static_assert(sizeof(SHA256_CTX) <= sizeof(((vls_hasher *)NULL)->state), "the state has room");

static SHA256_CTX *state_of(vls_hasher *hasher)
{
    return (SHA256_CTX *)(void *)hasher->state;
}

static void begin(vls_hasher *hasher, bool tagged)
{
    hasher->running = true;
    hasher->tagged = tagged;
    (void)SHA256_Init(state_of(hasher));
}

static void add(vls_hasher *hasher, const void *bytes, size_t len)
{
    assert(hasher->running);
    if (len > 0)
        (void)SHA256_Update(state_of(hasher), bytes, len);
}

void vls_hash_begin(vls_hasher *hasher)
{
    begin(hasher, false);
}

void vls_hash_update(vls_hasher *hasher, valise_str bytes)
{
    assert(!hasher->tagged);
    add(hasher, bytes.ptr, bytes.len);
}

void vls_hash_end(valise_id *out, vls_hasher *hasher)
{
    assert(hasher->running);
    hasher->running = false;
    (void)SHA256_Final(out->bytes, state_of(hasher));
    for (size_t i = 0; hasher->tagged && i < sizeof(out->bytes); i++)
        out->bytes[i] = (uint8_t)~out->bytes[i];
}

void vls_hash_bytes(valise_id *out, valise_str bytes)
{
    vls_hasher hasher;

    begin(&hasher, false);
    add(&hasher, bytes.ptr, bytes.len);
    vls_hash_end(out, &hasher);
}

/* ---- tagged ---- */

static void add_size(vls_hasher *hasher, uint64_t size)
{
    uint8_t bytes[8];

    assert(hasher->tagged);
    vls_bytes_store_u64(bytes, size);
    add(hasher, bytes, sizeof(bytes));
}

void vls_hash_begin_tagged(vls_hasher *hasher, const char *tag)
{
    assert(tag && tag[0]);
    begin(hasher, true);
    vls_hash_field(hasher, valise_str_of(tag));
}

/* Most are short, and each call of OpenSSL takes longer than to copy them. */
void vls_hash_field(vls_hasher *hasher, valise_str bytes)
{
    uint8_t field[8 + SHORT_FIELD];

    if (bytes.len > SHORT_FIELD || bytes.len == 0) {
        add_size(hasher, bytes.len);
        add(hasher, bytes.ptr, bytes.len);
        return;
    }
    assert(hasher->tagged);
    vls_bytes_store_u64(field, bytes.len);
    memcpy(field + 8, bytes.ptr, bytes.len);
    add(hasher, field, 8 + bytes.len);
}

void vls_hash_field_u64(vls_hasher *hasher, uint64_t number)
{
    uint8_t bytes[sizeof(number)];

    vls_bytes_store_u64(bytes, number);
    vls_hash_field(hasher, (valise_str){(const char *)bytes, sizeof(bytes)});
}

void vls_hash_field_id(vls_hasher *hasher, const valise_id *id)
{
    if (!id) {
        vls_hash_field_none(hasher);
        return;
    }
    vls_hash_field(hasher, (valise_str){(const char *)id->bytes, sizeof(id->bytes)});
}

void vls_hash_field_none(vls_hasher *hasher)
{
    add_size(hasher, NO_FIELD);
}

int vls_id_order(const void *a, const void *b)
{
    return vls_id_compare(a, b);
}
