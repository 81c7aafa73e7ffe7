/* oracle.c -- random trees, notes, edits, moves and marks: the set of slots that a run makes again
 * is the set of those that a workspace built from nothing has otherwise (and of those that were
 * marked), and the results are equal. [C15] [C18] [C20] [C22] [C24]
 *
 * After every step: each slot with a head that is not fresh is doubted. What somebody wrote about a
 * directory stays, is an input like any other, and is reported exactly when it is stale. No policy
 * is asked more often than there are frames made, and none by a run that makes nothing. */
#include "context/doubt.h"

#include "base/vec.h"
#include "bus/bus.h"
#include "context/kit.h"
#include "context/slot.h"
#include "context/state.h"
#include "derive/counted.h"

#define FILES 15
#define TURNS 14 /* the file that is a directory at other times */
#define DIRS 6
#define SLOTS (DIRS * 2)

static const char *const files[FILES] = {
    "r1.c",      "r2.txt",    "a/1.c",   "a/2.c", "a/3.txt", "a/b/1.c",   "a/b/2.c", "a/b/3.txt",
    "a/b/c/1.c", "a/b/c/2.c", "d/1.txt", "d/2.c", "d/e/1.c", "d/e/2.txt", "d/e"};
static const char *const dirs[DIRS] = {"a/b/c", "a/b", "a", "d/e", "d", "."}; /* innermost first */

typedef struct world {
    test_rng rng;
    yard *y;
    int content[FILES];  /* 0: there is none */
    int note[FILES];     /* 0: none; else what it says */
    int noted_at[FILES]; /* content when it was said */
    bool note_marked[FILES];
    const char *how[SLOTS]; /* members of the payload of synthesize; NULL: no slot */
    int words[SLOTS];       /* not 0: somebody wrote it */
    bool marked[SLOTS];
    const char *before[SLOTS]; /* heads, before a run */
    int next;
} world;

static const char *type_of(int slot)
{
    return slot % 2 ? "sum" : "notes";
}

static const char *dir_of(int slot)
{
    return dirs[slot / 2];
}

static int below(world *w, int limit)
{
    return (int)test_random_below(&w->rng, (uint64_t)limit);
}

static bool has_dir(const world *w, const char *dir)
{
    size_t len = strlen(dir);

    for (int i = 0; i < FILES; i++) {
        if (w->content[i] &&
            (strcmp(dir, ".") == 0 || (strncmp(files[i], dir, len) == 0 && files[i][len] == '/')))
            return true;
    }
    return strcmp(dir, ".") == 0;
}

static const char *words_of(const int *contents)
{
    const char *words = "";

    for (int i = 0; i < FILES; i++) {
        if (contents[i])
            words = test_format("%s %s=%d", words, files[i], contents[i]);
    }
    return words;
}

static const char *head_of(yard *y, const char *dir, const char *type)
{
    const char *payload = test_format("{\"node\":\"%s\",\"type\":\"%s\"}", dir, type);

    if (yard_try(y, NULL, "head:get", payload, NULL) < 0)
        return "";
    return yard_member(y, yard_run(y, "head:get", payload), "items.0.frameId");
}

/* What is said about a file: words that summaries choose from, a part of them often the same. */
static const char *note_text(int note)
{
    return test_format("Note %d. The parser reads dates. %s It has %d parts.", note % 5,
                       note % 2 ? "Nobody tests it!" : "It is slow.", note % 3);
}

/* ---- what must always hold ---- */

static int check_slots(void *arg, valise_view *view, valise_error *err)
{
    vls_tree_row tree;
    vls_slot_row slot;
    valise_scan *scan = NULL;
    int *bad = arg;
    int rc = vls_tree_head(&tree, view, err);

    CHECK_INT(1, rc);
    rc = vls_doubt_is_kept(view, &tree.id, err);
    if (rc <= 0)
        return rc;
    rc = valise_view_scan(&scan, view, &vls_slots, NULL, err);
    while (rc >= 0 && (rc = valise_scan_next(&slot, scan, err)) > 0) {
        vls_slot_doubt_row doubt = {.tree = tree.id, .path = slot.path, .type = slot.type};
        vls_tree_found node;
        vls_state_at at = {&tree, tree.version, slot.path, NULL};
        vls_state state;
        rc = vls_tree_get(&node, view, &tree, tree.version, slot.path, err);
        at.node = rc > 0 ? &node : NULL;
        if (rc >= 0)
            rc = vls_state_of(&state, view, &at, &slot, NULL, err);
        if (rc == 0 && vls_slot_has_head(&slot) && state.state != VLS_STATE_FRESH &&
            valise_view_get(&doubt, view, &vls_slot_doubts, err) == 0) {
            test_note("not doubted: %.*s %.*s, %s", VALISE_STR_ARG(slot.path),
                      VALISE_STR_ARG(slot.type), vls_state_names[state.state]);
            ++*bad;
        }
    }
    valise_scan_close(scan);
    return rc;
}

