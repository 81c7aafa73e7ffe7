/* valise/progress.h -- how long work says how far it is, and how it is stopped.
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
    uint64_t total;     /* 0: not known */
    int64_t elapsed_ns; /* since the stage began */
} valise_progress_state;

/* Called at most about ten times a second, and once at the end of each stage. It has one thing to
 * say, and so no err: 0 goes on; anything else cancels, and the operation fails with
 * VALISE_E_CANCELLED and leaves everything consistent. */
typedef int valise_progress_fn(void *arg, const valise_progress_state *state);

typedef struct valise_progress {
    valise_progress_fn *fn; /* may be NULL */
    void *arg;
} valise_progress;

VALISE_END

#endif
