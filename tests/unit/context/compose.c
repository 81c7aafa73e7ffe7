/* compose.c -- what is known about a node and around it. [C25] [C26]
 *
 * The test criteria of the fifth component of the design this began with, by their words:
 *   "Composition never exceeds max frames"       composition_never_exceeds_max_frames
 *   "Ordering stable across runs"                ordering_is_stable_across_runs, orders
 *   "Missing frames handled gracefully"          missing_frames_are_handled_gracefully, damaged_...
 *   "No writes during composition"               no_writes_during_composition
 *   "Empty composition returns empty result"     empty_composition_returns_an_empty_result
 *   "Policy changes produce different results"   policy_changes_produce_different_results */
#include <sqlite3.h>

#include "base/hex.h"
#include "base/str.h"
#include "bus/bus.h"
#include "context/compose_policy.h"
#include "context/kit.h"
#include "harness/fault.h"

TEST_PARAMS(compose, "memory", "sqlite")

#define TREE "src/a.c=1 src/b.c=2 src/lib/x.c=3 src/lib/y.c=4 README=hello doc/guide=5"

static const char *payload_of(const char *node, const char *policy, const char *extra)
{
    return test_format("{\"node\":\"%s\",\"policy\":\"%s\",\"noScan\":true%s}", node, policy,
                       extra);
}

static const char *compose(yard *y, const char *node, const char *policy, const char *extra)
{
    return yard_run(y, "node:compose", payload_of(node, policy, extra));
}

static const char *compose_as(yard *y, const char *who, const char *node, const char *policy)
{
    return yard_run_as(y, who, "node:compose", payload_of(node, policy, ""));
}

/* One member of all entries (or of another list), in order. */
static const char *all_of(yard *y, const char *answer, const char *list, const char *member)
{
    const char *all = "";

    for (int i = 0;; i++) {
        const char *id = yard_member(y, answer, test_format("%s.%d.frameId", list, i));
        if (!id[0])
            return all;
        all = test_format("%s%s%s", all, i ? " " : "",
                          yard_member(y, answer, test_format("%s.%d.%s", list, i, member)));
    }
}

static const char *texts(yard *y, const char *answer)
{
    return all_of(y, answer, "entries", "text");
}

/* A frame or two about everything. */
static void say_all(yard *y)
{
    yard_grow(y, TREE, "");
    (void)yard_put(y, "w", "src/a.c", "summary", "own", "");
    (void)yard_put(y, "s", "src/a.c", "notes", "mine", "");
    (void)yard_put(y, "w", "src/b.c", "summary", "beside", "");
    (void)yard_put(y, "w", "src", "summary", "above", "");
    (void)yard_put(y, "s", ".", "summary", "top", "");
    (void)yard_put(y, "w", "src/lib", "summary", "under", "");
    (void)yard_put(y, "w", "src/lib/x.c", "summary", "deep", "");
    (void)yard_put(y, "w", "README", "notes", "elsewhere", "");
}

/* ---- sources ---- */

TEST(compose, sources_and_relations)
{
    yard *y = yard_open(t);
    const char *answer;

    say_all(y);
    answer = compose(y, "src/a.c", "", "");
    CHECK_TEXT("mine own above beside under top", texts(y, answer));
    CHECK_TEXT("node node parent sibling sibling ancestor",
               all_of(y, answer, "entries", "relation"));
    CHECK_TEXT("6", yard_member(y, answer, "candidates"));
    CHECK_TEXT("6", yard_member(y, answer, "considered"));
    CHECK_TEXT("6", yard_member(y, answer, "returned"));
    CHECK_TEXT("26", yard_member(y, answer, "bytes"));
    CHECK_TEXT("mine own", texts(y, compose(y, "src/a.c", "sources=node", "")));
    CHECK_TEXT("above", texts(y, compose(y, "src/a.c", "sources=parent", "")));
    CHECK_TEXT("above top", texts(y, compose(y, "src/a.c", "sources=ancestors", "")));
    CHECK_TEXT("beside under", texts(y, compose(y, "src/a.c", "sources=siblings", "")));
    CHECK_TEXT("", texts(y, compose(y, "src/a.c", "sources=children", "")));
    CHECK_TEXT("mine own beside under",
               texts(y, compose(y, "src", "sources=children,path=src/**", "")));
    CHECK_TEXT("elsewhere above", texts(y, compose(y, ".", "sources=children", "")));
    CHECK_TEXT("", texts(y, compose(y, ".", "sources=siblings", "")));
    CHECK_TEXT("deep", texts(y, compose(y, "src/lib/y.c", "sources=siblings", "")));
    CHECK_TEXT("under above top", texts(y, compose(y, "src/lib/y.c", "sources=ancestors", "")));
}

/* Nodes that are named are sources too; each node is there once, as what it is that weighs most. */
TEST(compose, related_nodes)
{
    yard *y = yard_open(t);
    const char *answer, *id;

    say_all(y);
    answer = compose(y, "src/a.c", "sources=node+parent",
                     ",\"related\":[\"README\",\"src/lib/x.c\",\"./README\",\"src/a.c\"]");
    CHECK_TEXT("mine own elsewhere deep above", texts(y, answer));
    CHECK_TEXT("node node related related parent", all_of(y, answer, "entries", "relation"));
    id = vls_id_hex(&grove_get(&y->state, "README")->id).s;
    answer = compose(y, "src/a.c", "sources=node", test_format(",\"related\":[\"%s\"]", id));
    CHECK_TEXT("mine own elsewhere", texts(y, answer));
    answer = compose(y, "src/a.c", "sources=siblings", ",\"related\":[\"src/b.c\"]");
    CHECK_TEXT("related sibling", all_of(y, answer, "entries", "relation"));
    CHECK_INT(VALISE_E_NOT_FOUND,
              yard_try(y, NULL, "node:compose",
                       payload_of("src/a.c", "", ",\"related\":[\"src/none\"]"), NULL));
    CHECK_MSG(strstr(t->err.message, "src/none"), "%s", t->err.message);
    CHECK_INT(VALISE_E_NOT_FOUND,
              yard_try(y, NULL, "node:compose", payload_of("src/none", "", ""), NULL));
}

