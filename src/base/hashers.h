/* hashers.h -- hashers that the threads of one handle share.
 *
 * Whoever needs a hasher and has no place for one borrows it:
 *
 *     VLS_AUTO(borrowed_hasher) vls_hasher *hasher = NULL;
 *
 *     rc = vls_hashers_borrow(&hasher, hashers, err);
 *     if (rc == 0)
 *         rc = vls_hash_bytes(&id, hasher, bytes, err);
 *
 * There are as many as were ever borrowed at once; a few of them are kept when they come back.
 *
 * Threads: vls_hashers is shared; a borrowed hasher is single. */
#ifndef VLS_HASHERS_H
#define VLS_HASHERS_H

#include <pthread.h>

#include "base/hash.h"

#define VLS_HASHERS_KEPT 16u /* that wait to be borrowed, at most */

typedef struct vls_hashers {
    const valise_env *env;
    pthread_mutex_t lock;         /* over what follows */
    struct vls_lent_hasher *idle; /* those that wait */
    unsigned idle_count, lent_count;
} vls_hashers;

/* The struct must stay where it is until it is released. */
void vls_hashers_init(vls_hashers *hashers, const valise_env *env);
void vls_hashers_release(vls_hashers *hashers); /* all are back; a zeroed one is fine */

/* A hasher for the caller alone, to be given back with vls_hashers_return. VALISE_E_NO_MEMORY. */
int vls_hashers_borrow(vls_hasher **out, vls_hashers *hashers, valise_error *err);

/* Give one back, in whatever state. NULL is fine. Returns NULL. */
vls_hasher *vls_hashers_return(vls_hasher *hasher);

static inline void vls_auto_hashers(vls_hashers *hashers)
{
    vls_hashers_release(hashers);
}

static inline void vls_auto_borrowed_hasher(vls_hasher **hasher)
{
    *hasher = vls_hashers_return(*hasher);
}

#endif
