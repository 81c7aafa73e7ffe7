/* line_diff.c -- texts line by line: right, minimal, and bounded; asked of diff(1) and patch(1). */
#include "base/line_diff.h"

#include "base/mem.h"
#include "harness/fault.h"
#include "harness/process.h"
#include "harness/test.h"

typedef struct text {
    char *ptr;
    size_t len, cap;
} text;

static void add(text *t, valise_str s)
{
    if (t->len + s.len > t->cap) {
        char *more = test_alloc((t->len + s.len) * 2);
        if (t->len > 0)
            memcpy(more, t->ptr, t->len);
        t->cap = (t->len + s.len) * 2;
        t->ptr = more;
    }
    if (s.len > 0)
        memcpy(t->ptr + t->len, s.ptr, s.len);
    t->len += s.len;
}

static valise_str str_of(const text *t)
{
    return vls_str(t->ptr ? t->ptr : "", t->len);
}

/* Lines of a few words, so that many are equal; sometimes the last has no end. */
static valise_str random_text(test_rng *rng, size_t most, unsigned words)
{
    size_t lines = test_random_below(rng, most + 1);
    text out = {NULL, 0, 0};

    for (size_t i = 0; i < lines; i++) {
        const char *line = test_format("word %u", (unsigned)test_random_below(rng, words));
        add(&out, valise_str_of(line));
        if (i + 1 < lines || test_random_below(rng, 4) > 0)
            add(&out, VLS_STR("\n"));
    }
    return str_of(&out);
}

/* The same with some lines gone, new or in another place. */
static valise_str edited(test_rng *rng, valise_str from, unsigned words)
{
    text out = {NULL, 0, 0};
    valise_str line, left = from;
    bool more = from.len > 0;

    while (more) {
        more = vls_str_cut(&line, &left, left, '\n');
        if (test_random_below(rng, 5) == 0)
            add(&out,
                valise_str_of(test_format("word %u\n", (unsigned)test_random_below(rng, words))));
        if (test_random_below(rng, 5) == 0)
            continue;
        add(&out, line);
        if (more)
            add(&out, VLS_STR("\n"));
    }
    return str_of(&out);
}

/* The new text from the old one and the changes; lines between changes must be equal. */
static void check_right(const vls_line_diff *d)
{
    text made = {NULL, 0, 0};
    uint32_t x = 0, y = 0;

    for (size_t i = 0; i <= d->changes.len; i++) {
        const vls_line_change end = {.old_at = d->old.count, .new_at = d->new.count};
        const vls_line_change *c = i < d->changes.len ? &d->changes.ptr[i] : &end;
        CHECK(c->old_at >= x && c->old_at - x == c->new_at - y);
        CHECK(i == 0 || i == d->changes.len || c->old_at > x);
        for (; x < c->old_at; x++, y++) {
            CHECK_STR(vls_line(&d->old, x), vls_line(&d->new, y));
            add(&made, vls_line(&d->old, x));
        }
        for (uint32_t k = 0; k < c->new_count; k++)
            add(&made, vls_line(&d->new, c->new_at + k));
        x += c->old_count;
        y += c->new_count;
    }
    CHECK_INT(d->old.count, x);
    CHECK_INT(d->new.count, y);
    CHECK_STR(d->new.text, str_of(&made));
}

static const char *unified(const vls_line_diff *d, uint32_t around)
{
    vls_buf out;
    const char *copy;

    vls_buf_init(&out, d->env, SIZE_MAX / 2);
    vls_unified_write(&out, d, around);
    CHECK(vls_buf_check(&out, NULL) == 0);
    copy = test_format("%.*s", (int)out.len, out.ptr ? out.ptr : "");
    vls_buf_release(&out);
    return copy;
}

static const char *diff_of(test *t, const char *old, const char *new)
{
    VLS_AUTO(line_diff) vls_line_diff d = {.env = NULL};

    CHECK_OK(vls_line_diff_make(&d, t->env, valise_str_of(old), valise_str_of(new), 0, &t->err));
    check_right(&d);
    CHECK(d.exact);
    return unified(&d, VLS_UNIFIED_AROUND);
}

/* ---- by hand ---- */

TEST(line_diff, texts_of_few_lines)
{
    CHECK_TEXT("", diff_of(t, "", ""));
    CHECK_TEXT("", diff_of(t, "a\nb\n", "a\nb\n"));
    CHECK_TEXT("@@ -0,0 +1 @@\n+a\n", diff_of(t, "", "a\n"));
    CHECK_TEXT("@@ -1,2 +0,0 @@\n-a\n-b\n", diff_of(t, "a\nb\n", ""));
    CHECK_TEXT("@@ -1 +1 @@\n-a\n+b\n", diff_of(t, "a\n", "b\n"));
    CHECK_TEXT("@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", diff_of(t, "a\nb\nc\n", "a\nx\nc\n"));
    CHECK_TEXT("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", diff_of(t, "a", "a\n"));
    CHECK_TEXT("@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n", diff_of(t, "a\n", "a"));
    CHECK_TEXT("@@ -1,2 +1,2 @@\n-a\n+b\n c\n\\ No newline at end of file\n",
               diff_of(t, "a\nc", "b\nc"));
}

