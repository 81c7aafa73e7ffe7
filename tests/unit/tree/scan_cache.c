/* scan_cache.c -- the file of the stat cache: when it is used, written, damaged. [C2] */
#include "tree/scan_kit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tree/stat_cache_impl.h"
#include "tree/walk.h"

static void make_some(scan_bed *b)
{
    bed_open(b, b->t);
    bed_file(b, "a", "1");
    bed_file(b, "d/b", "22");
    bed_file(b, "d/e/c", "333");
    bed_link(b, "d/l", "b");
    bed_dir(b, "empty");
    bed_scan(b);
}

static int64_t cache_inode(const scan_bed *b)
{
    struct stat st;

    return stat(b->cache, &st) == 0 ? (int64_t)st.st_ino : 0;
}

TEST(cache, is_not_written_when_there_is_nothing_new)
{
    scan_bed b = {.t = t};
    int64_t inode;

    make_some(&b);
    bed_settle(&b);
    inode = cache_inode(&b);
    bed_scan(&b);
    CHECK_INT(inode, cache_inode(&b));
    CHECK_INT(0, b.old_calls);

    CHECK(utimensat(AT_FDCWD, bed_path(&b, "a"), NULL, 0) == 0); /* other times, same text */
    bed_scan(&b);
    CHECK_INT(1, b.scan.hashed);
    CHECK_INT(0, b.scan.changes.len);
    CHECK(inode != cache_inode(&b));
    bed_settle(&b);
    bed_scan(&b);
    CHECK_INT(0, b.scan.hashed);
}

TEST(cache, of_another_version_still_knows_the_files)
{
    scan_bed b = {.t = t};

    make_some(&b);
    bed_settle(&b);
    b.options.version = 9;
    bed_scan(&b);
    CHECK_INT(1, b.old_calls);
    CHECK_INT(0, b.scan.hashed);
    CHECK_INT(0, b.scan.changes.len);
    bed_scan(&b); /* it is of version 9 now */
    CHECK_INT(1, b.old_calls);

    b.options.object.bytes[0] ^= 1;
    bed_scan(&b);
    CHECK_INT(2, b.old_calls);
    CHECK_INT(0, b.scan.hashed);
}

TEST(cache, of_another_tree_is_not_believed)
{
    scan_bed b = {.t = t};

    make_some(&b);
    bed_settle(&b);
    b.no_keep = true;
    bed_file(&b, "a", "9");
    bed_scan(&b); /* recorded, but killed before the cache was written */
    CHECK_INT(1, b.scan.changed);
    b.no_keep = false;
    bed_file(&b, "a", "1");
    bed_scan(&b);
    CHECK_INT(1, b.scan.changed);
    CHECK_INT(1, b.old_calls);
}

TEST(cache, that_is_damaged_anywhere_is_none)
{
    scan_bed b = {.t = t};
    valise_str good;
    char *bad;

    make_some(&b);
    bed_settle(&b);
    good = test_read_file(b.cache);
    bad = test_alloc(good.len);
    test_note("%zu bytes", good.len);
    for (size_t i = 0; i < good.len; i++) {
        vls_tree_cache cache = {.env = t->env};
        memcpy(bad, good.ptr, good.len);
        bad[i] ^= 0x20;
        test_write_file(b.cache, vls_str(bad, good.len));
        test_context("byte %zu", i);
        /* Zeros that fill up text are part of the checksum too: nothing at all may change. */
        CHECK_INT(0, vls_cache_load(&cache, t->env, b.cache, &t->err));
        test_write_file(b.cache, vls_str(good.ptr, i));
        CHECK_INT(0, vls_cache_load(&cache, t->env, b.cache, &t->err));
    }
    test_context_end();
    bed_scan(&b);
    CHECK_INT(1, b.old_calls);
    CHECK_INT(3, b.scan.hashed);
    CHECK_INT(0, b.scan.changes.len);
    bed_settle(&b);
    CHECK_INT(1, b.old_calls);
}

/* ---- what only somebody who knows the checksums can make ---- */

