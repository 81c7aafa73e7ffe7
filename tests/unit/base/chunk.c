/* chunk.c -- content-defined chunks: their sizes, and how little a change costs. [K29] */
#define VLS_ALLOW_MALLOC
#include "harness/test.h"

#include "base/chunk.h"
#include "base/fast_hash.h"
#include "base/hash.h"

#define MAX_CHUNKS 20000

typedef struct chunks {
    size_t count;
    size_t at[MAX_CHUNKS + 1]; /* where each begins; the last entry is the end */
} chunks;

static uint8_t *random_bytes(test_rng *rng, size_t len)
{
    uint8_t *bytes = test_alloc(len);

    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(test_random(rng) >> 32);
    return bytes;
}

/* A list of small records, like the values that agents store. */
static uint8_t *json_bytes(test_rng *rng, size_t len)
{
    static const char *const words[] = {"query", "result", "the", "file", "of", "open",
                                        "tool",  "error",  "not", "path", "in", "done"};
    char *text = test_alloc(len + 256);
    size_t at = 0;

    for (int i = 0; at < len; i++) {
        at += (size_t)snprintf(text + at, 64, "{\"id\":%d,\"score\":%u,\"text\":\"", i,
                               (unsigned)test_random_below(rng, 1000));
        for (uint64_t n = 3 + test_random_below(rng, 12); n > 0; n--)
            at += (size_t)snprintf(text + at, 16, "%s ", words[test_random_below(rng, 12)]);
        at += (size_t)snprintf(text + at, 16, "\"},");
    }
    return (uint8_t *)text;
}

static void cut_all(chunks *out, const uint8_t *bytes, size_t len)
{
    size_t at = 0;

    out->count = 0;
    out->at[0] = 0;
    while (at < len) {
        size_t size = vls_chunk_next(bytes + at, len - at);
        CHECK(size > 0 && size <= len - at);
        CHECK(size <= VLS_CHUNK_MAX);
        CHECK(size >= VLS_CHUNK_MIN || at + size == len);
        CHECK(out->count < MAX_CHUNKS);
        at += size;
        out->at[++out->count] = at;
    }
}

/* ---- against a second implementation ---- */

static void make_gear(uint64_t gear[256])
{
    valise_id id;

    for (int i = 0; i < 256; i++) {
        const char *text = test_format("valise.gear.%d", i);
        vls_hash_bytes(&id, valise_str_of(text));
        gear[i] = 0;
        for (int j = 0; j < 8; j++)
            gear[i] = gear[i] << 8 | id.bytes[j];
    }
}

/* As the header says it: each place looked at alone, with the 64 bytes before it. */
static size_t plain_next(const uint64_t gear[256], const uint8_t *bytes, size_t len)
{
    for (size_t cut = VLS_CHUNK_MIN; cut < len && cut < VLS_CHUNK_MAX; cut++) {
        unsigned bits = (unsigned)__builtin_ctz(VLS_CHUNK_AVG);
        uint64_t h = 0;
        for (size_t i = cut - 64; i < cut; i++)
            h = 2 * h + gear[bytes[i]];
        bits = cut <= VLS_CHUNK_AVG - VLS_CHUNK_AVG / 5 ? bits + 2 : bits - 2;
        if (h >> (64 - bits) == 0)
            return cut;
    }
    return VLS_MIN(len, VLS_CHUNK_MAX);
}

TEST(chunk, agrees_with_its_description)
{
    test_rng rng = test_rng_new(test_seed());
    size_t len = 400000;
    uint64_t gear[256];
    size_t cuts = 0;

    make_gear(gear);
    for (size_t round = 0; round < 4; round++) {
        const uint8_t *bytes = round % 2 ? json_bytes(&rng, len) : random_bytes(&rng, len);
        for (size_t at = 0; at < len; cuts++) {
            size_t expected = plain_next(gear, bytes + at, len - at);
            CHECK_INT(expected, vls_chunk_next(bytes + at, len - at));
            at += expected;
        }
    }
    CHECK_MSG(cuts > 1000, "only %zu cuts were compared", cuts);
}

/* ---- sizes ---- */

static void check_average(const char *what, const uint8_t *bytes, size_t len, double tolerance)
{
    static chunks c;
    double average;

    cut_all(&c, bytes, len);
    average = (double)len / (double)c.count;
    test_note("%s: average %.0f bytes", what, average);
    CHECK_MSG(average > VLS_CHUNK_AVG * (1 - tolerance) &&
                  average < VLS_CHUNK_AVG * (1 + tolerance),
              "%s: average %.0f", what, average);
}

TEST(chunk, the_average_is_near_avg)
{
    test_rng rng = test_rng_new(test_seed());
    size_t len = 4 << 20;
    const uint8_t *random = random_bytes(&rng, len), *json = json_bytes(&rng, len);

    check_average("random", random, len, 0.10);
    check_average("json", json, len, 0.20);
}

