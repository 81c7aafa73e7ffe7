/* json.h -- what the operations on plain JSON have in common.
 *
 * They need no workspace: the same parser, canonical form, pointer, patch, diff, schema and logic
 * that the engine uses, so that a script can make the bytes that will be hashed, and see why
 * something is refused.
 *
 * Threads: single, as the view is. */
#ifndef VLS_KERNEL_JSON_H
#define VLS_KERNEL_JSON_H

#include <valise/sys/operation.h>

#include "json/json.h"

/* The answer of most of them. */
typedef struct vls_json_answer {
    valise_content value;
} vls_json_answer;
extern const valise_field vls_json_answer_out[];

/* The arena of the view; everything of the answer is made in it. */
vls_arena *vls_json_arena(valise_view *view);

/* An argument as a value. */
int vls_json_argument(vls_json *out, valise_view *view, const valise_content *content,
                      valise_error *err);

/* A value as (part of) an answer: its canonical text, in the view's arena. */
int vls_json_shown(valise_str *out, valise_view *view, vls_json value, valise_error *err);
int vls_json_content(valise_content *out, valise_view *view, vls_json value, valise_error *err);

#endif
