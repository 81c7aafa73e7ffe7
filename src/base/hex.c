/* hex.c -- hexadecimal digits, ids and UUIDs. */
#include "base/hex.h"

#include "base/str.h"

/* All pairs of digits, in order. */
#define SIXTEEN(h)                                                                                 \
    h "0" h "1" h "2" h "3" h "4" h "5" h "6" h "7" h "8" h "9" h "a" h "b" h "c" h "d" h "e" h "f"
static const char pairs[] = SIXTEEN("0") SIXTEEN("1") SIXTEEN("2") SIXTEEN("3") SIXTEEN("4")
    SIXTEEN("5") SIXTEEN("6") SIXTEEN("7") SIXTEEN("8") SIXTEEN("9") SIXTEEN("a") SIXTEEN("b")
        SIXTEEN("c") SIXTEEN("d") SIXTEEN("e") SIXTEEN("f");

/* Two digits per byte; out has room for 2 * len. */
static void write_digits(char *out, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        memcpy(out + 2 * i, pairs + 2 * (size_t)bytes[i], 2);
}

/* Values of digits plus one; of capitals plus CAPITAL. 0: it is none. */
#define CAPITAL 32
/* clang-format off */
static const uint8_t values[256] = {
    ['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5,
    ['5'] = 6, ['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10,
    ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = CAPITAL + 11, ['B'] = CAPITAL + 12, ['C'] = CAPITAL + 13,
    ['D'] = CAPITAL + 14, ['E'] = CAPITAL + 15, ['F'] = CAPITAL + 16,
};
/* clang-format on */

/* The value of a lower-case digit, or -1. */
static int digit_value(char c)
{
    int value = values[(unsigned char)c];

    return value < CAPITAL ? value - 1 : -1;
}

/* The value of a digit in either case, or -1. */
static int digit_value_any_case(char c)
{
    return (values[(unsigned char)c] & (CAPITAL - 1)) - 1;
}

/* Where text first has something that is no lower-case digit; text.len when nowhere. */
static size_t find_bad_digit(valise_str text)
{
    size_t at = 0;

    while (at < text.len && digit_value(text.ptr[at]) >= 0)
        at++;
    return at;
}

static int fail_bad_digit(valise_error *err, valise_str text, size_t at, const char *what)
{
    int rc =
        vls_fail_at(err, VALISE_E_INVALID, at, "%s: %s at offset %zu is not a hexadecimal digit",
                    what, vls_byte_text(text.ptr[at]).s, at);

    if (digit_value_any_case(text.ptr[at]) >= 0)
        vls_hint(err, "write the digits a to f in lower case");
    return rc;
}

/* text is an even number of good digits. */
static void read_digits(uint8_t *out, valise_str text)
{
    for (size_t i = 0; i < text.len / 2; i++) {
        int high = digit_value(text.ptr[2 * i]), low = digit_value(text.ptr[2 * i + 1]);
        assert(high >= 0 && low >= 0);
        out[i] = (uint8_t)(high << 4 | low);
    }
}

void vls_hex_encode(vls_buf *out, valise_str bytes)
{
    char chunk[512];

    /* In chunks, so that no length can overflow when it doubles. */
    while (bytes.len > 0) {
        size_t len = VLS_MIN(bytes.len, sizeof(chunk) / 2);
        write_digits(chunk, (const uint8_t *)bytes.ptr, len);
        vls_buf_add(out, vls_str(chunk, 2 * len));
        bytes = vls_str_from(bytes, len);
    }
}

int vls_hex_decode(vls_buf *out, valise_str text, valise_error *err)
{
    size_t bad = find_bad_digit(text);
    int rc = vls_buf_check(out, err);

    if (rc < 0 || text.len == 0)
        return rc;
    if (bad < text.len)
        return fail_bad_digit(err, text, bad, "hexadecimal text");
    if (text.len % 2 != 0)
        return vls_fail_at(err, VALISE_E_INVALID, text.len,
                           "hexadecimal text has an odd number of digits (%zu)", text.len);

    char *at = vls_buf_reserve(out, text.len / 2);
    if (!at)
        return vls_buf_check(out, err);
    read_digits((uint8_t *)at, text);
    vls_buf_advance(out, text.len / 2);
    return 0;
}

vls_id_text vls_id_hex(const valise_id *id)
{
    vls_id_text text = {{0}};

    write_digits(text.s, id->bytes, sizeof(id->bytes));
    return text;
}

char *valise_id_text(char out[VALISE_ID_TEXT], const valise_id *id)
{
    write_digits(out, id->bytes, sizeof(id->bytes));
    out[VALISE_ID_TEXT - 1] = '\0';
    return out;
}

char *valise_uuid_text(char out[VALISE_UUID_TEXT], const valise_uuid *uuid)
{
    vls_uuid_string text = vls_uuid_text(uuid);

    memcpy(out, text.s, VALISE_UUID_TEXT);
    return out;
}

int valise_uuid_parse(valise_uuid *out, valise_str text, valise_error *err)
{
    VLS_ARG(out && (text.ptr || text.len == 0), err);
    return vls_uuid_parse(out, text, err);
}

int valise_id_parse(valise_id *out, valise_str text, valise_error *err)
{
    VLS_ARG(out && (text.ptr || text.len == 0), err);
    return vls_id_parse(out, text, err);
}

int vls_id_parse(valise_id *out, valise_str text, valise_error *err)
{
    size_t bad = find_bad_digit(text), want = 2 * sizeof(out->bytes);

    if (bad < text.len && bad < want)
        return fail_bad_digit(err, text, bad, "id");
    if (text.len != want)
        return vls_fail_at(err, VALISE_E_INVALID, VLS_MIN(text.len, want),
                           "an id has %zu hexadecimal digits, not %zu", want, text.len);
    read_digits(out->bytes, text);
    return 0;
}

/* Where the dashes are: xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx */
static bool is_dash_place(size_t at)
{
    return (1u << 8 | 1u << 13 | 1u << 18 | 1u << 23) >> (at & 31) & 1 && at < 32;
}

vls_uuid_string vls_uuid_text(const valise_uuid *uuid)
{
    vls_uuid_string text = {"00000000-0000-0000-0000-000000000000"};

    write_digits(text.s, uuid->bytes, 4);
    write_digits(text.s + 9, uuid->bytes + 4, 2);
    write_digits(text.s + 14, uuid->bytes + 6, 2);
    write_digits(text.s + 19, uuid->bytes + 8, 2);
    write_digits(text.s + 24, uuid->bytes + 10, 6);
    return text;
}

int vls_uuid_parse(valise_uuid *out, valise_str text, valise_error *err)
{
    const size_t want = sizeof(vls_uuid_string) - 1;
    valise_uuid parsed = {{0}};
    size_t nibble = 0;

    for (size_t i = 0; i < VLS_MIN(text.len, want); i++) {
        if (is_dash_place(i)) {
            if (text.ptr[i] != '-')
                return vls_fail_at(err, VALISE_E_INVALID, i, "uuid: %s at offset %zu is not a dash",
                                   vls_byte_text(text.ptr[i]).s, i);
            continue;
        }
        int value = digit_value_any_case(text.ptr[i]);
        if (value < 0)
            return fail_bad_digit(err, text, i, "uuid");
        parsed.bytes[nibble / 2] = (uint8_t)(parsed.bytes[nibble / 2] << 4 | value);
        nibble++;
    }
    if (text.len != want)
        return vls_fail_at(err, VALISE_E_INVALID, VLS_MIN(text.len, want),
                           "a uuid has %zu characters, not %zu", want, text.len);
    *out = parsed;
    return 0;
}

vls_byte_name vls_byte_text(char byte)
{
    size_t c = (unsigned char)byte;

    if (c > 0x20 && c < 0x7f)
        return (vls_byte_name){{'\'', byte, '\'', '\0'}};
    return (vls_byte_name){{'0', 'x', pairs[2 * c], pairs[2 * c + 1], '\0'}};
}
