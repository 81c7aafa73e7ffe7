/* read.c -- JSON text to a value, in one pass and without recursion.
 *
 * Start at vls_json_parse(). The reader walks the text once; values gather on a builder's stack
 * (build.c). Strings without escapes are slices of the text; the others are unescaped into the
 * arena, with the offset they came from in front of them, so that an error found later (a
 * duplicate key) can still say where:
 *
 *     arena: [ offset, 4 bytes ][ unescaped text ... ]
 *                                ^ vls_json.text */
#include "json/scan.h" /* first: see there */

#include "base/utf8.h"
#include "json/build.h"
#include "json/number.h"

typedef struct reader {
    const char *start, *at, *end;
    vls_json_builder values;
    uint32_t max_depth;
    bool last_key_wins;
    valise_error *err;
    int rc; /* of the first failure */
} reader;

#define OFFSET_BYTES sizeof(uint32_t)

/* ---- errors: all of these return false, for `return fail...` ---- */

static bool fail_at(reader *r, const char *where, const char *what)
{
    size_t offset = (size_t)(where - r->start);

    r->rc =
        vls_fail_at(r->err, VALISE_E_INVALID, offset, "invalid JSON at byte %zu: %s", offset, what);
    return false;
}

/* "expected X" with what is there instead. */
static bool fail_expected(reader *r, const char *expected)
{
    size_t offset = (size_t)(r->at - r->start);
    unsigned char c;

    if (r->at == r->end) {
        r->rc = vls_fail_at(r->err, VALISE_E_INVALID, offset,
                            "invalid JSON at byte %zu: the text ends where %s should be", offset,
                            expected);
        return false;
    }
    c = (unsigned char)*r->at;
    r->rc =
        vls_fail_at(r->err, VALISE_E_INVALID, offset,
                    c > 0x20 && c < 0x7F ? "invalid JSON at byte %zu: expected %s, found '%c'"
                                         : "invalid JSON at byte %zu: expected %s, found 0x%02X",
                    offset, expected, c);
    return false;
}

static bool fail_builder(reader *r)
{
    if (r->err)
        *r->err = r->values.error;
    r->rc = r->values.error.code;
    return false;
}

static size_t key_offset(const reader *r, vls_json key)
{
    uint32_t offset;

    if (key.text >= r->start && key.text <= r->end)
        return (size_t)(key.text - r->start) - 1; /* the quote */
    memcpy(&offset, key.text - OFFSET_BYTES, OFFSET_BYTES);
    return offset;
}

static bool fail_duplicate(reader *r, const vls_member *twice)
{
    size_t first = key_offset(r, twice[-1].key), second = key_offset(r, twice[0].key);
    valise_str shown = vls_utf8_head(vls_json_str(twice->key), 80);

    r->rc = vls_fail_at(r->err, VALISE_E_INVALID, second,
                        "invalid JSON at byte %zu: duplicate key \"%.*s\" (first at byte %zu)",
                        second, VALISE_STR_ARG(shown), first);
    return false;
}

/* ---- strings ---- */

static bool read_hex4(uint32_t *out, const char *p, const char *end)
{
    uint32_t value = 0;

    if (end - p < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)p[i];
        unsigned digit = c - (unsigned)'0';
        if (digit > 9) {
            digit = (c | 0x20u) - 'a' + 10u;
            if (digit < 10 || digit > 15)
                return false;
        }
        value = value << 4 | digit;
    }
    *out = value;
    return true;
}

/* A \uXXXX escape, p behind the u; two of them for a surrogate pair. */
static bool read_unicode_escape(reader *r, uint32_t *out, const char **p)
{
    const char *backslash = *p - 2;
    uint32_t c, low;

    if (!read_hex4(&c, *p, r->end))
        return fail_at(r, backslash, "\\u needs four hex digits");
    *p += 4;
    if (c >= 0xDC00 && c <= 0xDFFF)
        return fail_at(r, backslash, "lone low surrogate");
    if (c >= 0xD800 && c <= 0xDBFF) {
        if (r->end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u' ||
            !read_hex4(&low, *p + 2, r->end) || low < 0xDC00 || low > 0xDFFF)
            return fail_at(r, backslash, "lone high surrogate");
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        *p += 6;
    }
    *out = c;
    return true;
}

