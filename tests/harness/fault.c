/* fault.c -- the loops that let one thing after the other fail. */
#define VLS_ALLOW_MALLOC
#include "harness/fault.h"

#include <errno.h>
#include <sys/stat.h>

#include "harness/internal.h"

#define FULL_DISK_STEPS 64

typedef struct loop {
    fault f;
    counting_env env;
    fault_body *body;
    void *arg;
    bool io;            /* file calls fail, not allocations */
    unsigned flags;     /* of allocations */
    fault_io_plan plan; /* of file calls */
    size_t total_bytes; /* that the run without a fault wrote */
    test_rng rng;
} loop;

static _Atomic(loop *) current;

/* ---- other libraries' allocations ---- */

bool fault_alloc_fails(void)
{
    loop *l = atomic_load(&current);

    return l && (l->flags & FAULT_LIBRARIES) && counting_env_count(&l->env);
}

/* ---- one run ---- */

void fault_off(fault *f)
{
    loop *l = (loop *)f;

    atomic_store(&l->env.paused, true);
    fault_io_pause();
}

void fault_on(fault *f)
{
    loop *l = (loop *)f;

    atomic_store(&l->env.paused, false);
    fault_io_resume();
}

bool fault_has_hit(const fault *f)
{
    const loop *l = (const loop *)f;

    return l->io ? fault_io_hit() : atomic_load(&((loop *)(uintptr_t)l)->env.failed);
}

void fault_check_state(const fault *f, int rc, valise_str before, valise_str after, valise_str now)
{
    (void)f;
    test_count_check();
    if (vls_str_equal(now, after) || (rc < 0 && vls_str_equal(now, before)))
        return;
    test_fail(__FILE__, __LINE__,
              "after %s the state is neither as before nor as after:\n"
              "before: %.*s\nafter:  %.*s\nnow:    %.*s",
              valise_error_name(rc), VALISE_STR_ARG(vls_str_head(before, 600)),
              VALISE_STR_ARG(vls_str_head(after, 600)), VALISE_STR_ARG(vls_str_head(now, 600)));
}

static void arm(loop *l)
{
    long long n = l->f.nth;

    if (l->io) {
        l->plan.dir = l->f.dir;
        l->plan.nth = n;
        if (l->plan.limited) {
            /* The first run has all the room there is, the others 0, 1, 2 ... 64ths. */
            l->plan.nth = 0;
            l->plan.space_bytes =
                n == 0 ? SIZE_MAX
                       : l->total_bytes / FULL_DISK_STEPS * (size_t)(n - 1) +
                             l->total_bytes % FULL_DISK_STEPS * (size_t)(n - 1) / FULL_DISK_STEPS;
        }
        fault_io_begin(&l->plan);
    } else if (l->flags & FAULT_ONWARD) {
        counting_env_fail_from(&l->env, n - 1);
    } else {
        counting_env_fail_at(&l->env, n - 1);
    }
    atomic_store(&current, l);
}

static void disarm(void *arg)
{
    (void)arg;
    atomic_store(&current, NULL);
    fault_io_end();
}

/* Code that meets one of these repeats the call. */
static bool is_repeatable(const loop *l)
{
    return l->io && !l->plan.limited &&
           (l->plan.how == FAULT_SHORT || (l->plan.how == FAULT_ERROR && l->plan.error == EINTR));
}

static void check_code(const loop *l, int rc, bool hit)
{
    const fault *f = &l->f;
    const char *code = valise_error_name(rc);

    if (!hit && rc != 0)
        test_fail(__FILE__, __LINE__, "without any fault the body returned %s: %s", code,
                  f->err.message);
    if (rc < 0 && f->err.code != 0 && f->err.code != rc)
        test_fail(__FILE__, __LINE__, "the body returned %s, its error says %s: %s", code,
                  valise_error_name(f->err.code), f->err.message);
    if (!hit)
        return;
    if (is_repeatable(l) && rc != 0 && !f->may_fail)
        test_fail(__FILE__, __LINE__,
                  "the call should have been repeated, the body returned %s: %s", code,
                  f->err.message);
    if (!is_repeatable(l) && rc == 0 && !f->recovered)
        test_fail(__FILE__, __LINE__, "the fault was swallowed: the body returned OK");
    if (rc > 0 || strcmp(code, "UNKNOWN") == 0 || (!l->io && rc != 0 && rc != VALISE_E_NO_MEMORY))
        test_fail(__FILE__, __LINE__, "the body returned %s (%d): %s", code, rc, f->err.message);
}

