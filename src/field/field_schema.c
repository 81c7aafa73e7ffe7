/* field_schema.c -- a table as a JSON Schema of its INPUT form.
 *
 * The schema says what decoding says, as far as JSON Schema can: limits in bytes become limits in
 * characters that no good text breaks (a character has up to four bytes); days that do not exist,
 * and limits of times, durations and JSON texts, are only checked when decoding. */
#include "field/impl.h"

#include "base/base64.h"

#define BASE64 "[A-Za-z0-9+/]"

/* Bits behind the last byte are zero: the last character before padding is one of few. */
#define BASE64_PATTERN                                                                             \
    "^(?:" BASE64 "{4})*(?:" BASE64 "[AQgw]==|" BASE64 "{2}[AEIMQUYcgkosw048]=)?$"

/* From 1677 to 2262, which is what nanoseconds reach. */
#define TIME_PATTERN                                                                               \
    "^(?:167[7-9]|16[89][0-9]|1[7-9][0-9]{2}|2[01][0-9]{2}|22[0-5][0-9]|226[0-2])"                 \
    "-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"                                                \
    "[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?"                             \
    "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$"

#define DURATION_PATTERN "^[0-9]+(?:ns|us|ms|s|m|h|d|w)$"
#define ID_PATTERN "^(?!0+$)[0-9a-f]{64}$"
#define UUID_PATTERN                                                                               \
    "^(?![0-]+$)[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$"

static void add_schema(vls_json_builder *b, const valise_field *field, unsigned depth);
static void add_table(vls_json_builder *b, const valise_field *fields, const char *tag,
                      const char *tag_value, unsigned depth);

/* ---- keywords ---- */

static void add_int(vls_json_builder *b, valise_str key, int64_t value)
{
    vls_json_add_member(b, key, vls_json_int(value));
}

static void add_type(vls_json_builder *b, const valise_field *field, const char *type)
{
    if (!vls_field_has(field, VALISE_NULLABLE)) {
        vls_json_add_text(b, VLS_STR("type"), valise_str_of(type));
        return;
    }
    vls_json_add_key(b, VLS_STR("type"));
    vls_json_open(b, VLS_JSON_ARRAY);
    vls_json_add(b, vls_json_string(valise_str_of(type)));
    vls_json_add(b, vls_json_string(VLS_STR("null")));
    vls_json_close(b);
}

static bool has_limits(const valise_field *field)
{
    return field->min != 0 || field->max != 0;
}

/* ---- scalars ---- */

static void add_number(vls_json_builder *b, const valise_field *field)
{
    bool is_int = field->type == VALISE_T_INT;

    add_type(b, field, is_int ? "integer" : "number");
    if (has_limits(field) || is_int) {
        add_int(b, VLS_STR("minimum"), has_limits(field) ? field->min : -INT64_MAX);
        add_int(b, VLS_STR("maximum"), has_limits(field) ? field->max : INT64_MAX);
    }
}

static void add_string(vls_json_builder *b, const valise_field *field)
{
    add_type(b, field, "string");
    if (!has_limits(field))
        return;
    if (field->min > 0)
        add_int(b, VLS_STR("minLength"), field->min / 4 + (field->min % 4 != 0));
    add_int(b, VLS_STR("maxLength"), field->max);
}

static void add_base64(vls_json_builder *b, const valise_field *field)
{
    size_t max = vls_base64_encoded_len((size_t)field->max);

    add_type(b, field, "string");
    vls_json_add_text(b, VLS_STR("contentEncoding"), VLS_STR("base64"));
    vls_json_add_text(b, VLS_STR("pattern"), VLS_STR(BASE64_PATTERN));
    if (!has_limits(field))
        return;
    if (field->min > 0 && max <= INT64_MAX)
        add_int(b, VLS_STR("minLength"), (int64_t)vls_base64_encoded_len((size_t)field->min));
    if (max <= INT64_MAX)
        add_int(b, VLS_STR("maxLength"), (int64_t)max);
}

static void add_pattern(vls_json_builder *b, const valise_field *field, const char *pattern,
                        const char *format)
{
    add_type(b, field, "string");
    vls_json_add_text(b, VLS_STR("pattern"), valise_str_of(pattern));
    if (format)
        vls_json_add_text(b, VLS_STR("format"), valise_str_of(format));
}

