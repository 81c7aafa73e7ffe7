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

#include "base/hex.h"
#include "base/text.h"
#include "base/utf8.h"
#include "json/build.h"
#include "json/number.h"

typedef struct reader {
    const char *start, *end;
    vls_json_builder values;
    uint32_t max_depth, around;
    bool last_key_wins;
    valise_error *err;
    int rc; /* of the first failure */
} reader;

/* The functions below take the place they start at and return the place behind what they read,
 * or NULL when that failed: the place then stays in a register. */

#define OFFSET_BYTES sizeof(uint32_t)

/* ---- errors: all of these return NULL, for `return fail...` ---- */

static const char *fail_at(reader *r, const char *where, const char *what)
{
    size_t offset = (size_t)(where - r->start);

    r->rc =
        vls_fail_at(r->err, VALISE_E_INVALID, offset, "invalid JSON at byte %zu: %s", offset, what);
    return NULL;
}

/* "expected X" with what is there instead. */
static const char *fail_expected(reader *r, const char *p, const char *expected)
{
    char what[96];

    if (p == r->end)
        (void)snprintf(what, sizeof(what), "the text ends where %s should be", expected);
    else
        (void)snprintf(what, sizeof(what), "expected %s, found %s", expected, vls_byte_text(*p).s);
    return fail_at(r, p, what);
}

static const char *fail_builder(reader *r)
{
    if (r->err)
        *r->err = r->values.error;
    r->rc = r->values.error.code;
    return NULL;
}

/* Where a string of the document began. */
static size_t string_offset(const reader *r, vls_json key)
{
    uint32_t offset;

    if (key.text >= r->start && key.text <= r->end)
        return (size_t)(key.text - r->start) - 1; /* the quote */
    memcpy(&offset, key.text - OFFSET_BYTES, OFFSET_BYTES);
    return offset;
}

static const char *fail_duplicate(reader *r, const vls_member *twice)
{
    size_t first = string_offset(r, twice[-1].key), second = string_offset(r, twice[0].key);

    r->rc = vls_fail_at(r->err, VALISE_E_INVALID, second,
                        "invalid JSON at byte %zu: duplicate key \"%s\" (first at byte %zu)",
                        second, vls_text_short(vls_json_str(twice->key)).s, first);
    return NULL;
}

