/* process.h -- programs and child processes of a test.
 *
 *     process_result r;
 *     process_run(&r, (const char *[]){"./valise", "status", NULL}, NULL);
 *     CHECK_INT(0, r.exit_code);
 *     CHECK_TEXT("", r.err.ptr);
 *
 *     process_all(NULL, 8, write_500_commands, store);     8 processes at once, all must exit 0
 *
 * Children never outlive the test: those still running when it ends, however it ends, are
 * killed and waited for. One that runs longer than its timeout is killed too, and what it was
 * doing is reported. What children print is captured; a check that fails in one prints its
 * message and ends the child with exit code 97. */
#ifndef PROCESS_H
#define PROCESS_H

#include <sys/types.h>

#include "harness/test.h"

typedef struct process_result {
    int exit_code;       /* -1 when a signal ended it */
    int signal;          /* 0 when it exited */
    bool timed_out;      /* killed for running too long */
    const char *stuck;   /* what it was doing then, else "" */
    valise_str out, err; /* NUL-ended; freed when the test ends */
} process_result;

typedef struct process_options {
    valise_str input;       /* its standard input */
    const char *dir;        /* where it runs; NULL: here */
    const char *const *env; /* "NAME=value" to set besides the test's own, ends in NULL; or NULL */
    int timeout_ms;         /* 0: process_timeout_ms() */
} process_options;

/* Run a program with these arguments (argv[0] is looked for in PATH; argv ends in NULL) and
 * wait for it. A program that cannot be started exits with 127. options may be NULL. */
void process_run(process_result *out, const char *const *argv, const process_options *options);

/* Run fn(0, arg) .. fn(count-1, arg) in a child process each, all let go at once, and wait for
 * all; what fn returns is the exit code. results may be NULL: then each must exit with 0. */
typedef int process_fn(size_t index, void *arg);
void process_all(process_result *results, size_t count, process_fn *fn, void *arg);

/* "exit code 1", "signal 9 (Killed)", "timed out while ..." and what it printed to stderr. */
const char *process_describe(const process_result *r);

/* ---- for drivers such as kill.c and model.c ---- */

/* A child that runs fn in this process's image. */
typedef struct process {
    pid_t pid;
    int out, err; /* memory files that it prints to */
} process;

void process_start(process *p, process_fn *fn, size_t index, void *arg);
bool process_ended(const process *p);               /* ... and waits to be asked how */
bool process_poll(process_result *out, process *p); /* true when it has ended; then p is gone */
void process_kill(process *p);                      /* SIGKILL; poll or wait afterwards */
void process_wait(process_result *out, process *p, int timeout_ms);

/* Zeroed memory that children started later share with the test. */
void *process_share(size_t size);

/* 20 s, or VALISE_TEST_TIMEOUT_MS: under a slow tool, more. */
int process_timeout_ms(void);
int64_t process_now_ms(void);
void process_sleep_us(int64_t us);

#endif
