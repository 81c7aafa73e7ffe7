/* history.c -- stage 1: ancestry, merges, summaries, what is not for models. [P1] [P14] */
#include "prompt/kit.h"

TEST_PARAMS(history, "memory", "sqlite")

TEST(history, a_session_becomes_a_prompt)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");

    pot_say(p, s, "user", "hi");
    pot_say(p, s, "assistant", "hello");
    pot_say(p, s, "user", "how are you?");
    pot_build(p, s);
    CHECK_TEXT("U[hi] A[hello] U[how are you?]", p->said);
    CHECK_TEXT(pot_quote("{'messages':[{'blocks':[{'text':'hi','type':'text'}],'role':'user'},"
                         "{'blocks':[{'text':'hello','type':'text'}],'role':'assistant'},"
                         "{'blocks':[{'text':'how are you?','type':'text'}],'role':'user'}],"
                         "'params':{},'sections':{'context':0,'history':3},'system':[],'tools':[],"
                         "'version':1}"),
               p->neutral);
    CHECK_HAS(p->wire, "how are you?");
    CHECK_INT(3, p->part_count);
    CHECK_INT(0, p->trimmed);
}

/* What nobody knows is not looked at, whatever it has: it is not sent. [P5] [W17] */
TEST(history, blocks_of_unknown_types_do_no_harm)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");

    pot_say(p, s, "user", "hi");
    pot_say(p, s, "assistant",
            "[{'type':'search','meta':'x','content':[{'type':'image','blob':'zz'}]},"
            "{'type':'text','text':'a'}]");
    pot_build(p, s);
    CHECK_HAS(p->wire, "\"a\"");
    CHECK_HAS_NOT(p->wire, "zz");
}

/* A session in which nothing was said has no prompt that a provider would take. */
TEST(history, nothing_was_said)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");

    CHECK_RC(VALISE_E_INVALID, pot_try(p, s));
}

/* [P1]: the first parent's path, then what is new on the other, then the merge. */
TEST(history, merges_are_flattened_each_version_once)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *b, *left;

    pot_say(p, s, "user", "a");
    b = pot_say(p, s, "assistant", "b");
    left = pot_say(p, s, "user", "c1");
    (void)pot_do(p, "turn:checkout", "{'sessionId':'%s','turnId':'%s'}", s, b);
    pot_say(p, s, "user", "c2");
    (void)pot_do(p, "turn:merge",
                 "{'sessionId':'%s','parents':['HEAD','%s'],'role':'user','text':'both'}", s, left);
    pot_build(p, s);
    CHECK_TEXT("U[a] A[b] U[c2] U[c1] U[both]", p->said);
    p->ask.first_parents = true;
    pot_build(p, s);
    CHECK_TEXT("U[a] A[b] U[c2] U[both]", p->said);
}

/* [P1]: noprompt and erased ones are not there, hidden ones are. */
TEST(history, what_is_not_for_models)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *erased;

    pot_say(p, s, "user", "a");
    pot_say_with(p, s, "assistant", "for people", "'noprompt':true");
    pot_say_with(p, s, "system", "for models", "'hidden':true");
    erased = pot_say(p, s, "user", "secret");
    pot_say(p, s, "user", "b");
    (void)pot_do(p, "turn:delete", "{'sessionId':'%s','turnId':'%s','reason':'r'}", s, erased);
    pot_build(p, s);
    CHECK_TEXT("U[a] S[for models] U[b]", p->said);
    CHECK_HAS(p->left, ": not for models");
    CHECK_HAS(p->left, ": erased");
    CHECK_HAS_NOT(p->neutral, "secret");
}

TEST(history, thinking_is_kept_or_dropped)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");

    pot_say(p, s, "user", "a");
    pot_say(p, s, "assistant", "[{'type':'thinking','text':'hm'},{'type':'text','text':'b'}]");
    pot_say(p, s, "assistant", "[{'type':'thinking','text':'hm again'}]");
    pot_say(p, s, "user", "c");
    pot_build(p, s);
    CHECK_TEXT("U[a] A[(hm)|b] A[(hm again)] U[c]", p->said);
    p->ask.thinking = VLS_THINKING_DROP;
    pot_build(p, s);
    /* A turn of which nothing is left is not there. */
    CHECK_TEXT("U[a] A[b] U[c]", p->said);
}

