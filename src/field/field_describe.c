/* field_describe.c -- a table as JSON, and back: a store describes its rows itself.
 *
 *     {"fields": [
 *         {"name": "id", "type": "uuid", "flags": ["required", "key"]},
 *         {"name": "role", "type": "enum", "names": ["user", "model"]},
 *         {"name": "tags", "type": "list", "max": 100, "item": {"type": "str"}},
 *         {"name": "part", "type": "struct", "fields": [...]},
 *         {"name": "what", "type": "union", "tag": "type", "open": true,
 *          "cases": [{"name": "text", "fields": [...]}]}
 *     ]}
 *
 * Help is not in it. Reading is decoding with the tables below, so a description from a hostile
 * file meets the same checks as every argument, and then those of vls_fields_check. */
#include "field/impl.h"

/* ---- writing ---- */

static const char *const flag_names[] = {"required", "nullable", "positional", "key",
                                         "content",  "secret",   "hidden",     "plain",
                                         "file",     "loose",    NULL};

static void add_fields(vls_json_builder *b, const valise_field *fields, unsigned depth);

static void add_flags(vls_json_builder *b, const valise_field *field)
{
    if (field->flags == 0)
        return;
    vls_json_add_key(b, VLS_STR("flags"));
    vls_json_open(b, VLS_JSON_ARRAY);
    for (unsigned i = 0; flag_names[i]; i++) {
        if (field->flags >> i & 1)
            vls_json_add(b, vls_json_string(valise_str_of(flag_names[i])));
    }
    vls_json_close(b);
}

static void add_limit(vls_json_builder *b, valise_str key, int64_t limit)
{
    if (limit == 0)
        return;
    vls_json_add_member(b, key, vls_json_int(limit));
}

static void add_union(vls_json_builder *b, const valise_union *type, unsigned depth)
{
    vls_json_add_text(b, VLS_STR("tag"), valise_str_of(type->tag));
    if (type->open)
        vls_json_add_member(b, VLS_STR("open"), vls_json_bool(true));
    vls_json_add_key(b, VLS_STR("cases"));
    vls_json_open(b, VLS_JSON_ARRAY);
    for (const valise_case *c = type->cases; c->name; c++) {
        vls_json_open(b, VLS_JSON_OBJECT);
        vls_json_add_text(b, VLS_STR("name"), valise_str_of(c->name));
        add_fields(b, c->type->fields, depth);
        vls_json_close(b);
    }
    vls_json_close(b);
}

static void add_field(vls_json_builder *b, const valise_field *field, unsigned depth)
{
    assert(depth > 0);
    vls_json_open(b, VLS_JSON_OBJECT);
    if (field->name)
        vls_json_add_text(b, VLS_STR("name"), valise_str_of(field->name));
    vls_json_add_text(b, VLS_STR("type"), valise_str_of(vls_field_kinds[field->type].name));
    add_flags(b, field);
    if (field->ref)
        vls_json_add_text(b, VLS_STR("ref"), valise_str_of(field->ref));
    add_limit(b, VLS_STR("min"), field->min);
    add_limit(b, VLS_STR("max"), field->max);
    if (field->type == VALISE_T_ENUM) {
        vls_json_add_key(b, VLS_STR("names"));
        vls_json_open(b, VLS_JSON_ARRAY);
        for (const char *const *name = field->more; *name; name++)
            vls_json_add(b, vls_json_string(valise_str_of(*name)));
        vls_json_close(b);
    } else if (field->type == VALISE_T_LIST) {
        vls_json_add_key(b, VLS_STR("item"));
        add_field(b, field->more, depth - 1);
    } else if (field->type == VALISE_T_STRUCT) {
        add_fields(b, ((const valise_struct *)field->more)->fields, depth - 1);
    } else if (field->type == VALISE_T_UNION) {
        add_union(b, field->more, depth - 1);
    }
    vls_json_close(b);
}

static void add_fields(vls_json_builder *b, const valise_field *fields, unsigned depth)
{
    vls_json_add_key(b, VLS_STR("fields"));
    vls_json_open(b, VLS_JSON_ARRAY);
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++)
        add_field(b, f, depth);
    vls_json_close(b);
}

int vls_fields_describe(vls_json *out, const valise_field *fields, vls_arena *arena,
                        valise_error *err)
{
    vls_json_builder b;

    vls_json_builder_init(&b, arena);
    vls_json_open(&b, VLS_JSON_OBJECT);
    add_fields(&b, fields, VLS_FIELDS_MAX_DEPTH + 1);
    vls_json_close(&b);
    return vls_json_builder_finish(out, &b, err);
}

/* ---- reading ---- */

