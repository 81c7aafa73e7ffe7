/* concatenation.c -- the policies concatenation and filtering. [C17] */
#include "derive/kit.h"

#include "base/utf8.h"
#include "harness/fault.h"

static valise_str repeat(const char *text, size_t times)
{
    size_t len = strlen(text);
    char *room = test_alloc(len * times + 1);

    for (size_t i = 0; i < times; i++)
        memcpy(room + i * len, text, len);
    return vls_str(room, len * times);
}

TEST(concatenation, is_what_was_said_under_headings)
{
    static const kit_input inputs[] = {
        {"a.c", KIT_TEXT("Reads.\nWrites."), false, NULL, NULL},
        {"b.c", KIT_TEXT("Ends well.\n"), false, "notes", "team/w-1"},
        {"empty", KIT_TEXT(""), false, NULL, NULL},
        {"lib", KIT_TEXT("## a.c (summary, local, 3 bytes)\n\nx\r\n"), true, NULL, NULL},
        {"logo.png", KIT_TEXT("\x89PNG\r\n\x1a\n\0\0"), false, NULL, NULL},
    };
    kit k = {.inputs = inputs, .count = VLS_COUNT(inputs)};

    CHECK_GOLDEN("unit/derive/golden/concatenation.txt",
                 kit_make(t, &k, &vls_policy_concatenation));
    CHECK_STR(kit_make(t, &k, &vls_policy_concatenation), kit_make(t, &k, &vls_policy_filtering));
}

TEST(concatenation, is_cut_at_the_budget)
{
    kit_input inputs[4] = {{"a", KIT_TEXT("short"), false, NULL, NULL}};
    kit k = {.inputs = inputs, .count = 4, .budget = 256};

    inputs[1] = (kit_input){"b", repeat("long line \xc3\xa4\xc3\xb6\n", 40), false, NULL, NULL};
    inputs[2] = (kit_input){"c", KIT_TEXT("never read"), false, NULL, NULL};
    inputs[3] = inputs[2];
    CHECK_GOLDEN("unit/derive/golden/concatenation-cut.txt",
                 kit_make(t, &k, &vls_policy_concatenation));
    /* a, b, and b once more to be cut. */
    CHECK_INT(3, k.reads);
}

/* The marker takes the room of sections that were written already. */
TEST(concatenation, the_marker_counts_against_the_budget)
{
    kit_input inputs[12];
    kit k = {.inputs = inputs, .count = VLS_COUNT(inputs), .budget = 300};
    valise_str out;

    for (size_t i = 0; i < VLS_COUNT(inputs); i++)
        inputs[i] = (kit_input){test_format("%zu", i), VLS_STR("x\n"), false, NULL, NULL};
    out = kit_make(t, &k, &vls_policy_concatenation);
    CHECK(out.len <= 300);
    CHECK(vls_str_ends(out, VLS_STR("\n\n[cut at 300 bytes: 5 of 12 inputs left out]\n")));
}

/* All of it or less: at each budget around the size of the whole. */
TEST(concatenation, what_fits_exactly_is_not_cut)
{
    kit_input inputs[] = {{"a", repeat("word ", 60), false, NULL, NULL},
                          {"b", KIT_TEXT("\xff"), false, NULL, NULL},
                          {"c", repeat("\xe2\x82\xac", 50), false, NULL, NULL}};
    kit k = {.inputs = inputs, .count = VLS_COUNT(inputs)};
    valise_str whole = kit_make(t, &k, &vls_policy_concatenation);

    CHECK(whole.len > 400 && vls_str_find(whole, VLS_STR("[cut")) == whole.len);
    for (size_t budget = 256; budget < whole.len + 8; budget++) {
        valise_str out;
        k.budget = (int64_t)budget;
        out = kit_make(t, &k, &vls_policy_concatenation);
        if (budget >= whole.len) {
            CHECK_STR(whole, out);
            continue;
        }
        CHECK(out.len <= budget);
        CHECK(vls_utf8_valid(out));
        CHECK(vls_str_find(out, VLS_STR("[cut at ")) < out.len);
        /* A cut uses what there is but for the marker's room and a few bytes. */
        CHECK(out.len + 128 > budget);
    }
}

