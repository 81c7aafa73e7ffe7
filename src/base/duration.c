/* duration.c -- "90s", "15m", "2h". */
#include "base/str.h"
#include "base/text.h"
#include "base/time.h"

static const struct {
    const char *name;
    int64_t ns;
} units[] = {
    /* from large to small */
    {"w", INT64_C(7) * 86400 * VLS_NS_PER_SECOND},
    {"d", 86400 * VLS_NS_PER_SECOND},
    {"h", 3600 * VLS_NS_PER_SECOND},
    {"m", 60 * VLS_NS_PER_SECOND},
    {"s", VLS_NS_PER_SECOND},
    {"ms", 1000000},
    {"us", 1000},
    {"ns", 1},
};

static int refuse(valise_error *err, valise_str text, size_t offset, const char *why)
{
    (void)vls_fail_at(err, VALISE_E_INVALID, offset, "\"%s\" is not a duration: %s",
                      vls_text_short(text).s, why);
    vls_hint(err, "write a whole number and a unit (ns us ms s m h d w), such as 90s or 15m");
    return VALISE_E_INVALID;
}

/* The value of the unit, or 0 when there is none of that name. */
static int64_t unit_ns(valise_str name)
{
    for (size_t i = 0; i < VLS_COUNT(units); i++) {
        if (vls_str_equal(name, valise_str_of(units[i].name)))
            return units[i].ns;
    }
    return 0;
}

int vls_duration_parse(int64_t *out_ns, valise_str text, valise_error *err)
{
    size_t digits = 0;
    int64_t count, unit, ns;

    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9')
        digits++;
    if (digits == 0)
        return refuse(err, text, 0, "it does not start with a digit");
    if (digits == text.len)
        return refuse(err, text, digits, "it has no unit");
    unit = unit_ns(vls_str_from(text, digits));
    if (unit == 0)
        return refuse(err, text, digits, "the whole number is not followed by a known unit");
    if (!vls_str_to_i64(&count, vls_str_head(text, digits)) ||
        __builtin_mul_overflow(count, unit, &ns))
        return vls_fail_at(err, VALISE_E_LIMIT, 0, "duration %s is longer than 292 years",
                           vls_text_short(text).s);
    *out_ns = ns;
    return 0;
}

void vls_duration_write(vls_buf *out, int64_t ns)
{
    size_t unit = 0;

    if (ns == 0) {
        vls_buf_add(out, VLS_STR("0s"));
        return;
    }
    while (ns % units[unit].ns != 0)
        unit++;
    vls_buf_add_i64(out, ns / units[unit].ns);
    vls_buf_add_text(out, units[unit].name);
}
