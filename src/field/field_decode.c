/* field_decode.c -- JSON to structs. Every check a table asks for is made here.
 *
 * The members of an object are sorted by key and those of a table are not; a table has few fields,
 * so each member is looked for from the front. Which fields were seen is a set of bits. */
#include <math.h>

#include "field/impl.h"

#include "base/base64.h"
#include "base/hex.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"

_Static_assert(VLS_FIELDS_MAX < 64, "the fields of a table are the bits of a number");

typedef struct decoder {
    vls_arena *arena;
    valise_error *err;
    vls_field_form form;
    bool accepted; /* a cell, or a payload of the log: the table may have become stricter since */
} decoder;

/* ---- refusals ---- */

static const char *found_name(vls_json v)
{
    static const char *const names[] = {"null",     "a boolean", "an integer", "an integer",
                                        "a number", "a string",  "an array",   "an object"};

    return names[v.type];
}

static int fail_type(const decoder *d, const valise_field *field, vls_json v)
{
    return vls_fail(d->err, VALISE_E_INVALID, "'%s' must be %s, not %s", vls_field_label(field),
                    vls_field_kinds[field->type].expect, found_name(v));
}

/* All of the names, as far as there is room for them: one name and the dots always fit behind. */
static void list_names(char *list, size_t size, const char *const *names)
{
    size_t len = 0, i = 0;

    for (; names[i] && len + VLS_FIELD_NAME_MAX + 12 < size; i++) {
        int added = snprintf(list + len, size - len, "%s\"%s\"", i ? ", " : "", names[i]);
        len += added > 0 ? (size_t)added : 0;
    }
    (void)snprintf(list + len, size - len, "%s", names[i] ? ", ..." : "");
}

static int fail_name(const decoder *d, const valise_field *field, valise_str found,
                     const char *const *names)
{
    char list[240];
    const char *near = vls_field_nearest(found, NULL, names);

    list_names(list, sizeof(list), names);
    (void)vls_fail(d->err, VALISE_E_INVALID, "'%s' must be one of %s, not \"%s\"",
                   vls_field_label(field), list, vls_text_short(found).s);
    if (near)
        vls_hint(d->err, "did you mean \"%s\"?", near);
    return VALISE_E_INVALID;
}

/* What a parser of base said is about the text of this member alone: offsets in there help nobody
 * who sent an object. */
static int fail_text(const decoder *d, int rc)
{
    if (d->err)
        d->err->offset = -1;
    return rc;
}

static int fail_unknown(const decoder *d, const valise_field *fields, valise_str key)
{
    const char *near = vls_field_nearest(key, fields, NULL);

    (void)vls_fail(d->err, VALISE_E_INVALID, "unknown member '%s'", vls_text_short(key).s);
    if (near)
        vls_hint(d->err, "did you mean '%s'?", near);
    vls_error_prepend(d->err, "%s", vls_text_short(key).s);
    return VALISE_E_INVALID;
}

/* ---- scalars ---- */

static int decode_int(const decoder *d, int64_t *out, const valise_field *field, vls_json v)
{
    if (v.type == VLS_JSON_BIG || (v.type == VLS_JSON_INT && v.integer == VALISE_NONE))
        return vls_fail(d->err, VALISE_E_INVALID, "'%s' must be between %lld and %lld",
                        vls_field_label(field), (long long)-INT64_MAX, (long long)INT64_MAX);
    if (v.type != VLS_JSON_INT)
        return fail_type(d, field, v);
    *out = v.integer;
    return d->accepted ? 0 : vls_field_check_number(field, v.integer, d->err);
}

static int decode_real(const decoder *d, double *out, const valise_field *field, vls_json v)
{
    if (!vls_json_is_number(v))
        return fail_type(d, field, v);
    *out = vls_json_to_double(v);
    return d->accepted ? 0 : vls_field_check_real(field, *out, d->err);
}

static int decode_time(const decoder *d, int64_t *out, const valise_field *field, vls_json v)
{
    int rc;

    if (v.type != VLS_JSON_STRING)
        return fail_type(d, field, v);
    if (field->type == VALISE_T_TIME)
        rc = vls_time_parse_ns(out, vls_json_str(v), d->err);
    else
        rc = vls_duration_parse(out, vls_json_str(v), d->err);
    if (rc < 0)
        return fail_text(d, rc);
    if (*out == VALISE_NONE)
        return vls_fail(d->err, VALISE_E_LIMIT, "'%s' is not a possible time: it stands for none",
                        vls_field_label(field));
    return d->accepted ? 0 : vls_field_check_number(field, *out, d->err);
}

