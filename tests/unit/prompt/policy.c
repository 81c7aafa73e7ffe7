/* policy.c -- what may be left out of a history, as data. [P15] */
#include "prompt/kit.h"

#include "harness/support.h"

TEST_PARAMS(policy, "memory", "sqlite")

static const char *const long_text =
    "many words many words many words many words many words many words many words many words many "
    "words many words many words many words many words many words many words many words many words "
    "many words many words many words many words many words many words many words many words many "
    "words many words many words many words many words many words many words many words many words";

static void call_with(pot *p, const char *s, const char *id, const char *name, const char *args,
                      const char *result, const char *more)
{
    pot_say(p, s, "assistant",
            test_format("[{'type':'thinking','text':'thinking of %s'},{'type':'tool_use',"
                        "'callId':'%s','name':'%s','args':%s}]",
                        id, id, name, args));
    pot_say(
        p, s, "tool",
        test_format("[{'type':'tool_result','callId':'%s','content':'%s'%s}]", id, result, more));
}

/* A call of a tool and its result. */
static void call(pot *p, const char *s, const char *id, const char *name, const char *args,
                 const char *result)
{
    call_with(p, s, id, name, args, result, "");
}

static void fail(pot *p, const char *s, const char *id, const char *name, const char *args,
                 const char *result)
{
    call_with(p, s, id, name, args, result, ",'isError':true");
}

static int times(const char *text, const char *part)
{
    int n = 0;

    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

TEST(policy, old_results_are_cleared)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    static const valise_str names[] = {POT_STR("keep")};
    vls_policy_results clear = {.keep = 2};
    int64_t before;

    pot_say(p, s, "user", "go");
    call(p, s, "c0", "keep", "{}", long_text);
    for (int i = 1; i < 6; i++)
        call(p, s, test_format("c%d", i), "ls", "{}", test_format("%d %s", i, long_text));
    pot_build(p, s);
    before = p->budget.used;
    p->ask.policies.clear_results = &clear;
    pot_build(p, s);
    CHECK_INT(4, times(p->said, "[The result was cleared; it is in turn "));
    CHECK_HAS(p->said, "5 many");
    CHECK_HAS(p->said, "4 many");
    CHECK_HAS_NOT(p->said, "3 many");
    CHECK(p->budget.used < before);
    clear.exclude = (valise_list){names, 1};
    pot_build(p, s);
    CHECK_INT(3, times(p->said, "was cleared"));
    CHECK_HAS(p->said, "res(c0,many");
    /* Not before it is worth it. */
    clear.at_least = 100000;
    pot_build(p, s);
    CHECK_INT(0, times(p->said, "was cleared"));
    /* None is kept once the model has read it. */
    clear = (vls_policy_results){.keep = 0};
    pot_build(p, s);
    CHECK_INT(5, times(p->said, "was cleared"));
    pot_say(p, s, "assistant", "read");
    pot_build(p, s);
    CHECK_INT(6, times(p->said, "was cleared"));
}

TEST(policy, old_thinking_is_dropped_but_not_in_the_loop_that_runs)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    vls_policy_thinking drop = {.keep = 0};

    pot_say(p, s, "user", "go");
    call(p, s, "c0", "ls", "{}", "x");
    call(p, s, "c1", "ls", "{}", "x");
    p->ask.policies.drop_thinking = &drop;
    pot_build(p, s);
    CHECK_INT(2, times(p->said, "(thinking of"));
    pot_say(p, s, "user", "again");
    call(p, s, "c2", "ls", "{}", "x");
    pot_build(p, s);
    CHECK_INT(1, times(p->said, "(thinking of"));
    CHECK_HAS(p->said, "(thinking of c2)");
    drop.keep = 2;
    pot_build(p, s);
    CHECK_INT(2, times(p->said, "(thinking of"));
}

TEST(policy, only_the_newest_read_of_a_file)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    vls_policy_reads reads = {.tools = VLS_STR("{\"read\":\"path\"}")};

    pot_say(p, s, "user", "go");
    call(p, s, "c0", "read", "{'path':'a.c'}", "one");
    call(p, s, "c1", "read", "{'path':'b.c'}", "two");
    call(p, s, "c2", "read", "{'path':'a.c'}", "three");
    call(p, s, "c3", "other", "{'path':'b.c'}", "four");
    p->ask.policies.newest_read = &reads;
    pot_build(p, s);
    CHECK_HAS(p->said, "res(c0,[The result was cleared");
    CHECK_HAS(p->said, "res(c1,two)");
    CHECK_HAS(p->said, "res(c2,three)");
    CHECK_HAS(p->said, "res(c3,four)");
    /* A read that failed is no newer one; it is old itself once the file was read. */
    fail(p, s, "c4", "read", "{'path':'a.c'}", "denied");
    pot_build(p, s);
    CHECK_HAS(p->said, "res(c2,three)");
    CHECK_HAS(p->said, "denied");
    call(p, s, "c5", "read", "{'path':'a.c'}", "five");
    pot_build(p, s);
    CHECK_HAS(p->said, "res(c2,[The result was cleared");
    CHECK_HAS_NOT(p->said, "denied");
    CHECK_HAS(p->said, "res(c5,five)");
    reads.tools = VLS_STR("[]");
    CHECK_RC(VALISE_E_INVALID, pot_try(p, s));
    reads.tools = VLS_STR("{\"read\":1}");
    CHECK_RC(VALISE_E_INVALID, pot_try(p, s));
}