/* Names whose bytes lie around '/': what is deeper is left out, and nothing else is. */
TEST(compose, what_lies_deeper_is_jumped_over)
{
    static const char *const paths[] = {"d/a",  "d/a-b", "d/a.c",  "d/a/x", "d/a/y/z",
                                        "d/a0", "d/ab",  "d/ab/c", "d/b",   "d",
                                        "d0",   "d-",    "d.c"};
    yard *y = yard_open(t);

    yard_grow(y, "d/a-b=1 d/a.c=1 d/a/x=1 d/a/y/z=1 d/a0=1 d/ab/c=1 d/b=1 d0=1 d-=1 d.c=1", "");
    for (size_t i = 0; i < VLS_COUNT(paths); i++)
        (void)yard_put(y, NULL, paths[i], "notes", paths[i], "");
    CHECK_TEXT("d/a d/a-b d/a.c d/a0 d/ab d/b", texts(y, compose(y, "d", "sources=children", "")));
    CHECK_TEXT("d/a d/a-b d/a0 d/ab d/b", texts(y, compose(y, "d/a.c", "sources=siblings", "")));
    CHECK_TEXT("d d- d.c d0", texts(y, compose(y, ".", "sources=children", "")));
    CHECK_TEXT("d/a/x", texts(y, compose(y, "d/a", "sources=children", "")));
}

/* ---- orders and scores ---- */

/* "Ordering stable across runs (deterministic policy application)". */
TEST(compose, orders)
{
    yard *y = yard_open(t);

    say_all(y);
    CHECK_TEXT("under top above beside mine own", texts(y, compose(y, "src/a.c", "recency", "")));
    /* By type; what is in the list first, the rest by its bytes; then by path. */
    CHECK_TEXT("mine top above own beside under", texts(y, compose(y, "src/a.c", "type", "")));
    CHECK_TEXT("top above own beside under mine",
               texts(y, compose(y, "src/a.c", "type,types=summary", "")));
    CHECK_TEXT("top above own beside under mine",
               texts(y, compose(y, "src/a.c", "type,types=s*+notes", "")));
    CHECK_TEXT("top mine above own beside under", texts(y, compose(y, "src/a.c", "agent", "")));
    CHECK_TEXT("above own beside under top mine",
               texts(y, compose(y, "src/a.c", "agent,agents=w", "")));
    CHECK_TEXT("own mine above beside under top",
               texts(y, compose(y, "src/a.c", "relevance,types=summary", "")));
    CHECK_TEXT("mine own above top beside under",
               texts(y, compose(y, "src/a.c", "agents=s+x", "")));
}

static int64_t score_of(yard *y, const char *answer, int i, const char *part)
{
    const char *text = yard_member(y, answer, test_format("entries.%d.score.%s", i, part));

    return strtoll(text, NULL, 10);
}

/* Each score is the sum of its parts, which are what the documents say. */
TEST(compose, scores_are_explained)
{
    static const char *const parts[] = {"relation", "type", "agent", "freshness", "query"};
    yard *y = yard_open(t);
    const char *answer;
    int64_t last = INT64_MAX;

    say_all(y);
    (void)yard_put(y, "w", "src/b.c", "words",
                   "Date, date; DATE date date. parsing_parse \xc3\xa4\xc3\xb6", "");
    answer = compose(y, "src/a.c", "types=summary+words,agents=w,query=DATE parsing absent",
                     ",\"explain\":true");
    for (int i = 0; i < 7; i++) {
        int64_t sum = 0;
        for (size_t k = 0; k < VLS_COUNT(parts); k++)
            sum += score_of(y, answer, i, parts[k]);
        CHECK_INT(sum, score_of(y, answer, i, "total"));
        CHECK(sum <= last);
        last = sum;
    }
    CHECK_TEXT("own mine above Date, date; DATE date date. parsing_parse \xc3\xa4\xc3\xb6 beside "
               "under top",
               texts(y, answer));
    CHECK_INT(1000, score_of(y, answer, 0, "relation"));
    CHECK_INT(200, score_of(y, answer, 0, "type"));
    CHECK_INT(100, score_of(y, answer, 0, "agent"));
    CHECK_INT(150, score_of(y, answer, 0, "freshness"));
    CHECK_INT(0, score_of(y, answer, 0, "query"));
    CHECK_INT(0, score_of(y, answer, 1, "type"));
    CHECK_INT(600, score_of(y, answer, 2, "relation"));
    CHECK_INT(400, score_of(y, answer, 3, "relation"));
    CHECK_INT(100, score_of(y, answer, 3, "type"));
    CHECK_INT(40 + 30 + 40, score_of(y, answer, 3, "query")); /* a word counts four times at most */
    CHECK_INT(300, score_of(y, answer, 6, "relation"));
    /* What the request asks for takes the place of what the policy has. */
    answer =
        compose(y, "src/a.c", "query=date", ",\"query\":\"\xc3\xa4\xc3\xb6\",\"explain\":true");
    CHECK_INT(40, score_of(y, answer, 3, "query"));
    CHECK_TEXT("", yard_member(y, compose(y, "src/a.c", "", ""), "entries.0.score"));
    /* Other orders are explained as well. */
    answer = compose(y, "src/a.c", "recency,query=date", ",\"explain\":true");
    CHECK_INT(70, score_of(y, answer, 0, "query"));
}