/* Ids are text of one length; one of zeros alone names nothing. */
static int decode_id(const decoder *d, void *out, const valise_field *field, vls_json v)
{
    int rc;

    if (v.type != VLS_JSON_STRING)
        return fail_type(d, field, v);
    if (field->type == VALISE_T_UUID)
        rc = vls_uuid_parse(out, vls_json_str(v), d->err);
    else
        rc = vls_id_parse(out, vls_json_str(v), d->err);
    if (rc < 0)
        return fail_text(d, rc);
    if (vls_field_is_zero(field, out))
        return vls_fail(d->err, VALISE_E_INVALID, "'%s' must be %s that is not all zeros",
                        vls_field_label(field), vls_field_kinds[field->type].expect);
    return 0;
}

static int decode_enum(const decoder *d, int64_t *out, const valise_field *field, vls_json v)
{
    if (v.type != VLS_JSON_STRING)
        return fail_type(d, field, v);
    *out = vls_field_enum_find(field, vls_json_str(v));
    return *out < 0 ? fail_name(d, field, vls_json_str(v), field->more) : 0;
}

/* ---- bytes ---- */

static int check_size(const decoder *d, const valise_field *field, size_t size)
{
    return d->accepted ? 0 : vls_field_check_size(field, size, d->err);
}

/* An empty string has a pointer too: a NULL would be none. */
static valise_str text_of(vls_json v)
{
    return v.len ? vls_json_str(v) : VLS_STR("");
}

static int decode_base64(const decoder *d, valise_str *out, const valise_field *field, vls_json v)
{
    VLS_AUTO(buf) vls_buf bytes = {0};
    int rc;

    if (v.type != VLS_JSON_STRING)
        return fail_type(d, field, v);
    vls_buf_init(&bytes, d->arena->env, v.len);
    rc = vls_base64_decode(&bytes, vls_json_str(v), d->err);
    if (rc < 0)
        return fail_text(d, rc);
    rc = check_size(d, field, bytes.len);
    return rc < 0 ? rc : vls_arena_dup(out, d->arena, vls_buf_str(&bytes), d->err);
}

/* One JSON for each path: bytes only where no string can say them. */
static int decode_path(const decoder *d, valise_str *out, const valise_field *field, vls_json v)
{
    valise_str bytes = {NULL, 0};
    int rc;

    if (v.type == VLS_JSON_STRING) {
        *out = text_of(v);
        return check_size(d, field, v.len);
    }
    if (v.type != VLS_JSON_OBJECT || v.len != 1 ||
        !vls_str_equal(vls_json_str(v.members[0].key), VLS_STR("base64")))
        return fail_type(d, field, v);
    rc = decode_base64(d, &bytes, field, v.members[0].value);
    if (rc < 0)
        return rc;
    if (vls_utf8_valid(bytes))
        return vls_fail(d->err, VALISE_E_INVALID, "is valid UTF-8: give it as a string");
    *out = bytes;
    return 0;
}

static int decode_json(const decoder *d, valise_str *out, const valise_field *field, vls_json v)
{
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, d->arena, VLS_JSON_MAX_BYTES);
    rc = vls_json_write(&text, v, d->err);
    if (rc == 0)
        rc = check_size(d, field, text.len);
    return rc < 0 ? rc : vls_buf_keep(out, &text, d->err);
}

static int decode_str(const decoder *d, valise_str *out, const valise_field *field, vls_json v)
{
    if (v.type != VLS_JSON_STRING)
        return fail_type(d, field, v);
    *out = text_of(v);
    return check_size(d, field, v.len);
}

static int decode_logged_content(const decoder *d, valise_content *out, const valise_field *field,
                                 vls_json v)
{
    static const valise_field as_id = {.type = VALISE_T_ID};
    int rc;

    if (v.type != VLS_JSON_STRING)
        return vls_fail(d->err, VALISE_E_INVALID, "'%s' must be %s, not %s", vls_field_label(field),
                        vls_field_kinds[VALISE_T_ID].expect, found_name(v));
    rc = decode_id(d, &out->id, &as_id, v);
    out->size = VALISE_SIZE_UNKNOWN;
    out->bytes = (valise_str){NULL, 0};
    return rc;
}

