/* hashers.c -- lending hashers. */
#include "base/hashers.h"

#include "base/mem.h"

/* The hasher comes first, so that its address leads back here. */
typedef struct vls_lent_hasher {
    vls_hasher hasher;
    vls_hashers *home;
    struct vls_lent_hasher *next; /* of those that wait */
} lent;

void vls_hashers_init(vls_hashers *hashers, const valise_env *env)
{
    *hashers = (vls_hashers){.env = env};
    (void)pthread_mutex_init(&hashers->lock, NULL); /* without attributes it cannot fail */
}

void vls_hashers_release(vls_hashers *hashers)
{
    if (!hashers->env)
        return;
    assert(hashers->lent_count == 0);
    while (hashers->idle) {
        lent *one = hashers->idle;
        hashers->idle = one->next;
        vls_mem_free(hashers->env, one, sizeof(*one));
    }
    (void)pthread_mutex_destroy(&hashers->lock);
    *hashers = (vls_hashers){0};
}

static int new_lent(lent **out, vls_hashers *hashers, valise_error *err)
{
    lent *one = vls_mem_zalloc(hashers->env, sizeof(*one));

    if (!one)
        return vls_fail_memory(err);
    one->home = hashers;
    *out = one;
    return 0;
}

int vls_hashers_borrow(vls_hasher **out, vls_hashers *hashers, valise_error *err)
{
    lent *one;
    int rc = 0;

    (void)pthread_mutex_lock(&hashers->lock);
    one = hashers->idle;
    hashers->lent_count++;
    if (one) {
        hashers->idle = one->next;
        hashers->idle_count--;
    }
    (void)pthread_mutex_unlock(&hashers->lock);

    if (!one)
        rc = new_lent(&one, hashers, err);
    if (rc < 0) {
        (void)pthread_mutex_lock(&hashers->lock);
        hashers->lent_count--;
        (void)pthread_mutex_unlock(&hashers->lock);
        return rc;
    }
    *out = &one->hasher;
    return 0;
}

vls_hasher *vls_hashers_return(vls_hasher *hasher)
{
    lent *one = (lent *)hasher;
    bool kept;

    if (!one)
        return NULL;
    vls_hashers *hashers = one->home;
    (void)pthread_mutex_lock(&hashers->lock);
    hashers->lent_count--;
    kept = hashers->idle_count < VLS_HASHERS_KEPT;
    if (kept) {
        one->next = hashers->idle;
        hashers->idle = one;
        hashers->idle_count++;
    }
    (void)pthread_mutex_unlock(&hashers->lock);
    if (!kept)
        vls_mem_free(hashers->env, one, sizeof(*one));
    return NULL;
}
