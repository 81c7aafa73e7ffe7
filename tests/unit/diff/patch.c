/* patch.c -- patches by hand, and what happens without memory. */
#include "diff/patch.h"

#include "harness/fault.h"

static const char *write_patch(test *t, const vls_patch_side *was, const vls_patch_side *is,
                               const char **why)
{
    const char *text;
    vls_buf out;

    vls_buf_init(&out, t->env, VLS_PATCH_MAX);
    CHECK(vls_patch_write(&out, why, was, is, t->env, &t->err) >= 0);
    text = test_format("%.*s", (int)out.len, out.ptr ? out.ptr : "");
    vls_buf_release(&out);
    return text;
}

TEST(patch, what_can_not_be_shown_says_why)
{
    const vls_patch_side none = {.mode = 0}, unknown = {VLS_STR("a"), 0100644, {NULL, 0}},
                         there = {VLS_STR("a"), 0100644, VLS_STR("x\n")};
    char *many = test_alloc(VLS_DIFF_LINES_MAX + 2);
    const char *why;

    CHECK_TEXT("", write_patch(t, &none, &none, &why));
    CHECK(!why);
    CHECK_TEXT("", write_patch(t, &unknown, &there, &why));
    CHECK_TEXT("its bytes are not known", why);
    CHECK_TEXT("", write_patch(t, &there, &unknown, &why));
    CHECK_TEXT("its bytes are not known", why);
    memset(many, '\n', VLS_DIFF_LINES_MAX + 1);
    const vls_patch_side large = {VLS_STR("a"), 0100644, vls_str(many, VLS_DIFF_LINES_MAX + 1)};
    CHECK_TEXT("", write_patch(t, &there, &large, &why));
    CHECK_TEXT("it has too many lines", why);
}

TEST(patch, a_file_that_moved_and_one_that_is_binary)
{
    const vls_patch_side from = {VLS_STR("old name"), 0100644, VLS_STR("")},
                         to = {VLS_STR("new\n"), 0100644, VLS_STR("")}, none = {.mode = 0},
                         bytes = {VLS_STR("b"), 0100755, vls_str("\0", 1)};
    const char *why;

    CHECK_TEXT("diff --git a/old name \"b/new\\n\"\nsimilarity index 100%\nrename from old name\n"
               "rename to \"new\\n\"\n",
               write_patch(t, &from, &to, &why));
    CHECK_TEXT("diff --git a/b b/b\nnew file mode 100755\nindex 0000000..449e9b7\n"
               "Binary files /dev/null and b/b differ\n",
               write_patch(t, &none, &bytes, &why));
}

TEST(patch, texts_that_are_no_files)
{
    const char *why;
    vls_buf out;

    vls_buf_init(&out, t->env, VLS_PATCH_MAX);
    CHECK_INT(0, vls_patch_texts(&out, &why, VLS_STR("a"), VLS_STR("x"), VLS_STR("b"), VLS_STR("x"),
                                 t->env, &t->err));
    CHECK(!why);
    CHECK_INT(0, vls_patch_texts(&out, &why, VLS_STR("a"), vls_str("\0", 1), VLS_STR("b"),
                                 VLS_STR("x"), t->env, &t->err));
    CHECK_TEXT("it is not a text", why);
    CHECK_INT(1, vls_patch_texts(&out, &why, VLS_STR("a"), VLS_STR("x\n"), VLS_STR("b"),
                                 VLS_STR("y\n"), t->env, &t->err));
    CHECK_STR(VLS_STR("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"), vls_buf_str(&out));
    vls_buf_release(&out);
}

static int make_one(fault *f, void *arg)
{
    const vls_patch_side was = {VLS_STR("a b"), 0100644, VLS_STR("1\n2\n")},
                         is = {VLS_STR("a b"), 0120000, VLS_STR("2\n3")};
    const char *why;
    vls_buf out;
    int rc;

    (void)arg;
    vls_buf_init(&out, f->env, VLS_PATCH_MAX);
    rc = vls_patch_write(&out, &why, &was, &is, f->env, &f->err);
    vls_buf_release(&out);
    return VLS_MIN(rc, 0);
}

TEST(patch, every_allocation_may_fail)
{
    CHECK(fault_each_alloc(t, 0, make_one, NULL) > 5);
}
