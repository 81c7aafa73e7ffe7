/* format.c -- valise_json_format: printf's conversions, each of which is a whole JSON value.
 *
 * What is written is parsed at the end, so that a pattern with a mistake is an error and never a
 * payload. */
#include <math.h>
#include <stdarg.h>

#include <valise/json.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "json/json.h"

/* How long an integer is. */
enum { LEN_INT, LEN_LONG, LEN_LLONG, LEN_MAX, LEN_SIZE };

typedef struct conversion {
    bool raw;   /* '-' */
    bool slice; /* ".*" */
    int len;    /* LEN_... */
    char kind;
} conversion;

/* Between the percent sign and the letter. Returns what follows the letter. */
static const char *read_conversion(conversion *out, const char *at)
{
    *out = (conversion){.raw = *at == '-'};
    at += out->raw;
    out->slice = at[0] == '.' && at[1] == '*';
    at += out->slice ? 2 : 0;
    if (at[0] == 'l' && at[1] == 'l')
        out->len = LEN_LLONG;
    else if (*at == 'l')
        out->len = LEN_LONG;
    else if (*at == 'j')
        out->len = LEN_MAX;
    else if (*at == 'z')
        out->len = LEN_SIZE;
    at += out->len == LEN_LLONG ? 2 : out->len != LEN_INT;
    out->kind = *at;
    return *at ? at + 1 : at;
}

static int add_text(vls_buf *out, const conversion *c, valise_str text, valise_error *err)
{
    if (!text.ptr && !c->raw)
        vls_buf_add_text(out, "null");
    else if (c->raw)
        vls_buf_add(out, text);
    else if (vls_utf8_valid(text))
        vls_json_write_string(out, text);
    else
        return vls_fail(err, VALISE_E_INVALID, "the text is not UTF-8");
    return 0;
}

/* In the order of LEN_...; a va_list that a function was given is passed on by its address. */
static int64_t take_signed(va_list *args, int len)
{
    if (len == LEN_LONG)
        return va_arg(*args, long);
    if (len == LEN_LLONG)
        return va_arg(*args, long long);
    if (len == LEN_MAX)
        return va_arg(*args, intmax_t);
    if (len == LEN_SIZE)
        return va_arg(*args, ptrdiff_t);
    return va_arg(*args, int);
}

static uint64_t take_unsigned(va_list *args, int len)
{
    if (len == LEN_LONG)
        return va_arg(*args, unsigned long);
    if (len == LEN_LLONG)
        return va_arg(*args, unsigned long long);
    if (len == LEN_MAX)
        return va_arg(*args, uintmax_t);
    if (len == LEN_SIZE)
        return va_arg(*args, size_t);
    return va_arg(*args, unsigned);
}

static int add_real(vls_buf *out, double real, valise_error *err)
{
    if (!isfinite(real))
        return vls_fail(err, VALISE_E_INVALID, "JSON has no number for infinity or NaN");
    return vls_json_write(out, vls_json_real(real), err);
}

static int refuse(const conversion *c, valise_error *err)
{
    const char *raw = c->raw ? "-" : "", *slice = c->slice ? ".*" : "";
    static const char *const lens[] = {"", "l", "ll", "j", "z"};

    return vls_fail(err, VALISE_E_INVALID,
                    "the pattern has a conversion '%%%s%s%s%.1s' that makes "
                    "no JSON value",
                    raw, slice, lens[c->len], &c->kind);
}

static int add_string(vls_buf *out, const conversion *c, va_list *args, valise_error *err)
{
    int len = c->slice ? va_arg(*args, int) : 0;
    const char *text = va_arg(*args, const char *);

    if (!c->slice)
        return add_text(out, c, text ? valise_str_of(text) : (valise_str){NULL, 0}, err);
    if (len < 0 || (len > 0 && !text))
        return vls_fail(err, VALISE_E_INVALID, "a slice has no length of %d", len);
    return add_text(out, c, vls_str(text ? text : "", (size_t)len), err);
}

/* One that is_known. */
static int add_value(vls_buf *out, const conversion *c, va_list *args, valise_error *err)
{
    switch (c->kind) {
    case 's':
        return add_string(out, c, args, err);
    case 'g':
        return add_real(out, va_arg(*args, double), err);
    case 'u':
        vls_buf_add_u64(out, take_unsigned(args, c->len));
        return 0;
    case '%':
        vls_buf_add_byte(out, '%');
        return 0;
    default:
        vls_buf_add_i64(out, take_signed(args, c->len));
        return 0;
    }
}

static bool is_known(const conversion *c)
{
    bool plain = !c->raw && !c->slice;

    switch (c->kind) {
    case 's':
        return c->len == LEN_INT;
    case 'd':
    case 'i':
    case 'u':
        return plain;
    case 'g':
    case '%':
        return plain && c->len == LEN_INT;
    default:
        return false;
    }
}

static int write_all(vls_buf *out, const char *pattern, va_list *args, valise_error *err)
{
    int rc = 0;

    while (rc == 0 && *pattern) {
        const char *next = strchr(pattern, '%');
        conversion c;

        vls_buf_add(out,
                    next ? vls_str(pattern, (size_t)(next - pattern)) : valise_str_of(pattern));
        if (!next)
            break;
        pattern = read_conversion(&c, next + 1);
        rc = is_known(&c) ? add_value(out, &c, args, err) : refuse(&c, err);
    }
    return rc < 0 ? rc : vls_buf_check(out, err);
}

int valise_json_format(valise_blob **out, valise_error *err, const char *pattern, ...)
{
    VLS_AUTO(buf) vls_buf text = {0};
    va_list args;
    int rc;

    VLS_ARG(out && pattern, err);
    vls_buf_init(&text, valise_env_default(), VLS_JSON_MAX_BYTES);
    va_start(args, pattern);
    rc = write_all(&text, pattern, &args, err);
    va_end(args);
    return rc < 0 ? rc : vls_json_canonical(out, valise_env_default(), vls_buf_str(&text), err);
}