static int tell_nodes(vls_tree_cache *out, test *t)
{
    static const char *const paths[] = {"", "a", "a/x", "b", "b/x", "c", "l"};
    VLS_AUTO(cache_builder) vls_cache_builder builder = {0};

    vls_cache_build_begin(&builder, t->env, NULL);
    for (size_t i = 0; i < VLS_COUNT(paths); i++) {
        size_t len = strlen(paths[i]);
        char last = len > 0 ? paths[i][len - 1] : 'a';
        vls_node node = {.kind = last == 'x' || last == 'c' ? VLS_NODE_FILE
                                 : last == 'l'              ? VLS_NODE_LINK
                                                            : VLS_NODE_DIR,
                         .size = 1,
                         .target = {last == 'l' ? "t" : NULL, last == 'l'}};
        CHECK_OK(vls_cache_build_add(&builder, valise_str_of(paths[i]), &node, &t->err));
    }
    return vls_cache_build_end(out, &builder, &t->err);
}

/* The root's record and the header, changed in some way. */
static void tamper(int how, vls_cache_header *head, vls_cache_record *root)
{
    char *text = (char *)(root->entries + root->count);

    switch (how) {
    case 0:
        root->entries[1].ref = root->entries[0].ref;
        break; /* one record, two directories */
    case 1:
        root->entries[0].ref += 1;
        break;
    case 2:
        root->entries[0].size = 2;
        break;
    case 3:
        root->entries[2].kind = VLS_NODE_GONE;
        break;
    case 4:
        root->entries[2].kind = 9;
        break;
    case 5:
        root->entries[0].exec = 1;
        break;
    case 6:
        root->entries[2].unsure = 2;
        break;
    case 7:
        root->entries[2].zero = 1;
        break;
    case 8:
        root->entries[2].size = -1;
        break;
    case 9:
        root->entries[2].name = root->text_len;
        break;
    case 10:
        root->entries[2].name_len = 0;
        break;
    case 11:
        text[root->entries[2].name] = '/';
        break;
    case 12:
        text[root->entries[2].name] = '.';
        break;
    case 13:
        text[root->entries[2].name] = '\0';
        break;
    case 14:
        text[root->entries[2].name] = 'a';
        break; /* not in order */
    case 15:
        root->entries[3].ref = root->text_len;
        break;
    case 16:
        root->entries[3].size = 1000;
        break;
    case 17:
        text[root->entries[3].ref] = '\0';
        break;
    case 18:
        root->piece += 8;
        break;
    case 19:
        root->entries[1].kind = VLS_NODE_FILE;
        break; /* a record of nobody */
    case 20:
        root->entries[2].kind = VLS_NODE_DIR;
        break; /* of nothing */
    case 21:
        root->count = UINT32_MAX;
        break;
    case 22:
        head->root.size = 9;
        break;
    case 23:
        head->root.ref -= 1;
        break;
    case 24:
        head->root.kind = VLS_NODE_FILE;
        break;
    case 25:
        head->root.name_len = 1;
        break;
    case 26:
        head->counts.files++;
        break;
    case 27:
        head->counts.bytes = -1;
        break;
    default:
        head->size += 8;
        break;
    }
}

TEST(cache, that_was_tampered_with_is_none)
{
    vls_tree_cache cache;

    CHECK_OK(tell_nodes(&cache, t));
    CHECK_INT(1, vls_cache_check(t->env, vls_str(cache.bytes, cache.size), &t->err));
    vls_cache_release(&cache);
    for (int how = 0; how < 29; how++) {
        CHECK_OK(tell_nodes(&cache, t));
        vls_cache_header *head = (void *)cache.bytes;
        size_t start = cache.size - (size_t)head->root.ref * 8;
        vls_cache_record *root = (void *)(cache.bytes + start);
        test_context("way %d", how);
        tamper(how, head, root);
        root->checksum = vls_cache_sum(root, cache.size - start);
        head->checksum = vls_cache_sum_head(head);
        CHECK_INT(0, vls_cache_check(t->env, vls_str(cache.bytes, cache.size), &t->err));
        vls_cache_release(&cache);
    }
    test_context_end();
}