/* A long text does not win by its length. */
TEST(compose, words_are_capped)
{
    yard *y = yard_open(t);
    char text[400];
    const char *answer;

    memset(text, ' ', sizeof(text));
    for (int i = 0; i < 26; i++) {
        text[8 * i] = text[8 * i + 2] = text[8 * i + 4] = (char)('a' + i);
    }
    text[sizeof(text) - 1] = '\0';
    yard_grow(y, TREE, "");
    (void)yard_put(y, NULL, "README", "notes", text, "");
    answer = compose(y, "README", "query=a b c d e f g h i j k l m n o p q r s t u v w x y z",
                     ",\"explain\":true");
    CHECK_INT(400, score_of(y, answer, 0, "query"));
    CHECK_INT(1550, score_of(y, answer, 0, "total"));
}

TEST(compose, states_are_shown_and_filtered)
{
    yard *y = yard_open(t);
    const char *answer;

    say_all(y);
    yard_grow(y, "src/a.c=1 src/lib/x.c=3 src/lib/y.c=4 README=hello doc/guide=5", "");
    answer = compose(y, "src/a.c", "", ",\"explain\":true");
    CHECK_TEXT("mine own above under beside top", texts(y, answer));
    CHECK_TEXT("fresh fresh stale fresh orphaned stale", all_of(y, answer, "entries", "state"));
    CHECK_INT(50, score_of(y, answer, 2, "freshness"));
    CHECK_INT(0, score_of(y, answer, 4, "freshness"));
    CHECK_TEXT("node-changed", yard_member(y, answer, "entries.2.reasons.0.reason"));
    CHECK_TEXT("above top", texts(y, compose(y, "src/a.c", "state=stale", "")));
    CHECK_TEXT("top above beside",
               texts(y, compose(y, "src/a.c", "recency,state=stale,state=orphaned", "")));
    answer = compose(y, "src/a.c", "recency,state=orphaned", "");
    CHECK_TEXT("6", yard_member(y, answer, "considered"));
    CHECK_TEXT("0", yard_member(y, answer, "cutCount"));
}

/* What doubts save is a look, not a state: each is what a look at that slot alone finds. */
TEST(compose, states_are_those_of_a_look)
{
    static const char *const trees[] = {TREE, "src/a.c=1 src/b.c=2 src/lib/x.c=9 README=hello",
                                        "src/a.c=7 src/b.c=2 src/lib=file README=hello doc/guide=6",
                                        "src/a.c=1 src/lib/x.c=3 src/lib/y.c=4 src/lib/z.c=5"};
    static const char *const nodes[] = {"src/a.c", "src/b.c", "src/lib", "src/lib/x.c", "src", "."};
    yard *y = yard_open(t);
    test_rng rng = test_rng_new(test_seed());
    int64_t states[8] = {0};
    size_t tree = 0;
    int derived = 0;

    say_all(y);
    for (int step = 0; step < 80; step++) {
        const char *node = nodes[test_random_below(&rng, VLS_COUNT(nodes))], *answer;
        const char *type = test_random_below(&rng, 2) ? "summary" : "notes";
        switch (test_random_below(&rng, 6)) {
        case 0:
            tree = (tree + 1 + test_random_below(&rng, VLS_COUNT(trees) - 1)) % VLS_COUNT(trees);
            yard_grow(y, trees[tree], "");
            break;
        case 1:
            (void)yard_try_put(y, "w", node, type, test_format("text %d", step), "");
            break;
        case 2:
            derived += yard_try(y, NULL, "context:synthesize",
                                test_format("{\"node\":\"%s\",\"type\":\"%s\",\"recursive\":true,"
                                            "\"noScan\":true}",
                                            test_random_below(&rng, 2) ? "src" : ".",
                                            test_random_below(&rng, 2) ? "overview" : type),
                                NULL) == 0;
            break;
        case 3:
            CHECK_INT(0, yard_try(y, NULL, "context:regenerate", "{\"noScan\":true}", NULL));
            break;
        default:
            (void)yard_try(
                y, NULL, "slot:invalidate",
                test_format("{\"node\":\"%s\",\"type\":\"%s\",\"noScan\":true}", node, type), NULL);
        }
        if (yard_try(y, NULL, "node:compose", payload_of("src", "", ""), NULL) != 0)
            continue;
        answer = compose(y, "src", "", "");
        test_context("step %d: %s", step, answer);
        for (int i = 0; yard_member(y, answer, test_format("entries.%d.path", i))[0] ||
                        yard_member(y, answer, test_format("entries.%d.type", i))[0];
             i++) {
            const char *path = yard_member(y, answer, test_format("entries.%d.path", i));
            const char *state = yard_member(y, answer, test_format("entries.%d.state", i));
            const char *seen = yard_state(
                y, path[0] ? path : ".", yard_member(y, answer, test_format("entries.%d.type", i)));
            CHECK_TEXT(test_format("%.*s", (int)strcspn(seen, " "), seen), state); /* and reasons */
            states[state[0] % 8]++;
        }
        test_context_end();
    }
    CHECK(derived > 0 && states['f' % 8] > 50 && states['s' % 8] > 50 && states['i' % 8] > 5);
}

/* A node id of an earlier version shows that one: what was fresh for it is. */
TEST(compose, an_earlier_version_is_shown_as_it_was)
{
    yard *y = yard_open(t);
    const char *answer, *id;

    say_all(y);
    id = test_format("%s", vls_id_hex(&grove_get(&y->state, "src/a.c")->id).s);
    yard_grow(y, "src/a.c=changed src/b.c=2 README=hello", "");
    answer = compose(y, id, "", "");
    CHECK_TEXT("earlier", yard_member(y, answer, "meta.tree"));
    CHECK_TEXT("1", yard_member(y, answer, "meta.version"));
    CHECK_TEXT(id, yard_member(y, answer, "nodeId"));
    CHECK_TEXT("fresh fresh fresh fresh fresh fresh", all_of(y, answer, "entries", "state"));
    answer = compose(y, "src/a.c", "", "");
    CHECK_TEXT("", yard_member(y, answer, "meta.tree"));
    CHECK_TEXT("stale stale stale fresh orphaned stale", all_of(y, answer, "entries", "state"));
}

