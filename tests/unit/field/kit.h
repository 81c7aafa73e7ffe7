/* kit.h -- tables of every type, random structs for any table, and equality of such structs. */
#ifndef FIELD_KIT_H
#define FIELD_KIT_H

#include "harness/test.h"

#include "field/field.h"
#include "field/row.h"

/* A struct inside a union inside a struct inside a list. */
typedef struct kit_text {
    valise_str text;
    valise_list marks; /* of int64_t */
} kit_text;

typedef struct kit_call {
    valise_str name;
    valise_id call_id;
    valise_content result;
} kit_call;

typedef struct kit_block {
    int64_t number;
    valise_variant what; /* text, call */
    valise_variant open; /* one case: text */
} kit_block;

/* Every type once as NULLABLE (n...) and once as it is. */
typedef struct kit_all {
    valise_uuid id;
    int64_t seq;
    bool flag;
    int64_t integer, n_integer;
    double real, n_real;
    valise_str str, n_str;
    valise_str bytes, n_bytes, path, n_path;
    int64_t time, n_time;
    int64_t duration, n_duration;
    valise_uuid uuid, n_uuid;
    valise_id hash, n_hash;
    int64_t kind, n_kind;
    valise_str json, n_json;
    valise_content value, n_value;
    valise_content text, n_text;
    valise_content data, n_data;
    valise_list blocks, n_blocks;
    valise_list names;
    valise_list lists;
    const kit_text *part, *n_part;
    valise_variant either, n_either;
} kit_all;

extern const valise_field kit_all_fields[];
extern const valise_field kit_text_fields[];
extern const valise_union kit_what;

/* A row of eight fields as many collections have them. */
typedef struct kit_session {
    valise_uuid id;
    valise_str title;
    int64_t state;
    valise_str actor;
    int64_t turn_count;
    valise_id tip;
    int64_t created_at, updated_at;
} kit_session;

extern const valise_field kit_session_fields[];

/* Fill a struct at random with what the table allows; memory is the test's. Contents have id,
 * size and bytes in INPUT form, the id alone in LOGGED form. */
void kit_random(test_rng *rng, void *row, const valise_field *fields, size_t size,
                vls_field_form form);

/* Equal member by member, as far as a reader could tell. Contents are compared by their bytes in
 * INPUT form and by their ids in LOGGED form. */
bool kit_equal(const valise_field *fields, const void *a, const void *b, vls_field_form form);

vls_json kit_parse(test *t, vls_arena *arena, const char *text);
valise_str kit_write(test *t, const void *row, const valise_field *fields, vls_field_form form,
                     unsigned flags); /* lives until the test ends */

#endif