TEST(line_diff, changes_that_are_near_are_one_hunk)
{
    const char *near = "@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n";
    const char *far = "@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n";

    CHECK_TEXT(near, diff_of(t, "1\n2\n3\n4\n5\n6\n7\n8\n", "x\n2\n3\n4\n5\n6\n7\ny\n"));
    CHECK_TEXT(far, diff_of(t, "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n"));
}

/* A function that was put behind another is shown as a whole, with its own last line. */
TEST(line_diff, what_can_be_at_several_places_is_at_the_last)
{
    CHECK_TEXT("@@ -1,4 +1,7 @@\n f\n {\n }\n+g\n+{\n+}\n h\n",
               diff_of(t, "f\n{\n}\nh\n", "f\n{\n}\ng\n{\n}\nh\n"));
    CHECK_TEXT("@@ -1,3 +1,2 @@\n a\n a\n-a\n", diff_of(t, "a\na\na\n", "a\na\n"));
}

TEST(line_diff, a_nul_makes_it_binary)
{
    char late[9000];

    memset(late, 'a', sizeof(late));
    late[8500] = 0;
    CHECK(!vls_text_is_binary(VLS_STR("")));
    CHECK(!vls_text_is_binary(VLS_STR("text\xff\x1b")));
    CHECK(vls_text_is_binary(vls_str("a\0b", 3)));
    CHECK(!vls_text_is_binary(vls_str(late, sizeof(late))));
}

/* ---- random ones ---- */

static int64_t changes_of(const vls_line_diff *d)
{
    int64_t count = 0;

    for (size_t i = 0; i < d->changes.len; i++)
        count += d->changes.ptr[i].old_count + d->changes.ptr[i].new_count;
    return count;
}

/* The length of the shortest script, the slow way. */
static int64_t shortest(const vls_line_diff *d)
{
    size_t n = d->old.count, m = d->new.count;
    uint32_t *row = test_alloc((m + 1) * 2 * sizeof(*row));

    for (size_t i = 1; i <= n; i++) {
        uint32_t *is = row + (i % 2) * (m + 1), *above = row + ((i + 1) % 2) * (m + 1);
        for (size_t k = 1; k <= m; k++)
            is[k] = vls_str_equal(vls_line(&d->old, i - 1), vls_line(&d->new, k - 1))
                        ? above[k - 1] + 1
                        : VLS_MAX(above[k], is[k - 1]);
    }
    return (int64_t)(n + m) - 2 * (int64_t)row[(n % 2) * (m + 1) + m];
}

TEST(line_diff, random_texts_have_minimal_changes)
{
    test_rng rng = test_rng_new(test_seed());

    for (int i = 0; i < 2000; i++) {
        VLS_AUTO(line_diff) vls_line_diff d = {.env = NULL};
        unsigned words = 1 + (unsigned)test_random_below(&rng, 12);
        valise_str old = random_text(&rng, 24, words);
        valise_str new = i % 2 ? edited(&rng, old, words) : random_text(&rng, 24, words);
        CHECK_OK(vls_line_diff_make(&d, t->env, old, new, 0, &t->err));
        check_right(&d);
        CHECK(d.exact);
        CHECK_INT(shortest(&d), changes_of(&d));
    }
}

/* With little to spend the changes are more, and right all the same. */
TEST(line_diff, random_texts_with_little_effort)
{
    test_rng rng = test_rng_new(test_seed());
    bool less = false;

    for (int i = 0; i < 500; i++) {
        VLS_AUTO(line_diff) vls_line_diff d = {.env = NULL};
        VLS_AUTO(line_diff) vls_line_diff again = {.env = NULL};
        valise_str old = random_text(&rng, 60, 6), new = random_text(&rng, 60, 6);
        uint64_t steps = 1 + test_random_below(&rng, 200);
        CHECK_OK(vls_line_diff_make(&d, t->env, old, new, steps, &t->err));
        CHECK_OK(vls_line_diff_make(&again, t->env, old, new, steps, &t->err));
        check_right(&d);
        CHECK_TEXT(unified(&d, 3), unified(&again, 3));
        CHECK(changes_of(&d) >= shortest(&d));
        CHECK(!d.exact || changes_of(&d) == shortest(&d));
        less = less || !d.exact;
    }
    CHECK(less);
}

static size_t lines_that_change(valise_str out)
{
    valise_str line, left = out;
    size_t count = 0;
    bool more = out.len > 0;

    while (more) {
        more = vls_str_cut(&line, &left, left, '\n');
        count += line.len > 0 && (line.ptr[0] == '-' || line.ptr[0] == '+') &&
                 !vls_str_starts(line, VLS_STR("--- ")) && !vls_str_starts(line, VLS_STR("+++ "));
    }
    return count;
}