TEST(policy, huge_results_are_cut_between_characters)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    vls_policy_cut cut = {.over = 300, .head = 7, .tail = 5};
    char text[1024] = "";

    pot_say(p, s, "user", "go");
    for (int i = 0; i < 300; i++)
        memcpy(text + (size_t)2 * (size_t)i, "\xc3\xa4", 3);
    call(p, s, "c0", "ls", "{}", text);
    call(p, s, "c1", "ls", "{}", "short");
    p->ask.policies.cut_results = &cut;
    pot_build(p, s);
    CHECK_HAS(
        p->said,
        "res(c0,\xc3\xa4\xc3\xa4\xc3\xa4\n[590 bytes are left out here; the whole is in turn ");
    CHECK_HAS(p->said, "]\n\xc3\xa4\xc3\xa4)");
    CHECK_HAS(p->said, "res(c1,short)");
    /* What stays is all of it. */
    cut = (vls_policy_cut){.over = 300, .head = 400, .tail = 400};
    pot_build(p, s);
    CHECK_HAS_NOT(p->said, "left out here");
}

/* ---- append only ---- */

static bool has_edit(const vls_part *part, const vls_prompt_edit *edit)
{
    for (size_t i = 0; i < part->edits.len; i++)
        if (part->edits.ptr[i].kind == edit->kind && part->edits.ptr[i].block == edit->block &&
            part->edits.ptr[i].inner == edit->inner)
            return true;
    return false;
}

static void next_turn(pot *p, const char *s, test_rng *random, int i, bool *calls)
{
    static const char *const files[] = {"a", "b", "c"};
    int words = 1 + (int)test_random_below(random, 60);

    if (*calls) {
        pot_say(p, s, "tool",
                test_format("[{'type':'tool_result','callId':'c%d','content':'%.*s'}]", i - 1,
                            words * 5, long_text));
        *calls = false;
    } else if (test_random_below(random, 4) == 0) {
        pot_say(p, s, "user", "more");
    } else {
        pot_say(p, s, "assistant",
                test_format("[{'type':'thinking','text':'%.*s'},{'type':'tool_use','callId':'c%d',"
                            "'name':'read','args':{'path':'%s'}}]",
                            words, long_text, i, files[test_random_below(random, 3)]));
        *calls = true;
    }
}

/* For paths p and p+1: what is edited in one build is edited in the next. [P14] */
TEST(policy, edits_only_grow)
{
    uint64_t seed = test_seed();
    vls_policy_results clear = {.keep = 3, .at_least = 150};
    vls_policy_thinking drop = {.keep = 1, .at_least = 40};
    vls_policy_reads reads = {.tools = VLS_STR("{\"read\":\"path\"}"), .at_least = 90};
    vls_policy_cut cut = {.over = 256, .head = 50, .tail = 20};

    for (int round = 0; round < 6; round++) {
        pot *p = pot_open(t);
        const char *s = pot_session(p, "");
        test_rng random = test_rng_new(seed + (uint64_t)round);
        vls_parts before = VLS_VEC_INIT, now = VLS_VEC_INIT;
        bool calls = false;
        size_t edits = 0;

        p->ask.policies = (vls_policies){&clear, &drop, &reads, &cut};
        pot_say(p, s, "user", "go");
        for (int i = 0; i < 50; i++) {
            next_turn(p, s, &random, i, &calls);
            p->also = &now;
            pot_build(p, s);
            for (size_t k = 0; k < before.len; k++)
                for (size_t e = 0; e < before.ptr[k].edits.len; e++, edits++) {
                    const vls_prompt_edit *edit = &before.ptr[k].edits.ptr[e];

                    /* One that was cut may be cleared later. */
                    CHECK_MSG(has_edit(&now.ptr[k], edit) || edit->kind == VLS_EDIT_CUT,
                              "seed %llu round %d turn %d", (unsigned long long)seed, round, i);
                }
            before = now;
            now = (vls_parts)VLS_VEC_INIT;
        }
        CHECK(edits > 0);
    }
}
