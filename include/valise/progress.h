/* valise/progress.h -- how long-running work reports its progress, and how to stop it.
 *
 * Threads: single. The callback runs on the thread that called the operation. */
#ifndef VALISE_PROGRESS_H
#define VALISE_PROGRESS_H

#include <stdint.h>

#include <valise/api.h>

VALISE_BEGIN

typedef struct valise_progress_state {
    const char *stage;  /* what is being done: "scan", "verify objects" */
    const char *unit;   /* what is counted: "files", "bytes" */
    uint64_t done;      /* never decreases within a stage */
    uint64_t total;     /* 0: unknown */
    int64_t elapsed_ns; /* since the stage began */
} valise_progress_state;

/* Called about ten times a second at most, and once at the end of each stage. Return 0 to continue.
 * Any other value cancels: the operation fails with VALISE_E_CANCELLED and leaves everything
 * consistent. There is no err, since a callback can say nothing else. */
typedef int valise_progress_fn(void *arg, const valise_progress_state *state);

typedef struct valise_progress {
    valise_progress_fn *fn; /* may be NULL */
    void *arg;
} valise_progress;

VALISE_END

#endif