TEST(cache, is_not_built_from_nodes_that_are_out_of_order)
{
    static const char *const bad[][4] = {
        {"a"},       {"", ""},         {"", "b", "a"}, {"", "a", "a"},
        {"", "a/b"}, {"", "c", "c/x"}, {"", "b/"},     {"", "a", "b", "a/x"}};
    vls_node dir = {.kind = VLS_NODE_DIR}, file = {.kind = VLS_NODE_FILE};

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        VLS_AUTO(cache_builder) vls_cache_builder builder = {0};
        int rc = 0;
        vls_cache_build_begin(&builder, t->env, NULL);
        for (size_t k = 0; k < 4 && bad[i][k] && rc == 0; k++)
            rc = vls_cache_build_add(&builder, valise_str_of(bad[i][k]),
                                     bad[i][k][0] == 'c' ? &file : &dir, &t->err);
        CHECK(rc == VALISE_E_CORRUPT || rc == VALISE_E_INVALID);
    }
    VLS_AUTO(cache_builder) vls_cache_builder other = {0};
    vls_cache_build_begin(&other, t->env, NULL);
    CHECK_RC(VALISE_E_CORRUPT, vls_cache_build_add(&other, VLS_STR(""), &file, &t->err));
}

TEST(cache, that_is_no_file_is_none)
{
    scan_bed b = {.t = t};
    vls_tree_cache cache = {.env = t->env};

    make_some(&b);
    CHECK(unlink(b.cache) == 0 && symlink("/etc/passwd", b.cache) == 0);
    CHECK_INT(0, vls_cache_load(&cache, t->env, b.cache, &t->err));
    CHECK(unlink(b.cache) == 0 && mkfifo(b.cache, 0600) == 0);
    CHECK_INT(0, vls_cache_load(&cache, t->env, b.cache, &t->err));
    CHECK(unlink(b.cache) == 0 && mkdir(b.cache, 0700) == 0);
    bed_file(&b, "new", "1");
    CHECK_OK(vls_tree_scan(&b.scan, (bed_close(&b), &b.options), &t->err));
    bed_hold(&b);
    CHECK(vls_tree_scan_keep(&b.scan, 2, &t->err) < 0);
    CHECK(access(test_format("%s.tmp", b.cache), F_OK) < 0);
}

TEST(cache, that_somebody_else_writes_is_left_to_them)
{
    scan_bed b = {.t = t};
    const char *temporary;
    struct timespec old[2] = {{1000, 0}, {1000, 0}};

    make_some(&b);
    temporary = test_format("%s.tmp", b.cache);
    test_write_file(temporary, VLS_STR("half"));
    bed_file(&b, "new", "1");
    b.no_keep = true;
    bed_scan(&b);
    CHECK_RC(VALISE_E_BUSY, vls_tree_scan_keep(&b.scan, b.options.version, &t->err));
    CHECK_STR(VLS_STR("half"), test_read_file(temporary));
    CHECK(utimensat(AT_FDCWD, temporary, old, 0) == 0); /* whoever it was has been killed */
    CHECK_OK(vls_tree_scan_keep(&b.scan, b.options.version, &t->err));
    CHECK(access(temporary, F_OK) < 0);
    bed_scan(&b);
    CHECK_INT(0, b.old_calls);
    old[0].tv_sec = old[1].tv_sec = INT64_C(4000000000); /* by a clock that was set back since */
    test_write_file(temporary, VLS_STR("half"));
    CHECK(utimensat(AT_FDCWD, temporary, old, 0) == 0);
    bed_file(&b, "newer", "1");
    bed_scan(&b);
    CHECK_OK(vls_tree_scan_keep(&b.scan, b.options.version, &t->err));
    CHECK(access(temporary, F_OK) < 0);
}

TEST(cache, keeps_pieces_that_did_not_change)
{
    scan_bed b = {.t = t};

    bed_open(&b, t);
    for (int i = 0; i < 300; i++)
        bed_file(&b, test_format("%d/%d/%d", i % 7, i % 3, i), test_format("%d", i));
    bed_scan(&b);
    bed_settle(&b);
    for (int i = 0; i < 20; i++) {
        bed_file(&b, test_format("%d/%d/%d", i % 7, i % 3, i), test_format("edit %d", i));
        if (i % 5 == 0)
            bed_remove(&b, test_format("%d/2", i % 7));
        bed_scan(&b);
    }
    CHECK_INT(0, b.old_calls);
    bed_settle(&b);
    CHECK_INT(0, b.scan.hashed);
}

