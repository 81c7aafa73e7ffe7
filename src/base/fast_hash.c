/* fast_hash.c -- XXH3 with a secret, or with a seed. */
#define XXH_INLINE_ALL
#include <xxhash.h> /* before ours: its inline functions mention malloc, which base.h bans */

#include "base/fast_hash.h"

_Static_assert(sizeof(((vls_fast_key *)0)->secret) >= XXH3_SECRET_SIZE_MIN,
               "the secret is too short for XXH3");

int vls_fast_key_init(vls_fast_key *key, const valise_env *env, valise_error *err)
{
    vls_fast_key drawn;

    if (env->random(env->self, drawn.secret, sizeof(drawn.secret)) < 0)
        return vls_fail(err, VALISE_E_IO,
                        "the environment provides no random bytes for a hash key");
    *key = drawn;
    return 0;
}

uint64_t vls_fast_hash64(valise_str bytes, const vls_fast_key *key)
{
    return XXH3_64bits_withSecret(bytes.ptr, bytes.len, key->secret, sizeof(key->secret));
}

static vls_hash128 from_xxh(XXH128_hash_t hash)
{
    return (vls_hash128){hash.low64, hash.high64};
}

vls_hash128 vls_fast_hash128(valise_str bytes, const vls_fast_key *key)
{
    return from_xxh(
        XXH3_128bits_withSecret(bytes.ptr, bytes.len, key->secret, sizeof(key->secret)));
}

vls_hash128 vls_fast_hash128_seeded(valise_str bytes, uint64_t seed)
{
    return from_xxh(XXH3_128bits_withSeed(bytes.ptr, bytes.len, seed));
}
