/* scan_hostile.c -- trees that are deep, wide, unreadable, or change under the scan. [C2] */
#include "tree/scan_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/fault_io.h"

#define MIB ((size_t)1 << 20)

/* ---- deep and wide ---- */

/* Directories in one another, by descriptors: the path may be longer than any call takes. */
static void make_deep(const char *root, int levels, const char *name, bool sibling)
{
    int at = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (int i = 0; i < levels; i++) {
        CHECK(mkdirat(at, name, 0755) == 0);
        if (sibling)
            CHECK(mkdirat(at, "sibling", 0755) == 0);
        int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(next >= 0);
        (void)close(at);
        at = next;
    }
    int fd = openat(at, "bottom", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(fd >= 0);
    (void)close(fd);
    (void)close(at);
}

/* The harness removes by path: take what is too deep apart first. */
static void remove_deep(const char *root, const char *name)
{
    const char *aside = test_format("%s.aside", root);

    CHECK(mkdir(aside, 0755) == 0);
    for (int i = 0;; i++) {
        const char *top = test_format("%s/%s", root, name);
        const char *moved = test_format("%s/%d", aside, i);
        if (rename(top, moved) < 0)
            break;
        (void)rename(test_format("%s/%s", moved, name), top);
    }
    test_remove(aside);
}

TEST(hostile, five_hundred_levels)
{
    scan_bed b;

    bed_open(&b, t);
    make_deep(b.root, 500, "d", false);
    bed_scan(&b);
    CHECK_INT(500, b.scan.counts.dirs);
    CHECK_INT(1, b.scan.counts.files);
    bed_scan(&b);
    CHECK_INT(0, b.scan.changes.len);
}

static void limit_files(void *arg)
{
    CHECK(setrlimit(RLIMIT_NOFILE, arg) == 0);
}

TEST(hostile, more_levels_than_descriptors)
{
    static struct rlimit before;
    struct rlimit few;
    scan_bed b;

    bed_open(&b, t);
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    test_defer(limit_files, &before);
    make_deep(b.root, 400, "d", true); /* a sibling on each level waits, and keeps it open */
    few = before;
    few.rlim_cur = 100;
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    bed_scan(&b);
    CHECK_INT(800, b.scan.counts.dirs);
    b.options.threads = 4;
    b.options.force = true;
    bed_scan(&b);
    CHECK_INT(0, b.scan.changes.len);
}

TEST(hostile, paths_that_are_too_long_are_errors)
{
    char name[202];
    scan_bed b;

    bed_open(&b, t);
    b.any_ignored = true;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    make_deep(b.root, 30, name, false);
    bed_scan(&b);
    CHECK_INT(19, b.scan.counts.dirs); /* 19 names of 201 bytes and their slashes are 3,837 */
    CHECK_INT(1, b.scan.errors.len);
    CHECK_INT(VALISE_E_TOO_LARGE, b.scan.errors.ptr[0].code);
    remove_deep(b.root, name);
}

TEST(hostile, a_hundred_thousand_entries)
{
    scan_bed b;
    int dir;

    test_unwatched();
    bed_open(&b, t);
    b.any_ignored = true;
    dir = open(b.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 100000; i++) {
        int fd =
            openat(dir, test_format("%d", i * 7919 % 100000), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        CHECK(fd >= 0);
        (void)close(fd);
    }
    (void)close(dir);
    b.options.threads = 2;
    CHECK_OK(vls_tree_scan(&b.scan, &b.options, &t->err));
    bed_hold(&b);
    CHECK_INT(100000, b.scan.counts.files);
    CHECK_INT(100000, b.scan.added);
    CHECK_OK(vls_tree_scan_keep(&b.scan, 1, &t->err));
    b.options.version = 1;
    b.options.object = b.scan.object;
    bed_close(&b);
    CHECK_OK(vls_tree_scan(&b.scan, &b.options, &t->err));
    bed_hold(&b);
    CHECK_INT(0, b.scan.changes.len);
    CHECK_INT(0, b.old_calls);
}

/* ---- what changes meanwhile ---- */

/* The scan reports while it reads a large file: then other things happen. */
typedef struct meddling {
    scan_bed *b;
    void (*act)(scan_bed *b, int time);
    int times;
    uint64_t seen_bytes;
} meddling;

static meddling meddler;

static int meddle(void *self, uint64_t entries, uint64_t bytes, valise_error *err)
{
    (void)self;
    (void)entries;
    (void)err;
    meddler.seen_bytes += bytes;
    if (bytes >= MIB)
        meddler.act(meddler.b, meddler.times++);
    return 0;
}

static void scan_meddled(scan_bed *b, void (*act)(scan_bed *b, int time))
{
    char *large = test_alloc(2 * MIB + 100);

    memset(large, 'a', 2 * MIB + 100);
    bed_bytes(b, "a-large", vls_str(large, 2 * MIB + 100));
    meddler = (meddling){.b = b, .act = act};
    b->options.step = meddle;
    bed_scan(b);
    b->options.step = NULL;
}

static void append(scan_bed *b, int time)
{
    (void)time;
    int fd = open(bed_path(b, "a-large"), O_WRONLY | O_APPEND | O_CLOEXEC);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1);
    (void)close(fd);
}

static void append_once(scan_bed *b, int time)
{
    if (time == 0)
        append(b, time);
}

TEST(hostile, a_file_that_changes_while_it_is_read_is_read_again)
{
    scan_bed b;

    bed_open(&b, t);
    scan_meddled(&b, append_once);
    CHECK_INT(0, b.scan.errors.len);
    CHECK_INT(2 * MIB + 101, bed_find(&b, "a-large")->node.size);
}

TEST(hostile, a_file_that_changes_all_the_time_is_unreadable)
{
    scan_bed b;

    bed_open(&b, t);
    b.any_ignored = true;
    bed_file(&b, "other", "text");
    scan_meddled(&b, append);
    bed_check_errors(&b, "a-large");
    CHECK_INT(VALISE_E_BUSY, b.scan.errors.ptr[0].code);
    CHECK_INT(VLS_NODE_UNREADABLE, bed_find(&b, "a-large")->node.kind);
    CHECK_INT(VLS_NODE_FILE, bed_find(&b, "other")->node.kind);
    CHECK_INT(1, b.scan.counts.unreadable);
    b.any_ignored = false;
    bed_scan(&b); /* and it is read when it stands still; what it was did not go */
    CHECK_INT(1, b.scan.changed);
    CHECK_INT(0, b.scan.added + b.scan.removed);
}

static void shrink(scan_bed *b, int time)
{
    if (time == 0)
        CHECK(truncate(bed_path(b, "a-large"), (off_t)MIB + 5) == 0);
}

TEST(hostile, a_file_that_shrinks_while_it_is_read)
{
    scan_bed b;

    bed_open(&b, t);
    scan_meddled(&b, shrink);
    CHECK_INT(MIB + 5, bed_find(&b, "a-large")->node.size);
}

static void overwrite(scan_bed *b, int time)
{
    int fd = open(bed_path(b, "a-large"), O_WRONLY | O_CLOEXEC);

    if (time == 0)
        CHECK(fd >= 0 && pwrite(fd, "changed", 7, 0) == 7);
    (void)close(fd);
}

TEST(hostile, a_file_that_changes_where_it_was_read_already)
{
    scan_bed b;

    bed_open(&b, t);
    scan_meddled(&b, overwrite); /* compares with the naive walk */
    CHECK_INT(0, b.scan.errors.len);
    CHECK(meddler.times >= 3);
}

static void vanish(scan_bed *b, int time)
{
    if (time > 0)
        return;
    bed_remove(b, "b-file");
    bed_remove(b, "c-dir");
    bed_remove(b, "d-link");
}

TEST(hostile, what_vanishes_behind_its_name_is_not_there)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "b-file", "1");
    bed_file(&b, "c-dir/x", "2");
    bed_link(&b, "d-link", "3");
    scan_meddled(&b, vanish);
    CHECK_INT(0, b.scan.errors.len);
    CHECK_INT(1, b.scan.counts.files);
    CHECK_INT(0, b.scan.counts.dirs);
}

