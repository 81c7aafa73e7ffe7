/* field_check.c -- does a table make sense? Asked once, when it is registered or was read from a
 * file, so that everybody else may rely on it. */
#include "field/impl.h"

#define ALL_FLAGS                                                                                  \
    (VALISE_REQUIRED | VALISE_NULLABLE | VALISE_POSITIONAL | VALISE_KEY | VALISE_CONTENT |         \
     VALISE_SECRET | VALISE_HIDDEN | VALISE_PLAIN | VALISE_FILE | VALISE_LOOSE | VALISE_PASSING |  \
     VALISE_BARE)

typedef struct checker {
    valise_error *err;
    unsigned total; /* fields looked at */
} checker;

#define refuse(c, ...) vls_fail((c)->err, VALISE_E_INVALID, __VA_ARGS__)

static int check_table(checker *c, const valise_field *fields, size_t struct_size, const char *tag,
                       unsigned depth);
static int check_field(checker *c, const valise_field *field, unsigned depth);

/* ---- names ---- */

static bool is_camel_case(const char *name)
{
    size_t len = 0;

    if (!name || name[0] < 'a' || name[0] > 'z')
        return false;
    while (len < VLS_FIELD_NAME_MAX && vls_is_alnum(name[len]))
        len++;
    return name[len] == '\0';
}

/* Values that a caller writes: tool_result, text/plain, node:scan. */
static bool is_value_name(const char *name)
{
    size_t len = 0;

    while (len < VLS_FIELD_NAME_MAX && name[len] &&
           (vls_is_alnum(name[len]) || strchr("_-.:/+", name[len])))
        len++;
    return len > 0 && name[len] == '\0';
}

static int check_names(checker *c, const char *const *names, const char *what)
{
    size_t count = 0;

    for (; names[count]; count++) {
        const char *name = names[count];
        if (count == VLS_FIELDS_MAX_NAMES)
            return refuse(c, "more than %u %s", VLS_FIELDS_MAX_NAMES, what);
        if (!is_value_name(name))
            return refuse(c, "one of the %s is \"%.60s\", which must be letters, digits or _-.:/+",
                          what, name);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(name, names[i]) == 0)
                return refuse(c, "\"%s\" is given twice among the %s", name, what);
        }
    }
    return count > 0 ? 0 : refuse(c, "no %s", what);
}

/* ---- what hangs on a field ---- */

static int check_item(checker *c, const valise_field *item, unsigned depth)
{
    int rc;

    if (item->type == VALISE_T_END || item->offset != 0 || item->flags != 0)
        return refuse(c, "the item of a list must have a type, offset 0 and no flags");
    rc = check_field(c, item, depth);
    if (rc < 0)
        vls_error_prepend(c->err, "[]");
    return rc;
}

static int check_struct(checker *c, const valise_struct *type, const char *tag, unsigned depth)
{
    if (!type || !type->fields)
        return refuse(c, "a struct without fields");
    return check_table(c, type->fields, type->size, tag, depth);
}

static int check_union(checker *c, const valise_union *type, unsigned depth)
{
    const char *names[VLS_FIELDS_MAX_NAMES + 2];
    size_t count = 0;
    int rc;

    if (!is_camel_case(type->tag) || !type->cases)
        return refuse(c, "a union without cases, or whose tag is not a name");
    for (; count < VLS_COUNT(names) - 1 && type->cases[count].name; count++)
        names[count] = type->cases[count].name;
    names[count] = NULL;
    rc = check_names(c, names, "cases");
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = check_struct(c, type->cases[i].type, type->tag, depth);
        if (rc < 0)
            vls_error_prepend(c->err, "%s", type->cases[i].name);
    }
    return rc;
}

static int check_more(checker *c, const valise_field *field, unsigned depth)
{
    bool has_more = field->type == VALISE_T_ENUM || field->type >= VALISE_T_LIST;

    if (has_more != (field->more != NULL))
        return refuse(c, has_more ? "lacks .more" : "has .more, which its type does not use");
    if (!has_more)
        return 0;
    if (field->type == VALISE_T_ENUM)
        return check_names(c, field->more, "names");
    if (depth == 0)
        return refuse(c, "tables inside each other more than %u deep", VLS_FIELDS_MAX_DEPTH);
    if (field->type == VALISE_T_LIST)
        return check_item(c, field->more, depth - 1);
    if (field->type == VALISE_T_STRUCT)
        return check_struct(c, field->more, NULL, depth - 1);
    return check_union(c, field->more, depth - 1);
}

/* ---- limits and flags ---- */

