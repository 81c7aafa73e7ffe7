/* hex.c -- hexadecimal text, ids and UUIDs. */
#include "harness/test.h"

#include "base/hex.h"
#include "harness/counting_env.h"

#define ID_TEXT "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1dfeff"

TEST(hex, encodes_every_byte_in_lower_case)
{
    VLS_AUTO(buf) vls_buf out;
    char all[256];

    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    vls_buf_init(&out, t->env, 1024);
    vls_hex_encode(&out, vls_str(all, sizeof(all)));
    CHECK_OK(vls_buf_check(&out, &t->err));
    CHECK_INT(512, out.len);
    for (int i = 0; i < 256; i++)
        CHECK_STR(valise_str_of(test_format("%02x", i)), vls_str(out.ptr + 2 * i, 2));
}

TEST(hex, round_trips_all_lengths)
{
    test_rng rng = test_rng_new(test_seed());

    for (size_t len = 0; len <= 600; len++) {
        VLS_AUTO(buf) vls_buf text;
        VLS_AUTO(buf) vls_buf back;
        char *bytes = test_alloc(len);
        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)test_random(&rng);
        vls_buf_init(&text, t->env, 2 * len);
        vls_buf_init(&back, t->env, len);
        vls_hex_encode(&text, vls_str(bytes, len));
        CHECK_OK(vls_buf_check(&text, &t->err));
        CHECK_OK(vls_hex_decode(&back, vls_buf_str(&text), &t->err));
        CHECK_STR(vls_str(bytes, len), vls_buf_str(&back));
    }
}

TEST(hex, refuses_an_odd_number_of_digits)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 16);
    CHECK_RC(VALISE_E_INVALID, vls_hex_decode(&out, VLS_STR("abc"), &t->err));
    CHECK_INT(3, t->err.offset);
    CHECK_TEXT("hexadecimal text has an odd number of digits (3)", t->err.message);
    CHECK_INT(0, out.len);
}

TEST(hex, refuses_every_byte_that_is_no_digit_and_says_where)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 16);
    for (int c = 0; c < 256; c++) {
        char text[] = {'0', 'a', '1', (char)c};
        bool good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        vls_buf_clear(&out);
        int rc = vls_hex_decode(&out, vls_str(text, sizeof(text)), &t->err);
        CHECK_INT(good ? 0 : VALISE_E_INVALID, rc);
        CHECK_INT(good ? 2 : 0, out.len);
        if (!good)
            CHECK_INT(3, t->err.offset);
    }
    CHECK_RC(VALISE_E_INVALID, vls_hex_decode(&out, VLS_STR("aB"), &t->err));
    CHECK_TEXT("hexadecimal text: 'B' at offset 1 is not a hexadecimal digit", t->err.message);
    CHECK_TEXT("write the digits a to f in lower case", t->err.hint);
    CHECK_RC(VALISE_E_INVALID, vls_hex_decode(&out, VLS_STR("\x1b"), &t->err));
    CHECK_TEXT("hexadecimal text: 0x1b at offset 0 is not a hexadecimal digit", t->err.message);
}

TEST(hex, decode_appends_and_keeps_what_was_there_on_failure)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 4);
    vls_buf_add(&out, VLS_STR("x"));
    CHECK_OK(vls_hex_decode(&out, VLS_STR("6162"), &t->err));
    CHECK_STR(VLS_STR("xab"), vls_buf_str(&out));
    CHECK_RC(VALISE_E_INVALID, vls_hex_decode(&out, VLS_STR("6g"), &t->err));
    CHECK_STR(VLS_STR("xab"), vls_buf_str(&out));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_hex_decode(&out, VLS_STR("6162"), &t->err));
    CHECK_STR(VLS_STR("xab"), vls_buf_str(&out));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_hex_decode(&out, VLS_STR(""), NULL));
}

TEST(hex, fails_cleanly_when_memory_runs_out)
{
    counting_env c;
    vls_buf out;

    counting_env_init(&c);
    vls_buf_init(&out, &c.env, 64);
    counting_env_fail_at(&c, 0);
    CHECK_RC(VALISE_E_NO_MEMORY, vls_hex_decode(&out, VLS_STR("6162"), &t->err));
    CHECK_INT(0, out.len);
    vls_buf_clear(&out);
    counting_env_fail_at(&c, 0);
    vls_hex_encode(&out, VLS_STR("ab"));
    CHECK_RC(VALISE_E_NO_MEMORY, vls_buf_check(&out, &t->err));
    CHECK_INT(0, counting_env_in_use(&c));
}

TEST(hex, id_prints_and_parses)
{
    valise_id id = {{0}}, back = {{0}};

    for (int i = 0; i < 30; i++)
        id.bytes[i] = (uint8_t)i;
    id.bytes[30] = 0xfe;
    id.bytes[31] = 0xff;
    CHECK_TEXT(ID_TEXT, vls_id_hex(&id).s);
    CHECK_OK(vls_id_parse(&back, VLS_STR(ID_TEXT), &t->err));
    CHECK(memcmp(&id, &back, sizeof(id)) == 0);
}

