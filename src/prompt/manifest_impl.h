/* manifest_impl.h -- what writer and reader of manifests share.
 *
 * Threads: pure functions. */
#ifndef VLS_MANIFEST_IMPL_H
#define VLS_MANIFEST_IMPL_H

#include "base/hash.h"

enum { VLS_HOW_STREAM = 1, VLS_HOW_NO_CACHE = 2 }; /* bits of `how` */

#endif
