/* compact.c -- which turns a summary covers, and what it leaves. [P7] [P15] */
#include "memory/kit.h"

TEST_PARAMS(compact, "memory", "sqlite")

static void add(den *d, const char *role, const char *blocks)
{
    (void)den_run(d, "turn:add",
                  test_format("{\"sessionId\":\"s\",\"turn\":{\"role\":\"%s\",\"blocks\":[%s]}}",
                              role, blocks));
}

static void say(den *d, const char *role, const char *text)
{
    add(d, role, test_format("{\"type\":\"text\",\"text\":\"%s\"}", text));
}

static void call(den *d, const char *id)
{
    add(d, "assistant",
        test_format("{\"type\":\"tool_use\",\"callId\":\"%s\",\"name\":\"ls\",\"args\":{}}", id));
}

static void answer(den *d, const char *id)
{
    add(d, "tool",
        test_format("{\"type\":\"tool_result\",\"callId\":\"%s\",\"content\":\"a b c\"}", id));
}

static den *begin(test *t)
{
    den *d = den_open(t);

    (void)den_run(d, "session:create", "{\"label\":\"s\"}");
    return d;
}

static const char *compact(den *d, const char *more)
{
    return den_run(d, "prompt:compact", test_format("{\"session\":\"s\",%s}", more));
}

static int64_t turns(const char *answer)
{
    return strtoll(den_member(answer, "turns"), NULL, 10);
}

TEST(compact, of_nothing_says_so)
{
    den *d = begin(t);
    int64_t seq = den_seq(d);
    const char *done = compact(d, "\"keep\":0");

    CHECK(strstr(done, "\"compacted\":false"));
    CHECK(strstr(done, "nothing to summarize"));
    CHECK_INT(seq, den_seq(d));
}

TEST(compact, never_splits_a_call_from_its_result)
{
    den *d = begin(t);

    say(d, "user", "Look.");
    call(d, "c1");
    call(d, "c2");
    answer(d, "c2");
    answer(d, "c1");
    say(d, "assistant", "Two files.");
    CHECK_INT(1, turns(compact(d, "\"keep\":2,\"text\":\"x\",\"dryRun\":true")));
    CHECK_INT(1, turns(compact(d, "\"keep\":4,\"text\":\"x\",\"dryRun\":true")));
    CHECK_INT(5, turns(compact(d, "\"keep\":1,\"text\":\"x\",\"dryRun\":true")));
    /* From the middle of a pair: behind it. */
    CHECK_INT(1,
              turns(compact(d, "\"from\":\"HEAD~3\",\"keep\":0,\"text\":\"x\",\"dryRun\":true")));
    CHECK(strstr(compact(d, "\"keep\":1,\"text\":\"x\""), "\"compacted\":true"));
    den_check(d);
}

TEST(compact, leaves_a_call_that_waits_for_its_result)
{
    den *d = begin(t);

    say(d, "user", "Look.");
    call(d, "c1");
    CHECK_INT(1, turns(compact(d, "\"keep\":0,\"text\":\"x\"")));
    answer(d, "c1"); /* its call is still on the path, and not covered */
    den_check(d);
}

/* Imports use the same ids again and again. */
TEST(compact, leaves_calls_of_which_one_waits)
{
    den *d = begin(t);

    say(d, "user", "Look.");
    add(d, "assistant",
        "{\"type\":\"tool_use\",\"callId\":\"c1\",\"name\":\"ls\",\"args\":{}},"
        "{\"type\":\"tool_use\",\"callId\":\"c2\",\"name\":\"ls\",\"args\":{}}");
    answer(d, "c1");
    CHECK_INT(1, turns(compact(d, "\"keep\":0,\"text\":\"x\",\"dryRun\":true")));
    say(d, "user", "Well?");
    CHECK_INT(1, turns(compact(d, "\"keep\":0,\"text\":\"x\",\"dryRun\":true")));
    answer(d, "c2");
    CHECK_INT(5, turns(compact(d, "\"keep\":0,\"text\":\"x\",\"dryRun\":true")));
}

/* The call is covered already: its result goes with it or stays, and a dry run knows. */
TEST(compact, of_a_result_whose_call_was_summarized)
{
    den *d = begin(t);
    const char *dry;

    say(d, "user", "Look.");
    call(d, "slow");
    say(d, "user", "Meanwhile?");
    say(d, "assistant", "This.");
    CHECK(strstr(compact(d, "\"keep\":0,\"text\":\"x\""), "\"compacted\":true"));
    say(d, "user", "Go on.");
    say(d, "assistant", "So.");
    answer(d, "slow");
    say(d, "assistant", "There.");
    say(d, "user", "And?");
    for (int keep = 5; keep >= 0; keep--) {
        dry = compact(d, test_format("\"keep\":%d,\"text\":\"x\",\"dryRun\":true", keep));
        if (strstr(dry, "\"compacted\":true"))
            break;
        CHECK(keep > 2);
    }
    CHECK_INT(9, turns(compact(d, "\"keep\":1,\"text\":\"x\"")));
    den_check(d);
}

TEST(compact, of_calls_with_one_id_for_all)
{
    den *d = begin(t);

    for (int i = 0; i < 4; i++) {
        say(d, "user", "Look.");
        call(d, "call_0");
        answer(d, "call_0");
    }
    CHECK_INT(6, turns(compact(d, "\"keep\":6,\"text\":\"x\"")));
    den_check(d);
}