/* Put a value on the stack and go on at p. */
static inline const char *push(reader *r, vls_json v, const char *p)
{
    vls_json_builder_push(&r->values, v);
    return VLS_LIKELY(r->values.error.code == 0) ? p : fail_builder(r);
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
static const char *read_unicode_escape(reader *r, uint32_t *out, const char *p)
{
    const char *backslash = p - 2;
    uint32_t c, low;

    if (!read_hex4(&c, p, r->end))
        return fail_at(r, backslash, "\\u needs four hex digits");
    p += 4;
    if (c >= 0xDC00 && c <= 0xDFFF)
        return fail_at(r, backslash, "lone low surrogate");
    if (c >= 0xD800 && c <= 0xDBFF) {
        if (r->end - p < 6 || p[0] != '\\' || p[1] != 'u' || !read_hex4(&low, p + 2, r->end) ||
            low < 0xDC00 || low > 0xDFFF)
            return fail_at(r, backslash, "lone high surrogate");
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    *out = c;
    return p;
}

/* One escape sequence, p behind the backslash; *to moves past what it means. */
static const char *read_escape(reader *r, const char *p, char **to)
{
    static const char meaning[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                      ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    uint32_t code_point;
    unsigned char c = (unsigned char)*p++;

    if (meaning[c]) {
        *(*to)++ = meaning[c];
        return p;
    }
    if (c != 'u')
        return fail_at(r, p - 2, "unknown escape");
    p = read_unicode_escape(r, &code_point, p);
    if (p)
        *to += vls_utf8_encode(*to, code_point);
    return p;
}

/* Step over one character that is not plain text. */
static const char *skip_character(reader *r, const char *p)
{
    uint32_t ignored;
    size_t used;

    if ((unsigned char)*p < 0x20)
        return fail_at(r, p, "control character in a string; write it as \\u00XX");
    used = vls_utf8_decode(&ignored, p, (size_t)(r->end - p));
    return used ? p + used : fail_at(r, p, "not UTF-8");
}

/* Find the closing quote from p on. *escaped says whether a backslash stands before it. */
static const char *find_quote(reader *r, const char *p, bool *escaped)
{
    while (p) {
        p = vls_scan_text(p, r->end);
        if (p < r->end && *p == '"')
            return p;
        if (p == r->end || (*p == '\\' && p + 1 == r->end))
            return fail_at(r, r->end, "the text ends inside a string");
        if (*p == '\\') {
            *escaped = true;
            /* Whatever it is, it is no closing quote; unescape() checks it. */
            p += (unsigned char)p[1] < 0x80 ? 2 : 1;
        } else {
            p = skip_character(r, p);
        }
    }
    return NULL;
}

/* Unescape the text from p to the closing quote at end into the arena. */
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
    while (p && p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((slash ? slash : end) - p);
        memcpy(to, p, plain);
        to += plain;
        p += plain;
        if (slash)
            p = read_escape(r, p + 1, &to);
    }
    *out = vls_json_string(vls_str(text, (size_t)(to - text)));
    return p != NULL;
}

/* A string, p at its opening quote. */
static inline const char *read_string(reader *r, const char *p)
{
    const char *first = p + 1;
    bool escaped = false;
    vls_json v;

    p = vls_scan_text(first, r->end);
    if (VLS_UNLIKELY(p == r->end || *p != '"')) {
        p = find_quote(r, p, &escaped);
        if (!p)
            return NULL;
    }
    v = vls_json_string(vls_str(first, (size_t)(p - first)));
    if (escaped && !unescape(r, &v, first, p))
        return NULL;
    return push(r, v, p + 1);
}

/* ---- the other values ---- */

static const char *read_word(reader *r, const char *p, const char *word, size_t len, vls_json v)
{
    if ((size_t)(r->end - p) < len || memcmp(p, word, len) != 0)
        return fail_expected(r, p, "a value");
    return push(r, v, p + len);
}

static const char *read_number(reader *r, const char *p)
{
    vls_number n;
    vls_json v;

    vls_number_read(&n, p, r->end);
    switch (n.kind) {
    case VLS_NUMBER_INT:
        v = vls_json_int(n.integer);
        break;
    case VLS_NUMBER_REAL:
        v = vls_json_real(n.real);
        break;
    case VLS_NUMBER_BIG:
        v = vls_json_string(vls_str(p, (size_t)(n.end - p)));
        v.type = VLS_JSON_BIG;
        break;
    case VLS_NUMBER_RANGE:
        return fail_at(r, p, "number larger than a double can hold");
    default:
        return fail_expected(r, n.end, "a digit");
    }
    return push(r, v, n.end);
}

/* ---- structure ---- */

static inline const char *skip_space(const reader *r, const char *p)
{
    while (p < r->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* A key and its colon. */
static inline const char *read_key(reader *r, const char *p)
{
    p = skip_space(r, p);
    if (p == r->end || *p != '"')
        return fail_expected(r, p, "a key in quotes");
    p = read_string(r, p);
    if (!p)
        return NULL;
    p = skip_space(r, p);
    if (p == r->end || *p != ':')
        return fail_expected(r, p, "':'");
    return p + 1;
}

/* p at the closing bracket. */
static const char *close_container(reader *r, const char *p)
{
    vls_member *twice;

    if (vls_json_builder_close(&r->values, r->last_key_wins, &twice))
        return p + 1;
    return r->values.error.code ? fail_builder(r) : fail_duplicate(r, twice);
}

/* p at '{' or '['. *whole: it was empty and is closed already. */
static const char *open_container(reader *r, const char *p, bool *whole)
{
    bool is_object = *p == '{';

    if (r->values.depth == r->max_depth + r->around) {
        size_t offset = (size_t)(p - r->start);
        r->rc =
            vls_fail_at(r->err, VALISE_E_LIMIT, offset,
                        "invalid JSON at byte %zu: nested more than %u deep", offset, r->max_depth);
        return NULL;
    }
    r->values.open[r->values.depth++] = (uint32_t)r->values.len << 1 | is_object;
    p = skip_space(r, p + 1);
    *whole = p < r->end && *p == (is_object ? '}' : ']');
    if (*whole)
        return close_container(r, p);
    return is_object ? read_key(r, p) : p;
}

/* The value at p, or its beginning: *whole is false when a container was opened. */
static inline const char *read_value(reader *r, const char *p, bool *whole)
{
    *whole = true;
    p = skip_space(r, p);
    if (p == r->end)
        return fail_expected(r, p, "a value");
    switch (*p) {
    case '"':
        return read_string(r, p);
    case '{':
    case '[':
        return open_container(r, p, whole);
    case 't':
        return read_word(r, p, "true", 4, vls_json_bool(true));
    case 'f':
        return read_word(r, p, "false", 5, vls_json_bool(false));
    case 'n':
        return read_word(r, p, "null", 4, vls_json_null());
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
        return read_number(r, p);
    default:
        return fail_expected(r, p, "a value");
    }
}

/* Behind a value: close what ends here. *more says that another value follows. */
static inline const char *read_ends(reader *r, const char *p, bool *more)
{
    *more = false;
    while (p && r->values.depth > 0) {
        bool in_object = r->values.open[r->values.depth - 1] & 1;
        p = skip_space(r, p);
        char c = p < r->end ? *p : '\0';
        if (c == ',') {
            *more = true;
            return in_object ? read_key(r, p + 1) : p + 1;
        }
        if (c != (in_object ? '}' : ']'))
            return fail_expected(r, p, in_object ? "',' or '}'" : "',' or ']'");
        p = close_container(r, p);
    }
    return p;
}

static bool read_text(reader *r)
{
    const char *p = r->start;
    bool whole, more = true;

    while (more) {
        p = read_value(r, p, &whole);
        if (p && whole)
            p = read_ends(r, p, &more);
        if (!p)
            return false;
    }
    p = skip_space(r, p);
    return p == r->end || fail_expected(r, p, "the end of the text");
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

    r.start = text.ptr ? text.ptr : "";
    r.end = r.start + text.len;
    r.max_depth =
        VLS_MIN(limits->max_depth ? limits->max_depth : VLS_JSON_MAX_DEPTH, VLS_JSON_MAX_DEPTH);
    r.around = VLS_MIN(limits->around, VLS_JSON_MAX_AROUND);
    r.last_key_wins = limits->flags & VLS_JSON_LAST_KEY_WINS;
    r.err = err;
    r.rc = 0;
    vls_json_builder_init(&r.values, arena);
    if (read_text(&r))
        *out = r.values.stack[0];
    vls_json_builder_release(&r.values);
    return r.rc;
}
