/* scan_subs.c -- several paths in one walk, and the cache held in memory, against scans of
 * everything. [C27] */
#include "tree/scan_kit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "harness/fault.h"
#include "harness/model.h"

#define MAX_SUBS 100

typedef struct subs_bed {
    scan_bed b;
    vls_scan_memory memory;
    valise_str subs[MAX_SUBS];
    size_t count;
} subs_bed;

static void release_memory(void *arg)
{
    vls_scan_memory_release(arg);
}

static subs_bed *open_in(test *t, const char *dir)
{
    subs_bed *s = test_alloc(sizeof(*s));

    *s = (subs_bed){.count = 0};
    bed_open_in(&s->b, t, dir);
    s->b.options.memory = &s->memory;
    test_defer(release_memory, &s->memory);
    return s;
}

static void look(subs_bed *s)
{
    s->b.options.subs = s->subs;
    s->b.options.sub_count = s->count;
    bed_scan(&s->b);
    s->b.options.subs = NULL;
    s->b.options.sub_count = 0;
    s->count = 0;
}

static void add(subs_bed *s, const char *path)
{
    s->subs[s->count++] = valise_str_of(path);
}

/* With no help from memory, and with it: nothing was missed. */
static void check_all(subs_bed *s)
{
    bed_scan(&s->b);
    CHECK_INT(0, s->b.scan.changes.len);
}

static subs_bed *make_some(test *t)
{
    subs_bed *s = open_in(t, test_tmpdir());

    bed_file(&s->b, "a", "1");
    bed_file(&s->b, "d/b", "22");
    bed_file(&s->b, "d/e/c", "333");
    bed_file(&s->b, "d/e/f", "4");
    bed_file(&s->b, "d.x", "5");
    bed_file(&s->b, "g/h/i", "6");
    bed_link(&s->b, "d/l", "b");
    bed_dir(&s->b, "empty");
    bed_scan(&s->b);
    bed_settle(&s->b);
    return s;
}

TEST(subs, are_one_walk_with_one_result)
{
    subs_bed *s = make_some(t);

    bed_file(&s->b, "d/e/c", "changed");
    bed_file(&s->b, "d/e/new", "new");
    bed_file(&s->b, "g/h/i", "changed too");
    bed_file(&s->b, "a", "not looked at");
    bed_remove(&s->b, "d.x");
    add(s, "g/h/i");
    add(s, "d.x");
    add(s, "d/e/new");
    add(s, "d/e/c");
    add(s, "d/e/c"); /* twice is once */
    look(s);
    CHECK_INT(2, s->b.scan.changed);
    CHECK_INT(1, s->b.scan.added);
    CHECK_INT(1, s->b.scan.removed);
    CHECK_INT(3, s->b.scan.hashed);
    bed_scan(&s->b);
    CHECK_INT(1, s->b.scan.changed);
    CHECK_INT(0, s->b.old_calls);
    check_all(s);
}

TEST(subs, find_what_moved_from_one_to_another)
{
    subs_bed *s = make_some(t);

    bed_rename(&s->b, "d/e", "g/e2");
    bed_rename(&s->b, "a", "d/a2");
    add(s, "d/e");
    add(s, "g/e2");
    add(s, "a");
    add(s, "d/a2");
    look(s);
    bed_check_moves(&s->b, "a>d/a2 d/e>g/e2");
    check_all(s);
}

TEST(subs, below_one_another_are_the_upper_one)
{
    subs_bed *s = make_some(t);

    bed_file(&s->b, "d/e/c", "changed");
    bed_file(&s->b, "d/b", "changed");
    add(s, "d/e/c");
    add(s, "d");
    add(s, "d/nothing/there");
    look(s);
    CHECK_INT(2, s->b.scan.changed);
    bed_file(&s->b, "a", "seen");
    add(s, "d/b");
    add(s, ""); /* all of it */
    look(s);
    CHECK_INT(1, s->b.scan.changed);
    check_all(s);
}