/* ---- limits ---- */

/* "Composition never exceeds max frames (hard limit enforced)", nor bytes, nor tokens. */
TEST(compose, composition_never_exceeds_max_frames)
{
    yard *y = yard_open(t);
    const char *answer;

    say_all(y);
    for (int max = 1; max <= 7; max++) {
        answer = compose(y, "src/a.c", test_format("max=%d", max), "");
        CHECK_TEXT(test_format("%d", VLS_MIN(max, 6)), yard_member(y, answer, "returned"));
        CHECK_TEXT(test_format("%d", VLS_MAX(6 - max, 0)), yard_member(y, answer, "cutCount"));
    }
    answer = compose(y, "src/a.c", "max=4", "");
    CHECK_TEXT("src/lib ", test_format("%s ", yard_member(y, answer, "cut.0.path")));
    CHECK_TEXT("frames frames", all_of(y, answer, "cut", "reason"));
    /* What does not fit is left out, and a smaller one behind it may be taken. */
    answer = compose(y, "src/a.c", "max_bytes=11", "");
    CHECK_TEXT("mine own top", texts(y, answer));
    CHECK_TEXT("10", yard_member(y, answer, "bytes"));
    CHECK_TEXT("bytes bytes bytes", all_of(y, answer, "cut", "reason"));
    answer = compose(y, "src/a.c", "max_tokens=4", "");
    CHECK_TEXT("mine own top", texts(y, answer));
    CHECK_TEXT("4", yard_member(y, answer, "tokens"));
    CHECK_TEXT("tokens tokens tokens", all_of(y, answer, "cut", "reason"));
    CHECK_TEXT("1", yard_member(y, answer, "entries.0.tokens"));
    CHECK_TEXT("", texts(y, compose(y, "src/a.c", "max_tokens=1,type=none", "")));
}

/* More than can be looked at closely: the best are, and the answer says so. Of what was cut the
 * first hundred are listed. */
TEST(compose, many_candidates_are_cut_before_they_cost)
{
    enum { FILES = 90, TYPES = 100 };
    yard *y;
    const char *answer, *words = "";

    test_unwatched();
    if (strcmp(t->param, "memory") != 0)
        SKIP("once is enough");
    y = yard_open(t);
    for (int i = 0; i < FILES; i++)
        words = test_format("%s%sd/f%02d=1", words, i ? " " : "", i);
    yard_grow(y, words, "");
    for (int i = 0; i < FILES; i++) {
        for (int k = 0; k < TYPES; k++)
            (void)yard_put(y, NULL, test_format("d/f%02d", FILES - 1 - i), test_format("t%02d", k),
                           "x", "");
    }
    answer = compose(y, "d/f89", "max=10", "");
    CHECK_TEXT("9000", yard_member(y, answer, "candidates"));
    CHECK_TEXT("4096", yard_member(y, answer, "considered"));
    CHECK_TEXT("10", yard_member(y, answer, "returned"));
    CHECK_TEXT("8990", yard_member(y, answer, "cutCount"));
    CHECK_TEXT("t99", yard_member(y, answer, "cut.89.type"));
    CHECK_TEXT("d/f00", yard_member(y, answer, "cut.90.path"));
    CHECK(yard_member(y, answer, "cut.99.path")[0] && !yard_member(y, answer, "cut.100.path")[0]);
    CHECK_TEXT("d/f89", yard_member(y, answer, "entries.9.path"));
    /* Who was best of all comes first, wherever it lay. */
    answer = compose(y, "d", "recency,max=1", "");
    CHECK_TEXT("d/f00", yard_member(y, answer, "entries.0.path"));
    CHECK_TEXT("t99", yard_member(y, answer, "entries.0.type"));
    (void)yard_put(y, NULL, "d/f89", "t99", "y", "");
    answer = compose(y, "d", "recency,max=2", "");
    CHECK_TEXT("d/f89 d/f00", all_of(y, answer, "entries", "path"));
    CHECK_TEXT("9000", yard_member(y, answer, "candidates"));
    answer = compose(y, "d", "type=t99,max=100,sources=children", "");
    CHECK_TEXT("9000", yard_member(y, answer, "candidates"));
    CHECK_TEXT("90", yard_member(y, answer, "returned"));
}

/* ---- what is missing ---- */

/* "Empty composition returns empty result (not error)". */
TEST(compose, empty_composition_returns_an_empty_result)
{
    yard *y = yard_open(t);
    const char *answer;

    yard_grow(y, TREE, "");
    answer = compose(y, "README", "", "");
    CHECK_TEXT("0", yard_member(y, answer, "candidates"));
    CHECK_TEXT("0", yard_member(y, answer, "returned"));
    CHECK_TEXT("[]", yard_member(y, answer, "entries"));
    CHECK_TEXT("[]", yard_member(y, answer, "cut"));
    (void)yard_put(y, "w", "README", "notes", "x", "");
    CHECK_TEXT("[]", yard_member(y, compose(y, "README", "type=other", ""), "entries"));
    CHECK_TEXT("[]", yard_member(y, compose(y, "doc", "sources=children", ""), "entries"));
}

/* "Missing frames handled gracefully (skip, don't fail)": they are listed, and the next is taken.
 */
