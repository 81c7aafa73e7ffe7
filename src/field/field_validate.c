/* field_validate.c -- the checks of decoding on a struct that somebody filled by hand.
 *
 * What cannot go wrong in JSON can here: text that is not UTF-8, numbers of names that do not
 * exist, NULL inside a list. */
#include <math.h>

#include "field/impl.h"

#include "base/utf8.h"

typedef struct validator {
    vls_arena *arena;
    valise_error *err;
    bool accepted; /* before: limits are not for it */
} validator;

#define refuse(v, field, reason)                                                                   \
    vls_fail((v)->err, VALISE_E_INVALID, "'%s' %s", vls_field_label(field), (reason))

static int check_row(const validator *v, const void *row, const valise_field *fields,
                     unsigned depth);

static int check_size(const validator *v, const valise_field *field, size_t size)
{
    return v->accepted ? 0 : vls_field_check_size(field, size, v->err);
}

/* ---- texts ---- */

static int check_utf8(const validator *v, valise_str text, const valise_field *field)
{
    if (text.len > UINT32_MAX || (text.len && !text.ptr) || !vls_utf8_valid(text))
        return refuse(v, field, "is not UTF-8");
    return 0;
}

/* The arena is as before afterwards: what is parsed is only looked at. */
static int check_json(const validator *v, valise_str text, const valise_field *field,
                      bool canonical)
{
    VLS_AUTO(buf) vls_buf again = {0};
    vls_arena_mark here = vls_arena_here(v->arena);
    vls_json value = {0};
    int rc;

    if (vls_json_is_canonical(text) && !vls_str_equal(text, VLS_STR("null")))
        return 0;
    rc = vls_json_parse(&value, v->arena, text, NULL, v->err);
    vls_buf_init(&again, v->arena->env, VLS_JSON_MAX_BYTES);
    if (rc == 0 && canonical)
        rc = vls_json_write(&again, value, v->err);
    vls_arena_rewind(v->arena, here);
    if (rc < 0)
        return rc;
    if (value.type == VLS_JSON_NULL && vls_field_has(field, VALISE_NULLABLE))
        return refuse(v, field, "is null, which means that nothing is given: leave it out");
    if (canonical && !vls_str_equal(vls_buf_str(&again), text))
        return refuse(v, field, "is not canonical JSON");
    return 0;
}

static int check_content(const validator *v, const valise_content *c, const valise_field *field)
{
    int rc = 0;

    if (!c->bytes.ptr) /* only its id is known: somebody looked at it when it was stored */
        return 0;
    if (field->type == VALISE_T_VALUE)
        rc = check_json(v, c->bytes, field, false);
    else if (field->type == VALISE_T_TEXT)
        rc = check_utf8(v, c->bytes, field);
    return rc < 0 ? rc : check_size(v, field, c->bytes.len);
}

static int check_string(const validator *v, valise_str s, const valise_field *field)
{
    int rc = 0;

    if (field->type == VALISE_T_STR)
        rc = check_utf8(v, s, field);
    else if (field->type == VALISE_T_JSON)
        rc = check_json(v, s, field, true);
    else if (s.len && !s.ptr)
        rc = refuse(v, field, "has a length, but no bytes");
    return rc < 0 ? rc : check_size(v, field, s.len);
}

/* ---- numbers ---- */

static int check_number(const validator *v, int64_t number, const valise_field *field)
{
    if (number == VALISE_NONE)
        return refuse(v, field, "must not be VALISE_NONE");
    if (field->type == VALISE_T_DURATION && number < 0)
        return refuse(v, field, "is a negative duration");
    if (field->type == VALISE_T_ENUM && (number < 0 || number >= vls_field_enum_count(field)))
        return refuse(v, field, "has no name with this number");
    return v->accepted ? 0 : vls_field_check_number(field, number, v->err);
}

static int check_real(const validator *v, double real, const valise_field *field)
{
    if (!isfinite(real))
        return refuse(v, field, "is not a number that JSON can hold");
    return v->accepted ? 0 : vls_field_check_real(field, real, v->err);
}

/* ---- what has parts ---- */

static int check_member(const validator *v, const void *member, const valise_field *field,
                        unsigned depth);

static int check_list(const validator *v, const valise_list *list, const valise_field *field,
                      unsigned depth)
{
    const valise_field *item = field->more;
    int rc = check_size(v, field, list->count);

    if (rc == 0 && list->count && !list->items)
        rc = refuse(v, field, "has a count, but no items");
    for (size_t i = 0; i < list->count && rc == 0; i++) {
        const void *member = (const char *)list->items + i * vls_field_size(item);
        rc = vls_field_is_absent(item, member) ? vls_field_fail_missing(item, v->err)
                                               : check_member(v, member, item, depth);
        if (rc < 0)
            vls_error_prepend(v->err, "[%zu]", i);
    }
    return rc;
}

