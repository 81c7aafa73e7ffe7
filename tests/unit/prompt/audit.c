/* audit.c -- what could be broken without a test that says so. [P1] [P3] [P4] [P7] [P14] */
#include "prompt/kit.h"

#include "wire/plan_impl.h"

TEST_PARAMS(audit, "memory", "sqlite")

/* The newer one ends before the older one does: both are needed. */
TEST(audit, a_newer_summary_that_ends_earlier)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *turn[6];

    for (int i = 0; i < 6; i++)
        turn[i] = pot_say(p, s, i % 2 ? "assistant" : "user", test_format("%d", i));
    pot_say(p, s, "user",
            test_format("[{'type':'summary','text':'1-4','covers':{'from':'%s','to':'%s'}}]",
                        turn[1], turn[4]));
    pot_say(p, s, "user",
            test_format("[{'type':'summary','text':'0-2','covers':{'from':'%s','to':'%s'}}]",
                        turn[0], turn[2]));
    pot_build(p, s);
    CHECK_TEXT("U[{0-2}] U[{1-4}] A[5]", p->said);
}

/* A part of a token is one. */
TEST(audit, what_is_used_in_the_count_of_the_model)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    int64_t plain;

    pot_say(p, s, "user", "hi");
    pot_build(p, s);
    plain = p->budget.used;
    CHECK(plain % 16 != 0);
    p->ask.scale = 17;
    pot_build(p, s);
    CHECK_INT((plain * 17 + 15) / 16, p->budget.used);
}

TEST(audit, parts_with_other_words_are_others)
{
    vls_part a = {.kind = VLS_PART_FRAME, .words = VLS_STR("Note on a:\n")}, b = a;

    CHECK(vls_part_equal(&a, &b));
    b.words = VLS_STR("Note on b:\n");
    CHECK(!vls_part_equal(&a, &b));
}

/* 40 letters are taken as they are, one more is not. */
TEST(audit, ids_of_calls_have_a_length)
{
    static const char id[] = "abcdefghijklmnopqrstuvwxyz0123456789-_ABC";
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");

    pot_say(p, s, "user", "go");
    for (int less = 0; less < 2; less++) {
        pot_say(p, s, "assistant",
                test_format("[{'type':'tool_use','callId':'%.*s','name':'n','args':{}}]", 40 + less,
                            id));
        pot_say(
            p, s, "tool",
            test_format("[{'type':'tool_result','callId':'%.*s','content':'r'}]", 40 + less, id));
    }
    pot_build(p, s);
    CHECK_HAS(p->wire, test_format("\"%.40s\"", id));
    CHECK_HAS_NOT(p->wire, id);
}

TEST(audit, a_file_of_just_the_size_that_is_taken)
{
    const vls_adapter *adapter = &vls_adapter_anthropic;
    vls_plan_block block = {.kind = VLS_SAID_IMAGE, .media = VLS_STR("image/png")};

    block.size = adapter->media.max_image;
    CHECK(block.size > 0 && !vls_media_rule(adapter, &block, VLS_MEDIA_USER));
    block.size++;
    CHECK_TEXT(VLS_R_MEDIA_SIZE, vls_media_rule(adapter, &block, VLS_MEDIA_USER));
}

/* What stands in the place of a result is not longer than what it said. */
TEST(audit, short_results_are_not_cleared)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    vls_policy_results clear = {.keep = 0};

    pot_say(p, s, "user", "go");
    for (int i = 0; i < 3; i++) {
        pot_say(p, s, "assistant",
                test_format("[{'type':'tool_use','callId':'c%d','name':'n','args':{}}]", i));
        pot_say(p, s, "tool",
                test_format("[{'type':'tool_result','callId':'c%d','content':'short'}]", i));
    }
    p->ask.policies.clear_results = &clear;
    pot_build(p, s);
    CHECK_HAS_NOT(p->said, "cleared");
    CHECK_HAS(p->said, "res(c0,short)");
}

/* An empty picture is none; of an entry the error says so. */
TEST(audit, empty_files)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "'x'");

    (void)pot_do(p, "blob:register", "{'data':''}");
    pot_say(p, s, "user", "look");
    (void)pot_do(
        p, "context:add",
        "{'key':'e','blob':'"
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855','topics':['x']}");
    CHECK_RC(VALISE_E_NOT_FOUND, pot_try(p, s));
    CHECK_HAS(t->err.message, "of entry e cannot be sent: it is empty");
    p->ask.missing = VLS_MISSING_TEXT;
    pot_build(p, s);
    CHECK_HAS(p->said, "it is empty");
}

/* What params say counts more than what the role says, for the build too. */
TEST(audit, params_name_the_model_and_the_window)
{
    pot *p = pot_open(t);
    const char *s, *built;

    (void)pot_do(p, "role:add",
                 "{'name':'r','persona':'p','constraints':{'model':'of-role','window':5000,"
                 "'maxTokens':100}}");
    (void)pot_do(p, "session:create", "{'label':'said','role':'r'}");
    s = "said";
    pot_say(p, s, "user", "hi");
    built = pot_do(p, "prompt:build", "{'session':'%s','provider':'openai','wire':true}", s);
    CHECK_HAS(built, "\"model\":\"of-role\"");
    CHECK_HAS(built, "\"limit\":4900");
    built = pot_do(p, "prompt:build",
                   "{'session':'%s','provider':'openai','wire':true,'params':{'model':'given',"
                   "'window':3000,'maxTokens':500}}",
                   s);
    CHECK_HAS(built, "\"model\":\"given\"");
    CHECK_HAS_NOT(built, "of-role");
    CHECK_HAS(built, "\"limit\":2500");
    built = pot_do(p, "prompt:build",
                   "{'session':'%s','provider':'openai','model':'named','window':2000,"
                   "'params':{'model':'given','window':3000}}",
                   s);
    CHECK_HAS(built, "\"model\":\"named\"");
    CHECK_HAS(built, "\"limit\":1900");
}