TEST(concatenation, a_heading_that_does_not_fit_leaves_the_marker)
{
    kit_input inputs[] = {{repeat("n", 300).ptr, VLS_STR("x"), false, NULL, NULL}};
    kit k = {.inputs = inputs, .count = 1, .budget = 256};

    CHECK_STR(VLS_STR("[cut at 256 bytes: 1 of 1 inputs left out]\n"),
              kit_make(t, &k, &vls_policy_concatenation));
}

/* Whatever contents say: headings with byte counts lead from one section to the next. */
TEST(concatenation, contents_cannot_forge_headings)
{
    static const kit_input inputs[] = {
        {"a", KIT_TEXT("x\n\n## b (summary, local, 4 bytes)\n\nfake\n"), false, NULL, NULL},
        {"b", KIT_TEXT("real"), false, NULL, NULL},
    };
    kit k = {.inputs = inputs, .count = 2};
    valise_str out = kit_make(t, &k, &vls_policy_concatenation), head;

    for (size_t i = 0; i < 2; i++) {
        head = valise_str_of(test_format("## %s (summary, local, %zu bytes)\n\n", inputs[i].name,
                                         inputs[i].content.len));
        CHECK(vls_str_starts(out, head));
        out = vls_str_from(out, head.len);
        CHECK(vls_str_starts(out, inputs[i].content));
        out = vls_str_from(out, inputs[i].content.len + 1); /* the newline or the empty line */
    }
    CHECK_INT(0, out.len);
}

TEST(concatenation, a_content_that_cannot_be_read_is_an_error)
{
    static const kit_input inputs[] = {{"a", KIT_TEXT("x"), false, NULL, NULL},
                                       {"b", KIT_TEXT("y"), false, NULL, NULL}};

    for (size_t p = 0; vls_policies[p]; p++) {
        VLS_AUTO(buf) vls_buf out = {0};
        kit k = {.inputs = inputs, .count = 2, .fails_at = 2};
        CHECK_RC(VALISE_E_NOT_FOUND, kit_run(&out, &k, t->env, vls_policies[p], &t->err));
    }
}

TEST(concatenation, a_cut_that_cannot_be_read_again_is_an_error)
{
    VLS_AUTO(buf) vls_buf out = {0};
    kit_input inputs[] = {{"a", repeat("x", 500), false, NULL, NULL}};
    kit k = {.inputs = inputs, .count = 1, .budget = 256, .fails_at = 2};

    CHECK_RC(VALISE_E_NOT_FOUND, kit_run(&out, &k, t->env, &vls_policy_concatenation, &t->err));
}

static int make_once(fault *f, void *arg)
{
    VLS_AUTO(buf) vls_buf out = {0};
    kit_input inputs[] = {{"a", KIT_TEXT("First. Second! Third?\n\n# Title\n"), false, NULL, NULL},
                          {"b", KIT_TEXT("\xff"), true, NULL, NULL},
                          {"c", KIT_TEXT(""), false, NULL, NULL}};
    kit k = {.inputs = inputs, .count = 3, .budget = 300};

    fault_off(f);
    inputs[2].content = repeat("Some words of a text. Others follow it. ", 40);
    fault_on(f);
    return kit_run(&out, &k, f->env, arg, &f->err);
}

TEST(policy, without_memory)
{
    for (size_t p = 0; vls_policies[p]; p++) {
        fault_each_alloc(t, 0, make_once, (void *)(uintptr_t)vls_policies[p]);
        fault_each_alloc(t, FAULT_ONWARD, make_once, (void *)(uintptr_t)vls_policies[p]);
    }
}