static void check_doubts(const world *w)
{
    test *t = w->y->t;
    int bad = 0;

    CHECK_OK(vls_with_view(w->y->v, NULL, check_slots, &bad, &t->err));
    CHECK_INT(0, bad);
}

/* ---- from nothing ---- */

static yard *build(const world *w)
{
    test *t = w->y->t;
    const char *param = t->param;
    int contents[FILES];
    yard *y;

    t->param = "memory";
    y = counted_open(t, "", 1);
    t->param = param;
    for (int i = 0; i < FILES; i++)
        contents[i] = w->content[i] && w->note[i] ? w->noted_at[i] : w->content[i];
    yard_grow(y, words_of(contents), "");
    for (int i = 0; i < FILES; i++) {
        if (w->content[i] && w->note[i])
            (void)yard_put(y, NULL, files[i], "notes", note_text(w->note[i]), "");
    }
    if (memcmp(contents, w->content, sizeof(contents)) != 0)
        yard_grow(y, words_of(w->content), "");
    for (int i = 0; i < FILES; i++) {
        if (w->content[i] && w->note[i] && w->note_marked[i])
            (void)yard_run(y, "slot:invalidate",
                           test_format("{\"noScan\":true,\"node\":\"%s\"}", files[i]));
    }
    for (int i = 0; i < SLOTS; i++) {
        if (w->words[i] && has_dir(w, dir_of(i)))
            (void)yard_put(y, NULL, dir_of(i), type_of(i), note_text(w->words[i]), "");
        if (w->how[i] && has_dir(w, dir_of(i)))
            (void)yard_run(y, "context:synthesize",
                           test_format("{\"node\":\"%s\",\"output\":\"%s\",\"noScan\":true%s}",
                                       dir_of(i), type_of(i), w->how[i]));
    }
    return y;
}

static bool was(world *w, const char *answer, const char *what, const char *dir, const char *type)
{
    for (int i = 0;; i++) {
        const char *path = yard_member(w->y, answer, test_format("slots.%d.path", i));
        const char *outcome = yard_member(w->y, answer, test_format("slots.%d.outcome", i));
        if (*outcome == '\0')
            return false;
        if (strcmp(outcome, what) == 0 && strcmp(*path ? path : ".", dir) == 0 &&
            strcmp(yard_member(w->y, answer, test_format("slots.%d.type", i)), type) == 0)
            return true;
    }
}

/* What somebody wrote about a directory. */
static void check_words(world *w, const char *answer, int i, const char *state)
{
    CHECK_TEXT(head_of(w->y, dir_of(i), type_of(i)), w->before[i]);
    CHECK(!was(w, answer, "made", dir_of(i), type_of(i)));
    CHECK(was(w, answer, "needs-author", dir_of(i), type_of(i)) == (strcmp(state, "fresh") != 0));
}

static void regenerate_all(world *w)
{
    const char *states[SLOTS], *answer, *seq;
    int calls, expected = 0;
    yard *scratch = build(w);

    for (int i = 0; i < SLOTS; i++) {
        bool there = (w->how[i] || w->words[i]) && has_dir(w, dir_of(i));
        w->before[i] = there ? head_of(w->y, dir_of(i), type_of(i)) : "";
        states[i] = there ? yard_state(w->y, dir_of(i), type_of(i)) : "";
    }
    (void)counted_calls();
    answer = yard_run(w->y, "context:regenerate", "{\"noScan\":true,\"recursive\":true}");
    calls = counted_calls();
    for (int i = 0; i < SLOTS; i++) {
        if (w->words[i] && has_dir(w, dir_of(i)))
            check_words(w, answer, i, states[i]);
        if (!w->how[i] || !has_dir(w, dir_of(i)))
            continue;
        test_context("%s %s", dir_of(i), type_of(i));
        const char *want = head_of(scratch, dir_of(i), type_of(i));
        CHECK_TEXT(want, head_of(w->y, dir_of(i), type_of(i)));
        CHECK_TEXT("fresh", yard_state(w->y, dir_of(i), type_of(i)));
        CHECK(was(w, answer, "made", dir_of(i), type_of(i)) ==
              (w->marked[i] || strcmp(w->before[i], want) != 0));
        expected += w->marked[i] || strcmp(w->before[i], want) != 0;
        w->marked[i] = false;
        test_context_end();
    }
    CHECK_TEXT(test_format("%d", expected), yard_member(w->y, answer, "made"));
    CHECK(calls <= expected);
    seq = yard_member(w->y, yard_run(w->y, "log:list", "{}"), "items.0.seq");
    answer = yard_run(w->y, "context:regenerate", "{\"noScan\":true,\"recursive\":true}");
    CHECK_TEXT("0", yard_member(w->y, answer, "made"));
    CHECK_INT(0, counted_calls());
    CHECK_TEXT(seq, yard_member(w->y, yard_run(w->y, "log:list", "{}"), "items.0.seq"));
    valise_close(scratch->v);
    scratch->v = NULL;
}

