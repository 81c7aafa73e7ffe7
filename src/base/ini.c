/* ini.c -- reading entries, and what their values mean. */
#include "base/ini.h"

#include "base/ini_scan.h"
#include "base/str.h"
#include "base/text.h"

int vls_ini_read(const valise_env *env, valise_str file, valise_str text, vls_ini_fn *fn, void *arg,
                 valise_error *err)
{
    VLS_AUTO(ini_scan) vls_ini_scan scan = {0};
    vls_ini_item item = {.kind = VLS_INI_HEADER};
    int rc = vls_ini_scan_init(&scan, env, file, text, err);

    while (rc == 0 && item.kind != VLS_INI_END) {
        rc = vls_ini_scan_next(&item, &scan, err);
        if (rc == 0 && item.kind == VLS_INI_ENTRY)
            rc = fn(arg, &item.entry, err);
    }
    return rc;
}

/* ---- values ---- */

static bool equal_ignoring_case(valise_str s, const char *lower)
{
    size_t i = 0;

    while (i < s.len && lower[i] && vls_ini_lower(s.ptr[i]) == lower[i])
        i++;
    return i == s.len && !lower[i];
}

static bool is_one_of(valise_str s, const char *const words[3])
{
    return equal_ignoring_case(s, words[0]) || equal_ignoring_case(s, words[1]) ||
           equal_ignoring_case(s, words[2]);
}

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c = vls_ini_lower(c);
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
}

/* Take the base off the front as C does: "0x" with a digit behind it, "0", or nothing. */
static unsigned take_base(valise_str *s)
{
    if (s->len > 2 && s->ptr[0] == '0' && vls_ini_lower(s->ptr[1]) == 'x' &&
        digit_value(s->ptr[2]) < 16) {
        *s = vls_str_from(*s, 2);
        return 16;
    }
    return s->len > 0 && s->ptr[0] == '0' ? 8 : 10;
}

/* What a number's last letter multiplies it by; 0 when it is no such letter. */
static uint64_t unit_factor(valise_str unit)
{
    if (unit.len == 0)
        return 1;
    if (unit.len > 1)
        return 0;
    char c = vls_ini_lower(unit.ptr[0]);
    return c == 'k' ? 1u << 10 : c == 'm' ? 1u << 20 : c == 'g' ? 1u << 30 : 0;
}

typedef enum number_result {
    NUMBER_OK,
    NUMBER_BAD,
    NUMBER_OUT_OF_RANGE,
} number_result;

/* A number between -max and max. */
static number_result parse_number(int64_t *out, valise_str s, uint64_t max)
{
    uint64_t value = 0;
    bool overflow = false;
    size_t len = 0;

    while (s.len > 0 && (vls_ini_is_space(s.ptr[0]) || s.ptr[0] == '\v' || s.ptr[0] == '\f'))
        s = vls_str_from(s, 1);
    bool negative = s.len > 0 && s.ptr[0] == '-';
    if (negative || (s.len > 0 && s.ptr[0] == '+'))
        s = vls_str_from(s, 1);
    unsigned base = take_base(&s);
    for (; len < s.len && digit_value(s.ptr[len]) < base; len++)
        overflow |= __builtin_mul_overflow(value, base, &value) ||
                    __builtin_add_overflow(value, digit_value(s.ptr[len]), &value);

    uint64_t factor = unit_factor(vls_str_from(s, len));
    if (len == 0 || factor == 0)
        return NUMBER_BAD;
    if (overflow || __builtin_mul_overflow(value, factor, &value) || value > max)
        return NUMBER_OUT_OF_RANGE;
    *out = negative ? -(int64_t)value : (int64_t)value;
    return NUMBER_OK;
}

static int fail_value(const vls_ini_entry *entry, valise_error *err, const char *reason,
                      const char *hint)
{
    (void)vls_fail(err, VALISE_E_INVALID, "%s:%u: %s = \"%s\": %s", vls_text_short(entry->file).s,
                   entry->line, vls_text_short(entry->full_name).s, vls_text_short(entry->value).s,
                   reason);
    vls_hint(err, "%s", hint);
    return VALISE_E_INVALID;
}

int vls_ini_bool(bool *out, const vls_ini_entry *entry, valise_error *err)
{
    static const char *const yes[] = {"true", "yes", "on"};
    static const char *const no[] = {"false", "no", "off"};
    int64_t number;

    if (!entry->value.ptr || is_one_of(entry->value, yes))
        *out = true;
    else if (entry->value.len == 0 || is_one_of(entry->value, no))
        *out = false;
    else if (parse_number(&number, entry->value, INT32_MAX) == NUMBER_OK)
        *out = number != 0;
    else
        return fail_value(entry, err, "neither true nor false",
                          "write true, yes, on or 1, or false, no, off or 0");
    return 0;
}

int vls_ini_i64(int64_t *out, const vls_ini_entry *entry, valise_error *err)
{
    static const char hint[] = "write a whole number; k, m or g behind it multiplies by 1024";

    switch (parse_number(out, entry->value, INT64_MAX)) {
    case NUMBER_OK:
        return 0;
    case NUMBER_OUT_OF_RANGE:
        return fail_value(entry, err, "out of range", hint);
    case NUMBER_BAD:
        break;
    }
    return fail_value(entry, err, "not a number", hint);
}
