/* field_limits.c -- min and max, and what messages say about a field. */
#include <math.h>

#include "field/impl.h"

#include "base/hex.h"
#include "base/time.h"

const char *vls_field_label(const valise_field *field)
{
    return field->name ? field->name : "item";
}

int vls_field_fail_missing(const valise_field *field, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "'%s' is missing", vls_field_label(field));
    vls_hint(err, "give %s", vls_field_kinds[field->type].expect);
    return VALISE_E_INVALID;
}

int vls_field_fail_at(const valise_field *field, int rc, valise_error *err)
{
    if (vls_field_has(field, VALISE_SECRET) && (rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT))
        (void)vls_fail(err, rc, "'%s' is not what it must be: %s", vls_field_label(field),
                       vls_field_kinds[field->type].expect);
    vls_error_prepend(err, "%s", field->name);
    return rc;
}

/* ---- limits ---- */

static bool has_limits(const valise_field *field)
{
    return field->min != 0 || field->max != 0;
}

/* A limit as its field writes values: 5, a time, a duration. */
static int fail_range(const valise_field *field, const char *found, valise_error *err)
{
    char min[64], max[64];
    const int64_t limits[] = {field->min, field->max};
    char *const texts[] = {min, max};

    for (size_t i = 0; i < 2; i++) {
        if (field->type == VALISE_T_TIME)
            (void)snprintf(texts[i], sizeof(min), "%s", vls_time_text_of(limits[i]).s);
        else if (field->type == VALISE_T_DURATION)
            (void)snprintf(texts[i], sizeof(min), "%lldns", (long long)limits[i]);
        else
            (void)snprintf(texts[i], sizeof(min), "%lld", (long long)limits[i]);
    }
    return vls_fail(err, VALISE_E_INVALID, "'%s' must be between %s and %s, is %s",
                    vls_field_label(field), min, max, found);
}

int vls_field_check_number(const valise_field *field, int64_t number, valise_error *err)
{
    char found[64];

    if (VLS_LIKELY(!has_limits(field) || (number >= field->min && number <= field->max)))
        return 0;
    if (field->type == VALISE_T_TIME)
        (void)snprintf(found, sizeof(found), "%s", vls_time_text_of(number).s);
    else
        (void)snprintf(found, sizeof(found), "%lld%s", (long long)number,
                       field->type == VALISE_T_DURATION ? "ns" : "");
    return fail_range(field, found, err);
}

int vls_field_check_real(const valise_field *field, double real, valise_error *err)
{
    char found[64];

    /* The limits as doubles may be one off from 2^53 on: nobody can tell. */
    if (!has_limits(field) || (real >= (double)field->min && real <= (double)field->max))
        return 0;
    (void)snprintf(found, sizeof(found), "%.17g", real);
    return fail_range(field, found, err);
}

int vls_field_check_size(const valise_field *field, size_t size, valise_error *err)
{
    const char *unit = field->type == VALISE_T_LIST ? "items" : "bytes";

    if (VLS_LIKELY(!has_limits(field) ||
                   (size >= (uint64_t)field->min && size <= (uint64_t)field->max)))
        return 0;
    return vls_fail(err, VALISE_E_INVALID, "'%s' must have between %lld and %lld %s, has %zu",
                    vls_field_label(field), (long long)field->min, (long long)field->max, unit,
                    size);
}

/* ---- the name that was meant ---- */

#define NAME_MAX_BYTES VLS_FIELD_NAME_MAX

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;

    return m < c ? m : c;
}

/* How many characters must be put in, left out or replaced, or swapped with the next, to get from
 * one name to the other; capitals do not matter. */
static unsigned distance(valise_str a, valise_str b)
{
    unsigned rows[3][NAME_MAX_BYTES + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];

    for (unsigned j = 0; j <= b.len; j++)
        before[j] = last[j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        row[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            char x = lower(a.ptr[i - 1]), y = lower(b.ptr[j - 1]);
            row[j] = least(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b.ptr[j - 2]) && lower(a.ptr[i - 2]) == y)
                row[j] = VLS_MIN(row[j], before[j - 2] + 1);
        }
        unsigned *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[b.len];
}

typedef struct nearest {
    valise_str name;
    const char *best;
    unsigned distance;
} nearest;

static void look_at(nearest *n, const char *candidate)
{
    valise_str text = valise_str_of(candidate);

    if (text.len > NAME_MAX_BYTES)
        return;
    unsigned d = distance(n->name, text);
    if (d < n->distance) {
        n->distance = d;
        n->best = candidate;
    }
}

const char *vls_field_nearest(valise_str name, const valise_field *fields, const char *const *names)
{
    /* Up to a third of it wrong, but never so much that anything would do. */
    nearest n = {.name = name, .distance = 1 + (unsigned)VLS_MIN(name.len / 3, 3)};

    if (name.len == 0 || name.len > NAME_MAX_BYTES)
        return NULL;
    for (; fields && fields->type != VALISE_T_END; fields++)
        look_at(&n, fields->name);
    for (; names && *names; names++)
        look_at(&n, *names);
    return n.best;
}
