/* text.c -- terminal text: neutralizing, then measuring and fitting. */
#include <utf8proc.h>

#include "base/text.h"

#include "base/str.h"
#include "base/utf8.h"

#define REPLACEMENT 0xFFFDu
#define ELLIPSIS VLS_STR("\xE2\x80\xA6")

/* ---- characters ---- */

/* How many bytes at p, where no valid character stands, are shown as one U+FFFD: the longest
 * beginning of a valid character, or one byte (Unicode 15, section 3.9, "maximal subpart"). */
static size_t broken_len(const char *p, size_t len)
{
    const unsigned char *u = (const unsigned char *)p;
    unsigned char lead = u[0];
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    size_t whole = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2, at = 2;

    if (lead < 0xC2 || lead > 0xF4 || len < 2 || u[1] < low || u[1] > high)
        return 1;
    while (at < whole && at < len && (u[at] & 0xC0) == 0x80)
        at++;
    return at;
}

/* The character s begins with, or U+FFFD for what is none. s is not empty. */
static size_t next_character(uint32_t *c, valise_str s)
{
    size_t used = vls_utf8_decode(c, s.ptr, s.len);

    if (used > 0)
        return used;
    *c = REPLACEMENT;
    return broken_len(s.ptr, s.len);
}

/* ---- neutralizing ---- */

/* "\u2069" is the longest there is. */
typedef struct unit {
    char text[6];
    size_t len;
} unit;

static unit escape(char kind, uint32_t value, unsigned digits)
{
    unit u = {{'\\', kind}, 2};

    while (digits-- > 0)
        u.text[u.len++] = "0123456789abcdef"[value >> 4 * digits & 15];
    return u;
}

/* What the character at the beginning of s is written as; *used says how many bytes it is.
 * s is not empty. */
static unit neutral_unit(size_t *used, valise_str s, uint32_t flags)
{
    uint32_t c;
    unit plain = {{0}, 0};

    *used = vls_utf8_decode(&c, s.ptr, s.len);
    if (*used == 0) {
        *used = 1;
        return escape('x', (unsigned char)s.ptr[0], 2);
    }
    if (c == '\\' && !(flags & VLS_TEXT_KEEP_BACKSLASH))
        return escape('\\', 0, 0);
    if (!vls_utf8_is_control(c) || (c == '\n' && flags & VLS_TEXT_KEEP_NEWLINE) ||
        (c == '\t' && flags & VLS_TEXT_KEEP_TAB)) {
        memcpy(plain.text, s.ptr, *used);
        plain.len = *used;
        return plain;
    }
    if (c == '\n' || c == '\r' || c == '\t')
        return escape((char)(c == '\n' ? 'n' : c == '\r' ? 'r' : 't'), 0, 0);
    return c <= 0x7F ? escape('x', c, 2) : escape('u', c, 4);
}

/* How much of the beginning is ASCII that stays as it is whatever the flags are. */
static size_t plain_run(valise_str s)
{
    size_t len = 0;

    while (len < s.len && s.ptr[len] >= 0x20 && s.ptr[len] < 0x7F && s.ptr[len] != '\\')
        len++;
    return len;
}

void vls_text_neutralize(vls_buf *out, valise_str s, uint32_t flags)
{
    while (s.len > 0) {
        size_t used = plain_run(s);
        if (used > 0) {
            vls_buf_add(out, vls_str_head(s, used));
        } else {
            unit u = neutral_unit(&used, s, flags);
            vls_buf_add(out, vls_str(u.text, u.len));
        }
        s = vls_str_from(s, used);
    }
}

