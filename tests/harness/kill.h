/* kill.h -- kill -9 and power cuts, in the middle of work.
 *
 *     static void child(kill_run *run, void *arg)       runs in a child process until it is killed
 *     {
 *         for (int i = 0; i < 100; i++) {
 *             append(run->dir, i);                       durable when it returns ...
 *             kill_ack(run, "%d", i);                    ... so it may be acknowledged
 *         }
 *     }
 *     static void verify(test *t, const kill_run *run, void *arg)
 *     {
 *         for (size_t i = 0; i < run->acked; i++)        what was acknowledged is there,
 *             CHECK(contains(run->dir, run->acks[i]));   nothing half is
 *     }
 *     TEST(log, survives_kill) { kill_loop(t, 50, child, verify, NULL); }
 *
 * Each round has a new empty directory, the same for child and verify. The child may run threads
 * and acknowledge from all of them. A child that fails a check, crashes or hangs fails the test. */
#ifndef KILL_H
#define KILL_H

#include "harness/fault_io.h"
#include "harness/test.h"

typedef struct kill_run {
    const char *dir;
    int round;               /* from 0 */
    bool finished;           /* for verify: the child came to its end before it was killed */
    size_t acked;            /* for verify: how many records were acknowledged, ... */
    const char *const *acks; /* ... and which, in that order */
    struct kill_shared *shared;
} kill_run;

typedef void kill_child(kill_run *run, void *arg);
typedef void kill_verify(test *t, const kill_run *run, void *arg);

/* In the child: this much is done, and will be found again. */
void kill_ack(kill_run *run, const char *format, ...) VALISE_PRINTF(2, 3);

/* Kill at random moments: after a random number of acknowledgements and a random part of the
 * time between two. Round 0 is not killed; it measures both. With VALISE_TEST_LONG=1 there are
 * 20 times as many rounds; VALISE_KILL_ROUNDS says another number. */
void kill_loop(test *t, int rounds, kill_child *child, kill_verify *verify, void *arg);

/* Kill at every file call of these kinds (FAULT_CHANGES: all that matter), one round each:
 * before it, after it and, of writes, when half is written. Enumerates every point where a
 * crash can be seen. fault_io_pause/resume in the child leave its preparations out. Returns how
 * many points there were. */
long long kill_each_io(test *t, unsigned kinds, kill_child *child, kill_verify *verify, void *arg);

/* The same with power cuts (power.h): at every such call, and at the end, once for each kind of
 * loss. Acknowledged must now mean synced. */
long long kill_each_power_cut(test *t, unsigned kinds, kill_child *child, kill_verify *verify,
                              void *arg);

#endif
