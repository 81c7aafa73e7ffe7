/* own.h -- rows of the store's own tables as structs.
 *
 * Log entries are in log.h (vls_entry). Everything here is read and written with vls_own_get,
 * vls_own_put and vls_own_del of store.h; the key members say which row is meant. docs/formats.md,
 * "The store", explains the columns.
 *
 * Threads: plain data. */
#ifndef VLS_OWN_H
#define VLS_OWN_H

#include "base/bytes.h"
#include "store/store.h"

typedef struct vls_meta_row {
    valise_str name;
    valise_str value; /* canonical JSON */
} vls_meta_row;

typedef struct vls_coll_row {
    int64_t number; /* of the table */
    valise_str name;
    valise_str description; /* canonical JSON: vls_coll_describe */
} vls_coll_row;

typedef struct vls_object_row {
    int64_t number; /* never given again */
    int64_t h8;     /* the first 8 bytes of hash, so that numbers are ordered as ids are */
    valise_id hash;
    valise_str kind;
    int64_t size;
    int64_t time; /* when it was last put or referred to */
    valise_str recipe;
    valise_str body; /* one of the two; neither: erased */
} vls_object_row;

typedef struct vls_chunk_row {
    int64_t number; /* never given again */
    int64_t h8;     /* XXH3 of body */
    valise_str body;
} vls_chunk_row;

typedef struct vls_gone {
    int64_t coll;   /* number */
    valise_str key; /* ordered encoding (base/order.h) */
    int64_t seq;    /* of the entry that deleted the row */
} vls_gone;

typedef struct vls_read_row {
    int64_t number;
    int64_t time;
    valise_str actor;
    valise_str type;  /* of the operation */
    valise_str place; /* what was read */
    int64_t outcome;  /* 0, or the code of the refusal */
} vls_read_row;

typedef struct vls_cursor_row {
    valise_str name; /* of the follower */
    int64_t seq;     /* the next event it wants */
    int64_t item;
} vls_cursor_row;

/* The first 8 bytes of an id as a number that is ordered as they are: h8, id8. */
static inline int64_t vls_own_first8(const uint8_t *bytes)
{
    return (int64_t)(vls_bytes_load_u64(bytes) ^ (UINT64_C(1) << 63));
}

/* Columns of the log that are read without the rest of an entry. */
enum { VLS_LOG_SEQ = 0, VLS_LOG_TIME = 3, VLS_LOG_HASH = 8 };

/* The descriptors, by number of the table. */
extern const valise_coll *const vls_own_colls[VLS_TABLE_OWN_COUNT];

#endif
