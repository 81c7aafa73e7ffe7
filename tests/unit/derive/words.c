/* words.c -- the test criteria of the seed's components 3 and 4, by their words; and what else the
 * specification says of synthesis and regeneration. */
#include "base/str.h"
#include "context/kit.h"

TEST_PARAMS(synthesis, "memory", "sqlite")
TEST_PARAMS(regeneration, "memory", "sqlite")

#define TREE "a.c=1 src/x.c=1 src/y.c=2 src/sub/z.c=3 other/o.c=4"

static void notes(yard *y)
{
    yard_grow(y, TREE, "");
    (void)yard_put(y, NULL, "src/x.c", "notes", "about x", "");
    (void)yard_put(y, NULL, "src/y.c", "notes", "about y", "");
    (void)yard_put(y, NULL, "src/sub/z.c", "notes", "about z", "");
}

/* more: further members, ",\"a\":1" or "". */
static const char *synthesize(yard *y, const char *node, const char *more)
{
    return yard_run(y, "context:synthesize",
                    test_format("{\"node\":\"%s\",\"noScan\":true%s}", node, more));
}

static const char *regenerate(yard *y, const char *node, const char *more)
{
    return yard_run(y, "context:regenerate",
                    test_format("{\"node\":\"%s\",\"noScan\":true%s}", node, more));
}

static const char *head(yard *y, const char *node)
{
    return yard_member(
        y, yard_run(y, "head:get", test_format("{\"node\":\"%s\",\"type\":\"notes\"}", node)),
        "items.0.frameId");
}

static const char *text(yard *y, const char *node)
{
    return yard_member(
        y, yard_run(y, "head:get", test_format("{\"node\":\"%s\",\"type\":\"notes\"}", node)),
        "items.0.text");
}

static const char *seq_of(yard *y)
{
    return yard_member(y, yard_run(y, "log:list", "{}"), "items.0.seq");
}

/* What became of a slot, or "". */
static const char *outcome(yard *y, const char *answer, const char *node)
{
    for (int i = 0;; i++) {
        const char *path = yard_member(y, answer, test_format("slots.%d.path", i));
        const char *what = yard_member(y, answer, test_format("slots.%d.outcome", i));
        if (*what == '\0' || strcmp(*path ? path : ".", node) == 0)
            return what;
    }
}

/* ---- component 3 ---- */

/* "Same child frames -> same branch frame (deterministic)" [C18] */
TEST(synthesis, same_child_frames_give_the_same_branch_frame)
{
    yard *y = yard_open(t);
    const char *first, *before;

    notes(y);
    CHECK_TEXT("1", yard_member(y, synthesize(y, "src", ""), "made"));
    first = head(y, "src");
    before = seq_of(y);
    for (int i = 0; i < 3; i++) {
        const char *again = synthesize(y, "src", "");
        CHECK_TEXT("0", yard_member(y, again, "made"));
        CHECK_TEXT("1", yard_member(y, again, "unchanged"));
    }
    CHECK_TEXT(before, seq_of(y)); /* a second run writes nothing */
    CHECK_TEXT(first, head(y, "src"));
    /* By way of something else: the same again. */
    (void)yard_put(y, NULL, "src/x.c", "notes", "other words", "");
    CHECK_TEXT("1", yard_member(y, synthesize(y, "src", ""), "made"));
    CHECK(strcmp(first, head(y, "src")) != 0);
    (void)yard_put(y, NULL, "src/x.c", "notes", "about x", "");
    CHECK_TEXT("1", yard_member(y, synthesize(y, "src", ""), "made"));
    CHECK_TEXT(first, head(y, "src"));
    yard_check(y);
}

