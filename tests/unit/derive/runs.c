/* runs.c -- runs at their edges: what they tell, to whom, and what they must not write. */
#include "base/str.h"
#include "bus/bus.h"
#include "context/ops.h"
#include "derive/counted.h"
#include "store/object.h"
#include "store/store.h"
#include "store/view.h"

TEST_PARAMS(runs, "memory", "sqlite")

static const char *synthesize(yard *y, const char *node, const char *more)
{
    return yard_run(y, "context:synthesize",
                    test_format("{\"node\":\"%s\",\"noScan\":true%s}", node, more));
}

static int try_synthesize(yard *y, const char *actor, const char *node, const char *more)
{
    return yard_try(y, actor, "context:synthesize",
                    test_format("{\"node\":\"%s\",\"noScan\":true%s}", node, more), NULL);
}

static const char *regenerate(yard *y, const char *node, const char *more)
{
    return yard_run(y, "context:regenerate",
                    test_format("{\"node\":\"%s\",\"noScan\":true%s}", node, more));
}

static int try_regenerate(yard *y, const char *actor, const char *node)
{
    return yard_try(y, actor, "context:regenerate",
                    test_format("{\"node\":\"%s\",\"noScan\":true}", node), NULL);
}

static const char *seq_of(yard *y)
{
    return yard_member(y, yard_run(y, "log:list", "{}"), "items.0.seq");
}

/* Of what outcome a path is told, or "". */
static const char *outcome(yard *y, const char *answer, const char *node)
{
    for (int i = 0;; i++) {
        const char *path = yard_member(y, answer, test_format("slots.%d.path", i));
        const char *what = yard_member(y, answer, test_format("slots.%d.outcome", i));
        if (*what == '\0' || strcmp(*path ? path : ".", node) == 0)
            return what;
    }
}

/* ---- missing and stale [C16] ---- */

/* What a condition or a limit leaves out is not missing. */
TEST(runs, what_is_not_asked_for_is_not_missing)
{
    yard *y = yard_open(t);
    const char *said;

    yard_grow(y, "a.c=1 b.c=2 c.txt=3", "");
    (void)yard_put(y, NULL, "a.c", "notes", "about a", "");
    (void)yard_put(y, NULL, "b.c", "notes", "about b", "");
    CHECK_TEXT("1", yard_member(y, synthesize(y, ".", ",\"output\":\"all\""), "missing"));
    CHECK_TEXT(
        "0", yard_member(y, synthesize(y, ".", ",\"name\":\"*.c\",\"output\":\"o1\""), "missing"));
    CHECK_INT(0,
              try_synthesize(y, NULL, ".", ",\"name\":\"*.c\",\"output\":\"o2\",\"strict\":true"));
    (void)yard_put(y, NULL, "c.txt", "notes", "about c, at some length", "");
    CHECK_INT(0, try_synthesize(y, NULL, ".", ",\"limit\":1,\"output\":\"o3\",\"strict\":true"));
    said = yard_run(y, "head:get", "{\"node\":\".\",\"type\":\"o3\"}");
    CHECK(strstr(said, "about a") && !strstr(said, "about b") && !strstr(said, "about c"));
    CHECK_INT(0, try_synthesize(y, NULL, ".", ",\"maxSize\":10,\"output\":\"o4\",\"strict\":true"));
    CHECK_INT(0,
              try_synthesize(y, NULL, ".", ",\"byAgent\":\"w\",\"output\":\"o5\",\"strict\":true"));
}

