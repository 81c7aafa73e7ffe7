/* hashers.c -- lending hashers. */
#include "base/hashers.h"

#include "base/mem.h"

/* The hasher comes first, so that its address leads back here. */
typedef struct vls_lent_hasher {
    vls_hasher hasher;
    vls_hashers *home;
    struct vls_lent_hasher *next; /* of those that wait */
} lent;

int vls_hashers_init(vls_hashers *hashers, const valise_env *env, valise_error *err)
{
    vls_hasher first;
    int rc = vls_hasher_init(&first, err);

    if (rc < 0)
        return rc;
    *hashers = (vls_hashers){.env = env, .first = first};
    (void)pthread_mutex_init(&hashers->lock, NULL); /* without attributes it cannot fail */
    return 0;
}

static void free_lent(vls_hashers *hashers, lent *one)
{
    vls_hasher_release(&one->hasher);
    vls_mem_free(hashers->env, one, sizeof(*one));
}

void vls_hashers_release(vls_hashers *hashers)
{
    if (!hashers->env)
        return;
    assert(hashers->lent_count == 0);
    while (hashers->idle) {
        lent *one = hashers->idle;
        hashers->idle = one->next;
        free_lent(hashers, one);
    }
    vls_hasher_release(&hashers->first);
    (void)pthread_mutex_destroy(&hashers->lock);
    *hashers = (vls_hashers){0};
}

static lent *new_lent(vls_hashers *hashers, valise_error *err)
{
    lent *one = vls_mem_zalloc(hashers->env, sizeof(*one));

    if (!one) {
        (void)vls_fail_memory(err);
        return NULL;
    }
    if (vls_hasher_init_like(&one->hasher, &hashers->first, err) < 0) {
        vls_mem_free(hashers->env, one, sizeof(*one));
        return NULL;
    }
    one->home = hashers;
    return one;
}

int vls_hashers_borrow(vls_hasher **out, vls_hashers *hashers, valise_error *err)
{
    lent *one;

    (void)pthread_mutex_lock(&hashers->lock);
    one = hashers->idle;
    hashers->lent_count++;
    if (one) {
        hashers->idle = one->next;
        hashers->idle_count--;
    }
    (void)pthread_mutex_unlock(&hashers->lock);

    if (!one)
        one = new_lent(hashers, err);
    if (!one) {
        (void)pthread_mutex_lock(&hashers->lock);
        hashers->lent_count--;
        (void)pthread_mutex_unlock(&hashers->lock);
        return VALISE_E_NO_MEMORY;
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
        free_lent(hashers, one);
    return NULL;
}
