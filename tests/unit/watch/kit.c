/* kit.c -- see kit.h. */
#include "watch/kit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/str.h"

#define LIMIT_NS (INT64_C(60) * 1000000000)
#define FENCE "zz-fence-"

static valise *open_it(const bed *b)
{
    test *t = b->t;
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.durability = VALISE_DURABILITY_NORMAL;
    CHECK_OK(valise_open(&v, b->root, &o, &t->err));
    return v;
}

void bed_close(bed *b)
{
    bed_unwatch(b);
    valise_close(b->v);
    valise_close(b->other);
    b->v = b->other = NULL;
}

static void close_it(void *arg)
{
    bed_close(arg);
}

bed *bed_new_in(test *t, const char *dir)
{
    bed *b = test_alloc(sizeof(*b));

    *b = (bed){.t = t, .root = test_format("%s/ws", dir), .told = "", .noted = ""};
    test_defer(close_it, b);
    b->v = open_it(b);
    b->other = open_it(b);
    return b;
}

bed *bed_new(test *t)
{
    return bed_new_in(t, test_tmpdir());
}

/* ---- watching ---- */

static int tell(void *arg, const valise_tree_change *c, valise_error *err)
{
    static const char *const kinds[] = {"added", "changed",   "removed",
                                        "moved", "ambiguous", "error"};
    bed *b = arg;

    (void)err;
    if (vls_str_starts(c->path, VLS_STR(FENCE))) {
        b->passed |= c->kind == VALISE_TREE_ADDED &&
                     vls_str_equal(c->path, valise_str_of(test_format(FENCE "%u", b->fences)));
        return 0;
    }
    b->told = test_format("%s%s %.*s%s%.*s\n", b->told, kinds[c->kind], VALISE_STR_ARG(c->path),
                          c->from.len ? " from " : "", VALISE_STR_ARG(c->from));
    return b->stop;
}

static int count(void *arg, const valise_tree_scanned *scanned, valise_error *err)
{
    bed *b = arg;
    test *t = b->t;
    valise_roots roots = VALISE_ROOTS_INIT;

    (void)err;
    b->versions++;
    CHECK_OK(valise_roots_get(&roots, b->v, NULL, &t->err));
    CHECK(roots.version >= scanned->version); /* somebody else may be faster */
    CHECK(roots.version > scanned->version || vls_id_equal(&roots.tree, &scanned->tree_root));
    return 0;
}

static void note(void *arg, int note, const char *text)
{
    static const char *const names[] = {"short", "enough", "overflow"};
    bed *b = arg;

    CHECK(strlen(text) > 10);
    b->noted = test_format("%s%s ", b->noted, names[note]);
}

int bed_try_watch(bed *b, const vls_watch_limits *limits)
{
    test *t = b->t;
    valise_watch_options o = VALISE_WATCH_OPTIONS_INIT;

    o.changed = tell;
    o.recorded = count;
    o.noted = note;
    o.arg = b;
    o.quiet_ns = 5000000;
    o.rescan_ns = 20000000;
    return vls_watch_open(&b->watch, b->v, &o, NULL, limits, &t->err);
}

void bed_watch(bed *b, const vls_watch_limits *limits)
{
    test *t = b->t;

    CHECK_OK(bed_try_watch(b, limits));
}

void bed_unwatch(bed *b)
{
    valise_watch_close(b->watch);
    b->watch = NULL;
}

static int64_t now(const bed *b)
{
    return b->t->env->ticks_ns(b->t->env->self);
}

void bed_hear(bed *b, const char *const *where, const char *word)
{
    test *t = b->t;
    int64_t until = now(b) + LIMIT_NS;

    while (!strstr(*where, word)) {
        CHECK(valise_watch_step(b->watch, 10000000, &t->err) >= 0);
        CHECK_MSG(now(b) < until, "it never came to an end");
    }
}

void bed_settle(bed *b)
{
    test *t = b->t;
    int64_t until = now(b) + LIMIT_NS;

    if (b->fences > 0)
        bed_remove(b, test_format(FENCE "%u", b->fences));
    b->fences++;
    b->passed = false;
    bed_file(b, test_format(FENCE "%u", b->fences), test_format("fence %u", b->fences));
    while (!b->passed) {
        int rc = valise_watch_step(b->watch, 1000000000, &t->err);
        CHECK_MSG(rc >= 0, "step: %s", t->err.message);
        CHECK_MSG(now(b) < until, "it never came to an end");
    }
}

static int tell_difference(void *arg, const valise_tree_change *c, valise_error *err)
{
    (void)arg;
    (void)err;
    test_note("missed: kind %d, %.*s", c->kind, VALISE_STR_ARG(c->path));
    return 0;
}

void bed_check(bed *b)
{
    test *t = b->t;
    valise_tree_scan_options o = VALISE_TREE_SCAN_OPTIONS_INIT;
    valise_tree_scanned s = VALISE_TREE_SCANNED_INIT;

    o.flags = VALISE_TREE_SCAN_FORCE;
    o.fn = tell_difference;
    CHECK_OK(valise_tree_scan(&s, b->other, &o, NULL, &t->err));
    CHECK(vls_id_equal(&s.old_tree_root, &s.tree_root));
}

void bed_wait(bed *b)
{
    b->told = "";
    bed_settle(b);
    bed_check(b);
}

/* ---- files ---- */

const char *bed_path(const bed *b, const char *path)
{
    return test_format("%s/%s", b->root, path);
}

static void make_way(const bed *b, const char *path)
{
    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
        (void)mkdir(bed_path(b, test_format("%.*s", (int)(at - path), path)), 0755);
}

void bed_file(const bed *b, const char *path, const char *text)
{
    make_way(b, path);
    test_write_file(bed_path(b, path), valise_str_of(text));
}

void bed_dir(const bed *b, const char *path)
{
    make_way(b, path);
    CHECK(mkdir(bed_path(b, path), 0755) == 0);
}

void bed_link(const bed *b, const char *path, const char *target)
{
    make_way(b, path);
    CHECK(symlink(target, bed_path(b, path)) == 0);
}

void bed_remove(const bed *b, const char *path)
{
    test_remove(bed_path(b, path));
}

void bed_rename(const bed *b, const char *from, const char *to)
{
    make_way(b, to);
    CHECK(rename(bed_path(b, from), bed_path(b, to)) == 0);
}
