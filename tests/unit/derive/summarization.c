/* summarization.c -- the policy summarization, and texts as sentences. [C17] */
#include <locale.h>
#include <time.h>

#include "derive/kit.h"

#include "base/utf8.h"
#include "derive/outline.h"

/* ---- outlines ---- */

/* Title and sentences, one a line; "*" in front of a title that is the first sentence. */
static const char *outline(test *t, const char *text)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf out = {0};
    vls_outline o;

    vls_arena_init(&arena, t->env, 64 << 20);
    vls_buf_init(&out, t->env, 64 << 20);
    CHECK_OK(vls_outline_read(&o, &arena, valise_str_of(text), &t->err));
    vls_buf_add_text(&out, o.title.ptr ? o.led ? "*" : "" : "(none)");
    vls_buf_add(&out, o.title);
    for (size_t i = 0; i < o.sentences.len; i++) {
        vls_buf_add_byte(&out, '\n');
        vls_buf_add(&out, o.sentences.ptr[i]);
    }
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&out)));
}

TEST(outline, sentences)
{
    CHECK_TEXT("*One.\nOne.\nTwo!\nThree?\n\"Yes.\"\nFour",
               outline(t, "One. Two! Three?\n\"Yes.\"  Four"));
    CHECK_TEXT("*It goes on, e.g. here, to 3.14 and a.b; then it ends.\n"
               "It goes on, e.g. here, to 3.14 and a.b; then it ends.\nNext",
               outline(t, "It goes on, e.g. here, to 3.14\r\n and\ta.b; then it ends. Next\r\n"));
    CHECK_TEXT("*What?!\nWhat?!\nA (b.)\nC", outline(t, "What?! A (b.) C"));
    CHECK_TEXT("*a b.c\na b.c", outline(t, "a\nb.c"));
    CHECK_TEXT("*\xe6\x97\xa5\xe3\x80\x82\n\xe6\x97\xa5\xe3\x80\x82\n\xe6\x9c\xac\xef\xbc\x9f",
               outline(t, "\xe6\x97\xa5\xe3\x80\x82\xe6\x9c\xac\xef\xbc\x9f"));
}

TEST(outline, lines)
{
    CHECK_TEXT("Title\nOne two.\nitem one\nitem two goes on\nthird\n| row | x |",
               outline(t, "#   Title \nOne\ntwo.\n- item one\n* item two\n  goes on\n12) third\n"
                          "| row | x |\n|---|---|\n## Other\n---\n"));
    CHECK_TEXT("*#no heading\n#no heading\n####### nor this",
               outline(t, "#no heading\n\n####### nor this"));
    CHECK_TEXT("*before\nbefore\nafter",
               outline(t, "before\n```c\nint x; // ~~~\n~~~\n# no\n```\nafter\n~~~\nhidden"));
    CHECK_TEXT("*-1 is less\n-1 is less", outline(t, "-1 is less"));
}

TEST(outline, titles_there_are_where_there_are_no_sentences)
{
    CHECK_TEXT("(none)", outline(t, ""));
    CHECK_TEXT("(none)", outline(t, "\r\n \t\n"));
    CHECK_TEXT("{}", outline(t, "\n {} \n--\n"));
    CHECK_TEXT("int x", outline(t, "```\nint  x\n```\n"));
    CHECK_TEXT("A B", outline(t, "# A \t B"));
}

/* [C17] What policies wrote below does not compete. */
TEST(outline, lines_of_policies_are_not_there)
{
    CHECK_TEXT("(none)", outline(t, "[empty directory]\n"));
    CHECK_TEXT("(none)", outline(t, "[nothing is known about what is in this directory]\n"));
    CHECK_TEXT("*Parser\nParser\nIt reads.\nOther",
               outline(t, "## a.c (summary, local, 5 of 10 bytes)\n\nParser\n\n- It reads.\n\n"
                          "## b (summary, local, 0 of 3 bytes)\n\n[no text, 3 bytes]\n\n"
                          "## c (summary, local, 5 bytes)\n\nOther\n\n"
                          "[cut at 256 bytes: 1 of 4 inputs left out]\n"));
}

TEST(outline, long_titles_are_cut_between_characters)
{
    char text[400] = "# a";

    for (size_t i = 3; i + 2 < sizeof(text); i += 2)
        memcpy(text + i, "\xc3\xa4", 2);
    CHECK_INT(160, strlen(outline(t, text)));
    CHECK(vls_utf8_valid(valise_str_of(outline(t, text))));
}

/* What takes long must not take long squared. */
TEST(outline, hostile_texts)
{
    static const char *const pieces[] = {".",     ". ", "A. ",          "\"'",   "a.b",
                                         "- a\n", "\n", "```\n",        "# a\n", "## a (",
                                         " ",     "1",  "\xe3\x80\x82", "|\n"};

    for (size_t i = 0; i < VLS_COUNT(pieces); i++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        VLS_AUTO(buf) vls_buf text = {0};
        vls_outline o;
        vls_arena_init(&arena, t->env, 64 << 20);
        vls_buf_init(&text, t->env, 8 << 20);
        vls_buf_add(&text, VLS_STR("a"));
        while (text.len < 1 << 20)
            vls_buf_add_text(&text, pieces[i]);
        vls_buf_add(&text, VLS_STR("x")); /* what looked like an end was none */
        CHECK_OK(vls_outline_read(&o, &arena, vls_buf_str(&text), &t->err));
        CHECK(o.sentences.len <= VLS_OUTLINE_SENTENCES_MAX);
    }
}

