/* scan_sub.c -- scans of one path, against scans of everything. [C10] */
#include "tree/scan_kit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "harness/model.h"

static void make_some(scan_bed *b)
{
    bed_open(b, b->t);
    bed_file(b, "a", "1");
    bed_file(b, "d/b", "22");
    bed_file(b, "d/e/c", "333");
    bed_file(b, "d/e/f", "4");
    bed_link(b, "d/l", "b");
    bed_dir(b, "empty");
    bed_scan(b);
    bed_settle(b);
}

/* Nothing else had changed: a scan of everything finds nothing more. */
static void check_all(scan_bed *b)
{
    bed_scan(b);
    CHECK_INT(0, b->scan.changes.len);
    CHECK_INT(0, b->old_calls);
}

TEST(sub, of_a_file)
{
    scan_bed b = {.t = t};

    make_some(&b);
    bed_file(&b, "d/e/c", "changed");
    bed_scan_sub(&b, "d/e/c");
    CHECK_INT(1, b.scan.changed);
    CHECK_INT(1, b.scan.hashed);
    CHECK_INT(4, b.scan.counts.files);
    check_all(&b);
    bed_scan_sub(&b, "d/e/c");
    CHECK_INT(0, b.scan.changes.len);
}

TEST(sub, of_a_file_that_is_new)
{
    scan_bed b = {.t = t};

    make_some(&b);
    bed_file(&b, "d/e/a", "first");
    bed_scan_sub(&b, "d/e/a");
    CHECK_INT(1, b.scan.added);
    bed_file(&b, "d/e/z", "last");
    bed_scan_sub(&b, "d/e/z");
    CHECK_INT(1, b.scan.added);
    bed_file(&b, "x/y/z", "in new directories");
    bed_scan_sub(&b, "x/y/z");
    CHECK_INT(3, b.scan.added);
    check_all(&b);
}

TEST(sub, of_what_is_gone)
{
    scan_bed b = {.t = t};

    make_some(&b);
    bed_remove(&b, "d/e/c");
    bed_scan_sub(&b, "d/e/c");
    CHECK_INT(1, b.scan.removed);
    bed_remove(&b, "d/e/f");
    bed_scan_sub(&b, "d/e/f"); /* the directory is empty, but there */
    CHECK_INT(1, b.scan.removed);
    CHECK(bed_find(&b, "d/e") != NULL);
    bed_remove(&b, "d");
    bed_scan_sub(&b, "d/e/whatever");
    CHECK_INT(4, b.scan.removed);
    bed_scan_sub(&b, "never/was");
    CHECK_INT(0, b.scan.changes.len);
    check_all(&b);
}

TEST(sub, of_a_directory)
{
    scan_bed b = {.t = t};

    make_some(&b);
    bed_file(&b, "d/e/new", "1");
    bed_file(&b, "d/b", "changed");
    bed_file(&b, "a", "not seen");
    bed_scan_sub(&b, "d");
    CHECK_INT(1, b.scan.added);
    CHECK_INT(1, b.scan.changed);
    bed_scan(&b);
    CHECK_INT(1, b.scan.changed);
    bed_scan_sub(&b, "empty");
    CHECK_INT(0, b.scan.changes.len);
    check_all(&b);
}

TEST(sub, of_other_kinds)
{
    scan_bed b = {.t = t};

    make_some(&b);
    bed_remove(&b, "d/e");
    bed_file(&b, "d/e", "a file");
    bed_scan_sub(&b, "d/e/c");
    CHECK_INT(3, b.scan.removed);
    CHECK_INT(1, b.scan.added);
    bed_remove(&b, "d/l");
    bed_file(&b, "d/l/x", "1");
    bed_scan_sub(&b, "d/l");
    bed_remove(&b, "a");
    CHECK(mkfifo(bed_path(&b, "a"), 0600) == 0);
    bed_scan_sub(&b, "a");
    CHECK_INT(1, b.scan.removed);
    CHECK_INT(1, b.scan.skipped);
    check_all(&b);
}

TEST(sub, of_what_is_ignored_is_nothing)
{
    scan_bed b = {.t = t};

    b.any_ignored = true;
    bed_open(&b, t);
    b.any_ignored = true;
    bed_file(&b, "a.o", "1");
    bed_file(&b, "d/x.o", "1");
    bed_file(&b, "d/y.c", "1");
    bed_file(&b, "d/z.c", "1");
    bed_scan(&b);
    bed_file(&b, ".gitignore", "*.o\n");
    bed_scan_sub(&b, "a.o");
    CHECK_INT(1, b.scan.removed);
    CHECK_INT(1, b.scan.ignored);
    bed_scan_sub(&b, ".gitignore"); /* speaks of all that is beside and below it */
    CHECK_INT(1, b.scan.added);
    CHECK_INT(1, b.scan.removed);
    bed_file(&b, "d/.gitignore", "z*\n");
    bed_scan_sub(&b, "d/.gitignore");
    CHECK_INT(1, b.scan.removed);
    bed_remove(&b, "d/.gitignore");
    bed_remove(&b, "d/z.c");
    bed_scan_sub(&b, "d/.gitignore");
    bed_remove(&b, "d/y.c");
    bed_scan_sub(&b, "d/y.c"); /* what is left is ignored: the directory goes */
    CHECK_INT(2, b.scan.removed);
    bed_file(&b, ".gitignore", "*.o\nd/\n");
    bed_file(&b, "d/y.c", "1");
    bed_scan_sub(&b, "d/y.c");
    CHECK_INT(0, b.scan.changes.len); /* the directory above it is ignored */
    bed_scan(&b);
    CHECK_INT(1, b.scan.changed);
}