/* ---- summaries ---- */

static const char *summarize(pot *p, const char *s, const char *from, const char *to,
                             const char *text)
{
    return pot_say(p, s, "user",
                   test_format("[{'type':'summary','text':'%s','covers':{'from':'%s','to':'%s'}}]",
                               text, from, to));
}

TEST(history, a_summary_stands_for_what_it_covers)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *b, *c;

    pot_say(p, s, "user", "a");
    b = pot_say(p, s, "assistant", "b");
    c = pot_say(p, s, "user", "c");
    pot_say(p, s, "assistant", "d");
    summarize(p, s, b, c, "b and c");
    pot_say(p, s, "user", "e");
    pot_build(p, s);
    CHECK_TEXT("U[a] U[{b and c}] A[d] U[e]", p->said);
    CHECK_HAS(p->left, ": summarized");
    CHECK_INT(2, p->left_turns);
}

TEST(history, a_summary_of_a_summary_and_nested_ones)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *a = pot_say(p, s, "user", "a"), *b = pot_say(p, s, "assistant", "b"), *first, *d;

    first = summarize(p, s, a, b, "ab");
    pot_say(p, s, "user", "c");
    d = pot_say(p, s, "assistant", "d");
    pot_say(p, s, "user", "e");
    summarize(p, s, first, d, "ab again and cd");
    pot_build(p, s);
    /* It stands for what the first one stood for, too. */
    CHECK_TEXT("U[{ab again and cd}] U[e]", p->said);
    CHECK_INT(5, p->left_turns);
    summarize(p, s, a, d, "all");
    pot_build(p, s);
    CHECK_TEXT("U[{all}] U[e]", p->said);
}

/* Three deep, with turns between that nobody covers, and one that is not for models. */
TEST(history, a_summary_of_a_summary_of_a_summary)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *b, *c, *one, *two, *d, *hidden, *head;

    pot_say(p, s, "user", "a");
    b = pot_say(p, s, "assistant", "b");
    c = pot_say(p, s, "user", "c");
    pot_say(p, s, "assistant", "d");
    one = summarize(p, s, b, c, "one");
    d = pot_say(p, s, "user", "e");
    two = summarize(p, s, one, d, "two");
    pot_build(p, s);
    CHECK_TEXT("U[a] U[{two}] A[d]", p->said);
    head = pot_say(p, s, "assistant", "f");
    summarize(p, s, two, head, "three");
    pot_say(p, s, "user", "g");
    pot_build(p, s);
    CHECK_TEXT("U[a] U[{three}] A[d] U[g]", p->said);
    /* The head moves back, and all is as it was. */
    (void)pot_do(p, "turn:checkout", "{'sessionId':'%s','turnId':'%s'}", s, two);
    pot_build(p, s);
    CHECK_TEXT("U[a] U[{two}] A[d]", p->said);
    (void)pot_do(p, "turn:checkout", "{'sessionId':'%s','turnId':'%s'}", s, one);
    pot_build(p, s);
    CHECK_TEXT("U[a] U[{one}] A[d]", p->said);
    /* One that models never saw stands for nothing. */
    hidden = pot_say_with(
        p, s, "user",
        test_format("[{'type':'summary','text':'no','covers':{'from':'%s','to':'%s'}}]", c, one),
        "'noprompt':true");
    d = pot_say(p, s, "user", "h");
    summarize(p, s, hidden, d, "last");
    pot_build(p, s);
    CHECK_TEXT("U[a] U[{one}] A[d] U[{last}]", p->said);
}

TEST(history, overlapping_summaries_lose_nothing)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *turn[6];

    for (int i = 0; i < 6; i++)
        turn[i] = pot_say(p, s, i % 2 ? "assistant" : "user", test_format("%d", i));
    summarize(p, s, turn[0], turn[3], "0-3");
    summarize(p, s, turn[2], turn[4], "2-4");
    pot_say(p, s, "user", "end");
    pot_build(p, s);
    CHECK_TEXT("U[{0-3}] U[{2-4}] A[5] U[end]", p->said);
}

/* An erased turn in the range stays covered: the summary was made of it. */
TEST(history, a_covered_turn_that_was_erased)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *a = pot_say(p, s, "user", "a"), *b = pot_say(p, s, "assistant", "b");

    summarize(p, s, a, b, "ab");
    pot_say(p, s, "user", "c");
    (void)pot_do(p, "turn:delete", "{'sessionId':'%s','turnId':'%s','reason':'r'}", s, a);
    pot_build(p, s);
    CHECK_TEXT("U[{ab}] U[c]", p->said);
}