static void swap_kinds(scan_bed *b, int time)
{
    if (time > 0)
        return;
    bed_remove(b, "b-file");
    CHECK(mkfifo(bed_path(b, "b-file"), 0600) == 0);
    bed_remove(b, "c-dir");
    bed_link(b, "c-dir", "/etc");
    bed_remove(b, "d-link");
    bed_file(b, "d-link/now", "a directory");
    bed_remove(b, "e-dir");
    bed_file(b, "e-dir", "a file");
}

TEST(hostile, what_becomes_something_else_behind_its_name)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "b-file", "1");
    bed_file(&b, "c-dir/x", "2");
    bed_link(&b, "d-link", "3");
    bed_file(&b, "e-dir/x", "2");
    scan_meddled(&b, swap_kinds);
    CHECK_INT(0, b.scan.errors.len);
    CHECK_INT(1, b.scan.skipped);
    CHECK_INT(VLS_NODE_LINK, bed_find(&b, "c-dir")->node.kind);
    CHECK_INT(VLS_NODE_FILE, bed_find(&b, "d-link/now")->node.kind);
    CHECK_INT(VLS_NODE_FILE, bed_find(&b, "e-dir")->node.kind);
}

/* ---- what cannot be read ---- */

static void refuse(const char *path, unsigned kinds, int error)
{
    fault_io_begin(
        &(fault_io_plan){.dir = path, .kinds = kinds, .nth = 1, .onward = true, .error = error});
}

