/* scan_moves.c -- what went from one path to another. [C12] */
#include "tree/scan_kit.h"

TEST(moves, of_a_file)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "a/old", "text");
    bed_file(&b, "b/x", "other");
    bed_scan(&b);
    bed_rename(&b, "a/old", "b/new");
    bed_file(&b, "a/keep", "k");
    bed_scan(&b);
    bed_check_moves(&b, "a/old>b/new");
    CHECK_INT(1, b.scan.moved);
    CHECK_INT(1, b.scan.added);
    CHECK_INT(0, b.scan.removed);
    CHECK_INT(0, b.scan.ambiguous.len);
}

TEST(moves, of_a_directory_take_what_is_in_it)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "src/a/x", "1");
    bed_file(&b, "src/a/y", "2");
    bed_file(&b, "src/z", "3");
    bed_link(&b, "src/l", "z");
    bed_scan(&b);
    bed_rename(&b, "src", "lib/code");
    bed_scan(&b);
    bed_check_moves(&b, "src>lib/code");
    CHECK_INT(1, b.scan.added); /* lib */
    CHECK_INT(0, b.scan.removed);
}

TEST(moves, of_directories_in_one_another_are_told_apart)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "x/sub/f", "1");
    bed_file(&b, "x/g", "2");
    bed_file(&b, "z/f", "1"); /* as x/sub */
    bed_file(&b, "keep", "k");
    bed_scan(&b);
    bed_rename(&b, "x", "y");
    bed_rename(&b, "z", "w");
    bed_scan(&b);
    bed_check_moves(&b, "x>y z>w"); /* without x and y there is one of the other on either side */
    CHECK_INT(0, b.scan.ambiguous.len);
    CHECK_INT(0, b.scan.added + b.scan.removed);
}

TEST(moves, of_a_file_out_of_a_directory_that_is_gone)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "d/a", "1");
    bed_file(&b, "d/b", "2");
    bed_scan(&b);
    bed_rename(&b, "d/a", "a");
    bed_remove(&b, "d");
    bed_scan(&b);
    bed_check_moves(&b, "d/a>a");
    CHECK_INT(2, b.scan.removed);
}

TEST(moves, that_are_not_one_to_one_are_reported)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "a", "same");
    bed_file(&b, "b", "same");
    bed_file(&b, "d/f", "dir");
    bed_scan(&b);
    bed_rename(&b, "a", "c");
    bed_remove(&b, "b");
    bed_rename(&b, "d", "e");
    bed_file(&b, "g/f", "dir");
    bed_scan(&b);
    bed_check_moves(&b, "");
    CHECK_INT(2, b.scan.ambiguous.len); /* directories first; not d/f, which is in one */
    CHECK_STR(VLS_STR("d"), b.scan.ambiguous.ptr[0].path);
    CHECK_STR(VLS_STR("a"), b.scan.ambiguous.ptr[1].path);
    CHECK_STR(VLS_STR("2 alike are gone and 1 is new, such as 'c'"),
              b.scan.ambiguous.ptr[1].message);
}

TEST(moves, of_what_is_empty)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "a", "");
    bed_dir(&b, "d");
    bed_scan(&b);
    bed_rename(&b, "a", "b");
    bed_rename(&b, "d", "e");
    bed_scan(&b);
    bed_check_moves(&b, "a>b d>e");
    CHECK_INT(0, b.scan.ambiguous.len);
    CHECK_INT(0, b.scan.added + b.scan.removed);
}

TEST(moves, of_what_is_empty_are_ambiguous_one_by_one)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "a", "");
    bed_file(&b, "b", "");
    bed_scan(&b);
    bed_rename(&b, "a", "c");
    bed_rename(&b, "b", "d");
    bed_scan(&b);
    bed_check_moves(&b, "");
    CHECK_INT(2, b.scan.ambiguous.len);
    CHECK(b.scan.ambiguous.ptr[0].minor && b.scan.ambiguous.ptr[1].minor);
    CHECK_STR(VLS_STR("a"), b.scan.ambiguous.ptr[0].path);
    CHECK_STR(VLS_STR("b"), b.scan.ambiguous.ptr[1].path);
}

TEST(moves, never_are_copies_nor_what_replaces_something)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "a", "1");
    bed_file(&b, "b", "2");
    bed_file(&b, "gone", "3");
    bed_scan(&b);
    bed_file(&b, "copy", "1");
    bed_rename(&b, "gone", "b");
    bed_scan(&b);
    bed_check_moves(&b, "");
    CHECK_INT(1, b.scan.changed);
    CHECK_INT(1, b.scan.added);
    CHECK_INT(1, b.scan.removed);
}

static void check_minor(const scan_bed *b, const char *expected)
{
    const char *all = "";

    for (size_t i = 0; i < b->scan.ambiguous.len; i++) {
        CHECK(b->scan.ambiguous.ptr[i].minor);
        all = test_format("%s%.*s ", all, VALISE_STR_ARG(b->scan.ambiguous.ptr[i].path));
    }
    CHECK_STR(valise_str_of(expected), valise_str_of(all));
}

TEST(moves, onto_others_are_reported_as_minor)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "b", "2");
    bed_file(&b, "edited", "e");
    bed_file(&b, "gone", "3");
    bed_file(&b, "x/1", "one");
    bed_file(&b, "x/2", "two");
    bed_scan(&b);
    bed_file(&b, "copy", "e"); /* as it was */
    bed_file(&b, "edited", "f");
    bed_rename(&b, "gone", "b");
    bed_scan(&b);
    check_minor(&b, "gone ");
    CHECK_STR(VLS_STR("what was there is at 'b' now, but one took the place of another"),
              b.scan.ambiguous.ptr[0].message);
    bed_rename(&b, "x/2", "x/3");
    bed_rename(&b, "x/1", "x/2");
    bed_scan(&b);
    bed_check_moves(&b, "");
    check_minor(&b, "x/1 x/2 ");
    bed_rename(&b, "x/2", "tmp");
    bed_rename(&b, "x/3", "x/2");
    bed_rename(&b, "tmp", "x/3");
    bed_scan(&b);
    check_minor(&b, "x/2 x/3 ");
    bed_file(&b, "copy", "another");
    bed_scan(&b);
    CHECK_INT(0, b.scan.ambiguous.len);
}

TEST(moves, into_what_was_a_file_before)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "a", "text");
    bed_scan(&b);
    bed_rename(&b, "a", "tmp");
    bed_dir(&b, "a");
    bed_rename(&b, "tmp", "a/old");
    bed_scan(&b);
    bed_check_moves(&b, "a>a/old");
    CHECK_INT(1, b.scan.added);
    CHECK_INT(0, b.scan.removed);
}

TEST(moves, of_links)
{
    scan_bed b;

    bed_open(&b, t);
    bed_link(&b, "a", "x");
    bed_link(&b, "b", "y");
    bed_scan(&b);
    bed_rename(&b, "a", "c");
    bed_rename(&b, "b", "d");
    bed_scan(&b);
    bed_check_moves(&b, "a>c b>d");
}
