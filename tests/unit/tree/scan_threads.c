/* scan_threads.c -- a scan by many threads finds what one finds; also under ThreadSanitizer. [C2]
 */
#include "tree/scan_kit.h"

#include <stdatomic.h>
#include <sys/stat.h>

#define MIB ((size_t)1 << 20)

static void make_tree(scan_bed *b)
{
    char *large = test_alloc(3 * MIB);

    for (int i = 0; i < 300; i++)
        bed_file(b, test_format("%d/%d/%d/file", i % 5, i % 7, i), test_format("%d", i));
    for (int i = 0; i < 2000; i++)
        bed_file(b, test_format("many/%d", i), test_format("%d", i % 9));
    for (int i = 0; i < 6; i++) {
        memset(large, 'a' + i, 3 * MIB);
        bed_bytes(b, test_format("large/%d", i), vls_str(large, 3 * MIB - (size_t)i));
    }
    bed_file(b, "1/.gitignore", "nothing\n");
}

TEST(scan_threads, agree)
{
    scan_bed b;
    valise_id one;

    bed_open(&b, t);
    make_tree(&b);
    bed_scan(&b);
    one = b.scan.object;
    for (unsigned threads = 2; threads <= 8; threads += 3) {
        b.options.threads = threads;
        b.options.force = true;
        bed_scan(&b);
        CHECK(vls_id_equal(&one, &b.scan.object));
        CHECK_INT(0, b.scan.changes.len);
        CHECK_INT(2307, b.scan.hashed);
    }
    b.options.force = false;
    b.options.threads = 0;
    bed_settle(&b);
    bed_file(&b, "many/77", "other");
    bed_file(&b, "2/2/2/new", "new");
    bed_scan(&b);
    CHECK_INT(2, b.scan.hashed);
    bed_scan_sub(&b, "many");
    CHECK_INT(0, b.scan.changes.len);
}

static atomic_int calls;

static int count_steps(void *self, uint64_t entries, uint64_t bytes, valise_error *err)
{
    (void)self;
    (void)entries;
    (void)bytes;
    atomic_fetch_add(&calls, 1);
    return vls_fail(err, VALISE_E_CANCELLED, "that is enough");
}

TEST(scan_threads, end_when_they_shall)
{
    scan_bed b;
    vls_scan scan;

    bed_open(&b, t);
    make_tree(&b);
    b.options.threads = 4;
    b.options.step = count_steps;
    atomic_store(&calls, 0);
    CHECK_RC(VALISE_E_CANCELLED, vls_tree_scan(&scan, &b.options, &t->err));
    CHECK_TEXT("that is enough", t->err.message);
    CHECK_INT(1, calls); /* how far the threads came by then is up to the system */
}

static void scan_alone(size_t index, void *arg)
{
    const scan_bed *b = arg;
    vls_scan_options options = b->options;
    vls_scan scan;

    options.threads = 1 + index % 3;
    CHECK_INT(0, vls_tree_scan(&scan, &options, NULL));
    CHECK_INT(0, scan.changes.len);
    (void)vls_tree_scan_keep(&scan, options.version, NULL); /* may find it busy */
    vls_tree_scan_release(&scan);
}

TEST(scan_threads, many_scans_at_once)
{
    scan_bed b;

    bed_open(&b, t);
    for (int i = 0; i < 50; i++)
        bed_file(&b, test_format("%d/%d", i % 5, i), test_format("%d", i));
    bed_scan(&b);
    test_threads(6, scan_alone, &b);
    bed_scan(&b);
    CHECK_INT(0, b.scan.changes.len);
}
