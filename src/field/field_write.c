/* field_write.c -- structs to canonical JSON.
 *
 * Canonical means members sorted by the UTF-16 units of their names. Names are ASCII, so that is
 * the order of their bytes, and the first eight bytes as a number mostly decide. Tables are short:
 * sorting the members that are there costs less than remembering an order somewhere would. */
#include <math.h>

#include "field/impl.h"

#include "base/base64.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/time.h"
#include "base/utf8.h"
#include "json/number.h"

typedef struct writer {
    vls_buf *out;
    valise_error *err;
    vls_field_form form;
    unsigned flags;
} writer;

static int write_value(const writer *w, const void *member, const valise_field *field,
                       unsigned depth);

/* ---- scalars ---- */

static void write_quoted(const writer *w, const char *text, size_t len)
{
    char *at = vls_buf_reserve(w->out, len + 2);

    if (!at)
        return;
    at[0] = '"';
    memcpy(at + 1, text, len);
    at[len + 1] = '"';
    vls_buf_advance(w->out, len + 2);
}

static int write_real(const writer *w, double real, const valise_field *field)
{
    char *at;

    if (!isfinite(real))
        return vls_fail(w->err, VALISE_E_INVALID, "'%s' is not a number that JSON can hold",
                        vls_field_label(field));
    at = vls_buf_reserve(w->out, VLS_NUMBER_TEXT);
    if (at)
        vls_buf_advance(w->out, vls_number_write(at, real));
    return 0;
}

static int write_time(const writer *w, int64_t ns)
{
    vls_time_text text = vls_time_text_of(ns);

    write_quoted(w, text.s, strlen(text.s));
    return 0;
}

static int write_duration(const writer *w, int64_t ns, const valise_field *field)
{
    if (ns < 0)
        return vls_fail(w->err, VALISE_E_INVALID, "'%s' is a negative duration",
                        vls_field_label(field));
    vls_buf_add_byte(w->out, '"');
    vls_duration_write(w->out, ns);
    vls_buf_add_byte(w->out, '"');
    return 0;
}

static int write_enum(const writer *w, int64_t which, const valise_field *field)
{
    const char *const *names = field->more;

    if (which < 0 || which >= vls_field_enum_count(field))
        return vls_fail(w->err, VALISE_E_INVALID, "'%s' has no name with the number %lld",
                        vls_field_label(field), (long long)which);
    write_quoted(w, names[which], strlen(names[which]));
    return 0;
}

/* ---- bytes ---- */

static int write_base64(const writer *w, valise_str bytes)
{
    vls_buf_add_byte(w->out, '"');
    vls_base64_encode(w->out, bytes);
    vls_buf_add_byte(w->out, '"');
    return 0;
}

/* One text for each path: what is UTF-8 is a string. */
static int write_path(const writer *w, valise_str path)
{
    if (vls_utf8_valid(path)) {
        vls_json_write_string(w->out, path);
        return 0;
    }
    vls_buf_add(w->out, VLS_STR("{\"base64\":"));
    (void)write_base64(w, path);
    vls_buf_add_byte(w->out, '}');
    return 0;
}

static int write_id(const writer *w, const valise_id *id)
{
    vls_id_text text = vls_id_hex(id);

    write_quoted(w, text.s, sizeof(text.s) - 1);
    return 0;
}

/* Canonical JSON stands as it is. */
static int write_json(const writer *w, valise_str text, const valise_field *field)
{
    if (text.len == 0)
        return vls_field_fail_missing(field, w->err);
    vls_buf_add(w->out, text);
    return 0;
}

static int write_content(const writer *w, const valise_content *c, const valise_field *field)
{
    if (w->form == VLS_FIELD_LOGGED) {
        if (vls_id_is_none(&c->id))
            return vls_fail(w->err, VALISE_E_INVALID, "'%s' has no id yet", vls_field_label(field));
        return write_id(w, &c->id);
    }
    if (!c->bytes.ptr)
        return vls_fail(w->err, VALISE_E_INVALID, "the bytes of '%s' are not available",
                        vls_field_label(field));
    if (field->type == VALISE_T_VALUE)
        return write_json(w, c->bytes, field);
    if (field->type == VALISE_T_DATA)
        return write_base64(w, c->bytes);
    vls_json_write_string(w->out, c->bytes);
    return 0;
}

