/* prune_model.c -- prunes among edits, moves and words, against what reading everything tells;
 * and prunes that are killed. [C30] [Q16] */
#include <unistd.h>

#include <valise.h>

#include "bus/bus.h"
#include "context/kit.h"
#include "context/slot.h"
#include "harness/kill.h"
#include "kit/replayed.h"
#include "tree/rows.h"

TEST_PARAMS(prune_model, "memory", "sqlite")

enum { STEPS = 60, RUNS = 3 };

static const char *const paths[] = {"a", "b", "c.c", "d/a", "d/b", "d/e/x", "d/e/y", "f"};
static const char *const dirs[] = {".", "d", "d/e"};
enum { PATHS = VLS_COUNT(paths) };

typedef struct world {
    test_rng rng;
    yard *y;
    int content[PATHS]; /* 0: there is nothing */
    int next;           /* a content that nothing has had */
    int64_t oldest;
} world;

static unsigned pick(world *w, unsigned n)
{
    return (unsigned)(test_random(&w->rng) % n);
}

/* ---- steps ---- */

static void grow(world *w, const char *moves)
{
    const char *words = "k=1";

    for (size_t i = 0; i < PATHS; i++) {
        if (w->content[i])
            words = test_format("%s %s=%d", words, paths[i], w->content[i]);
    }
    words = test_format("%s n=%d", words, ++w->next); /* there is always something new */
    yard_grow(w->y, words, moves);
}

static void edit(world *w)
{
    for (unsigned n = 1 + pick(w, 3); n > 0; n--)
        w->content[pick(w, PATHS)] = pick(w, 3) == 0 ? 0 : 1 + (int)pick(w, 2);
    grow(w, "");
}

static void move(world *w)
{
    unsigned from = pick(w, PATHS), to = pick(w, PATHS);

    if (!w->content[from] || w->content[to])
        return;
    w->content[to] = w->content[from];
    w->content[from] = 0;
    grow(w, test_format("%s>%s", paths[from], paths[to]));
}

/* Few words, so that the same frame is in many slots. */
static void say(world *w)
{
    const char *path = pick(w, 5) == 0 ? dirs[pick(w, 3)] : paths[pick(w, PATHS)];
    const char *type = pick(w, 2) ? "notes" : "summary";
    int rc = yard_try_put(w->y, NULL, path, type, test_format("word %u", pick(w, 5)), "");

    CHECK(rc == 0 || rc == VALISE_E_NOT_FOUND);
    if (rc == 0 && pick(w, 6) == 0)
        (void)yard_run(w->y, "slot:invalidate",
                       test_format("{\"noScan\":true,\"node\":\"%s\"}", path));
}

/* ---- what reading everything tells ---- */

typedef struct survey {
    int64_t slots, orphans, closed, frames, spoken, entries;
} survey;

static int count_coll(int64_t *out, valise_view *view, const valise_coll *coll, void *row,
                      valise_error *err)
{
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, coll, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(row, scan, err)) > 0) {
        ++*out;
        rc = 0;
    }
    valise_scan_close(scan);
    return rc;
}

static int is_spoken_of(void *arg, const vls_slot_row *slot, valise_error *err)
{
    (void)arg, (void)slot, (void)err;
    return 1;
}

static int look(void *arg, valise_view *view, valise_error *err)
{
    survey *s = arg;
    vls_slot_closed_row closed;
    vls_slot_entry_row entry;
    vls_frame_row frame;
    vls_slot_row slot;
    vls_tree_row tree;
    vls_tree_found node;
    valise_scan *scan = NULL;

    CHECK_INT(1, vls_tree_head(&tree, view, err));
    CHECK_INT(0, valise_view_scan(&scan, view, &vls_slots, NULL, err));
    while (valise_scan_next(&slot, scan, err) > 0) {
        int there = vls_tree_get(&node, view, &tree, tree.version, slot.path, err);
        s->slots++;
        s->orphans += there == 0 || (node.node.kind == VLS_NODE_DIR) != slot.dir;
    }
    valise_scan_close(scan);
    scan = NULL;
    CHECK_INT(0, valise_view_scan(&scan, view, &vls_frames, NULL, err));
    while (valise_scan_next(&frame, scan, err) > 0) {
        s->frames++;
        s->spoken += vls_slot_each_of(view, &frame.id, is_spoken_of, NULL, err) == 1;
    }
    valise_scan_close(scan);
    CHECK_INT(0, count_coll(&s->closed, view, &vls_slots_closed, &closed, err));
    CHECK_INT(0, count_coll(&s->entries, view, &vls_slot_entries, &entry, err));
    return 0;
}