/* A string, or the bytes of what is no UTF-8. */
static void add_path(vls_json_builder *b, const valise_field *field)
{
    valise_field as = {
        .type = VALISE_T_STR, .flags = field->flags, .min = field->min, .max = field->max};

    vls_json_add_key(b, VLS_STR("anyOf"));
    vls_json_open(b, VLS_JSON_ARRAY);
    vls_json_open(b, VLS_JSON_OBJECT);
    add_string(b, &as);
    vls_json_close(b);
    vls_json_open(b, VLS_JSON_OBJECT);
    vls_json_add_text(b, VLS_STR("type"), VLS_STR("object"));
    vls_json_add_key(b, VLS_STR("properties"));
    vls_json_open(b, VLS_JSON_OBJECT);
    vls_json_add_key(b, VLS_STR("base64"));
    vls_json_open(b, VLS_JSON_OBJECT);
    as.flags = 0;
    add_base64(b, &as);
    vls_json_close(b);
    vls_json_close(b);
    vls_json_add_key(b, VLS_STR("required"));
    vls_json_open(b, VLS_JSON_ARRAY);
    vls_json_add(b, vls_json_string(VLS_STR("base64")));
    vls_json_close(b);
    vls_json_add_member(b, VLS_STR("additionalProperties"), vls_json_bool(false));
    vls_json_close(b);
    vls_json_close(b);
}

static void add_enum(vls_json_builder *b, const valise_field *field)
{
    vls_json_add_key(b, VLS_STR("enum"));
    vls_json_open(b, VLS_JSON_ARRAY);
    for (const char *const *name = field->more; *name; name++)
        vls_json_add(b, vls_json_string(valise_str_of(*name)));
    if (vls_field_has(field, VALISE_NULLABLE))
        vls_json_add(b, vls_json_null());
    vls_json_close(b);
}

/* ---- what has parts ---- */

static void add_list(vls_json_builder *b, const valise_field *field, unsigned depth)
{
    add_type(b, field, "array");
    vls_json_add_key(b, VLS_STR("items"));
    add_schema(b, field->more, depth);
    if (!has_limits(field))
        return;
    if (field->min > 0)
        add_int(b, VLS_STR("minItems"), field->min);
    add_int(b, VLS_STR("maxItems"), field->max);
}

/* Any object whose tag is none of the known ones. */
static void add_open_case(vls_json_builder *b, const valise_union *type)
{
    vls_json_open(b, VLS_JSON_OBJECT);
    vls_json_add_text(b, VLS_STR("type"), VLS_STR("object"));
    vls_json_add_key(b, VLS_STR("required"));
    vls_json_open(b, VLS_JSON_ARRAY);
    vls_json_add(b, vls_json_string(valise_str_of(type->tag)));
    vls_json_close(b);
    vls_json_add_key(b, VLS_STR("properties"));
    vls_json_open(b, VLS_JSON_OBJECT);
    vls_json_add_key(b, valise_str_of(type->tag));
    vls_json_open(b, VLS_JSON_OBJECT);
    vls_json_add_text(b, VLS_STR("type"), VLS_STR("string"));
    vls_json_add_key(b, VLS_STR("not"));
    vls_json_open(b, VLS_JSON_OBJECT);
    vls_json_add_key(b, VLS_STR("enum"));
    vls_json_open(b, VLS_JSON_ARRAY);
    for (const valise_case *c = type->cases; c->name; c++)
        vls_json_add(b, vls_json_string(valise_str_of(c->name)));
    for (unsigned i = 0; i < 5; i++)
        vls_json_close(b);
}

static void add_union(vls_json_builder *b, const valise_field *field, unsigned depth)
{
    const valise_union *type = field->more;

    vls_json_add_key(b, VLS_STR("anyOf"));
    vls_json_open(b, VLS_JSON_ARRAY);
    for (const valise_case *c = type->cases; c->name; c++) {
        vls_json_open(b, VLS_JSON_OBJECT);
        vls_json_add_text(b, VLS_STR("type"), VLS_STR("object"));
        add_table(b, c->type->fields, type->tag, c->name, depth);
        vls_json_close(b);
    }
    if (type->open)
        add_open_case(b, type);
    if (vls_field_has(field, VALISE_NULLABLE)) {
        vls_json_open(b, VLS_JSON_OBJECT);
        vls_json_add_text(b, VLS_STR("type"), VLS_STR("null"));
        vls_json_close(b);
    }
    vls_json_close(b);
}

