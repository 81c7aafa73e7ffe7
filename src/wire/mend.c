/* mend.c -- JSON of others that is no text in places. */
#include "wire/mend.h"

#include "base/utf8.h"

#define MARKS 0x10F800u /* + half - 0xD800 */
#define ESCAPE_LEN 6u   /* \uXXXX */

static bool is_high(uint32_t c)
{
    return c >= 0xD800 && c <= 0xDBFF;
}

static bool is_low(uint32_t c)
{
    return c >= 0xDC00 && c <= 0xDFFF;
}

/* The number of an escape "\uXXXX" at the beginning; UINT32_MAX: there is none. */
static uint32_t escape_at(valise_str s)
{
    uint32_t value = 0;

    if (s.len < ESCAPE_LEN || s.ptr[0] != '\\' || s.ptr[1] != 'u')
        return UINT32_MAX;
    for (size_t i = 2; i < ESCAPE_LEN; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        unsigned digit = c - (unsigned)'0';
        if (digit > 9) {
            digit = (c | 0x20u) - 'a' + 10u;
            if (digit < 10 || digit > 15)
                return UINT32_MAX;
        }
        value = value << 4 | digit;
    }
    return value;
}

/* Bytes of what stands at the beginning: a pair of escapes, one, a character. *half: what it is, if
 * it is one; *bad: it is no character. */
static size_t step(valise_str s, uint32_t *half, bool *bad, uint32_t *code)
{
    uint32_t escape;
    size_t used;

    *half = 0;
    *bad = false;
    *code = 0;
    if (s.ptr[0] == '\\') {
        escape = escape_at(s);
        if (is_high(escape) && is_low(escape_at(vls_str_from(s, ESCAPE_LEN)))) {
            *code = 0x10000 + ((escape - 0xD800) << 10); /* the low half does not matter here */
            return (size_t)2 * ESCAPE_LEN;
        }
        if (escape >= 0xD800 && escape <= 0xDFFF)
            *half = escape;
        if (escape != UINT32_MAX)
            return ESCAPE_LEN;
        return s.len > 1 && (unsigned char)s.ptr[1] < 0x80 ? 2 : 1;
    }
    used = vls_utf8_decode(code, s.ptr, s.len);
    *bad = used == 0;
    return *bad ? 1 : used;
}

/* Somebody uses the characters that we would use for marks. */
static bool has_marks(valise_str text)
{
    uint32_t half, code;
    bool bad;

    for (size_t at = 0; at < text.len;) {
        at += step(vls_str_from(text, at), &half, &bad, &code);
        if (code >= MARKS)
            return true;
    }
    return false;
}

static void add_mark(vls_buf *out, uint32_t half)
{
    char room[4];
    size_t len = vls_utf8_encode(room, MARKS + (half - 0xD800));

    vls_buf_add(out, vls_str(room, len));
}

/* A JSON text as one that can be parsed, in memory of the arena. */
static int mend(valise_str *out, bool *marked, vls_arena *arena, valise_str text, valise_error *err)
{
    bool mark = marked && !has_marks(text), found = false, bad = false;
    uint32_t half = 0, code = 0;
    vls_buf buf;
    int rc;

    vls_buf_init_in(&buf, arena, 3 * text.len + 1);
    for (size_t at = 0; at < text.len;) {
        valise_str rest = vls_str_from(text, at);
        size_t len = step(rest, &half, &bad, &code);
        if (half && mark) {
            add_mark(&buf, half);
            found = true;
        } else {
            vls_buf_add(&buf, half || bad ? VLS_MEND_CHARACTER : vls_str_head(rest, len));
        }
        at += len;
    }
    rc = vls_buf_keep(out, &buf, err);
    if (rc == 0 && marked)
        *marked = found;
    return rc;
}

int vls_mend_parse(vls_json *out, bool *marked, vls_arena *arena, valise_str text,
                   const vls_json_limits *limits, valise_error *err)
{
    valise_error first = VALISE_ERROR_INIT, second = VALISE_ERROR_INIT;
    valise_str mended = {NULL, 0};
    int rc = vls_json_parse(out, arena, text, limits, &first);

    if (rc == VALISE_E_INVALID) {
        rc = mend(&mended, marked, arena, text, &second);
        if (rc == 0)
            rc = vls_json_parse(out, arena, mended, limits, &second);
        /* Where it is no JSON all the same, the first words have the places of the text. */
        if (rc < 0 && rc != VALISE_E_INVALID)
            first = second;
    }
    if (rc < 0 && err)
        *err = first;
    return rc;
}

uint32_t vls_mend_half(valise_str text)
{
    uint32_t code = 0;

    if (text.len < VLS_MEND_MARK_LEN || !vls_utf8_decode(&code, text.ptr, text.len) || code < MARKS)
        return 0;
    return 0xD800 + (code - MARKS);
}

void vls_mend_add(vls_buf *out, valise_str text, bool marked)
{
    size_t from = 0;

    if (!marked && vls_utf8_valid(text)) {
        vls_buf_add(out, text);
        return;
    }
    for (size_t at = 0; at < text.len;) {
        uint32_t code = 0;
        size_t len = vls_utf8_decode(&code, text.ptr + at, text.len - at);
        bool keep = len > 0 && !(marked && code >= MARKS);
        len = len > 0 ? len : 1;
        if (!keep) {
            vls_buf_add(out, vls_str(text.ptr + from, at - from));
            vls_buf_add(out, VLS_MEND_CHARACTER);
            from = at + len;
        }
        at += len;
    }
    vls_buf_add(out, vls_str_from(text, from));
}