/* True when the fault struck. */
static bool run_once(loop *l, long long nth)
{
    test_files files;

    l->f.nth = nth;
    l->f.err = (valise_error)VALISE_ERROR_INIT;
    l->f.recovered = l->f.may_fail = false;
    counting_env_init(&l->env);
    NEED(mkdir(l->f.dir, 0700) == 0, "mkdir %s: %s", l->f.dir, strerror(errno));
    test_list_files(&files);
    if (nth > 0)
        test_context("in run %lld of a fault loop", nth);

    arm(l);
    int rc = l->body(&l->f, l->arg);
    bool hit = fault_has_hit(&l->f);
    disarm(NULL);

    if (hit && l->io)
        test_context("while %s fails (run %lld)", fault_io_what(), nth);
    else if (hit)
        test_context("while allocation %lld fails", nth);
    test_count_check();
    check_code(l, rc, hit);
    size_t left = counting_env_in_use(&l->env);
    if (left > 0)
        test_fail_leak(__FILE__, __LINE__,
                       test_format("%zu bytes in %zu blocks were not freed after %s", left,
                                   counting_env_blocks(&l->env), valise_error_name(rc)));
    const char *open_file = test_left_open(&files);
    if (open_file)
        test_fail(__FILE__, __LINE__, "after %s a descriptor was not closed: %s",
                  valise_error_name(rc), open_file);
    test_remove(l->f.dir);
    test_context_end();
    return hit;
}

/* The first faults are all tried; behind them gaps are drawn that grow with the number, so that a
 * loop of thousands takes a hundred runs or so, other ones each time (the seed says which). Where
 * all fail from one on, neighbours end alike, and sanitizers take ten times as long: both draw
 * wider. When there is time none is left out. */
#define ALL_UP_TO 20

static long long step_after(loop *l, long long nth)
{
    long long narrow = test_is_watched() ? 6 : 25;

    if (nth < ALL_UP_TO || test_is_long())
        return 1;
    if (!l->io && (l->flags & FAULT_ONWARD))
        narrow /= 2;
    if (l->rng.state == 0)
        l->rng = test_rng_new(test_seed());
    return 1 + (long long)test_random_below(&l->rng, (uint64_t)(nth / narrow + 1));
}

static long long run_all(loop *l, test *t, fault_body *body, void *arg)
{
    long long nth, max = (long long)test_setting("VALISE_FAULT_MAX", 20000);

    l->f.t = t;
    l->f.env = &l->env.env;
    l->f.dir = test_format("%s/fault", test_tmpdir());
    l->body = body;
    l->arg = arg;
    test_defer(disarm, NULL);
    (void)run_once(l, 0);
    l->total_bytes = fault_io_bytes();
    for (nth = 1; nth <= max; nth += step_after(l, nth)) {
        if (l->plan.limited && nth > FULL_DISK_STEPS)
            break;
        if (!run_once(l, nth))
            break;
    }
    if (l->plan.limited)
        nth = VLS_MIN(nth, FULL_DISK_STEPS + 1);
    NEED(nth <= max, "still another fault after %lld: does the body ever end?", max);
    test_note("%lld faults", nth - 1);
    NEED(nth > 1 || (l->flags & FAULT_OR_NONE), "the body met no fault: nothing was tested");
    return nth - 1;
}

/* ---- the loops ---- */

long long fault_each_alloc(test *t, unsigned flags, fault_body *body, void *arg)
{
    loop *l = test_alloc(sizeof(loop));

    l->flags = flags;
    return run_all(l, t, body, arg);
}

long long fault_each_plan(test *t, const fault_io_plan *plan, fault_body *body, void *arg)
{
    loop *l = test_alloc(sizeof(loop));

    l->io = true;
    l->plan = *plan;
    return run_all(l, t, body, arg);
}

long long fault_each_io(test *t, unsigned kinds, int error, fault_body *body, void *arg)
{
    return fault_each_plan(t, &(fault_io_plan){.kinds = kinds, .error = error}, body, arg);
}