TEST(compose, missing_frames_are_handled_gracefully)
{
    yard *y = yard_open(t);
    const char *answer, *frame;

    say_all(y);
    frame = yard_member(y, compose(y, "src/a.c", "type=summary,max=1", ""), "entries.0.frameId");
    (void)yard_run(y, "workspace:erase", test_format("{\"place\":\"frame/%s\"}", frame));
    answer = compose(y, "src/a.c", "max=3", "");
    CHECK_TEXT("mine above beside", texts(y, answer));
    CHECK_TEXT("1", yard_member(y, answer, "missingCount"));
    CHECK_TEXT(frame, yard_member(y, answer, "missing.0.frameId"));
    CHECK_TEXT("erased", yard_member(y, answer, "missing.0.reason"));
    CHECK_TEXT("src/a.c", yard_member(y, answer, "missing.0.path"));
    answer = compose(y, "src/a.c", "type,max_tokens=100,query=x", ",\"explain\":true");
    CHECK_TEXT("mine top above beside under", texts(y, answer));
    CHECK_TEXT("1", yard_member(y, answer, "missingCount"));
}

/* A content that somebody damaged is listed, and does not take the others along. */
TEST(compose, damaged_frames_are_listed)
{
    sqlite3 *db = NULL;
    yard *y;
    const char *answer, *frame;

    if (strcmp(t->param, "memory") == 0)
        SKIP("nobody else gets at memory");
    y = yard_open(t);
    say_all(y);
    frame = yard_member(y, compose(y, "src/a.c", "type=summary,max=1", ""), "entries.0.frameId");
    CHECK_INT(SQLITE_OK,
              sqlite3_open(test_format("%s/yard/.valise/valise.db", test_tmpdir()), &db));
    CHECK_INT(SQLITE_OK,
              sqlite3_exec(db, "UPDATE object SET body = zeroblob(3) WHERE body = x'6f776e'", NULL,
                           NULL, NULL));
    CHECK_INT(1, sqlite3_changes(db));
    CHECK_INT(SQLITE_OK, sqlite3_close(db));
    for (int i = 0; i < 4; i++) {
        static const char *const policies[] = {"", "recency", "query=own", "type,max_tokens=99"};
        answer = compose(y, "src/a.c", policies[i], "");
        test_context("%s: %s", policies[i], answer);
        CHECK_TEXT("5", yard_member(y, answer, "returned"));
        CHECK_TEXT("1", yard_member(y, answer, "corruptCount"));
        CHECK_TEXT(frame, yard_member(y, answer, "corrupt.0.frameId"));
        CHECK_TEXT("damaged", yard_member(y, answer, "corrupt.0.reason"));
    }
}

/* ---- read only ---- */

/* "No writes during composition (read-only operation)". */
TEST(compose, no_writes_during_composition)
{
    static const char *const policies[] = {"",          "recency",     "type,types=notes",  "agent",
                                           "query=own", "state=stale", "max=1,max_tokens=2"};
    yard *y = yard_open(t);
    const char *hash, *log, *status;

    say_all(y);
    hash = yard_run(y, "workspace:hash", NULL);
    log = yard_run(y, "log:list", "{}");
    status = yard_member(y, yard_run(y, "workspace:status", NULL), "seq");
    for (size_t i = 0; i < VLS_COUNT(policies); i++) {
        (void)compose(y, "src/a.c", policies[i], ",\"explain\":true");
        (void)compose_as(y, "r", "src", policies[i]);
    }
    CHECK_TEXT(hash, yard_run(y, "workspace:hash", NULL));
    CHECK_TEXT(log, yard_run(y, "log:list", "{}"));
    CHECK_TEXT(status, yard_member(y, yard_run(y, "workspace:status", NULL), "seq"));
    yard_check(y);
}

/* ---- equal answers ---- */

/* An answer without what depends on how the state came about. */
static const char *without_meta(yard *y, const char *answer)
{
    static const char *const members[] = {"bytes",    "candidates", "considered", "contextRoot",
                                          "corrupt",  "cut",        "cutCount",   "missing",
                                          "nodeId",   "path",       "policy",     "policyHash",
                                          "returned", "tokens",     "treeRoot"};
    const char *text = "";

    for (size_t i = 0; i < VLS_COUNT(members); i++)
        text = test_format("%s %s", text, yard_member(y, answer, members[i]));
    for (int i = 0;; i++) {
        const char *entry = yard_member(y, answer, test_format("entries.%d", i));
        const char *meta = yard_member(y, answer, test_format("entries.%d.meta", i)), *at;
        if (!entry[0])
            return text;
        at = strstr(entry, meta);
        CHECK(at != NULL);
        text = test_format("%s\n%.*s%s", text, (int)(at - entry), entry, at + strlen(meta));
    }
}

/* "Ordering stable across runs"; and on another backend, that came there by another way. */
TEST(compose, ordering_is_stable_across_runs)
{
    static const char *const policies[] = {"", "type,types=notes", "agent", "query=own deep,max=3",
                                           "types=summary,agents=s,state=fresh"};
    yard *y = yard_open(t), *z;
    const char *one;

    say_all(y);
    t->param = strcmp(t->param, "memory") == 0 ? "sqlite" : "memory";
    z = yard_open(t);
    yard_grow(z, "README=hello old=1", "");
    (void)yard_put(z, "w", "README", "notes", "elsewhere", "");
    (void)yard_put(z, "s", "old", "notes", "mine", "");
    (void)yard_put(z, "w", "old", "summary", "wrong", "");
    (void)yard_put(z, "w", "old", "summary", "own", "");
    yard_grow(z, "README=hello src/a.c=1", "old>src/a.c");
    yard_grow(z, TREE, "");
    (void)yard_put(z, "w", "src/lib/x.c", "summary", "deep", "");
    (void)yard_put(z, "w", "src/lib", "summary", "under", "");
    (void)yard_put(z, "s", ".", "summary", "top", "");
    (void)yard_put(z, "w", "src", "summary", "above", "");
    (void)yard_put(z, "w", "src/b.c", "summary", "beside", "");
    for (size_t i = 0; i < VLS_COUNT(policies); i++) {
        test_context("%s", policies[i]);
        one = compose(y, "src/a.c", policies[i], ",\"explain\":true");
        CHECK_TEXT(one, compose(y, "src/a.c", policies[i], ",\"explain\":true"));
        CHECK_TEXT(without_meta(y, one),
                   without_meta(z, compose(z, "src/a.c", policies[i], ",\"explain\":true")));
    }
}

