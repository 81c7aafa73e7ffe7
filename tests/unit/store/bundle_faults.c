/* bundle_faults.c -- memory and disks that fail, and kill -9, while bundles are written and read:
 * the target is as it was, or all is there. [K36] [Q18] [Q19] */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "harness/fault.h"
#include "harness/kill.h"
#include "shelf.h"

static const char uuid[] = "018f2c4e-7b1a-7c3d-9e4f-000000000001";

static shelf_bundle make_bundle(test *t)
{
    stage a;
    shelf_bundle bundle;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_name(&a, uuid);
    shelf_fill(&a);
    bundle = shelf_export(&a, NULL, NULL);
    stage_close(&a);
    return bundle;
}

/* ---- memory ---- */

static int export_once(fault *f, void *arg)
{
    test inner = *f->t;
    const char *const *places = arg;
    shelf_bundle bundle = {.bytes = {NULL, 0}};
    stage a;
    int rc;

    fault_off(f);
    inner.env = f->env;
    shelf_open(&a, &inner, "memory", NULL, false);
    shelf_fill(&a);
    fault_on(f);
    rc = shelf_try_export(&bundle, &a, places, NULL, &f->err);
    fault_off(f);
    CHECK((rc == 0) == (bundle.bytes.len > 0));
    stage_close(&a);
    return rc;
}

TEST(bundle_faults, export_without_memory)
{
    static const char *const left[] = {"shelf/left", NULL};
    union {
        const char *const *in;
        void *out;
    } places = {.in = left};

    fault_each_alloc(t, 0, export_once, NULL);
    fault_each_alloc(t, FAULT_ONWARD, export_once, NULL);
    fault_each_alloc(t, 0, export_once, places.out);
}

static int restore_once(fault *f, void *arg)
{
    const shelf_bundle *bundle = arg;
    test inner = *f->t;
    stage b;
    int rc;

    fault_off(f);
    inner.env = f->env;
    shelf_open(&b, &inner, "memory", NULL, true);
    fault_on(f);
    rc = shelf_restore(&b, bundle->bytes, &f->err);
    fault_off(f);
    if (rc == 0) {
        shelf_validate(&b);
        CHECK_STR(bundle->bytes, shelf_export(&b, NULL, NULL).bytes);
        f->recovered = fault_has_hit(f); /* a writer that cannot remember a chunk goes on */
    }
    CHECK_INT(rc == 0 ? bundle->counts.entries : 0, stage_tip(&b));
    stage_close(&b);
    return rc;
}

TEST(bundle_faults, restore_without_memory)
{
    shelf_bundle bundle = make_bundle(t);

    fault_each_alloc(t, 0, restore_once, &bundle);
    fault_each_alloc(t, FAULT_ONWARD, restore_once, &bundle);
}

/* ---- disks ---- */

static int restore_on_disk(fault *f, void *arg)
{
    const shelf_bundle *bundle = arg;
    stage b;
    int64_t tip;
    int rc;

    fault_off(f);
    shelf_open(&b, f->t, "sqlite", f->dir, true);
    shelf_name(&b, uuid);
    fault_on(f);
    rc = shelf_restore(&b, bundle->bytes, &f->err);
    fault_off(f);
    stage_close(&b);
    shelf_open(&b, f->t, "sqlite", f->dir, true);
    shelf_validate(&b);
    tip = stage_tip(&b);
    CHECK(tip == bundle->counts.entries || (rc < 0 && tip == 0));
    if (tip > 0)
        CHECK_STR(bundle->bytes, shelf_export(&b, NULL, NULL).bytes);
    stage_close(&b);
    if (rc == 0 && fault_has_hit(f))
        f->recovered = true; /* SQLite tries some things again */
    return rc;
}

TEST(bundle_faults, restore_with_a_failing_disk)
{
    shelf_bundle bundle = make_bundle(t);

    fault_each_io(t, FAULT_WRITE | FAULT_SYNC, EIO, restore_on_disk, &bundle);
    fault_each_plan(t, &(fault_io_plan){.limited = true}, restore_on_disk, &bundle);
}

/* ---- kill -9 ---- */

static void restore_and_ack(kill_run *run, void *arg)
{
    const shelf_bundle *bundle = arg;
    valise_error err = VALISE_ERROR_INIT;
    test inner = {.env = valise_env_default()};
    stage b;

    fault_io_pause();
    shelf_open(&b, &inner, "sqlite", run->dir, true);
    fault_io_resume();
    CHECK_INT(0, shelf_restore(&b, bundle->bytes, &err));
    kill_ack(run, "done");
    stage_close(&b);
}

static void all_or_nothing(test *t, const kill_run *run, void *arg)
{
    const shelf_bundle *bundle = arg;
    stage b;
    int64_t tip;

    shelf_open(&b, t, "sqlite", run->dir, true);
    shelf_validate(&b);
    tip = stage_tip(&b);
    CHECK(tip == bundle->counts.entries || (run->acked == 0 && tip == 0));
    if (tip > 0)
        CHECK_STR(bundle->bytes, shelf_export(&b, NULL, NULL).bytes);
    stage_close(&b);
}

TEST(bundle_faults, restore_killed)
{
    shelf_bundle bundle = make_bundle(t);

    kill_each_io(t, FAULT_WRITE | FAULT_SYNC, restore_and_ack, all_or_nothing, &bundle);
    kill_loop(t, 10, restore_and_ack, all_or_nothing, &bundle);
}