/* "Missing and stale children are listed in the result." */
TEST(runs, missing_and_stale_children_are_listed)
{
    yard *y = yard_open(t);
    const char *answer;

    yard_grow(y, "d/a.c=1 d/b.c=2 d/sub/c.c=3 d/more/x.c=4", "");
    (void)yard_put(y, NULL, "d/a.c", "notes", "about a", "");
    (void)yard_put(y, NULL, "d/sub/c.c", "notes", "about c", "");
    (void)synthesize(y, "d/sub", "");
    yard_grow(y, "d/a.c=changed d/b.c=2 d/sub/c.c=3 d/more/x.c=4", "");
    (void)yard_put(y, NULL, "d/sub/c.c", "notes", "other words", "");
    answer = synthesize(y, "d", "");
    CHECK_TEXT("missing", outcome(y, answer, "d/b.c"));
    CHECK_TEXT("missing", outcome(y, answer, "d/more"));
    CHECK_TEXT("2", yard_member(y, answer, "missing"));
    CHECK_TEXT("stale", outcome(y, answer, "d/a.c"));
    CHECK_TEXT("stale", outcome(y, answer, "d/sub")); /* what it is made of has changed */
    CHECK_TEXT("2", yard_member(y, answer, "stale"));
    yard_grow(y, "d/a.c=1 d/sub/c.c=3", "");
    CHECK_INT(VALISE_E_CONFLICT, try_synthesize(y, NULL, "d", ",\"strict\":true"));
    CHECK(strstr(t->err.message, "'d/sub'"));
    CHECK_INT(0, try_synthesize(y, NULL, "d", ",\"strict\":true,\"recursive\":true"));
    (void)yard_run(y, "slot:invalidate", "{\"noScan\":true,\"node\":\"d/a.c\"}");
    CHECK_INT(VALISE_E_CONFLICT, try_synthesize(y, NULL, "d", ",\"strict\":true"));
}

/* ---- a second run writes nothing [C22] ---- */

TEST(runs, what_is_known_is_not_written_again)
{
    yard *y = yard_open(t);
    const char *before = "", *after = "", *seq, *answer;

    for (int i = 0; i < 91; i++) {
        before = test_format("%s f%d=1", before, i);
        after = test_format("%s f%d=2", after, i);
    }
    yard_grow(y, before, "");
    for (int i = 0; i < 91 * 11; i++)
        (void)yard_put(y, NULL, test_format("f%d", i % 91), test_format("t%d", i / 91), "it", "");
    yard_grow(y, after, "");
    answer = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("1001", yard_member(y, answer, "needsAuthor"));
    seq = seq_of(y);
    answer = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("1001", yard_member(y, answer, "needsAuthor"));
    CHECK_TEXT(seq, seq_of(y));
}

/* ---- who may hear what [C7] ---- */

TEST(runs, narrowed_agents_hear_nothing_of_the_rest)
{
    yard *y = yard_open(t);
    const char *answer;

    yard_grow(y, "top=1 src/sub/a=1 src/b=2 other/o=3", "");
    (void)yard_put(y, NULL, "src/sub/a", "notes", "about a", "");
    (void)yard_put(y, NULL, "other/o", "notes", "about o", "");
    (void)synthesize(y, ".", ",\"recursive\":true");
    (void)yard_run(y, "agent:add",
                   "{\"id\":\"n\",\"capabilities\":[\"context:regenerate path=src/sub\","
                   "\"context:synthesize path=src/sub\",\"context:read path=src/sub/**\"]}");
    CHECK_INT(VALISE_E_DENIED, try_synthesize(y, "n", "top", ""));
    CHECK_INT(VALISE_E_DENIED, try_synthesize(y, "n", "nosuch", ""));
    CHECK_INT(VALISE_E_DENIED, try_synthesize(y, "n", "other", ""));
    CHECK_INT(VALISE_E_DENIED, try_regenerate(y, "n", "nosuch"));
    CHECK_INT(VALISE_E_DENIED, try_regenerate(y, "n", "other")); /* though nothing is to do */
    (void)yard_put(y, NULL, "src/sub/a", "notes", "other words", "");
    answer = yard_run_as(y, "n", "context:regenerate", "{\"node\":\"src/sub\",\"noScan\":true}");
    CHECK_TEXT("made", outcome(y, answer, "src/sub"));
    CHECK_TEXT("", outcome(y, answer, "src"));
    CHECK_TEXT("0", yard_member(y, answer, "outOfScope"));
    CHECK_TEXT("stale child-changed:sub", yard_state(y, "src", "notes"));
}

/* ---- recipes that nobody here can follow ---- */

TEST_PARAMS(reopened, "sqlite")

