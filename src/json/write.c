/* write.c -- a value to its canonical text, or to a readable one.
 *
 * The functions below take the place to write at and return the place behind what they wrote, or
 * NULL when that failed: the place stays in a register, and the buffer hears of it at the end or
 * when it must grow (room()). */
#include "json/scan.h" /* first: see there */

#include "json/json.h"

#include "json/number.h"

typedef struct writer {
    vls_buf *out;
    char *end;  /* of what may be written: the buffer's memory or, before that, its maximum */
    int indent; /* levels; below 0: all on one line */
    bool too_deep;
} writer;

static char *grow(writer *w, char *at, size_t len)
{
    if (at)
        w->out->len = (size_t)(at - w->out->ptr);
    at = vls_buf_reserve(w->out, len);
    if (at)
        w->end = w->out->ptr + VLS_MIN(w->out->cap, w->out->max);
    return at;
}

/* A place for len more bytes, which is `at` unless the buffer had to move. */
static inline char *room(writer *w, char *at, size_t len)
{
    return VLS_LIKELY((size_t)(w->end - at) >= len) ? at : grow(w, at, len);
}

/* ---- strings ---- */

/* One escape, as RFC 8785 has it: the short form where there is one, else \u00xx. */
static size_t make_escape(char out[6], unsigned char c)
{
    static const char short_form[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    static const char hex[] = "0123456789abcdef";

    memcpy(out, "\\u00", 4);
    if (c >= 0x20 || short_form[c]) {
        out[1] = c >= 0x20 ? (char)c : short_form[c];
        return 2;
    }
    out[4] = hex[c >> 4];
    out[5] = hex[c & 15];
    return 6;
}

static inline char *write_bytes(writer *w, char *at, const char *p, size_t len)
{
    at = room(w, at, len);
    if (at)
        memcpy(at, p, len);
    return at ? at + len : NULL;
}

/* The rest of a string whose next byte needs an escape, and its closing quote. */
static char *write_escaped(writer *w, char *at, const char *p, size_t len)
{
    char escape[6];

    while (len > 0) {
        size_t size = make_escape(escape, (unsigned char)*p++);
        len--;
        at = room(w, at, size + len + 1); /* never more than what is still to come */
        if (!at)
            return NULL;
        memcpy(at, escape, size);
        at += size;
        size_t plain = vls_scan_copy(at, p, len);
        at += plain;
        p += plain;
        len -= plain;
    }
    *at = '"';
    return at + 1;
}

static inline char *write_string(writer *w, char *at, vls_json v)
{
    at = room(w, at, (size_t)v.len + 2);
    if (!at)
        return NULL;
    *at++ = '"';
    size_t plain = vls_scan_copy(at, v.text, v.len);
    at += plain;
    if (VLS_UNLIKELY(plain < v.len))
        return write_escaped(w, at, v.text + plain, v.len - plain);
    *at = '"';
    return at + 1;
}

/* ---- the other values ---- */

static char *write_int(writer *w, char *at, int64_t value)
{
    char room_for_it[VLS_U64_DIGITS];
    valise_str digits =
        vls_u64_digits(room_for_it, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);

    if (value < 0)
        at = write_bytes(w, at, "-", 1);
    return at ? write_bytes(w, at, digits.ptr, digits.len) : NULL;
}

static char *write_real(writer *w, char *at, double value)
{
    char text[VLS_NUMBER_TEXT];

    return write_bytes(w, at, text, vls_number_write(text, value));
}

/* ---- containers ---- */

static char *write_value(writer *w, char *at, vls_json v, unsigned depth);

static char *new_line(writer *w, char *at)
{
    size_t spaces = 2 * (size_t)w->indent;

    at = room(w, at, 1 + spaces);
    if (!at)
        return NULL;
    *at = '\n';
    memset(at + 1, ' ', spaces);
    return at + 1 + spaces;
}

static inline char *write_key(writer *w, char *at, vls_json key)
{
    at = write_string(w, at, key);
    if (!at)
        return NULL;
    return w->indent >= 0 ? write_bytes(w, at, ": ", 2) : write_bytes(w, at, ":", 1);
}

static char *write_children(writer *w, char *at, vls_json v, unsigned depth)
{
    bool is_object = v.type == VLS_JSON_OBJECT;

    if (depth == 0) {
        w->too_deep = true;
        return NULL;
    }
    at = write_bytes(w, at, is_object ? "{" : "[", 1);
    w->indent += w->indent >= 0;
    for (size_t i = 0; i < v.len && at; i++) {
        if (i > 0)
            at = write_bytes(w, at, ",", 1);
        if (w->indent >= 0 && at)
            at = new_line(w, at);
        if (is_object && at)
            at = write_key(w, at, v.members[i].key);
        if (at)
            at = write_value(w, at, is_object ? v.members[i].value : v.items[i], depth - 1);
    }
    w->indent -= w->indent >= 0;
    if (w->indent >= 0 && v.len > 0 && at)
        at = new_line(w, at);
    return at ? write_bytes(w, at, is_object ? "}" : "]", 1) : NULL;
}

static char *write_value(writer *w, char *at, vls_json v, unsigned depth)
{
    switch ((vls_json_type)v.type) {
    case VLS_JSON_NULL:
        return write_bytes(w, at, "null", 4);
    case VLS_JSON_BOOL:
        return v.truth ? write_bytes(w, at, "true", 4) : write_bytes(w, at, "false", 5);
    case VLS_JSON_INT:
        return write_int(w, at, v.integer);
    case VLS_JSON_BIG:
        return write_bytes(w, at, v.text, v.len);
    case VLS_JSON_REAL:
        return write_real(w, at, v.real);
    case VLS_JSON_STRING:
        return write_string(w, at, v);
    case VLS_JSON_ARRAY:
    case VLS_JSON_OBJECT:
        return write_children(w, at, v, depth);
    }
    return NULL;
}

static int write_all(vls_buf *out, vls_json v, int indent, unsigned max_depth, valise_error *err)
{
    writer w = {.out = out, .indent = indent};
    size_t before = out->len;
    char *at = grow(&w, NULL, 1);

    if (at)
        at = write_value(&w, at, v, max_depth);
    out->len = at ? (size_t)(at - out->ptr) : before; /* all of it or nothing */
    if (w.too_deep)
        return vls_fail(err, VALISE_E_LIMIT, "JSON nested more than %u deep", max_depth);
    return vls_buf_check(out, err);
}

int vls_json_write(vls_buf *out, vls_json v, valise_error *err)
{
    return write_all(out, v, -1, VLS_JSON_MAX_DEPTH, err);
}

int vls_json_write_around(vls_buf *out, vls_json v, valise_error *err)
{
    return write_all(out, v, -1, VLS_JSON_MAX_DEPTH + VLS_JSON_MAX_AROUND, err);
}

int vls_json_write_pretty(vls_buf *out, vls_json v, valise_error *err)
{
    return write_all(out, v, 0, VLS_JSON_MAX_DEPTH + VLS_JSON_MAX_AROUND, err);
}

void vls_json_write_string(vls_buf *out, valise_str s)
{
    writer w = {.out = out, .indent = -1};
    char *at = grow(&w, NULL, 2);

    if (at)
        at = write_string(&w, at, vls_json_string(s));
    if (at)
        out->len = (size_t)(at - out->ptr);
}