/* ---- reading files ---- */

static const char *file_in(const char *dir)
{
    return test_format("%s/out", dir);
}

static int read_file(fault *f, void *arg)
{
    vls_bundle_input in = {.fd = -1};
    vls_progress silent;
    char room[8];
    int rc;

    (void)arg;
    fault_off(f);
    test_write_file(file_in(f->dir), VLS_STR("12345678"));
    vls_progress_init(&silent, f->env, NULL);
    fault_on(f);
    rc = vls_bundle_input_open(&in, file_in(f->dir), &silent, &f->err);
    if (rc == 0)
        rc = in.source.read(in.source.arg, 0, room, sizeof(room), &f->err);
    fault_off(f);
    if (rc == 0)
        CHECK_STR(VLS_STR("12345678"), vls_str(room, sizeof(room)));
    vls_bundle_input_close(&in);
    return rc;
}

TEST(bundle_faults, a_file_that_cannot_be_read)
{
    const char *path = file_in(test_tmpdir());
    vls_bundle_input in = {.fd = -1};
    vls_progress silent;
    char room[16];

    fault_each_io(t, FAULT_OPEN | FAULT_READ, EIO, read_file, NULL);
    fault_each_io(t, FAULT_READ, EINTR, read_file, NULL);
    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_READ, .how = FAULT_SHORT}, read_file, NULL);
    vls_progress_init(&silent, t->env, NULL);
    test_write_file(path, VLS_STR("12345678"));
    CHECK_OK(vls_bundle_input_open(&in, path, &silent, &t->err));
    CHECK_INT(8, in.source.size_bytes);
    test_write_file(path, VLS_STR("1234"));
    CHECK_RC(VALISE_E_CORRUPT, in.source.read(in.source.arg, 0, room, 8, &t->err));
    vls_bundle_input_close(&in);
}

/* A pipe is copied into a temporary file: that may fail too. */
static int read_pipe(fault *f, void *arg)
{
    vls_bundle_input in = {.fd = -1};
    vls_progress silent;
    char room[6];
    int ends[2], rc;

    (void)arg;
    fault_off(f);
    CHECK(pipe(ends) == 0);
    CHECK(write(ends[1], "valise", 6) == 6);
    close(ends[1]);
    setenv("TMPDIR", f->dir, 1);
    vls_progress_init(&silent, f->env, NULL);
    fault_on(f);
    rc = vls_bundle_input_open(&in, test_format("/dev/fd/%d", ends[0]), &silent, &f->err);
    fault_off(f);
    if (rc == 0) {
        CHECK_INT(6, in.source.size_bytes);
        CHECK_INT(0, in.source.read(in.source.arg, 0, room, 6, &f->err));
        CHECK_STR(VLS_STR("valise"), vls_str(room, 6));
    }
    f->recovered = rc == 0 && fault_has_hit(f); /* there are two ways to make the file */
    vls_bundle_input_close(&in);
    close(ends[0]);
    unsetenv("TMPDIR");
    return rc;
}

TEST(bundle_faults, a_pipe_that_cannot_be_copied)
{
    fault_each_io(t, FAULT_OPEN | FAULT_WRITE, ENOSPC, read_pipe, NULL);
    fault_each_io(t, FAULT_OPEN, EOPNOTSUPP, read_pipe, NULL);
}

/* What does not begin like a bundle is not copied, however much of it there is. */
TEST(bundle_faults, something_else_than_a_bundle_is_not_copied)
{
    vls_bundle_input in = {.fd = -1};
    valise_error *err = &t->err;
    vls_progress silent;
    int ends[2];

    vls_progress_init(&silent, t->env, NULL);
    setenv("TMPDIR", test_tmpdir(), 1);
    fault_io_begin(&(fault_io_plan){
        .dir = test_tmpdir(), .kinds = FAULT_WRITE, .nth = 1, .onward = true, .error = EIO});
    CHECK_RC(VALISE_E_CORRUPT, vls_bundle_input_open(&in, "/dev/zero", &silent, err));
    CHECK(strstr(err->message, "/dev/zero is not a bundle"));
    fault_io_end();
    unsetenv("TMPDIR");
    CHECK(pipe(ends) == 0);
    CHECK(write(ends[1], VLS_BUNDLE_MAGIC "1\nand so on", 25) == 25);
    close(ends[1]);
    CHECK_OK(vls_bundle_input_open(&in, test_format("/dev/fd/%d", ends[0]), &silent, err));
    vls_bundle_input_close(&in);
    close(ends[0]);
}

static int stop(void *arg, const valise_progress_state *state)
{
    (void)arg, (void)state;
    return 1;
}

TEST(bundle_faults, copying_a_pipe_can_be_cancelled) /* [K28] */
{
    vls_bundle_input in = {.fd = -1};
    valise_progress callback = {stop, NULL};
    vls_progress progress;
    int ends[2];

    CHECK(pipe(ends) == 0);
    CHECK(write(ends[1], "valise", 6) == 6);
    close(ends[1]);
    vls_progress_init(&progress, t->env, &callback);
    CHECK_RC(VALISE_E_CANCELLED,
             vls_bundle_input_open(&in, test_format("/dev/fd/%d", ends[0]), &progress, &t->err));
    close(ends[0]);
}
