/* merkle_page.h -- one page of a Merkle map (merkle.h): bytes to struct and back.
 *
 * Threads: pure functions. */
#ifndef VLS_MERKLE_PAGE_H
#define VLS_MERKLE_PAGE_H

#include "context/merkle.h"

typedef struct vls_merkle_pair {
    valise_id key, value;
} vls_merkle_pair;

typedef struct vls_merkle_child {
    int64_t count; /* 0: there is none */
    valise_id hash;
} vls_merkle_child;

/* Either a leaf (pairs) or not (children). A leaf has room for one pair more than it may have. */
typedef struct vls_merkle_page {
    bool inner;
    unsigned count; /* leaf: of its pairs */
    union {
        vls_merkle_pair pairs[VLS_MERKLE_FANOUT + 1];
        vls_merkle_child children[VLS_MERKLE_FANOUT];
    };
} vls_merkle_page;

/* The most bytes of a page: a leaf that is full. */
#define VLS_MERKLE_PAGE_MAX (2u + VLS_MERKLE_FANOUT * 64u)

/* Step number `depth` of a key: its next four bits, the higher ones of a byte first. */
static inline unsigned vls_merkle_step(const valise_id *key, size_t depth)
{
    unsigned byte = key->bytes[depth / 2];

    return depth % 2 == 0 ? byte >> 4 : byte & 15u;
}

/* Read a page of this depth. VALISE_E_CORRUPT for all that vls_merkle_page_write never makes: pairs
 * that are not in order, an inner page that could be a leaf, bytes behind it. prefix: what its keys
 * begin with, depth steps of this key. */
int vls_merkle_page_read(vls_merkle_page *out, valise_str bytes, const valise_id *prefix,
                         size_t depth, valise_error *err);

/* Append its bytes; the buffer remembers a failure. */
void vls_merkle_page_write(vls_buf *out, const vls_merkle_page *page);

void vls_merkle_page_hash(valise_id *out, valise_str bytes);

/* Pairs in it and under it. */
int64_t vls_merkle_page_total(const vls_merkle_page *page);

/* Where the key is among the pairs of a leaf, or where it would be inserted; *found says which. */
unsigned vls_merkle_page_find(bool *found, const vls_merkle_page *page, const valise_id *key);

#endif