/* One escape sequence; *p is behind the backslash and moves past it, *out past what it means. */
static bool read_escape(reader *r, const char **p, char **out)
{
    static const char meaning[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                      ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    uint32_t code_point;

    if (*p == r->end)
        return fail_at(r, *p, "the text ends inside a string");
    unsigned char c = (unsigned char)*(*p)++;
    if (meaning[c]) {
        *(*out)++ = meaning[c];
        return true;
    }
    if (c != 'u')
        return fail_at(r, *p - 2, "unknown escape");
    if (!read_unicode_escape(r, &code_point, p))
        return false;
    *out += vls_utf8_encode(*out, code_point);
    return true;
}

/* Step over one byte that is not plain text: a non-ASCII character. */
static bool skip_character(reader *r, const char **p)
{
    uint32_t ignored;
    size_t used;

    if ((unsigned char)**p < 0x20)
        return fail_at(r, *p, "control character in a string; write it as \\u00XX");
    used = vls_utf8_decode(&ignored, *p, (size_t)(r->end - *p));
    if (used == 0)
        return fail_at(r, *p, "not UTF-8");
    *p += used;
    return true;
}

/* Find the closing quote from p on. *escaped says whether a backslash stands before it. */
static bool find_string_end(reader *r, const char **p, bool *escaped)
{
    *escaped = false;
    for (;;) {
        *p = vls_scan_text(*p, r->end);
        if (*p == r->end)
            return fail_at(r, r->end, "the text ends inside a string");
        if (**p == '"')
            return true;
        if (**p == '\\') {
            *escaped = true;
            *p += *p + 1 < r->end ? 2 : 1;
        } else if (!skip_character(r, p)) {
            return false;
        }
    }
}

/* Unescape text (which ends in front of the closing quote) into the arena. */
static bool unescape(reader *r, vls_json *out, const char *p, const char *end)
{
    uint32_t offset = (uint32_t)(p - 1 - r->start);
    char *room = vls_arena_alloc(r->values.arena, OFFSET_BYTES + (size_t)(end - p));
    char *text, *to;

    if (!room) {
        r->rc = vls_arena_fail(r->values.arena, r->err);
        return false;
    }
    memcpy(room, &offset, OFFSET_BYTES);
    text = to = room + OFFSET_BYTES;
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((slash ? slash : end) - p);
        memcpy(to, p, plain);
        to += plain;
        p += plain;
        if (slash) {
            p++;
            if (!read_escape(r, &p, &to))
                return false;
        }
    }
    *out = vls_json_string(vls_str(text, (size_t)(to - text)));
    return true;
}

/* A string; r->at is at its opening quote. */
static bool read_string(reader *r)
{
    const char *first = r->at + 1, *p = first;
    bool escaped = false;
    vls_json v;

    p = vls_scan_text(p, r->end);
    if (VLS_UNLIKELY(p == r->end || *p != '"') && !find_string_end(r, &p, &escaped))
        return false;
    v = vls_json_string(vls_str(first, (size_t)(p - first)));
    if (escaped && !unescape(r, &v, first, p))
        return false;
    r->at = p + 1;
    vls_json_builder_push(&r->values, v);
    return r->values.error.code == 0 || fail_builder(r);
}

/* ---- the other values ---- */

static bool read_word(reader *r, const char *word, size_t len, vls_json v)
{
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
        return fail_expected(r, "a value");
    r->at += len;
    vls_json_builder_push(&r->values, v);
    return r->values.error.code == 0 || fail_builder(r);
}

static bool read_number(reader *r)
{
    vls_number n = vls_number_read(r->at, r->end);
    vls_json v;

    switch (n.kind) {
    case VLS_NUMBER_INT:
        v = vls_json_int(n.integer);
        break;
    case VLS_NUMBER_REAL:
        v = vls_json_real(n.real);
        break;
    case VLS_NUMBER_BIG:
        v = vls_json_string(vls_str(r->at, (size_t)(n.end - r->at)));
        v.type = VLS_JSON_BIG;
        break;
    case VLS_NUMBER_RANGE:
        return fail_at(r, r->at, "number larger than a double can hold");
    default:
        r->at = n.end;
        return fail_expected(r, "a digit");
    }
    r->at = n.end;
    vls_json_builder_push(&r->values, v);
    return r->values.error.code == 0 || fail_builder(r);
}

/* ---- structure ---- */

