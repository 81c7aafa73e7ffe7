/* only_new.c -- runs that look at what changed since the last one, and at nothing else: what a
 * watch does after each version. [C21] [C27] */
#include "context/kit.h"

TEST_PARAMS(only_new, "memory", "sqlite")

#define ONLY_NEW "{\"recursive\":true,\"noScan\":true,\"onlyNew\":true}"

static const char *again(yard *y)
{
    return yard_run(y, "context:regenerate", ONLY_NEW);
}

static const char *count(yard *y, const char *answer, const char *what)
{
    return yard_member(y, answer, what);
}

static const char *seq_of(yard *y)
{
    return yard_member(y, yard_run(y, "log:list", "{}"), "items.0.seq");
}

static const char *hash_of(yard *y)
{
    return yard_member(y, yard_run(y, "workspace:hash", NULL), "hash");
}

/* So many directories with two files each, of which one is spoken of. */
static const char *words(int dirs, int edited, int edit)
{
    const char *all = "";

    for (int i = 0; i < dirs; i++)
        all = test_format("%s d%d/a=%d d%d/b=1", all, i, i == edited ? edit : 0, i);
    return all;
}

/* All but the first, up to a number, are edited; and the first is in a way of its own. */
static const char *stale_words(int dirs, int upto, int first)
{
    const char *all = "";

    for (int i = 0; i < dirs; i++)
        all = test_format("%s d%d/a=%d d%d/b=1", all, i, i == 0 ? first : i <= upto ? 9 : 0, i);
    return all;
}

static void grown(yard *y, int dirs)
{
    yard_grow(y, words(dirs, -1, 0), "");
    for (int i = 0; i < dirs; i++)
        (void)yard_put(y, NULL, test_format("d%d/a", i), "notes", test_format("about %d", i), "");
    (void)yard_run(y, "context:synthesize",
                   "{\"node\":\".\",\"recursive\":true,\"type\":\"notes\",\"noScan\":true}");
    (void)again(y); /* what was doubted on the way */
}

TEST(only_new, what_needs_its_author_is_told_once)
{
    yard *y = yard_open(t);
    const char *answer, *hash, *seq;

    grown(y, 3);
    yard_grow(y, words(3, 1, 7), "");
    hash = hash_of(y);
    answer = again(y);
    CHECK_TEXT("1", count(y, answer, "needsAuthor"));
    CHECK_TEXT("d1/a", yard_member(y, answer, "slots.0.path"));
    CHECK_TEXT(yard_member(y, yard_run(y, "head:get", "{\"node\":\"d1/a\",\"type\":\"notes\"}"),
                           "items.0.frameId"),
               yard_member(y, answer, "slots.0.after"));
    CHECK_TEXT(hash, hash_of(y)); /* of what is known, nothing changed */
    seq = seq_of(y);
    for (int i = 0; i < 3; i++)
        CHECK_TEXT("[]", yard_member(y, again(y), "slots"));
    CHECK_TEXT(seq, seq_of(y));
    /* Who asks for all of it is told. */
    answer = yard_run(y, "context:regenerate", "{\"recursive\":true,\"noScan\":true}");
    CHECK_TEXT("1", count(y, answer, "needsAuthor"));
    /* Another change, and what was taken back. */
    yard_grow(y, words(3, 1, 8), "");
    CHECK_TEXT("1", count(y, again(y), "needsAuthor"));
    yard_grow(y, words(3, 1, 0), "");
    answer = again(y);
    CHECK_TEXT("0", count(y, answer, "needsAuthor"));
    CHECK_TEXT("0", count(y, answer, "made"));
    CHECK_TEXT("[]", yard_member(y, again(y), "slots"));
    yard_check(y);
}

/* The work is counted: slots that were looked at. It does not depend on how many there are, nor on
 * how many of them are stale and were told before. */
TEST(only_new, the_work_does_not_grow_with_the_tree)
{
    const char *looked[2];

    if (strcmp(t->param, "memory") != 0)
        SKIP("once is enough");
    for (int i = 0; i < 2; i++) {
        yard *y = yard_open(t);
        int dirs = i ? 60 : 4;
        const char *answer;
        grown(y, dirs);
        for (int k = 1; k < dirs; k++) { /* all but the first are stale */
            yard_grow(y, stale_words(dirs, k, 0), "");
            (void)again(y);
        }
        yard_grow(y, stale_words(dirs, dirs, 5), "");
        (void)again(y);
        (void)yard_put(y, NULL, "d0/a", "notes", "something else", "");
        answer = again(y);
        CHECK_TEXT("2", count(y, answer, "made")); /* d0, the root */
        looked[i] = test_format("%s %s %s", count(y, answer, "unchanged"),
                                count(y, answer, "needsAuthor"), count(y, answer, "orphaned"));
        yard_check(y);
    }
    CHECK_TEXT(looked[0], looked[1]);
}
