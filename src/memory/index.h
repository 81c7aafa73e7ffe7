/* index.h -- memory indexes of roles, preferences and entries.
 *
 * Threads: immutable tables. */
#ifndef VLS_MEMORY_INDEX_H
#define VLS_MEMORY_INDEX_H

#include <valise/sys/extension.h>

extern const valise_indexer *const vls_memory_indexers[]; /* NULL-ended */

#endif
