/* memory.c -- stage 2: entries by topics, ranked; stable ones and the tail. [P2] [P14] */
#include "prompt/kit.h"

#include <valise/sys/extension.h>

#include "prompt/rank.h"

TEST_PARAMS(memory, "memory", "sqlite")

static void remember(pot *p, const char *key, const char *text, const char *topics)
{
    (void)pot_do(p, "context:add", "{'key':'%s','text':'%s','topics':[%s]}", key, text, topics);
}

TEST(memory, topics_choose_and_age_says_where)
{
    pot *p = pot_open(t);
    const char *s;

    remember(p, "z", "old z", "'parcels'");
    remember(p, "a", "old a", "'parcels'");
    remember(p, "law", "old law", "'law'");
    s = pot_session(p, "'parcels'");
    pot_say(p, s, "user", "where is it?");
    remember(p, "new", "new one", "'parcels'");
    pot_build(p, s);
    /* Older ones before the history, by key; what came since behind it. */
    CHECK_TEXT("U[Memory a:\nold a|Memory z:\nold z] U[where is it?] U[Memory new:\nnew one]",
               p->said);
    CHECK_INT(1, p->context);
    CHECK_INT(1, p->history);
    (void)pot_do(p, "context:update", "{'key':'a','text':'changed'}");
    pot_build(p, s);
    CHECK_HAS(p->said, "U[Memory z:\nold z] U[where is it?]");
    CHECK_HAS(p->said, "Memory a:\nchanged");
}

/* Topics first, then how well it answers the question, then the newest. */
TEST(memory, the_order_of_the_tail)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "'a','b'");

    pot_say(p, s, "user", "the green tree in the garden");
    remember(p, "one", "nothing about it", "'a'");
    remember(p, "two", "a green tree stands in the garden", "'a'");
    remember(p, "three", "green", "'a'");
    remember(p, "four", "nothing either", "'a','b'");
    remember(p, "five", "nothing about that", "'a'");
    pot_build(p, s);
    CHECK_HAS(p->parts,
              "tail entry four|tail entry two|tail entry three|tail entry five|tail entry one");
    p->ask.query = VLS_STR("about that");
    pot_build(p, s);
    CHECK_HAS(p->parts, "tail entry four|tail entry five|tail entry one");
}

/* [P7]: the share of the tail cuts the worst; what is cut is told. */
TEST(memory, a_budget_cuts)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "'a'");

    pot_say(p, s, "user", "apple");
    remember(p, "good", "apple apple apple apple apple apple apple", "'a'");
    remember(p, "bad", "pear pear pear pear pear pear pear pear pear", "'a'");
    p->ask.window = 200;
    p->ask.tail_share = 20;
    pot_build(p, s);
    CHECK_HAS(p->parts, "tail entry good");
    CHECK_HAS_NOT(p->parts, "tail entry bad");
    CHECK_HAS(p->left, "entry bad: does not fit");
    CHECK(p->budget.used <= p->budget.limit);
    CHECK_INT(200, p->budget.limit);
}

/* Expiry is held against the time of the build, which is an input. */
TEST(memory, what_is_over)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "'a'");

    pot_say(p, s, "user", "hi");
    (void)pot_do(p, "context:add",
                 "{'key':'k','text':'x','topics':['a'],'expires':'2100-01-01T00:00:00Z'}");
    pot_build(p, s);
    CHECK_HAS(p->parts, "tail entry k");
    p->ask.time = INT64_C(4200000000000000000); /* 2103 */
    pot_build(p, s);
    CHECK_HAS_NOT(p->parts, "entry k");
}

TEST(memory, an_erased_entry_says_nothing)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "'a'");

    pot_say(p, s, "user", "hi");
    remember(p, "k", "secret", "'a'");
    (void)pot_do(p, "context:erase", "{'key':'k','reason':'r'}");
    pot_build(p, s);
    CHECK_HAS_NOT(p->neutral, "secret");
    CHECK_HAS_NOT(p->neutral, "Memory");
}

