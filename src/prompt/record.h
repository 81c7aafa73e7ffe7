/* record.h -- what prompt:record is told.
 *
 * Holds are bytes, not ids: what a payload names as an id would be kept for the log's sake, and be
 * somebody who still has what is erased.
 *
 * Threads: immutable tables. */
#ifndef VLS_PROMPT_RECORD_H
#define VLS_PROMPT_RECORD_H

#include <valise/sys/operation.h>

typedef struct vls_record_args {
    valise_content manifest; /* a value */
    valise_list given;       /* of valise_content: values that came with the request */
    valise_uuid session;
    valise_str head, adapter, model;
    int64_t time, seq, tokens;
    valise_id neutral, wire;
    valise_list holds; /* of valise_str: 32 bytes of an object, 32 of its source */
    valise_list blobs; /* of valise_str: 32 bytes of a blob, then the key of the entry */
} vls_record_args;

typedef struct vls_recorded {
    valise_id id;
    bool created; /* it was not there */
} vls_recorded;

extern const valise_field vls_id_bytes_item; /* 32 bytes */
extern const valise_op vls_op_prompt_prompt_record;

#define VLS_HOLDS_MAX 100000 /* of one prompt */

#endif
