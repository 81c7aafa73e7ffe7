/* scan_ignore.c -- what a walk leaves out. [C3] */
#include "tree/scan_kit.h"

#include <sys/stat.h>

static bool has(const scan_bed *b, const char *path)
{
    return bed_find(b, path) != NULL;
}

TEST(leaves_out, what_the_rules_of_each_directory_say)
{
    scan_bed b;

    bed_open(&b, t);
    b.any_ignored = true;
    b.options.ignore = VLS_STR("secret\n");
    bed_file(&b, ".gitignore", "*.o\n/build/\n");
    bed_file(&b, "a.c", "1");
    bed_file(&b, "a.o", "1");
    bed_file(&b, "build/x", "1");
    bed_file(&b, "sub/build/x", "1");
    bed_file(&b, "sub/.gitignore", "!keep.o\n");
    bed_file(&b, "sub/keep.o", "1");
    bed_file(&b, "sub/.valiseignore", "big*\n");
    bed_file(&b, "sub/bigger", "1");
    bed_file(&b, "sub/secret", "1");
    bed_file(&b, ".git/HEAD", "1");
    bed_file(&b, "sub/.valise/x", "1");
    bed_scan(&b);
    CHECK(has(&b, "a.c") && has(&b, "sub/build/x") && has(&b, "sub/keep.o"));
    CHECK(!has(&b, "a.o") && !has(&b, "build") && !has(&b, "sub/bigger"));
    CHECK(!has(&b, "sub/secret") && !has(&b, ".git") && !has(&b, "sub/.valise"));
    CHECK_INT(6, b.scan.ignored);

    bed_file(&b, ".gitignore", "*.c\n"); /* other rules: other files, without a change of them */
    bed_scan(&b);
    CHECK(!has(&b, "a.c") && has(&b, "a.o") && has(&b, "build/x"));
}

TEST(leaves_out, directories_of_which_all_is_ignored)
{
    scan_bed b;

    bed_open(&b, t);
    b.any_ignored = true;
    bed_file(&b, ".gitignore", "*.o\n");
    bed_dir(&b, "empty");
    bed_file(&b, "objects/a.o", "1");
    bed_file(&b, "nested/objects/a.o", "1");
    bed_file(&b, "mixed/objects/a.o", "1");
    bed_dir(&b, "mixed/empty");
    bed_dir(&b, "fifo");
    CHECK(mkfifo(bed_path(&b, "fifo/f"), 0600) == 0);
    bed_file(&b, "fifo-and-more/a.o", "1");
    CHECK(mkfifo(bed_path(&b, "fifo-and-more/f"), 0600) == 0);
    bed_scan(&b);
    CHECK(has(&b, "empty") && has(&b, "fifo"));
    CHECK(!has(&b, "objects") && !has(&b, "nested") && !has(&b, "fifo-and-more"));
    CHECK(has(&b, "mixed/empty") && !has(&b, "mixed/objects"));

    bed_file(&b, "nested/objects/a.c", "1");
    bed_scan(&b);
    CHECK_INT(3, b.scan.added);
    bed_remove(&b, "nested/objects/a.c");
    bed_scan(&b);
    CHECK_INT(3, b.scan.removed);
}

TEST(leaves_out, everything_but_the_root)
{
    scan_bed b;

    bed_open(&b, t);
    b.any_ignored = true;
    b.options.ignore = VLS_STR("*");
    bed_file(&b, "a", "1");
    bed_scan(&b);
    CHECK_INT(0, b.scan.counts.dirs);
    CHECK_INT(1, b.count);
}

TEST(leaves_out, the_store_wherever_it_lies) /* [C6] */
{
    scan_bed b;
    valise_id before;

    bed_open(&b, t);
    bed_file(&b, "a", "1");
    bed_scan(&b);
    before = b.scan.object;
    b.any_ignored = true;
    bed_file(&b, "deep/inside/state/log", "1");
    b.options.store = bed_path(&b, "deep/inside/state");
    bed_scan(&b);
    CHECK(vls_id_equal(&before, &b.scan.object)); /* as of a directory with nothing but .valise */
    bed_scan_sub(&b, "deep/inside/state");
    CHECK(vls_id_equal(&before, &b.scan.object));
    bed_scan_sub(&b, "deep/inside/state/log");
    CHECK(vls_id_equal(&before, &b.scan.object));
    b.options.store = b.store;
    bed_scan(&b);
    CHECK_INT(4, b.scan.added);
}

TEST(leaves_out, rule_files_that_are_no_plain_files)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "rules", "*.c\n");
    bed_link(&b, ".gitignore", "rules");
    bed_dir(&b, "d");
    bed_dir(&b, "d/.gitignore");
    bed_file(&b, "d/a.c", "1");
    bed_scan(&b);
    CHECK(has(&b, "d/a.c") && has(&b, ".gitignore"));
}

TEST(leaves_out, nothing_for_rules_that_are_too_large)
{
    char *large = test_alloc(1100000);
    scan_bed b;

    bed_open(&b, t);
    memset(large, '#', 1100000);
    bed_bytes(&b, "d/.gitignore", vls_str(large, 1100000));
    bed_file(&b, "d/a.c", "1");
    bed_scan(&b);
    CHECK(has(&b, "d/a.c") && has(&b, "d/.gitignore"));
    bed_check_errors(&b, "d/.gitignore");
    CHECK_INT(VALISE_E_TOO_LARGE, b.scan.errors.ptr[0].code);
}
