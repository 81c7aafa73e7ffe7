/* hold.h -- who holds a blob: a row (blob, kind, holder); the count is the number of rows. [W9]
 * [W10]
 *
 *     blob_records   SHA-256 -> size, media type, filename, created, file ids of providers
 *     blob_hold      (blob, kind, holder): a turn version, a context entry, a name somebody chose,
 *                    or prompts that were made with an entry when this was its blob
 *
 * There is a record if, and only if, there is a hold. Bytes come first, then the row: the command
 * that takes a hold fails if the blob store has no such file. A first hold needs bytes that came
 * with the command (receive.h), whose size is in the payload, so that knowing a hash does not give
 * access to somebody else's file. With the last hold the record is removed; the file is removed
 * after the commit (vls_view_let_go, store/view.h), under the write lock, if then still no row of
 * any collection names it.
 *
 * Threads: immutable tables; the functions are single, in a command. */
#ifndef VLS_BLOB_HOLD_H
#define VLS_BLOB_HOLD_H

#include <valise/sys/view.h>

#define VLS_BLOB_HOLDER_MAX 512
#define VLS_BLOB_FILENAME_MAX 1024
#define VLS_BLOB_MEDIA_TYPE_MAX 256
#define VLS_BLOB_FILE_IDS_MAX 65536
#define VLS_BLOB_HOLD_USUAL "manual"

enum { VLS_HOLD_NAMED, VLS_HOLD_TURN, VLS_HOLD_CONTEXT, VLS_HOLD_PROMPT };
extern const char *const vls_hold_kinds[]; /* "named", "turn", "context", "prompt", NULL */

typedef struct vls_blob_record {
    valise_id sha256;
    int64_t size;
    valise_str media_type, filename; /* NULLABLE CONTENT */
    int64_t created;
    valise_str file_ids; /* JSON {provider: {fileId, expires?}}; NULLABLE CONTENT */
} vls_blob_record;

typedef struct vls_blob_hold {
    valise_id blob;
    int64_t kind;      /* VLS_HOLD_... */
    valise_str holder; /* a name, ID@VERSION, or a key; of PROMPT that of the entry */
} vls_blob_hold;

extern const valise_coll vls_blob_records, vls_blob_holds;

/* What is told of a blob that may have no record yet; what a record has already is kept. */
typedef struct vls_blob_about {
    int64_t size;                    /* VALISE_NONE: not known */
    valise_str media_type, filename; /* ptr NULL: not known */
} vls_blob_about;

/* Hold it: 1 when this holder did not yet, else 0. about may be NULL. VALISE_E_NOT_FOUND where
 * there is no record and about has no size. */
int vls_blob_take(valise_view *view, const vls_blob_hold *hold, const vls_blob_about *about,
                  valise_error *err);

/* Let go of it: 1 when this holder held it, else 0. */
int vls_blob_release(valise_view *view, const vls_blob_hold *hold, valise_error *err);

/* It was erased or deleted where it stood: where only prompts are left that were made with it, they
 * let go of it as well. */
int vls_blob_forget(valise_view *view, const valise_id *blob, valise_error *err);

/* An entry was erased or deleted: prompts let go of all that were ever its blobs. */
int vls_blob_forget_entry(valise_view *view, valise_str key, valise_error *err);

/* The record: 1, or 0. */
int vls_blob_record_of(vls_blob_record *out, valise_view *view, const valise_id *blob,
                       valise_error *err);

/* How many hold it. */
int vls_blob_count(int64_t *out, valise_view *view, const valise_id *blob, valise_error *err);

/* Is the turn or the entry that holds it there, with its contents? 1, or 0. */
int vls_blob_holder_is_there(valise_view *view, const vls_blob_hold *hold, valise_error *err);

/* Was it erased by its id? 1, or 0. If it was registered again since, there is a record. */
int vls_blob_is_erased(valise_view *view, const valise_id *blob, valise_error *err);

/* VALISE_E_NOT_FOUND: whether it was erased, and the way out. */
int vls_blob_fail_unknown(valise_view *view, const valise_id *blob, valise_error *err);

#endif