/* "Policy changes produce different results (non-deterministic across policies, deterministic
 * within policy)": the hash says which policy it was, and results may coincide. */
TEST(compose, policy_changes_produce_different_results)
{
    yard *y = yard_open(t);
    const char *one, *other;

    say_all(y);
    one = compose(y, "src/a.c", "recency", "");
    other = compose(y, "src/a.c", "type", "");
    CHECK(strcmp(texts(y, one), texts(y, other)) != 0);
    CHECK(strcmp(yard_member(y, one, "policyHash"), yard_member(y, other, "policyHash")) != 0);
    CHECK_TEXT(one, compose(y, "src/a.c", "recency,sources=children+siblings+node+ancestors", ""));
    CHECK_TEXT(compose(y, "src/a.c", "query=B a", ""),
               compose(y, "src/a.c", "relevance", ",\"query\":\"a, b, A\""));
    CHECK_TEXT("recency,sources=node+ancestors+siblings+children,max=100,max_bytes=1048576",
               yard_member(y, one, "policy"));
}

/* ---- who may ---- */

/* Who may read only a part sees nothing of the rest: neither in counts nor in lists. */
TEST(compose, narrowed_agents_see_nothing_else)
{
    yard *y = yard_open(t);
    const char *mine;

    say_all(y);
    (void)yard_run(y, "agent:add",
                   "{\"id\":\"n\",\"role\":\"none\",\"capabilities\":[\"context:read "
                   "path=src/a.c\",\"context:read path=src/lib type=summary\"]}");
    mine = compose_as(y, "n", "src/a.c", "max=2");
    CHECK_TEXT("mine own", texts(y, mine));
    CHECK_TEXT("3", yard_member(y, mine, "candidates"));
    CHECK_TEXT("3", yard_member(y, mine, "considered"));
    CHECK_TEXT("1", yard_member(y, mine, "cutCount"));
    CHECK_TEXT("src/lib", all_of(y, mine, "cut", "path"));
    CHECK_INT(VALISE_E_DENIED,
              yard_try(y, "n", "node:compose", payload_of("README", "", ""), NULL));
    CHECK_INT(VALISE_E_DENIED,
              yard_try(y, "n", "node:compose",
                       payload_of("src/a.c", "", ",\"related\":[\"README\"]"), NULL));
    CHECK_INT(VALISE_E_DENIED,
              yard_try(y, "n", "node:compose",
                       payload_of("src/a.c", "", ",\"related\":[\"nothing\"]"), NULL));
    CHECK_INT(0, yard_try(y, "n", "node:compose",
                          payload_of("src/a.c", "", ",\"related\":[\"src/lib\"]"), NULL));
    CHECK_INT(VALISE_E_DENIED,
              yard_try(y, "stranger", "node:compose", payload_of("src/a.c", "", ""), NULL));
}

/* ---- policies ---- */

static const char *canonical(test *t, const char *text, const char *query)
{
    VLS_AUTO(buf) vls_buf out = {0};
    vls_compose_policy policy;

    CHECK_OK(vls_compose_parse(&policy, valise_str_of(text), valise_str_of(query), &t->err));
    vls_buf_init(&out, t->env, 65536);
    vls_compose_write(&out, &policy);
    CHECK_OK(vls_buf_check(&out, &t->err));
    return test_format("%s", vls_buf_cstr(&out));
}

#define USUAL ",max=100,max_bytes=1048576"

TEST(compose, the_same_wish_has_one_text)
{
    CHECK_TEXT("relevance,sources=node+ancestors+siblings+children" USUAL, canonical(t, "", NULL));
    CHECK_TEXT("recency,sources=parent" USUAL, canonical(t, "sources=parent,recency", NULL));
    CHECK_TEXT("relevance,sources=node+ancestors" USUAL,
               canonical(t, "sources=ancestors+parent,sources=node", NULL));
    CHECK_TEXT("custom=mine,sources=node,max=3,max_bytes=7,max_tokens=9,type=a,type=b",
               canonical(t, "type=b,custom=mine,max_tokens=9,type=a,max=3,sources=node,max_bytes=7",
                         NULL));
    CHECK_TEXT("type,sources=node" USUAL ",types=b+a*,agents=x+y",
               canonical(t, "type,types=b+a*,types=b,agents=x,sources=node,agents=y", NULL));
    CHECK_TEXT("relevance,sources=node" USUAL ",query=a1 b \xc3\xa4",
               canonical(t, "sources=node,query=B-a1_b;\xc3\xa4", NULL));
    CHECK_TEXT("relevance,sources=node" USUAL ",query=x y",
               canonical(t, "sources=node,query=a", "Y x, Y"));
    for (int i = 0; i < 2; i++) {
        const char *text = i ? "custom=a,types=a+b,query=b a" : "agent,state=fresh,seq=1..,max=2";
        CHECK_TEXT(canonical(t, text, NULL), canonical(t, canonical(t, text, NULL), NULL));
    }
}