static int decode_content(const decoder *d, valise_content *out, const valise_field *field,
                          vls_json v)
{
    int rc;

    if (d->form == VLS_FIELD_LOGGED)
        return decode_logged_content(d, out, field, v);
    memset(&out->id, 0, sizeof(out->id));
    if (field->type == VALISE_T_VALUE)
        rc = decode_json(d, &out->bytes, field, v);
    else if (field->type == VALISE_T_TEXT)
        rc = decode_str(d, &out->bytes, field, v);
    else
        rc = decode_base64(d, &out->bytes, field, v);
    if (rc < 0)
        return rc;
    out->size = (int64_t)out->bytes.len;
    return 0;
}

/* ---- what has parts ---- */

static int decode_member(const decoder *d, void *out, const valise_field *field, vls_json v,
                         unsigned depth);
static int decode_object(const decoder *d, void *out, const valise_field *fields,
                         size_t struct_size, vls_json v, const char *tag, unsigned depth);

static int decode_list(const decoder *d, valise_list *out, const valise_field *field, vls_json v,
                       unsigned depth)
{
    const valise_field *item = field->more;
    size_t size = vls_field_size(item);
    int rc;

    if (v.type != VLS_JSON_ARRAY)
        return fail_type(d, field, v);
    rc = check_size(d, field, v.len);
    if (rc < 0)
        return rc;
    char *items = vls_arena_array(d->arena, v.len, size);
    if (!items)
        return vls_arena_fail(d->arena, d->err);
    for (size_t i = 0; i < v.len; i++) {
        rc = decode_member(d, items + i * size, item, v.items[i], depth);
        if (rc < 0) {
            vls_error_prepend(d->err, "[%zu]", i);
            return rc;
        }
    }
    *out = (valise_list){items, v.len};
    return 0;
}

static int decode_struct(const decoder *d, const void **out, const valise_field *field, vls_json v,
                         const valise_struct *type, const char *tag, unsigned depth)
{
    void *row;
    int rc;

    if (v.type != VLS_JSON_OBJECT)
        return fail_type(d, field, v);
    row = vls_arena_alloc(d->arena, type->size);
    if (!row)
        return vls_arena_fail(d->arena, d->err);
    rc = decode_object(d, row, type->fields, type->size, v, tag, depth);
    if (rc == 0)
        *out = row;
    return rc;
}

static int fail_tag(const decoder *d, const valise_field *field, valise_str tag)
{
    const valise_union *type = field->more;
    const char *names[65];
    const valise_field as_tag = {.name = type->tag, .type = VALISE_T_ENUM};
    size_t count = 0;

    for (; count < VLS_COUNT(names) - 1 && type->cases[count].name; count++)
        names[count] = type->cases[count].name;
    names[count] = NULL;
    return fail_name(d, &as_tag, tag, names);
}

static int decode_union(const decoder *d, valise_variant *out, const valise_field *field,
                        vls_json v, unsigned depth)
{
    const valise_union *type = field->more;
    const valise_field as_tag = {.name = type->tag, .type = VALISE_T_STR};
    const vls_json *tag = vls_json_get(v, valise_str_of(type->tag));
    int rc;

    *out = (valise_variant){.which = -1};
    if (v.type != VLS_JSON_OBJECT)
        return fail_type(d, field, v);
    if (!tag)
        rc = vls_field_fail_missing(&as_tag, d->err);
    else if (tag->type != VLS_JSON_STRING)
        rc = fail_type(d, &as_tag, *tag);
    else if ((out->which = vls_union_find(type, vls_json_str(*tag))) < 0 && !type->open)
        rc = fail_tag(d, field, vls_json_str(*tag));
    else if (out->which < 0)
        return decode_json(d, &out->json, field, v);
    else
        return decode_struct(d, &out->value, field, v, type->cases[out->which].type, type->tag,
                             depth);
    vls_error_prepend(d->err, "%s", type->tag);
    return rc;
}

/* ---- members and objects ---- */

static int decode_parts(const decoder *d, void *out, const valise_field *field, vls_json v,
                        unsigned depth)
{
    if (depth == 0)
        return vls_fail(d->err, VALISE_E_LIMIT, "'%s' is nested too deep", vls_field_label(field));
    if (field->type == VALISE_T_LIST)
        return decode_list(d, out, field, v, depth - 1);
    if (field->type == VALISE_T_STRUCT)
        return decode_struct(d, out, field, v, field->more, NULL, depth - 1);
    return decode_union(d, out, field, v, depth - 1);
}

