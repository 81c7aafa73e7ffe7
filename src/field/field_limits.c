/* field_limits.c -- min and max, and what messages say about a field. */
#include <math.h>

#include "field/impl.h"

#include "base/near.h"
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
        (void)vls_fail(err, rc, "'%s' is invalid: %s", vls_field_label(field),
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
    return vls_fail(err, VALISE_E_INVALID, "'%s' must be between %s and %s, not %s",
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
    return vls_fail(err, VALISE_E_INVALID, "'%s' must have between %lld and %lld %s, not %zu",
                    vls_field_label(field), (long long)field->min, (long long)field->max, unit,
                    size);
}

/* ---- depth ---- */

static uint32_t around_fields(const valise_field *fields, unsigned depth);

static uint32_t around_field(const valise_field *field, unsigned depth)
{
    const valise_union *type = field->more;
    uint32_t most = 0;

    if (depth == 0)
        return 0; /* tables come to an end before: vls_fields_check saw to that */
    switch (field->type) {
    case VALISE_T_JSON:
    case VALISE_T_VALUE:
        return 1;
    case VALISE_T_LIST:
        most = around_field(field->more, depth - 1);
        return most > 0 ? most + 1 : 0;
    case VALISE_T_STRUCT:
        most = around_fields(((const valise_struct *)field->more)->fields, depth - 1);
        return most > 0 ? most + 1 : 0;
    case VALISE_T_UNION:
        for (const valise_case *c = type->cases; c->name; c++) {
            uint32_t inside = around_fields(c->type->fields, depth - 1);
            most = VLS_MAX(most, inside > 0 ? inside + 1 : 0);
        }
        return VLS_MAX(most, type->open ? 1u : 0u); /* an unknown case is a value itself */
    default:
        return 0;
    }
}

static uint32_t around_fields(const valise_field *fields, unsigned depth)
{
    uint32_t most = 0;

    for (; fields->type != VALISE_T_END; fields++) {
        uint32_t around = around_field(fields, depth);
        most = VLS_MAX(most, around);
    }
    return most;
}

uint32_t vls_fields_around(const valise_field *fields)
{
    return around_fields(fields, VLS_FIELDS_MAX_DEPTH + 1);
}

/* ---- the name that was meant ---- */

const char *vls_field_nearest(valise_str name, const valise_field *fields, const char *const *names)
{
    vls_near near;

    vls_near_init(&near, name);
    for (; fields && fields->type != VALISE_T_END; fields++)
        vls_near_try(&near, valise_str_of(fields->name));
    for (; names && *names; names++)
        vls_near_try(&near, valise_str_of(*names));
    return near.best.ptr; /* a whole name, so that it ends in NUL */
}
