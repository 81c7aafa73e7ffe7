/* bytes.c -- numbers and strings as bytes: one encoding each, and nothing read that is not there.
 */
#include "base/bytes.h"

#include "harness/counting_env.h"
#include "harness/test.h"

static valise_str varint_of(test *t, uint64_t value)
{
    VLS_AUTO(buf) vls_buf buf = {0};
    char *copy = test_alloc(VLS_VARINT_MAX);

    vls_buf_init(&buf, t->env, 100);
    vls_bytes_add_varint(&buf, value);
    CHECK_OK(vls_buf_check(&buf, &t->err));
    CHECK(buf.len <= VLS_VARINT_MAX);
    memcpy(copy, buf.ptr, buf.len);
    return (valise_str){copy, buf.len};
}

TEST(bytes, big_endian_numbers)
{
    uint8_t b[9] = {0};

    vls_bytes_store_u16(b, 0x0102);
    vls_bytes_store_u32(b + 1, 0xFFFEFDFC); /* at any address */
    CHECK(memcmp(b, "\x01\xFF\xFE\xFD\xFC", 5) == 0);
    CHECK(vls_bytes_load_u16(b) == 0x01FF);
    CHECK(vls_bytes_load_u32(b + 1) == 0xFFFEFDFC);
    vls_bytes_store_u64(b + 1, UINT64_C(0x8182838485868788));
    CHECK(memcmp(b, "\x01\x81\x82\x83\x84\x85\x86\x87\x88", 9) == 0);
    CHECK(vls_bytes_load_u64(b + 1) == UINT64_C(0x8182838485868788));
}

TEST(bytes, zigzag)
{
    static const struct {
        int64_t number;
        uint64_t coded;
    } cases[] = {{0, 0},
                 {-1, 1},
                 {1, 2},
                 {-2, 3},
                 {63, 126},
                 {INT64_MAX, UINT64_MAX - 1},
                 {INT64_MIN, UINT64_MAX}};

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        CHECK(vls_bytes_zigzag(cases[i].number) == cases[i].coded);
        CHECK(vls_bytes_unzigzag(cases[i].coded) == cases[i].number);
    }
}