vls_text_brief vls_text_short(valise_str s)
{
    const size_t most = sizeof((vls_text_brief){{0}}.s) - 1 - ELLIPSIS.len;
    vls_text_brief brief = {{0}};
    size_t len = 0, used;

    while (s.len > 0) {
        unit u = neutral_unit(&used, s, 0);
        if (len + u.len > most) {
            memcpy(brief.s + len, ELLIPSIS.ptr, ELLIPSIS.len);
            break;
        }
        memcpy(brief.s + len, u.text, u.len);
        len += u.len;
        s = vls_str_from(s, used);
    }
    return brief;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void vls_text_add_line(vls_buf *out, valise_str s, size_t max)
{
    bool space = false;
    size_t before = out->len;

    s = vls_utf8_head(s, max);
    for (size_t from = 0; from < s.len;) {
        size_t to = from;
        while (to < s.len && !is_space(s.ptr[to]))
            to++;
        if (to > from) {
            if (space && out->len > before)
                vls_buf_add_byte(out, ' ');
            vls_text_neutralize(out, vls_str(s.ptr + from, to - from), VLS_TEXT_KEEP_BACKSLASH);
            space = false;
        }
        for (; to < s.len && is_space(s.ptr[to]); to++)
            space = true;
        from = to;
    }
}

/* ---- names ---- */

/* The bytes of the character in front, where it can stand as it is; else 0. */
static size_t plain_len(valise_str s)
{
    uint32_t code = 0;
    size_t len = vls_utf8_decode(&code, s.ptr, s.len);

    return code == '"' || code == '\\' || vls_utf8_is_control(code) ? 0 : len;
}

static void add_escape(vls_buf *out, unsigned char byte)
{
    static const char named[] = "\aa\bb\tt\nn\vv\ff\rr\"\"\\\\";

    for (size_t i = 0; named[i]; i += 2) {
        if ((unsigned char)named[i] == byte) {
            vls_buf_printf(out, "\\%c", named[i + 1]);
            return;
        }
    }
    vls_buf_printf(out, "\\%03o", byte);
}

void vls_text_quote(vls_buf *out, valise_str name)
{
    bool quoted = false;
    size_t len;

    for (valise_str left = name; left.len > 0 && !quoted; left = vls_str_from(left, len)) {
        len = plain_len(left);
        quoted = len == 0;
    }
    if (!quoted) {
        vls_buf_add(out, name);
        return;
    }
    vls_buf_add_byte(out, '"');
    while (name.len > 0) {
        len = plain_len(name);
        if (len == 0)
            add_escape(out, (unsigned char)name.ptr[0]);
        else
            vls_buf_add(out, vls_str_head(name, len));
        name = vls_str_from(name, VLS_MAX(len, 1));
    }
    vls_buf_add_byte(out, '"');
}

/* ---- measuring ---- */

typedef struct cluster {
    size_t len;     /* bytes */
    size_t columns; /* on the terminal */
} cluster;

static int bound_class(uint32_t c)
{
    return utf8proc_get_property((utf8proc_int32_t)c)->boundclass;
}

/* Whether U+FE0F behind c asks for the emoji in the place of the character: pictographs, and
 * the digits of keycaps. */
static bool has_emoji_form(uint32_t c)
{
    return bound_class(c) == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC || c == '#' || c == '*' ||
           (c >= '0' && c <= '9');
}

/* Adds up the columns of one cluster. Its characters are drawn over each other, so the widest
 * counts; but the two halves of a flag stand side by side, and so does what is prepended. */
typedef struct measure {
    uint32_t last;
    size_t beside, widest;
} measure;

static void measure_character(measure *m, uint32_t c)
{
    size_t columns = (size_t)utf8proc_charwidth((utf8proc_int32_t)c);
    int class = bound_class(c);

    if (class == UTF8PROC_BOUNDCLASS_PREPEND || class == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR)
        m->beside += columns;
    else if (c == 0xFE0F && has_emoji_form(m->last))
        m->widest = 2;
    else
        m->widest = VLS_MAX(m->widest, columns);
    m->last = c;
}

/* The cluster s begins with. s is not empty. */
static cluster next_cluster(valise_str s)
{
    utf8proc_int32_t state = 0;
    measure m = {0, 0, 0};
    uint32_t c, next;
    size_t at = next_character(&c, s), used;

    measure_character(&m, c);
    for (; at < s.len; at += used, c = next) {
        used = next_character(&next, vls_str_from(s, at));
        if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)c, (utf8proc_int32_t)next, &state))
            break;
        measure_character(&m, next);
    }
    return (cluster){at, m.beside + m.widest};
}

/* A printable ASCII character with ASCII behind it: a cluster of its own, without looking at
 * any table. */
static bool is_simple(valise_str s)
{
    return s.ptr[0] >= 0x20 && s.ptr[0] < 0x7F && (s.len == 1 || (unsigned char)s.ptr[1] < 0x80);
}

static cluster measure_next(valise_str s)
{
    return is_simple(s) ? (cluster){1, 1} : next_cluster(s);
}

size_t vls_text_width(valise_str s)
{
    size_t columns = 0;

    while (s.len > 0) {
        cluster c = measure_next(s);
        columns += c.columns;
        s = vls_str_from(s, c.len);
    }
    return columns;
}

/* ---- fitting ---- */

static void add_spaces(vls_buf *out, size_t count)
{
    char *at = count > 0 ? vls_buf_reserve(out, count) : NULL;

    if (at) {
        memset(at, ' ', count);
        vls_buf_advance(out, count);
    }
}

/* s with U+FFFD in the place of what is not UTF-8. */
static void add_valid(vls_buf *out, valise_str s)
{
    while (s.len > 0) {
        size_t valid = vls_utf8_valid_len(s);
        vls_buf_add(out, vls_str_head(s, valid));
        s = vls_str_from(s, valid);
        if (s.len > 0) {
            vls_buf_add(out, VLS_STR("\xEF\xBF\xBD"));
            s = vls_str_from(s, broken_len(s.ptr, s.len));
        }
    }
}

void vls_text_fit(vls_buf *out, valise_str s, size_t columns, uint32_t flags)
{
    size_t at = 0, width = 0;             /* what fits */
    size_t short_at = 0, short_width = 0; /* what still fits with an ellipsis behind it */
    bool cut = false;

    while (at < s.len && !cut) {
        cluster c = measure_next(vls_str_from(s, at));
        cut = c.columns > columns - width;
        if (!cut) {
            at += c.len;
            width += c.columns;
        }
        if (!cut && width < columns) {
            short_at = at;
            short_width = width;
        }
    }
    if (cut) {
        at = short_at;
        width = short_width + (columns > 0);
    }

    if (flags & VLS_TEXT_PAD_FRONT)
        add_spaces(out, columns - width);
    add_valid(out, vls_str_head(s, at));
    if (cut && columns > 0)
        vls_buf_add(out, ELLIPSIS);
    if (flags & VLS_TEXT_PAD && !(flags & VLS_TEXT_PAD_FRONT))
        add_spaces(out, columns - width);
}