/* ---- racy files ---- */

TEST(racy, is_what_is_not_older_than_the_clock)
{
    const int64_t s = 1000000000, now = 5000 * s + 123;

    CHECK(vls_walk_is_settled(now - 1, now));
    CHECK(!vls_walk_is_settled(now, now));
    CHECK(!vls_walk_is_settled(now + 1, now));
    CHECK(!vls_walk_is_settled(now + 3600 * s, now)); /* the future, or a clock that was set back */
    CHECK(!vls_walk_is_settled(INT64_MAX, now));
    CHECK(vls_walk_is_settled(INT64_MIN, now));
    /* Whole seconds: it may be a file system that knows no others, or only every second one. */
    CHECK(!vls_walk_is_settled(5000 * s, now));
    CHECK(!vls_walk_is_settled(4999 * s, now));
    CHECK(vls_walk_is_settled(4998 * s, now));
    CHECK(vls_walk_is_settled(4998 * s, 5000 * s));
    CHECK(!vls_walk_is_settled(4998 * s, 5000 * s - 1));
    /* Without a clock nothing is. */
    CHECK(!vls_walk_is_settled(0, INT64_MIN));
    CHECK(!vls_walk_is_settled(INT64_MIN, INT64_MIN));
}

TEST(racy, edits_of_equal_size_and_mtime_are_seen)
{
    scan_bed b;
    struct stat st;

    bed_open(&b, t);
    for (int i = 0; i < 50; i++) {
        test_write_file(bed_path(&b, "f"), VLS_STR("aaaa"));
        bed_scan(&b);
        CHECK(stat(bed_path(&b, "f"), &st) == 0);
        struct timespec same[2] = {st.st_atim, st.st_mtim};
        int fd = open(bed_path(&b, "f"), O_WRONLY | O_CLOEXEC);
        CHECK(write(fd, "bbbb", 4) == 4);
        CHECK(futimens(fd, same) == 0);
        (void)close(fd);
        bed_scan(&b);
        CHECK_INT(1, b.scan.changed);
    }
}

/* Whether a walk that began when the clock showed that keeps the stat of the one file there is. */
static bool is_sure(scan_bed *b, int64_t clock_ns)
{
    test *t = b->t;
    vls_tree_cache none = {.env = t->env};
    vls_walk walk;
    bool sure;

    CHECK_OK(vls_walk_init(&walk, &b->options, &none, clock_ns, &t->err));
    CHECK_OK(vls_walk_run(&walk, &t->err));
    CHECK_INT(1, walk.root.dir->count);
    sure = !walk.root.dir->entries[0].e.unsure;
    CHECK(sure == (walk.root.dir->entries[0].e.ctime_ns != 0));
    vls_walk_release(&walk);
    return sure;
}

/* Nobody can set a ctime, but the clock of a walk. */
TEST(racy, files_of_the_tick_of_the_scan_have_no_stat)
{
    scan_bed b;
    struct stat st;
    int64_t ctime_ns;

    bed_open(&b, t);
    bed_file(&b, "f", "1"); /* mtime: long ago */
    CHECK(stat(bed_path(&b, "f"), &st) == 0);
    ctime_ns = st.st_ctim.tv_sec * INT64_C(1000000000) + st.st_ctim.tv_nsec;
    CHECK(!is_sure(&b, ctime_ns - 1));
    CHECK(!is_sure(&b, ctime_ns));
    CHECK(is_sure(&b, ctime_ns + 2000000001)); /* it may have been a whole second */
    CHECK(!is_sure(&b, INT64_MIN));
    struct timespec mtime[2] = {st.st_ctim, {st.st_ctim.tv_sec + 5, 7}};
    CHECK(utimensat(AT_FDCWD, bed_path(&b, "f"), mtime, 0) == 0);
    CHECK(!is_sure(&b, ctime_ns + 5000000000 - ctime_ns % 1000000000 + 7));
    CHECK(is_sure(&b, ctime_ns + 5000000000 - ctime_ns % 1000000000 + 8));
}

