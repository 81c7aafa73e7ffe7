/* stat_cache_impl.h -- shared by the files of the stat cache. */
#ifndef VLS_TREE_STAT_CACHE_IMPL_H
#define VLS_TREE_STAT_CACHE_IMPL_H

#include "tree/stat_cache.h"

/* "\xa5" and "1state1", the little end first: the last byte is the version of all this. */
#define VLS_CACHE_MAGIC UINT64_C(0x31657461747331a5)
#define VLS_CACHE_HEAD_SKIP 16 /* magic and checksum */

/* Of a record, and of a header: of all behind its checksum. */
uint64_t vls_cache_sum(const void *part, size_t size);
uint64_t vls_cache_sum_head(const vls_cache_header *head);

/* What a header says of where things are, and its checksum. */
void vls_cache_fill_head(vls_cache_header *head, uint64_t size, uint64_t start);

#endif
