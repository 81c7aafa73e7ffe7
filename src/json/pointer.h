/* pointer.h -- JSON Pointer (RFC 6901): "/a/b~1c/0" names a value inside a value.
 *
 *     ""          the document itself
 *     "/a"        member "a"
 *     "/a/0"      the first item of the array at /a; an index has no leading zeros
 *     "/a/-"      past the last item of the array at /a: a place to add to, never a value
 *     "/x~1y~0z"  member "x/y~z"
 *
 * A pointer is parsed once into its steps and can then be followed any number of times. The URI
 * fragment form ("#/a") is not supported.
 *
 * Threads: immutable (pointers); the arena they are parsed into is single. */
#ifndef VLS_POINTER_H
#define VLS_POINTER_H

#include "json/json.h"

/* A value lies at most this many steps below its document. */
#define VLS_POINTER_MAX_STEPS VLS_JSON_MAX_DEPTH

typedef struct vls_pointer {
    valise_str text;         /* as it was given; borrowed */
    const valise_str *steps; /* without escapes; those that had none are slices of text */
    size_t count;
} vls_pointer;

/* Parse. The pointer borrows text, the rest of it lives in arena. VALISE_E_INVALID with the byte
 * offset, VALISE_E_LIMIT (more than VLS_POINTER_MAX_STEPS), and what the arena says. */
int vls_pointer_parse(vls_pointer *out, vls_arena *arena, valise_str text, valise_error *err);

/* Append one step: "/" and the key with its '~' and '/' escaped, or "/" and the index. */
void vls_pointer_add_key(vls_buf *buf, valise_str key);
void vls_pointer_add_index(vls_buf *buf, size_t index);

/* Whether the step is an array index (digits, no leading zero); *out is untouched if not. */
bool vls_pointer_index(size_t *out, valise_str step);

/* The text of the first count steps: the path of an ancestor. */
valise_str vls_pointer_head(const vls_pointer *pointer, size_t count);

/* Whether inner lies below outer (and is not outer itself). */
bool vls_pointer_is_below(const vls_pointer *inner, const vls_pointer *outer);

/* The value that pointer names in *root: root itself or something its children hold.
 * VALISE_E_NOT_FOUND says which step leads nowhere and why. */
int vls_pointer_get(const vls_json **out, const vls_json *root, const vls_pointer *pointer,
                    valise_error *err);

/* One step of that walk, for those who must do something on the way: where step number `step`
 * leads among the children of parent, which is what the steps before it name. */
int vls_pointer_find(size_t *at, vls_json parent, const vls_pointer *pointer, size_t step,
                     valise_error *err);

/* The same for a place to add at: an item may also go behind the last one ("-" or the length),
 * and a member need not be there yet; *exists says whether it is (never for items). */
int vls_pointer_place(size_t *at, bool *exists, vls_json parent, const vls_pointer *pointer,
                      size_t step, valise_error *err);

/* A path for a message: in quotes when it is empty, cut in the middle when it is long. */
typedef struct vls_pointer_quote {
    char s[112]; /* NUL-ended */
} vls_pointer_quote;

vls_pointer_quote vls_pointer_brief(valise_str path);

#endif