TEST(hex, ids_as_programs_print_them)
{
    char text[VALISE_ID_TEXT];
    valise_id id = {{0}}, back = {{1}};

    CHECK_OK(valise_id_parse(&id, VLS_STR(ID_TEXT), &t->err));
    memset(text, 'x', sizeof(text));
    CHECK(valise_id_text(text, &id) == text);
    CHECK_TEXT(ID_TEXT, text);
    CHECK_RC(VALISE_E_INVALID, valise_id_parse(&back, VLS_STR("abc"), &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_id_parse(NULL, VLS_STR(ID_TEXT), &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_id_parse(&back, (valise_str){NULL, 64}, &t->err));
    CHECK_INT(1, back.bytes[0]);
}

TEST(hex, id_parse_is_strict_and_leaves_its_output)
{
    valise_id id;
    valise_str good = VLS_STR(ID_TEXT);

    memset(&id, 0x5a, sizeof(id));
    CHECK_RC(VALISE_E_INVALID, vls_id_parse(&id, VLS_STR(""), &t->err));
    CHECK_INT(0, t->err.offset);
    CHECK_RC(VALISE_E_INVALID, vls_id_parse(&id, vls_str_head(good, 63), &t->err));
    CHECK_INT(63, t->err.offset);
    CHECK_TEXT("an id has 64 hexadecimal digits, not 63", t->err.message);
    CHECK_RC(VALISE_E_INVALID, vls_id_parse(&id, VLS_STR(ID_TEXT "0"), &t->err));
    CHECK_INT(64, t->err.offset);
    CHECK_RC(VALISE_E_INVALID, vls_id_parse(&id, VLS_STR(ID_TEXT "\n"), &t->err));
    CHECK_INT(64, t->err.offset);

    for (size_t i = 0; i < good.len; i++) {
        char text[64];
        memcpy(text, good.ptr, sizeof(text));
        text[i] = 'A';
        CHECK_RC(VALISE_E_INVALID, vls_id_parse(&id, vls_str(text, sizeof(text)), &t->err));
        CHECK_INT(i, t->err.offset);
    }
    for (size_t i = 0; i < sizeof(id.bytes); i++)
        CHECK_INT(0x5a, id.bytes[i]);
}

TEST(hex, uuid_prints_lower_case_and_parses_both)
{
    static const valise_uuid uuid = {{0x01, 0x9a, 0xbc, 0xde, 0xf0, 0x12, 0x7f, 0x34, 0x8a, 0xbb,
                                      0xcc, 0xdd, 0xee, 0xff, 0x00, 0x11}};
    valise_uuid back = {{0}};

    CHECK_TEXT("019abcde-f012-7f34-8abb-ccddeeff0011", vls_uuid_text(&uuid).s);
    CHECK_OK(vls_uuid_parse(&back, VLS_STR("019abcde-f012-7f34-8abb-ccddeeff0011"), &t->err));
    CHECK(memcmp(&uuid, &back, sizeof(uuid)) == 0);
    memset(&back, 0, sizeof(back));
    CHECK_OK(vls_uuid_parse(&back, VLS_STR("019ABCDE-F012-7f34-8aBb-CCDDEEFF0011"), &t->err));
    CHECK(memcmp(&uuid, &back, sizeof(uuid)) == 0);
    memset(&back, 0, sizeof(back));
    CHECK_OK(valise_uuid_parse(&back, VLS_STR("019abcde-f012-7f34-8abb-ccddeeff0011"), &t->err));
    CHECK(memcmp(&uuid, &back, sizeof(uuid)) == 0);
    CHECK_RC(VALISE_E_INVALID, valise_uuid_parse(&back, VLS_STR("019abcde"), &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_uuid_parse(NULL, VLS_STR(""), &t->err));
}

TEST(hex, uuid_parse_is_strict_and_leaves_its_output)
{
    static const char good[] = "019abcde-f012-7f34-8abb-ccddeeff0011";
    static const char *const bad[] = {
        "",
        "019abcde",
        "019abcdef0127f348abbccddeeff0011",
        "{19abcde-f012-7f34-8abb-ccddeeff001}",
        "urn:uuid:019abcde-f012-7f34-8abb-ccddeeff0011",
        "019abcde-f012-7f34-8abb-ccddeeff001",
        "019abcde-f012-7f34-8abb-ccddeeff00111",
        " 019abcde-f012-7f34-8abb-ccddeeff0011",
        "019abcde-f012-7f34-8abb-ccddeeff0011 ",
        "019abcd-ef012-7f34-8abb-ccddeeff0011",
    };
    valise_uuid uuid;

    memset(&uuid, 0x5a, sizeof(uuid));
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        int rc = vls_uuid_parse(&uuid, valise_str_of(bad[i]), &t->err);
        CHECK_MSG(rc == VALISE_E_INVALID, "\"%s\" was accepted", bad[i]);
    }
    for (size_t i = 0; i < sizeof(good) - 1; i++) {
        char text[sizeof(good)];
        memcpy(text, good, sizeof(good));
        text[i] = good[i] == '-' ? '0' : '-';
        CHECK_RC(VALISE_E_INVALID, vls_uuid_parse(&uuid, valise_str_of(text), &t->err));
        CHECK_INT(i, t->err.offset);
        text[i] = 'g';
        CHECK_RC(VALISE_E_INVALID, vls_uuid_parse(&uuid, valise_str_of(text), &t->err));
        CHECK_INT(i, t->err.offset);
    }
    for (size_t i = 0; i < sizeof(uuid.bytes); i++)
        CHECK_INT(0x5a, uuid.bytes[i]);
}

TEST(hex, byte_text_is_printable_for_every_byte)
{
    for (int c = 0; c < 256; c++) {
        vls_byte_name name = vls_byte_text((char)c);
        if (c > 0x20 && c < 0x7f)
            CHECK_TEXT(test_format("'%c'", c), name.s);
        else
            CHECK_TEXT(test_format("0x%02x", c), name.s);
    }
}
