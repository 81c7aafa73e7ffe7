/* entry.h -- context entries: what can be told. [W13]
 *
 * An entry is a text, a JSON value or a blob. A blob is held by the row's key (blob/hold.h), so
 * that it stays as long as the entry does.
 *
 * Expiry is a comparison with the time of whoever looks (vls_memory_now): an entry whose time is
 * over is as if it were not there, to commands too; its row goes with `gc` (op_context_expire.c).
 *
 * Threads: single. */
#ifndef VLS_MEMORY_ENTRY_H
#define VLS_MEMORY_ENTRY_H

#include "memory/memory.h"

typedef struct vls_entry_ref {
    valise_str key;
} vls_entry_ref;
extern const valise_field vls_entry_ref_fields[];

/* The arguments of context:add and context:update. */
typedef struct vls_entry_args {
    valise_str key;
    valise_content text, value;
    valise_id blob;
    valise_content data; /* bytes that become a blob, and the name of a file whose do; both are gone
                            once they were received, and `blobs` says what they are */
    valise_str file, media_type, filename;
    valise_list blobs;        /* of const vls_blob_told * */
    vls_topics_change topics; /* add has `all` alone */
    valise_content metadata;
    int64_t expires, ttl;
    valise_list unset; /* update only */
} vls_entry_args;

/* Bytes that came along become a blob. in: vls_entry_args. */
int vls_entry_receive(valise_prepare *prepare, void *in, valise_error *err);

typedef struct vls_entry_made {
    valise_str key;
    int64_t version;
} vls_entry_made;
extern const valise_field vls_entry_made_fields[];

/* Is its time over? */
static inline bool vls_entry_is_over(const vls_context_entry_row *row, int64_t now)
{
    return row->expires != VALISE_NONE && row->expires <= now;
}

/* row->key is set; one that is over counts as none. VALISE_E_NOT_FOUND. */
int vls_entry_get(vls_context_entry_row *row, valise_view *view, valise_error *err);
int vls_entry_current(valise_str *json, valise_view *view, valise_str key, valise_error *err);

/* What is given, into the row: content, topics, metadata, expiry. required: there must be a
 * content. */
int vls_entry_fill(vls_context_entry_row *row, valise_view *view, const vls_entry_args *args,
                   bool required, valise_error *err);

/* Put it in the place of `before` (NULL: there was none), and hold and let go of blobs. */
int vls_entry_put(valise_view *view, const vls_context_entry_row *before,
                  const vls_context_entry_row *after, const vls_entry_args *args,
                  valise_error *err);

/* Let go of its blob, if it has one. */
int vls_entry_let_go(valise_view *view, const vls_context_entry_row *row, valise_error *err);

/* Delete the row, and let go of its blob. */
int vls_entry_remove(valise_view *view, const vls_context_entry_row *row, valise_error *err);

/* As it is shown. */
typedef struct vls_entry_shown {
    valise_str key;
    int64_t type;
    valise_str text, value; /* one of them, or neither: it is a blob, or was erased */
    valise_id blob;
    int64_t size; /* of the blob, as its record says; VALISE_NONE */
    valise_str media_type, filename;
    valise_list topics;
    valise_str metadata;
    int64_t expires, version, created, updated;
    valise_str actor;
} vls_entry_shown;
extern const valise_field vls_entry_shown_fields[];
int vls_entry_show(vls_entry_shown *out, valise_view *view, const vls_context_entry_row *row,
                   valise_error *err);

typedef struct vls_entry_expired {
    bool more; /* there are others */
    int64_t count;
} vls_entry_expired;
extern const valise_op vls_op_memory_context_expire, vls_op_memory_context_delete,
    vls_op_memory_context_show;

/* `gc`: take the entries whose time is over. */
int vls_entries_collect(valise *v, valise_error *err);

#endif