/* ---- objects ---- */

typedef struct named {
    uint64_t prefix; /* first eight bytes of the name, big endian */
    const char *name;
    size_t len;
    const valise_field *field; /* NULL: the tag of a union */
} named;

static uint64_t prefix_of(const char *name, size_t len)
{
    char bytes[8] = {0};

    if (VLS_LIKELY(len >= sizeof(bytes)))
        return vls_bytes_load_u64(name);
    memcpy(bytes, name, len);
    return vls_bytes_load_u64(bytes);
}

static bool comes_before(const named *a, const named *b)
{
    return a->prefix < b->prefix || (a->prefix == b->prefix && strcmp(a->name, b->name) < 0);
}

/* Put it among the first count, which are sorted. Tables are often nearly in order. */
static inline void insert(named *sorted, size_t count, const char *name, const valise_field *field)
{
    size_t len = strlen(name);
    named new = {prefix_of(name, len), name, len, field};

    for (; count > 0 && comes_before(&new, &sorted[count - 1]); count--)
        sorted[count] = sorted[count - 1];
    sorted[count] = new;
}

static bool is_written(const writer *w, const void *row, const valise_field *field)
{
    const void *member = vls_field_at(row, field);

    if (vls_field_has(field, VALISE_SECRET) ||
        ((w->flags & VLS_FIELD_LASTING) && vls_field_has(field, VALISE_PASSING)))
        return false;
    if (vls_field_has(field, VALISE_REQUIRED))
        return true;
    if (vls_field_is_absent(field, member))
        return false;
    return vls_field_has(field, VALISE_NULLABLE) || (w->flags & VLS_FIELD_ALL) ||
           !vls_field_is_zero(field, member);
}

static inline void write_key(const writer *w, const char *name, size_t len, bool first)
{
    char *at = vls_buf_reserve(w->out, len + 4);

    if (!at)
        return;
    at[0] = first ? '{' : ',';
    at[1] = '"';
    memcpy(at + 2, name, len);
    at[len + 2] = '"';
    at[len + 3] = ':';
    vls_buf_advance(w->out, len + 4);
}

static int write_object(const writer *w, const void *row, const valise_field *fields,
                        const char *tag, const char *tag_value, unsigned depth)
{
    named sorted[VLS_FIELDS_MAX + 1];
    size_t count = 0;
    int rc;

    if (tag)
        insert(sorted, count++, tag, NULL);
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        assert(count < VLS_COUNT(sorted));
        if (is_written(w, row, f))
            insert(sorted, count++, f->name, f);
    }
    for (size_t i = 0; i < count; i++) {
        write_key(w, sorted[i].name, sorted[i].len, i == 0);
        if (!sorted[i].field) {
            write_quoted(w, tag_value, strlen(tag_value));
            continue;
        }
        rc = write_value(w, vls_field_at(row, sorted[i].field), sorted[i].field, depth);
        if (rc < 0) {
            vls_error_prepend(w->err, "%s", sorted[i].name);
            return rc;
        }
    }
    if (count == 0)
        vls_buf_add_byte(w->out, '{');
    vls_buf_add_byte(w->out, '}');
    return 0;
}

static int write_list(const writer *w, const valise_list *list, const valise_field *field,
                      unsigned depth)
{
    const valise_field *item = field->more;
    size_t size = vls_field_size(item);
    int rc;

    vls_buf_add_byte(w->out, '[');
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0)
            vls_buf_add_byte(w->out, ',');
        rc = write_value(w, (const char *)list->items + i * size, item, depth);
        if (rc < 0) {
            vls_error_prepend(w->err, "[%zu]", i);
            return rc;
        }
    }
    vls_buf_add_byte(w->out, ']');
    return 0;
}