TEST(hostile, a_file_that_cannot_be_opened_is_an_error_and_a_node)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "d/secret", "1");
    bed_file(&b, "d/z", "2");
    b.any_ignored = true;
    refuse(bed_path(&b, "d/secret"), FAULT_OPEN, EACCES);
    bed_scan(&b);
    fault_io_end();
    bed_check_errors(&b, "d/secret");
    CHECK_INT(VALISE_E_DENIED, b.scan.errors.ptr[0].code);
    CHECK_INT(VLS_NODE_UNREADABLE, bed_find(&b, "d/secret")->node.kind);
    CHECK_INT(1, b.scan.counts.files);
    b.any_ignored = false;
    bed_scan(&b);
    CHECK_INT(1, b.scan.changed);
    CHECK_INT(0, b.scan.counts.unreadable);
}

/* Text that is repeated. */
static const char *many(const char *text, size_t count)
{
    size_t len = strlen(text);
    char *all = test_alloc(count * len + 1);

    for (size_t i = 0; i < count; i++)
        memcpy(all + i * len, text, len);
    all[count * len] = '\0';
    return all;
}

/* The errors that are about rules: "PATH: message". */
static const char *rule_errors(const scan_bed *b)
{
    const char *text = "";

    for (size_t i = 0; i < b->scan.errors.len; i++) {
        const vls_scan_problem *p = &b->scan.errors.ptr[i];
        if (strstr(p->message.ptr, "rules"))
            text = test_format("%s%s%.*s: %.*s", text, text[0] ? "; " : "", VALISE_STR_ARG(p->path),
                               VALISE_STR_ARG(p->message));
    }
    return text;
}

