/* load.h -- what a workspace is made to do for hours: some of everything, at random.
 *
 * Threads: single; each worker has names of its own, so that workers meet in the store and not in
 * each other's things. */
#ifndef SOAK_LOAD_H
#define SOAK_LOAD_H

#include <valise.h>

#include "harness/test.h"

#define LOAD_BLOBS 32

typedef struct worker {
    valise *v;
    const char *folder; /* of the workspace: where the files are that are scanned */
    unsigned number;
    test_rng rng;
    uint64_t done, refused; /* operations; of these such that something was not there, and so on */
    valise_id blobs[LOAD_BLOBS]; /* those that it holds, the oldest of them at kept % LOAD_BLOBS */
    size_t kept;
    char payload[128 << 10];
} worker;

/* What a workspace needs before the workers begin: backpacks, limits for what is kept. */
void load_begin(valise *v);

/* One operation. Fails the test when it fails in a way that it may not. */
void load_step(worker *w);

/* Let go of what nothing needs. */
void load_tidy(worker *w);

/* Of one and the same size each, on a backpack named so. */
void load_pack(worker *w, const char *backpack);

#endif