/* ---- summaries ---- */

static const kit_input sources[] = {
    {"buf.c",
     KIT_TEXT(
         "# Buffers\n\nA buffer is born with a maximum. Appending after a failure does nothing, "
         "so a\nwriter may append a hundred times and ask once. The buffer grows by half.\n\n"
         "- Growing moves its memory.\n- The maximum is checked before anything else.\n"
         "\n```c\nvls_buf_add(&buf, s);\n```\n\nThat is all there is to it.\n"),
     false, NULL, NULL},
    {"logo.png", KIT_TEXT("\x89PNG\0"), false, NULL, NULL},
    {"map.c",
     KIT_TEXT("A hash table of pointers to the items of the caller.\r\nThe table stores no keys: "
              "an item\r\ncarries its own. The caller hashes, so a hash is computed once even "
              "where several tables use it.\r\nItems are never NULL. See the header.\r\n"),
     false, NULL, NULL},
    {"json",
     KIT_TEXT(
         "## read.c (summary, local, 10 of 20 bytes)\n\nReading JSON\n\n- Every refusal says "
         "why and at which byte.\n\n## write.c (summary, local, 0 bytes)\n\n[cut at 256 bytes: "
         "1 of 3 inputs left out]\n"),
     true, NULL, NULL},
    {"none", KIT_TEXT(""), false, NULL, NULL},
    {"sub", KIT_TEXT("[empty directory]\n"), true, NULL, NULL},
};

TEST(summarization, of_a_few_files)
{
    kit k = {.inputs = sources, .count = VLS_COUNT(sources)};

    CHECK_GOLDEN("unit/derive/golden/summary.txt", kit_make(t, &k, &vls_policy_summarization));
    k.budget = 700;
    CHECK_GOLDEN("unit/derive/golden/summary-700.txt", kit_make(t, &k, &vls_policy_summarization));
    k.budget = 256;
    CHECK_GOLDEN("unit/derive/golden/summary-256.txt", kit_make(t, &k, &vls_policy_summarization));
}

/* A summary of summaries, and of a concatenation of them: none of our own lines is a sentence. */
TEST(summarization, of_what_policies_wrote)
{
    kit low = {.inputs = sources, .count = VLS_COUNT(sources)}, high;
    kit_input dirs[2];
    valise_str out;

    dirs[0] = (kit_input){"base", kit_make(t, &low, &vls_policy_summarization), true, NULL, NULL};
    dirs[1] = (kit_input){"cat", kit_make(t, &low, &vls_policy_concatenation), true, NULL, NULL};
    high = (kit){.inputs = dirs, .count = 2};
    out = kit_make(t, &high, &vls_policy_summarization);
    CHECK_GOLDEN("unit/derive/golden/summary-of-summaries.txt", out);
    CHECK(vls_str_find(out, VLS_STR("buf.c (")) == out.len);
    CHECK(vls_str_find(out, VLS_STR("[cut")) == out.len);
    CHECK(vls_str_find(out, VLS_STR("[no text")) == out.len);
}

/* The word that only this input has makes its sentence the telling one. */
TEST(summarization, what_is_rare_tells_more)
{
    static const kit_input inputs[] = {
        {"a",
         KIT_TEXT("# A\nCommon words stand here today. Zeppelin engines stand here today. "
                  "Common words stand here twice."),
         false, NULL, NULL},
        {"b", KIT_TEXT("# B\nCommon words stand here today. Common words stand here twice."), false,
         NULL, NULL},
        {"c", KIT_TEXT("# C\nCommon words stand here today. Common words stand here twice."), false,
         NULL, NULL},
    };
    kit k = {.inputs = inputs, .count = 3, .budget = 256};
    valise_str out = kit_make(t, &k, &vls_policy_summarization);

    CHECK(vls_str_find(out, VLS_STR("- Zeppelin engines")) < out.len);
}

TEST(summarization, equal_sentences_are_there_once_and_in_their_order)
{
    static const kit_input inputs[] = {
        {"a", KIT_TEXT("# T\nAlpha beta. Gamma delta. Alpha beta. Epsilon zeta. T"), false, NULL,
         NULL},
    };
    kit k = {.inputs = inputs, .count = 1};

    CHECK_STR(
        VLS_STR("## a (summary, local, 47 of 56 bytes)\n\nT\n\n- Alpha beta.\n- Gamma delta.\n"
                "- Epsilon zeta.\n"),
        kit_make(t, &k, &vls_policy_summarization));
}

