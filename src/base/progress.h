/* progress.h -- how long-running work reports its progress, and learns that it is to stop.
 *
 *     vls_progress p;
 *     vls_progress_init(&p, env, callback);
 *     vls_progress_begin(&p, "scan", "files", 0);
 *     for (...) {
 *         ...
 *         rc = vls_progress_step(&p, 1, err);
 *         if (rc < 0)
 *             return rc;   (consistent: the step that was counted is complete)
 *     }
 *     return vls_progress_end(&p, err);
 *
 * A step is cheap enough for an inner loop: it counts, and only now and then looks at the clock.
 * Once the callback has asked to stop, every step and end fails, in later stages too, and the
 * callback is no longer called.
 *
 * Threads: single. Threads that work for an operation count for themselves; the one that called
 * the operation reports. */
#ifndef VLS_PROGRESS_H
#define VLS_PROGRESS_H

#include <valise/progress.h>

#include "base/base.h"

#define VLS_PROGRESS_EVERY_NS INT64_C(100000000) /* between two calls of the callback */

/* Steps between two looks at the clock, at most: also the number of steps that a stop may come
 * too late when they suddenly become slow. */
#define VLS_PROGRESS_MAX_STRIDE 64u

typedef struct vls_progress {
    const valise_env *env;
    valise_progress callback;
    valise_progress_state state;
    int64_t began_ns, called_ns, looked_ns; /* ticks: the stage, the last call, the last look */
    uint32_t stride, left;                  /* steps from look to look, and until the next */
    bool cancelled;
} vls_progress;

/* The callback is copied; NULL, or one without a function, means that nobody listens. */
void vls_progress_init(vls_progress *progress, const valise_env *env,
                       const valise_progress *callback);

/* A stage begins; one that was not ended is forgotten. Both texts must outlive the stage. A
 * total of 0 is not known; one that is overtaken is reported as what was done. */
void vls_progress_begin(vls_progress *progress, const char *stage, const char *unit,
                        uint64_t total);

/* The last call of a stage, so that its end is always seen. VALISE_E_CANCELLED. */
int vls_progress_end(vls_progress *progress, valise_error *err) VLS_NODISCARD;

int vls_progress_look(vls_progress *progress, valise_error *err) VLS_NODISCARD;

/* n more units are done. VALISE_E_CANCELLED with a message when the callback asked to stop. */
VLS_NODISCARD static inline int vls_progress_step(vls_progress *progress, uint64_t n,
                                                  valise_error *err)
{
    progress->state.done += n;
    if (VLS_LIKELY(progress->left > 1)) {
        progress->left--;
        return 0;
    }
    return vls_progress_look(progress, err);
}

#endif
