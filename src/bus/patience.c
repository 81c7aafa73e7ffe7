/* patience.c -- see patience.h. */
#include "bus/patience.h"

#include <time.h>

#define NS_PER_MS INT64_C(1000000)
#define PAUSE_LEAST_NS NS_PER_MS
#define PAUSE_MORE_NS (8 * NS_PER_MS)
#define ALONE_MOST 3u

static int64_t ticks(const valise *v)
{
    return v->env->ticks_ns(v->env->self);
}

void vls_patience_init(vls_patience *patience, const valise *v)
{
    int64_t timeout_ns = vls_store_timeout_ns(v->store);

    *patience = (vls_patience){.v = v, .left_ns = timeout_ns};
    if (__builtin_add_overflow(ticks(v), timeout_ns, &patience->end_ticks))
        patience->end_ticks = INT64_MAX;
}

/* At first there is nothing to wait for: who was faster is done. After that everybody waits for
 * another while, so that the same ones do not meet again; and not the longer the longer it takes,
 * since then those who came last would always be first. */
bool vls_patience_again(vls_patience *patience, int64_t state)
{
    bool first = patience->tries++ == 0;
    int64_t now = ticks(patience->v), pause_ns;

    patience->alone = first || state != patience->state ? 1 : patience->alone + 1;
    patience->state = state;
    if (patience->alone >= ALONE_MOST)
        return false;
    if (first)
        return true;
    if (now >= patience->end_ticks || patience->left_ns <= 0)
        return false;
    pause_ns = PAUSE_LEAST_NS + now % PAUSE_MORE_NS;
    patience->left_ns -= pause_ns;
    (void)nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
    return true;
}

int vls_patience_fail(const vls_patience *patience, int rc, const char *what, valise_error *err)
{
    if (patience->alone >= ALONE_MOST)
        return rc;
    if (err)
        *err = (valise_error)VALISE_ERROR_INIT;
    (void)vls_fail(err, VALISE_E_BUSY, "others kept changing %s: %u tries in %lld ms were too late",
                   what, patience->tries,
                   (long long)(vls_store_timeout_ns(patience->v->store) / NS_PER_MS));
    vls_hint(err, "try again, or wait longer (core.timeout)");
    return VALISE_E_BUSY;
}