TEST(chunk, a_run_of_one_byte_keeps_the_limits)
{
    static chunks c;
    uint8_t *bytes = test_alloc(100000);

    for (int value = 0; value < 256; value++) {
        memset(bytes, value, 100000);
        cut_all(&c, bytes, 100000); /* checks min and max */
    }
    memset(bytes, 0, 100000);
    cut_all(&c, bytes, 100000);
    CHECK_INT(25, c.count); /* zeros never end a chunk before max */
}

TEST(chunk, short_inputs_are_one_chunk)
{
    test_rng rng = test_rng_new(1);
    const uint8_t *bytes = random_bytes(&rng, 4097);

    CHECK_INT(0, vls_chunk_next(NULL, 0));
    for (size_t len = 1; len <= 256; len++)
        CHECK_INT(len, vls_chunk_next(bytes, len));
    for (size_t len = 257; len <= 4097; len++) {
        size_t size = vls_chunk_next(bytes, len);
        CHECK(size >= 256 && size <= VLS_MIN(len, 4096));
    }
}

TEST(chunk, the_buffering_does_not_matter)
{
    static chunks whole;
    test_rng rng = test_rng_new(test_seed());
    size_t len = 1 << 20, n = 0;
    const uint8_t *bytes = random_bytes(&rng, len);

    cut_all(&whole, bytes, len);
    for (size_t at = 0; at < len; n++) {
        /* Show it between max bytes and everything, in a block of its own that ASan guards. */
        size_t more = n % 4 ? test_random_below(&rng, 3000) : 0;
        size_t shown = VLS_MIN(len - at, 4096 + more);
        uint8_t *window = malloc(shown);
        memcpy(window, bytes + at, shown);
        at += vls_chunk_next(window, shown);
        free(window);
        CHECK_INT(whole.at[n + 1], at);
    }
    CHECK_INT(whole.count, n);
}

/* ---- sharing ---- */

typedef struct names {
    size_t count;
    vls_hash128 all[MAX_CHUNKS];
} names;

static void name_all(names *out, const uint8_t *bytes, size_t len)
{
    static chunks c;

    cut_all(&c, bytes, len);
    out->count = c.count;
    for (size_t i = 0; i < c.count; i++)
        out->all[i] = vls_fast_hash128_seeded(vls_str(bytes + c.at[i], c.at[i + 1] - c.at[i]), 0);
}

/* Chunks that a and b have in common at their ends: what a change in one place leaves alone. */
static size_t shared_tail(const names *a, const names *b, size_t most)
{
    size_t n = 0;

    while (n < most && vls_hash128_equal(a->all[a->count - 1 - n], b->all[b->count - 1 - n]))
        n++;
    return n;
}

static size_t shared(const names *a, const names *b)
{
    size_t most = VLS_MIN(a->count, b->count), n = 0;

    while (n < most && vls_hash128_equal(a->all[n], b->all[n]))
        n++;
    return n + shared_tail(a, b, most - n);
}

TEST(chunk, versions_with_a_small_change_share_nearly_all_chunks)
{
    static names before, after;
    test_rng rng = test_rng_new(test_seed());
    size_t len = 100000;
    size_t all = 0, kept = 0, fewest = 100;

    for (int kind = 0; kind < 2; kind++) { /* 1,000 versions in all */
        uint8_t *bytes = kind ? json_bytes(&rng, len) : random_bytes(&rng, len);
        name_all(&before, bytes, len);
        for (int version = 0; version < 500; version++) {
            size_t at = test_random_below(&rng, len - 20);
            for (size_t i = 0; i < 20; i++)
                bytes[at + i] = (uint8_t)('a' + test_random_below(&rng, 26));
            name_all(&after, bytes, len);
            size_t same = shared(&after, &before);
            fewest = VLS_MIN(fewest, same * 100 / after.count);
            all += after.count;
            kept += same;
            before = after;
        }
    }
    test_note("on average %.1f %% shared, at least %zu %%", 100.0 * (double)kept / (double)all,
              fewest);
    CHECK(kept * 100 >= all * 97);
    /* Now and then it takes ten chunks until the cuts meet again. */
    CHECK_MSG(fewest >= 80, "a version shares only %zu %% with the one before", fewest);
}

/* Bytes put in front or taken away move everything behind them; the cuts must move along. */
TEST(chunk, an_insertion_in_front_changes_only_the_first_chunks)
{
    static names before, after;
    test_rng rng = test_rng_new(test_seed());
    size_t len = 100000, worst = 0;

    for (int round = 0; round < 100; round++) {
        uint8_t *bytes = round % 2 ? json_bytes(&rng, len) : random_bytes(&rng, len);
        size_t by = 1 + test_random_below(&rng, 300);
        name_all(&before, bytes + by, len - by);
        name_all(&after, bytes, len);
        size_t tail = shared_tail(&after, &before, VLS_MIN(after.count, before.count));
        worst = VLS_MAX(worst, after.count - tail);
    }
    test_note("at most %zu chunks changed", worst);
    CHECK_MSG(worst <= 30, "%zu chunks changed", worst);
}
