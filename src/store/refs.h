/* refs.h -- find everything in a store that refers to an object or to a blob.
 *
 * Neither has a reference count. To find out what is needed, everything that can name one is
 * searched: the present rows, the rows as they were (the images in log entries), and the payloads
 * of commands, which a replay needs. In a row, a content or an ID field with `ref` "object" names
 * an object, and an ID field with `ref` "blob" names a blob. In a payload, every string of 64 hex
 * digits counts as both, so that it can be read without knowing the operation; the payload of an
 * erasure does not count, since it names what is gone.
 *
 * Threads: single; works on a transaction. */
#ifndef VLS_REFS_H
#define VLS_REFS_H

#include "base/progress.h"
#include "store/view.h"

/* May it name an object: a content, or an id? A blob? */
static inline bool vls_names_object(const valise_field *field)
{
    return (field->type == VALISE_T_ID && field->ref && strcmp(field->ref, "object") == 0) ||
           (field->type >= VALISE_T_VALUE && field->type <= VALISE_T_DATA);
}

static inline bool vls_names_blob(const valise_field *field)
{
    return field->type == VALISE_T_ID && field->ref && strcmp(field->ref, "blob") == 0;
}

/* Where a reference stands. */
typedef struct vls_ref_site {
    const vls_coll *coll; /* NULL: a payload */
    valise_str key;       /* ordered encoding */
    int64_t seq;          /* the entry that holds it; 0: a row as it is now */
    bool blob;            /* it is that of a blob; never known in a payload */
} vls_ref_site;

/* Which references of rows are wanted. */
enum {
    VLS_REFS_OBJECTS = 1,
    VLS_REFS_BLOBS = 2,
    VLS_REFS_ALL = 3,
    VLS_REFS_CONTENT = 4, /* and of these only such as stand in a field marked CONTENT */
};

/* The type of the entry that an erasure leaves in the log. */
#define VLS_ERASURE_TYPE "erasure:record"

/* Non-zero stops the walk and is its result. */
typedef int vls_ref_fn(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err);

/* The references of one row, and those to objects only. Memory is taken from arena and given back.
 */
int vls_refs_of_row(vls_arena *arena, const vls_ref_site *site, const valise_cell *row,
                    unsigned what, vls_ref_fn *fn, void *arg, valise_error *err);
int vls_refs_row(vls_arena *arena, const vls_ref_site *site, const valise_cell *row, vls_ref_fn *fn,
                 void *arg, valise_error *err);

/* How many rows vls_refs_rows walks, as far as that is known quickly. */
int vls_refs_count(uint64_t *rows, vls_txn *txn, unsigned what, valise_error *err);

/* progress may be NULL. */
int vls_refs_rows(vls_txn *txn, unsigned what, vls_progress *progress, vls_ref_fn *fn, void *arg,
                  valise_error *err);
/* What the payload of one entry names. */
int vls_refs_payload(const vls_entry *entry, vls_ref_fn *fn, void *arg, valise_error *err);
/* Objects that images and payload of one entry name. */
int vls_refs_entry(vls_txn *txn, vls_arena *arena, const vls_entry *entry, vls_ref_fn *fn,
                   void *arg, valise_error *err);
/* Images and payloads of all. */
int vls_refs_log(vls_txn *txn, unsigned what, vls_progress *progress, vls_ref_fn *fn, void *arg,
                 valise_error *err);

#endif