TEST(hostile, rules_that_are_not_applied_are_told) /* [C3] */
{
    scan_bed b;

    bed_open(&b, t);
    b.any_ignored = true;
    bed_file(&b, "d/.gitignore", many("*.o\n*.tmp\n", MIB / 10 + 1));
    bed_file(&b, "d/.valiseignore", "*.log\n");
    bed_file(&b, "d/a.o", "1");
    bed_file(&b, "d/a.log", "2");
    bed_scan(&b);
    CHECK_TEXT("d/.gitignore: its rules were not applied: it has more than 1048576 bytes",
               rule_errors(&b));
    CHECK(bed_find(&b, "d/a.o") && !bed_find(&b, "d/a.log")); /* the other file's are */
    bed_file(&b, "d/.gitignore", "*.o\n");
    bed_file(&b, "d/.valiseignore", many("a\n", 100001));
    bed_scan(&b);
    CHECK_TEXT("d/.valiseignore: its rules were not applied: it has more than 100000 rules",
               rule_errors(&b));
    CHECK(!bed_find(&b, "d/a.o") && bed_find(&b, "d/a.log"));
    bed_file(&b, "d/.valiseignore", "*.log\n");
    refuse(bed_path(&b, "d/.gitignore"), FAULT_OPEN, EACCES);
    bed_scan(&b);
    fault_io_end();
    CHECK_TEXT("d/.gitignore: its rules were not applied: read .gitignore: Permission denied",
               rule_errors(&b));
    CHECK(bed_find(&b, "d/a.o") && !bed_find(&b, "d/a.log"));
    bed_scan(&b);
    CHECK_INT(0, b.scan.errors.len);
    CHECK(!bed_find(&b, "d/a.o") && !bed_find(&b, "d/a.log"));
}

TEST(hostile, errors_come_in_the_order_of_paths)
{
    scan_bed b;

    bed_open(&b, t);
    b.any_ignored = true;
    bed_file(&b, "d.x", "1");
    bed_file(&b, "d/z", "2");
    bed_file(&b, "d/a", "3");
    bed_file(&b, "a", "4");
    fault_io_begin(&(fault_io_plan){
        .dir = b.root, .kinds = FAULT_READ, .nth = 3, .onward = true, .error = EIO});
    bed_scan(&b); /* names of the root can be read, files and names of d cannot */
    fault_io_end();
    bed_check_errors(&b, "a d d.x");
    CHECK_INT(3, b.scan.counts.unreadable);
}

TEST(hostile, a_directory_that_cannot_be_read_is_an_error_and_a_node)
{
    static const unsigned kinds[] = {FAULT_OPEN, FAULT_STAT, FAULT_READ};
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "d/x", "1");
    bed_file(&b, "e/y", "2");
    bed_scan(&b);
    for (size_t i = 0; i < VLS_COUNT(kinds); i++) {
        b.any_ignored = true;
        refuse(bed_path(&b, "d"), kinds[i], EIO);
        bed_scan(&b);
        fault_io_end();
        bed_check_errors(&b, "d");
        CHECK_INT(VLS_NODE_UNREADABLE, bed_find(&b, "d")->node.kind);
        CHECK_INT(1, b.scan.changed);
        CHECK_INT(1, b.scan.removed);
        b.any_ignored = false;
        bed_scan(&b);
        CHECK_INT(1, b.scan.changed);
        CHECK_INT(1, b.scan.added);
    }
}

TEST(hostile, without_descriptors_the_scan_fails)
{
    scan_bed b;
    vls_scan scan;

    bed_open(&b, t);
    bed_file(&b, "d/x", "1");
    refuse(bed_path(&b, "d/x"), FAULT_OPEN, EMFILE);
    CHECK(vls_tree_scan(&scan, &b.options, &t->err) < 0);
    fault_io_end();
    refuse(bed_path(&b, "d"), FAULT_OPEN, ENFILE);
    CHECK(vls_tree_scan(&scan, &b.options, &t->err) < 0);
    fault_io_end();
}

/* ---- ending it ---- */

static int cancel(void *self, uint64_t entries, uint64_t bytes, valise_error *err)
{
    (void)self;
    (void)bytes;
    (void)err;
    return entries > 0;
}

TEST(hostile, a_scan_can_be_cancelled)
{
    scan_bed b;
    vls_scan scan;

    bed_open(&b, t);
    for (int i = 0; i < 100; i++)
        bed_file(&b, test_format("%d/%d", i, i), "text");
    b.options.step = cancel;
    for (unsigned threads = 1; threads < 4; threads++) {
        b.options.threads = threads;
        CHECK_RC(VALISE_E_CANCELLED, vls_tree_scan(&scan, &b.options, &t->err));
    }
}

TEST(hostile, progress_adds_up)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "x", "12345");
    scan_meddled(&b, append_once);
    CHECK(meddler.seen_bytes >= 4 * MIB);
}
