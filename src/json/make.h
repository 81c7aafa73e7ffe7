/* make.h -- make objects from a few members, and get members of objects.
 *
 *     rc = VLS_PAIRS(&block, arena, err, {"type", vls_json_string(VLS_STR("text")), false},
 *                    {"text", vls_json_string(text), !text.ptr});
 *
 * Threads: immutable (values); the arena they are made in is single. */
#ifndef VLS_JSON_MAKE_H
#define VLS_JSON_MAKE_H

#include "json/json.h"

/* A member of that type, or a value of type NULL; "" and ptr NULL for texts. */
vls_json vls_member_of(vls_json object, const char *key);
valise_str vls_text_of(vls_json object, const char *key);
bool vls_truth_of(vls_json object, const char *key);

typedef struct vls_pair {
    const char *key;
    vls_json value; /* left out where skip */
    bool skip;
} vls_pair;

/* Objects and arrays from parts. */
int vls_pairs_make(vls_json *out, vls_arena *arena, const vls_pair *pairs, size_t count,
                   valise_error *err);
#define VLS_PAIRS(out, arena, err, ...)                                                            \
    vls_pairs_make((out), (arena), (const vls_pair[]){__VA_ARGS__},                                \
                   sizeof((const vls_pair[]){__VA_ARGS__}) / sizeof(vls_pair), (err))

/* The object with another value for a member, or one more. null is an object without members. */
int vls_json_with_key(vls_json *out, vls_arena *arena, vls_json object, valise_str key,
                      vls_json value, valise_error *err);
int vls_json_with(vls_json *out, vls_arena *arena, vls_json object, const char *key, vls_json value,
                  valise_error *err);
int vls_json_without(vls_json *out, vls_arena *arena, vls_json object, const char *key,
                     valise_error *err);

/* Its canonical text, in memory of the arena. */
int vls_json_text(valise_str *out, vls_arena *arena, vls_json value, valise_error *err);

#endif