TEST(bytes, varints_are_as_short_as_they_can_be)
{
    CHECK_STR(vls_str("\0", 1), varint_of(t, 0));
    CHECK_STR(VLS_STR("\x7F"), varint_of(t, 127));
    CHECK_STR(VLS_STR("\x80\x01"), varint_of(t, 128));
    CHECK_STR(VLS_STR("\xAC\x02"), varint_of(t, 300));
    CHECK_STR(VLS_STR("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), varint_of(t, UINT64_MAX));
}

TEST(bytes, varints_of_every_length_come_back)
{
    test_rng rng = test_rng_new(test_seed());

    for (unsigned bits = 0; bits <= 64; bits++) {
        for (unsigned i = 0; i < 20; i++) {
            uint64_t value = bits == 0 ? 0 : test_random(&rng) >> (64 - bits);
            valise_str coded = varint_of(t, value);
            vls_reader in = vls_reader_of(coded);
            CHECK(vls_reader_varint(&in) == value);
            CHECK(vls_reader_is_done(&in));
            /* No beginning of it is a number too. */
            for (size_t len = 0; len < coded.len; len++) {
                in = vls_reader_of(vls_str_head(coded, len));
                CHECK(vls_reader_varint(&in) == 0);
                CHECK(in.failed && !vls_reader_is_done(&in));
            }
        }
    }
}

TEST(bytes, varints_that_are_not_the_only_way_to_write_a_number_are_refused)
{
    static const valise_str cases[] = {
        {"\x80\x00", 2}, /* 0 in two bytes */
        {"\xFF\x00", 2}, /* 127 in two */
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 10},
        {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 10}, /* 65 bits */
        {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 10},
        {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x81\x00", 11},
        {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x80\x01", 11},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_reader in = vls_reader_of(cases[i]);
        CHECK(vls_reader_varint(&in) == 0);
        CHECK(in.failed);
        CHECK_INT(0, vls_reader_left(&in));
    }
}

TEST(bytes, everything_written_is_read_back)
{
    VLS_AUTO(buf) vls_buf buf = {0};

    vls_buf_init(&buf, t->env, 1000);
    vls_buf_add_byte(&buf, '\x7F');
    vls_bytes_add_u16(&buf, 0xABCD);
    vls_bytes_add_u64(&buf, UINT64_MAX - 1);
    vls_bytes_add_varint(&buf, 1u << 20);
    vls_bytes_add_string(&buf, VLS_STR("text"));
    vls_bytes_add_string(&buf, (valise_str){NULL, 0});
    vls_buf_add_text(&buf, "tail");
    CHECK_OK(vls_buf_check(&buf, &t->err));

    vls_reader in = vls_reader_of(vls_buf_str(&buf));
    CHECK_INT(0x7F, vls_reader_u8(&in));
    CHECK_INT(0xABCD, vls_reader_u16(&in));
    CHECK(vls_reader_u64(&in) == UINT64_MAX - 1);
    CHECK_INT(1u << 20, vls_reader_varint(&in));
    CHECK_STR(VLS_STR("text"), vls_reader_string(&in));
    CHECK_STR(VLS_STR(""), vls_reader_string(&in));
    CHECK(!vls_reader_is_done(&in));
    CHECK_STR(VLS_STR("tail"), vls_reader_slice(&in, 4));
    CHECK(vls_reader_is_done(&in));
}

/* Each read of one byte too few fails, gives nothing, and fails everything after it. */
TEST(bytes, a_failed_read_sticks)
{
    for (unsigned way = 0; way < 6; way++) {
        char *seven = test_alloc(7);
        memset(seven, 9, 7);
        /* Not one byte of these is enough; the string announces nine and has six. */
        size_t len = way == 0 ? 0 : way == 1 ? 1 : way == 3 ? 0 : 7;
        vls_reader in = vls_reader_of(vls_str(seven, len));

        if (way == 0)
            CHECK_INT(0, vls_reader_u8(&in));
        else if (way == 1)
            CHECK_INT(0, vls_reader_u16(&in));
        else if (way == 2)
            CHECK_INT(0, vls_reader_u64(&in));
        else if (way == 3)
            CHECK_INT(0, vls_reader_varint(&in));
        else if (way == 4)
            CHECK_INT(0, vls_reader_slice(&in, UINT64_MAX).len);
        else
            CHECK_INT(0, vls_reader_string(&in).len);
        CHECK(in.failed && !vls_reader_is_done(&in));
        CHECK_INT(0, vls_reader_left(&in));
        CHECK_INT(0, vls_reader_u8(&in));
        CHECK_INT(0, vls_reader_slice(&in, 0).len);
        CHECK(in.failed);
    }
}

TEST(bytes, nothing_to_read)
{
    vls_reader in = vls_reader_of((valise_str){NULL, 0});

    CHECK(vls_reader_is_done(&in));
    CHECK_INT(0, vls_reader_slice(&in, 0).len);
    CHECK(vls_reader_is_done(&in));
    vls_reader_fail(&in);
    CHECK(!vls_reader_is_done(&in));
}

TEST(bytes, a_full_buffer_remembers)
{
    for (unsigned way = 0; way < 4; way++) {
        VLS_AUTO(buf) vls_buf buf = {0};

        vls_buf_init(&buf, t->env, 1);
        if (way == 0)
            vls_bytes_add_u16(&buf, 1);
        else if (way == 1)
            vls_bytes_add_u64(&buf, 1);
        else if (way == 2)
            vls_bytes_add_varint(&buf, 128);
        else
            vls_bytes_add_string(&buf, VLS_STR("a"));
        CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&buf, &t->err));
    }
}
