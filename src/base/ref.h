/* ref.h -- a reference count.
 *
 * It starts at 1, for the maker of the thing. A new reference is always taken from one that is
 * held, so the count never rises from 0. Whoever drops the last reference frees the thing:
 *
 *     if (vls_ref_put(&blob->refs))
 *         free_blob(blob);
 *
 * Whatever a holder did before its put happens before whatever the last holder does after its own
 * put, and before whatever a holder does after vls_ref_single told it that it is alone.
 *
 * Threads: shared. */
#ifndef VLS_REF_H
#define VLS_REF_H

#include <stdatomic.h>

#include "base/base.h"

typedef struct vls_ref {
    _Atomic uint32_t count;
} vls_ref;

static inline void vls_ref_init(vls_ref *ref)
{
    atomic_init(&ref->count, 1);
}

static inline void vls_ref_get(vls_ref *ref)
{
    uint32_t before = atomic_fetch_add_explicit(&ref->count, 1, memory_order_relaxed);

    assert(before > 0 && before < UINT32_MAX);
    (void)before;
}

/* Whether the caller holds the only reference. True stays true until the caller gives one
 * away; false may be out of date as soon as it is returned. */
static inline bool vls_ref_single(vls_ref *ref)
{
    return atomic_load_explicit(&ref->count, memory_order_acquire) == 1;
}

/* Drop a reference; true when it was the last and the thing is to be freed. */
VLS_NODISCARD static inline bool vls_ref_put(vls_ref *ref)
{
    /* The only holder needs no locked instruction: nobody can be counting at the same time. */
    if (vls_ref_single(ref))
        return true;
    uint32_t before = atomic_fetch_sub_explicit(&ref->count, 1, memory_order_acq_rel);
    assert(before > 0);
    return before == 1;
}

#endif