TEST(subs, that_empty_directories_are_looked_at_there)
{
    subs_bed *s = make_some(t);

    s->b.any_ignored = true;
    bed_file(&s->b, ".gitignore", "*.o\n");
    bed_file(&s->b, "g/h/x.o", "left out");
    bed_file(&s->b, "d/e/x.o", "left out");
    bed_scan(&s->b);
    bed_remove(&s->b, "g/h/i");
    bed_remove(&s->b, "d/e/c");
    bed_remove(&s->b, "d/e/f");
    bed_file(&s->b, "a", "changed");
    add(s, "g/h/i");
    add(s, "d/e/c");
    add(s, "d/e/f");
    add(s, "a");
    look(s);
    CHECK(!bed_find(&s->b, "g")); /* what is left in it is left out, and so is it */
    CHECK(!bed_find(&s->b, "d/e"));
    CHECK_INT(6, s->b.scan.removed);
    CHECK_INT(1, s->b.scan.changed);
    check_all(s);
    bed_file(&s->b, "g/h/i", "there again");
    bed_file(&s->b, "d/.valiseignore", "b\n");
    add(s, "g/h/i");
    add(s, "d/.valiseignore");
    look(s);
    CHECK_INT(4, s->b.scan.added);
    CHECK_INT(1, s->b.scan.removed);
    check_all(s);
}

TEST(subs, too_many_are_all_of_the_tree)
{
    subs_bed *s = make_some(t);

    bed_file(&s->b, "a", "not named, but seen");
    for (int i = 0; i < MAX_SUBS; i++) {
        const char *path = test_format("d/n%d", i);
        bed_file(&s->b, path, path);
        add(s, path);
    }
    look(s);
    CHECK_INT(MAX_SUBS, s->b.scan.added);
    CHECK_INT(1, s->b.scan.changed);
    check_all(s);
}

TEST(subs, are_checked)
{
    subs_bed *s = make_some(t);
    valise_str wrong = VLS_STR("../outside");
    vls_scan scan;

    s->b.options.subs = &wrong;
    s->b.options.sub_count = 1;
    CHECK_RC(VALISE_E_INVALID, vls_tree_scan(&scan, &s->b.options, &t->err));
}

typedef struct entered {
    char text[256];
} entered;

static void note(void *self, valise_str path, int fd)
{
    entered *e = self;
    size_t len = strlen(e->text);

    (void)snprintf(e->text + len, sizeof(e->text) - len, "%.*s%s ", VALISE_STR_ARG(path),
                   fd >= 0 ? "" : "!");
}

TEST(subs, tell_which_directories_are_entered)
{
    subs_bed *s = make_some(t);
    entered e = {""};
    vls_scan scan;

    s->b.any_ignored = true;
    bed_file(&s->b, ".gitignore", "d/e\n*.o\n");
    bed_file(&s->b, "left/x.o", "a directory that is none of the tree");
    bed_scan(&s->b);
    s->b.options.enter = note;
    s->b.options.self = &e;
    s->b.options.threads = 1;
    CHECK_OK(vls_tree_scan(&scan, &s->b.options, &t->err));
    vls_tree_scan_release(&scan);
    CHECK_TEXT(" d empty g g/h left ", e.text);
    e.text[0] = '\0';
    bed_file(&s->b, "g/new/deep/x", "1");
    s->subs[0] = VLS_STR("g/new");
    s->b.options.subs = s->subs;
    s->b.options.sub_count = 1;
    CHECK_OK(vls_tree_scan(&scan, &s->b.options, &t->err));
    vls_tree_scan_release(&scan);
    CHECK_TEXT(" g g/new g/new/deep ", e.text);
}

/* ---- memory ---- */

TEST(subs, memory_keeps_what_changed_and_no_more)
{
    subs_bed *s = make_some(t);
    size_t before = s->memory.cache.size;

    (void)unlink(s->b.cache); /* nobody reads it */
    for (int i = 0; i < 10; i++) {
        bed_file(&s->b, "d/e/c", test_format("edit %d", i));
        add(s, "d/e/c");
        look(s);
        CHECK_INT(1, s->b.scan.changed);
    }
    CHECK_INT(0, s->b.old_calls);
    CHECK(s->memory.cache.size > before);
    /* three directories on the way: the root, d and d/e, without what is in the others */
    CHECK(s->memory.cache.size - before <= 10 * (before - 200));
    CHECK(access(s->b.cache, F_OK) < 0);
    CHECK_OK(vls_tree_scan_save(&s->memory, s->b.cache, &t->err));
    CHECK(!s->memory.unsaved);
    s->b.options.memory = NULL; /* another program, which has the file alone */
    bed_scan(&s->b);
    CHECK_INT(0, s->b.scan.changes.len);
    CHECK_INT(0, s->b.old_calls);
}