TEST(reopened, versions_and_policies_come_and_go)
{
    yard *y;
    const char *answer, *first, *seq;

    y = counted_open(t, "w", 1);
    yard_grow(y, "a/x=1 a/y=2 b/z=3", "");
    (void)yard_put(y, NULL, "a/x", "notes", "about x", "");
    (void)synthesize(y, ".", ",\"recursive\":true,\"policy\":\"toy.join\"");
    CHECK_INT(3, counted_calls());
    first = yard_member(y, yard_run(y, "head:get", "{\"node\":\"a\"}"), "items.0.frameId");
    valise_close(y->v);
    y->v = NULL;
    y = counted_open(t, "w", 2); /* a newer one: all are made again, once */
    CHECK_TEXT("stale recipe-changed", yard_state(y, "a", "notes"));
    answer = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("3", yard_member(y, answer, "made"));
    CHECK_INT(3, counted_calls());
    CHECK_TEXT("fresh", yard_state(y, "a", "notes"));
    CHECK(strcmp(first, yard_member(y, yard_run(y, "head:get", "{\"node\":\"a\"}"),
                                    "items.0.frameId")) != 0);
    seq = seq_of(y);
    CHECK_TEXT("0", yard_member(y, regenerate(y, ".", ",\"recursive\":true"), "made"));
    CHECK_TEXT(seq, seq_of(y));
    valise_close(y->v);
    y->v = NULL;
    for (int version = 1; version >= 0; version--) { /* an older one, then none */
        y = counted_open(t, "w", version);
        CHECK_TEXT(version == 1 ? "fresh" : "stale child-changed:y", yard_state(y, "a", "notes"));
        (void)yard_put(y, NULL, "a/y", "notes", test_format("about y, %d", version), "");
        answer = regenerate(y, ".", ",\"recursive\":true");
        CHECK_TEXT("unknown", outcome(y, answer, "a"));
        CHECK_TEXT("1", yard_member(y, answer, "unknown"));
        CHECK_TEXT("0", yard_member(y, answer, "made"));
        CHECK_INT(0, counted_calls());
        yard_check(y);
        valise_close(y->v);
        y->v = NULL;
    }
}

/* A frame that a program to come has made, as its bytes. */
#define FUTURE "derived\n{\"future\":1,\"policy\":\"concatenation\",\"version\":1}"

typedef struct forging {
    vls_buf basis;
    vls_frame_row frame;
} forging;

static int forge(forging *f, valise_error *err)
{
    vls_frame_new from = {.type = VLS_STR("notes"),
                          .agent = VLS_STR("local"),
                          .content.bytes = VLS_STR("from the future")};
    vls_dependency dep = {.kind = VLS_DEP_RECIPE};
    int rc = vls_object_id(&dep.id, "recipe", VLS_STR(FUTURE), err);

    vls_basis_add(&f->basis, &dep);
    from.basis = vls_buf_str(&f->basis);
    if (rc == 0)
        rc = vls_frame_compute(&f->frame, &from, VLS_FRAME_DERIVED, &dep.id, err);
    return rc;
}

/* It can be neither read nor followed, and nobody wrote it. */
TEST(runs, a_recipe_from_the_future_is_unknown)
{
    const vls_run_more more = {.internal = true};
    yard *y = yard_open(t);
    forging f = {.basis = {0}};
    vls_slot_head head = {.path = VLS_STR("d"), .type = VLS_STR("notes")};
    const vls_slot_head *heads[] = {&head};
    vls_frame_store_args store = {.type = head.type,
                                  .agent = VLS_STR("local"),
                                  .recipe.bytes = VLS_STR(FUTURE),
                                  .content.bytes = VLS_STR("from the future")};
    vls_slot_advance_args advance = {.version = VALISE_NONE, .heads = {heads, 1}, .looks = {"", 0}};
    const char *answer;

    yard_grow(y, "d/a=1", "");
    (void)yard_put(y, NULL, "d/a", "notes", "about a", "");
    vls_buf_init(&f.basis, t->env, 4096);
    CHECK_OK(forge(&f, &t->err));
    store.basis.bytes = vls_buf_str(&f.basis);
    head.frame = f.frame.id;
    CHECK_OK(vls_run(y->v, &vls_op_context_frame_store, &store, NULL, NULL, NULL, &more, &t->err));
    CHECK_OK(
        vls_run(y->v, &vls_op_context_slot_advance, &advance, NULL, NULL, NULL, &more, &t->err));
    vls_buf_release(&f.basis);
    CHECK_TEXT("stale recipe-changed", yard_state(y, "d", "notes"));
    (void)yard_put(y, NULL, "d/a", "notes", "other words", "");
    answer = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("unknown", outcome(y, answer, "d"));
    CHECK_INT(VALISE_E_CONFLICT, try_synthesize(y, NULL, "d", ""));
    CHECK_INT(0, try_synthesize(y, NULL, "d", ",\"replace\":true"));
    yard_check(y);
}

/* ---- reaffirm [C21] ---- */