static void add_struct(vls_json_builder *b, const valise_field *field, unsigned depth)
{
    const valise_struct *type = field->more;

    add_type(b, field, "object"); /* keywords for objects say nothing about null */
    add_table(b, type->fields, NULL, NULL, depth);
}

static void add_keywords(vls_json_builder *b, const valise_field *field, unsigned depth)
{
    assert(depth > 0);
    switch (field->type) {
    case VALISE_T_BOOL:
        add_type(b, field, "boolean");
        return;
    case VALISE_T_INT:
    case VALISE_T_REAL:
        add_number(b, field);
        return;
    case VALISE_T_STR:
    case VALISE_T_TEXT:
        add_string(b, field);
        return;
    case VALISE_T_BYTES:
    case VALISE_T_DATA:
        add_base64(b, field);
        return;
    case VALISE_T_PATH:
        add_path(b, field);
        return;
    case VALISE_T_TIME:
        add_pattern(b, field, TIME_PATTERN, "date-time");
        return;
    case VALISE_T_DURATION:
        add_pattern(b, field, DURATION_PATTERN, NULL);
        return;
    case VALISE_T_UUID:
        add_pattern(b, field, UUID_PATTERN, "uuid");
        return;
    case VALISE_T_ID:
        add_pattern(b, field, ID_PATTERN, NULL);
        return;
    case VALISE_T_ENUM:
        add_enum(b, field);
        return;
    case VALISE_T_LIST:
        add_list(b, field, depth - 1);
        return;
    case VALISE_T_STRUCT:
        add_struct(b, field, depth - 1);
        return;
    case VALISE_T_UNION:
        add_union(b, field, depth - 1);
        return;
    default: /* JSON and VALUE: anything */
        return;
    }
}

static void add_schema(vls_json_builder *b, const valise_field *field, unsigned depth)
{
    vls_json_open(b, VLS_JSON_OBJECT);
    if (field->help)
        vls_json_add_text(b, VLS_STR("description"), valise_str_of(field->help));
    if (vls_field_has(field, VALISE_SECRET))
        vls_json_add_member(b, VLS_STR("writeOnly"), vls_json_bool(true));
    add_keywords(b, field, depth);
    vls_json_close(b);
}

/* ---- tables ---- */

static void add_required(vls_json_builder *b, const valise_field *fields, const char *tag)
{
    vls_json_add_key(b, VLS_STR("required"));
    vls_json_open(b, VLS_JSON_ARRAY);
    if (tag)
        vls_json_add(b, vls_json_string(valise_str_of(tag)));
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        if (vls_field_has(f, VALISE_REQUIRED))
            vls_json_add(b, vls_json_string(valise_str_of(f->name)));
    }
    vls_json_close(b);
}

/* The keywords of an object but for its type, into an open schema. */
static void add_table(vls_json_builder *b, const valise_field *fields, const char *tag,
                      const char *tag_value, unsigned depth)
{
    vls_json_add_member(b, VLS_STR("additionalProperties"), vls_json_bool(false));
    add_required(b, fields, tag);
    vls_json_add_key(b, VLS_STR("properties"));
    vls_json_open(b, VLS_JSON_OBJECT);
    if (tag) {
        vls_json_add_key(b, valise_str_of(tag));
        vls_json_open(b, VLS_JSON_OBJECT);
        vls_json_add_text(b, VLS_STR("const"), valise_str_of(tag_value));
        vls_json_close(b);
    }
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        vls_json_add_key(b, valise_str_of(f->name));
        add_schema(b, f, depth);
    }
    vls_json_close(b);
}

int vls_fields_schema(vls_json *out, const valise_field *fields, vls_arena *arena,
                      valise_error *err)
{
    vls_json_builder b;

    vls_json_builder_init(&b, arena);
    vls_json_open(&b, VLS_JSON_OBJECT);
    vls_json_add_text(&b, VLS_STR("type"), VLS_STR("object"));
    add_table(&b, fields, NULL, NULL, VLS_FIELDS_MAX_DEPTH + 1);
    vls_json_close(&b);
    return vls_json_builder_finish(out, &b, err);
}
