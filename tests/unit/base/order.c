/* order.c -- keys: the order of the bytes is the order of the parts, and they come back. */
#include "kit/order.h"

#include <math.h>

#include "harness/counting_env.h"
#include "harness/fault.h"
#include "harness/test.h"

#define PARTS_MAX 4

typedef struct key {
    size_t count;
    vls_order_part part[PARTS_MAX];
} key;

/* ---- what the encoding must agree with ---- */

static int compare_parts(const vls_order_part *a, const vls_order_part *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    switch (a->kind) {
    case VLS_ORDER_NULL:
        return 0;
    case VLS_ORDER_INT:
        return (a->integer > b->integer) - (a->integer < b->integer);
    case VLS_ORDER_REAL:
        return (a->real > b->real) - (a->real < b->real);
    default:
        return vls_str_compare(a->bytes, b->bytes);
    }
}

static int compare_keys(const key *a, const key *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        int order = compare_parts(&a->part[i], &b->part[i]);
        if (order)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

/* Few different values, those at the edges among them, so that equal ones and beginnings of others
 * come up all the time. From 65 bytes on they are written in another way. */
static valise_str random_bytes(test_rng *rng)
{
    static const char alphabet[] = {0, 1, '\x7F', '\x80', '\xFE', '\xFF'};
    size_t start = test_random_below(rng, 3) == 0 ? 62 : 0;
    size_t len = start + test_random_below(rng, 5);
    char *bytes = test_alloc(start + 5);

    memset(bytes, 'a', start);
    for (size_t i = start; i < len; i++)
        bytes[i] = alphabet[test_random_below(rng, sizeof(alphabet))];
    return (valise_str){bytes, len};
}

static int64_t random_integer(test_rng *rng)
{
    static const int64_t edges[] = {INT64_MIN, INT64_MIN + 1, -256, -1, 0, 1, 255, 256, INT64_MAX};

    if (test_random_below(rng, 2))
        return edges[test_random_below(rng, VLS_COUNT(edges))];
    return (int64_t)(test_random(rng) >> test_random_below(rng, 64));
}

static double random_real(test_rng *rng)
{
    static const double edges[] = {-INFINITY, -1e300, -1.5, -1.0,   -5e-324, -0.0,
                                   0.0,       5e-324, 1.0,  1e-300, 1.5,     INFINITY};
    uint64_t bits;
    double real;

    if (test_random_below(rng, 2))
        return edges[test_random_below(rng, VLS_COUNT(edges))];
    do {
        bits = test_random(rng);
        memcpy(&real, &bits, sizeof(real));
    } while (isnan(real));
    return real;
}

static key random_key(test_rng *rng)
{
    key k = {.count = test_random_below(rng, PARTS_MAX + 1)};

    for (size_t i = 0; i < k.count; i++)
        k.part[i] = (vls_order_part){.kind = (vls_order_kind)(1 + test_random_below(rng, 5)),
                                     .integer = random_integer(rng),
                                     .real = random_real(rng),
                                     .bytes = random_bytes(rng)};
    return k;
}

static void encode(vls_buf *out, const key *k)
{
    for (size_t i = 0; i < k->count; i++)
        add_part(out, &k->part[i]);
}

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

TEST(order, bytes_compare_as_the_parts_do)
{
    VLS_AUTO(buf) vls_buf a = {0};
    VLS_AUTO(buf) vls_buf b = {0};
    test_rng rng = test_rng_new(test_seed());
    size_t equal = 0;

    vls_buf_init(&a, t->env, 1000);
    vls_buf_init(&b, t->env, 1000);
    for (unsigned i = 0; i < 20000; i++) {
        key ka = random_key(&rng), kb = random_key(&rng);
        if (test_random_below(&rng, 2)) { /* the same up to somewhere */
            size_t same = test_random_below(&rng, PARTS_MAX + 1);
            memcpy(kb.part, ka.part, VLS_MIN(same, ka.count) * sizeof(ka.part[0]));
            kb.count = VLS_MAX(kb.count, VLS_MIN(same, ka.count));
        }
        vls_buf_clear(&a);
        vls_buf_clear(&b);
        encode(&a, &ka);
        encode(&b, &kb);
        CHECK_OK(vls_buf_check(&a, &t->err));
        int order = compare_keys(&ka, &kb);
        CHECK_INT(sign(order), sign(vls_str_compare(vls_buf_str(&a), vls_buf_str(&b))));
        equal += order == 0;
    }
    CHECK(equal > 100);
}

TEST(order, parts_come_back)
{
    VLS_AUTO(buf) vls_buf buf = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    test_rng rng = test_rng_new(test_seed());
    vls_order_part part;

    vls_buf_init(&buf, t->env, 1000);
    vls_arena_init(&arena, t->env, 1000000);
    for (unsigned i = 0; i < 3000; i++) {
        key k = random_key(&rng);
        vls_buf_clear(&buf);
        vls_arena_reset(&arena);
        encode(&buf, &k);
        vls_reader in = vls_reader_of(vls_buf_str(&buf));
        for (size_t at = 0; at < k.count; at++) {
            CHECK_OK(vls_order_next(&part, &in, &arena, &t->err));
            CHECK_INT(0, compare_parts(&k.part[at], &part));
            CHECK(part.kind != VLS_ORDER_REAL || part.real != 0 || !signbit(part.real));
        }
        CHECK(vls_reader_is_done(&in));
        CHECK_RC(VALISE_E_CORRUPT, vls_order_next(&part, &in, &arena, &t->err));
    }
}

TEST(order, encodings_are_these)
{
    VLS_AUTO(buf) vls_buf buf = {0};

    vls_buf_init(&buf, t->env, 1000);
    vls_order_add_null(&buf);
    vls_order_add_int(&buf, -2);
    vls_order_add_real(&buf, 1.0);
    vls_order_add_real(&buf, -1.0);
    vls_order_add_real(&buf, -0.0);
    vls_order_add_text(&buf, vls_str("a\0b", 3));
    vls_order_add_blob(&buf, VLS_STR(""));
    CHECK_STR(vls_str("\x01"
                      "\x02\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFE"
                      "\x03\xBF\xF0\x00\x00\x00\x00\x00\x00"
                      "\x03\x40\x0F\xFF\xFF\xFF\xFF\xFF\xFF"
                      "\x03\x80\x00\x00\x00\x00\x00\x00\x00"
                      "\x04"
                      "a\x00\xFF"
                      "b\x00\x00"
                      "\x05\x00\x00",
                      1 + 9 + 9 + 9 + 9 + 7 + 3),
              vls_buf_str(&buf));
}

TEST(order, bytes_without_zeros_are_borrowed)
{
    VLS_AUTO(buf) vls_buf buf = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_order_part part;

    vls_buf_init(&buf, t->env, 1000);
    vls_arena_init(&arena, t->env, 0); /* has nothing to give */
    vls_order_add_text(&buf, VLS_STR("abc"));
    vls_order_add_text(&buf, vls_str("a\0", 2));
    vls_reader in = vls_reader_of(vls_buf_str(&buf));
    CHECK_OK(vls_order_next(&part, &in, &arena, &t->err));
    CHECK(part.bytes.ptr == buf.ptr + 1);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_order_next(&part, &in, &arena, &t->err));
    CHECK(part.bytes.ptr == buf.ptr + 1); /* untouched */
    CHECK(in.failed);
}