TEST(racy, files_from_the_future_are_read_each_time)
{
    struct timespec future[2] = {{7000000000, 0}, {7000000000, 0}};
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "f", "1");
    bed_file(&b, "g", "2");
    bed_scan(&b);
    bed_settle(&b);
    CHECK(utimensat(AT_FDCWD, bed_path(&b, "f"), future, 0) == 0);
    for (int i = 0; i < 3; i++) {
        (void)usleep(6000);
        bed_scan(&b);
        CHECK_INT(1, b.scan.hashed);
    }
}

/* ---- one path ---- */

static int stat_of(scan_bed *b, const char *path)
{
    test *t = b->t;
    const bed_node *was = bed_find(b, path);
    int answer = -1;

    CHECK_OK(
        vls_tree_stat(&answer, &b->options, valise_str_of(path), was ? &was->node : NULL, &t->err));
    return answer;
}

TEST(stat, says_whether_a_path_is_as_it_was) /* [C10] */
{
    scan_bed b = {.t = t};

    make_some(&b);
    bed_settle(&b);
    (void)usleep(6000);
    bed_scan(&b);
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "a"));
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "d/e/c"));
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "d/l"));
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "d/e"));
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, ""));
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "nothing"));
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "a/below/a/file"));

    bed_file(&b, "d/b", "23");
    bed_file(&b, "new", "1");
    bed_remove(&b, "empty");
    bed_link(&b, "empty", "b");
    bed_remove(&b, "d/e");
    CHECK_INT(VLS_STAT_DIFFERS, stat_of(&b, "d/b"));
    CHECK_INT(VLS_STAT_DIFFERS, stat_of(&b, "new"));
    CHECK_INT(VLS_STAT_DIFFERS, stat_of(&b, "empty"));
    CHECK_INT(VLS_STAT_DIFFERS, stat_of(&b, "d/e/c"));
    CHECK_INT(VLS_STAT_DIFFERS, stat_of(&b, "d"));
    CHECK_INT(VLS_STAT_DIFFERS, stat_of(&b, ""));
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "a"));
}

TEST(stat, of_what_does_not_belong_to_the_tree_is_the_same)
{
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, ".gitignore", "*.o\n");
    bed_file(&b, "d/.valiseignore", "x*\n");
    b.any_ignored = true;
    bed_scan(&b);
    bed_file(&b, "a.o", "1");
    bed_file(&b, "d/x/y", "1");
    bed_file(&b, ".git/config", "1");
    CHECK(mkfifo(bed_path(&b, "fifo"), 0600) == 0);
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "a.o"));
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "d/x/y"));
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, ".git/config"));
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "fifo"));
    bed_file(&b, "a.c", "1");
    CHECK_INT(VLS_STAT_DIFFERS, stat_of(&b, "a.c"));
}

TEST(stat, is_unknown_without_the_right_cache)
{
    scan_bed b = {.t = t};
    int answer = -1;
    valise_str good;
    char *bad;

    make_some(&b);
    bed_settle(&b);
    CHECK_RC(VALISE_E_INVALID, vls_tree_stat(&answer, &b.options, VLS_STR("a/"), NULL, &t->err));
    good = test_read_file(b.cache);
    bad = test_alloc(good.len);
    for (size_t i = 0; i < good.len; i++) {
        memcpy(bad, good.ptr, good.len);
        bad[i] ^= 1;
        test_write_file(b.cache, vls_str(bad, good.len));
        int rc = stat_of(&b, "d/e/c"); /* reads not all of it */
        CHECK(rc == VLS_STAT_UNKNOWN || rc == VLS_STAT_SAME);
    }
    test_write_file(b.cache, good);
    b.options.version++; /* an entry is true all the same */
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "a"));
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "nothing"));
    b.options.cache = NULL;
    CHECK_INT(VLS_STAT_UNKNOWN, stat_of(&b, "a"));
    CHECK_INT(VLS_STAT_SAME, stat_of(&b, "nothing"));
}