/* "Child change invalidates parent basis (basis hash changes)" [C15] */
TEST(synthesis, a_child_change_invalidates_the_parent_basis)
{
    yard *y = yard_open(t);
    const char *shown, *basis;

    notes(y);
    (void)synthesize(y, "src", "");
    shown = yard_run(y, "frame:show", test_format("{\"frame\":\"%s\"}", head(y, "src")));
    basis = yard_member(y, shown, "basis");
    CHECK_TEXT("recipe", yard_member(y, shown, "madeOf.0.kind"));
    CHECK_TEXT("x.c", yard_member(y, shown, "madeOf.1.name"));
    CHECK_TEXT("y.c", yard_member(y, shown, "madeOf.2.name"));
    (void)yard_put(y, NULL, "src/x.c", "notes", "other words", "");
    CHECK_TEXT("stale child-changed:x.c", yard_state(y, "src", "notes"));
    (void)synthesize(y, "src", "");
    CHECK_TEXT("fresh", yard_state(y, "src", "notes"));
    shown = yard_run(y, "frame:show", test_format("{\"frame\":\"%s\"}", head(y, "src")));
    CHECK(strcmp(basis, yard_member(y, shown, "basis")) != 0);
    /* What is not said about it does not: the directory's own id is not in its basis. */
    yard_grow(y, TREE " src/new.c=5", "");
    CHECK_TEXT("fresh", yard_state(y, "src", "notes"));
}

/* "Synthesis limited to subtree scope (no parent/sibling access)": contents beside and above that
 * cannot even be read do no harm. [C19] */
TEST(synthesis, is_limited_to_the_subtree)
{
    yard *y = yard_open(t);
    const char *clean, *frame, *shown;

    notes(y);
    (void)yard_put(y, NULL, "a.c", "notes", "poison 1", "");
    (void)yard_put(y, NULL, ".", "notes", "poison 2", "");
    (void)yard_put(y, NULL, "other/o.c", "notes", "poison 3", "");
    (void)synthesize(y, "src", ",\"recursive\":true");
    CHECK(!strstr(text(y, "src"), "poison"));
    clean = head(y, "src");
    /* Their contents are gone: whoever read them would fail, or have another result. */
    frame = head(y, "other/o.c");
    shown = yard_run(y, "workspace:show", test_format("{\"target\":\"frame/%s\"}", frame));
    (void)yard_run(y, "workspace:erase",
                   test_format("{\"content\":\"%s\"}", yard_member(y, shown, "value.content")));
    (void)yard_put(y, NULL, "src/x.c", "notes", "other words", "");
    (void)synthesize(y, "src", ",\"recursive\":true");
    (void)yard_put(y, NULL, "src/x.c", "notes", "about x", "");
    (void)synthesize(y, "src", ",\"recursive\":true");
    CHECK_TEXT(clean, head(y, "src"));
}

/* "No synthesis without declared trigger (explicit API call required)" [C15] */
TEST(synthesis, happens_only_when_it_is_asked_for)
{
    yard *y = yard_open(t);

    notes(y);
    (void)yard_run(y, "node:get", "{\"node\":\"src\"}");
    (void)yard_run(y, "frame:list", "{\"node\":\"src\"}");
    yard_grow(y, TREE " src/more.c=9", "");
    CHECK(!strstr(yard_run(y, "head:get", "{\"node\":\"src\"}"), "frameId"));
    (void)synthesize(y, "src", "");
    (void)yard_put(y, NULL, "src/x.c", "notes", "other words", "");
    CHECK(!strstr(text(y, "src"), "other words")); /* it is stale, and stays so */
}

/* "Empty directory produces stable empty frame"; one about whose entries nothing is said, another.
 * [C18] */