static int decode_member(const decoder *d, void *out, const valise_field *field, vls_json v,
                         unsigned depth)
{
    switch (field->type) {
    case VALISE_T_BOOL:
        if (v.type != VLS_JSON_BOOL)
            return fail_type(d, field, v);
        *(bool *)out = v.truth != 0;
        return 0;
    case VALISE_T_INT:
        return decode_int(d, out, field, v);
    case VALISE_T_REAL:
        return decode_real(d, out, field, v);
    case VALISE_T_STR:
        return decode_str(d, out, field, v);
    case VALISE_T_BYTES:
        return decode_base64(d, out, field, v);
    case VALISE_T_PATH:
        return decode_path(d, out, field, v);
    case VALISE_T_TIME:
    case VALISE_T_DURATION:
        return decode_time(d, out, field, v);
    case VALISE_T_UUID:
    case VALISE_T_ID:
        return decode_id(d, out, field, v);
    case VALISE_T_ENUM:
        return decode_enum(d, out, field, v);
    case VALISE_T_JSON:
        return decode_json(d, out, field, v);
    case VALISE_T_VALUE:
    case VALISE_T_TEXT:
    case VALISE_T_DATA:
        return decode_content(d, out, field, v);
    default:
        return decode_parts(d, out, field, v, depth);
    }
}

static int check_required(const decoder *d, const valise_field *fields, uint64_t seen)
{
    for (size_t i = 0; fields[i].type != VALISE_T_END; i++) {
        if (!vls_field_has(&fields[i], VALISE_REQUIRED) || (seen >> i & 1))
            continue;
        /* What is written leaves secrets out. */
        if (d->form == VLS_FIELD_LOGGED && vls_field_has(&fields[i], VALISE_SECRET))
            continue;
        if (d->accepted && vls_field_kinds[fields[i].type].has_zero)
            continue;
        (void)vls_field_fail_missing(&fields[i], d->err);
        vls_error_prepend(d->err, "%s", fields[i].name);
        return VALISE_E_INVALID;
    }
    return 0;
}

static int decode_object(const decoder *d, void *out, const valise_field *fields,
                         size_t struct_size, vls_json v, const char *tag, unsigned depth)
{
    uint64_t seen = 0;
    int rc;

    vls_fields_clear(out, fields, struct_size);
    for (size_t i = 0; i < v.len; i++) {
        const vls_member *m = &v.members[i];
        valise_str key = vls_json_str(m->key);
        const valise_field *field = vls_fields_find(fields, key);
        if (!field) {
            if (tag && vls_str_equal(key, valise_str_of(tag)))
                continue;
            return fail_unknown(d, fields, key);
        }
        if (m->value.type == VLS_JSON_NULL && vls_field_has(field, VALISE_NULLABLE))
            continue;
        rc = decode_member(d, (char *)out + field->offset, field, m->value, depth);
        if (rc < 0)
            return vls_field_fail_at(field, rc, d->err);
        seen |= UINT64_C(1) << (field - fields);
    }
    return check_required(d, fields, seen);
}

int vls_fields_decode_deep(void *out, const valise_field *fields, size_t struct_size, vls_json v,
                           vls_field_form form, unsigned depth, vls_arena *arena, valise_error *err)
{
    bool accepted = form == VLS_FIELD_ACCEPTED;
    decoder d = {.arena = arena,
                 .err = err,
                 .form = accepted ? VLS_FIELD_LOGGED : form,
                 .accepted = accepted};

    if (v.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "must be an object, not %s", found_name(v));
    return decode_object(&d, out, fields, struct_size, v, NULL, depth);
}

int vls_fields_decode(void *out, const valise_field *fields, size_t struct_size, vls_json v,
                      vls_field_form form, vls_arena *arena, valise_error *err)
{
    return vls_fields_decode_deep(out, fields, struct_size, v, form, VLS_FIELDS_MAX_DEPTH, arena,
                                  err);
}

int vls_field_decode_stored(void *member, const valise_field *field, vls_json v, vls_arena *arena,
                            valise_error *err)
{
    decoder d = {.arena = arena, .err = err, .form = VLS_FIELD_LOGGED, .accepted = true};

    return decode_member(&d, member, field, v, VLS_FIELDS_MAX_DEPTH);
}