/* What describes a field is itself a struct with a table, which contains itself. */
typedef struct described {
    valise_str name;
    int64_t type;
    valise_list flags; /* of int64_t */
    valise_str ref;
    int64_t min, max;
    valise_list names; /* of valise_str */
    const struct described *item;
    valise_list fields; /* of pointers to described */
    valise_str tag;
    bool open;
    valise_list cases; /* of pointers to described_case */
} described;

typedef struct described_case {
    valise_str name;
    valise_list fields;
} described_case;

typedef struct described_table {
    valise_list fields;
} described_table;

static const char *const type_names[] = {
    "bool", "int",  "real",  "str",  "bytes", "path", "time",   "duration", "uuid", "id",
    "enum", "json", "value", "text", "data",  "list", "struct", "union",    NULL};

static const valise_struct described_struct; /* defined below, as the table contains itself */
static const valise_struct described_case_struct;
static const valise_field flag_item = {.type = VALISE_T_ENUM, .more = flag_names};
static const valise_field name_item = {.type = VALISE_T_STR, .max = VLS_FIELD_NAME_MAX};
static const valise_field field_item = {.type = VALISE_T_STRUCT, .more = &described_struct};
static const valise_field case_item = {.type = VALISE_T_STRUCT, .more = &described_case_struct};

static const valise_field described_fields[] = {
    VALISE_FIELD_WITH(described, name, STR, VALISE_NULLABLE, NULL, .max = VLS_FIELD_NAME_MAX),
    VALISE_FIELD_WITH(described, type, ENUM, VALISE_REQUIRED, NULL, .more = type_names),
    VALISE_FIELD_WITH(described, flags, LIST, 0, NULL, .more = &flag_item, .max = 16),
    VALISE_FIELD_WITH(described, ref, STR, VALISE_NULLABLE, NULL, .max = 256),
    VALISE_FIELD(described, min, INT, 0, NULL),
    VALISE_FIELD(described, max, INT, 0, NULL),
    VALISE_FIELD_WITH(described, names, LIST, VALISE_NULLABLE, NULL, .more = &name_item,
                      .max = VLS_FIELDS_MAX_NAMES),
    VALISE_FIELD_WITH(described, item, STRUCT, VALISE_NULLABLE, NULL, .more = &described_struct),
    VALISE_FIELD_WITH(described, fields, LIST, VALISE_NULLABLE, NULL, .more = &field_item,
                      .max = VLS_FIELDS_MAX),
    VALISE_FIELD_WITH(described, tag, STR, VALISE_NULLABLE, NULL, .max = VLS_FIELD_NAME_MAX),
    VALISE_FIELD(described, open, BOOL, 0, NULL),
    VALISE_FIELD_WITH(described, cases, LIST, VALISE_NULLABLE, NULL, .more = &case_item,
                      .max = VLS_FIELDS_MAX_NAMES),
    VALISE_FIELD_END,
};

static const valise_field described_case_fields[] = {
    VALISE_FIELD_WITH(described_case, name, STR, VALISE_REQUIRED, NULL, .max = VLS_FIELD_NAME_MAX),
    VALISE_FIELD_WITH(described_case, fields, LIST, VALISE_REQUIRED, NULL, .more = &field_item,
                      .max = VLS_FIELDS_MAX),
    VALISE_FIELD_END,
};

static const valise_struct described_struct = {sizeof(described), described_fields};
static const valise_struct described_case_struct = {sizeof(described_case), described_case_fields};

static const valise_field table_fields[] = {
    VALISE_FIELD_WITH(described_table, fields, LIST, VALISE_REQUIRED, NULL, .more = &field_item,
                      .max = VLS_FIELDS_MAX),
    VALISE_FIELD_END,
};

/* A level of a table is up to four here: list of cases, case, list of fields, field. */
#define LEVELS (4 * (VLS_FIELDS_MAX_DEPTH + 1))

typedef struct restorer {
    vls_arena *arena;
    valise_error *err;
} restorer;

static int restore_table(const restorer *r, const valise_field **out, size_t *struct_size,
                         const valise_list *list);
static int restore_field(const restorer *r, valise_field *out, const described *d);

/* Names become NUL-ended; one with a NUL inside would be cut, and is refused instead. */
static int restore_name(const restorer *r, const char **out, valise_str name)
{
    valise_str copy;
    int rc;

    *out = NULL;
    if (!name.ptr)
        return 0;
    if (vls_str_find_byte(name, '\0') != name.len)
        return vls_fail(r->err, VALISE_E_INVALID, "a name with a NUL in it");
    rc = vls_arena_dup(&copy, r->arena, name, r->err);
    if (rc == 0)
        *out = copy.ptr;
    return rc;
}

