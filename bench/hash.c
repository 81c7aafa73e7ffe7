/* hash.c -- SHA-256 through our seam, and chunking, against the raw calls. */
#include <openssl/evp.h>

#include "bench/bench.h"

#include "base/chunk.h"
#include "base/hash.h"
#include "base/mem.h"

#define LARGE ((size_t)1 << 20)

typedef struct state {
    EVP_MD *md;
    EVP_MD_CTX *ctx;
    char *bytes;
    size_t len;
} state;

static void hash_ours(void *arg, size_t times)
{
    state *s = arg;
    valise_id id;

    while (times--) {
        vls_hash_bytes(&id, (valise_str){s->bytes, s->len});
        bench_use(&id);
    }
}

static void hash_tagged(void *arg, size_t times)
{
    state *s = arg;
    vls_hasher hasher;
    valise_id id;

    while (times--) {
        vls_hash_begin_tagged(&hasher, "valise.value.1");
        vls_hash_field(&hasher, (valise_str){s->bytes, s->len});
        vls_hash_end(&id, &hasher);
        bench_use(&id);
    }
}

static void hash_raw(void *arg, size_t times)
{
    state *s = arg;
    unsigned char digest[32];

    while (times--) {
        EVP_DigestInit_ex2(s->ctx, s->md, NULL);
        EVP_DigestUpdate(s->ctx, s->bytes, s->len);
        EVP_DigestFinal_ex(s->ctx, digest, NULL);
        bench_use(digest);
    }
}

static void chunk_all(void *arg, size_t times)
{
    state *s = arg;
    const uint8_t *bytes = (const uint8_t *)s->bytes;

    while (times--) {
        size_t at = 0;
        while (at < s->len)
            at += vls_chunk_next(bytes + at, s->len - at);
        bench_use(&at);
    }
}

BENCH(hash)
{
    const valise_env *env = valise_env_default();
    state s = {.md = EVP_MD_fetch(NULL, "SHA256", NULL), .ctx = EVP_MD_CTX_new()};

    s.bytes = vls_mem_alloc(env, LARGE);
    if (!s.bytes || !s.md || !s.ctx || env->random(env->self, s.bytes, LARGE) < 0)
        abort();
    s.len = 64;
    bench_compare(b, &(bench_row){.name = "id of 64 bytes",
                                  .against = "raw EVP SHA-256",
                                  .arg = &s,
                                  .ours = hash_ours,
                                  .baseline = hash_raw,
                                  .at_most = 1.2});
    bench_compare(b, &(bench_row){.name = "tagged id of 64 bytes",
                                  .against = "raw EVP SHA-256",
                                  .arg = &s,
                                  .ours = hash_tagged,
                                  .baseline = hash_raw});
    s.len = 1024;
    bench_compare(b, &(bench_row){.name = "id of 1 KB",
                                  .against = "raw EVP SHA-256",
                                  .arg = &s,
                                  .ours = hash_ours,
                                  .baseline = hash_raw,
                                  .at_most = 1.1});
    s.len = LARGE;
    bench_compare(b, &(bench_row){.name = "id of 1 MB",
                                  .against = "raw EVP SHA-256",
                                  .arg = &s,
                                  .ours = hash_ours,
                                  .baseline = hash_raw,
                                  .at_most = 1.05,
                                  .bytes = LARGE});
    bench_compare(b, &(bench_row){.name = "cutting 1 MB into chunks",
                                  .against = "raw EVP SHA-256",
                                  .arg = &s,
                                  .ours = chunk_all,
                                  .baseline = hash_raw,
                                  .at_most = 1,
                                  .bytes = LARGE});
    EVP_MD_CTX_free(s.ctx);
    EVP_MD_free(s.md);
    vls_mem_free(env, s.bytes, LARGE);
}
