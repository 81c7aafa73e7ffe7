/* internal.h -- what the harness's own files know of each other. Tests do not include it. */
#ifndef TEST_INTERNAL_H
#define TEST_INTERNAL_H

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include "harness/counting_env.h"
#include "harness/test.h"

/* Exit code of a child process in which a check failed. */
#define TEST_EXIT_FAILED 97

/* ---- verdict.c: the running test ---- */

typedef struct test_now_state {
    jmp_buf out; /* where a verdict goes on, on the runner's thread */
    pid_t pid;
    pthread_t runner;
    pthread_mutex_t lock; /* of state and message */
    enum { TEST_RUNNING, TEST_FAILED, TEST_SKIPPED } state;
    char message[4096];
    char context[512];
    counting_env env;
    char lost[600];                /* the verdict if the test ends the program */
    volatile sig_atomic_t running; /* whether `lost` is still to be feared */
    bool only_leaks;               /* of all failures so far */
} test_now_state;

extern test_now_state test_now;
extern const char *test_program; /* argv[0], for "repeat with" */

void test_verdict_init(void);
void test_report(const char *format, ...) VALISE_PRINTF(1, 2);
void test_report_remark(const char *text);

/* What the harness itself needs to go on: fails the test, but is no check of it. */
#define NEED(ok, ...)                                                                              \
    do {                                                                                           \
        if (!(ok))                                                                                 \
            test_fail(__FILE__, __LINE__, __VA_ARGS__);                                            \
    } while (0)

/* Fail the test for a leak: the report may then end with the leak checker's stacks. */
void test_fail_leak(const char *file, int line, const char *what) __attribute__((noreturn));

/* True in a process that the running test forked. */
bool test_in_child(void);

/* End a process: no exit handlers, no leak check, but coverage data is written. */
void test_child_exit(int code) __attribute__((noreturn));

/* End the test if a check failed on another thread. */
void test_rethrow(void);

/* ---- support.c ---- */

/* When a test ends: run what was deferred, free what was handed out. */
void test_support_end(void);
void test_support_seed(uint64_t value);

/* The descriptors this process has open, and one that was not in an earlier list (or NULL). */
typedef struct test_files {
    size_t count;
    char names[8192]; /* "3 -> /path", one per line */
} test_files;

void test_list_files(test_files *out);
const char *test_left_open(const test_files *before);

#endif
