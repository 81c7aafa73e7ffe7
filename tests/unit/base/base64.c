/* base64.c -- RFC 4648 vectors, round trips in pieces, and everything that must be refused. */
#include "harness/test.h"

#include "base/base64.h"
#include "harness/counting_env.h"

typedef struct vector {
    const char *bytes, *text, *unpadded;
} vector;

/* RFC 4648, section 10. */
static const vector rfc_vectors[] = {
    {"", "", ""},
    {"f", "Zg==", "Zg"},
    {"fo", "Zm8=", "Zm8"},
    {"foo", "Zm9v", "Zm9v"},
    {"foob", "Zm9vYg==", "Zm9vYg"},
    {"fooba", "Zm9vYmE=", "Zm9vYmE"},
    {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
};

typedef int decode_fn(vls_buf *out, valise_str text, valise_error *err);

static void check_encodes(test *t, valise_str bytes, const char *text)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, strlen(text));
    vls_base64_encode(&out, bytes);
    CHECK_OK(vls_buf_check(&out, &t->err));
    CHECK_STR(valise_str_of(text), vls_buf_str(&out));
}

static void check_decodes(test *t, valise_str bytes, const char *text, decode_fn *decode)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, bytes.len); /* not a byte more than it needs */
    CHECK_OK(decode(&out, valise_str_of(text), &t->err));
    CHECK_STR(bytes, vls_buf_str(&out));
}

static void check_refuses_with(test *t, decode_fn *decode, valise_str text, int64_t offset,
                               const char *message)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 1024);
    vls_buf_add(&out, VLS_STR("kept"));
    CHECK_RC(VALISE_E_INVALID, decode(&out, text, &t->err));
    CHECK_STR(VLS_STR("kept"), vls_buf_str(&out));
    CHECK_INT(offset, t->err.offset);
    CHECK_TEXT(message, t->err.message);
}

static void check_refuses(test *t, valise_str text, int64_t offset, const char *message)
{
    check_refuses_with(t, vls_base64_decode, text, offset, message);
}

static void check_refuses_unpadded(test *t, valise_str text, int64_t offset, const char *message)
{
    check_refuses_with(t, vls_base64_decode_unpadded, text, offset, message);
}

static char *random_bytes(test_rng *rng, size_t len)
{
    char *bytes = test_alloc(len);

    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)test_random(rng);
    return bytes;
}

TEST(base64, rfc_4648_vectors)
{
    for (size_t i = 0; i < VLS_COUNT(rfc_vectors); i++) {
        const vector *v = &rfc_vectors[i];
        check_encodes(t, valise_str_of(v->bytes), v->text);
        check_decodes(t, valise_str_of(v->bytes), v->text, vls_base64_decode);
        check_decodes(t, valise_str_of(v->bytes), v->text, vls_base64_decode_unpadded);
        check_decodes(t, valise_str_of(v->bytes), v->unpadded, vls_base64_decode_unpadded);
    }
}

TEST(base64, whole_alphabet)
{
    static const char standard[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char bytes[48];

    /* The numbers 0 to 63 in six bits each. */
    for (unsigned i = 0; i < 16; i++) {
        uint32_t bits = 4 * i << 18 | (4 * i + 1) << 12 | (4 * i + 2) << 6 | (4 * i + 3);
        bytes[3 * i] = (char)(bits >> 16);
        bytes[3 * i + 1] = (char)(bits >> 8);
        bytes[3 * i + 2] = (char)bits;
    }
    check_encodes(t, vls_str(bytes, sizeof(bytes)), standard);
    check_decodes(t, vls_str(bytes, sizeof(bytes)), standard, vls_base64_decode);
}

TEST(base64, the_alphabet_refuses_every_byte_that_is_not_its_own)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 64);
    for (int c = 0; c < 256; c++) {
        bool good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    c == '+' || c == '/';
        /* In each place of a group, and in a later group too. */
        for (size_t place = 0; place < 8; place++) {
            char text[8] = {'A', 'B', 'C', 'D', 'E', 'F', 'E', 'F'};
            text[place] = (char)c;
            vls_buf_clear(&out);
            int rc = vls_base64_decode(&out, vls_str(text, sizeof(text)), &t->err);
            /* '=' ends the text properly in the very last place. */
            bool ends = c == '=' && place == 7;
            if (good || ends) {
                CHECK_MSG(rc == 0, "0x%02x refused in place %zu", c, place);
                continue;
            }
            CHECK_MSG(rc == VALISE_E_INVALID, "0x%02x accepted in place %zu", c, place);
            CHECK_INT(0, out.len);
            CHECK(t->err.offset >= (int64_t)place - (c == '=') &&
                  t->err.offset <= (int64_t)place + (c == '='));
        }
    }
}

