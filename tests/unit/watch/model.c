/* model.c -- any operations on files, heard in any groups: the tree is what a scan of everything
 * gives. And memory that runs out on the way. [C27] */
#include <sys/stat.h>
#include <unistd.h>

#include "harness/fault.h"
#include "harness/model.h"
#include "tree/node.h"
#include "watch/kit.h"

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
    bed *b = bed_new_in(t, dir);

    CHECK(mkdir(test_format("%s/../outside", b->root), 0755) == 0);
    bed_watch(b, NULL);
    return b;
}

static void stop(void *state)
{
    bed_close(state);
}

static bool is_there(const bed *b, const char *path)
{
    struct stat st;

    return lstat(bed_path(b, path), &st) == 0;
}

/* What is in the way goes. */
static void clear_way(const bed *b, const char *path)
{
    struct stat st;

    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        const char *above = bed_path(b, test_format("%.*s", (int)(at - path), path));
        if (lstat(above, &st) == 0 && !S_ISDIR(st.st_mode))
            test_remove(above);
    }
    if (is_there(b, path))
        bed_remove(b, path);
}

static void op_file(void *state, model_args *a)
{
    const char *path = a_path(a);

    clear_way(state, path);
    bed_file(state, path, test_format("%d", (int)model_below(a, "text", 5)));
}

/* In place, as an editor that does not replace. */
static void op_edit(void *state, model_args *a)
{
    const bed *b = state;
    const char *path = a_path(a);
    uint64_t text = model_below(a, "text", 5);
    struct stat st;

    if (lstat(bed_path(b, path), &st) == 0 && S_ISREG(st.st_mode))
        bed_file(b, path, test_format("edited %d", (int)text));
}

static void op_dir(void *state, model_args *a)
{
    const char *path = a_path(a);

    clear_way(state, path);
    bed_dir(state, path);
}

static void op_link(void *state, model_args *a)
{
    const char *path = a_path(a);

    clear_way(state, path);
    bed_link(state, path, "a");
}

static void op_remove(void *state, model_args *a)
{
    const char *path = a_path(a);

    if (is_there(state, path))
        bed_remove(state, path);
}

static void op_rename(void *state, model_args *a)
{
    bed *b = state;
    const char *from = a_path(a), *to = a_path(a);

    if (!is_there(b, from) || vls_path_is_under(valise_str_of(to), valise_str_of(from)) ||
        vls_path_is_under(valise_str_of(from), valise_str_of(to)))
        return;
    clear_way(b, to);
    if (is_there(b, from)) /* it may have been in the way itself */
        bed_rename(b, from, to);
}

/* Out of the tree, or what is there back into it. */
static void op_outside(void *state, model_args *a)
{
    bed *b = state;
    const char *path = a_path(a), *outside = "../outside/it";

    if (is_there(b, outside)) {
        clear_way(b, path);
        bed_rename(b, outside, path);
    } else if (is_there(b, path)) {
        CHECK(rename(bed_path(b, path), bed_path(b, outside)) == 0);
    }
}

static void op_exec(void *state, model_args *a)
{
    bed *b = state;
    const char *path = a_path(a);
    struct stat st;

    if (lstat(bed_path(b, path), &st) == 0 && S_ISREG(st.st_mode))
        CHECK(chmod(bed_path(b, path), (st.st_mode ^ 0100) & 0777) == 0);
}

static void op_rules(void *state, model_args *a)
{
    static const char *const rules[] = {"", "c\n", "a/\n", "*.x\n", "b/*\n!b/a\n"};
    const char *dir = a_path(a);
    uint64_t which = model_below(a, "rules", VLS_COUNT(rules));
    bool top = model_below(a, "top", 2);
    const char *path = top ? ".gitignore" : test_format("%s/.valiseignore", dir);

    clear_way(state, path);
    if (which > 0)
        bed_file(state, path, rules[which]);
}

/* So many events are read at once at most. */
static void op_overflow(void *state, model_args *a)
{
    bed *b = state;

    b->watch->limits.events = model_below(a, "events", 2) ? 4 : 0;
}

