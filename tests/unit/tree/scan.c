/* scan.c -- what a scan finds, and what it says has changed. [C1] [C2] [C5] */
#include "tree/scan_kit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

TEST(scan, of_an_empty_folder_is_one_directory)
{
    scan_bed b;

    bed_open(&b, t);
    bed_scan(&b);
    CHECK_INT(0, b.scan.added);
    CHECK_INT(0, b.scan.counts.dirs);
    bed_scan(&b);
    CHECK_INT(0, b.scan.added);
    CHECK_INT(1, b.options.version);
}

TEST(scan, finds_what_was_added_changed_and_removed)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "a.txt", "one");
    bed_file(&b, "dir/b.txt", "two");
    bed_file(&b, "dir/sub/c.txt", "three");
    bed_link(&b, "link", "dir/b.txt");
    bed_dir(&b, "empty");
    bed_scan(&b);
    CHECK_INT(7, b.scan.added);
    CHECK_INT(3, b.scan.counts.files);
    CHECK_INT(3, b.scan.counts.dirs);
    CHECK_INT(1, b.scan.counts.links);
    CHECK_INT(11, b.scan.counts.bytes);

    bed_file(&b, "dir/b.txt", "TWO");
    bed_file(&b, "dir/new.txt", "four");
    bed_remove(&b, "link");
    bed_scan(&b);
    CHECK_INT(1, b.scan.added);
    CHECK_INT(1, b.scan.changed);
    CHECK_INT(1, b.scan.removed);

    bed_remove(&b, "dir");
    bed_scan(&b);
    CHECK_INT(5, b.scan.removed);
    CHECK_INT(0, b.scan.added);
}

/* Nodes that a scan writes. */
static int64_t written(test *t, const vls_scan *scan)
{
    vls_tree_changes_reader *reader = test_alloc(sizeof(*reader));
    vls_tree_change change;
    int64_t count = 0;
    int rc;

    for (size_t i = 0; i < scan->changes.len; i++) {
        vls_tree_changes_open(reader, scan->changes.ptr[i]);
        while ((rc = vls_tree_changes_next(&change, reader, &t->err)) > 0)
            count++;
        CHECK_INT(0, rc);
    }
    return count;
}

TEST(scan, reads_again_only_what_changed)
{
    scan_bed b;

    bed_open(&b, t);
    for (int i = 0; i < 50; i++)
        bed_file(&b, test_format("d%d/e%d/f%d", i % 3, i % 5, i), test_format("text %d", i));
    bed_scan(&b);
    CHECK_INT(50, b.scan.hashed);
    bed_settle(&b);
    CHECK_INT(0, b.scan.hashed);
    CHECK_INT(0, b.old_calls);

    bed_file(&b, "d1/e1/f1", "TEXT 1");
    bed_scan(&b);
    CHECK_INT(1, b.scan.hashed); /* [C5] that file and its directories: d1/e1, d1 and the root */
    CHECK_INT(4, written(t, &b.scan));
    CHECK_INT(1, b.scan.changed);
    CHECK_INT(0, b.scan.added + b.scan.removed);
}

TEST(scan, of_two_clones_is_equal_whatever_the_order_of_names) /* [C1] */
{
    scan_bed b;
    valise_id first;

    bed_open(&b, t);
    for (int i = 0; i < 40; i++)
        bed_file(&b, test_format("%d/%d", i % 4, i), test_format("%d", i));
    bed_link(&b, "l", "0");
    bed_scan(&b);
    first = b.scan.object;
    bed_remove(&b, "");
    CHECK(mkdir(b.root, 0700) == 0);
    bed_link(&b, "l", "0");
    for (int i = 39; i >= 0; i--)
        bed_file(&b, test_format("%d/%d", i % 4, i), test_format("%d", i));
    bed_scan(&b);
    CHECK(vls_id_equal(&first, &b.scan.object));
    CHECK_INT(0, b.scan.changes.len);
}

TEST(scan, of_an_edit_that_was_taken_back_gives_the_id_before) /* [C12] */
{
    scan_bed b;
    valise_id first;

    bed_open(&b, t);
    bed_file(&b, "a/b", "one");
    bed_scan(&b);
    first = b.scan.object;
    bed_file(&b, "a/b", "two");
    bed_scan(&b);
    CHECK(!vls_id_equal(&first, &b.scan.object));
    bed_file(&b, "a/b", "one");
    bed_scan(&b);
    CHECK(vls_id_equal(&first, &b.scan.object));
}

TEST(scan, sees_the_owners_exec_bit_and_no_other_mode) /* [C1] */
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "run", "#!");
    bed_scan(&b);
    CHECK(chmod(bed_path(&b, "run"), 0477) == 0);
    bed_scan(&b);
    CHECK_INT(0, b.scan.changed);
    CHECK(chmod(bed_path(&b, "run"), 0744) == 0);
    bed_scan(&b);
    CHECK_INT(1, b.scan.changed);
    CHECK(bed_find(&b, "run")->node.exec);
}

TEST(scan, takes_names_as_bytes) /* [C1] */
{
    scan_bed b;
    char longest[256];

    memset(longest, 'n', 255);
    longest[255] = '\0';
    bed_open(&b, t);
    bed_file(&b, "new\nline", "1");
    bed_file(&b, "co:lon", "2");
    bed_file(&b, "\xff\xfe not utf-8", "3");
    bed_file(&b, "dir\\/..hidden", "4");
    bed_file(&b, "a.c", "5");
    bed_file(&b, "a/x", "6");
    bed_file(&b, "a-b", "7");
    bed_file(&b, longest, "8");
    bed_scan(&b);
    CHECK_INT(8, b.scan.counts.files);
    CHECK_INT(0, b.scan.errors.len);
    CHECK(bed_find(&b, "\xff\xfe not utf-8") != NULL);
}