TEST(compose, a_bad_policy_names_the_bad_part)
{
    static const struct {
        const char *text, *part;
        int64_t offset;
    } bad[] = {
        {"newest", "'newest' is not known", 0},
        {"heads", "'heads' is not known", 0},
        {"recency,type", "'type' is a second order", 8},
        {"recency,custom=x", "'custom=x' is a second order", 8},
        {"custom=", "'custom=' does not name an order", 0},
        {"sources=", "'sources=' must be of node", 0},
        {"sources=node+cousins", "'sources=node+cousins' must be of node", 0},
        {"sources=node+", "must be of node", 0},
        {"types=", "can never match", 0},
        {"types=a++b", "can never match", 0},
        {"agents=[a]", "has a '['", 0},
        {"query=", "'query=' has no word", 0},
        {"query=.;!", "has no word", 0},
        {"query=a,query=b", "'query=b' is there twice", 8},
        {"max=0", "'max=0' must be a number", 0},
        {"max=10001", "too large", 0},
        {"max=1,max_tokens=x", "'max_tokens=x' must be", 6},
        {"state=empty", "must be fresh", 0},
        {"seq=2..1", "ends before it begins", 0},
        {"color=red", "'color=red' is not known", 0},
        {"recency,", "'' is an empty part", 8},
        {"types=a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q", "is too long a list", 0},
    };
    vls_compose_policy policy;
    char text[VLS_LENS_TEXT_MAX + 2];

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        test_context("policy '%s'", bad[i].text);
        t->err = (valise_error)VALISE_ERROR_INIT;
        CHECK_RC(VALISE_E_INVALID, vls_compose_parse(&policy, valise_str_of(bad[i].text),
                                                     (valise_str){NULL, 0}, &t->err));
        CHECK_MSG(strstr(t->err.message, bad[i].part), "%s", t->err.message);
        CHECK(strstr(t->err.message, "policy: ") == t->err.message);
        CHECK_INT(bad[i].offset, t->err.offset);
        CHECK(strstr(t->err.hint, "sources="));
    }
    test_context_end();
    memset(text, 'x', sizeof(text));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_compose_parse(&policy, vls_str(text, sizeof(text)),
                                                   (valise_str){NULL, 0}, &t->err));
    CHECK_RC(VALISE_E_INVALID,
             vls_compose_parse(&policy, VLS_STR(""), vls_str(text, sizeof(text)), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_compose_parse(&policy, VLS_STR(""), vls_str(text, 65), &t->err));
    CHECK(strstr(t->err.message, "over 64 bytes"));
    CHECK_OK(vls_compose_parse(&policy, VLS_STR(""), vls_str(text, 64), &t->err));
    CHECK_RC(
        VALISE_E_INVALID,
        vls_compose_parse(&policy, VLS_STR(""),
                          VLS_STR("0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l m n o p q r s t "
                                  "u v w"),
                          &t->err));
    CHECK(strstr(t->err.message, "over 32 words"));
}

TEST(compose, hashes_are_those_of_the_document)
{
    const char *from = getenv("VALISE_SOURCE_ROOT");
    valise_str text = test_read_file(test_format("%s/docs/formats.md", from ? from : "."));
    valise_str line, given, rest, open = VLS_STR("```policy-vectors\n");
    int count = 0;

    text = vls_str_from(text, vls_str_find(text, open) + open.len);
    while (vls_str_cut(&line, &text, text, '\n') && !vls_str_starts(line, VLS_STR("```"))) {
        VLS_AUTO(buf) vls_buf written = {0};
        vls_compose_policy policy;
        valise_id id;
        size_t at = vls_str_find(line, VLS_STR(" = "));
        given = vls_str_head(line, at);
        rest = vls_str_from(line, at + 3);
        vls_buf_init(&written, t->env, 65536);
        CHECK_OK(vls_compose_parse(&policy, given, (valise_str){NULL, 0}, &t->err));
        CHECK_OK(vls_compose_hash(&id, &written, &policy, &t->err));
        vls_buf_printf(&written, " %s", vls_id_hex(&id).s);
        CHECK_STR(rest, vls_buf_str(&written));
        count++;
    }
    CHECK_INT(4, count);
}

/* ---- policies that have names ---- */

TEST(compose, policies_have_names)
{
    yard *y;
    const char *folder = test_format("%s/yard", test_tmpdir());
    valise_options o = VALISE_OPTIONS_INIT;

    if (strcmp(t->param, "memory") == 0)
        SKIP("a workspace in memory has no configuration");
    y = yard_open(t);
    say_all(y);
    valise_close(y->v);
    test_write_file(test_format("%s/.valise/config", folder),
                    VLS_STR("[compose \"brief\"]\n\tspec = sources=parent\n"
                            "[compose \"broken\"]\n\tspec = max=none\n"
                            "[compose \"recency\"]\n\tspec = max=1\n"));
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_OK(valise_open(&y->v, folder, &o, &t->err));
    CHECK_TEXT("above", texts(y, compose(y, "src/a.c", "brief", "")));
    CHECK_INT(VALISE_E_INVALID,
              yard_try(y, NULL, "node:compose", payload_of("src/a.c", "broken", ""), NULL));
    CHECK(strstr(t->err.message, "'max=none'") && strstr(t->err.hint, "policy 'broken'"));
    CHECK_INT(VALISE_E_INVALID,
              yard_try(y, NULL, "node:compose", payload_of("src/a.c", "recency", ""), NULL));
    CHECK_MSG(strstr(t->err.message, "cannot be called 'recency'"), "%s", t->err.message);
}

/* ---- from C ---- */