TEST(runs, what_is_reaffirmed_keeps_what_was_told_with_it)
{
    yard *y = yard_open(t);
    const char *head, *seq;

    yard_grow(y, "a.md=1", "");
    (void)yard_put(y, "w", "a.md", "notes", "# About a",
                   ",\"mediaType\":\"text/markdown\",\"metadata\":{\"by\":\"hand\"}");
    yard_grow(y, "a.md=2", "");
    (void)yard_run(y, "slot:reaffirm", "{\"node\":\"a.md\",\"noScan\":true}");
    head = yard_run(y, "head:get", "{\"node\":\"a.md\"}");
    CHECK_TEXT("fresh", yard_member(y, head, "items.0.state"));
    CHECK_TEXT("w", yard_member(y, head, "items.0.agent"));
    CHECK_TEXT("local", yard_member(y, head, "items.0.meta.regeneratedBy"));
    CHECK_TEXT("text/markdown", yard_member(y, head, "items.0.meta.mediaType"));
    CHECK_TEXT("hand", yard_member(y, head, "items.0.meta.metadata.by"));
    seq = seq_of(y);
    (void)yard_run(y, "slot:reaffirm", "{\"node\":\"a.md\",\"noScan\":true}");
    CHECK_TEXT(seq, seq_of(y)); /* it held already */
    yard_check(y);
}

/* ---- invalidate [C24] ---- */

/* More than one command can change, in one transaction: with paths as long as these that is soon
 * so. */
TEST(runs, any_number_of_heads_can_be_invalidated)
{
    yard *y = yard_open(t);
    const char *dir = "d", *words = "", *answer, *seq, *before;
    const int files = 15, types = 20;

    test_unwatched();
    for (int i = 0; i < 15; i++)
        dir = test_format("%s/%0250d", dir, i);
    for (int i = 0; i < files; i++)
        words = test_format("%s %s/%d=1", words, dir, i);
    yard_grow(y, test_format("%s d0/x=1 x=1", words), "");
    (void)yard_put(y, NULL, "d0/x", "t1", "beside it", ""); /* a name that only begins like it */
    (void)yard_put(y, NULL, "d", "t1", "about it", "");
    for (int i = 0; i < files * types; i++)
        (void)yard_put(y, NULL, test_format("%s/%d", dir, i % files), test_format("t%d", i / files),
                       "it", "");
    (void)yard_run(y, "slot:invalidate",
                   test_format("{\"noScan\":true,\"node\":\"%s/7\",\"type\":\"t3\"}", dir));
    before = yard_run(y, "workspace:hash", NULL);
    seq = seq_of(y);
    CHECK_INT(VALISE_E_DENIED,
              yard_try(y, "r", "slot:invalidate",
                       "{\"noScan\":true,\"node\":\"d\",\"recursive\":true}", NULL));
    CHECK_TEXT(before, yard_run(y, "workspace:hash", NULL));
    answer = yard_run(y, "slot:invalidate",
                      "{\"noScan\":true,\"node\":\"d\",\"recursive\":true,\"reason\":\"all\"}");
    CHECK_TEXT("300", yard_member(y, answer, "marked"));
    CHECK_TEXT("1", yard_member(y, answer, "already"));
    CHECK_TEXT("fresh", yard_state(y, "d0/x", "t1"));
    CHECK_TEXT("slot:mark", yard_member(y, yard_run(y, "log:list", "{}"), "items.3.type"));
    seq = seq_of(y);
    answer = yard_run(y, "slot:invalidate", "{\"noScan\":true,\"node\":\"d\",\"recursive\":true}");
    CHECK_TEXT("0", yard_member(y, answer, "marked"));
    CHECK_TEXT("301", yard_member(y, answer, "already"));
    CHECK_TEXT(seq, seq_of(y)); /* a repeat writes nothing */
    yard_check(y);
}

/* ---- others write meanwhile [C23] ---- */

TEST_PARAMS(meanwhile, "sqlite")

typedef struct other {
    yard *y;
    const char *node; /* about which something is said */
    int times;        /* how often; then no more */
    int said;
} other;

static void say_something(void *arg)
{
    other *o = arg;

    if (o->said >= o->times)
        return;
    o->said++;
    (void)yard_put(o->y, NULL, o->node, "notes", test_format("meanwhile %d", o->said), "");
}

