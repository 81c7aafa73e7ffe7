/* fast_hash.h -- XXH3: fast hashes for bytes within one process, or within one store.
 *
 * It is over ten times as fast as SHA-256, but does not resist anybody who wants two inputs to
 * collide. So it names only what is verified in another way: chunks (the object made of them has
 * its SHA-256), rows of caches, slots of tables. If others choose the input, use a key that they do
 * not know; the seeded forms give the same result in every process and version.
 *
 * Threads: vls_fast_key is immutable once made. */
#ifndef VLS_FAST_HASH_H
#define VLS_FAST_HASH_H

#include "base/base.h"

typedef struct vls_hash128 {
    uint64_t low, high;
} vls_hash128;

typedef struct vls_fast_key {
    uint8_t secret[192];
} vls_fast_key;

/* Draw a new key. VALISE_E_IO when env has no random bytes to give. */
int vls_fast_key_init(vls_fast_key *key, const valise_env *env, valise_error *err);

/* Keyed. */
uint64_t vls_fast_hash64(valise_str bytes, const vls_fast_key *key);
vls_hash128 vls_fast_hash128(valise_str bytes, const vls_fast_key *key);

/* Stable: may be stored. (vls_str_hash in base/str.h is the seeded 64-bit form.) */
vls_hash128 vls_fast_hash128_seeded(valise_str bytes, uint64_t seed);

static inline bool vls_hash128_equal(vls_hash128 a, vls_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

#endif
