/* field.h -- walking over field tables: JSON, JSON Schema, and the tables themselves.
 *
 * include/valise/sys/field.h says what a field table is. Everything here is a loop over a table,
 * and knows nothing of what the structs are for. Cells of rows are in row.h.
 *
 * Errors carry the path of the field: err->path is "turn.blocks[2].callId".
 *
 * Threads: pure functions; arenas and buffers are single. */
#ifndef VLS_FIELD_H
#define VLS_FIELD_H

#include <valise/sys/field.h>

#include "base/arena.h"
#include "json/json.h"

#define VLS_FIELDS_MAX 62u         /* of one table; two more cells belong to the store */
#define VLS_FIELDS_MAX_DEPTH 16u   /* of structs, lists and unions inside each other */
#define VLS_FIELDS_MAX_TOTAL 4096u /* of a table and all tables inside it */
#define VLS_FIELDS_MAX_NAMES 256u  /* of an enumeration, and cases of a union */

/* A table must make sense: names unique, camelCase and not too long, members inside the struct,
 * aligned for their type and not over each other, more and min/max fitting the type, key fields
 * first, scalar and never NULLABLE, CONTENT fields NULLABLE, no NULLABLE BOOL, nothing both
 * REQUIRED and NULLABLE (null means absent), items of lists without flags, no member of a union's
 * case with the name of the tag. The same for all tables inside it, which must come to an end
 * (VLS_FIELDS_MAX_DEPTH, VLS_FIELDS_MAX_TOTAL). VALISE_E_INVALID names the field in err->path.
 *
 * Everything else here takes tables that passed. */
int vls_fields_check(const valise_field *fields, size_t struct_size, valise_error *err);

const valise_field *vls_fields_find(const valise_field *fields, valise_str name);
size_t vls_fields_count(const valise_field *fields);

/* The bytes a member of this type takes in its struct. */
size_t vls_field_size(const valise_field *field);

/* Are there other fields in it? */
static inline bool vls_field_has_parts(const valise_field *field)
{
    return field->type == VALISE_T_LIST || field->type == VALISE_T_STRUCT ||
           field->type == VALISE_T_UNION;
}

/* Is the member none (NULLABLE fields), or zero (others)? */
bool vls_field_is_none(const valise_field *field, const void *row);

/* Set every NULLABLE member to its none and all others to zero. */
void vls_fields_clear(void *row, const valise_field *fields, size_t struct_size);

/* How many objects and arrays of the table stand around a JSON or VALUE field, at most; 0: it has
 * none. A text of the table is that much deeper than the values in it. */
uint32_t vls_fields_around(const valise_field *fields);

/* ---- names ---- */

/* "sessionId" as "session_id" (separator '_') or "session-id" ('-'). The room must be large
 * enough: names have at most 48 bytes, see vls_fields_check. */
#define VLS_FIELD_NAME_MAX 48u
typedef struct vls_field_name {
    char s[2 * VLS_FIELD_NAME_MAX + 1];
} vls_field_name;
vls_field_name vls_field_words(const char *name, char separator);

/* ---- JSON ---- */

/* Two forms of the same arguments. In INPUT contents stand inline, as callers send them. In LOGGED
 * they stand as ids (64 digits), which is what log entries hold. */
typedef enum vls_field_form {
    VLS_FIELD_INPUT,
    VLS_FIELD_LOGGED,
    VLS_FIELD_ACCEPTED, /* decode: LOGGED, of what was accepted before. The table may have become
                           stricter since: min, max and REQUIRED are not for it */
} vls_field_form;

/* Decode an object into the struct: strings, lists and nested structs are made in arena or borrow
 * from v, and v's text from wherever it came. Every check the table asks for is done here: unknown
 * members, missing ones, types, limits, names, UTF-8 is known good. Contents in INPUT form:
 * canonical bytes in arena and size; ids are not computed. In LOGGED form: the id, size
 * VALISE_SIZE_UNKNOWN, no bytes; SECRET fields may be missing even where REQUIRED. An id or UUID of
 * zeros alone is refused, and so is the integer VALISE_NONE. null is a value for JSON and VALUE
 * fields that are not NULLABLE. On failure *out is undefined. */
int vls_fields_decode(void *out, const valise_field *fields, size_t struct_size, vls_json v,
                      vls_field_form form, vls_arena *arena, valise_error *err);

/* The same checks on a struct that a typed caller filled. JSON fields must be canonical text
 * already; contents may be any JSON (VALUE) and text (TEXT), lifting makes them canonical. The
 * arena is for parsing those and is as before afterwards. */
int vls_fields_validate(const void *row, const valise_field *fields, vls_arena *arena,
                        valise_error *err);
/* The same without min, max and REQUIRED: of what was accepted before. */
int vls_fields_validate_accepted(const void *row, const valise_field *fields, vls_arena *arena,
                                 valise_error *err);

enum {
    /* Also members that are zero, as REQUIRED ones always are. What has no zero never appears when
     * it was not given: NULLABLE fields, ids, contents, JSON, structs and unions. */
    VLS_FIELD_ALL = 1,
    VLS_FIELD_LASTING = 2, /* without PASSING members */
};

/* Append the canonical JSON text of the struct, or nothing. Contents: in INPUT form their bytes
 * (which must be there and canonical), in LOGGED form their ids. SECRET fields are left out.
 * VALISE_E_INVALID for what JSON has no text for: a number that is not finite, an enumeration
 * without that name, a negative duration, a required struct that is NULL. */
int vls_fields_write(vls_buf *out, const void *row, const valise_field *fields, vls_field_form form,
                     unsigned flags, valise_error *err);

/* The JSON Schema (2020-12) of the INPUT form, for `commands --json` and documents. Closed:
 * additionalProperties is false. */
int vls_fields_schema(vls_json *out, const valise_field *fields, vls_arena *arena,
                      valise_error *err);

/* A table as JSON, enough to read and check rows without the program that made them: name, type,
 * flags, ref, nested tables. And back: a table whose struct is only known through it. */
int vls_fields_describe(vls_json *out, const valise_field *fields, vls_arena *arena,
                        valise_error *err);
int vls_fields_restore(const valise_field **out, size_t *struct_size, vls_json description,
                       vls_arena *arena, valise_error *err);

/* ---- walks ---- */

/* Calls fn for every ID, VALUE, TEXT, DATA field and every field with a `ref` that is not none,
 * also inside lists, structs and unions. fn returns non-zero to stop, which is then the result. */
typedef int vls_field_fn(void *arg, const valise_field *field, void *member);
int vls_fields_each_ref(void *row, const valise_field *fields, vls_field_fn *fn, void *arg);

/* Can vls_fields_each_ref find anything in a field of this kind? */
bool vls_field_refers(const valise_field *field);

/* The same for contents only (VALUE, TEXT, DATA), to be lifted. */
int vls_fields_each_content(void *row, const valise_field *fields, vls_field_fn *fn, void *arg);

#endif