static survey look_at(world *w)
{
    survey s = {.slots = 0};
    valise_error err = VALISE_ERROR_INIT;

    CHECK_INT(0, vls_with_view(w->y->v, NULL, look, &s, &err));
    return s;
}

/* All versions from one on, word for word. */
static const char *trees(world *w, int64_t from)
{
    const char *all = "";

    for (int64_t v = from; v <= w->y->version; v++) {
        for (size_t i = 0; i < VLS_COUNT(dirs); i++) {
            const char *payload =
                test_format("{\"path\":\"%s\",\"at\":\"v%lld\"}", dirs[i], (long long)v);
            if (yard_try(w->y, NULL, "tree:ls", payload, NULL) == 0)
                all = test_format("%s%s", all, yard_run(w->y, "tree:ls", payload));
        }
    }
    return all;
}

/* The frames of an answer, word for word; without those of slots that are orphaned or closed,
 * unless these stay. */
static const char *frames_of(world *w, const char *answer, bool orphans)
{
    const char *all = "";

    for (int i = 0;; i++) {
        const char *one = yard_member(w->y, answer, test_format("frames.%d", i));
        if (!one[0])
            return all;
        if (!orphans || !strstr(one, "\"state\":\"orphaned\""))
            all = test_format("%s%s", all, one);
    }
}

/* What is known about what is there, with its history. */
static const char *known(world *w, bool orphans)
{
    const char *all = "";

    for (size_t i = 0; i < PATHS + VLS_COUNT(dirs); i++) {
        const char *path = i < PATHS ? paths[i] : dirs[i - PATHS];
        const char *payload =
            test_format("{\"node\":\"%s\",\"view\":\"history,recency\",\"noScan\":true}", path);
        bool there = i >= PATHS || w->content[i];
        if (there && yard_try(w->y, NULL, "node:get", payload, NULL) == 0)
            all = test_format("%s%s %s\n", all, path,
                              frames_of(w, yard_run(w->y, "node:get", payload), orphans));
    }
    return all;
}

static const char *root_of(world *w)
{
    return yard_member(w->y, yard_run(w->y, "node:get", "{\"node\":\".\",\"noScan\":true}"),
                       "contextRoot");
}

static int64_t number(world *w, const char *json, const char *member)
{
    return strtoll(yard_member(w->y, json, member), NULL, 10);
}

/* ---- pruning ---- */

static void prune(world *w)
{
    bool orphans = pick(w, 2), versions = !orphans || pick(w, 2);
    const char *keep = versions ? test_format("\"versions\":%u", 1 + pick(w, 8)) : "";
    const char *limits = test_format("%s%s%s", keep, versions && orphans ? "," : "",
                                     orphans ? "\"orphans\":true" : "");
    const char *dry = yard_run(w->y, "context:prune", test_format("{%s,\"dryRun\":true}", limits));
    int64_t oldest = number(w, dry, "oldest");
    const char *was = trees(w, oldest), *knew = known(w, orphans), *root = root_of(w), *real;
    survey before = look_at(w), after;

    real = yard_run(w->y, "context:prune", test_format("{%s}", limits));
    CHECK_TEXT(yard_member(w->y, dry, "which"), yard_member(w->y, real, "which"));
    CHECK_INT(number(w, dry, "nodes"), number(w, real, "nodes"));
    CHECK_INT(number(w, dry, "frames"), number(w, real, "frames"));
    CHECK_INT(oldest, number(w, real, "oldest"));
    CHECK(oldest >= w->oldest);
    w->oldest = oldest;
    after = look_at(w);
    CHECK_TEXT(was, trees(w, oldest));
    CHECK_TEXT(knew, known(w, orphans));
    CHECK_INT(after.frames, after.spoken);
    CHECK_INT(before.frames - number(w, real, "frames"), after.frames);
    CHECK_INT(before.entries - number(w, real, "entries"), after.entries);
    if (orphans) {
        CHECK_INT(before.orphans + before.closed, number(w, real, "slots"));
        CHECK_INT(0, after.orphans + after.closed);
        CHECK_INT(before.slots - before.orphans, after.slots);
    } else {
        CHECK_INT(before.slots, after.slots);
    }
    if (number(w, real, "slots") == number(w, real, "closed"))
        CHECK_TEXT(root, root_of(w));
}