static int write_union(const writer *w, const valise_variant *v, const valise_field *field,
                       unsigned depth)
{
    const valise_union *type = field->more;

    if (v->which == -1 && type->open)
        return write_json(w, v->json, field);
    if (v->which < 0 || v->which >= vls_union_count(type))
        return vls_fail(w->err, VALISE_E_INVALID, "'%s' has no case with the number %lld",
                        vls_field_label(field), (long long)v->which);
    if (!v->value)
        return vls_field_fail_missing(field, w->err);
    return write_object(w, v->value, type->cases[v->which].type->fields, type->tag,
                        type->cases[v->which].name, depth);
}

static int write_parts(const writer *w, const void *member, const valise_field *field,
                       unsigned depth)
{
    if (depth == 0)
        return vls_fail(w->err, VALISE_E_LIMIT, "'%s' is nested too deep", vls_field_label(field));
    if (field->type == VALISE_T_LIST)
        return write_list(w, member, field, depth - 1);
    if (field->type == VALISE_T_UNION)
        return write_union(w, member, field, depth - 1);

    const void *row = *(const void *const *)member;
    const valise_struct *type = field->more;
    if (!row)
        return vls_field_fail_missing(field, w->err);
    return write_object(w, row, type->fields, NULL, NULL, depth - 1);
}

static int write_value(const writer *w, const void *member, const valise_field *field,
                       unsigned depth)
{
    switch (field->type) {
    case VALISE_T_BOOL:
        vls_buf_add(w->out, *(const bool *)member ? VLS_STR("true") : VLS_STR("false"));
        return 0;
    case VALISE_T_INT:
        vls_buf_add_i64(w->out, *(const int64_t *)member);
        return 0;
    case VALISE_T_REAL:
        return write_real(w, *(const double *)member, field);
    case VALISE_T_STR:
        vls_json_write_string(w->out, *(const valise_str *)member);
        return 0;
    case VALISE_T_BYTES:
        return write_base64(w, *(const valise_str *)member);
    case VALISE_T_PATH:
        return write_path(w, *(const valise_str *)member);
    case VALISE_T_TIME:
        return write_time(w, *(const int64_t *)member);
    case VALISE_T_DURATION:
        return write_duration(w, *(const int64_t *)member, field);
    case VALISE_T_UUID:
        write_quoted(w, vls_uuid_text(member).s, sizeof(vls_uuid_string) - 1);
        return 0;
    case VALISE_T_ID:
        return write_id(w, member);
    case VALISE_T_ENUM:
        return write_enum(w, *(const int64_t *)member, field);
    case VALISE_T_JSON:
        return write_json(w, *(const valise_str *)member, field);
    case VALISE_T_VALUE:
    case VALISE_T_TEXT:
    case VALISE_T_DATA:
        return write_content(w, member, field);
    default:
        return write_parts(w, member, field, depth);
    }
}

/* All of it or nothing. */
static int end(vls_buf *out, size_t before, int rc, valise_error *err)
{
    if (rc == 0)
        rc = vls_buf_check(out, err);
    if (rc < 0)
        out->len = before;
    return rc;
}

int vls_fields_write(vls_buf *out, const void *row, const valise_field *fields, vls_field_form form,
                     unsigned flags, valise_error *err)
{
    writer w = {.out = out, .err = err, .form = form, .flags = flags};
    size_t before = out->len;

    return end(out, before, write_object(&w, row, fields, NULL, NULL, VLS_FIELDS_MAX_DEPTH), err);
}

int vls_field_write(vls_buf *out, const void *member, const valise_field *field,
                    vls_field_form form, valise_error *err)
{
    writer w = {.out = out, .err = err, .form = form};
    size_t before = out->len;

    return end(out, before, write_value(&w, member, field, VLS_FIELDS_MAX_DEPTH), err);
}
