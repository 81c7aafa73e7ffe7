/* ops.h -- arguments and answers of the blob operations.
 *
 * Threads: immutable. */
#ifndef VLS_BLOB_OPS_H
#define VLS_BLOB_OPS_H

#include <valise/sys/operation.h>

#include "blob/hold.h"

#define VLS_BLOB_DATA_MAX ((int64_t)16 << 20) /* bytes that an answer holds itself */
#define VLS_REF_BLOB "blob:list.sha256"
#define VLS_REF_HOLDER "blob:show.holders" /* of answers: of a turn people see the end */

/* ---- blob:register ---- */

typedef struct vls_blob_register_args {
    valise_str path; /* ptr NULL: data */
    valise_str data; /* ptr NULL: path */
    valise_str media_type, filename, hold;
    const int *fd; /* for C code, instead of both; it is read to its end */
} vls_blob_register_args;

typedef struct vls_blob_registered {
    valise_id sha256;
    int64_t size;
    valise_str media_type, filename;
    bool taken; /* the hold is a new one */
    int64_t count;
} vls_blob_registered;

/* blob:record, INTERNAL: its bytes are there. */
typedef struct vls_blob_record_args {
    valise_id blob;
    int64_t size;
    valise_str media_type, filename, hold;
} vls_blob_record_args;

/* ---- blob:retain, blob:release ---- */

typedef struct vls_blob_hold_args {
    valise_id blob;
    valise_str hold;
} vls_blob_hold_args;

typedef struct vls_blob_held {
    bool changed;
    int64_t count;
} vls_blob_held;

#define VLS_BLOB_HOLD_FIELD(args)                                                                  \
    VALISE_FIELD_WITH(args, hold, STR, 0, "Name of the hold (default: manual).",                   \
                      .max = VLS_BLOB_HOLDER_MAX)

/* The hold that the arguments name. */
static inline vls_blob_hold vls_blob_named(const valise_id *blob, valise_str hold)
{
    return (vls_blob_hold){.blob = *blob,
                           .kind = VLS_HOLD_NAMED,
                           .holder = hold.len > 0 ? hold : valise_str_of(VLS_BLOB_HOLD_USUAL)};
}

/* ---- blob:get ---- */

typedef struct vls_blob_get_args {
    valise_id blob;
    valise_str output; /* PATH; ptr NULL: the answer has the bytes */
    bool force;
} vls_blob_get_args;

typedef struct vls_blob_got {
    valise_id sha256;
    int64_t size;
    valise_str media_type, filename;
    valise_str data; /* ptr NULL: they went elsewhere */
} vls_blob_got;

/* ---- blob:list ---- */

typedef struct vls_blob_list_args {
    valise_str media_type, filename; /* patterns; "": all */
    valise_str hold;                 /* "": whoever holds it */
} vls_blob_list_args;

typedef struct vls_blob_line {
    valise_id sha256;
    int64_t size, count;
    valise_str media_type, filename;
    int64_t created;
} vls_blob_line;

/* What a reader needs to know: is it there for this actor? */
typedef struct vls_blob_show_args {
    valise_id blob;
} vls_blob_show_args;

typedef struct vls_blob_shown {
    valise_id sha256;
    int64_t size, count;
    valise_str media_type, filename;
    int64_t created;
    valise_str file_ids; /* JSON */
    valise_list holders; /* of valise_str: "hold/manual", "turn/ID@VERSION", "context/KEY" */
} vls_blob_shown;

extern const valise_op vls_op_blob_blob_show;
extern const valise_op vls_op_blob_blob_register, vls_op_blob_blob_record, vls_op_blob_blob_retain,
    vls_op_blob_blob_release, vls_op_blob_blob_list;

#endif
