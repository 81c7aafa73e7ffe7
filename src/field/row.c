/* row.c -- structs to cells and back. */
#include <math.h>

#include "field/row.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "field/impl.h"

uint8_t vls_field_cell_type(const valise_field *field)
{
    assert(field->type > VALISE_T_END && field->type < VLS_FIELD_TYPES);
    return vls_field_kinds[field->type].cell;
}

/* ---- struct to cells ---- */

/* In place: a whole cell would be put together elsewhere first. */
static int set_int(valise_cell *cell, int64_t integer)
{
    cell->type = VALISE_CELL_INT;
    cell->as.integer = integer;
    return 0;
}

/* NULL would be none to who reads it back. */
static valise_cell bytes_cell(uint8_t type, valise_str bytes)
{
    return (valise_cell){.type = type, .as.bytes = bytes.ptr ? bytes : VLS_STR("")};
}

static int real_cell(valise_cell *cell, double real, const valise_field *field, valise_error *err)
{
    if (!isfinite(real))
        return vls_fail(err, VALISE_E_INVALID, "'%s' is not a number that a row can hold",
                        vls_field_label(field));
    *cell = (valise_cell){.type = VALISE_CELL_REAL, .as.real = real};
    return 0;
}

static int enum_cell(valise_cell *cell, int64_t which, const valise_field *field, valise_error *err)
{
    const char *const *names = field->more;

    if (which < 0 || which >= vls_field_enum_count(field))
        return vls_fail(err, VALISE_E_INVALID, "'%s' has no name with the number %lld",
                        vls_field_label(field), (long long)which);
    *cell = bytes_cell(VALISE_CELL_TEXT, valise_str_of(names[which]));
    return 0;
}

static int content_cell(valise_cell *cell, const valise_content *c, const valise_field *field,
                        valise_error *err)
{
    if (vls_id_is_none(&c->id))
        return vls_fail(err, VALISE_E_INVALID, "'%s' has no id yet", vls_field_label(field));
    *cell = bytes_cell(VALISE_CELL_BLOB, vls_str(&c->id, sizeof(c->id)));
    return 0;
}

/* Not inlined, as what else needs a large frame: it would be that of every cell. */
static __attribute__((noinline)) int json_cell(valise_cell *cell, const void *member,
                                               const valise_field *field, vls_arena *arena,
                                               valise_error *err)
{
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, arena, VLS_JSON_MAX_BYTES);
    rc = vls_field_write(&text, member, field, VLS_FIELD_LOGGED, err);
    if (rc < 0)
        return rc;
    cell->type = VALISE_CELL_TEXT;
    return vls_buf_keep(&cell->as.bytes, &text, err);
}

static int cell_of(valise_cell *cell, const void *member, const valise_field *field,
                   vls_arena *arena, valise_error *err)
{
    switch (field->type) {
    case VALISE_T_BOOL:
        return set_int(cell, *(const bool *)member);
    case VALISE_T_INT:
    case VALISE_T_TIME:
    case VALISE_T_DURATION:
        return set_int(cell, *(const int64_t *)member);
    case VALISE_T_REAL:
        return real_cell(cell, *(const double *)member, field, err);
    case VALISE_T_STR:
    case VALISE_T_JSON:
        *cell = bytes_cell(VALISE_CELL_TEXT, *(const valise_str *)member);
        return 0;
    case VALISE_T_BYTES:
    case VALISE_T_PATH:
        *cell = bytes_cell(VALISE_CELL_BLOB, *(const valise_str *)member);
        return 0;
    case VALISE_T_UUID:
        *cell = bytes_cell(VALISE_CELL_BLOB, vls_str(member, sizeof(valise_uuid)));
        return 0;
    case VALISE_T_ID:
        *cell = bytes_cell(VALISE_CELL_BLOB, vls_str(member, sizeof(valise_id)));
        return 0;
    case VALISE_T_ENUM:
        return enum_cell(cell, *(const int64_t *)member, field, err);
    case VALISE_T_VALUE:
    case VALISE_T_TEXT:
    case VALISE_T_DATA:
        return content_cell(cell, member, field, err);
    default:
        return json_cell(cell, member, field, arena, err);
    }
}

