/* making.c -- what a policy can do while it makes a frame: valise/sys/policy.h. */
#include "derive/kit.h"

#include "derive/policy_impl.h"
#include "field/field.h"

static const kit_input two[] = {{"a", KIT_TEXT("one"), false, NULL, NULL},
                                {"b", KIT_TEXT(""), true, "notes", "w-1"}};

TEST(making, tells_what_there_is)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf out = {0};
    kit k = {.inputs = two, .count = 2};
    valise_making m;
    valise_str content;

    vls_arena_init(&arena, t->env, 1 << 20);
    vls_buf_init(&out, t->env, 8);
    m = kit_making(&k, &arena, &out);
    CHECK_INT(2, valise_making_count(&m));
    CHECK_STR(VLS_STR("a"), valise_making_input(&m, 0)->name);
    CHECK(valise_making_input(&m, 1)->directory);
    CHECK_STR(VLS_STR("w-1"), valise_making_input(&m, 1)->agent);
    CHECK(!valise_making_input(&m, 2));
    CHECK_OK(valise_making_content(&content, &m, 0, &t->err));
    CHECK_STR(VLS_STR("one"), content);
    CHECK_RC(VALISE_E_INVALID, valise_making_content(&content, &m, 2, &t->err));
    CHECK(!valise_making_is_empty(&m));
    m.is_empty = true;
    CHECK(valise_making_is_empty(&m));
    CHECK_INT(0, valise_making_count(NULL));
    CHECK(!valise_making_input(NULL, 0) && !valise_making_is_empty(NULL));
}

TEST(making, writes_up_to_the_maximum)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf out = {0};
    kit k = {.inputs = two, .count = 2};
    valise_making m;

    vls_arena_init(&arena, t->env, 1 << 20);
    vls_buf_init(&out, t->env, 8);
    m = kit_making(&k, &arena, &out);
    CHECK_OK(valise_making_write(&m, VLS_STR("12345"), &t->err));
    CHECK_OK(valise_making_write(&m, VLS_STR("678"), &t->err));
    CHECK_OK(valise_making_write(&m, VLS_STR(""), &t->err));
    CHECK_RC(VALISE_E_TOO_LARGE, valise_making_write(&m, VLS_STR("9"), &t->err));
    CHECK(strstr(t->err.message, "more than 8 bytes"));
    CHECK_RC(VALISE_E_INVALID, valise_making_write(&m, (valise_str){NULL, 1}, &t->err));
}

TEST(making, has_memory)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf out = {0};
    kit k = {.inputs = two, .count = 2};
    valise_making m;
    void *room = NULL;

    vls_arena_init(&arena, t->env, 1 << 16);
    vls_buf_init(&out, t->env, 8);
    m = kit_making(&k, &arena, &out);
    CHECK_OK(valise_making_alloc(&room, &m, 100, &t->err));
    memset(room, 1, 100);
    CHECK_RC(VALISE_E_INVALID, valise_making_alloc(&room, &m, 0, &t->err));
    CHECK_RC(VALISE_E_TOO_LARGE, valise_making_alloc(&room, &m, 1 << 20, &t->err));
}

TEST(making, a_size_that_is_not_true_is_found)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf out = {0};
    kit k = {.inputs = two, .count = 2};
    valise_making m;
    valise_str content;

    vls_arena_init(&arena, t->env, 1 << 16);
    vls_buf_init(&out, t->env, 8);
    m = kit_making(&k, &arena, &out);
    k.given[0].size = 4;
    CHECK_RC(VALISE_E_CORRUPT, valise_making_content(&content, &m, 0, &t->err));
    CHECK(strstr(t->err.message, "3 bytes, not 4"));
    k.given[0].size = -1;
    CHECK_RC(VALISE_E_CORRUPT, valise_making_content(&content, &m, 0, &t->err));
}

/* The tables hold what valise_policy promises. */
TEST(policy, the_built_in_ones_are_well_formed)
{
    static const char *const names[] = {"concatenation", "filtering", "summarization"};
    size_t count = 0;

    for (; vls_policies[count]; count++) {
        const valise_policy *p = vls_policies[count];
        CHECK_TEXT(names[count], p->name);
        CHECK_INT(1, p->version);
        CHECK(p->size == sizeof(*p) && p->make && p->brief);
        CHECK_OK(vls_fields_check(p->params, p->params_size, &t->err));
    }
    CHECK_INT(VLS_COUNT(names), count);
}

