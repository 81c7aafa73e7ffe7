/* trim.c -- where a history begins when it does not fit. [P7] [P14] */
#include "prompt/kit.h"

#include "harness/support.h"
#include "prompt/trim.h"

TEST_PARAMS(window, "memory", "sqlite")

TEST(trim, round_numbers)
{
    CHECK_INT(0, vls_trim_round(0, 9));
    CHECK_INT(8, vls_trim_round(5, 11));
    CHECK_INT(96, vls_trim_round(90, 100));
    CHECK_INT(7, vls_trim_round(7, 7));
    for (int64_t from = 0; from < 200; from++) {
        for (int64_t to = from; to < 200; to++) {
            int64_t best = from, zeros = -1;

            for (int64_t n = from; n <= to; n++) {
                int64_t z = n == 0 ? 64 : __builtin_ctzll((uint64_t)n);

                if (z > zeros) {
                    best = n;
                    zeros = z;
                }
            }
            CHECK_INT(best, vls_trim_round(from, to));
        }
    }
}

/* ---- random conversations, without a store ---- */

typedef struct walk {
    test *t;
    vls_arena arena;
    vls_vec(vls_part) parts;
    vls_vec(vls_place_of) places;
    uint64_t calls;
} walk;

static void add(walk *w, int says, const char *blocks, int64_t tokens)
{
    test *t = w->t;
    vls_part part = {.kind = VLS_PART_TURN, .says = (uint8_t)says, .tokens = tokens};

    CHECK_OK(
        vls_json_parse(&part.value, &w->arena, valise_str_of(pot_quote(blocks)), NULL, &t->err));
    CHECK(vls_vec_push_in(&w->parts, &w->arena, part));
    CHECK(
        vls_vec_push_in(&w->places, &w->arena, (vls_place_of){.position = (int64_t)w->places.len}));
}

/* A question, some calls and their results (some of them late, some never), an answer. */
static void converse(walk *w, test_rng *random)
{
    uint64_t rounds = test_random_below(random, 4);

    add(w, VLS_SAYS_USER, "[{'type':'text','text':'q'}]",
        10 + (int64_t)test_random_below(random, 200));
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t first = w->calls, count = 1 + test_random_below(random, 3);

        w->calls += count;
        for (uint64_t c = 0; c < count; c++)
            add(w, VLS_SAYS_ASSISTANT,
                test_format("[{'type':'tool_use','callId':'c%llu','name':'x','args':{}}]",
                            (unsigned long long)(first + c)),
                20);
        /* The user may speak in between. */
        if (test_random_below(random, 5) == 0)
            add(w, VLS_SAYS_USER, "[{'type':'text','text':'hurry'}]", 5);
        for (uint64_t c = 0; c < count; c++)
            if (test_random_below(random, 10) > 0)
                add(w, VLS_SAYS_TOOL,
                    test_format("[{'type':'tool_result','callId':'c%llu','content':'r'}]",
                                (unsigned long long)(first + c)),
                    (int64_t)test_random_below(random, 300));
    }
    add(w, VLS_SAYS_ASSISTANT, "[{'type':'text','text':'a'}]", 30);
}

static bool has_call(const walk *w, size_t from, size_t to, valise_str id)
{
    for (size_t i = from; i < to; i++) {
        vls_json block = w->parts.ptr[i].value.items[0];
        const vls_json *of = vls_json_get(block, VLS_STR("callId"));

        if (of && w->parts.ptr[i].says == VLS_SAYS_ASSISTANT &&
            vls_str_equal(vls_json_str(*of), id))
            return true;
    }
    return false;
}

