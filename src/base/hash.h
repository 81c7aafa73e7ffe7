/* hash.h -- SHA-256: the ids of blobs, and the tagged hashes of everything else.
 *
 * This is the only place that knows which library computes SHA-256 (OpenSSL).
 *
 * A blob's id is the plain SHA-256 of its bytes, so `sha256sum` prints it. Every other kind of
 * object is hashed as a tag that names the kind and a list of fields, each behind its length:
 *
 *     +----------+-----+-----------+---------+-----------+---------+--
 *     | u64 size | tag | u64 size  | field 1 | u64 size  | field 2 | ...
 *     +----------+-----+-----------+---------+-----------+---------+--
 *       big endian       big endian            big endian
 *
 *     id = SHA-256 of this message, with every bit inverted
 *
 *     bytes    the bytes themselves
 *     number   a field of 8 bytes, big endian
 *     none     a size of 2^64 - 1 and no bytes: "absent", which is not the same as empty
 *     list     a number field that counts, then the fields of each item
 *
 * Reading from the front, each size says where its part ends, so the message gives back the one
 * list of tag and fields it was made from: no two kinds and no two ways to split bytes into
 * fields share a message. The inversion keeps blobs apart as well: anybody may store a blob with
 * exactly the bytes of such a message, but its id is then the opposite of the object's.
 * docs/formats.md has the test vectors.
 *
 * The size of a message is not limited. Hashing needs no memory but the hasher, a plain local that
 * nobody initialises or releases, and cannot fail.
 *
 * Threads: vls_hasher is single. */
#ifndef VLS_HASH_H
#define VLS_HASH_H

#include "base/base.h"

typedef struct vls_hasher {
    uint64_t state[14]; /* OpenSSL's */
    bool running;       /* between begin and end */
    bool tagged;
} vls_hasher;

/* The id of a blob, at once. */
void vls_hash_bytes(valise_id *out, valise_str bytes);

/* The id of a blob, in pieces. A begin forgets a hash that was not ended. */
void vls_hash_begin(vls_hasher *hasher);
void vls_hash_update(vls_hasher *hasher, valise_str bytes);

/* Take the result; the hasher can begin again. */
void vls_hash_end(valise_id *out, vls_hasher *hasher);

/* A tagged hash. The tag names kind and version of the encoding: "valise.value.1". */
void vls_hash_begin_tagged(vls_hasher *hasher, const char *tag);
void vls_hash_field(vls_hasher *hasher, valise_str bytes);
void vls_hash_field_u64(vls_hasher *hasher, uint64_t number);
void vls_hash_field_id(vls_hasher *hasher, const valise_id *id); /* NULL: none */
void vls_hash_field_none(vls_hasher *hasher);

static inline bool vls_id_equal(const valise_id *a, const valise_id *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* All zeros: how rows say that there is none. */
static inline bool vls_id_is_none(const valise_id *id)
{
    static const valise_id none;

    return vls_id_equal(id, &none);
}

/* Order by bytes, which is also the order of the hex digits: negative, 0 or positive. */
static inline int vls_id_compare(const valise_id *a, const valise_id *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

/* The same for qsort and bsearch in arrays of valise_id. */
int vls_id_order(const void *a, const void *b);

#endif