TEST(subs, memory_in_one_piece_again)
{
    subs_bed *s = make_some(t);
    size_t most = 0, least = SIZE_MAX;

    for (int i = 0; i < 400; i++)
        bed_file(&s->b, test_format("many/f%d", i), "x");
    bed_scan(&s->b);
    for (int i = 0; i < 60; i++) {
        bed_file(&s->b, "many/f7", test_format("edit %d", i));
        add(s, "many/f7");
        look(s);
        most = VLS_MAX(most, s->memory.cache.size);
        if (s->memory.cache.size < most)
            least = VLS_MIN(least, s->memory.cache.size);
    }
    CHECK(least < most / 2); /* what was of no use went */
    CHECK_OK(vls_tree_scan_save(&s->memory, s->b.cache, &t->err));
    check_all(s);
    CHECK_INT(0, s->b.old_calls);
}

TEST(subs, memory_of_another_version_gives_its_stats)
{
    subs_bed *s = make_some(t);

    (void)unlink(s->b.cache);
    s->b.options.memory = NULL;
    bed_file(&s->b, "a", "somebody else has seen it");
    s->b.no_keep = true;
    bed_scan(&s->b);
    s->b.no_keep = false;
    s->b.old_calls = 0;
    s->b.options.memory = &s->memory;
    bed_scan(&s->b);
    CHECK_INT(
        1, s->b.old_calls); /* the tree comes from elsewhere, what is known of files from memory */
    CHECK_INT(1, s->b.scan.hashed);
    bed_scan(&s->b);
    CHECK_INT(1, s->b.old_calls);
}

/* ---- any edits ---- */

static const char *const names[] = {"a", "b", "c.x", "c", ".gitignore"};

static const char *a_path(model_args *a)
{
    uint64_t n = model_below(a, "path", 1280), depth = n % 4;
    const char *path = names[n / 4 % 4];

    if (n >= 1250)
        path = names[4];
    for (uint64_t i = 0; i < depth; i++)
        path = test_format("%s/%s", names[(n >> (4 + 2 * i)) % 4], path);
    return path;
}

static void *start(test *t, const char *dir)
{
    subs_bed *s = open_in(t, dir);

    s->b.any_ignored = true;
    bed_scan(&s->b);
    return s;
}

static void clear_way(subs_bed *s, const char *path)
{
    struct stat st;

    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        const char *above = test_format("%.*s", (int)(at - path), path);
        if (lstat(bed_path(&s->b, above), &st) == 0 && !S_ISDIR(st.st_mode)) {
            test_remove(bed_path(&s->b, above));
            add(s, above);
        }
    }
    bed_remove(&s->b, path);
    add(s, path);
}

static void op_file(void *state, model_args *a)
{
    subs_bed *s = state;
    const char *path = a_path(a);
    uint64_t text = model_below(a, "text", 6);

    if (s->count > MAX_SUBS - 8)
        return;
    clear_way(s, path);
    bed_file(&s->b, path, text == 0 ? "" : text == 1 ? "c*\n" : test_format("%d", (int)text));
}

static void op_dir(void *state, model_args *a)
{
    subs_bed *s = state;
    const char *path = a_path(a);

    if (s->count > MAX_SUBS - 8)
        return;
    clear_way(s, path);
    bed_dir(&s->b, path);
}

static void op_remove(void *state, model_args *a)
{
    subs_bed *s = state;
    const char *path = a_path(a);

    if (s->count > MAX_SUBS - 8)
        return;
    bed_remove(&s->b, path);
    add(s, path);
}

static void op_rename(void *state, model_args *a)
{
    subs_bed *s = state;
    const char *from = a_path(a), *to = a_path(a);
    struct stat st;

    if (s->count > MAX_SUBS - 8 || lstat(bed_path(&s->b, from), &st) < 0 ||
        vls_path_is_under(valise_str_of(to), valise_str_of(from)) ||
        vls_path_is_under(valise_str_of(from), valise_str_of(to)) || strcmp(from, to) == 0)
        return;
    clear_way(s, to);
    add(s, from);
    if (lstat(bed_path(&s->b, from), &st) == 0)
        bed_rename(&s->b, from, to);
}