TEST(base64, round_trips_all_lengths)
{
    test_rng rng = test_rng_new(test_seed());

    for (size_t len = 0; len <= 64; len++) {
        char *bytes = random_bytes(&rng, len);
        VLS_AUTO(buf) vls_buf text;
        vls_buf_init(&text, t->env, vls_base64_encoded_len(len));
        vls_base64_encode(&text, vls_str(bytes, len));
        CHECK_OK(vls_buf_check(&text, &t->err));
        CHECK_INT((len + 2) / 3 * 4, text.len);
        valise_str whole = vls_buf_str(&text);
        check_decodes(t, vls_str(bytes, len), test_format("%.*s", VALISE_STR_ARG(whole)),
                      vls_base64_decode);
        whole.len = (len * 4 + 2) / 3;
        check_decodes(t, vls_str(bytes, len), test_format("%.*s", VALISE_STR_ARG(whole)),
                      vls_base64_decode_unpadded);
    }
}

/* Cut s at random places, some of the pieces empty, and hand them over one by one. */
static void feed_pieces(test_rng *rng, vls_buf *out, vls_base64_encoder *e, valise_str s)
{
    while (s.len > 0) {
        size_t len = test_random_below(rng, test_random_below(rng, 4) ? 9 : 20000);
        len = VLS_MIN(len, s.len);
        /* A copy of exactly its size, so that ASan sees a step over its end. */
        char *piece = test_alloc(len);
        memcpy(piece, s.ptr, len);
        vls_base64_encode_update(out, e, vls_str(piece, len));
        s = vls_str_from(s, len);
    }
}

TEST(base64, pieces_give_what_the_whole_gives)
{
    test_rng rng = test_rng_new(test_seed());
    vls_base64_encoder e = {0}; /* starts anew after each finish */

    for (int round = 0; round < 300; round++) {
        size_t len = test_random_below(&rng, round % 10 ? 200 : 60000);
        valise_str bytes = vls_str(random_bytes(&rng, len), len);
        VLS_AUTO(buf) vls_buf whole;
        VLS_AUTO(buf) vls_buf pieces;
        VLS_AUTO(buf) vls_buf back;

        vls_buf_init(&whole, t->env, 1 << 20);
        vls_buf_init(&pieces, t->env, 1 << 20);
        vls_buf_init(&back, t->env, len);
        vls_base64_encode(&whole, bytes);
        feed_pieces(&rng, &pieces, &e, bytes);
        vls_base64_encode_finish(&pieces, &e);
        CHECK_OK(vls_buf_check(&pieces, &t->err));
        CHECK_STR(vls_buf_str(&whole), vls_buf_str(&pieces));
        CHECK_OK(vls_base64_decode(&back, vls_buf_str(&whole), &t->err));
        CHECK_STR(bytes, vls_buf_str(&back));
    }
}

TEST(base64, refuses_bits_behind_the_last_byte)
{
    const char *message = "base64: the character at offset 1 has bits set after the last byte";

    check_refuses(t, VLS_STR("Zh=="), 1, message);
    check_refuses_unpadded(t, VLS_STR("Zh"), 1, message);
    check_refuses(t, VLS_STR("Zm9vZm9="), 6,
                  "base64: the character at offset 6 has bits set after the last byte");
    check_refuses_unpadded(t, VLS_STR("Zm9"), 2,
                           "base64: the character at offset 2 has bits set after the last byte");
    CHECK(t->err.hint[0] != '\0');
}

TEST(base64, refuses_anything_behind_padding)
{
    check_refuses(t, VLS_STR("Zg==Zg=="), 4, "base64: 'Z' at offset 4 comes after the padding");
    check_refuses(t, VLS_STR("Zm8=\n"), 4, "base64: 0x0a at offset 4 comes after the padding");
    check_refuses_unpadded(t, VLS_STR("Zg==="), 4,
                           "base64: '=' at offset 4 comes after the padding");
    check_refuses(t, VLS_STR("Zg=g"), 3, "base64: 'g' at offset 3, where a second '=' must be");
}

