/* summarize.c -- summaries by choosing sentences: within their tokens, the same everywhere. [P7] */
#include "prompt/summarize.h"

#include "base/tokens.h"
#include "base/utf8.h"
#include "harness/test.h"

typedef struct told {
    vls_arena arena;
    vls_summary_turn turns[64];
    size_t count;
} told;

static void say(told *s, test *t, uint8_t who, const char *blocks)
{
    valise_str own = {NULL, 0};

    CHECK_OK(vls_arena_dup(&own, &s->arena, valise_str_of(blocks), &t->err));
    s->turns[s->count].says = who;
    CHECK_OK(vls_json_parse(&s->turns[s->count++].blocks, &s->arena, own, NULL, &t->err));
}

static valise_str shorten(told *s, test *t, int64_t target)
{
    valise_str text = {NULL, 0};

    CHECK_OK(vls_summarize(&text, &s->arena, s->turns, s->count, target, &t->err));
    return text;
}

static void begin(told *s, test *t)
{
    *s = (told){.count = 0};
    vls_arena_init(&s->arena, t->env, (size_t)256 << 20);
}

static void tell(told *s, test *t)
{
    begin(s, t);
    say(s, t, 0, "[{\"type\":\"text\",\"text\":\"Please mend the parser. It fails on dates.\"}]");
    say(s, t, 1,
        "[{\"type\":\"thinking\",\"text\":\"Secret thoughts.\"},{\"type\":\"tool_use\",\"callId\":"
        "\"1\",\"name\":\"read\",\"args\":{}},{\"type\":\"tool_use\",\"callId\":\"2\",\"name\":"
        "\"ls\",\"args\":{}},{\"type\":\"tool_use\",\"callId\":\"3\",\"name\":\"read\",\"args\":"
        "{}}]");
    say(s, t, 1, "[{\"type\":\"text\",\"text\":\"The parser takes dates apart by hand!\\nOk.\"}]");
}

TEST(summarize, says_who_and_names_tools)
{
    told s;

    tell(&s, t);
    CHECK_STR(VLS_STR("What was said before, shortened:\n"
                      "User: Please mend the parser. It fails on dates.\n"
                      "Assistant: The parser takes dates apart by hand! Ok.\n"
                      "Tools called: read (2 times), ls"),
              shorten(&s, t, 400));
    /* The one that says what it is about stays longest; thinking is never shown. */
    CHECK_STR(VLS_STR("What was said before, shortened:\nUser: Please mend the parser.\n"
                      "Tools called: read (2 times), ls"),
              shorten(&s, t, VLS_SUMMARY_TARGET_MIN));
    vls_arena_release(&s.arena);
}

TEST(summarize, takes_what_was_summarized_before)
{
    told s;
    valise_str first, again;

    tell(&s, t);
    first = shorten(&s, t, 400);
    CHECK(vls_str_find(first, VLS_STR("User: ")) < first.len);
    s.count = 0;
    say(&s, t, 0,
        "[{\"type\":\"summary\",\"text\":\"What was said before, shortened:\\nUser: The van is "
        "blue.\",\"covers\":{}}]");
    again = shorten(&s, t, 400);
    CHECK_STR(VLS_STR("What was said before, shortened:\nEarlier: User: The van is blue."), again);
    vls_arena_release(&s.arena);
}

TEST(summarize, of_nothing_is_its_head)
{
    told s;

    begin(&s, t);
    CHECK_STR(VLS_STR(VLS_SUMMARY_HEAD), shorten(&s, t, 0));
    say(&s, t, 0, "[{\"type\":\"image\",\"blob\":\"00\"},{\"type\":\"text\"}]");
    CHECK_STR(VLS_STR(VLS_SUMMARY_HEAD), shorten(&s, t, 100));
    vls_arena_release(&s.arena);
}

/* Any text at all: bytes that are no characters cannot be in blocks, but these all can. */
static void add_random(vls_buf *out, test_rng *rng)
{
    static const char *const pieces[] = {"word",
                                         "\u4e2d\u6587",
                                         "\u3002",
                                         ". ",
                                         "! ",
                                         "\n",
                                         " ",
                                         "\u00e9t\u00e9",
                                         "\U0001F600",
                                         "\u202e",
                                         "\x7f",
                                         "a",
                                         "1234567890123456789012345678901234567890",
                                         "?",
                                         "\t"};
    size_t count = test_random_below(rng, 200);

    for (size_t i = 0; i < count; i++)
        vls_buf_add_text(out, pieces[test_random_below(rng, VLS_COUNT(pieces))]);
    if (test_random_below(rng, 8) == 0)
        for (size_t i = 0; i < 3000; i++)
            vls_buf_add_text(out, "\u4e2d");
}

static void make_random(told *s, vls_json *blocks, vls_member *members, test *t, test_rng *rng)
{
    begin(s, t);
    s->count = test_random_below(rng, VLS_COUNT(s->turns));
    for (size_t i = 0; i < s->count; i++) {
        vls_buf text;
        valise_str kept = {NULL, 0};

        vls_buf_init_in(&text, &s->arena, (size_t)1 << 20);
        vls_buf_add_text(&text, "x");
        add_random(&text, rng);
        CHECK_OK(vls_buf_keep(&kept, &text, &t->err));
        members[2 * i].key = vls_json_string(VLS_STR("text"));
        members[2 * i].value = vls_json_string(kept);
        members[2 * i + 1].key = vls_json_string(VLS_STR("type"));
        members[2 * i + 1].value = vls_json_string(VLS_STR("text"));
        CHECK_OK(vls_json_object(&blocks[i], &members[2 * i], 2, &t->err));
        s->turns[i] =
            (vls_summary_turn){(uint8_t)test_random_below(rng, 4), vls_json_array(&blocks[i], 1)};
    }
}

static bool is_harmless(valise_str text)
{
    while (text.len > 0) {
        uint32_t code = 0;
        size_t n = vls_utf8_decode(&code, text.ptr, text.len);

        if (n == 0 || (code != '\n' && vls_utf8_is_control(code)))
            return false;
        text = vls_str_from(text, n);
    }
    return true;
}

TEST(summarize, keeps_to_its_tokens_whatever_was_said)
{
    test_rng rng = test_rng_new(test_seed());

    test_unwatched();
    for (int round = 0; round < 200; round++) {
        vls_json blocks[64];
        vls_member members[128];
        told s;
        int64_t target = VLS_SUMMARY_TARGET_MIN + (int64_t)test_random_below(&rng, 1000);
        valise_str one, two;

        make_random(&s, blocks, members, t, &rng);
        one = shorten(&s, t, target);
        two = shorten(&s, t, target);
        CHECK_STR(one, two);
        CHECK(vls_tokens(one) <= target);
        CHECK(is_harmless(one));
        CHECK(vls_str_starts(one, VLS_STR(VLS_SUMMARY_HEAD)));
        vls_arena_release(&s.arena);
    }
}