TEST(synthesis, an_empty_directory_gives_a_stable_frame)
{
    yard *y = yard_open(t);
    const char *empty, *unknown;

    yard_grow(y, "none/ void/ some/a.c=1 others/b.c=2", "");
    (void)synthesize(y, "none", "");
    (void)synthesize(y, "void", "");
    (void)synthesize(y, "some", "");
    (void)synthesize(y, "others", "");
    empty = head(y, "none");
    unknown = head(y, "some");
    CHECK_TEXT(empty, head(y, "void"));
    CHECK_TEXT(unknown, head(y, "others"));
    CHECK(strcmp(empty, unknown) != 0);
    CHECK(strcmp(text(y, "none"), text(y, "some")) != 0);
    yard_grow(y, "none/x.c=3 void/ some/ others/b.c=2", "");
    CHECK_TEXT("stale node-changed", yard_state(y, "none", "notes"));
    CHECK_TEXT("stale node-changed", yard_state(y, "some", "notes"));
    CHECK_TEXT("2", yard_member(y, regenerate(y, ".", ",\"recursive\":true"), "made"));
    CHECK_TEXT(unknown, head(y, "none"));
    CHECK_TEXT(empty, head(y, "some"));
}

/* "Synthesis preserves frame ordering (deterministic child ordering)": by name, then type. */
TEST(synthesis, preserves_the_order_of_names)
{
    static const char *const order[] = {"B.c", "a/", "a-b.c", "a.c", "b.c", "\xc3\xa4.c"};
    yard *y = yard_open(t);
    const char *all, *last;

    yard_grow(y, "b.c=1 a.c=2 a-b.c=3 B.c=4 \xc3\xa4.c=5 a/i.c=6", "");
    for (int i = 5; i >= 0; i--) {
        if (i != 1)
            (void)yard_put(y, NULL, order[i], "notes", test_format("words of %s", order[i]), "");
    }
    (void)yard_put(y, NULL, "a/i.c", "notes", "inner", "");
    (void)synthesize(y, ".", ",\"recursive\":true");
    last = all = text(y, ".");
    for (int i = 0; i < 6; i++) {
        const char *at = strstr(all, test_format("## %s", order[i]));
        CHECK(at && at >= last);
        last = at;
    }
}

/* ---- more of synthesis ---- */

/* From leaves to trunk; what is missing and stale is counted, and --strict makes it an error. [C16]
 */
TEST(synthesis, runs_from_the_leaves_to_the_trunk)
{
    yard *y = yard_open(t);
    const char *answer, *before;

    notes(y);
    answer = synthesize(y, ".", ",\"recursive\":true");
    CHECK_TEXT("4", yard_member(y, answer, "made")); /* src/sub, src, other, . */
    CHECK_TEXT("", yard_member(y, answer, "slots.3.path"));
    CHECK_TEXT("2", yard_member(y, answer, "missing")); /* a.c, other/o.c */
    CHECK(strstr(text(y, "."), "about z"));
    before = yard_run(y, "workspace:hash", NULL);
    CHECK_INT(VALISE_E_CONFLICT,
              yard_try(y, NULL, "context:synthesize",
                       "{\"node\":\".\",\"output\":\"strict\",\"noScan\":true,\"strict\":true}",
                       NULL));
    CHECK_TEXT(before, yard_run(y, "workspace:hash", NULL));
    CHECK_TEXT(
        "1",
        yard_member(y, synthesize(y, "src/sub", ",\"output\":\"strict\",\"strict\":true"), "made"));
    yard_grow(y, "a.c=1 src/x.c=1 src/y.c=2 src/sub/z.c=changed other/o.c=4", "");
    CHECK_INT(VALISE_E_CONFLICT,
              yard_try(y, NULL, "context:synthesize",
                       "{\"node\":\"src/sub\",\"noScan\":true,\"strict\":true}", NULL));
}