static yard *grown(test *t)
{
    yard *y = counted_open(t, "w", 1);

    yard_grow(y, "a/x=1 a/y=2 b/c/z=3 far=4", "");
    (void)yard_put(y, NULL, "a/x", "notes", "about x", "");
    (void)yard_put(y, NULL, "b/c/z", "notes", "about z", "");
    (void)synthesize(y, ".", ",\"recursive\":true,\"policy\":\"toy.join\"");
    CHECK_INT(4, counted_calls());
    (void)yard_put(y, NULL, "a/x", "notes", "other words", "");
    return y;
}

static const char *text_of(yard *y, const char *node)
{
    return yard_member(y, yard_run(y, "head:get", test_format("{\"node\":\"%s\"}", node)),
                       "items.0.text");
}

/* Where it does not matter, nothing is made again. */
TEST(meanwhile, what_is_about_something_else_costs_nothing)
{
    yard *y = grown(t);
    other o = {.y = y, .node = "b/c/z", .times = 1};

    const char *answer;

    yard_grow(y, "a/x=1 a/y=2 b/c/z=3 b/c/new=5 far=4", ""); /* somebody must look at b/c */
    counted_meanwhile(say_something, &o);
    answer = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("unchanged", outcome(y, answer, "b/c")); /* that was so when it was looked at */
    CHECK_TEXT("2", yard_member(y, answer, "made"));
    CHECK_INT(2, counted_calls());
    CHECK_INT(1, o.said);
    counted_meanwhile(NULL, NULL);
    CHECK(strstr(text_of(y, "a"), "other words"));
    /* And what it was about is not forgotten. */
    CHECK_TEXT("3", yard_member(y, regenerate(y, ".", ",\"recursive\":true"), "made"));
    CHECK(strstr(text_of(y, "."), "meanwhile 1"));
    CHECK(strstr(text_of(y, "."), "other words"));
    yard_check(y);
}

/* Where it does, what no longer holds is made again, and what does hold is found by its basis. */
TEST(meanwhile, what_goes_in_is_made_again)
{
    yard *y = grown(t);
    other o = {.y = y, .node = "a/x", .times = 1};
    const char *seq;

    counted_meanwhile(say_something, &o);
    CHECK_TEXT("2", yard_member(y, regenerate(y, ".", ",\"recursive\":true"), "made"));
    CHECK_INT(4, counted_calls()); /* a and the root, twice */
    CHECK_TEXT("x: meanwhile 1\n", text_of(y, "a"));
    CHECK(strstr(text_of(y, "."), "meanwhile 1"));
    CHECK_TEXT("fresh", yard_state(y, ".", "notes"));
    seq = seq_of(y);
    CHECK_TEXT("0", yard_member(y, regenerate(y, ".", ",\"recursive\":true"), "made"));
    CHECK_TEXT(seq, seq_of(y));
    /* Of two that were to be made, one held. */
    (void)yard_put(y, NULL, "b/c/z", "notes", "other words", "");
    (void)yard_put(y, NULL, "a/x", "notes", "third words", "");
    o = (other){.y = y, .node = "a/x", .times = 11, .said = 10};
    (void)counted_calls();
    CHECK_TEXT("4", yard_member(y, regenerate(y, ".", ",\"recursive\":true"), "made"));
    CHECK_INT(6, counted_calls()); /* b/c and b only once */
    yard_check(y);
}

/* Three times at most; what was made is kept, and no head was moved. */
TEST(meanwhile, who_is_never_done_is_told)
{
    yard *y = grown(t);
    other o = {.y = y, .node = "a/x", .times = 100};
    const char *before = text_of(y, "a");

    counted_meanwhile(say_something, &o);
    CHECK_INT(VALISE_E_CONFLICT,
              yard_try(y, NULL, "context:regenerate", "{\"node\":\"a\",\"noScan\":true}", NULL));
    CHECK_INT(3, counted_calls());
    CHECK(strstr(t->err.hint, "again"));
    CHECK_TEXT(before, text_of(y, "a"));
    counted_meanwhile(NULL, NULL);
    CHECK_TEXT("2", yard_member(y, regenerate(y, ".", ",\"recursive\":true"), "made"));
    CHECK(strstr(text_of(y, "."), "meanwhile 3"));
    yard_check(y);
}

/* The directory goes away, or somebody writes about it himself: that counts. */
static void write_about_it(void *arg)
{
    other *o = arg;

    if (o->said++ == 0)
        (void)yard_put(o->y, NULL, "a", "notes", "by hand", "");
}