TEST(policy, budgets_have_limits)
{
    static const int64_t bad[] = {-1, 1, 255, VLS_POLICY_BUDGET_MAX + 1};
    static const int64_t good[] = {0, 256, VLS_POLICY_BUDGET_MAX};

    for (size_t p = 0; vls_policies[p]; p++) {
        for (size_t i = 0; i < VLS_COUNT(bad); i++) {
            VLS_AUTO(buf) vls_buf out = {0};
            vls_policy_params params = {.budget = bad[i]};
            kit k = {.inputs = two, .count = 2, .budget = bad[i]};
            CHECK_RC(VALISE_E_INVALID, vls_policies[p]->check(&params, &t->err));
            CHECK_RC(VALISE_E_INVALID, kit_run(&out, &k, t->env, vls_policies[p], &t->err));
            CHECK_INT(0, out.len);
        }
        for (size_t i = 0; i < VLS_COUNT(good); i++)
            CHECK_OK(vls_policies[p]->check(&(vls_policy_params){good[i]}, &t->err));
        CHECK_OK(vls_policies[p]->check(NULL, &t->err));
    }
}

/* [C18] Nothing is there, and nobody said anything: two things. */
TEST(policy, no_inputs_are_one_of_two_texts)
{
    for (size_t p = 0; vls_policies[p]; p++) {
        kit empty = {.empty = true}, unknown = {.empty = false};
        CHECK_STR(VLS_STR("[empty directory]\n"), kit_make(t, &empty, vls_policies[p]));
        CHECK_STR(VLS_STR("[nothing is known about what is in this directory]\n"),
                  kit_make(t, &unknown, vls_policies[p]));
    }
}

static const char *heading(test *t, const valise_policy_input *input, int64_t size)
{
    VLS_AUTO(buf) vls_buf out = {0};

    vls_buf_init(&out, t->env, 4096);
    vls_policy_heading(&out, input, size);
    CHECK_OK(vls_buf_check(&out, &t->err));
    /* Whoever writes it knows it again. */
    CHECK(vls_policy_is_own(vls_str(out.ptr, out.len - 1)));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&out)));
}

TEST(policy, headings_are_one_line_and_escaped)
{
    valise_policy_input in = {VLS_STR("a.c"), false, VLS_STR("summary"), VLS_STR("local"), 345};

    CHECK_TEXT("## a.c (summary, local, 345 bytes)\n", heading(t, &in, 345));
    CHECK_TEXT("## a.c (summary, local, 12 of 345 bytes)\n", heading(t, &in, 12));
    CHECK_TEXT("## a.c (summary, local, 400 bytes)\n", heading(t, &in, 400));
    in.directory = true;
    CHECK_TEXT("## a.c/ (summary, local, 345 bytes)\n", heading(t, &in, 345));
    in.name = VLS_STR("photo (1), \xc3\xa4.jpg");
    CHECK_TEXT("## photo (1), \xc3\xa4.jpg/ (summary, local, 345 bytes)\n", heading(t, &in, 345));
    in.name = VLS_STR("a\n## b\\c\x1b\x7f\xff\xc3 \xe2\x80\xae\xc2\x9b");
    CHECK_TEXT("## a\\x0a## b\\x5cc\\x1b\\x7f\\xff\\xc3 \\xe2\\x80\\xae\\xc2\\x9b/ "
               "(summary, local, 345 bytes)\n",
               heading(t, &in, 345));
    in = (valise_policy_input){VLS_STR("x"), false, VLS_STR("a, (b) c"), VLS_STR("\xfe"), 1};
    CHECK_TEXT("## x (a\\x2c\\x20\\x28b\\x29\\x20c, \\xfe, 1 bytes)\n", heading(t, &in, 1));
}

TEST(policy, lines_of_its_own_are_known_and_no_others)
{
    static const char *const own[] = {
        "## a (b, c, 5 bytes)", "## a/ (b, c, 5 of 17 bytes)",
        "[empty directory]",    "[nothing is known about what is in this directory]",
        "[no text, 5 bytes]",   "[cut at 4096 bytes: 3 of 12 inputs left out]",
    };
    static const char *const others[] = {
        "",
        "## a",
        "## a (b, c, bytes)",
        "## a (b, c, x of 5 bytes)",
        "## Buffers (10 bytes)",
        "# a (b, c, 5 bytes)",
        "[empty directory] ",
        "[no text]",
        "[cut at all]",
        "## bytes)",
        "## a, 5 bytes)",
        "[no text, x bytes]",
    };

    for (size_t i = 0; i < VLS_COUNT(own); i++)
        CHECK_MSG(vls_policy_is_own(valise_str_of(own[i])), "%s", own[i]);
    for (size_t i = 0; i < VLS_COUNT(others); i++)
        CHECK_MSG(!vls_policy_is_own(valise_str_of(others[i])), "%s", others[i]);
}

TEST(policy, text_is_utf8_without_nul)
{
    CHECK(vls_policy_is_text(VLS_STR("")));
    CHECK(vls_policy_is_text(VLS_STR("\xc3\xa4\x01")));
    CHECK(!vls_policy_is_text(VLS_STR("a\0b")));
    CHECK(!vls_policy_is_text(VLS_STR("a\xff")));
    CHECK(!vls_policy_is_text(VLS_STR("a\xc3")));
}