TEST(compact, again_covers_the_older_summary)
{
    den *d = begin(t);
    const char *done;

    for (int i = 0; i < 6; i++)
        say(d, i % 2 ? "assistant" : "user", "Words about the parcel and the van.");
    CHECK_INT(4, turns(compact(d, "\"keep\":2,\"text\":\"first\"")));
    /* What stays must stay: the older one is not split from what it covers. */
    done = compact(d, "\"keep\":1,\"text\":\"no\",\"dryRun\":true");
    CHECK(strstr(done, "\"compacted\":false"));
    say(d, "user", "More.");
    say(d, "assistant", "Yes.");
    CHECK_INT(7, turns(compact(d, "\"keep\":2,\"text\":\"second\"")));
    done = den_run(d, "prompt:build",
                   "{\"session\":\"s\",\"provider\":\"openai\",\"model\":\"m\",\"neutral\":true}");
    CHECK(strstr(done, "second") && !strstr(done, "first") && !strstr(done, "parcel"));
    CHECK(strstr(done, "More.") && strstr(done, "Yes."));
    den_check(d);
}

static const char *neutral(den *d)
{
    return den_member(den_run(d, "prompt:build",
                              "{\"session\":\"s\",\"provider\":\"openai\",\"model\":\"m\","
                              "\"time\":\"2026-01-02T03:04:05Z\",\"noRecord\":true}"),
                      "neutralHash");
}

/* A summary whose range begins with an older summary stands for what that one stood for: a later
 * range splits neither from it. The head moves back, and each step is undone. [P1] [P15] */
TEST(compact, of_a_compaction_and_back)
{
    den *d = begin(t);
    const char *heads[4], *prompts[4], *done;

    for (int i = 0; i < 6; i++)
        say(d, i % 2 ? "assistant" : "user", test_format("Words %d about the parcel.", i));
    for (int i = 0; i < 3; i++) {
        heads[i] = den_member(den_run(d, "session:show", "{\"sessionId\":\"s\"}"), "head");
        prompts[i] = neutral(d);
        if (i == 0)
            done = compact(d, "\"keep\":2,\"text\":\"first\"");
        else
            done = den_run(d, "turn:add",
                           test_format("{\"sessionId\":\"s\",\"turn\":{\"role\":\"user\","
                                       "\"blocks\":[{\"type\":\"summary\",\"text\":\"deeper %d\","
                                       "\"covers\":{\"from\":\"%s\",\"to\":\"%s\"}}]}}",
                                       i, heads[i], heads[i]));
        CHECK(strlen(den_member(done, "ref")) > 0);
    }
    done = den_run(d, "prompt:build",
                   "{\"session\":\"s\",\"provider\":\"openai\",\"model\":\"m\",\"neutral\":true}");
    CHECK(strstr(done, "deeper 2") && !strstr(done, "deeper 1") && !strstr(done, "first"));
    CHECK(!strstr(done, "Words 3") && strstr(done, "Words 4") && strstr(done, "Words 5"));
    /* Into what it stands for no range may cut. */
    CHECK_INT(0, turns(compact(d, "\"to\":\"HEAD~6\",\"text\":\"no\",\"dryRun\":true")));
    CHECK_INT(9, turns(compact(d, "\"keep\":0,\"text\":\"all\",\"dryRun\":true")));
    for (int i = 2; i >= 0; i--) {
        (void)den_run(d, "turn:checkout",
                      test_format("{\"sessionId\":\"s\",\"turnId\":\"%s\"}", heads[i]));
        CHECK_TEXT(prompts[i], neutral(d));
    }
    den_check(d);
}

TEST(compact, tells_what_policies_would_save)
{
    den *d = begin(t);
    const char *done;

    for (int i = 0; i < 4; i++) {
        say(d, "user", "Look.");
        call(d, test_format("c%d", i));
        add(d, "tool",
            test_format("{\"type\":\"tool_result\",\"callId\":\"c%d\",\"content\":\"%02000d\"}", i,
                        i));
    }
    done = compact(d, "\"keep\":3,\"dryRun\":true,\"policies\":{\"clearResults\":{\"keep\":1}}");
    CHECK(strtoll(den_member(done, "policiesSave"), NULL, 10) > 100);
    CHECK_TEXT("", den_member(compact(d, "\"keep\":3,\"dryRun\":true"), "policiesSave"));
}

TEST(compact, refuses_what_makes_no_sense)
{
    den *d = begin(t);

    say(d, "user", "One.");
    say(d, "assistant", "Two.");
    den_refused(d, VALISE_E_INVALID, "before", "prompt:compact",
                "{\"session\":\"s\",\"from\":\"HEAD\",\"to\":\"HEAD~1\",\"text\":\"x\"}");
    den_refused(d, VALISE_E_INVALID, "not both", "prompt:compact",
                "{\"session\":\"s\",\"to\":\"HEAD\",\"keep\":1}");
    den_refused(d, VALISE_E_INVALID, "provider", "prompt:compact",
                "{\"session\":\"s\",\"model\":\"m\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "session", "prompt:compact", "{\"session\":\"none\"}");
    (void)den_run(d, "agent:add",
                  "{\"id\":\"eve\",\"role\":\"none\",\"capabilities\":[\"session:write\"]}");
    CHECK_INT(VALISE_E_DENIED, den_try_as(d, "eve", "prompt:compact",
                                          "{\"session\":\"s\",\"text\":\"x\",\"keep\":0}"));
}