/* ---- steps ---- */

/* Can there be something? A path is a file or a directory. */
static bool can_be(const world *w, int file)
{
    bool inside = strncmp(files[file], "d/e/", 4) == 0;

    return file == TURNS ? !has_dir(w, "d/e") : !inside || !w->content[TURNS];
}

/* The tree as it is now. What was said about a file that is a directory is gone, and the reverse.
 */
static void grow(world *w, const char *moves)
{
    yard_grow(w->y, words_of(w->content), moves);
    if (has_dir(w, "d/e")) {
        w->note[TURNS] = 0;
        w->note_marked[TURNS] = false;
    }
    for (int i = 0; i < SLOTS && w->content[TURNS]; i++) {
        if (strcmp(dir_of(i), "d/e") != 0)
            continue;
        w->how[i] = NULL;
        w->words[i] = 0;
        w->marked[i] = false;
    }
}

static void edit(world *w)
{
    int i = below(w, FILES), before = w->content[i];

    if (!can_be(w, i))
        return;
    switch (below(w, 4)) {
    case 0:
        w->content[i] = 0;
        break;
    case 1:
        w->content[i] = w->noted_at[i] ? w->noted_at[i] : 1; /* taken back */
        break;
    default:
        w->content[i] = ++w->next;
        break;
    }
    if (w->content[i] != before)
        grow(w, "");
}

static void say(world *w)
{
    int i = below(w, FILES);

    if (!w->content[i])
        return;
    int said = below(w, 3) ? ++w->next : VLS_MAX(w->note[i], 1);
    if (said != w->note[i] || w->noted_at[i] != w->content[i])
        w->note_marked[i] = false; /* another head: saying the same again is none */
    w->note[i] = said;
    w->noted_at[i] = w->content[i];
    (void)yard_put(w->y, NULL, files[i], "notes", note_text(w->note[i]), "");
}

static void synthesize(world *w)
{
    static const char *const ways[] = {"",
                                       ",\"policy\":\"summarization\"",
                                       ",\"limit\":2",
                                       ",\"name\":\"*.c\",\"policy\":\"filtering\"",
                                       ",\"fresh\":true",
                                       ",\"type\":\"*\"",
                                       ",\"maxSize\":70",
                                       ",\"policy\":\"toy.lead\"",
                                       ",\"policy\":\"toy.join\",\"replace\":true"};
    int i = below(w, SLOTS);

    if (!has_dir(w, dir_of(i)) || w->words[i])
        return;
    w->how[i] = ways[below(w, (int)VLS_COUNT(ways))];
    w->marked[i] = false;
    (void)yard_run(w->y, "context:synthesize",
                   test_format("{\"node\":\"%s\",\"output\":\"%s\",\"noScan\":true%s}", dir_of(i),
                               type_of(i), w->how[i]));
}

/* Somebody writes about a directory, in the place of what was made or not. */
static void write(world *w)
{
    int i = below(w, SLOTS);

    if (!has_dir(w, dir_of(i)))
        return;
    w->how[i] = NULL;
    w->marked[i] = false;
    w->words[i] = ++w->next;
    (void)yard_put(w->y, NULL, dir_of(i), type_of(i), note_text(w->words[i]), "");
}

