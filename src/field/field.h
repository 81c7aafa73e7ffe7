/* field.h -- walking over field tables: JSON, JSON Schema, and the tables themselves.
 *
 * include/valise/sys/field.h says what a table is. Everything here is a loop over one; nothing
 * knows what the structs are for. Cells of rows are in row.h.
 *
 * Errors carry the path of the field: err->path is "turn.blocks[2].callId".
 *
 * Threads: pure functions; arenas and buffers are single. */
#ifndef VLS_FIELD_H
#define VLS_FIELD_H

#include <valise/sys/field.h>

#include "base/arena.h"
#include "json/json.h"

#define VLS_FIELDS_MAX 62u       /* of one table; two more cells belong to the store */
#define VLS_FIELDS_MAX_DEPTH 16u /* of structs, lists and unions inside each other */

/* A table must make sense: names unique, camelCase and not too long, offsets inside the struct and
 * aligned for their type, more and min/max fitting the type, key fields first and never NULLABLE,
 * CONTENT fields NULLABLE, no NULLABLE BOOL. VALISE_E_INVALID names the field. */
int vls_fields_check(const valise_field *fields, size_t struct_size, valise_error *err);

const valise_field *vls_fields_find(const valise_field *fields, valise_str name);
size_t vls_fields_count(const valise_field *fields);

/* The bytes a member of this type takes in its struct. */
size_t vls_field_size(const valise_field *field);

/* Is the member none (NULLABLE fields), or zero (others)? */
bool vls_field_is_none(const valise_field *field, const void *row);

/* Set every NULLABLE member to its none and all others to zero. */
void vls_fields_clear(void *row, const valise_field *fields, size_t struct_size);

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
} vls_field_form;

/* Decode an object into the struct: strings, lists and nested structs are made in arena or borrow
 * from v, and v's text from wherever it came. Every check the table asks for is done here: unknown
 * members, missing ones, types, limits, names, UTF-8 is known good. Contents in INPUT form:
 * canonical bytes in arena and size; ids are not computed. On failure *out is undefined. */
int vls_fields_decode(void *out, const valise_field *fields, size_t struct_size, vls_json v,
                      vls_field_form form, vls_arena *arena, valise_error *err);

/* The same checks on a struct that a typed caller filled. */
int vls_fields_validate(const void *row, const valise_field *fields, valise_error *err);

enum {
    VLS_FIELD_ALL = 1, /* also members that are zero; NULLABLE ones that are none never appear */
};

/* Append the canonical JSON text of the struct. Contents: in INPUT form their bytes (which must be
 * there), in LOGGED form their ids. SECRET fields are left out. */
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

/* The same for contents only (VALUE, TEXT, DATA), to be lifted. */
int vls_fields_each_content(void *row, const valise_field *fields, vls_field_fn *fn, void *arg);

#endif