TEST(compose, the_function_says_what_json_says)
{
    static const valise_str related[] = {VALISE_STR("README")};
    valise_compose_options o = VALISE_COMPOSE_OPTIONS_INIT;
    valise_composition *c = NULL;
    const valise_left_out *const *cut;
    yard *y = yard_open(t);
    const char *json;

    say_all(y);
    o.flags = VALISE_NODE_NO_SCAN;
    o.related = related;
    o.related_count = 1;
    o.query = VLS_STR("own");
    json = compose(y, "src/a.c", "types=summary,max=5",
                   ",\"related\":[\"README\"],\"query\":\"own\",\"explain\":true");
    CHECK_OK(valise_compose(&c, y->v, "src/a.c", "types=summary,max=5", &o, NULL, &t->err));
    CHECK_INT(5, c->count);
    for (size_t i = 0; i < c->count; i++) {
        const valise_composed *item = c->items[i];
        test_context("item %zu", i);
        CHECK_STR(valise_str_of(yard_member(y, json, test_format("entries.%zu.text", i))),
                  item->frame.content);
        CHECK_STR(valise_str_of(yard_member(y, json, test_format("entries.%zu.path", i))),
                  item->frame.path);
        CHECK_INT(score_of(y, json, (int)i, "total"), item->score.total);
        CHECK_INT(score_of(y, json, (int)i, "query"), item->score.query);
        CHECK_TEXT(yard_member(y, json, test_format("entries.%zu.relation", i)),
                   vls_relation_names[item->relation]);
        CHECK_TEXT(yard_member(y, json, test_format("entries.%zu.tokens", i)),
                   test_format("%lld", (long long)item->tokens));
    }
    test_context_end();
    CHECK_INT(7, c->candidates);
    CHECK_INT(7, c->considered);
    CHECK_INT(2, c->cut_count);
    CHECK_INT(2, c->cut.count);
    cut = c->cut.items;
    CHECK_STR(valise_str_of(yard_member(y, json, "cut.0.path")), cut[0]->path);
    CHECK_INT(VALISE_CUT_FRAMES, cut[0]->reason);
    CHECK_INT(0, c->missing_count + c->corrupt_count);
    CHECK_TEXT(yard_member(y, json, "policyHash"), vls_id_hex(&c->policy_hash).s);
    CHECK_TEXT(yard_member(y, json, "contextRoot"), vls_id_hex(&c->context_root).s);
    CHECK_TEXT(yard_member(y, json, "treeRoot"), vls_id_hex(&c->tree_root).s);
    CHECK_TEXT(yard_member(y, json, "nodeId"), vls_id_hex(&c->node).s);
    CHECK_STR(valise_str_of(yard_member(y, json, "policy")), c->policy);
    CHECK_STR(VLS_STR("src/a.c"), c->path);
    CHECK(!c->outdated && c->version == 1 && c->seq > 0);
    valise_composition_free(c);
    valise_composition_free(NULL);
}

TEST(compose, the_function_refuses_what_cannot_be)
{
    valise_str many[1001];
    valise_compose_options o = VALISE_COMPOSE_OPTIONS_INIT;
    valise_composition *c = NULL;
    yard *y = yard_open(t);

    yard_grow(y, TREE, "");
    CHECK_OK(valise_compose(&c, y->v, "README", NULL, NULL, NULL, &t->err));
    CHECK_INT(0, c->count);
    valise_composition_free(c);
    c = NULL;
    o.flags = 8;
    CHECK_RC(VALISE_E_INVALID, valise_compose(&c, y->v, "README", NULL, &o, NULL, &t->err));
    o.flags = 0;
    for (size_t i = 0; i < VLS_COUNT(many); i++)
        many[i] = VLS_STR("README");
    o.related_count = 1;
    CHECK_RC(VALISE_E_INVALID, valise_compose(&c, y->v, "README", NULL, &o, NULL, &t->err));
    o.related = many;
    o.related_count = VLS_COUNT(many);
    CHECK_RC(VALISE_E_LIMIT, valise_compose(&c, y->v, "README", NULL, &o, NULL, &t->err));
    o.related_count--;
    CHECK_OK(valise_compose(&c, y->v, "README", NULL, &o, NULL, &t->err));
    valise_composition_free(c);
    c = NULL;
    CHECK_RC(VALISE_E_INVALID, valise_compose(&c, y->v, "README", "x", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_compose(&c, y->v, NULL, NULL, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_compose(&c, y->v, "none", NULL, NULL, NULL, &t->err));
    CHECK(c == NULL);
}

/* ---- without memory ---- */

static int compose_once(fault *f, void *arg)
{
    static const char *const policies[] = {"query=own,types=summary,max=2",
                                           "recency,max_tokens=9,agent=*,seq=1.."};
    static const valise_str related[] = {VALISE_STR("b.c")};
    valise_compose_options o = VALISE_COMPOSE_OPTIONS_INIT;
    test local = *f->t;
    valise_composition *c = NULL;
    yard *y;
    int rc = 0;

    (void)arg;
    fault_off(f);
    o.related = related;
    o.related_count = 1;
    local.param = "memory";
    y = yard_open_with(&local, f->env);
    y->t = f->t;
    yard_grow(y, "src/a.c=1 b.c=2", "");
    (void)yard_put(y, NULL, "src/a.c", "notes", "one", "");
    (void)yard_put(y, NULL, "src", "notes", "three", "");
    (void)yard_put(y, NULL, "b.c", "notes", "two", "");
    fault_on(f);
    for (size_t i = 0; rc == 0 && i < VLS_COUNT(policies); i++) {
        rc = valise_compose(&c, y->v, "src/a.c", policies[i], &o, NULL, &f->err);
        valise_composition_free(c);
        c = NULL;
    }
    fault_off(f);
    f->recovered = rc == 0; /* caches do without */
    valise_close(y->v);
    fault_on(f);
    return rc;
}

TEST(compose, every_allocation_may_fail)
{
    if (strcmp(t->param, "memory") != 0)
        SKIP("once is enough");
    fault_each_alloc(t, 0, compose_once, NULL);
    fault_each_alloc(t, FAULT_ONWARD, compose_once, NULL);
}