static int check_limits(checker *c, const valise_field *field)
{
    if (field->min == 0 && field->max == 0)
        return 0;
    switch (field->type) {
    case VALISE_T_BOOL:
    case VALISE_T_UUID:
    case VALISE_T_ID:
    case VALISE_T_ENUM:
    case VALISE_T_STRUCT:
    case VALISE_T_UNION:
        return refuse(c, "has min or max, which its type does not use");
    case VALISE_T_INT:
    case VALISE_T_REAL:
    case VALISE_T_TIME:
        break;
    default:
        if (field->min < 0)
            return refuse(c, "min is below 0");
    }
    if (field->min > field->max || field->min == VALISE_NONE)
        return refuse(c, "min must be at most max, and more than VALISE_NONE");
    return 0;
}

static int check_flags(checker *c, const valise_field *field)
{
    unsigned flags = field->flags;
    bool nullable = flags & VALISE_NULLABLE;

    if (flags & ~(unsigned)ALL_FLAGS)
        return refuse(c, "has unknown flags");
    if (nullable && (flags & VALISE_REQUIRED))
        return refuse(c, "cannot be both REQUIRED and NULLABLE: null means absent");
    if (nullable && field->type == VALISE_T_BOOL)
        return refuse(c, "a BOOL cannot be NULLABLE");
    if ((flags & VALISE_KEY) && (nullable || (flags & VALISE_SECRET)))
        return refuse(c, "a KEY can be neither NULLABLE nor SECRET");
    if ((flags & VALISE_KEY) && !vls_field_kinds[field->type].is_scalar)
        return refuse(c, "a %s cannot be a KEY", vls_field_kinds[field->type].name);
    if ((flags & VALISE_CONTENT) && !nullable)
        return refuse(c, "a CONTENT field must be NULLABLE, so that an erasure can remove it");
    if ((flags & VALISE_PLAIN) && field->type != VALISE_T_VALUE)
        return refuse(c, "only a VALUE can be PLAIN");
    if ((flags & VALISE_FILE) && field->type != VALISE_T_TEXT && field->type != VALISE_T_DATA)
        return refuse(c, "only a TEXT or DATA can be a FILE");
    if ((flags & VALISE_BARE) && (field->type != VALISE_T_INT || field->max <= 0))
        return refuse(c, "only an INT with a max can be BARE");
    if ((flags & VALISE_LOOSE) && !field->ref)
        return refuse(c, "only what has a ref can be LOOSE");
    if (field->ref && (field->ref[0] == '\0' || field->type >= VALISE_T_LIST))
        return refuse(c, "has a ref, which belongs to scalars and to items");
    return 0;
}

static int check_field(checker *c, const valise_field *field, unsigned depth)
{
    int rc;

    if (field->type <= VALISE_T_END || field->type >= VLS_FIELD_TYPES)
        return refuse(c, "has an unknown type");
    if (++c->total > VLS_FIELDS_MAX_TOTAL)
        return refuse(c, "more than %u fields in all tables", VLS_FIELDS_MAX_TOTAL);
    rc = check_flags(c, field);
    if (rc == 0)
        rc = check_limits(c, field);
    return rc == 0 ? check_more(c, field, depth) : rc;
}

/* ---- tables ---- */

static int check_place(checker *c, const valise_field *fields, const valise_field *field,
                       size_t struct_size)
{
    const vls_field_kind *kind = &vls_field_kinds[field->type];
    size_t end = (size_t)field->offset + kind->size;

    if (end > struct_size || field->offset % kind->align != 0)
        return refuse(c, "offset %u does not fit a struct of %zu bytes, or its type", field->offset,
                      struct_size);
    for (const valise_field *f = fields; f != field; f++) {
        if (field->offset < (size_t)f->offset + vls_field_size(f) && f->offset < end)
            return refuse(c, "overlaps the member '%s'", f->name);
        if (strcmp(f->name, field->name) == 0)
            return refuse(c, "there are two with this name");
    }
    if (field != fields && vls_field_has(field, VALISE_KEY) &&
        !vls_field_has(field - 1, VALISE_KEY))
        return refuse(c, "the fields of the key must come first");
    return 0;
}

static int check_table(checker *c, const valise_field *fields, size_t struct_size, const char *tag,
                       unsigned depth)
{
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        int rc;
        if (f - fields >= (ptrdiff_t)VLS_FIELDS_MAX)
            return refuse(c, "a table of more than %u fields", VLS_FIELDS_MAX);
        if (!is_camel_case(f->name))
            rc = refuse(c, "\"%.60s\" is not a name: camelCase, at most %u bytes",
                        f->name ? f->name : "", VLS_FIELD_NAME_MAX);
        else if (tag && strcmp(tag, f->name) == 0)
            rc = refuse(c, "has the name of the tag");
        else
            rc = check_field(c, f, depth);
        if (rc == 0)
            rc = check_place(c, fields, f, struct_size);
        if (rc < 0) {
            vls_error_prepend(c->err, "%.60s", f->name ? f->name : "?");
            return rc;
        }
    }
    return 0;
}

int vls_fields_check(const valise_field *fields, size_t struct_size, valise_error *err)
{
    checker c = {.err = err};

    return check_table(&c, fields, struct_size, NULL, VLS_FIELDS_MAX_DEPTH);
}