/* What was edited, then all of it: by memory, and by nothing but the old tree. */
static void op_look(void *state, model_args *a)
{
    subs_bed *s = state;

    if (s->count > 0)
        look(s);
    if (model_below(a, "how", 2)) {
        check_all(s);
    } else {
        s->b.options.memory = NULL;
        (void)unlink(s->b.cache);
        s->b.no_keep = true;
        bed_scan(&s->b);
        s->b.no_keep = false;
        CHECK_INT(0, s->b.scan.changes.len);
        s->b.options.memory = &s->memory;
    }
}

static void op_save(void *state, model_args *a)
{
    subs_bed *s = state;
    test *t = s->b.t;

    CHECK_OK(vls_tree_scan_save(&s->memory, s->b.cache, &t->err));
    if (model_below(a, "forget", 2))
        vls_scan_memory_release(&s->memory);
}

static void op_threads(void *state, model_args *a)
{
    subs_bed *s = state;

    s->b.options.threads = 1 + (unsigned)model_below(a, "threads", 3);
}

static void stop(void *state)
{
    subs_bed *s = state;

    bed_close(&s->b);
    vls_scan_memory_release(&s->memory);
}

TEST(subs, agree_with_a_scan_of_everything)
{
    static const model m = {.start = start,
                            .stop = stop,
                            .wants_dir = true,
                            .runs = 20,
                            .steps = 60,
                            .ops = {{"file", 8, op_file},
                                    {"dir", 2, op_dir},
                                    {"remove", 3, op_remove},
                                    {"rename", 4, op_rename},
                                    {"look", 4, op_look},
                                    {"save", 1, op_save},
                                    {"threads", 1, op_threads}}};
    model_test(t, &m);
}

/* ---- memory that runs out ---- */

/* Three rounds as one who watches does them; whatever fails, the last scan is right. */
static int look_again_and_again(fault *f, void *arg)
{
    static const valise_str subs[] = {{"d/e/c", 5}, {"n/new", 5}, {"d/e/only", 8}};
    vls_scan_memory memory = {.whole = 0};
    vls_scan_options options = {.env = f->env,
                                .root = test_format("%s/t", f->dir),
                                .cache = test_format("%s/stat", f->dir),
                                .memory = &memory,
                                .threads = 1};
    int rc = 0;

    (void)arg;
    fault_off(f);
    CHECK(mkdir(test_format("%s/t", f->dir), 0755) == 0);
    CHECK(mkdir(test_format("%s/t/d", f->dir), 0755) == 0);
    CHECK(mkdir(test_format("%s/t/d/e", f->dir), 0755) == 0);
    CHECK(mkdir(test_format("%s/t/n", f->dir), 0755) == 0);
    test_write_file(test_format("%s/t/n/x", f->dir), VLS_STR("0"));
    test_write_file(test_format("%s/t/d/e/only", f->dir), VLS_STR("0"));
    fault_on(f);
    for (int64_t round = 0; rc == 0 && round < 3; round++) {
        vls_scan scan;
        options.version = round;
        options.subs = round > 0 ? subs : NULL;
        options.sub_count = round > 0 ? 3 : 0;
        rc = vls_tree_scan(&scan, &options, &f->err);
        if (rc < 0)
            break;
        options.object = scan.object;
        rc = vls_tree_scan_keep(&scan, round + 1, &f->err);
        vls_tree_scan_release(&scan);
        fault_off(f);
        test_write_file(test_format("%s/t/n/new", f->dir), VLS_STR("x"));
        (void)unlink(test_format("%s/t/d/e/only", f->dir));
        fault_on(f);
    }
    if (rc == 0)
        rc = vls_tree_scan_save(&memory, options.cache, &f->err);
    fault_off(f);
    vls_scan_memory_release(&memory);
    f->recovered = rc == 0; /* without its clock a scan trusts no times */
    return rc;
}

TEST(subs, memory_that_runs_out)
{
    test_note("%lld faults", fault_each_alloc(t, 0, look_again_and_again, NULL));
}