/* No call is separated from its result, and what is sent fits. [P7] */
TEST(trim, never_separates_a_call_from_its_result)
{
    uint64_t seed = test_seed();

    for (int round = 0; round < 200; round++) {
        test_rng random = test_rng_new(seed + (uint64_t)round);
        walk w = {.t = t};
        int64_t room = 100 + (int64_t)test_random_below(&random, 3000), sum = 0;
        size_t first;

        vls_arena_init(&w.arena, t->env, SIZE_MAX);
        for (int i = 0; i < 15; i++)
            converse(&w, &random);
        CHECK_OK(vls_trim_opens(w.places.ptr, w.parts.ptr, w.parts.len, true, &w.arena, &t->err));
        first = vls_trim(w.places.ptr, w.parts.ptr, w.parts.len, true, room);
        for (size_t i = first; i < w.parts.len; i++) {
            const vls_json *id = vls_json_get(w.parts.ptr[i].value.items[0], VLS_STR("callId"));

            sum += w.parts.ptr[i].tokens;
            if (id && w.parts.ptr[i].says == VLS_SAYS_TOOL)
                CHECK_MSG(has_call(&w, first, i, vls_json_str(*id)), "seed %llu round %d",
                          (unsigned long long)seed, round);
        }
        CHECK_MSG(sum <= room, "seed %llu round %d", (unsigned long long)seed, round);
        vls_arena_release(&w.arena);
    }
}

static void work(walk *w, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        unsigned long long id = w->calls++;

        add(w, VLS_SAYS_ASSISTANT,
            test_format("[{'type':'tool_use','callId':'c%llu','name':'x','args':{}}]", id), 20);
        add(w, VLS_SAYS_TOOL,
            test_format("[{'type':'tool_result','callId':'c%llu','content':'r'}]", id), 30);
    }
}

static size_t first_of(walk *w, bool whole, int64_t room)
{
    test *t = w->t;

    CHECK_OK(vls_trim_opens(w->places.ptr, w->parts.ptr, w->parts.len, whole, &w->arena, &t->err));
    return vls_trim(w->places.ptr, w->parts.ptr, w->parts.len, whole, room);
}

/* An agent that works for long on one question is cut between two rounds; and when the user says a
 * word at the end, the work before it is not given up for that. [P7] */
TEST(trim, long_work_is_cut_between_rounds)
{
    walk w = {.t = t};
    size_t first;

    vls_arena_init(&w.arena, t->env, SIZE_MAX);
    add(&w, VLS_SAYS_USER, "[{'type':'text','text':'q'}]", 10);
    work(&w, 40);
    first = first_of(&w, true, 1000);
    CHECK(first > 0 && first < w.parts.len);
    CHECK_INT(VLS_SAYS_ASSISTANT, w.parts.ptr[first].says);
    CHECK(w.parts.len - first >= 20);
    add(&w, VLS_SAYS_USER, "[{'type':'text','text':'go on'}]", 10);
    first = first_of(&w, true, 1000);
    CHECK_INT(VLS_SAYS_ASSISTANT, w.parts.ptr[first].says);
    CHECK(w.parts.len - first >= 20);
    /* Where the user spoke in the first half, it begins there. */
    work(&w, 12);
    first = first_of(&w, true, 1000);
    CHECK_INT(VLS_SAYS_USER, w.parts.ptr[first].says);
    CHECK_INT(VLS_OPENS_WELL, w.places.ptr[first].opens);
    vls_arena_release(&w.arena);
}

/* A call that was not read may be before the result, so it begins behind that; unless it could
 * begin nowhere then. [P7] */
TEST(trim, a_result_whose_call_was_not_read_is_not_the_first)
{
    walk w = {.t = t};

    vls_arena_init(&w.arena, t->env, SIZE_MAX);
    add(&w, VLS_SAYS_TOOL, "[{'type':'tool_result','callId':'a','content':'r'}]", 200);
    add(&w, VLS_SAYS_USER,
        "[{'type':'tool_result','callId':'b','content':'r'},{'type':'text','text':'go on'}]", 10);
    CHECK_INT(1, (int)first_of(&w, true, 100)); /* nobody ever called */
    CHECK_INT(1, (int)first_of(&w, false, 100));
    CHECK_INT(VLS_OPENS_BLIND, w.places.ptr[1].opens);
    add(&w, VLS_SAYS_ASSISTANT, "[{'type':'text','text':'a'}]", 10);
    CHECK_INT(1, (int)first_of(&w, true, 100));
    CHECK_INT(2, (int)first_of(&w, false, 100));
    vls_arena_release(&w.arena);
}