/* Nobody gets what they may not read. */
TEST(memory, who_may_not_read_it)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "'a'");

    (void)pot_do(p, "agent:add",
                 "{'id':'guest','role':'none','capabilities':['session:read','role:read']}");
    pot_say(p, s, "user", "hi");
    remember(p, "k", "for members", "'a'");
    (void)pot_do(p, "preference:add", "{'content':'for members too'}");
    pot_build(p, s);
    CHECK_HAS(p->neutral, "for members too");
    p->actor = "guest";
    pot_build(p, s);
    CHECK_HAS_NOT(p->neutral, "for members");
    CHECK_HAS_NOT(p->left, " k:");
    CHECK_HAS(p->left, "entry : may not be read");
    CHECK_HAS(p->left, "preference : may not be read");
}

/* ---- another retriever ---- */

/* Short ones first, and none that speaks of pears. */
static int shortest(int64_t *scores, void *self, valise_str question,
                    const valise_candidate *candidates, size_t count, valise_error *err)
{
    (void)self;
    (void)err;
    CHECK(vls_str_equal(question, VLS_STR("what?")));
    for (size_t i = 0; i < count; i++) {
        CHECK(candidates[i].overlap == 1 && candidates[i].updated > 0);
        scores[i] = vls_str_equal(candidates[i].text, VLS_STR("pear"))
                        ? -1
                        : 1000 - (int64_t)candidates[i].text.len;
    }
    return 0;
}
static const valise_retriever by_length = {
    .size = sizeof(valise_retriever), .name = "toy.short", .version = 3, .rank = shortest};
static const valise_retriever *const retrievers[] = {&by_length, NULL};
static const valise_extension toy_package = {.size = sizeof(valise_extension),
                                             .abi = VALISE_EXTENSION_ABI,
                                             .name = "toy",
                                             .version = "1",
                                             .retrievers = retrievers};

TEST(memory, the_retriever_is_replaceable)
{
    const valise_extension *extensions[] = {&toy_package, NULL};
    valise_options o = VALISE_OPTIONS_INIT;
    pot *p = pot_open(t);
    const char *s;

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    valise_close(p->k->v); /* the other one is closed in its place */
    p->k->v = NULL;
    CHECK_OK(valise_open(&p->k->v, test_format("%s/other", test_tmpdir()), &o, &t->err));
    s = pot_session(p, "'a'");
    pot_say(p, s, "user", "what?");
    remember(p, "long", "what a long text", "'a'");
    remember(p, "pear", "pear", "'a'");
    remember(p, "short", "x", "'a'");
    p->ask.retriever = VLS_STR("toy.short");
    pot_build(p, s);
    CHECK_HAS(p->parts, "tail entry short|tail entry long");
    CHECK_TEXT("entry pear: the retriever does not want it", p->left);
    p->ask.retriever = VLS_STR("toy.none");
    CHECK_RC(VALISE_E_NOT_FOUND, pot_try(p, s));
}

/* ---- the scorer ---- */

TEST(rank, scores_by_rare_words_and_length)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const valise_str texts[] = {VLS_STR("the cat"), VLS_STR("the dog"), VLS_STR("the the the"),
                                VLS_STR("a cat and a very long text about many other things"),
                                VLS_STR("\xe7\x8c\xab\xe3\x81\x8c\xe5\xa5\xbd\xe3\x81\x8d")};
    int64_t scores[5];

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(vls_rank(scores, texts, 5, VLS_STR("CAT"), &arena, &t->err));
    CHECK(scores[0] > scores[3] && scores[3] > 0);
    CHECK_INT(0, scores[1]);
    CHECK_OK(vls_rank(scores, texts, 5, VLS_STR("the cat"), &arena, &t->err));
    CHECK(scores[0] > scores[1] && scores[1] > 0);
    /* Scripts without spaces: each character is a word. */
    CHECK_OK(vls_rank(scores, texts, 5, VLS_STR("\xe7\x8c\xab"), &arena, &t->err));
    CHECK(scores[4] > 0);
    CHECK_INT(0, scores[0]);
    CHECK_OK(vls_rank(scores, texts, 5, VLS_STR(""), &arena, &t->err));
    CHECK_INT(0, scores[0]);
}
