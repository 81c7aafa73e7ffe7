/* write.c -- a value to its canonical text, or to a readable one. */
#include "json/scan.h" /* first: see there */

#include "json/json.h"

#include "json/number.h"

/* Escapes as RFC 8785 has them: the short form where there is one, else \u00xx. */
static void write_escaped(vls_buf *out, valise_str s)
{
    static const char short_form[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    static const char hex[] = "0123456789abcdef";
    char *at;

    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        at = vls_buf_reserve(out, 6);
        if (!at)
            return;
        if (c >= 0x20 && c != '"' && c != '\\') {
            *at = (char)c;
            out->len += 1;
            continue;
        }
        at[0] = '\\';
        if (c >= 0x20 || short_form[c]) {
            at[1] = c >= 0x20 ? (char)c : short_form[c];
            out->len += 2;
        } else {
            memcpy(at + 1, "u00", 3);
            at[4] = hex[c >> 4];
            at[5] = hex[c & 15];
            out->len += 6;
        }
    }
}

void vls_json_write_string(vls_buf *out, valise_str s)
{
    char *at;

    if (VLS_UNLIKELY(vls_scan_escapes(s.ptr, s.len))) {
        vls_buf_add_byte(out, '"');
        write_escaped(out, s);
        vls_buf_add_byte(out, '"');
        return;
    }
    at = s.len > SIZE_MAX - 2 ? NULL : vls_buf_reserve(out, s.len + 2);
    if (at) {
        *at++ = '"';
        if (s.len)
            memcpy(at, s.ptr, s.len);
        at[s.len] = '"';
        out->len += s.len + 2;
    }
}

static void write_real(vls_buf *out, double real)
{
    char *at = vls_buf_reserve(out, VLS_NUMBER_TEXT);

    if (at)
        out->len += vls_number_write(at, real);
}

/* depth counts down to the limit; indent < 0 means all on one line. */
typedef struct writer {
    vls_buf *out;
    int indent;
    bool too_deep;
} writer;

static void write_value(writer *w, vls_json v, unsigned depth);

static void new_line(writer *w)
{
    vls_buf_add_byte(w->out, '\n');
    for (int i = 0; i < w->indent; i++)
        vls_buf_add(w->out, VLS_STR("  "));
}

static void write_children(writer *w, vls_json v, unsigned depth)
{
    bool is_object = v.type == VLS_JSON_OBJECT;
    bool lines = w->indent >= 0 && v.len > 0;

    if (depth == 0) {
        w->too_deep = true;
        return;
    }
    vls_buf_add_byte(w->out, is_object ? '{' : '[');
    w->indent += lines;
    for (size_t i = 0; i < v.len && !w->too_deep && !w->out->failed; i++) {
        if (i > 0)
            vls_buf_add_byte(w->out, ',');
        if (lines)
            new_line(w);
        if (is_object) {
            vls_json_write_string(w->out, vls_json_str(v.members[i].key));
            vls_buf_add(w->out, w->indent >= 0 ? VLS_STR(": ") : VLS_STR(":"));
        }
        write_value(w, is_object ? v.members[i].value : v.items[i], depth - 1);
    }
    w->indent -= lines;
    if (lines)
        new_line(w);
    vls_buf_add_byte(w->out, is_object ? '}' : ']');
}

static void write_value(writer *w, vls_json v, unsigned depth)
{
    switch ((vls_json_type)v.type) {
    case VLS_JSON_NULL:
        vls_buf_add(w->out, VLS_STR("null"));
        break;
    case VLS_JSON_BOOL:
        vls_buf_add(w->out, v.truth ? VLS_STR("true") : VLS_STR("false"));
        break;
    case VLS_JSON_INT:
        vls_buf_add_i64(w->out, v.integer);
        break;
    case VLS_JSON_BIG:
        vls_buf_add(w->out, vls_json_str(v));
        break;
    case VLS_JSON_REAL:
        write_real(w->out, v.real);
        break;
    case VLS_JSON_STRING:
        vls_json_write_string(w->out, vls_json_str(v));
        break;
    case VLS_JSON_ARRAY:
    case VLS_JSON_OBJECT:
        write_children(w, v, depth);
        break;
    }
}

static int write_all(vls_buf *out, vls_json v, int indent, valise_error *err)
{
    writer w = {.out = out, .indent = indent};

    write_value(&w, v, VLS_JSON_MAX_DEPTH);
    if (w.too_deep)
        return vls_fail(err, VALISE_E_LIMIT, "JSON nested more than %u deep", VLS_JSON_MAX_DEPTH);
    return vls_buf_check(out, err);
}

int vls_json_write(vls_buf *out, vls_json v, valise_error *err)
{
    return write_all(out, v, -1, err);
}

int vls_json_write_pretty(vls_buf *out, vls_json v, valise_error *err)
{
    return write_all(out, v, 0, err);
}