/* Over 2,000 turns with a full window the beginning stays for many turns. [P14] */
TEST(trim, the_beginning_stays_for_many_turns)
{
    walk w = {.t = t};
    int64_t position = 0;
    int moves = 0;

    vls_arena_init(&w.arena, t->env, SIZE_MAX);
    for (int i = 0; i < 2000; i++) {
        size_t first;

        add(&w, i % 2 ? VLS_SAYS_ASSISTANT : VLS_SAYS_USER, "[{'type':'text','text':'x'}]", 100);
        CHECK_OK(vls_trim_opens(w.places.ptr, w.parts.ptr, w.parts.len, true, &w.arena, &t->err));
        first = vls_trim(w.places.ptr, w.parts.ptr, w.parts.len, true, 10000);
        if (first > 0) {
            CHECK(first < w.parts.len);
            CHECK(w.places.ptr[first].position >= position);
            /* At least half of what fits is sent. */
            CHECK(w.parts.len - first >= 50);
        }
        moves += w.places.ptr[first].position != position;
        position = w.places.ptr[first].position;
    }
    /* 1,900 turns beyond a window of 100: about once in 16 of them at the most. */
    CHECK_MSG(moves <= 125, "%d moves", moves);
    vls_arena_release(&w.arena);
}

/* ---- through the whole of it ---- */

TEST(window, the_oldest_go_first_and_are_told)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");

    for (int i = 0; i < 40; i++)
        pot_say(p, s, i % 2 ? "assistant" : "user",
                test_format("number %d and some more words to make it longer", i));
    p->ask.window = 400;
    p->ask.reserve = 100;
    pot_build(p, s);
    CHECK_HAS(p->said, "number 39");
    CHECK_HAS_NOT(p->said, "number 0 ");
    CHECK(p->trimmed > 0);
    CHECK_INT(300, p->budget.limit);
    CHECK(p->budget.used <= 300);
    CHECK_HAS(p->left, ": does not fit");
    /* What the model counts for one of ours makes it less. */
    {
        int64_t before = p->trimmed;

        p->ask.scale = 24;
        pot_build(p, s);
        CHECK(p->trimmed > before);
        CHECK(p->budget.used <= 300);
    }
}

TEST(window, the_last_turns_do_not_fit)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");

    pot_say(p, s, "user", "short");
    pot_say(p, s, "user",
            "a long text a long text a long text a long text a long text a long text a long text");
    p->ask.window = 12;
    CHECK_RC(VALISE_E_LIMIT, pot_try(p, s));
    CHECK_HAS(t->err.message, "the last turns take");
    CHECK_HAS(t->err.message, "there is room for 12 tokens");
}

/* What is sent counts, and what is not sent does not. [P7] [P16] */
TEST(window, what_counts_is_what_is_sent)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    const char *much = test_format("%04000d", 7);

    pot_say(p, s, "user", "hi");
    pot_say(p, s, "assistant",
            test_format("[{'type':'odd','text':'%s'},{'type':'text','text':'a'}]", much));
    p->ask.window = 300;
    pot_build(p, s);
    CHECK_HAS_NOT(p->wire, much);
    pot_say(p, s, "assistant",
            test_format("[{'type':'tool_use','callId':'c','name':'f','args':{},'rawArgs':'%s'}]",
                        much));
    CHECK_RC(VALISE_E_LIMIT, pot_try(p, s));
}

/* A long path: with a window only its end is read. */
TEST(window, a_long_path_is_read_from_its_end)
{
    pot *p = pot_open(t);
    const char *s = pot_session(p, "");
    int64_t count = strcmp(t->param, "memory") == 0 ? 20000 : 2000;

    test_unwatched();
    for (int64_t i = 0; i < count; i++)
        pot_say(p, s, i % 2 ? "assistant" : "user", test_format("number %lld", (long long)i));
    p->ask.window = 2000;
    pot_build(p, s);
    CHECK(p->trimmed > count - 400);
    CHECK(p->left_turns < 400);
    CHECK_HAS(p->said, test_format("number %lld", (long long)count - 1));
}
