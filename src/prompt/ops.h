/* ops.h -- arguments and answers of operations that C code uses as well (api.c, the command line).
 *
 * Threads: immutable tables. */
#ifndef VLS_PROMPT_OPS_H
#define VLS_PROMPT_OPS_H

#include "prompt/args.h"
#include "prompt/pour.h"
#include "prompt/shown.h"

typedef struct vls_prompt_build_args {
    vls_prompt_args of;
    bool no_record, neutral, wire;
    valise_str output; /* a file for the request; ptr NULL: none */
    bool force;
    vls_pour_fn *pour; /* gets the request; NULL: nobody. Not from JSON */
    void *pour_arg;
} vls_prompt_build_args;

typedef struct vls_prompt_built {
    valise_id id; /* zero: it was not recorded */
    bool existed; /* the same one was recorded before */
    valise_uuid session;
    valise_str head, provider, model;
    int64_t tokens, limit; /* limit: VALISE_NONE */
    int64_t trimmed;
    valise_list sections, left, repairs;
    valise_id neutral_hash, wire_hash;
    int64_t neutral_bytes, wire_bytes;
    valise_content neutral;
    valise_str wire;
} vls_prompt_built;

typedef struct vls_prompt_show_args {
    valise_str prompt;
    bool neutral, wire, manifest;
    valise_str output;
    bool force;
    vls_pour_fn *pour; /* as above */
    void *pour_arg;
} vls_prompt_show_args;

typedef struct vls_prompt_shown {
    valise_id id;
    valise_uuid session;
    valise_str head, provider, model;
    int64_t adapter_version, adapter_now; /* now VALISE_NONE: there is none of that name */
    int64_t time, seq;
    valise_str actor;
    int64_t tokens, limit;
    int64_t scale; /* sixteenths */
    int64_t trimmed;
    valise_str retriever;
    int64_t retriever_version;
    int64_t parts;
    valise_list sections, left, repairs;
    valise_id neutral_hash, wire_hash;
    bool neutral_same, wire_same;
    int64_t erased, denied;
    valise_content neutral, manifest;
    valise_str wire;
} vls_prompt_shown;

typedef struct vls_prompt_blame_args {
    valise_str prompt;
    int64_t part; /* VALISE_NONE: all */
    bool all;
} vls_prompt_blame_args;

typedef struct vls_prompt_blamed {
    int64_t offset, length;
    vls_part_shown source;
    valise_str edit; /* why a stretch of it is another one than its source; ptr NULL */
    valise_str text;
    bool cut; /* text is the beginning only */
} vls_prompt_blamed;

extern const valise_op vls_op_prompt_prompt_build, vls_op_prompt_prompt_show,
    vls_op_prompt_prompt_blame;

#endif