static int restore_names(const restorer *r, const void **out, const valise_list *list)
{
    const valise_str *given = list->items;
    const char **names = vls_arena_array(r->arena, list->count + 1, sizeof(*names));
    int rc = 0;

    if (!names)
        return vls_arena_fail(r->arena, r->err);
    for (size_t i = 0; i < list->count && rc == 0; i++)
        rc = restore_name(r, &names[i], given[i]);
    names[list->count] = NULL;
    *out = names;
    return rc;
}

static int restore_item(const restorer *r, const void **out, const described *d)
{
    valise_field *item = vls_arena_zalloc(r->arena, sizeof(*item));
    int rc;

    if (!item)
        return vls_arena_fail(r->arena, r->err);
    rc = restore_field(r, item, d);
    *out = item;
    return rc;
}

static int restore_struct(const restorer *r, const valise_struct **out, const valise_list *fields)
{
    valise_struct *type = vls_arena_zalloc(r->arena, sizeof(*type));

    if (!type)
        return vls_arena_fail(r->arena, r->err);
    *out = type;
    return restore_table(r, &type->fields, &type->size, fields);
}

static int restore_union(const restorer *r, const void **out, const described *d)
{
    valise_union *type = vls_arena_zalloc(r->arena, sizeof(*type));
    valise_case *cases = vls_arena_array(r->arena, d->cases.count + 1, sizeof(*cases));
    int rc;

    if (!type || !cases)
        return vls_arena_fail(r->arena, r->err);
    rc = restore_name(r, &type->tag, d->tag);
    for (size_t i = 0; i < d->cases.count && rc == 0; i++) {
        const described_case *c = ((const described_case *const *)d->cases.items)[i];
        rc = restore_name(r, &cases[i].name, c->name);
        if (rc == 0)
            rc = restore_struct(r, &cases[i].type, &c->fields);
    }
    cases[d->cases.count] = (valise_case){NULL, NULL};
    type->cases = cases;
    type->open = d->open;
    *out = type;
    return rc;
}

static int restore_field(const restorer *r, valise_field *out, const described *d)
{
    const int64_t *flags = d->flags.items;
    const valise_struct *type = NULL;
    int rc;

    *out = (valise_field){.type = (uint16_t)(d->type + 1), .min = d->min, .max = d->max};
    for (size_t i = 0; i < d->flags.count; i++)
        out->flags = (uint16_t)(out->flags | 1u << flags[i]);
    rc = restore_name(r, &out->name, d->name);
    if (rc == 0)
        rc = restore_name(r, &out->ref, d->ref);
    if (rc < 0)
        return rc;
    if (out->type == VALISE_T_ENUM && d->names.items)
        return restore_names(r, &out->more, &d->names);
    if (out->type == VALISE_T_LIST && d->item)
        return restore_item(r, &out->more, d->item);
    if (out->type == VALISE_T_UNION && d->cases.items)
        return restore_union(r, &out->more, d);
    if (out->type == VALISE_T_STRUCT && d->fields.items) {
        rc = restore_struct(r, &type, &d->fields);
        out->more = type;
    }
    return rc; /* what lacks its .more is refused by the check */
}

/* Members one behind the other, each aligned. At most 62 of at most 56 bytes: nothing overflows. */
static int restore_table(const restorer *r, const valise_field **out, size_t *struct_size,
                         const valise_list *list)
{
    const described *const *given = list->items;
    valise_field *fields = vls_arena_array(r->arena, list->count + 1, sizeof(*fields));
    size_t at = 0;

    if (!fields)
        return vls_arena_fail(r->arena, r->err);
    for (size_t i = 0; i < list->count; i++) {
        int rc = restore_field(r, &fields[i], given[i]);
        if (rc < 0)
            return rc;
        const vls_field_kind *kind = &vls_field_kinds[fields[i].type];
        at = (at + kind->align - 1) / kind->align * kind->align;
        fields[i].offset = (uint32_t)at;
        at += kind->size;
    }
    fields[list->count] = (valise_field)VALISE_FIELD_END;
    *struct_size = (at + 15) / 16 * 16;
    *out = fields;
    return 0;
}

int vls_fields_restore(const valise_field **out, size_t *struct_size, vls_json description,
                       vls_arena *arena, valise_error *err)
{
    restorer r = {.arena = arena, .err = err};
    const valise_field *fields = NULL;
    described_table table;
    size_t size = 0;
    int rc;

    rc = vls_fields_decode_deep(&table, table_fields, sizeof(table), description, VLS_FIELD_INPUT,
                                LEVELS, arena, err);
    if (rc == 0)
        rc = restore_table(&r, &fields, &size, &table.fields);
    if (rc == 0)
        rc = vls_fields_check(fields, size, err);
    if (rc < 0)
        return rc;
    *out = fields;
    *struct_size = size;
    return 0;
}