/* What somebody wrote is not overwritten. [C15] */
TEST(synthesis, does_not_replace_what_somebody_wrote)
{
    yard *y = yard_open(t);
    const char *own;

    notes(y);
    (void)yard_put(y, "w", "src", "notes", "by hand", "");
    own = head(y, "src");
    CHECK_INT(VALISE_E_CONFLICT,
              yard_try(y, NULL, "context:synthesize", "{\"node\":\"src\",\"noScan\":true}", NULL));
    CHECK(strstr(t->err.hint, "--replace"));
    CHECK_TEXT(own, head(y, "src"));
    (void)synthesize(y, ".", ",\"recursive\":true"); /* below, it is an input */
    CHECK(strstr(text(y, "."), "by hand"));
    CHECK_TEXT(own, head(y, "src"));
    CHECK_TEXT("1", yard_member(y, synthesize(y, "src", ",\"replace\":true"), "made"));
    CHECK(strstr(text(y, "src"), "about x"));
    CHECK_INT(VALISE_E_INVALID,
              yard_try(y, NULL, "context:synthesize", "{\"node\":\"a.c\",\"noScan\":true}", NULL));
    CHECK_INT(VALISE_E_NOT_FOUND,
              yard_try(y, NULL, "context:synthesize", "{\"node\":\"no\",\"noScan\":true}", NULL));
    CHECK_INT(VALISE_E_NOT_FOUND,
              yard_try(y, NULL, "context:synthesize",
                       "{\"node\":\"src\",\"policy\":\"nonsense\",\"noScan\":true}", NULL));
}

/* Who may not read what goes in cannot have it summed up. [C7] */
TEST(synthesis, reads_only_what_the_agent_may)
{
    yard *y = yard_open(t);

    notes(y);
    (void)yard_run(y, "agent:add",
                   "{\"id\":\"n\",\"capabilities\":[\"context:synthesize\",\"context:write\","
                   "\"context:read path=src/sub/**\"]}");
    CHECK_INT(VALISE_E_DENIED,
              yard_try(y, "n", "context:synthesize", "{\"node\":\"src\",\"noScan\":true}", NULL));
    CHECK_INT(
        0, yard_try(y, "n", "context:synthesize", "{\"node\":\"src/sub\",\"noScan\":true}", NULL));
    CHECK_INT(VALISE_E_DENIED,
              yard_try(y, "w", "context:synthesize", "{\"node\":\"src\",\"noScan\":true}", NULL));
    CHECK_INT(0,
              yard_try(y, "s", "context:synthesize", "{\"node\":\"src\",\"noScan\":true}", NULL));
}

/* ---- component 4 ---- */

static void grown(yard *y)
{
    notes(y);
    (void)yard_put(y, NULL, "other/o.c", "notes", "about o", "");
    (void)synthesize(y, ".", ",\"recursive\":true");
}

/* "File change triggers minimal regeneration (only affected frames)", "Unchanged nodes are not
 * touched (no unnecessary work)" [C22] */
TEST(regeneration, a_change_makes_only_what_depends_on_it)
{
    yard *y = yard_open(t);
    const char *other, *answer, *before;

    grown(y);
    other = head(y, "other");
    (void)yard_put(y, NULL, "src/sub/z.c", "notes", "other words", "");
    answer = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("3", yard_member(y, answer, "made"));
    CHECK_TEXT("0", yard_member(y, answer, "unchanged"));
    CHECK_TEXT("made", outcome(y, answer, "src/sub"));
    CHECK_TEXT("made", outcome(y, answer, "src"));
    CHECK_TEXT("made", outcome(y, answer, "."));
    CHECK_TEXT("", outcome(y, answer, "other")); /* nobody looked */
    CHECK_TEXT(other, head(y, "other"));
    CHECK(strstr(text(y, "."), "other words"));
    /* A file that changes: what somebody wrote about it is theirs to mend. [C21] */
    yard_grow(y, "a.c=1 src/x.c=changed src/y.c=2 src/sub/z.c=3 other/o.c=4", "");
    before = yard_run(y, "workspace:hash", NULL);
    answer = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("0", yard_member(y, answer, "made"));
    CHECK_TEXT("needs-author", outcome(y, answer, "src/x.c"));
    CHECK_TEXT(before, yard_run(y, "workspace:hash", NULL));
    /* It still holds: the same words, another basis; nothing above is made again. */
    (void)yard_run(y, "slot:reaffirm", "{\"node\":\"src/x.c\",\"noScan\":true}");
    CHECK_TEXT("fresh", yard_state(y, "src/x.c", "notes"));
    CHECK_TEXT("0", yard_member(y, regenerate(y, ".", ",\"recursive\":true"), "made"));
    yard_check(y);
}

