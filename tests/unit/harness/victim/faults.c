/* faults.c -- fault loops over code with bugs. Run by unit/harness/fault.c. */
#include "../bodies.h"

#include <errno.h>

#include "base/mem.h"

static void each_alloc(test *t, unsigned bugs)
{
    fault_each_alloc(t, 0, save_once, &bugs);
}

static void each_io(test *t, unsigned bugs, int error)
{
    fault_each_io(t, FAULT_ALL & ~(FAULT_CLOSE | FAULT_UNLINK), error, save_once, &bugs);
}

TEST(faults, leak)
{
    each_alloc(t, BUG_LEAK);
}

TEST(faults, wrong_code)
{
    each_alloc(t, BUG_WRONG_CODE);
}

TEST(faults, swallow_memory)
{
    each_alloc(t, BUG_SWALLOW_MEMORY);
}

TEST(faults, swallow_enospc)
{
    each_io(t, BUG_SWALLOW_ENOSPC, ENOSPC);
}

TEST(faults, disk_full)
{
    unsigned bugs = BUG_SWALLOW_ENOSPC;

    fault_each_plan(t, &(fault_io_plan){.limited = true}, save_once, &bugs);
}

TEST(faults, no_repeat)
{
    each_io(t, BUG_NO_REPEAT, EINTR);
}

TEST(faults, short_write)
{
    unsigned bugs = BUG_SHORT_WRITE;

    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_WRITE, .how = FAULT_SHORT}, save_once,
                    &bugs);
}

TEST(faults, torn_in_place)
{
    unsigned bugs = BUG_IN_PLACE;

    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_WRITE, .how = FAULT_TORN, .error = EIO},
                    save_once, &bugs);
}

TEST(faults, leak_file)
{
    each_io(t, BUG_LEAK_FILE, EIO);
}

/* Says that all is well, and nobody looks. */
static int swallows(fault *f, void *arg)
{
    (void)arg;
    vls_mem_free(f->env, vls_mem_alloc(f->env, 8), 8);
    return 0;
}

TEST(faults, swallow_unseen)
{
    fault_each_alloc(t, 0, swallows, NULL);
}

static int always_fails(fault *f, void *arg)
{
    (void)arg;
    return vls_fail(&f->err, VALISE_E_CONFLICT, "cannot work at all");
}

TEST(faults, broken_without_faults)
{
    fault_each_alloc(t, 0, always_fails, NULL);
}

static int never_allocates(fault *f, void *arg)
{
    (void)f;
    (void)arg;
    return 0;
}

TEST(faults, nothing_to_fail)
{
    fault_each_alloc(t, 0, never_allocates, NULL);
}

/* Needs more allocations each time it is run, and more than a loop leaves out. */
static int never_ends(fault *f, void *arg)
{
    int *calls = arg;
    int rc = 0;

    for (int i = *calls += 6; i > 0 && rc == 0; i--) {
        void *block = vls_mem_alloc(f->env, 8);
        rc = block ? 0 : VALISE_E_NO_MEMORY;
        vls_mem_free(f->env, block, 8);
    }
    return rc;
}

TEST(faults, never_ends)
{
    int calls = 0;

    fault_each_alloc(t, 0, never_ends, &calls);
}