TEST(order, what_is_never_written_is_refused)
{
    static const valise_str cases[] = {
        {"", 0},
        {"\x00", 1},
        {"\x06", 1},
        {"\xFF", 1},
        {"\x02\x80\x00\x00\x00\x00\x00\x00", 8},     /* cut */
        {"\x03\x80\x00\x00\x00\x00\x00\x00", 8},     /* cut */
        {"\x03\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 9}, /* -0.0 */
        {"\x03\xFF\xF8\x00\x00\x00\x00\x00\x00", 9}, /* NaN */
        {"\x03\x00\x07\xFF\xFF\xFF\xFF\xFF\xFF", 9}, /* negative NaN */
        {"\x04", 1},                                 /* no end */
        {"\x04"
         "abc",
         4},
        {"\x04"
         "abc\x00",
         5}, /* half an end */
        {"\x04"
         "abc\x00\x01",
         6},
        {"\x05\x00\xFF", 3},
        {"\x05\x00\xFF\x00", 4},
    };
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_order_part part = {.integer = 7};

    vls_arena_init(&arena, t->env, 1000);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        char *copy = test_alloc(cases[i].len + 1); /* so that ASan sees its end */
        char *at = copy + 1;
        if (cases[i].len)
            memcpy(at, cases[i].ptr, cases[i].len);
        vls_reader in = vls_reader_of(vls_str(at, cases[i].len));
        CHECK_RC(VALISE_E_CORRUPT, vls_order_next(&part, &in, &arena, &t->err));
        CHECK_TEXT(test_format("a key is malformed %zu bytes before its end", cases[i].len),
                   t->err.message);
        CHECK(in.failed);
        CHECK_INT(7, part.integer);
    }
}

/* Any bytes: what is accepted is what writing makes of it again. */
TEST(order, what_is_read_is_written_the_same)
{
    VLS_AUTO(buf) vls_buf buf = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    test_rng rng = test_rng_new(test_seed());
    size_t accepted = 0;

    vls_buf_init(&buf, t->env, 1000);
    vls_arena_init(&arena, t->env, 100000);
    for (unsigned i = 0; i < 20000; i++) {
        static const char alphabet[] = {0, 0, 0, 1, 2, 3, 4, 5, '\x7F', '\xFF', '\xF0', '\x80'};
        char bytes[12];
        vls_order_part part;
        size_t len = test_random_below(&rng, sizeof(bytes) + 1);
        for (size_t j = 0; j < len; j++)
            bytes[j] = alphabet[test_random_below(&rng, sizeof(alphabet))];
        vls_reader in = vls_reader_of(vls_str(bytes, len));
        vls_buf_clear(&buf);
        vls_arena_reset(&arena);
        while (vls_reader_left(&in) > 0 && vls_order_next(&part, &in, &arena, NULL) == 0)
            add_part(&buf, &part);
        if (!in.failed) {
            CHECK_STR(vls_str(bytes, len), vls_buf_str(&buf));
            accepted++;
        }
    }
    CHECK(accepted > 100);
}

static int read_once(fault *f, void *arg)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_order_part part;
    vls_reader in = vls_reader_of(vls_str("\x04\x00\xFF\x00\x00", 5));

    (void)arg;
    vls_arena_init(&arena, f->env, 100000);
    return vls_order_next(&part, &in, &arena, &f->err);
}

TEST(order, without_memory)
{
    fault_each_alloc(t, 0, read_once, NULL);
}
