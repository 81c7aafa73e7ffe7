/* recipe.h -- recipes that the engine can follow: how a frame about a directory is made of what is
 * said about what lies in it.
 *
 *     "derived\n", then canonical JSON:
 *     {"input":"summary","limit":10,"params":{},"policy":"filtering","version":1,
 *      "where":{"agent":"a*","fresh":true,"maxSize":1000,"name":"*.c","type":"sum*"}}
 *
 *     "program\n", then the same with the name of a program and the SHA-256 of its bytes:
 *     {"input":"summary","policy":"sum.py","program":"1f3a..."}
 *
 * A recipe comes from anybody who may write, or from a bundle. So one of a program says which bytes
 * made the frame, and nothing that could make other bytes run: no path, no arguments.
 *
 * It selects *inputs*, in the order of names, then types:
 *
 *     of a file or link     the heads of its slots whose type fits `input`, a glob
 *     of a directory        the head of the slot of the type that is made
 *     of these              those that fit `where`
 *     of those              the first `limit`
 *
 * Selecting is data, so that what a slot is made of today can be said by who does not know the
 * policy. Members that have their usual value (input "*", no limit, no parameters, no conditions)
 * are left out, so that the same wish has one recipe.
 *
 *     fresh     of a file: what lies there is what the frame is about. Of both: nobody marked it
 *
 * What was erased is no input. A file that cannot be read now stays one: what was said about it
 * was.
 *
 * Threads: plain data; what takes a view is single as it is. */
#ifndef VLS_CONTEXT_RECIPE_H
#define VLS_CONTEXT_RECIPE_H

#include <valise/sys/policy.h>

#include "context/frame.h"
#include "context/state.h"

#define VLS_POLICY_NAME_MAX 64u
#define VLS_PROGRAM_NAME_MAX 255u
#define VLS_RECIPE_LIMIT_MAX 1000000

typedef struct vls_recipe_where {
    valise_str name, type, agent; /* globs; ptr NULL: all */
    int64_t max_size;             /* of the content; 0: any */
    bool fresh;
} vls_recipe_where;

typedef struct vls_recipe {
    valise_str input;              /* ptr NULL: all types */
    valise_str policy;             /* its name; of a program that of its file */
    int64_t version;               /* not of a program */
    valise_str params;             /* canonical JSON; ptr NULL: none */
    int64_t limit;                 /* 0: none */
    const vls_recipe_where *where; /* NULL: all */
    bool program;                  /* the policy is a program: frames are external */
    valise_id program_id;          /* SHA-256 of its bytes */
} vls_recipe;

/* The bytes of the object. VALISE_E_INVALID for what is no glob. */
int vls_recipe_write(vls_buf *out, const vls_recipe *recipe, valise_error *err);

/* Back: 1. 0: nobody but its maker can follow it ("external"). VALISE_E_CORRUPT, VALISE_E_INVALID
 * for what this program does not understand. In the arena. */
int vls_recipe_read(vls_recipe *out, valise_str bytes, vls_arena *arena, valise_error *err);

/* Does this program follow it in a newer way? One whose policy it does not know, or knows an older
 * version of, is left to who does. */
bool vls_recipe_is_old(const valise_view *view, const vls_recipe *recipe);

/* ---- inputs ---- */

typedef struct vls_recipe_input {
    valise_policy_input shown; /* what a policy may know */
    valise_id frame, content;
    bool stale; /* it is not true any more: of a file, or by a mark */
} vls_recipe_input;

#define VLS_INPUTS_MISSING_MAX 1000u /* names that are told */

typedef struct vls_inputs {
    const vls_recipe_input *items;
    size_t count;
    bool is_empty;                   /* there is nothing in the directory */
    int64_t missing;                 /* entries that are meant, and about which nothing is said */
    const valise_str *missing_names; /* of the first of them */
    size_t missing_count;
} vls_inputs;

/* Heads as they will be: what was made and is not the head yet. NULL: as they are. */
typedef const vls_frame_row *vls_heads_ahead_fn(void *self, valise_str path, valise_str type);
typedef struct vls_heads_ahead {
    vls_heads_ahead_fn *get;
    void *self;
} vls_heads_ahead;

/* The inputs of a directory for a slot of this type, in the view's memory. ahead may be NULL.
 * VALISE_E_LIMIT: there are too many. */
int vls_inputs_read(vls_inputs *out, valise_view *view, const vls_state_at *dir, valise_str type,
                    const vls_recipe *recipe, const vls_heads_ahead *ahead, valise_error *err);

/* What is made of them, by this recipe, has this basis. */
int vls_inputs_basis(vls_buf *out, const vls_inputs *inputs, const valise_id *recipe,
                     const vls_state_at *dir, valise_error *err);

#endif