/* Ids have a zero of their own in a row, unlike in JSON: the bytes are always there. */
static bool is_null_cell(const valise_field *field, const void *member)
{
    if (vls_field_has(field, VALISE_SECRET))
        return true;
    if (vls_field_kinds[field->type].is_scalar && !vls_field_has(field, VALISE_NULLABLE))
        return false;
    return vls_field_is_absent(field, member);
}

int vls_field_to_cell(valise_cell *cell, const void *row, const valise_field *field,
                      vls_arena *arena, valise_error *err)
{
    const void *member = vls_field_at(row, field);
    int rc;

    if (is_null_cell(field, member)) {
        *cell = (valise_cell){.type = VALISE_CELL_NULL};
        return 0;
    }
    rc = cell_of(cell, member, field, arena, err);
    if (rc < 0)
        vls_error_prepend(err, "%s", field->name);
    return rc;
}

int vls_row_to_cells(valise_cell *cells, const void *row, const valise_field *fields,
                     vls_arena *arena, valise_error *err)
{
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++, cells++) {
        int rc = vls_field_to_cell(cells, row, f, arena, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- cells to struct ---- */

static int fail_cell(const valise_field *field, const char *reason, valise_error *err)
{
    return vls_fail(err, VALISE_E_CORRUPT, "the cell of '%s' %s", vls_field_label(field), reason);
}

static int copy_fixed(void *member, size_t size, const valise_cell *cell, const valise_field *field,
                      valise_error *err)
{
    if (cell->as.bytes.len != size)
        return fail_cell(field, "does not have the length of an id", err);
    memcpy(member, cell->as.bytes.ptr, size);
    return 0;
}

static int copy_content(valise_content *out, const valise_cell *cell, const valise_field *field,
                        valise_error *err)
{
    *out = (valise_content){.size = VALISE_SIZE_UNKNOWN};
    return copy_fixed(&out->id, sizeof(out->id), cell, field, err);
}

static int copy_text(valise_str *out, const valise_cell *cell, const valise_field *field,
                     vls_arena *arena, valise_error *err)
{
    if (!vls_utf8_valid(cell->as.bytes))
        return fail_cell(field, "is not UTF-8", err);
    return vls_arena_dup(out, arena, cell->as.bytes, err);
}

/* What is wrong with the text of a cell is damage, whatever the parser calls it. */
static __attribute__((noinline)) int as_corrupt(int rc, const valise_field *field,
                                                valise_error *err)
{
    if (rc == VALISE_E_NO_MEMORY || rc == VALISE_E_TOO_LARGE)
        return rc;
    valise_error why = err ? *err : (valise_error)VALISE_ERROR_INIT;
    rc = vls_fail(err, VALISE_E_CORRUPT, "the cell of '%s' does not fit: %s",
                  vls_field_label(field), why.message);
    if (err)
        memcpy(err->path, why.path, sizeof(err->path));
    return rc;
}

/* Text that somebody will write into JSON again must be JSON. */
static __attribute__((noinline)) int copy_json(valise_str *out, const valise_cell *cell,
                                               const valise_field *field, vls_arena *arena,
                                               valise_error *err)
{
    vls_arena_mark here = vls_arena_here(arena);
    vls_json v;
    int rc = 0;

    if (!vls_json_is_canonical(cell->as.bytes)) /* as it was written: seen without a parser */
        rc = vls_json_parse(&v, arena, cell->as.bytes, NULL, err);
    vls_arena_rewind(arena, here);
    if (rc < 0)
        return as_corrupt(rc, field, err);
    return vls_arena_dup(out, arena, cell->as.bytes, err);
}

/* The parsed text is borrowed by the strings in it, so it is copied first. */
static __attribute__((noinline)) int copy_parts(void *member, const valise_cell *cell,
                                                const valise_field *field, vls_arena *arena,
                                                valise_error *err)
{
    valise_str text;
    vls_json v;
    int rc = vls_arena_dup(&text, arena, cell->as.bytes, err);

    if (rc == 0)
        rc =
            vls_json_parse(&v, arena, text, &(vls_json_limits){.around = VLS_JSON_MAX_AROUND}, err);
    if (rc == 0)
        rc = vls_field_decode_stored(member, field, v, arena, err);
    return rc < 0 ? as_corrupt(rc, field, err) : 0;
}

static int copy_enum(int64_t *out, const valise_cell *cell, const valise_field *field,
                     valise_error *err)
{
    int64_t which = vls_field_enum_find(field, cell->as.bytes);

    if (which < 0)
        return fail_cell(field, "has an unknown name", err);
    *out = which;
    return 0;
}

static int copy_int(int64_t *out, const valise_cell *cell, const valise_field *field,
                    valise_error *err)
{
    if (cell->as.integer == VALISE_NONE && vls_field_has(field, VALISE_NULLABLE))
        return fail_cell(field, "has the number that means none", err);
    *out = cell->as.integer;
    return 0;
}

static int from_cell(void *member, const valise_cell *cell, const valise_field *field,
                     vls_arena *arena, valise_error *err)
{
    if (cell->type != vls_field_kinds[field->type].cell)
        return fail_cell(field, "is of another type", err);
    switch (field->type) {
    case VALISE_T_BOOL:
        if (cell->as.integer != 0 && cell->as.integer != 1)
            return fail_cell(field, "is neither 0 nor 1", err);
        *(bool *)member = cell->as.integer == 1;
        return 0;
    case VALISE_T_INT:
    case VALISE_T_TIME:
    case VALISE_T_DURATION:
        return copy_int(member, cell, field, err);
    case VALISE_T_REAL:
        if (!isfinite(cell->as.real))
            return fail_cell(field, "is not a number", err);
        *(double *)member = cell->as.real;
        return 0;
    case VALISE_T_STR:
        return copy_text(member, cell, field, arena, err);
    case VALISE_T_BYTES:
    case VALISE_T_PATH:
        return vls_arena_dup(member, arena, cell->as.bytes, err);
    case VALISE_T_UUID:
        return copy_fixed(member, sizeof(valise_uuid), cell, field, err);
    case VALISE_T_ID:
        return copy_fixed(member, sizeof(valise_id), cell, field, err);
    case VALISE_T_ENUM:
        return copy_enum(member, cell, field, err);
    case VALISE_T_JSON:
        return copy_json(member, cell, field, arena, err);
    case VALISE_T_VALUE:
    case VALISE_T_TEXT:
    case VALISE_T_DATA:
        return copy_content(member, cell, field, err);
    default:
        return copy_parts(member, cell, field, arena, err);
    }
}

int vls_row_from_cells(void *row, const valise_field *fields, size_t struct_size,
                       const valise_cell *cells, size_t count, vls_arena *arena, valise_error *err)
{
    size_t i = 0;

    vls_fields_clear(row, fields, struct_size);
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++, i++) {
        int rc = 0;
        if (i < count && cells[i].type != VALISE_CELL_NULL)
            rc = from_cell((char *)row + f->offset, &cells[i], f, arena, err);
        else if (vls_field_has(f, VALISE_KEY))
            rc = fail_cell(f, "is missing, and it is part of the key", err);
        if (rc < 0) {
            vls_error_prepend(err, "%s", f->name);
            return rc;
        }
    }
    if (count > i)
        return vls_fail(err, VALISE_E_CORRUPT, "a row has %zu cells, but there are %zu fields",
                        count, i);
    return 0;
}
