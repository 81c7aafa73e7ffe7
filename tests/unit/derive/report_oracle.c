/* report_oracle.c -- any edits, frames, runs, marks, moves and erasures: a report that asks for
 * doubts is the one that computes the state of every slot; and so are the counts of `status`. [C28]
 */
#include "base/buf.h"
#include "base/str.h"
#include "bus/bus.h"
#include "context/doubt.h"
#include "context/kit.h"
#include "context/report.h"

TEST_PARAMS(report_oracle, "memory", "sqlite")

#define FILES 9
#define DIRS 4

/* One is a directory for some time. */
static const char *const files[FILES] = {"r",     "x",     "x/in",    "a/1", "a/2",
                                         "a/b/1", "a/b/2", "a/b/c/1", "d/1"};
static const char *const dirs[DIRS] = {".", "a", "a/b", "d"};
static const char *const types[] = {"notes", "summary"};

typedef struct world {
    test_rng rng;
    yard *y;
    int content[FILES]; /* 0: there is none */
    int next;
    int asked, kept; /* reports, and those for which doubts were kept */
} world;

static int below(world *w, int limit)
{
    return (int)test_random_below(&w->rng, (uint64_t)limit);
}

/* ---- both ways ---- */

typedef struct both {
    vls_buf by_doubts, computed;
    int64_t counts[4]; /* fresh, stale, invalidated, orphaned */
    bool kept;
} both;

static int make_both(void *arg, valise_view *view, valise_error *err)
{
    both *b = arg;
    vls_context_report report;
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    CHECK_INT(1, rc);
    b->kept = vls_doubt_is_kept(view, &tree.id, err) > 0;
    rc = vls_report_make(&report, view, &tree, VLS_STR(""), false, err);
    if (rc < 0)
        return rc;
    vls_report_markdown(&b->by_doubts, &report);
    rc = vls_report_make(&report, view, &tree, VLS_STR("a"), false, err);
    if (rc < 0)
        return rc;
    vls_report_junit(&b->by_doubts, &report, 0);
    rc = vls_report_make(&report, view, &tree, VLS_STR(""), true, err);
    if (rc < 0)
        return rc;
    vls_report_markdown(&b->computed, &report);
    b->counts[0] = report.fresh;
    for (int i = 0; i < 3; i++)
        b->counts[1 + i] = report.kinds[i]->count;
    rc = vls_report_make(&report, view, &tree, VLS_STR("a"), true, err);
    if (rc == 0)
        vls_report_junit(&b->computed, &report, 0);
    return rc;
}

static void check(world *w)
{
    static const char *const names[] = {"heads fresh", "heads stale", "heads invalidated",
                                        "heads orphaned"};
    test *t = w->y->t;
    both b = {.kept = false};
    const char *status;

    vls_buf_init(&b.by_doubts, t->env, (size_t)1 << 20);
    vls_buf_init(&b.computed, t->env, (size_t)1 << 20);
    CHECK_OK(vls_with_view(w->y->v, NULL, make_both, &b, &t->err));
    CHECK_STR(vls_buf_str(&b.computed), vls_buf_str(&b.by_doubts));
    w->asked++;
    w->kept += b.kept;
    /* In a folder it is about the files that lie there. */
    for (size_t i = 0; strcmp(t->param, "memory") == 0 && i < VLS_COUNT(names); i++) {
        const char *want = test_format("\"%s\",\"value\":%lld}", names[i], (long long)b.counts[i]);
        status = yard_run(w->y, "workspace:status", "{\"check\":true}");
        if (i != 2 || b.counts[i] > 0)
            CHECK_MSG(strstr(status, want), "no %s: %s", want, status);
    }
    vls_buf_release(&b.by_doubts);
    vls_buf_release(&b.computed);
}

/* ---- steps ---- */

static void grow(world *w, const char *moves)
{
    const char *words = "keep=1";

    for (int i = 0; i < FILES; i++) {
        if (w->content[i])
            words = test_format("%s %s=%d", words, files[i], w->content[i]);
    }
    yard_grow(w->y, words, moves);
}

static void edit(world *w)
{
    int i = below(w, FILES), was = w->content[i];

    w->content[i] = below(w, 3) ? 1 + below(w, 3) : 0;
    if (i == 1 && w->content[1])
        w->content[2] = 0;
    if (i == 2 && w->content[2])
        w->content[1] = 0;
    if (w->content[i] != was)
        grow(w, "");
}

static void move(world *w)
{
    int from = 3 + below(w, 3), to = 6 + below(w, 3);

    if (!w->content[from] || w->content[to])
        return;
    w->content[to] = w->content[from];
    w->content[from] = 0;
    grow(w, test_format("%s>%s", files[from], files[to]));
}

static void put(world *w)
{
    static const char *const who[] = {NULL, "w", "s"};
    bool dir = below(w, 4) == 0;
    const char *node = dir ? dirs[below(w, DIRS)] : files[below(w, FILES)];

    (void)yard_try_put(w->y, who[below(w, 3)], node, types[below(w, 2)],
                       test_format("text %d", below(w, 4)),
                       below(w, 6) ? "" : ",\"recipe\":\"eA==\"");
}

