/* merkle.h -- sets of pairs (key, value), both hashes, with a root that names what is in them.
 *
 * A Merkle radix map. A set is pages; a page belongs to a prefix of keys, in steps of four bits:
 *
 *     up to 16 pairs   leaf    all pairs whose key begins with the prefix, by key
 *     more             inner   for each of the 16 next steps: how many pairs, and their page's hash
 *
 *              [ inner 40 ]                    ""
 *             /     |      \
 *        [leaf 9] [leaf 14] [inner 17]         "0"  "3"  "f"
 *                            /      \
 *                        [leaf 3] [leaf 14]    "f2" "f8"
 *
 * The shape depends on what is in the set and on nothing else: not on the order in which it came,
 * nor on what was there before. So equal sets have equal roots. The root is the hash of the page of
 * the empty prefix; an empty set has no page, and the root that an empty leaf has.
 *
 *     page    leaf     u8 0 | u8 count | count times: key (32), value (32)
 *             inner    u8 1 | u16 which of the 16 | for each: varint count, hash (32)
 *     hash    tagged hash "valise.merkle.1" (page)
 *     proof   the pages on the way to a key, each as a string, the root's first; none: empty set
 *
 * Numbers are big endian (base/bytes.h). A page has one encoding, so that its bytes can be hashed
 * as they are. docs/formats.md, "Merkle maps", has test vectors.
 *
 * Threads: immutable tables; what takes a view is single as it is; the rest are pure functions. */
#ifndef VLS_MERKLE_H
#define VLS_MERKLE_H

#include <valise/sys/view.h>

#include "base/buf.h"
#include "base/hash.h"

#define VLS_MERKLE_FANOUT 16u
#define VLS_MERKLE_DEPTH 64u /* steps of a key */
#define VLS_MERKLE_PROOF_MAX ((size_t)64 * 1024)

typedef struct vls_merkle_row {
    valise_uuid set;
    valise_str prefix; /* a byte per step, 0 to 15 */
    valise_str page;
} vls_merkle_row;

extern const valise_coll vls_merkles;

/* ---- reading ---- */

/* How many pairs, and the root. count may be NULL. */
int vls_merkle_root(valise_id *root, int64_t *count, valise_view *view, const valise_uuid *set,
                    valise_error *err);

/* The root of the empty set. */
void vls_merkle_empty(valise_id *root);

/* 1 and the value, or 0. */
int vls_merkle_get(valise_id *value, valise_view *view, const valise_uuid *set,
                   const valise_id *key, valise_error *err);

typedef int vls_merkle_fn(void *arg, const valise_id *key, const valise_id *value,
                          valise_error *err);

/* All pairs, in the order of their keys. Non-zero from fn ends it, and is returned. */
int vls_merkle_walk(valise_view *view, const valise_uuid *set, vls_merkle_fn *fn, void *arg,
                    valise_error *err);

/* ---- changing (commands) ---- */

/* 1; 0: it had this value already, and nothing is written. */
int vls_merkle_put(valise_view *view, const valise_uuid *set, const valise_id *key,
                   const valise_id *value, valise_error *err);

/* 1; 0: there was none. */
int vls_merkle_delete(valise_view *view, const valise_uuid *set, const valise_id *key,
                      valise_error *err);

/* All pages of a set that nobody needs any more, and that this command has not changed. */
int vls_merkle_drop(valise_view *view, const valise_uuid *set, valise_error *err);

/* ---- proofs ---- */

/* Append a proof of what the set has under the key, or that it has nothing. */
int vls_merkle_prove(vls_buf *out, valise_view *view, const valise_uuid *set, const valise_id *key,
                     valise_error *err);

/* What a proof says about the key in the set with this root: 1 and the value, or 0: it is not in
 * it. Needs no store. VALISE_E_CORRUPT for anything that is no such proof. */
int vls_merkle_verify(valise_id *value, const valise_id *root, const valise_id *key,
                      valise_str proof, valise_error *err);

#endif
