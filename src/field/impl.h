/* impl.h -- what the files of src/field share: access to members of a struct, and words for
 * messages.
 *
 * Threads: pure functions; safe anywhere. */
#ifndef VLS_FIELD_IMPL_H
#define VLS_FIELD_IMPL_H

#include "field/field.h"

#define VLS_FIELD_TYPES (VALISE_T_UNION + 1)

/* What the files need to know of a type, one row each. */
typedef struct vls_field_kind {
    const char *name;   /* in descriptions: "str" */
    const char *expect; /* in messages: "a string" */
    uint8_t size, align;
    uint8_t cell;   /* VALISE_CELL_... */
    bool is_scalar; /* may be a key */
    bool has_zero;  /* zero is a value: 0, "", false, no items */
} vls_field_kind;

extern const vls_field_kind vls_field_kinds[VLS_FIELD_TYPES];

static inline const void *vls_field_at(const void *row, const valise_field *field)
{
    return (const char *)row + field->offset;
}

static inline bool vls_field_has(const valise_field *field, unsigned flag)
{
    return (field->flags & flag) != 0;
}

static inline bool vls_field_is_content(const valise_field *field)
{
    return field->type >= VALISE_T_VALUE && field->type <= VALISE_T_DATA;
}

/* All by the member's own address, as items of lists have no struct around them. */
bool vls_field_is_zero(const valise_field *field, const void *member);
bool vls_field_is_null(const valise_field *field, const void *member); /* of NULLABLE fields */

/* Is the member not there: none, or something that has no value of its own for zero (an id, a
 * content, JSON, a struct or a union that was not given)? Such a member is never written. */
static inline bool vls_field_is_absent(const valise_field *field, const void *member)
{
    if (vls_field_has(field, VALISE_NULLABLE))
        return vls_field_is_null(field, member);
    return !vls_field_kinds[field->type].has_zero && vls_field_is_zero(field, member);
}

/* How a message calls the field: its name, or "item". */
const char *vls_field_label(const valise_field *field);

/* "'count' is missing" with the path. */
int vls_field_fail_missing(const valise_field *field, valise_error *err);

/* Pass on what is wrong with a member: say where, and of a secret nothing but that. */
int vls_field_fail_at(const valise_field *field, int rc, valise_error *err);

/* Does the number, or the number of bytes or items, fit min and max? */
int vls_field_check_number(const valise_field *field, int64_t number, valise_error *err);
int vls_field_check_real(const valise_field *field, double real, valise_error *err);
int vls_field_check_size(const valise_field *field, size_t size, valise_error *err);

/* The number of the name, or -1. */
int64_t vls_field_enum_find(const valise_field *field, valise_str name);
int64_t vls_field_enum_count(const valise_field *field);

/* The number of the case of this name, or -1. */
int64_t vls_union_find(const valise_union *type, valise_str name);
int64_t vls_union_count(const valise_union *type);

/* Of these names, the one that was probably meant; NULL when none is near. A NULL among `names`
 * ends them. `fields` may be given in their place. */
const char *vls_field_nearest(valise_str name, const valise_field *fields,
                              const char *const *names);

/* vls_fields_decode and vls_fields_write with their own depth. */
int vls_fields_decode_deep(void *out, const valise_field *fields, size_t struct_size, vls_json v,
                           vls_field_form form, unsigned depth, vls_arena *arena,
                           valise_error *err);

/* One member alone, without its name: a cell of a row. Limits are not checked, and what is REQUIRED
 * may be missing where it has a zero: the table may have been another when it was written. */
int vls_field_decode_stored(void *member, const valise_field *field, vls_json v, vls_arena *arena,
                            valise_error *err);
int vls_field_write(vls_buf *out, const void *member, const valise_field *field,
                    vls_field_form form, valise_error *err);

#endif
