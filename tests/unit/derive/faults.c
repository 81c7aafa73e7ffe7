/* faults.c -- memory runs out, or the disk, in the middle of a run: it says so, no head has moved
 * (or all have), and the next run makes what is missing. [C23] [K2] */
#include <errno.h>

#include "context/kit.h"
#include "harness/fault.h"

#define ALL "{\"noScan\":true,\"recursive\":true}"

typedef struct world {
    const char *op, *payload;
    const char *root; /* of the context, when all is made */
    bool disk;
} world;

static yard *open_it(fault *f, const world *w)
{
    yard *y = test_alloc(sizeof(*y));
    valise_options o = VALISE_OPTIONS_INIT;

    *y = (yard){.t = f->t};
    o.env = f->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_INT(0,
              valise_open(&y->v, w->disk ? test_format("%s/ws", f->dir) : ":memory:", &o, &f->err));
    return y;
}

static void begin(yard *y)
{
    yard_grow(y, "a/x=1 a/b/y=2 c/z=3 d=4", "");
    (void)yard_put(y, NULL, "a/x", "notes", "about x", "");
    (void)yard_put(y, NULL, "a/b/y", "notes", "about y", "");
    (void)yard_run(y, "context:synthesize", ALL);
    (void)yard_put(y, NULL, "a/b", "notes", "by hand", "");
    (void)yard_put(y, NULL, "c/z", "notes", "about z", "");
    (void)yard_run(y, "slot:invalidate", "{\"noScan\":true,\"node\":\"a/x\"}");
    yard_grow(y, "a/x=1 a/b/y=2 a/new=5 c/z=3 d=4", "");
}

static const char *root_of(yard *y)
{
    const char *root = yard_member(y, yard_run(y, "context:report", "{}"), "contextRoot");

    CHECK(root[0] != '\0');
    return root;
}

static int run_once(fault *f, void *arg)
{
    world *w = arg;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *before, *after;
    yard *y;
    int rc;

    fault_off(f);
    y = open_it(f, w);
    begin(y);
    before = root_of(y);
    fault_on(f);
    rc = valise_dispatch(&reply, y->v, w->op, w->payload, NULL, &f->err);
    fault_off(f);
    valise_reply_release(&reply);
    if (w->disk && rc < 0 && yard_try(y, NULL, "context:report", "{}", NULL) < 0) {
        valise_close(y->v); /* what failed may be the store's last word: open it again */
        y = open_it(f, w);
    }
    after = root_of(y);
    if (rc < 0 && w->root) /* as before; or it was only the answer that failed */
        CHECK(strcmp(before, after) == 0 || strcmp(w->root, after) == 0);
    f->recovered = rc == 0 && f->nth > 0;
    after = yard_member(y, yard_run(y, "context:regenerate", ALL), "contextRoot");
    if (!w->root)
        w->root = test_format("%s", after);
    CHECK_TEXT(w->root, after);
    if (rc == 0 || f->nth % 8 == 0)
        yard_check(y); /* who succeeds in spite of it has done all of it */
    valise_close(y->v);
    fault_on(f);
    return rc;
}

TEST(derive_faults, memory_runs_out)
{
    world again = {.op = "context:regenerate", .payload = ALL};
    world anew = {.op = "context:synthesize",
                  .payload = "{\"noScan\":true,\"recursive\":true,\"strict\":false}"};

    fault_each_alloc(t, 0, run_once, &again);
    fault_each_alloc(t, FAULT_ONWARD, run_once, &anew);
}

TEST(derive_faults, the_disk_fails)
{
    world again = {.op = "context:regenerate", .payload = ALL, .disk = true};

    fault_each_io(t, FAULT_WRITE | FAULT_SYNC, EIO, run_once, &again);
    again.root = NULL;
    fault_each_io(t, FAULT_WRITE, ENOSPC, run_once, &again);
}