/* An unknown case must not be a known one in disguise. */
static int check_open(const validator *v, const valise_variant *variant, const valise_field *field)
{
    const valise_union *type = field->more;
    vls_arena_mark here = vls_arena_here(v->arena);
    vls_json value = {0};
    int rc = check_json(v, variant->json, field, true);

    if (rc < 0)
        return rc;
    rc = vls_json_parse(&value, v->arena, variant->json, NULL, v->err);
    const vls_json *tag = rc == 0 ? vls_json_get(value, valise_str_of(type->tag)) : NULL;
    if (rc == 0 &&
        (!tag || tag->type != VLS_JSON_STRING || vls_union_find(type, vls_json_str(*tag)) >= 0))
        rc = refuse(v, field, "must be an object with an unknown tag");
    vls_arena_rewind(v->arena, here);
    return rc;
}

static int check_union(const validator *v, const valise_variant *variant, const valise_field *field,
                       unsigned depth)
{
    const valise_union *type = field->more;

    if (variant->which == -1 && type->open)
        return check_open(v, variant, field);
    if (variant->which < 0 || variant->which >= vls_union_count(type))
        return refuse(v, field, "has no case with this number");
    if (!variant->value)
        return vls_field_fail_missing(field, v->err);
    return check_row(v, variant->value, type->cases[variant->which].type->fields, depth);
}

static int check_parts(const validator *v, const void *member, const valise_field *field,
                       unsigned depth)
{
    const valise_struct *type = field->more;

    if (depth == 0)
        return vls_fail(v->err, VALISE_E_LIMIT, "'%s' is nested too deep", vls_field_label(field));
    if (field->type == VALISE_T_LIST)
        return check_list(v, member, field, depth - 1);
    if (field->type == VALISE_T_UNION)
        return check_union(v, member, field, depth - 1);
    return check_row(v, *(const void *const *)member, type->fields, depth - 1);
}

static int check_member(const validator *v, const void *member, const valise_field *field,
                        unsigned depth)
{
    switch (field->type) {
    case VALISE_T_BOOL:
    case VALISE_T_UUID:
    case VALISE_T_ID:
        return 0;
    case VALISE_T_INT:
    case VALISE_T_TIME:
    case VALISE_T_DURATION:
    case VALISE_T_ENUM:
        return check_number(v, *(const int64_t *)member, field);
    case VALISE_T_REAL:
        return check_real(v, *(const double *)member, field);
    case VALISE_T_STR:
    case VALISE_T_BYTES:
    case VALISE_T_PATH:
    case VALISE_T_JSON:
        return check_string(v, *(const valise_str *)member, field);
    case VALISE_T_VALUE:
    case VALISE_T_TEXT:
    case VALISE_T_DATA:
        return check_content(v, member, field);
    default:
        return check_parts(v, member, field, depth);
    }
}

/* A required string or list that is NULL was forgotten; numbers are what they are. */
static bool is_forgotten(const validator *v, const valise_field *field, const void *member)
{
    if (v->accepted && vls_field_kinds[field->type].has_zero)
        return false;
    switch (field->type) {
    case VALISE_T_STR:
    case VALISE_T_BYTES:
    case VALISE_T_PATH:
        return !((const valise_str *)member)->ptr;
    case VALISE_T_LIST:
        return !((const valise_list *)member)->items;
    default:
        return vls_field_is_absent(field, member);
    }
}

static int check_row(const validator *v, const void *row, const valise_field *fields,
                     unsigned depth)
{
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        const void *member = vls_field_at(row, f);
        int rc = 0;
        if (vls_field_has(f, VALISE_REQUIRED) && is_forgotten(v, f, member))
            rc = vls_field_fail_missing(f, v->err);
        else if (vls_field_has(f, VALISE_REQUIRED) || !vls_field_is_none(f, row))
            rc = check_member(v, member, f, depth); /* what was not given is always fine */
        if (rc < 0)
            return vls_field_fail_at(f, rc, v->err);
    }
    return 0;
}

int vls_fields_validate(const void *row, const valise_field *fields, vls_arena *arena,
                        valise_error *err)
{
    validator v = {.arena = arena, .err = err};

    return check_row(&v, row, fields, VLS_FIELDS_MAX_DEPTH);
}

int vls_fields_validate_accepted(const void *row, const valise_field *fields, vls_arena *arena,
                                 valise_error *err)
{
    validator v = {.arena = arena, .err = err, .accepted = true};

    return check_row(&v, row, fields, VLS_FIELDS_MAX_DEPTH);
}
