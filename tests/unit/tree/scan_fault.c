/* scan_fault.c -- every allocation and every file call of a scan fails in turn. */
#include "tree/scan_kit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/fault.h"

typedef struct told {
    bool sub;
} told;

static int tell(void *self, vls_scan_old_fn *fn, void *arg, valise_error *err)
{
    valise_id object = {{1}};
    vls_node dir = {.kind = VLS_NODE_DIR, .object = object};
    vls_node file = {.kind = VLS_NODE_FILE, .size = 3, .content = object, .object = object};
    vls_node link = {.kind = VLS_NODE_LINK, .size = 1, .target = VLS_STR("x"), .object = object};
    int rc = fn(arg, VLS_STR(""), &dir, err);

    (void)self;
    dir.object.bytes[0] = 2;
    if (rc == 0)
        rc = fn(arg, VLS_STR("d"), &dir, err);
    if (rc == 0)
        rc = fn(arg, VLS_STR("d/gone"), &file, err);
    if (rc == 0)
        rc = fn(arg, VLS_STR("d/link"), &link, err);
    if (rc == 0)
        rc = fn(arg, VLS_STR("e"), &dir, err);
    return rc == 0 ? fn(arg, VLS_STR("e/f"), &file, err) : rc;
}

static void make_files(fault *f)
{
    fault_off(f);
    CHECK(mkdir(test_format("%s/t", f->dir), 0755) == 0);
    CHECK(mkdir(test_format("%s/s", f->dir), 0755) == 0);
    CHECK(mkdir(test_format("%s/t/d", f->dir), 0755) == 0);
    CHECK(mkdir(test_format("%s/t/n", f->dir), 0755) == 0);
    test_write_file(test_format("%s/t/.gitignore", f->dir), VLS_STR("*.o\n"));
    test_write_file(test_format("%s/t/a", f->dir), VLS_STR("1"));
    test_write_file(test_format("%s/t/d/b", f->dir), VLS_STR("22"));
    test_write_file(test_format("%s/t/p", f->dir), VLS_STR("alike"));
    test_write_file(test_format("%s/t/q", f->dir), VLS_STR("alike"));
    test_write_file(test_format("%s/t/n/b", f->dir), VLS_STR("22"));
    test_write_file(test_format("%s/t/n/c.o", f->dir), VLS_STR("22"));
    CHECK(symlink("x", test_format("%s/t/n/l", f->dir)) == 0);
    fault_on(f);
}

/* A file and a directory that moved, and two of which nobody can say. */
static void move_files(fault *f)
{
    static const char *const moves[][2] = {{"a", "n/a"}, {"d", "e"}, {"p", "r"}, {"q", "s"}};

    fault_off(f);
    for (size_t i = 0; i < VLS_COUNT(moves); i++)
        CHECK(rename(test_format("%s/t/%s", f->dir, moves[i][0]),
                     test_format("%s/t/%s", f->dir, moves[i][1])) == 0);
    fault_on(f);
}

/* A first scan that compares with what is told, then one with the cache, of a part or of all. */
static int scan_twice(fault *f, void *arg)
{
    const told *how = arg;
    vls_scan_options options = {.env = f->env,
                                .root = test_format("%s/t", f->dir),
                                .store = test_format("%s/s", f->dir),
                                .cache = test_format("%s/s/stat", f->dir),
                                .threads = 1,
                                .version = 1,
                                .old = tell};
    vls_scan scan;
    int64_t errors, unreadable;
    int kept, rc;

    make_files(f);
    rc = vls_tree_scan(&scan, &options, &f->err);
    if (rc < 0)
        return rc;
    errors = (int64_t)scan.errors.len;
    unreadable = scan.counts.unreadable;
    kept = vls_tree_scan_keep(&scan, 2, &f->err);
    options.version = 2;
    options.object = scan.object;
    vls_tree_scan_release(&scan);
    if (kept == VALISE_E_NO_MEMORY)
        return kept;
    move_files(f);
    options.sub = how->sub ? VLS_STR("n/b") : VLS_STR("");
    rc = vls_tree_scan(&scan, &options, &f->err);
    if (rc < 0)
        return rc;
    errors += (int64_t)scan.errors.len;
    unreadable += scan.counts.unreadable;
    vls_tree_scan_release(&scan);
    CHECK(errors == 0 || unreadable > 0 || fault_has_hit(f));
    /* A file that failed is an error of its own; a cache that failed is only work. */
    f->recovered = true;
    return 0;
}

static int stat_once(fault *f, void *arg)
{
    vls_scan_options options = {.env = f->env,
                                .root = test_format("%s/t", f->dir),
                                .cache = test_format("%s/s/stat", f->dir),
                                .threads = 1};
    vls_scan scan;
    int answer = -1, rc;

    (void)arg;
    make_files(f);
    fault_off(f);
    CHECK_INT(0, vls_tree_scan(&scan, &options, &f->err));
    CHECK_INT(0, vls_tree_scan_keep(&scan, 1, &f->err));
    options.version = 1;
    options.object = scan.object;
    vls_tree_scan_release(&scan);
    test_write_file(test_format("%s/t/n/new", f->dir), VLS_STR("22"));
    fault_on(f);
    rc = vls_tree_stat(&answer, &options, VLS_STR("n/new"), NULL, &f->err);
    if (rc < 0)
        return rc;
    f->recovered = answer == VLS_STAT_UNKNOWN || answer == VLS_STAT_DIFFERS;
    return 0;
}

TEST(scan_fault, memory)
{
    told all = {false}, sub = {true};

    fault_each_alloc(t, 0, scan_twice, &all);
    fault_each_alloc(t, 0, scan_twice, &sub);
    fault_each_alloc(t, FAULT_ONWARD, scan_twice, &all);
    fault_each_alloc(t, 0, stat_once, NULL);
}

TEST(scan_fault, files)
{
    told all = {false}, sub = {true};

    fault_each_io(t, FAULT_ALL & ~FAULT_CLOSE, EIO, scan_twice, &all);
    fault_each_io(t, FAULT_ALL & ~FAULT_CLOSE, EACCES, scan_twice, &sub);
    fault_each_io(t, FAULT_OPEN | FAULT_STAT, ENOENT, scan_twice, &all);
    fault_each_io(t, FAULT_OPEN, EMFILE, scan_twice, &sub);
    fault_each_io(t, FAULT_OPEN, ELOOP, scan_twice, &all);
    fault_each_io(t, FAULT_OPEN, ENOTDIR, scan_twice, &all);
    fault_each_io(t, FAULT_ALL & ~FAULT_CLOSE, EIO, stat_once, NULL);
    fault_each_plan(t, &(fault_io_plan){.limited = true}, scan_twice, &all);
    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_WRITE, .how = FAULT_TORN, .error = ENOSPC},
                    scan_twice, &all);
}

TEST(scan_fault, calls_that_are_interrupted_or_short)
{
    told all = {false};

    fault_each_io(t, FAULT_OPEN | FAULT_READ | FAULT_WRITE | FAULT_STAT, EINTR, scan_twice, &all);
    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_READ | FAULT_WRITE, .how = FAULT_SHORT},
                    scan_twice, &all);
}