TEST(sub, below_a_directory_that_is_ignored_now_removes_it)
{
    scan_bed b;

    bed_open(&b, t);
    b.any_ignored = true;
    bed_file(&b, "d/e/f", "1");
    bed_file(&b, "d/g", "2");
    bed_scan(&b);
    b.options.ignore = VLS_STR("e/\n");
    bed_scan_sub(&b, "d/e/f");
    CHECK_INT(2, b.scan.removed);
    CHECK_INT(1, b.scan.ignored);
    b.options.ignore = VLS_STR("");
    bed_scan(&b);
    b.options.store = bed_path(&b, "d/e"); /* what is the store now was none before */
    bed_scan_sub(&b, "d/e/f");
    CHECK_INT(2, b.scan.removed);
    bed_scan(&b);
    CHECK_INT(0, b.scan.changes.len);
}

TEST(sub, without_a_tree_before_is_a_scan_of_everything)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "a", "1");
    bed_file(&b, "b", "1");
    bed_scan_sub(&b, "a");
    CHECK_INT(2, b.scan.added);
}

/* ---- any edits, whole scans and those of what was edited, against the naive walk ---- */

static const char *const names[] = {"a", "b", "c.x", "c"};

/* One number for all of it: how deep, and the names. */
static const char *a_path(model_args *a)
{
    uint64_t n = model_below(a, "path", 1024), depth = n % 4;
    const char *path = names[n / 4 % 4];

    for (uint64_t i = 0; i < depth; i++)
        path = test_format("%s/%s", names[(n >> (4 + 2 * i)) % 4], path);
    return path;
}

static void *start(test *t, const char *dir)
{
    scan_bed *b = test_alloc(sizeof(*b));

    bed_open_in(b, t, dir);
    bed_scan(b);
    return b;
}

/* What is in the way goes. */
static void clear_way(scan_bed *b, const char *path)
{
    struct stat st;

    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        const char *above = bed_path(b, test_format("%.*s", (int)(at - path), path));
        if (lstat(above, &st) == 0 && !S_ISDIR(st.st_mode))
            test_remove(above);
    }
    bed_remove(b, path);
}

static void changed(scan_bed *b, const char *path, model_args *a)
{
    switch (model_below(a, "scan", 4)) {
    case 0:
        bed_scan(b);
        break;
    case 1:
        bed_scan(b);
        bed_scan_sub(b, path);
        CHECK_INT(0, b->scan.changes.len);
        break;
    default:
        bed_scan_sub(b, path);
        bed_scan(b);
        CHECK_INT(0, b->scan.changes.len);
        break;
    }
}

static void op_file(void *state, model_args *a)
{
    scan_bed *b = state;
    const char *path = a_path(a);
    uint64_t text = model_below(a, "text", 6);

    bed_scan(b); /* nothing else has changed */
    clear_way(b, path);
    bed_file(b, path, text ? test_format("%d", (int)text) : "");
    changed(b, path, a);
}

static void op_link(void *state, model_args *a)
{
    scan_bed *b = state;
    const char *path = a_path(a);

    clear_way(b, path);
    bed_link(b, path, "target");
    changed(b, path, a);
}

static void op_dir(void *state, model_args *a)
{
    scan_bed *b = state;
    const char *path = a_path(a);

    clear_way(b, path);
    bed_dir(b, path);
    changed(b, path, a);
}

static void op_remove(void *state, model_args *a)
{
    scan_bed *b = state;
    const char *path = a_path(a);

    bed_remove(b, path);
    changed(b, path, a);
}

static void op_rename(void *state, model_args *a)
{
    scan_bed *b = state;
    const char *from = a_path(a), *to = a_path(a);
    struct stat st;

    if (lstat(bed_path(b, from), &st) < 0 ||
        vls_path_is_under(valise_str_of(to), valise_str_of(from)) ||
        vls_path_is_under(valise_str_of(from), valise_str_of(to)))
        return;
    clear_way(b, to);
    if (lstat(bed_path(b, from), &st) == 0) /* it may have been in the way itself */
        bed_rename(b, from, to);
    bed_scan(b);
}

static void op_forget(void *state, model_args *a)
{
    scan_bed *b = state;

    (void)a;
    (void)unlink(b->cache);
}

static void op_threads(void *state, model_args *a)
{
    scan_bed *b = state;

    b->options.threads = 1 + (unsigned)model_below(a, "threads", 3);
}

static void stop(void *state)
{
    bed_close(state);
}

TEST(sub, agrees_with_a_scan_of_everything_and_the_naive_walk)
{
    static const model m = {.start = start,
                            .stop = stop,
                            .wants_dir = true,
                            .runs = 20,
                            .steps = 40,
                            .ops = {{"file", 6, op_file},
                                    {"link", 1, op_link},
                                    {"dir", 2, op_dir},
                                    {"remove", 3, op_remove},
                                    {"rename", 3, op_rename},
                                    {"forget", 1, op_forget},
                                    {"threads", 1, op_threads}}};
    model_test(t, &m);
}