/* Of another branch only what its own path had is covered: here c1 stays. */
TEST(history, a_summary_on_one_side_of_a_merge)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *a = pot_say(p, s, "user", "a"), *b = pot_say(p, s, "assistant", "b"), *side, *d;

    pot_say(p, s, "user", "c1");
    pot_say(p, s, "assistant", "d1");
    (void)pot_do(p, "turn:checkout", "{'sessionId':'%s','turnId':'%s'}", s, b);
    d = pot_say(p, s, "user", "c2");
    side = summarize(p, s, a, d, "a to c2");
    (void)pot_do(p, "turn:checkout", "{'sessionId':'%s','turnId':'%s'}", s, b);
    pot_say(p, s, "user", "c3");
    (void)pot_do(p, "turn:merge",
                 "{'sessionId':'%s','parents':['HEAD','%s'],'role':'user','text':'both'}", s, side);
    pot_build(p, s);
    CHECK_TEXT("U[{a to c2}] U[c3] U[both]", p->said);
    p->ask.first_parents = true;
    pot_build(p, s);
    CHECK_TEXT("U[a] A[b] U[c3] U[both]", p->said);
}

/* merge=first: a range whose turns are on the other side covers nothing. */
TEST(history, a_range_that_is_not_on_the_path)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *a = pot_say(p, s, "user", "a"), *side;

    side = pot_say(p, s, "assistant", "b1");
    (void)pot_do(p, "turn:checkout", "{'sessionId':'%s','turnId':'%s'}", s, a);
    pot_say(p, s, "assistant", "b2");
    (void)pot_do(p, "turn:merge",
                 "{'sessionId':'%s','parents':['HEAD','%s'],'role':'user','text':'both'}", s, side);
    summarize(p, s, a, side, "a and more");
    pot_say(p, s, "user", "c");
    pot_build(p, s);
    CHECK_TEXT("U[{a and more}] U[both] U[c]", p->said);
    p->ask.first_parents = true;
    pot_build(p, s);
    CHECK_TEXT("U[a] A[b2] U[both] U[{a and more}] U[c]", p->said);
}

TEST(history, a_turn_with_two_summaries)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *turn[5];

    for (int i = 0; i < 5; i++)
        turn[i] = pot_say(p, s, i % 2 ? "assistant" : "user", test_format("%d", i));
    pot_say(p, s, "user",
            test_format("[{'type':'summary','text':'x','covers':{'from':'%s','to':'%s'}},"
                        "{'type':'summary','text':'y','covers':{'from':'%s','to':'%s'}}]",
                        turn[0], turn[1], turn[3], turn[3]));
    pot_build(p, s);
    CHECK_TEXT("U[{x}|{y}] U[2] U[4]", p->said);
}

/* ---- one more turn ---- */

/* [P14]: equal inputs give equal bytes; one more turn leaves all bytes before it. */
TEST(history, the_prefix_of_the_wire_stays)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *before, *again;
    size_t same = 0;

    p->ask.how.no_cache = true;
    for (int i = 0; i < 20; i++)
        pot_say(p, s, i % 2 ? "assistant" : "user", test_format("this is number %d", i));
    pot_say(p, s, "user", "now");
    pot_build(p, s);
    before = p->wire;
    pot_build(p, s);
    again = p->wire;
    CHECK_TEXT(before, again);
    pot_say(p, s, "assistant", "then");
    pot_say(p, s, "user", "and now");
    pot_build(p, s);
    while (before[same] && before[same] == p->wire[same])
        same++;
    /* All but the brackets at the end. */
    CHECK_MSG(strlen(before) - same <= 4, "%zu of %zu bytes: %s", same, strlen(before),
              before + same);
}

/* ---- more than is hashed in one go ---- */

/* The kit builds without the text as well, and compares. [P8] */
TEST(history, a_text_of_many_lots_has_one_hash)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    char text[9001];

    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (int i = 0; i < 40; i++)
        pot_say(p, s, i % 2 ? "assistant" : "user", text);
    pot_build(p, s);
    CHECK(strlen(p->neutral) > 5 * 65536);
}