/* Equal texts have equal shares but for single bytes; who is twice as long gets twice as much. */
TEST(summarization, the_budget_is_shared_by_size)
{
    VLS_AUTO(buf) vls_buf text = {0};
    kit_input inputs[2];
    kit k = {.inputs = inputs, .count = 2, .budget = 3000};
    valise_str out;
    size_t second;

    vls_buf_init(&text, t->env, 1 << 20);
    for (int i = 0; i < 400; i++)
        vls_buf_printf(&text, "Fact %03d is told. ", i);
    inputs[0] = (kit_input){"a", vls_str(text.ptr, text.len / 3), false, NULL, NULL};
    inputs[1] = (kit_input){"b", vls_buf_str(&text), false, NULL, NULL};
    out = kit_make(t, &k, &vls_policy_summarization);
    CHECK(out.len <= 3000 && out.len > 2950);
    second = vls_str_find(out, VLS_STR("\n## b"));
    CHECK(second > 680 && second < 780);
}

/* Titles come before sentences, and in order. */
TEST(summarization, every_input_has_its_title_while_the_budget_lasts)
{
    kit_input inputs[40];
    kit k = {.inputs = inputs, .count = VLS_COUNT(inputs), .budget = 1024};
    valise_str out;

    for (size_t i = 0; i < VLS_COUNT(inputs); i++)
        inputs[i] = (kit_input){test_format("%02zu", i),
                                valise_str_of(test_format("# Title %zu\nA sentence is here.", i)),
                                false, NULL, NULL};
    out = kit_make(t, &k, &vls_policy_summarization);
    CHECK(out.len <= 1024);
    CHECK(vls_str_find(out, VLS_STR("\nTitle 0\n")) < out.len);
    CHECK(vls_str_find(out, VLS_STR("\nTitle 17\n")) < out.len);
    CHECK(vls_str_ends(out, VLS_STR("\n[cut at 1024 bytes: 21 of 40 inputs left out]\n")));
    /* The rest is not read: one more, to see that there is no room for it. */
    CHECK(k.reads <= 20);
}

/* What lies behind the part that is looked at makes no difference. */
TEST(summarization, looks_at_a_bounded_part)
{
    kit_input inputs[20000];
    kit k = {.inputs = inputs, .count = VLS_COUNT(inputs), .budget = 4096};
    char *text = test_alloc(2001), *same = test_alloc(2001);
    valise_str first, second;

    memset(text, 'x', 2000);
    memcpy(text, "# T\nWords. ", 11);
    memcpy(text + 1023, "\xc3\xa4", 2); /* over the end of the part */
    memcpy(same, text, 2000);
    memcpy(same + 1500, "\xff\0 Other words here. ", 21);
    for (size_t i = 0; i < VLS_COUNT(inputs); i++)
        inputs[i] = (kit_input){"n", vls_str(text, 2000), false, NULL, NULL};
    first = kit_make(t, &k, &vls_policy_summarization);
    inputs[0].content = vls_str(same, 2000);
    second = kit_make(t, &k, &vls_policy_summarization);
    CHECK_STR(first, second);
    memset(same, '\x80', 2000);
    inputs[0].content = vls_str(same, 2000);
    second = kit_make(t, &k, &vls_policy_summarization);
    CHECK(vls_str_starts(second, VLS_STR("## n (summary, local, 0 of 2000 bytes)\n\n[no text, ")));
}

/* ---- all policies, at random ---- */

TEST(policy, keeps_its_promises_at_random)
{
    test_rng rng = test_rng_new(test_seed());

    for (int round = 0; round < 300; round++) {
        bool text = test_random_below(&rng, 2) == 0;
        kit k = kit_random(&rng, text);
        for (size_t p = 0; vls_policies[p]; p++) {
            valise_str out = kit_make(t, &k, vls_policies[p]);
            CHECK(out.len > 0 && out.len <= (size_t)k.budget);
            CHECK(vls_utf8_valid(out));
            CHECK(out.ptr[out.len - 1] == '\n');
            CHECK_STR(out, kit_make(t, &k, vls_policies[p]));
        }
    }
}

/* [C18] Whatever the process is set to. */
TEST(policy, is_the_same_in_every_locale_and_time_zone)
{
    static const char *const locales[] = {"C",           "",     "C.UTF-8", "en_US.UTF-8",
                                          "tr_TR.UTF-8", "POSIX"};
    static const char *const zones[] = {"UTC", "Asia/Tokyo", "America/New_York"};
    kit k = {.inputs = sources, .count = VLS_COUNT(sources), .budget = 700};
    valise_str expected[3];

    for (size_t p = 0; vls_policies[p]; p++)
        expected[p] = kit_make(t, &k, vls_policies[p]);
    for (size_t round = 0; round < 100; round++) {
        (void)setlocale(LC_ALL, locales[round % VLS_COUNT(locales)]);
        CHECK_INT(0, setenv("TZ", zones[round % VLS_COUNT(zones)], 1));
        tzset();
        for (size_t p = 0; vls_policies[p]; p++)
            CHECK_STR(expected[p], kit_make(t, &k, vls_policies[p]));
    }
    (void)setlocale(LC_ALL, "C");
    CHECK_INT(0, unsetenv("TZ"));
}