TEST(prune_model, what_can_be_seen_stays_as_it_was)
{
    for (unsigned run = 0; run < RUNS; run++) {
        world w = {.rng = test_rng_new(test_seed() + run), .y = yard_open(t), .next = 100};
        grow(&w, "");
        for (unsigned i = 0; i < STEPS; i++) {
            unsigned what = pick(&w, 10);
            if (what < 3)
                edit(&w);
            else if (what < 4)
                move(&w);
            else if (what < 9)
                say(&w);
            else
                prune(&w);
        }
        prune(&w);
        yard_check(w.y);
        if (strcmp(t->param, "sqlite") == 0)
            break; /* each needs a folder of its own */
    }
}

/* ---- kill -9 ---- */

static valise *open_in(const char *dir)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;
    int rc;

    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    rc = valise_open(&v, dir, &o, &err);
    CHECK_MSG(rc == 0, "%s", err.message);
    return v;
}

static void prune_child(kill_run *run, void *arg)
{
    valise_error err = VALISE_ERROR_INIT;
    test local = {.param = "memory"};
    yard y = {.t = &local};
    int rc;

    (void)arg;
    fault_io_pause();
    local.env = valise_env_default();
    y.v = open_in(test_format("%s/ws", run->dir));
    yard_grow(&y, "a=1 b=1 d/x=1 d/y=1", "");
    (void)yard_put(&y, NULL, "a", "notes", "gone", "");
    (void)yard_put(&y, NULL, "b", "notes", "stays", "");
    yard_grow(&y, "b=1 d/x=2", "");
    yard_grow(&y, "b=1 d/x=3", "");
    kill_ack(run, "made");
    fault_io_resume();
    rc = valise_dispatch(NULL, y.v, "context:prune", "{\"versions\":1,\"orphans\":true}", NULL,
                         &err);
    CHECK_MSG(rc == 0, "%s", err.message);
    fault_io_pause();
    kill_ack(run, "pruned");
    valise_close(y.v);
}

/* It is whole wherever it was killed, and the next prune does the rest. */
static void prune_again(test *t, const kill_run *run, void *arg)
{
    yard y = {.t = t};
    const char *answer;

    (void)arg;
    if (run->acked == 0)
        return;
    y.v = open_in(test_format("%s/ws", run->dir));
    yard_check(&y);
    (void)yard_run(&y, "context:prune", "{\"versions\":1,\"orphans\":true}");
    yard_check(&y);
    answer = yard_run(&y, "context:prune", "{\"versions\":1,\"orphans\":true}");
    CHECK_TEXT("0", yard_member(&y, answer, "nodes"));
    CHECK_TEXT("0", yard_member(&y, answer, "versions"));
    CHECK_TEXT("0", yard_member(&y, answer, "slots"));
    CHECK_TEXT("3", yard_member(&y, answer, "oldest"));
    answer = yard_run(&y, "node:get", "{\"node\":\"b\",\"noScan\":true}");
    CHECK_TEXT("stays", yard_member(&y, answer, "frames.0.text"));
    valise_close(y.v);
}

TEST(prune_kill, at_every_file_call)
{
    CHECK(kill_each_io(t, FAULT_WRITE | FAULT_SYNC, prune_child, prune_again, NULL) >= 3);
}