/* "Children that change without changing the parent's text stop the propagation." [C22] */
TEST(regeneration, words_that_stay_the_same_end_it)
{
    yard *y = yard_open(t);
    const char *answer, *top;

    notes(y);
    (void)synthesize(y, "src/sub", ",\"policy\":\"filtering\",\"name\":\"*.h\"");
    (void)synthesize(y, "src", "");
    (void)synthesize(y, ".", "");
    top = head(y, ".");
    (void)yard_put(y, NULL, "src/sub/z.c", "notes", "nobody takes it", "");
    answer = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("0", yard_member(y, answer, "made"));
    /* White space at the end of a line is nothing to a summary. */
    (void)synthesize(y, "src/sub", ",\"policy\":\"summarization\",\"params\":{\"budget\":256}");
    (void)yard_put(y, NULL, "src/sub/z.c", "notes", "nobody takes it \n", "");
    (void)regenerate(y, ".", ",\"recursive\":true");
    top = head(y, ".");
    (void)yard_put(y, NULL, "src/sub/z.c", "notes", "nobody takes it\n ", "");
    answer = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("made", outcome(y, answer, "src/sub"));
    CHECK_TEXT("1", yard_member(y, answer, "made"));
    CHECK_TEXT("0", yard_member(y, answer, "unchanged")); /* nobody looked at what is above */
    CHECK_TEXT(top, head(y, "."));
    CHECK_TEXT("fresh", yard_state(y, ".", "notes"));
}

/* "Regenerated FrameIDs differ predictably (deterministic but different)" [C22]: a dry run says
 * which. */
TEST(regeneration, ids_can_be_told_before)
{
    yard *y = yard_open(t);
    const char *told, *before, *done;

    grown(y);
    (void)yard_put(y, NULL, "src/x.c", "notes", "other words", "");
    before = yard_run(y, "workspace:hash", NULL);
    told = regenerate(y, ".", ",\"recursive\":true,\"dryRun\":true");
    CHECK_TEXT(before, yard_run(y, "workspace:hash", NULL));
    CHECK_TEXT("true", yard_member(y, told, "dryRun"));
    done = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("2", yard_member(y, done, "made"));
    for (int i = 0; i < 2; i++) {
        CHECK_TEXT(yard_member(y, told, test_format("slots.%d.after", i)),
                   yard_member(y, done, test_format("slots.%d.after", i)));
        CHECK_TEXT(yard_member(y, told, test_format("slots.%d.before", i)),
                   yard_member(y, done, test_format("slots.%d.before", i)));
        CHECK(strcmp(yard_member(y, done, test_format("slots.%d.after", i)),
                     yard_member(y, done, test_format("slots.%d.before", i))) != 0);
    }
}

/* "No cascading beyond declared scope (regeneration boundaries respected)" [C21] */
TEST(regeneration, goes_no_further_than_it_was_asked_to)
{
    yard *y = yard_open(t);
    const char *answer;

    grown(y);
    (void)yard_put(y, NULL, "src/sub/z.c", "notes", "other words", "");
    answer = regenerate(y, "src", ""); /* itself: what it is made of has not changed yet */
    CHECK_TEXT("0", yard_member(y, answer, "made"));
    answer = regenerate(y, "src/sub", "");
    CHECK_TEXT("1", yard_member(y, answer, "made"));
    CHECK_TEXT("out-of-scope", outcome(y, answer, "src"));
    CHECK_TEXT("stale child-changed:sub", yard_state(y, "src", "notes"));
    CHECK_TEXT("fresh", yard_state(y, ".", "notes"));
    answer = regenerate(y, "src/sub", ",\"up\":1");
    CHECK_TEXT("1", yard_member(y, answer, "made"));
    CHECK_TEXT("out-of-scope", outcome(y, answer, "."));
    answer = regenerate(y, "src/sub", ",\"up\":9");
    CHECK_TEXT("1", yard_member(y, answer, "made"));
    CHECK_TEXT("fresh", yard_state(y, ".", "notes"));
}

