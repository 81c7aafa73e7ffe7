/* sse.c -- server-sent events. [P11] */
#include "wire/sse.h"

#include "base/str.h"
#include "harness/test.h"

typedef struct seen {
    vls_buf text; /* "name|data\n" for each event */
    int refuse;   /* what on_event returns */
} seen;

static int note(void *arg, valise_str name, valise_str data, valise_error *err)
{
    seen *s = arg;

    vls_buf_add(&s->text, name);
    vls_buf_add_byte(&s->text, '|');
    vls_buf_add(&s->text, data);
    vls_buf_add_byte(&s->text, '\n');
    return s->refuse < 0 ? vls_fail(err, s->refuse, "refused") : 0;
}

/* Feed text in pieces of `cut` bytes. */
static const char *events_of(test *t, valise_str text, size_t cut, bool finish)
{
    seen s = {.refuse = 0};
    vls_sse sse;
    const char *out;

    vls_buf_init(&s.text, t->env, (size_t)1 << 20);
    vls_sse_init(&sse, t->env, note, &s);
    for (size_t at = 0; at < text.len; at += cut)
        CHECK_RC(0, vls_sse_feed(&sse, vls_str_head(vls_str_from(text, at), cut), &t->err));
    if (finish)
        CHECK_RC(0, vls_sse_finish(&sse, &t->err));
    out = test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&s.text)));
    vls_sse_release(&sse);
    vls_buf_release(&s.text);
    return out;
}

/* The same however it is cut. */
static void check_events(test *t, const char *expected, valise_str text)
{
    for (size_t cut = 1; cut <= text.len + 1; cut++)
        CHECK_TEXT(expected, events_of(t, text, cut, false));
}

TEST(sse, ends_lines_with_any_of_three)
{
    check_events(t, "|a\n|b\n|c\n", VLS_STR("data: a\n\ndata: b\r\n\r\ndata: c\r\r"));
    check_events(t, "|a\n|b\n", VLS_STR("data: a\r\n\ndata: b\n\r\n"));
    check_events(t, "|a\nb\n", VLS_STR("data: a\r\ndata: b\r\n\r\n"));
}

TEST(sse, passes_over_a_bom_comments_and_other_fields)
{
    check_events(t, "|a\n",
                 VLS_STR("\xEF\xBB\xBF"
                         "data: a\n\n"));
    check_events(t, "x|a\n", VLS_STR(": hello\nid: 7\nretry: 10\nevent: x\n:\ndata: a\nwhat\n\n"));
    /* Only at the beginning: elsewhere it is another field. */
    check_events(t, "|a\n",
                 VLS_STR("data: a\n\xEF\xBB\xBF"
                         "data: b\n\n"));
}

TEST(sse, joins_lines_of_data_and_takes_one_space)
{
    check_events(t, "|a\nb\n\n c\n", VLS_STR("data: a\ndata:b\ndata:\ndata:  c\n\n"));
    check_events(t, "|\n", VLS_STR("data\n\n"));
}

TEST(sse, a_name_is_of_one_event)
{
    check_events(t, "one|a\n|b\ntwo|c\n",
                 VLS_STR("event: one\ndata: a\n\ndata: b\n\nevent: x\n\nevent:two\ndata:c\n\n"));
}

TEST(sse, a_last_event_counts_when_no_more_comes)
{
    CHECK_TEXT("", events_of(t, VLS_STR("data: a"), 3, false));
    CHECK_TEXT("|a\n", events_of(t, VLS_STR("data: a"), 3, true));
    CHECK_TEXT("|a\n", events_of(t, VLS_STR("data: a\n"), 3, true));
    CHECK_TEXT("|a\n", events_of(t, VLS_STR("data: a\r"), 3, true));
    CHECK_TEXT("", events_of(t, VLS_STR(""), 3, true));
}

TEST(sse, cuts_long_names)
{
    const char *line = test_format("event: %0300d\ndata: a\n\n", 7);

    CHECK_TEXT(test_format("%0128d|a\n", 0), events_of(t, valise_str_of(line), 50, false));
}

TEST(sse, refuses_lines_and_events_that_are_too_long)
{
    VLS_AUTO(buf) vls_buf big;
    seen s = {.refuse = 0};
    vls_sse sse;
    int rc = 0;

    vls_buf_init(&big, t->env, (size_t)1 << 20);
    while (big.len < (size_t)1 << 20)
        vls_buf_add(&big, VLS_STR("0123456789abcdef"));
    vls_buf_init(&s.text, t->env, (size_t)256 << 20);
    vls_sse_init(&sse, t->env, note, &s);
    for (int i = 0; i < 31; i++)
        CHECK_RC(0, vls_sse_feed(&sse, vls_buf_str(&big), &t->err));
    rc = vls_sse_feed(&sse, vls_buf_str(&big), &t->err);
    CHECK_RC(0, rc);
    CHECK_RC(VALISE_E_LIMIT, vls_sse_feed(&sse, VLS_STR("x"), &t->err));
    CHECK(strstr(t->err.message, "a line of the stream is longer than 32 MiB"));
    vls_sse_release(&sse);

    vls_sse_init(&sse, t->env, note, &s);
    for (int i = 0; i < 64; i++) {
        rc = vls_sse_feed(&sse, VLS_STR("data: "), &t->err);
        if (rc == 0)
            rc = vls_sse_feed(&sse, vls_buf_str(&big), &t->err);
        if (rc == 0)
            rc = vls_sse_feed(&sse, VLS_STR("\n"), &t->err);
        if (rc < 0)
            break;
    }
    CHECK_RC(VALISE_E_LIMIT, rc);
    CHECK(strstr(t->err.message, "an event of the stream is longer than 64 MiB"));
    vls_sse_release(&sse);
    vls_buf_release(&s.text);
}

TEST(sse, passes_on_what_the_event_returns)
{
    seen s = {.refuse = VALISE_E_CANCELLED};
    vls_sse sse;

    vls_buf_init(&s.text, t->env, 1000);
    vls_sse_init(&sse, t->env, note, &s);
    CHECK_RC(VALISE_E_CANCELLED, vls_sse_feed(&sse, VLS_STR("data: a\n\ndata: b\n\n"), &t->err));
    CHECK_TEXT("|a\n", test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&s.text))));
    vls_sse_release(&sse);
    vls_buf_release(&s.text);
}