TEST(line_diff, patch_makes_the_new_text_of_the_old_one_and_diff_finds_no_less)
{
    test_rng rng = test_rng_new(test_seed());
    const char *dir = test_tmpdir();
    const char *old_file = test_format("%s/old", dir), *new_file = test_format("%s/new", dir);
    const char *patch = test_format("%s/patch", dir), *got = test_format("%s/got", dir);

    for (int i = 0; i < 60; i++) {
        VLS_AUTO(line_diff) vls_line_diff d = {.env = NULL};
        valise_str old = random_text(&rng, 200, 40), new = edited(&rng, old, 40);
        uint32_t around = (uint32_t)test_random_below(&rng, 5);
        process_result r;
        test_write_file(old_file, old);
        test_write_file(new_file, new);
        CHECK_OK(vls_line_diff_make(&d, t->env, old, new, 0, &t->err));
        if (d.changes.len == 0)
            continue;
        process_run(&r, (const char *[]){"diff", "--minimal", "-u", old_file, new_file, NULL},
                    NULL);
        CHECK_INT(1, r.exit_code);
        CHECK_INT(lines_that_change(r.out), changes_of(&d));
        test_write_file(patch, valise_str_of(test_format("--- old\n+++ new\n%s",
                                                         unified(&d, VLS_MAX(around, 1u)))));
        process_run(&r, (const char *[]){"patch", "-s", "-F0", "-o", got, old_file, patch, NULL},
                    NULL);
        CHECK_MSG(r.exit_code == 0, "%s %s", process_describe(&r), r.out.ptr);
        CHECK_STR(new, test_read_file(got));
    }
}

/* ---- hostile ones ---- */

static valise_str numbered(size_t count, size_t step, const char *front)
{
    text out = {NULL, 0, 0};

    for (size_t i = 0; i < count; i++) {
        char line[32];
        int len = snprintf(line, sizeof(line), "%s%u\n", front, (unsigned)(i * step % count));
        add(&out, vls_str(line, (size_t)len));
    }
    return str_of(&out);
}

TEST(line_diff, a_million_lines_of_which_none_is_equal)
{
    VLS_AUTO(line_diff) vls_line_diff d = {.env = NULL};

    test_unwatched();
    CHECK_OK(vls_line_diff_make(&d, t->env, numbered(1000000, 1, "a"), numbered(1000000, 1, "b"), 0,
                                &t->err));
    CHECK_INT(1, d.changes.len);
    CHECK_INT(2000000, changes_of(&d));
    CHECK(d.exact);
}

/* The same lines in another order: nothing can be left out, and the way is long. */
TEST(line_diff, many_lines_in_another_order)
{
    VLS_AUTO(line_diff) vls_line_diff d = {.env = NULL};

    CHECK_OK(vls_line_diff_make(&d, t->env, numbered(100000, 1, ""), numbered(100000, 7919, ""),
                                2000000, &t->err));
    check_right(&d);
    CHECK(!d.exact);
}

TEST(line_diff, one_long_line)
{
    VLS_AUTO(line_diff) vls_line_diff d = {.env = NULL};
    size_t len = (size_t)16 << 20;
    char *a = test_alloc(len), *b = test_alloc(len);

    memset(a, 'x', len);
    memset(b, 'x', len);
    b[len / 2] = 'y';
    CHECK_OK(vls_line_diff_make(&d, t->env, vls_str(a, len), vls_str(b, len), 0, &t->err));
    CHECK_INT(1, d.changes.len);
    CHECK_INT(2, changes_of(&d));
}

TEST(line_diff, refuses_what_is_too_large)
{
    vls_line_diff d = {.env = NULL};
    size_t len = VLS_DIFF_LINES_MAX + 1;
    char *a = test_alloc(len);

    memset(a, '\n', len);
    CHECK_RC(VALISE_E_TOO_LARGE,
             vls_line_diff_make(&d, t->env, vls_str(a, len), VLS_STR(""), 0, &t->err));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_line_diff_make(&d, t->env, VLS_STR("x"),
                                                    vls_str(a, VLS_DIFF_TEXT_MAX + 1), 0, &t->err));
    CHECK(!d.env);
    CHECK_OK(vls_line_diff_make(&d, t->env, vls_str(a, len - 1), VLS_STR(""), 0, &t->err));
    CHECK_INT(VLS_DIFF_LINES_MAX, changes_of(&d));
    vls_line_diff_release(&d);
}

/* ---- memory ---- */

static int make_one(fault *f, void *arg)
{
    vls_line_diff d = {.env = NULL};
    int rc = vls_line_diff_make(&d, f->env, VLS_STR("a\nb\nc\nd\ne\nx\n"),
                                VLS_STR("b\nd\nq\nc\na\nx\n"), 0, &f->err);

    (void)arg;
    CHECK(rc == 0 || !d.env);
    vls_line_diff_release(&d);
    return rc;
}

TEST(line_diff, every_allocation_may_fail)
{
    CHECK(fault_each_alloc(t, 0, make_one, NULL) > 5);
}