/* "Old frames remain accessible (history preserved)" */
TEST(regeneration, old_frames_stay)
{
    yard *y = yard_open(t);
    const char *old, *list;

    grown(y);
    old = head(y, "src");
    (void)yard_put(y, NULL, "src/x.c", "notes", "other words", "");
    (void)regenerate(y, ".", ",\"recursive\":true");
    list = yard_run(y, "frame:list", "{\"node\":\"src\"}");
    CHECK_TEXT(old, yard_member(y, list, "items.1.frameId"));
    CHECK(strstr(yard_run(y, "frame:show", test_format("{\"frame\":\"%s\"}", old)), "about x"));
}

/* "Regeneration is idempotent (re-running produces same result)"; and who had it made stays the
 * author. [C21] */
TEST(regeneration, twice_is_as_good_as_once)
{
    yard *y = yard_open(t);
    const char *root, *seq, *answer;

    grown(y);
    (void)yard_put(y, NULL, "src/x.c", "notes", "other words", "");
    answer = yard_run_as(y, "s", "context:regenerate",
                         "{\"node\":\".\",\"noScan\":true,\"recursive\":true}");
    CHECK_TEXT("2", yard_member(y, answer, "made"));
    answer = yard_run(y, "head:get", "{\"node\":\"src\",\"type\":\"notes\"}");
    CHECK_TEXT("local", yard_member(y, answer, "items.0.agent"));
    CHECK_TEXT("s", yard_member(y, answer, "items.0.meta.regeneratedBy"));
    seq = seq_of(y);
    root = yard_member(y, regenerate(y, ".", ",\"recursive\":true"), "contextRoot");
    for (int i = 0; i < 3; i++)
        CHECK_TEXT(root, yard_member(y, regenerate(y, ".", ",\"recursive\":true"), "contextRoot"));
    CHECK_TEXT(seq, seq_of(y));
    yard_check(y);
}

/* A mark has it made again though nothing else changed; the same frame then stands anew. [C24] */
TEST(regeneration, what_was_invalidated_is_made_again)
{
    yard *y = yard_open(t);
    const char *clean, *frame, *answer, *seq;

    grown(y);
    frame = head(y, "src");
    clean = yard_member(y, regenerate(y, ".", ",\"recursive\":true"), "contextRoot");
    answer =
        yard_run(y, "slot:invalidate", "{\"noScan\":true,\"node\":\"src\",\"reason\":\"wrong\"}");
    CHECK_TEXT("1", yard_member(y, answer, "marked"));
    CHECK_TEXT("invalidated", yard_state(y, "src", "notes"));
    seq = seq_of(y);
    (void)yard_run(y, "slot:invalidate", "{\"noScan\":true,\"node\":\"src\",\"reason\":\"again\"}");
    CHECK_TEXT(seq, seq_of(y)); /* a repeat writes nothing */
    answer = regenerate(y, ".", ",\"recursive\":true");
    CHECK_TEXT("1", yard_member(y, answer, "made"));
    CHECK_TEXT(frame, yard_member(y, answer, "slots.0.after"));
    CHECK_TEXT("fresh", yard_state(y, "src", "notes"));
    CHECK_TEXT(clean, yard_member(y, answer, "contextRoot"));
    CHECK(strcmp(seq, seq_of(y)) != 0); /* an entry says that it was looked at */
    /* Of all that lies under a directory; reaffirm takes a mark away, too. */
    answer =
        yard_run(y, "slot:invalidate", "{\"noScan\":true,\"node\":\"src\",\"recursive\":true}");
    CHECK_TEXT("5", yard_member(y, answer, "marked"));
    (void)yard_run(y, "slot:reaffirm", "{\"node\":\"src/x.c\",\"noScan\":true}");
    CHECK_TEXT("fresh", yard_state(y, "src/x.c", "notes"));
    CHECK_TEXT("invalidated", yard_state(y, "src/y.c", "notes"));
    yard_check(y);
}