TEST(stat, without_the_cache_says_what_the_tree_alone_can_tell) /* [C10] */
{
    scan_bed b = {.t = t};

    make_some(&b);
    b.options.cache = NULL;
    bed_remove(&b, "a");
    bed_file(&b, "d/b", "longer than it was");
    bed_remove(&b, "d/l");
    bed_file(&b, "d/l", "no link");
    bed_file(&b, "new", "1");
    CHECK(chmod(bed_path(&b, "d/e/c"), 0755) == 0);
    CHECK_INT(VLS_STAT_DIFFERS, stat_of(&b, "a"));
    CHECK_INT(VLS_STAT_DIFFERS, stat_of(&b, "d/b"));
    CHECK_INT(VLS_STAT_DIFFERS, stat_of(&b, "d/l"));
    CHECK_INT(VLS_STAT_DIFFERS, stat_of(&b, "d/e/c"));
    CHECK_INT(VLS_STAT_DIFFERS, stat_of(&b, "new"));
    CHECK_INT(VLS_STAT_UNKNOWN, stat_of(&b, "d"));
}

TEST(stat, is_unknown_of_what_changed_in_the_moment_it_was_read)
{
    struct timespec future[2] = {{7000000000, 0}, {7000000000, 0}};
    scan_bed b;

    bed_open(&b, t);
    bed_file(&b, "f", "1");
    CHECK(utimensat(AT_FDCWD, bed_path(&b, "f"), future, 0) == 0);
    bed_scan(&b);
    CHECK_INT(VLS_STAT_UNKNOWN, stat_of(&b, "f"));
}

static int read_of(scan_bed *b, const char *path)
{
    test *t = b->t;
    const bed_node *was = bed_find(b, path);
    int answer = -1;

    CHECK_OK(vls_tree_read(&answer, &b->options, valise_str_of(path), &was->node, &t->err));
    return answer;
}

TEST(stat, by_the_bytes_of_a_file)
{
    scan_bed b = {.t = t};
    vls_node large = {.kind = VLS_NODE_FILE, .size = VLS_STAT_READ_MAX + 1};
    int answer = -1;

    make_some(&b);
    bed_settle(&b);
    CHECK_INT(VLS_STAT_SAME, read_of(&b, "d/b"));
    CHECK_INT(VLS_STAT_SAME, read_of(&b, "d/e/c"));
    CHECK_INT(VLS_STAT_UNKNOWN, read_of(&b, "d/l")); /* a link */
    CHECK_INT(VLS_STAT_UNKNOWN, read_of(&b, "d/e"));
    CHECK_INT(VLS_STAT_UNKNOWN, read_of(&b, ""));
    bed_file(&b, "d/b", "23"); /* as long as it was */
    CHECK_INT(VLS_STAT_DIFFERS, read_of(&b, "d/b"));
    bed_file(&b, "d/b", "longer");
    CHECK_INT(VLS_STAT_DIFFERS, read_of(&b, "d/b"));
    CHECK_OK(vls_tree_read(&answer, &b.options, VLS_STR("d/b"), &large, &t->err));
    CHECK_INT(VLS_STAT_UNKNOWN, answer);
    CHECK_RC(VALISE_E_INVALID, vls_tree_read(&answer, &b.options, VLS_STR("d/"), &large, &t->err));
    bed_remove(&b, "d/b");
    CHECK_INT(VLS_STAT_UNKNOWN, read_of(&b, "d/b"));
    CHECK(mkfifo(bed_path(&b, "d/b"), 0600) == 0); /* does not wait for somebody to write */
    CHECK_INT(VLS_STAT_DIFFERS, read_of(&b, "d/b"));
    bed_remove(&b, "d/b");
    bed_link(&b, "d/b", "e/c"); /* not followed */
    CHECK_INT(VLS_STAT_UNKNOWN, read_of(&b, "d/b"));
    bed_remove(&b, "d");
    bed_link(&b, "d", "elsewhere");
    CHECK_INT(VLS_STAT_UNKNOWN, read_of(&b, "d/e/c"));
}
