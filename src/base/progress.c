/* progress.c -- when to look at the clock and when to call. */
#include "base/progress.h"

/* A look should come about this often: often enough for ten calls a second, rarely enough that
 * reading the clock costs nothing. */
#define LOOK_EVERY_NS (VLS_PROGRESS_EVERY_NS / 20)

void vls_progress_init(vls_progress *progress, const valise_env *env,
                       const valise_progress *callback)
{
    *progress = (vls_progress){.env = env};
    if (callback)
        progress->callback = *callback;
}

void vls_progress_begin(vls_progress *progress, const char *stage, const char *unit, uint64_t total)
{
    progress->state = (valise_progress_state){.stage = stage, .unit = unit, .total = total};
    progress->stride = 1;
    progress->left = progress->callback.fn ? 1 : UINT32_MAX;
    if (progress->callback.fn) {
        progress->began_ns = progress->env->ticks_ns(progress->env->self);
        progress->called_ns = progress->looked_ns = progress->began_ns;
    }
}

static int fail_cancelled(const vls_progress *progress, valise_error *err)
{
    const valise_progress_state *s = &progress->state;

    if (s->total > 0)
        return vls_fail(err, VALISE_E_CANCELLED, "%s was cancelled after %ju of %ju %s", s->stage,
                        (uintmax_t)s->done, (uintmax_t)s->total, s->unit);
    return vls_fail(err, VALISE_E_CANCELLED, "%s was cancelled after %ju %s", s->stage,
                    (uintmax_t)s->done, s->unit);
}

static int call(vls_progress *progress, int64_t ticks_ns, valise_error *err)
{
    valise_progress_state *s = &progress->state;

    progress->called_ns = ticks_ns;
    s->elapsed_ns = ticks_ns - progress->began_ns;
    if (s->total > 0 && s->total < s->done)
        s->total = s->done;
    if (progress->callback.fn(progress->callback.arg, s) == 0)
        return 0;
    progress->cancelled = true;
    progress->left = 0; /* every step ends in a look from now on */
    return fail_cancelled(progress, err);
}

int vls_progress_look(vls_progress *progress, valise_error *err)
{
    int64_t ticks_ns;

    assert(progress->state.stage);
    if (!progress->callback.fn) {
        progress->left = UINT32_MAX;
        return 0;
    }
    if (progress->cancelled)
        return fail_cancelled(progress, err);

    /* Look half as often while looks come too soon; at the first slow step, at every step. */
    ticks_ns = progress->env->ticks_ns(progress->env->self);
    if (ticks_ns - progress->looked_ns < LOOK_EVERY_NS)
        progress->stride = VLS_MIN(progress->stride * 2, VLS_PROGRESS_MAX_STRIDE);
    else
        progress->stride = 1;
    progress->looked_ns = ticks_ns;
    progress->left = progress->stride;
    if (ticks_ns - progress->called_ns < VLS_PROGRESS_EVERY_NS)
        return 0;
    return call(progress, ticks_ns, err);
}

int vls_progress_end(vls_progress *progress, valise_error *err)
{
    if (!progress->callback.fn)
        return 0;
    if (progress->cancelled)
        return fail_cancelled(progress, err);
    return call(progress, progress->env->ticks_ns(progress->env->self), err);
}