TEST(base64, refuses_padding_that_is_missing_or_misplaced)
{
    check_refuses(t, VLS_STR("Zg"), 2, "base64: padding is missing at the end (offset 2)");
    check_refuses(t, VLS_STR("Zg="), 3, "base64: padding is missing at the end (offset 3)");
    check_refuses_unpadded(t, VLS_STR("Zg="), 3,
                           "base64: padding is missing at the end (offset 3)");
    check_refuses(t, VLS_STR("Zm9vZm8"), 7, "base64: padding is missing at the end (offset 7)");
    check_refuses(t, VLS_STR("="), 0, "base64: padding at offset 0, where a character must be");
    check_refuses(t, VLS_STR("Z==="), 1, "base64: padding at offset 1, where a character must be");
    check_refuses_unpadded(t, VLS_STR("Zm9vZ"), 5,
                           "base64: the text ends within a byte, at offset 5");
}

TEST(base64, refuses_white_space_and_the_alphabet_of_urls)
{
    check_refuses(t, VLS_STR("Zm9v\nZm9v"), 4, "base64: unexpected 0x0a at offset 4");
    check_refuses(t, VLS_STR("Zm9v Zm9v"), 4, "base64: unexpected 0x20 at offset 4");
    check_refuses(t, VLS_STR("Zm9vZm-v"), 6, "base64: unexpected '-' at offset 6");
    check_refuses(t, VLS_STR("Zm9v\0Zg="), 4, "base64: unexpected 0x00 at offset 4");
}

/* One changed character in a text of several groups is never taken for the same bytes, and where
 * it is refused nothing was appended. */
TEST(base64, one_text_for_each_sequence_of_bytes)
{
    test_rng rng = test_rng_new(test_seed());

    for (int round = 0; round < 500; round++) {
        size_t len = 1 + test_random_below(&rng, 20);
        valise_str bytes = vls_str(random_bytes(&rng, len), len);
        VLS_AUTO(buf) vls_buf text;
        VLS_AUTO(buf) vls_buf back;

        vls_buf_init(&text, t->env, 64);
        vls_buf_init(&back, t->env, 64);
        vls_base64_encode(&text, bytes);
        CHECK_OK(vls_buf_check(&text, &t->err));
        size_t place = test_random_below(&rng, text.len);
        char old = text.ptr[place];
        text.ptr[place] = (char)test_random(&rng);
        if (text.ptr[place] == old)
            continue;
        if (vls_base64_decode(&back, vls_buf_str(&text), NULL) == 0)
            CHECK(!vls_str_equal(bytes, vls_buf_str(&back)));
        else
            CHECK_INT(0, back.len);
    }
}

TEST(base64, respects_the_maximum_of_its_output)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 7);
    vls_base64_encode(&out, VLS_STR("foob"));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&out, &t->err));

    vls_buf_release(&out);
    vls_buf_init(&out, t->env, 3);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_base64_decode(&out, VLS_STR("Zm9vYg=="), &t->err));
    CHECK_INT(0, out.len);
    vls_buf_clear(&out);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_base64_decode_unpadded(&out, VLS_STR("Zm9vYg"), &t->err));
    CHECK_INT(0, out.len);
    vls_buf_clear(&out);
    CHECK_OK(vls_base64_decode(&out, VLS_STR("Zm9v"), &t->err));
    CHECK_STR(VLS_STR("foo"), vls_buf_str(&out));
}

TEST(base64, encoded_len_is_exact_and_does_not_overflow)
{
    CHECK_INT(0, vls_base64_encoded_len(0));
    CHECK_INT(4, vls_base64_encoded_len(1));
    CHECK_INT(4, vls_base64_encoded_len(3));
    CHECK_INT(8, vls_base64_encoded_len(4));
    CHECK(vls_base64_encoded_len(SIZE_MAX / 4 * 3) == SIZE_MAX / 4 * 4);
    CHECK(vls_base64_encoded_len(SIZE_MAX) == SIZE_MAX);
}

TEST(base64, every_allocation_that_fails_is_reported_and_nothing_leaks)
{
    static const char bytes[40000];
    valise_str s = vls_str(bytes, sizeof(bytes));
    counting_env c;
    vls_buf text, back;
    long long n = 0;
    int rc;

    counting_env_init(&c);
    do {
        vls_buf_init(&text, &c.env, 1 << 20);
        vls_buf_init(&back, &c.env, 1 << 20);
        counting_env_fail_at(&c, n++);
        vls_base64_encode(&text, s);
        rc = vls_buf_check(&text, &t->err);
        if (rc == 0)
            rc = vls_base64_decode(&back, vls_buf_str(&text), &t->err);
        CHECK_INT(c.failed ? VALISE_E_NO_MEMORY : 0, rc);
        CHECK_INT(rc == 0 ? sizeof(bytes) : 0, back.len);
        vls_buf_release(&text);
        vls_buf_release(&back);
        CHECK_INT(0, counting_env_in_use(&c));
    } while (rc < 0);
    CHECK(n > 4);
}
