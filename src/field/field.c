/* field.c -- what a field is: its size, its none, its name in other spellings.
 *
 * Everything that depends on the type alone stands in the table below. */
#include <math.h>

#include "field/impl.h"

#include <valise/sys/store.h>

#define KIND(c_type) .size = sizeof(c_type), .align = _Alignof(c_type)
#define SCALAR true, true
#define NAME true, false /* a scalar without a zero of its own */
#define OTHER false, false

const vls_field_kind vls_field_kinds[VLS_FIELD_TYPES] = {
    [VALISE_T_BOOL] = {"bool", "true or false", KIND(bool), VALISE_CELL_INT, SCALAR},
    [VALISE_T_INT] = {"int", "an integer", KIND(int64_t), VALISE_CELL_INT, SCALAR},
    [VALISE_T_REAL] = {"real", "a number", KIND(double), VALISE_CELL_REAL, SCALAR},
    [VALISE_T_STR] = {"str", "a string", KIND(valise_str), VALISE_CELL_TEXT, SCALAR},
    [VALISE_T_BYTES] = {"bytes", "a base64 string", KIND(valise_str), VALISE_CELL_BLOB, SCALAR},
    [VALISE_T_PATH] = {"path", "a string, or {\"base64\": ...}", KIND(valise_str), VALISE_CELL_BLOB,
                       SCALAR},
    [VALISE_T_TIME] = {"time", "a time such as \"2026-01-02T03:04:05Z\"", KIND(int64_t),
                       VALISE_CELL_INT, SCALAR},
    [VALISE_T_DURATION] = {"duration", "a duration such as \"90s\"", KIND(int64_t), VALISE_CELL_INT,
                           SCALAR},
    [VALISE_T_UUID] = {"uuid", "a UUID", KIND(valise_uuid), VALISE_CELL_BLOB, NAME},
    [VALISE_T_ID] = {"id", "an id of 64 digits", KIND(valise_id), VALISE_CELL_BLOB, NAME},
    [VALISE_T_ENUM] = {"enum", "a name", KIND(int64_t), VALISE_CELL_TEXT, SCALAR},
    [VALISE_T_JSON] = {"json", "JSON", KIND(valise_str), VALISE_CELL_TEXT, OTHER},
    [VALISE_T_VALUE] = {"value", "JSON", KIND(valise_content), VALISE_CELL_BLOB, OTHER},
    [VALISE_T_TEXT] = {"text", "a string", KIND(valise_content), VALISE_CELL_BLOB, OTHER},
    [VALISE_T_DATA] = {"data", "a base64 string", KIND(valise_content), VALISE_CELL_BLOB, OTHER},
    [VALISE_T_LIST] = {"list", "an array", KIND(valise_list), VALISE_CELL_TEXT, false, true},
    [VALISE_T_STRUCT] = {"struct", "an object", KIND(const void *), VALISE_CELL_TEXT, OTHER},
    [VALISE_T_UNION] = {"union", "an object", KIND(valise_variant), VALISE_CELL_TEXT, OTHER},
};

size_t vls_field_size(const valise_field *field)
{
    assert(field->type > VALISE_T_END && field->type < VLS_FIELD_TYPES);
    return vls_field_kinds[field->type].size;
}

size_t vls_fields_count(const valise_field *fields)
{
    size_t count = 0;

    while (fields[count].type != VALISE_T_END)
        count++;
    return count;
}

static bool is_name(const char *name, valise_str text)
{
    return name[0] == text.ptr[0] && strlen(name) == text.len &&
           memcmp(name, text.ptr, text.len) == 0;
}

const valise_field *vls_fields_find(const valise_field *fields, valise_str name)
{
    if (name.len == 0 || name.len > VLS_FIELD_NAME_MAX)
        return NULL;
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        if (is_name(f->name, name))
            return f;
    }
    return NULL;
}

/* ---- none and zero ---- */

static bool all_zero(const void *bytes, size_t len)
{
    static const uint8_t zero[sizeof(valise_id)];

    assert(len <= sizeof(zero));
    return memcmp(bytes, zero, len) == 0;
}

/* Whoever gives a content gives its bytes or its id, so one without either was not given. */
static bool is_empty_content(const valise_content *c)
{
    return !c->bytes.ptr && c->size <= 0 && all_zero(&c->id, sizeof(c->id));
}