/* And away with it. */
static void replace(world *w)
{
    int i = below(w, SLOTS);

    if (!has_dir(w, dir_of(i)) || !w->words[i])
        return;
    w->words[i] = 0;
    w->how[i] = ",\"replace\":true";
    (void)yard_run(w->y, "context:synthesize",
                   test_format("{\"node\":\"%s\",\"output\":\"%s\",\"noScan\":true%s}", dir_of(i),
                               type_of(i), w->how[i]));
}

/* A file goes to where none is, and what is said about it goes along. */
static void move(world *w)
{
    int from = below(w, FILES), to = below(w, FILES);

    if (!w->content[from] || w->content[to] || from == TURNS)
        return; /* what was said about what lay in the directory would go along */
    w->content[to] = w->content[from];
    w->content[from] = 0;
    if (!can_be(w, to)) {
        w->content[from] = w->content[to];
        w->content[to] = 0;
        return;
    }
    if (w->note[from]) { /* else what was said about the path before is about it again */
        w->note[to] = w->note[from];
        w->noted_at[to] = w->noted_at[from];
        w->note_marked[to] = w->note_marked[from];
        w->note[from] = 0;
        w->note_marked[from] = false;
    }
    grow(w, test_format("%s>%s", files[from], files[to]));
}

static void mark_note(world *w)
{
    int i = below(w, FILES);

    if (!w->content[i] || !w->note[i])
        return;
    w->note_marked[i] = true;
    (void)yard_run(w->y, "slot:invalidate",
                   test_format("{\"noScan\":true,\"node\":\"%s\"}", files[i]));
}

static void mark(world *w)
{
    int i = below(w, SLOTS);

    if (!w->how[i] || !has_dir(w, dir_of(i)))
        return;
    w->marked[i] = true;
    (void)yard_run(
        w->y, "slot:invalidate",
        test_format("{\"noScan\":true,\"node\":\"%s\",\"type\":\"%s\"}", dir_of(i), type_of(i)));
}

/* Some of it only: what is beyond stays as it was, and is not forgotten. */
static void regenerate_some(world *w)
{
    const char *dir = dirs[below(w, DIRS)];
    const char *answer;

    if (!has_dir(w, dir))
        return;
    answer = yard_run(w->y, "context:regenerate",
                      test_format("{\"node\":\"%s\",\"noScan\":true,\"recursive\":%s,\"up\":%d}",
                                  dir, below(w, 2) ? "true" : "false", below(w, 3)));
    for (int i = 0; i < SLOTS; i++) {
        if (was(w, answer, "made", dir_of(i), type_of(i)))
            w->marked[i] = false;
    }
}

static void reaffirm(world *w)
{
    int i = below(w, FILES);

    if (!w->content[i] || !w->note[i])
        return;
    if (yard_try(w->y, NULL, "slot:reaffirm",
                 test_format("{\"node\":\"%s\",\"noScan\":true}", files[i]), NULL) == 0) {
        w->noted_at[i] = w->content[i];
        w->note_marked[i] = false;
    }
}

TEST_PARAMS(oracle, "memory", "sqlite")

TEST(oracle, runs_make_what_a_build_from_nothing_has)
{
    bool memory = strcmp(t->param, "memory") == 0;
    int rounds = test_is_long() ? (memory ? 400 : 40) : memory ? 12 : 2;

    for (int round = 0; round < rounds; round++) {
        world w = {.rng = test_rng_new(test_seed() + (uint64_t)round),
                   .y = counted_open(t, test_format("w%d", round), 1),
                   .next = 10};
        for (int i = 0; i < TURNS; i++)
            w.content[i] = below(&w, 4) ? ++w.next : 0;
        w.content[0] = 1;
        yard_grow(w.y, words_of(w.content), "");
        for (int step = 0; step < 50; step++) {
            static void (*const steps[])(world *) = {edit,
                                                     edit,
                                                     edit,
                                                     edit,
                                                     edit,
                                                     say,
                                                     say,
                                                     say,
                                                     say,
                                                     synthesize,
                                                     synthesize,
                                                     mark,
                                                     mark_note,
                                                     move,
                                                     move,
                                                     write,
                                                     replace,
                                                     reaffirm,
                                                     regenerate_some,
                                                     regenerate_some,
                                                     regenerate_all};
            size_t what = test_random_below(&w.rng, VLS_COUNT(steps));
            test_context("round %d, step %d, what %zu", round, step, what);
            steps[what](&w);
            check_doubts(&w);
            test_context_end();
        }
        regenerate_all(&w);
        yard_check(w.y);
        valise_close(w.y->v);
        w.y->v = NULL;
    }
}
