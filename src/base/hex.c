/* hex.c -- hexadecimal digits, ids and UUIDs. */
#include "base/hex.h"

#include "base/str.h"

static const char digits[] = "0123456789abcdef";

/* Two digits per byte; out has room for 2 * len. */
static void write_digits(char *out, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
}

/* The value of a lower-case digit, or -1. */
static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of a digit in either case, or -1. */
static int digit_value_any_case(char c)
{
    return digit_value((char)(c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c));
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
    int rc = vls_fail_at(err, VALISE_E_INVALID, at, "%s: %s at offset %zu is no hexadecimal digit",
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
    return at == 8 || at == 13 || at == 18 || at == 23;
}

vls_uuid_string vls_uuid_text(const valise_uuid *uuid)
{
    vls_uuid_string text = {{0}};
    char *at = text.s;

    for (size_t i = 0; i < sizeof(uuid->bytes); i++) {
        if (is_dash_place((size_t)(at - text.s)))
            *at++ = '-';
        write_digits(at, &uuid->bytes[i], 1);
        at += 2;
    }
    return text;
}

int vls_uuid_parse(valise_uuid *out, valise_str text, valise_error *err)
{
    const size_t want = sizeof(vls_uuid_string) - 1;
    valise_uuid parsed = {{0}};
    size_t nibble = 0;

    for (size_t i = 0; i < VLS_MIN(text.len, want); i++) {
        int value = digit_value_any_case(text.ptr[i]);
        if (is_dash_place(i)) {
            if (text.ptr[i] != '-')
                return vls_fail_at(err, VALISE_E_INVALID, i, "uuid: %s at offset %zu is no dash",
                                   vls_byte_text(text.ptr[i]).s, i);
            continue;
        }
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
    unsigned char c = (unsigned char)byte;

    if (c > 0x20 && c < 0x7f)
        return (vls_byte_name){{'\'', byte, '\'', '\0'}};
    return (vls_byte_name){{'0', 'x', digits[c >> 4], digits[c & 15], '\0'}};
}
