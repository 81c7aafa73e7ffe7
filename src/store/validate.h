/* validate.h -- check everything in a store and report what is wrong. Changes nothing.
 *
 *     the backend's own structures      pages, indexes
 *     the log                           one seq after the other, times, chain, payloads, lists
 *     objects                           hash, size, kind; chunks
 *     rows                              sum, fields, references, the collection's own check
 *     rows against the log              the newest entry that lists a key made the row that is
 *                                       there, or deleted it
 *
 * Erased parts cannot be verified; they are counted, not reported. Damage in one place does not
 * keep the rest from being checked.
 *
 * Threads: single; reads beside writers. */
#ifndef VLS_VALIDATE_H
#define VLS_VALIDATE_H

#include "base/progress.h"
#include "store/view.h"

typedef struct vls_finding {
    const char *place;   /* "log 42", "object 3f2a...", "session 018f..." */
    const char *problem; /* one sentence */
    const char *remedy;  /* what to do about it */
} vls_finding;

/* Returns below 0 to stop. */
typedef int vls_finding_fn(void *arg, const vls_finding *finding, valise_error *err);

typedef struct vls_validation {
    int64_t entries, objects, chunks, rows; /* looked at */
    int64_t problems;
    int64_t unverifiable; /* erased objects and payloads */
    bool partial;         /* entries or payloads are missing: the log cannot be replayed */
} vls_validation;

/* The remedy that stands in more than one place. */
#define VLS_REMEDY_RESTORE "restore it from a bundle or a backup"

struct valise_check {
    vls_store *store;
    vls_txn *txn;
    valise_view *view;
    vls_progress *progress;
    vls_finding_fn *fn;
    void *arg;
    vls_validation result;
    char place[192]; /* of what is being looked at */
    struct vls_witness *witness;
    bool adrift; /* `meta` does not say where the log begins */
};

/* Of a store that was opened bare: everything but rows of collections. *out is filled also when
 * something else than a finding failed. */
int vls_validate(vls_validation *out, vls_store *store, vls_progress *progress, vls_finding_fn *fn,
                 void *arg, valise_error *err);

/* ---- between the files ---- */

/* Make a failure of what was looked at a finding: 0 when it was one (CORRUPT, INVALID, NOT_FOUND),
 * else the code it was. */
int vls_check_failed(valise_check *check, int rc, const valise_error *failure, valise_error *err);

/* Begin a scan that hands out rows whose sum is wrong, too. 1; or 0 when the table cannot be read,
 * which is reported. */
int vls_check_scan(vls_txn_scan *scan, valise_check *check, const vls_coll *coll,
                   valise_range range, valise_error *err);

/* The next row of a scan, as vls_txn_scan_next; rows that cannot be read are reported and passed
 * over. */
int vls_check_next(valise_cell *cells, valise_check *check, vls_txn_scan *scan, valise_error *err);

/* The sums of one of the store's own tables, and what `then` has to say about each row whose sum is
 * right; NULL: nothing. */
typedef int vls_check_row_fn(valise_check *check, const vls_coll *coll, const valise_cell *cells,
                             valise_error *err);
int vls_check_table(valise_check *check, uint32_t table, vls_check_row_fn *then, valise_error *err);

/* What a row says: its fields, what they refer to, and what its collection has to say. */
int vls_check_fields(valise_check *check, const vls_coll *coll, const valise_cell *cells,
                     valise_error *err);

int vls_check_objects(valise_check *check, valise_error *err);
int vls_check_rows(valise_check *check, valise_error *err);

/* What the log says about keys: the newest entry that lists each (witness.c). */
int vls_witness_new(struct vls_witness **out, const valise_env *env, valise_error *err);
void vls_witness_free(struct vls_witness *witness);
int vls_witness_add(struct vls_witness *witness, uint32_t coll, valise_str key, int64_t seq,
                    valise_error *err);
/* No more are added. */
void vls_witness_seal(struct vls_witness *witness);
/* The newest seq that lists the key, 0: none; and remember that the key was seen. */
int64_t vls_witness_ask(struct vls_witness *witness, uint32_t coll, valise_str key);
/* Entries that list keys nobody asked for: the next one's seq, 0 at the end. Start with *at = 0. */
int64_t vls_witness_next_unseen(const struct vls_witness *witness, size_t *at);

#endif