TEST(scan, never_follows_a_link)
{
    scan_bed b;

    bed_open(&b, t);
    bed_link(&b, "self", "self");
    bed_link(&b, "up", "..");
    bed_link(&b, "d/loop", "../d");
    bed_link(&b, "nowhere", "/does/not/exist");
    bed_link(&b, "outside", "/etc");
    bed_scan(&b);
    CHECK_INT(5, b.scan.counts.links);
    CHECK_INT(1, b.scan.counts.dirs);
    CHECK_STR(VLS_STR("../d"), bed_find(&b, "d/loop")->node.target);
    bed_remove(&b, "up");
    bed_link(&b, "up", "../..");
    bed_scan(&b);
    CHECK_INT(1, b.scan.changed);
}

TEST(scan, skips_and_counts_what_is_no_file) /* [C3] */
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    scan_bed b;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    bed_open(&b, t);
    bed_dir(&b, "only");
    CHECK(mkfifo(bed_path(&b, "fifo"), 0600) == 0);
    CHECK(mkfifo(bed_path(&b, "only/fifo"), 0600) == 0);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", b.root);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    (void)close(fd);
    bed_scan(&b);
    CHECK_INT(3, b.scan.skipped);
    CHECK_INT(1, b.scan.counts.dirs); /* a directory with nothing but a FIFO is an empty one */
    CHECK_INT(0, b.scan.counts.files);
}

TEST(scan, tells_kinds_apart)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "a", "text");
    bed_file(&b, "d/x", "1");
    bed_file(&b, "d/y/z", "2");
    bed_link(&b, "l", "a");
    bed_scan(&b);
    bed_remove(&b, "a");
    bed_file(&b, "a/b", "other");
    bed_remove(&b, "d");
    bed_file(&b, "d", "a file");
    bed_remove(&b, "l");
    bed_file(&b, "l", "a");
    bed_scan(&b);
    CHECK_INT(4, b.scan.added);   /* a, a/b, d, l */
    CHECK_INT(6, b.scan.removed); /* a, d, d/x, d/y, d/y/z, l */
    CHECK_INT(0, b.scan.changed);
}

TEST(scan, without_a_root_fails)
{
    scan_bed b;
    vls_scan scan;

    bed_open(&b, t);
    b.options.root = test_format("%s/none", b.root);
    CHECK_RC(VALISE_E_NOT_FOUND, vls_tree_scan(&scan, &b.options, &t->err));
    b.options.root = b.root;
    b.options.sub = VLS_STR("a//b");
    CHECK_RC(VALISE_E_INVALID, vls_tree_scan(&scan, &b.options, &t->err));
}

static int tell_nothing(void *self, vls_scan_old_fn *fn, void *arg, valise_error *err)
{
    (void)self;
    (void)fn;
    (void)arg;
    (void)err;
    return 0;
}

static int stop_telling(void *self, vls_scan_old_fn *fn, void *arg, valise_error *err)
{
    (void)self;
    (void)fn;
    (void)arg;
    (void)err;
    return 1;
}

TEST(scan, hears_of_the_tree_as_it_was)
{
    scan_bed b;
    vls_scan scan;

    bed_open(&b, t);
    bed_file(&b, "a", "1");
    b.options.version = 5;
    b.options.old = stop_telling;
    CHECK_RC(VALISE_E_CANCELLED, vls_tree_scan(&scan, &b.options, &t->err));
    b.options.old = tell_nothing;
    CHECK_OK(vls_tree_scan(&scan, &b.options, &t->err));
    CHECK_INT(1, scan.added);
    vls_tree_scan_release(&scan);
    b.options.old = NULL;
    CHECK_OK(vls_tree_scan(&scan, &b.options, &t->err));
    CHECK_INT(1, scan.added);
    vls_tree_scan_release(&scan);
}

TEST(scan, without_a_cache_reads_everything_each_time)
{
    scan_bed b;

    bed_open(&b, t);
    b.options.cache = NULL;
    bed_file(&b, "a", "1");
    bed_scan(&b);
    bed_scan(&b);
    CHECK_INT(1, b.scan.hashed);
    CHECK_INT(1, b.old_calls);
    CHECK_INT(0, b.scan.changes.len);
}

TEST(scan, by_force_reads_everything) /* [C2] */
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "a", "1");
    bed_link(&b, "b", "1");
    bed_scan(&b);
    bed_settle(&b);
    b.options.force = true;
    bed_scan(&b);
    CHECK_INT(1, b.scan.hashed);
    CHECK_INT(0, b.scan.changes.len);
}

TEST(scan, splits_long_lists_of_changes)
{
    char name[240];
    scan_bed b;

    bed_open(&b, t);
    b.any_ignored = true; /* the naive walk would take long */
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (int i = 0; i < 24000; i++)
        bed_file(&b, test_format("%05d%.200s", i, name), "");
    bed_scan(&b);
    CHECK_INT(2, b.scan.changes.len);
    CHECK(b.scan.changes.ptr[0].len < 4500000);
    CHECK_INT(24000, b.scan.counts.files);
}
