/* fault.h -- every allocation and every file call fails in turn.
 *
 *     static int save_once(fault *f, void *arg)
 *     {
 *         fault_off(f);
 *         test_write_file(path(f->dir), VLS_STR("old"));         preparations never fail
 *         fault_on(f);
 *         int rc = save(f->env, f->dir, VLS_STR("new"), &f->err);
 *         fault_off(f);
 *         fault_check_state(f, rc, VLS_STR("old"), VLS_STR("new"), test_read_file(path(f->dir)));
 *         return rc;
 *     }
 *     TEST(save, memory) { fault_each_alloc(t, 0, save_once, NULL); }
 *     TEST(save, disk) { fault_each_io(t, FAULT_ALL, EIO, save_once, NULL); }
 *
 * The body runs first without a fault, then once for each allocation (file call) it makes, which
 * fails; behind the first twenty some are drawn, unless the run is long (VALISE_TEST_LONG=1). After
 * each run: the code is VALISE_E_NO_MEMORY (for files: any error) or the body said
 * f->recovered; f->err agrees; all memory of f->env is freed and all files are closed. The loops
 * return how many faults there were, and fail when there were none or more than 20,000 (or
 * VALISE_FAULT_MAX). */
#ifndef FAULT_H
#define FAULT_H

#include "harness/fault_io.h"
#include "harness/test.h"

typedef struct fault {
    test *t;
    const valise_env *env; /* to allocate from */
    const char *dir;       /* new and empty in each run; file faults strike in here only */
    valise_error err;
    long long nth;  /* which one fails in this run, from 1; 0: none does */
    bool recovered; /* set by the body: it succeeded in spite of the fault, and may */
    bool may_fail;  /* set by the body: after EINTR or a short transfer, which code should */
                    /* simply repeat, an error is fine too */
} fault;

/* Do the whole thing once and return its code: 0 or VALISE_E_... */
typedef int fault_body(fault *f, void *arg);

/* Faults strike only while they are on; at the beginning of the body they are. */
void fault_off(fault *f);
void fault_on(fault *f);

/* Whether the fault of this run has struck. */
bool fault_has_hit(const fault *f);

/* State as before or as after: `now` must equal `after` when rc is 0, else one of the two. */
void fault_check_state(const fault *f, int rc, valise_str before, valise_str after, valise_str now);

enum {
    FAULT_ONWARD = 1,    /* from the nth on all fail, not only that one */
    FAULT_LIBRARIES = 2, /* allocations of libraries that ask fault_alloc_fails() count and fail */
                         /* too. Libraries do without some of them: set f->recovered when the */
                         /* answer is right */
    FAULT_OR_NONE = 4,   /* a body that takes no memory is fine: look at the sum yourself */
};

long long fault_each_alloc(test *t, unsigned flags, fault_body *body, void *arg);

/* File calls of these kinds fail with this errno. Where the right answer is to repeat the call
 * (EINTR, FAULT_SHORT), the body must succeed. */
long long fault_each_io(test *t, unsigned kinds, int error, fault_body *body, void *arg);

/* The same by a plan, of which dir and nth are filled in: short or torn writes, onward, a full
 * disk (with .limited the room grows from 0 bytes until the body succeeds, in at most 64 steps). */
long long fault_each_plan(test *t, const fault_io_plan *plan, fault_body *body, void *arg);

/* For other libraries with an allocator that can be replaced: call this in their malloc and
 * realloc, and return NULL when it is true. While no fault loop runs, it never is. SQLite:
 *
 *     static void *faulty_malloc(int n) { return fault_alloc_fails() ? NULL : plain.xMalloc(n); }
 *     sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain);   before sqlite3_initialize()
 *     sqlite3_config(SQLITE_CONFIG_MALLOC, &faulty);
 *
 * tests/unit/harness/sqlite.c does it. */
bool fault_alloc_fails(void);

#endif