static inline void skip_space(reader *r)
{
    const char *p = r->at;

    while (p < r->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    r->at = p;
}

/* A key and its colon. */
static bool read_key(reader *r)
{
    skip_space(r);
    if (r->at == r->end || *r->at != '"')
        return fail_expected(r, "a key in quotes");
    if (!read_string(r))
        return false;
    skip_space(r);
    if (r->at == r->end || *r->at != ':')
        return fail_expected(r, "':'");
    r->at++;
    return true;
}

static bool close_container(reader *r)
{
    vls_member *twice;

    r->at++;
    if (vls_json_builder_close(&r->values, r->last_key_wins, &twice))
        return true;
    return r->values.error.code ? fail_builder(r) : fail_duplicate(r, twice);
}

/* At '{' or '['. *whole: it was empty and is closed already. */
static bool open_container(reader *r, bool *whole)
{
    bool is_object = *r->at == '{';

    if (r->values.depth == r->max_depth) {
        size_t offset = (size_t)(r->at - r->start);
        r->rc =
            vls_fail_at(r->err, VALISE_E_LIMIT, offset,
                        "invalid JSON at byte %zu: nested more than %u deep", offset, r->max_depth);
        return false;
    }
    r->values.open[r->values.depth++] = (uint32_t)r->values.len << 1 | is_object;
    r->at++;
    skip_space(r);
    *whole = r->at < r->end && *r->at == (is_object ? '}' : ']');
    if (*whole)
        return close_container(r);
    return !is_object || read_key(r);
}

/* The value at r->at, or its beginning: *whole is false when a container was opened. */
static bool read_value(reader *r, bool *whole)
{
    *whole = true;
    skip_space(r);
    if (r->at == r->end)
        return fail_expected(r, "a value");
    switch (*r->at) {
    case '"':
        return read_string(r);
    case '{':
    case '[':
        return open_container(r, whole);
    case 't':
        return read_word(r, "true", 4, vls_json_bool(true));
    case 'f':
        return read_word(r, "false", 5, vls_json_bool(false));
    case 'n':
        return read_word(r, "null", 4, vls_json_null());
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return read_number(r);
    default:
        return fail_expected(r, "a value");
    }
}

/* Behind a value: close what ends here. *more says that another value follows. */
static bool read_ends(reader *r, bool *more)
{
    *more = false;
    while (r->values.depth > 0) {
        bool in_object = r->values.open[r->values.depth - 1] & 1;
        skip_space(r);
        char c = r->at < r->end ? *r->at : '\0';
        if (c == ',') {
            r->at++;
            *more = true;
            return !in_object || read_key(r);
        }
        if (c != (in_object ? '}' : ']'))
            return fail_expected(r, in_object ? "',' or '}'" : "',' or ']'");
        if (!close_container(r))
            return false;
    }
    return true;
}

static bool read_text(reader *r)
{
    bool whole, more = true;

    while (more) {
        if (!read_value(r, &whole))
            return false;
        if (whole && !read_ends(r, &more))
            return false;
    }
    skip_space(r);
    return r->at == r->end || fail_expected(r, "the end of the text");
}

int vls_json_parse(vls_json *out, vls_arena *arena, valise_str text, const vls_json_limits *limits,
                   valise_error *err)
{
    static const vls_json_limits none = {0};
    reader r;

    limits = limits ? limits : &none;
    size_t max_bytes = limits->max_bytes ? limits->max_bytes : VLS_JSON_MAX_BYTES;
    max_bytes = VLS_MIN(max_bytes, UINT32_MAX);
    if (text.len > max_bytes)
        return vls_fail_at(err, VALISE_E_TOO_LARGE, max_bytes,
                           "JSON text of %zu bytes is over the limit of %zu", text.len, max_bytes);

    r.start = r.at = text.ptr ? text.ptr : "";
    r.end = r.start + text.len;
    r.max_depth =
        VLS_MIN(limits->max_depth ? limits->max_depth : VLS_JSON_MAX_DEPTH, VLS_JSON_MAX_DEPTH);
    r.last_key_wins = limits->flags & VLS_JSON_LAST_KEY_WINS;
    r.err = err;
    r.rc = 0;
    vls_json_builder_init(&r.values, arena);
    if (read_text(&r))
        *out = r.values.stack[0];
    vls_json_builder_release(&r.values);
    return r.rc;
}