static void run(world *w, const char *op, const char *more)
{
    (void)yard_try(w->y, NULL, op,
                   test_format("{\"node\":\"%s\",\"noScan\":true%s}", dirs[below(w, DIRS)], more),
                   NULL);
}

static void synthesize(world *w)
{
    static const char *const ways[] = {"", ",\"fresh\":true", ",\"limit\":1", ",\"recursive\":true",
                                       ",\"replace\":true"};

    run(w, "context:synthesize",
        test_format(",\"output\":\"%s\"%s", types[below(w, 2)],
                    ways[below(w, (int)VLS_COUNT(ways))]));
}

static void erase(world *w)
{
    const char *payload = test_format("{\"node\":\"%s\",\"type\":\"%s\"}", files[below(w, FILES)],
                                      types[below(w, 2)]);
    const char *frame;

    if (yard_try(w->y, NULL, "head:get", payload, NULL) < 0)
        return;
    frame = yard_member(w->y, yard_run(w->y, "head:get", payload), "items.0.frameId");
    if (*frame)
        (void)yard_try(w->y, NULL, "workspace:erase",
                       test_format("{\"place\":\"frame/%s\"}", frame), NULL);
}

static void step(world *w)
{
    static const char *const ways[] = {",\"recursive\":true",
                                       ",\"recursive\":true,\"onlyNew\":true", ",\"up\":3", ""};
    int what = below(w, 40);

    if (what < 12)
        edit(w);
    else if (what < 14)
        move(w);
    else if (what < 24)
        put(w);
    else if (what < 29)
        synthesize(w);
    else if (what < 32)
        run(w, "slot:invalidate", below(w, 2) ? ",\"recursive\":true" : "");
    else if (what < 34)
        run(w, "slot:reaffirm", "");
    else if (what < 39)
        run(w, "context:regenerate", ways[below(w, (int)VLS_COUNT(ways))]);
    else
        erase(w);
}

TEST(report_oracle, by_doubts_is_as_computed)
{
    bool memory = strcmp(t->param, "memory") == 0;
    int rounds = !memory ? 1 : test_is_long() ? 200 : 10, asked = 0, kept = 0;

    for (int round = 0; round < rounds; round++) {
        world w = {.rng = test_rng_new(test_seed() + (uint64_t)round), .y = yard_open(t)};
        grow(&w, "");
        for (int i = 0; i < 60; i++) {
            test_context("round %d, step %d", round, i);
            step(&w);
            check(&w);
            test_context_end();
        }
        asked += w.asked;
        kept += w.kept;
        valise_close(w.y->v);
        w.y->v = NULL;
    }
    test_note("%d reports, %d by doubts", asked, kept);
    CHECK(kept > asked / 3 && (kept < asked || !memory));
}

/* ---- programs that get newer ---- */

static int make_nothing(valise_making *making, const void *params, valise_error *err)
{
    (void)making, (void)params, (void)err;
    return 0;
}

static const valise_policy versions[] = {{.size = sizeof(valise_policy),
                                          .name = "toy.nothing",
                                          .version = 1,
                                          .brief = "Nothing.",
                                          .make = make_nothing},
                                         {.size = sizeof(valise_policy),
                                          .name = "toy.nothing",
                                          .version = 2,
                                          .brief = "Nothing, in another way.",
                                          .make = make_nothing}};

static void close_it(void *arg)
{
    valise_close(arg);
}

static yard *open_version(test *t, int version)
{
    const valise_policy *const policies[] = {&versions[version - 1], NULL};
    const valise_extension toy = {.size = sizeof(valise_extension),
                                  .abi = VALISE_EXTENSION_ABI,
                                  .name = "toy",
                                  .version = "1",
                                  .policies = policies};
    const valise_extension *const extensions[] = {&toy, NULL};
    yard *y = test_alloc(sizeof(*y));
    valise_options o = VALISE_OPTIONS_INIT;

    *y = (yard){.t = t};
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    CHECK_OK(valise_open(&y->v, test_format("%s/toy", test_tmpdir()), &o, &t->err));
    test_defer(close_it, y->v);
    return y;
}

/* Nothing is written then, and nothing is doubted. */
TEST(report_oracle, a_policy_with_another_version)
{
    yard *old, *new;

    if (strcmp(t->param, "memory") == 0)
        SKIP("two of them need a folder");
    old = open_version(t, 1);
    new = open_version(t, 2);
    yard_grow(old, "a/1=1", "");
    (void)yard_put(old, NULL, "a/1", "notes", "said", "");
    (void)yard_run(old, "context:synthesize",
                   "{\"node\":\"a\",\"policy\":\"toy.nothing\",\"output\":\"made\","
                   "\"noScan\":true}");
    CHECK_TEXT("2", yard_member(old, yard_run(old, "context:report", "{}"), "fresh"));
    CHECK_TEXT("1", yard_member(new, yard_run(new, "context:report", "{}"), "fresh"));
    CHECK_TEXT("1", yard_member(new, yard_run(new, "context:report", "{}"), "stale.count"));
    (void)yard_run(new, "context:regenerate", "{\"recursive\":true,\"noScan\":true}");
    CHECK_TEXT("2", yard_member(new, yard_run(new, "context:report", "{}"), "fresh"));
    CHECK_TEXT("2", yard_member(old, yard_run(old, "context:report", "{}"), "fresh"));
}