static void op_step(void *state, model_args *a)
{
    bed *b = state;
    test *t = b->t;

    (void)a;
    CHECK(valise_watch_step(b->watch, 0, &t->err) >= 0);
}

static void op_wait(void *state, model_args *a)
{
    (void)a;
    bed_wait(state);
}

static void op_watch_again(void *state, model_args *a)
{
    bed *b = state;

    (void)a;
    bed_unwatch(b);
    bed_watch(b, NULL);
}

TEST(watch_model, agrees_with_a_scan_of_everything)
{
    static const model m = {.start = start,
                            .stop = stop,
                            .wants_dir = true,
                            .runs = 12,
                            .steps = 60,
                            .ops = {{"file", 6, op_file},
                                    {"edit", 4, op_edit},
                                    {"dir", 2, op_dir},
                                    {"link", 1, op_link},
                                    {"remove", 3, op_remove},
                                    {"rename", 5, op_rename},
                                    {"outside", 1, op_outside},
                                    {"exec", 1, op_exec},
                                    {"rules", 1, op_rules},
                                    {"overflow", 1, op_overflow},
                                    {"step", 2, op_step},
                                    {"wait", 4, op_wait},
                                    {"watch_again", 1, op_watch_again}}};
    model_test(t, &m);
}

/* ---- memory that runs out ---- */

static int ignore_change(void *arg, const valise_tree_change *change, valise_error *err)
{
    (void)arg, (void)change, (void)err;
    return 0;
}

static int watch_some(bool *opened, valise *v, fault *f, const char *root)
{
    valise_watch_options o = VALISE_WATCH_OPTIONS_INIT;
    valise_watch *watch = NULL;
    int rc;

    o.quiet_ns = 0;
    o.rescan_ns = 1000000;
    o.changed = ignore_change;
    rc = valise_watch_open(&watch, v, &o, NULL, &f->err);
    if (rc < 0)
        return rc;
    *opened = true;
    fault_off(f);
    CHECK(mkdir(test_format("%s/n", root), 0755) == 0);
    test_write_file(test_format("%s/n/x", root), VLS_STR("new"));
    test_write_file(test_format("%s/d/b", root), VLS_STR("edited"));
    CHECK(rename(test_format("%s/a", root), test_format("%s/n/a", root)) == 0);
    fault_on(f);
    rc = valise_watch_step(watch, INT64_C(20000000000), &f->err);
    fault_off(f);
    if (rc < 0 || watch->set.shortage) { /* the next one makes it good */
        valise_error err = VALISE_ERROR_INIT;
        CHECK(valise_watch_step(watch, INT64_C(20000000), &err) >= 0);
    }
    valise_watch_close(watch);
    fault_on(f);
    return VLS_MIN(rc, 0);
}

static int watch_once(fault *f, void *arg)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_tree_scanned s = VALISE_TREE_SCANNED_INIT;
    valise_tree_scan_options force = VALISE_TREE_SCAN_OPTIONS_INIT;
    const char *root = test_format("%s/ws", f->dir);
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;
    bool opened = false;
    int rc;

    (void)arg;
    fault_off(f);
    o.env = f->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.durability = VALISE_DURABILITY_NORMAL;
    CHECK(mkdir(root, 0755) == 0 && mkdir(test_format("%s/d", root), 0755) == 0);
    test_write_file(test_format("%s/a", root), VLS_STR("some text"));
    test_write_file(test_format("%s/d/b", root), VLS_STR("2"));
    CHECK_INT(0, valise_open(&v, root, &o, &err));
    fault_on(f);
    rc = watch_some(&opened, v, f, root);
    fault_off(f);
    if (opened) { /* whatever was missed on the way, such as a watch, was made up for */
        force.flags = VALISE_TREE_SCAN_FORCE;
        CHECK_INT(0, valise_tree_scan(&s, v, &force, NULL, &err));
        CHECK_INT(0, s.added + s.changed + s.removed);
        f->recovered = true;
    }
    valise_close(v);
    return rc;
}

TEST(watch_fault, memory)
{
    test_note("%lld faults", fault_each_alloc(t, 0, watch_once, NULL));
}