static void take_it_away(void *arg)
{
    other *o = arg;

    if (o->said++ == 0)
        yard_grow(o->y, "b/c/z=3 far=4", "");
}

TEST(meanwhile, a_head_that_somebody_wrote_stays)
{
    yard *y = grown(t);
    other o = {.y = y};

    counted_meanwhile(write_about_it, &o);
    (void)regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("by hand", text_of(y, "a"));
    CHECK_TEXT("fresh", yard_state(y, ".", "notes"));
    CHECK(strstr(text_of(y, "."), "by hand"));
    o.said = 0;
    (void)yard_put(y, NULL, "b/c/z", "notes", "other words", "");
    counted_meanwhile(take_it_away, &o);
    (void)regenerate(y, ".", ",\"recursive\":true");
    CHECK(!strstr(text_of(y, "."), "by hand"));
    CHECK_TEXT("fresh", yard_state(y, ".", "notes"));
    yard_check(y);
}

/* ---- marks [C24] ---- */

/* A mark has it computed again, though there is a frame of the same basis. */
TEST(runs, what_is_marked_is_computed)
{
    yard *y = counted_open(t, "w", 1);
    const char *answer;

    yard_grow(y, "a/x=1", "");
    (void)yard_put(y, NULL, "a/x", "notes", "about x", "");
    (void)synthesize(y, ".", ",\"recursive\":true,\"policy\":\"toy.join\"");
    (void)counted_calls();
    (void)yard_run(y, "slot:invalidate", "{\"noScan\":true,\"node\":\"a\"}");
    answer = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("1", yard_member(y, answer, "made"));
    CHECK_INT(1, counted_calls());
    CHECK_TEXT(yard_member(y, answer, "slots.0.before"), yard_member(y, answer, "slots.0.after"));
}

/* What takes only what is fresh is news of a mark below, and of its end. */
TEST(runs, a_mark_is_news_to_who_takes_what_is_fresh)
{
    yard *y = counted_open(t, "w", 1);

    yard_grow(y, "a/x=1 a/y=2", "");
    (void)yard_put(y, NULL, "a/x", "notes", "about x", "");
    (void)yard_put(y, NULL, "a/y", "notes", "about y", "");
    (void)synthesize(y, "a", ",\"fresh\":true,\"policy\":\"toy.join\"");
    (void)yard_run(y, "slot:invalidate", "{\"noScan\":true,\"node\":\"a/x\"}");
    CHECK_TEXT("stale child-missing:x", yard_state(y, "a", "notes"));
    CHECK_TEXT("1", yard_member(y, regenerate(y, "a", ""), "made"));
    CHECK_TEXT("y: about y\n", text_of(y, "a"));
    (void)yard_run(y, "slot:reaffirm", "{\"node\":\"a/x\",\"noScan\":true}");
    CHECK_TEXT("1", yard_member(y, regenerate(y, "a", ""), "made"));
    CHECK_TEXT("x: about x\ny: about y\n", text_of(y, "a"));
    yard_check(y);
}

/* A directory that cannot be read now: what was said about it stays, and nobody is asked to write
 * anything. When it can be again, all is as it was. */
TEST(runs, what_cannot_be_read_now_is_left)
{
    yard *y = counted_open(t, "w", 1);
    const char *answer, *first;

    yard_grow(y, "a/x=1 b/y=2", "");
    (void)yard_put(y, NULL, "a/x", "notes", "about x", "");
    (void)synthesize(y, ".", ",\"recursive\":true,\"policy\":\"toy.join\"");
    first = text_of(y, ".");
    (void)counted_calls();
    yard_grow(y, "a! b/y=2", "");
    answer = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("failed", outcome(y, answer, "a"));
    CHECK_TEXT("the directory cannot be read now", yard_member(y, answer, "slots.1.why"));
    CHECK_TEXT("0", yard_member(y, answer, "needsAuthor"));
    CHECK_TEXT(first, text_of(y, "."));
    yard_grow(y, "a/x=1 b/y=2", "");
    CHECK_TEXT("0", yard_member(y, regenerate(y, ".", ",\"recursive\":true"), "made"));
    CHECK_TEXT("fresh", yard_state(y, "a", "notes"));
    CHECK_INT(0, counted_calls());
    yard_check(y);
}
