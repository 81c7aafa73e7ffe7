/* instruct.c -- stage 3: tools, params, persona, preferences and who decides a slot. [P3] */
#include "prompt/kit.h"

TEST_PARAMS(instruct, "memory", "sqlite")

static const char *prefer(pot *p, const char *content, const char *more)
{
    return talk_member(
        p->k,
        pot_do(p, "preference:add", "{'content':'%s'%s%s}", content, more[0] ? "," : "", more),
        "id");
}

TEST(instruct, persona_params_and_tools)
{
    pot *p = pot_open(t);
    static const valise_str tools[] = {
        POT_STR("{\"name\":\"ls\",\"inputSchema\":{\"type\":\"object\"}}")};
    const char *s;

    (void)pot_do(p, "role:add",
                 "{'name':'coder','persona':'You write C.','constraints':{'temperature':0.5,"
                 "'window':9000}}");
    s = talk_member(p->k, pot_do(p, "session:create", "{'role':'coder'}"), "id");
    pot_say(p, s, "user", "hi");
    p->ask.tools = (valise_list){tools, 1};
    p->ask.params = VLS_STR("{\"maxTokens\":100,\"temperature\":1}");
    pot_build(p, s);
    CHECK_TEXT("You write C.", p->system);
    /* What came with the request is over what the role says; the window is for the budget. */
    CHECK_HAS(p->neutral, pot_quote("'params':{'maxTokens':100,'temperature':1}"));
    CHECK_HAS(p->neutral, pot_quote("'tools':[{'inputSchema':{'type':'object'},'name':'ls'}]"));
    CHECK_HAS(p->parts, "tools given tools[0]|params role coder|params given params|system role "
                        "coder|history turn");
    CHECK(p->budget.sections[VLS_SECTION_TOOLS] > 0);
    CHECK(p->budget.sections[VLS_SECTION_SYSTEM] > 0);
}

/* A change of the role is another version of it, the persona that is in force is the newest. */
TEST(instruct, the_role_in_force)
{
    pot *p = pot_open(t);
    const char *s;

    (void)pot_do(p, "role:add", "{'name':'a','persona':'I am a.'}");
    (void)pot_do(p, "role:add", "{'name':'b','persona':'I am b.'}");
    s = talk_member(p->k, pot_do(p, "session:create", "{'role':'a'}"), "id");
    pot_say(p, s, "user", "hi");
    pot_build(p, s);
    CHECK_TEXT("I am a.", p->system);
    (void)pot_do(p, "session:role:switch", "{'sessionId':'%s','newRole':'b'}", s);
    (void)pot_do(p, "role:update", "{'name':'b','persona':'I am b now.'}");
    pot_say(p, s, "user", "hi again");
    pot_build(p, s);
    CHECK_TEXT("I am b now.", p->system);
}

/* session beats role beats workspace, then priority, then the newest. */
TEST(instruct, who_decides_a_slot)
{
    pot *p = pot_open(t);
    const char *s, *w1, *w2, *w3, *r;

    (void)pot_do(p, "role:add", "{'name':'coder','persona':'P.'}");
    s = talk_member(p->k, pot_do(p, "session:create", "{'role':'coder'}"), "id");
    pot_say(p, s, "user", "hi");
    w1 = prefer(p, "w1", "'slot':'tone'");
    w2 = prefer(p, "w2", "'slot':'tone'");
    prefer(p, "free", "");
    pot_build(p, s);
    CHECK_TEXT("P.|Preference: w2|Preference: free", p->system);
    CHECK_TEXT(test_format("preference %s: a newer preference decides this slot", w1), p->left);
    w3 = prefer(p, "w3", "'slot':'tone','priority':1");
    prefer(p, "newest", "'slot':'tone'");
    pot_build(p, s);
    CHECK_HAS(p->system, "Preference: w3");
    CHECK_HAS(p->left, test_format("%s: a preference of higher priority decides this slot", w2));
    r = prefer(p, "r", "'slot':'tone','scope':'role','of':'coder'");
    pot_build(p, s);
    CHECK_TEXT("P.|Preference: free|Preference: r", p->system);
    CHECK_HAS(p->left, test_format("%s: a preference of the role decides this slot", w3));
    prefer(p, "s", test_format("'slot':'tone','scope':'session','of':'%s'", s));
    pot_build(p, s);
    CHECK_TEXT("P.|Preference: free|Preference: s", p->system);
    CHECK_HAS(p->left, test_format("%s: a preference of the session decides this slot", r));
}

/* Its scope applies, and its topics are none or meet those of the session or role. */
TEST(instruct, which_preferences_are_active)
{
    pot *p = pot_open(t);
    const char *s, *other = pot_session(p, "");

    (void)pot_do(p, "role:add", "{'name':'coder','persona':'P.','topics':['code']}");
    s = talk_member(p->k, pot_do(p, "session:create", "{'role':'coder','topics':['law']}"), "id");
    pot_say(p, s, "user", "hi");
    prefer(p, "code", "'topics':['code']");
    prefer(p, "law", "'topics':['law','x']");
    prefer(p, "cooking", "'topics':['cooking']");
    prefer(p, "other", test_format("'scope':'session','of':'%s'", other));
    pot_build(p, s);
    CHECK_TEXT("P.|Preference: code|Preference: law", p->system);
}

/* Order does not depend on who won or when something was changed: the prefix stays. [P14] */
TEST(instruct, the_order_is_stable)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, ""), *a;

    pot_say(p, s, "user", "hi");
    a = prefer(p, "a", "");
    prefer(p, "b", "");
    prefer(p, "c", "'priority':5");
    pot_build(p, s);
    CHECK_TEXT("Preference: c|Preference: a|Preference: b", p->system);
    (void)pot_do(p, "preference:update", "{'id':'%s','content':'a2'}", a);
    pot_build(p, s);
    CHECK_TEXT("Preference: c|Preference: a2|Preference: b", p->system);
}

/* [P7]: what must be sent whole is too much. */
TEST(instruct, tools_and_instructions_that_do_not_fit)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");

    pot_say(p, s, "user", "hi");
    prefer(p, "a long preference with many words in it, over and over and over again", "");
    p->ask.window = 10;
    CHECK_RC(VALISE_E_LIMIT, pot_try(p, s));
    CHECK_HAS(t->err.message, "tools and instructions take");
    CHECK_HAS(t->err.message, "the prompt may have 10");
}
