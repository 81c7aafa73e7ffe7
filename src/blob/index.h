/* index.h -- the memory index of blobs and who holds them. [W16]
 *
 * Threads: immutable tables. */
#ifndef VLS_BLOB_INDEX_H
#define VLS_BLOB_INDEX_H

#include <valise/sys/extension.h>

extern const valise_indexer *const vls_blob_indexers[]; /* NULL-ended */

#endif
