/* split.c -- files in pieces, however they come in. [W20] [Q26] */
#include "exchange/split.h"

#include "harness/test.h"

typedef struct feed {
    valise_str left;
    size_t step; /* bytes at once */
} feed;

static int give(size_t *len, void *arg, void *room, size_t size, valise_error *err)
{
    feed *f = arg;

    (void)err;
    *len = VLS_MIN(VLS_MIN(size, f->step), f->left.len);
    if (*len > 0)
        memcpy(room, f->left.ptr, *len);
    f->left = vls_str_from(f->left, *len);
    return 0;
}

static const char *const names[] = {"", "?", "cut ", "large ", "stray "};

/* "line:offset text|line:offset text|" */
static const char *pieces(test *t, valise_str text, size_t step, size_t max)
{
    VLS_AUTO(splitter) vls_splitter s = {0};
    feed f = {text, step};
    const char *out = "";
    vls_split_piece piece;
    int rc;

    CHECK_OK(vls_split_begin(&s, t->env, give, &f, max, &t->err));
    while ((rc = vls_split_next(&piece, &s, &t->err)) > 0)
        out = test_format("%s%s%d:%d %.*s|", out, names[piece.what], (int)piece.line,
                          (int)piece.offset, VALISE_STR_ARG(piece.text));
    CHECK_INT(0, rc);
    return out;
}

static void check(test *t, const char *expected, const char *text)
{
    for (size_t step = 1; step <= 9; step++)
        CHECK_TEXT(expected, pieces(t, valise_str_of(text), step, 1000));
    CHECK_TEXT(expected, pieces(t, valise_str_of(text), 1 << 20, 1000));
}

TEST(split, lines)
{
    check(t, "1:0 {\"a\":1}|2:8 {\"b\":2}|", "{\"a\":1}\n{\"b\":2}\n");
    check(t, "1:0 {\"a\":1}|3:10 {\"b\":2}|?4:19 {\"c|", "{\"a\":1}\r\n\n{\"b\":2}\r\n{\"c");
    check(t, "1:3 {}|?2:6 x|", "\xEF\xBB\xBF{}\nx");
    check(t, "?2:1 {}|", "\n{}");
}

TEST(split, arrays)
{
    check(t, "1:1 {\"a\":\"]},\\\"\"}|2:16 {\"b\":[1,{}]}|",
          "[{\"a\":\"]},\\\"\"},\n{\"b\":[1,{}]}]");
    check(t, "1:1 1|1:4 [2]|1:9 \"x,y\"|", "[1, [2], \"x,y\" ]\n");
    check(t, "", "[]");
    check(t, "", " [ ] \n");
    check(t, "1:1 {}|cut 1:4 {\"a\":|", "[{},{\"a\":");
    check(t, "1:1 {}|cut 1:4 |", "[{},");
    check(t, "cut 1:1 |", "[");
    check(t, "1:1 {}|cut 1:3 |", "[{}"); /* whole, whatever is missing behind it */
    check(t, "1:1 [1]|cut 1:5 |", "[[1] ");
    check(t, "cut 1:1 12|", "[12");
    check(t, "cut 1:1 {}\"x|", "[{}\"x");
    check(t, "1:1 {}|stray 2:5 tail|", "[{}]\ntail");
}

TEST(split, values_over_several_lines)
{
    check(t, "1:0 {\n\"a\":1}|3:9 {}|", "{\n\"a\":1}\n{}");
    check(t, "1:0 {\n\"a\":1}|stray 3:9 no|4:12 {}|", "{\n\"a\":1}\nno\n{}");
    check(t, "cut 1:0 {\n\"a\":|", "{\n\"a\":");
}

/* A first line that is torn does not make one value of all that follow. */
TEST(split, a_torn_first_line)
{
    check(t, "1:0 {\"a\":[|2:7 {\"a\":1}|3:15 {\"a\":2}|", "{\"a\":[\n{\"a\":1}\n{\"a\":2}\n");
    check(t, "1:0 {\"a\":[{\"b|2:10 {\"a\":1}|", "{\"a\":[{\"b\n{\"a\":1}\n");
    /* It is torn behind a whole value, and the next record begins with another key. */
    check(t, "1:0 {\"a\":\"x\"|2:9 {\"b\":1}|3:17 {\"c\":2}|",
          "{\"a\":\"x\"\n{\"b\":1}\n{\"c\":2}\n");
    check(t, "1:0 {\"a\":{\"b\":1}|2:14 {\"b\":1}|", "{\"a\":{\"b\":1} \n{\"b\":1}\n");
    check(t, "1:0 {\"a\":[\n{\"b\":1}\n]}|", "{\"a\":[\n{\"b\":1}\n]}\n");
}

TEST(split, empty)
{
    check(t, "", "");
    check(t, "", "\xEF\xBB\xBF");
    check(t, "", " \r\n\t");
}

/* One that is too large does not hide the others, nor take memory. */
TEST(split, what_is_too_large)
{
    CHECK_TEXT("large 1:1 |1:12 {}|", pieces(t, VLS_STR("[\"12345678\",{}]"), 3, 8));
    CHECK_TEXT("1:1 \"123456\"|", pieces(t, VLS_STR("[\"123456\"]"), 3, 8));
    CHECK_TEXT("large 1:0 |2:12 {}|", pieces(t, VLS_STR("{\"a\":12345}\n{}\n"), 3, 8));
}
