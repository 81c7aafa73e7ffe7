/* log.h -- the command log: entries in one order, each chained to the one before it.
 *
 *     commitment = tagged hash "valise.payload.1" (nonce, payload)
 *     hash       = tagged hash "valise.entry.1"   (previous hash or none, seq, id, time, actor,
 *                                                  cause or none, type, commitment)
 *
 * The chain covers who did what in which order, and the payload, through the commitment. When a
 * payload is erased, its nonce is erased too, and the chain still verifies. Outside the chain,
 * protected by the sum of the row, are the answer (for a retry) and the changes of the entry, with
 * the rows as they were before: the past is read from there (past.h).
 *
 *     changes    change*
 *     change     varint(collection) varint(key length) key image
 *     image      varint(0) varint(seq of the deletion before, or 0)          there was no row
 *                varint(from_seq) varint(length) cells (field/row.h)         the row as it was
 *
 * Threads: work on a transaction, which is single. */
#ifndef VLS_LOG_H
#define VLS_LOG_H

#include "store/store.h"

#define VLS_NONCE_SIZE 16u
#define VLS_CHANGES_MAX ((size_t)16 << 20)

typedef struct vls_entry {
    int64_t seq;
    int64_t id8; /* the first 8 bytes of id, for the index */
    valise_uuid id;
    int64_t time; /* never less than that of the entry before */
    valise_str actor;
    valise_uuid cause; /* zero: none */
    valise_str type;
    valise_id commitment;
    valise_id hash;
    valise_str nonce;   /* ptr NULL after an erasure, as the next */
    valise_str payload; /* canonical JSON in LOGGED form, as executed */
    valise_id sent;     /* H(nonce, payload as sent) where a middleware changed it; else zero */
    valise_str result;  /* canonical JSON */
    valise_str changes;
} vls_entry;

/* Fill in commitment and hash from the other members and the hash before it, and append. The seq
 * must be the next one. Moves txn->tip. */
int vls_log_append(vls_txn *txn, vls_entry *entry, valise_error *err);

/* The commitment of a payload. */
void vls_log_commitment(valise_id *out, valise_str nonce, valise_str payload);

/* The entry; strings live in arena. 1, or 0 when there is none of that seq (or not any more). */
int vls_log_get(vls_entry *out, vls_txn *txn, int64_t seq, vls_arena *arena, valise_error *err);

/* The entry with that command id. */
int vls_log_find(vls_entry *out, vls_txn *txn, const valise_uuid *id, vls_arena *arena,
                 valise_error *err);

/* Entries from a seq on, in order or backwards. */
typedef struct vls_log_scan {
    vls_txn_scan scan;
} vls_log_scan;
int vls_log_scan_open(vls_log_scan *out, vls_txn *txn, int64_t from, bool reverse,
                      valise_error *err);
int vls_log_scan_next(vls_entry *out, vls_log_scan *scan, vls_arena *arena, valise_error *err);
void vls_log_scan_close(vls_log_scan *scan);

/* Replace an entry's columns beside the chain (erasure, expiry of images). */
int vls_log_rewrite(vls_txn *txn, const vls_entry *entry, valise_error *err);
int vls_log_delete(vls_txn *txn, int64_t seq, valise_error *err);

/* The seq of the last entry at or before a time, or of the last one at all; 0: none. Less than
 * base_seq: one that has expired. */
int vls_log_at_time(int64_t *seq, vls_txn *txn, int64_t time, valise_error *err);

/* Does the entry follow from the one before? VALISE_E_CORRUPT says what does not fit. previous is
 * NULL for the first entry ever. A missing payload is fine (*unverifiable). */
int vls_log_verify(bool *unverifiable, const vls_entry *entry, const valise_id *previous,
                   valise_error *err);

/* ---- changes of an entry ---- */

typedef struct vls_image {
    uint32_t coll;
    valise_str key;   /* ordered encoding */
    int64_t from_seq; /* 0: there was no row */
    int64_t gone_seq; /* from_seq 0: the entry that deleted it before, or 0 */
    valise_str cells; /* encoding of the fields; from_seq not 0 */
} vls_image;

void vls_changes_write(vls_buf *out, const vls_image *image);

/* The cells of an image of this collection: field_count of them, NULL for those that came later. */
int vls_image_cells(valise_cell *cells, const vls_coll *coll, const vls_image *image,
                    valise_error *err);

/* Start with *at = 0: 1 and the next image, 0 at the end, VALISE_E_CORRUPT. */
int vls_changes_next(vls_image *out, size_t *at, valise_str changes, valise_error *err);

static inline void vls_auto_log_scan(vls_log_scan *scan)
{
    vls_log_scan_close(scan);
}

#endif