bool vls_field_is_zero(const valise_field *field, const void *member)
{
    switch (field->type) {
    case VALISE_T_BOOL:
        return !*(const bool *)member;
    case VALISE_T_INT:
    case VALISE_T_TIME:
    case VALISE_T_DURATION:
    case VALISE_T_ENUM:
        return *(const int64_t *)member == 0;
    case VALISE_T_REAL:
        return *(const double *)member == 0;
    case VALISE_T_STR:
    case VALISE_T_BYTES:
    case VALISE_T_PATH:
    case VALISE_T_JSON:
        return ((const valise_str *)member)->len == 0;
    case VALISE_T_UUID:
        return all_zero(member, sizeof(valise_uuid));
    case VALISE_T_ID:
        return all_zero(member, sizeof(valise_id));
    case VALISE_T_VALUE:
    case VALISE_T_TEXT:
    case VALISE_T_DATA:
        return is_empty_content(member);
    case VALISE_T_LIST:
        return ((const valise_list *)member)->count == 0;
    case VALISE_T_STRUCT:
        return !*(const void *const *)member;
    default:
        return ((const valise_variant *)member)->which == 0 &&
               !((const valise_variant *)member)->value;
    }
}

bool vls_field_is_null(const valise_field *field, const void *member)
{
    switch (field->type) {
    case VALISE_T_INT:
    case VALISE_T_TIME:
    case VALISE_T_DURATION:
    case VALISE_T_ENUM:
        return *(const int64_t *)member == VALISE_NONE;
    case VALISE_T_REAL:
        return isnan(*(const double *)member);
    case VALISE_T_STR:
    case VALISE_T_BYTES:
    case VALISE_T_PATH:
    case VALISE_T_JSON:
        return !((const valise_str *)member)->ptr;
    case VALISE_T_VALUE:
    case VALISE_T_TEXT:
    case VALISE_T_DATA:
        return ((const valise_content *)member)->size == VALISE_NONE || is_empty_content(member);
    case VALISE_T_LIST:
        return !((const valise_list *)member)->items;
    case VALISE_T_UNION:
        return ((const valise_variant *)member)->which == VALISE_NONE ||
               vls_field_is_zero(field, member);
    default: /* UUID, ID, STRUCT: the same as zero */
        return vls_field_is_zero(field, member);
    }
}

bool vls_field_is_none(const valise_field *field, const void *row)
{
    const void *member = vls_field_at(row, field);

    return vls_field_has(field, VALISE_NULLABLE) ? vls_field_is_null(field, member)
                                                 : vls_field_is_zero(field, member);
}

/* Make a NULLABLE member that is zero none. */
static void set_none(const valise_field *field, void *member)
{
    switch (field->type) {
    case VALISE_T_INT:
    case VALISE_T_TIME:
    case VALISE_T_DURATION:
    case VALISE_T_ENUM:
        *(int64_t *)member = VALISE_NONE;
        return;
    case VALISE_T_REAL:
        *(double *)member = (double)NAN;
        return;
    case VALISE_T_VALUE:
    case VALISE_T_TEXT:
    case VALISE_T_DATA:
        ((valise_content *)member)->size = VALISE_NONE;
        return;
    case VALISE_T_UNION:
        ((valise_variant *)member)->which = VALISE_NONE;
        return;
    default: /* the others are zero */
        return;
    }
}

void vls_fields_clear(void *row, const valise_field *fields, size_t struct_size)
{
    if (struct_size)
        memset(row, 0, struct_size);
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        if (vls_field_has(f, VALISE_NULLABLE))
            set_none(f, (char *)row + f->offset);
    }
}

/* ---- names ---- */

vls_field_name vls_field_words(const char *name, char separator)
{
    vls_field_name words;
    size_t len = 0;

    for (size_t i = 0; i < VLS_FIELD_NAME_MAX && name[i]; i++) {
        bool upper = name[i] >= 'A' && name[i] <= 'Z';
        if (upper)
            words.s[len++] = separator;
        words.s[len++] = (char)(upper ? name[i] - 'A' + 'a' : name[i]);
    }
    words.s[len] = '\0';
    return words;
}

static int64_t find_name(const char *const *names, valise_str text)
{
    if (text.len == 0)
        return -1;
    for (int64_t i = 0; names[i]; i++) {
        if (is_name(names[i], text))
            return i;
    }
    return -1;
}

int64_t vls_field_enum_find(const valise_field *field, valise_str name)
{
    return find_name(field->more, name);
}

int64_t vls_field_enum_count(const valise_field *field)
{
    const char *const *names = field->more;
    int64_t count = 0;

    while (names[count])
        count++;
    return count;
}

int64_t vls_union_find(const valise_union *type, valise_str name)
{
    if (name.len == 0)
        return -1;
    for (int64_t i = 0; type->cases[i].name; i++) {
        if (is_name(type->cases[i].name, name))
            return i;
    }
    return -1;
}

int64_t vls_union_count(const valise_union *type)
{
    int64_t count = 0;

    while (type->cases[count].name)
        count++;
    return count;
}
