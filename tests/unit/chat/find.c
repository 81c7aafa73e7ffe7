/* find.c -- sessions and turns by what people write for them. */
#include "chat/graph_kit.h"

#include "base/hex.h"
#include "chat/find.h"

TEST_PARAMS(find, "memory", "sqlite")

/*     1 - 2 - 3 - 4        session "work", 0x1001
 *          \- 3@2 - 5      session "other", 0x1002 */
typedef struct scene {
    bed b;
    vls_turn_row two, four, five;
    vls_session_row work, other;
} scene;

static void set_up(scene *s, test *t)
{
    vls_turn_row three;

    shrub_open(&s->b, t, t->param);
    bed_begin(&s->b, true);
    s->two = shrub_line(&s->b, 0xa0001, 2, NULL);
    s->four = shrub_line(&s->b, 0xa0003, 2, &s->two);
    three = shrub_put(&s->b, &(shoot){.id = 0xa0003, .version = 2, .first = &s->two});
    s->five = shrub_line(&s->b, 0xb0004, 1, &three);
    s->work = shrub_session(&s->b, 0x1001, "work", &s->four);
    s->other = shrub_session(&s->b, 0x1002, "other", &s->five);
    (void)shrub_session(&s->b, 0x31002, "twice", NULL);
    (void)shrub_session(&s->b, 0x1003, "twice", NULL);
    (void)shrub_session(&s->b, 0x1004, "1001", NULL);
    bed_end(&s->b);
    bed_begin(&s->b, false);
}

static void tear_down(scene *s)
{
    bed_end(&s->b);
    bed_close(&s->b);
}

static const char *session(scene *s, const char *text)
{
    test *t = s->b.t;
    vls_session_row row = {0};
    vls_turn_ref name = {.version = 1};

    CHECK_OK(vls_session_find(&row, &s->b.view, valise_str_of(text), &t->err));
    name.id = row.id;
    return shrub_name(&name);
}

static void no_session(scene *s, int code, const char *text)
{
    test *t = s->b.t;
    vls_session_row row = {.created = 7};

    vls_error_clear(&t->err);
    CHECK_RC(code, vls_session_find(&row, &s->b.view, valise_str_of(text), &t->err));
    CHECK_INT(7, row.created);
}

TEST(find, a_session)
{
    scene s;
    valise_uuid id = shrub_id(0x1002);

    set_up(&s, t);
    CHECK_TEXT("4098", session(&s, vls_uuid_text(&id).s));
    CHECK_TEXT("4098", session(&s, "other"));
    CHECK_TEXT("4098", session(&s, "01002")); /* 31002 too, but for the digit in front */
    CHECK_TEXT("4099", session(&s, "0000-000000001003"));
    CHECK_TEXT("4100", session(&s, "1001")); /* a label before an end */
    CHECK_TEXT("4097", session(&s, "001001"));
    no_session(&s, VALISE_E_CONFLICT, "1002");
    CHECK(strstr(t->err.message, vls_uuid_text(&id).s) != NULL);
    no_session(&s, VALISE_E_CONFLICT, "twice");
    no_session(&s, VALISE_E_NOT_FOUND, "002"); /* too short for an end */
    no_session(&s, VALISE_E_NOT_FOUND, "wor");
    no_session(&s, VALISE_E_NOT_FOUND, "");
    no_session(&s, VALISE_E_NOT_FOUND, "ab000000-0000-0000-0000-00000000ffff");
    tear_down(&s);
}

static const char *turn(scene *s, const vls_session_row *session, const char *text)
{
    test *t = s->b.t;
    vls_turn_row row = {0};

    CHECK_OK(vls_turn_find(&row, &s->b.view, session, valise_str_of(text), VALISE_NONE, &t->err));
    return test_format("%llx@%lld",
                       (unsigned long long)(row.ref.id.bytes[13] << 16 | row.ref.id.bytes[14] << 8 |
                                            row.ref.id.bytes[15]),
                       (long long)row.ref.version);
}

static void no_turn(scene *s, int code, const vls_session_row *session, const char *text,
                    int64_t version)
{
    test *t = s->b.t;
    vls_turn_row row = {.time = 7};

    vls_error_clear(&t->err);
    test_context("with %s", text);
    CHECK_RC(code, vls_turn_find(&row, &s->b.view, session, valise_str_of(text), version, &t->err));
    CHECK_INT(7, row.time);
    test_context_end();
}

TEST(find, a_turn)
{
    scene s;

    set_up(&s, t);
    CHECK_TEXT("a0004@1", turn(&s, &s.work, "HEAD"));
    CHECK_TEXT("a0003@1", turn(&s, &s.work, "HEAD~"));
    CHECK_TEXT("a0003@1", turn(&s, &s.work, "HEAD~1"));
    CHECK_TEXT("a0001@1", turn(&s, &s.work, "HEAD~3"));
    CHECK_TEXT("a0003@2", turn(&s, &s.other, "HEAD~1"));
    CHECK_TEXT("a0003@1",
               turn(&s, NULL, vls_turn_ref_write(&(vls_turn_ref){shrub_id(0xa0003), 1}).s));
    /* Without a version: that of the path, else the newest. */
    CHECK_TEXT("a0003@2", turn(&s, NULL, "a0003"));
    CHECK_TEXT("a0003@1", turn(&s, &s.work, "a0003"));
    CHECK_TEXT("a0003@2", turn(&s, &s.other, "A0003"));
    CHECK_TEXT("a0003@1", turn(&s, &s.other, "a0003@1"));
    CHECK_TEXT("a0003@1", turn(&s, &s.work, vls_uuid_text(&s.four.parent.id).s));
    /* On the path first: 0004 is the end of two. */
    CHECK_TEXT("a0004@1", turn(&s, &s.work, "0004"));
    CHECK_TEXT("b0004@1", turn(&s, &s.other, "0004"));
    CHECK_TEXT("b0004@1", turn(&s, &s.work, "b0004"));
    tear_down(&s);
}

TEST(find, no_turn)
{
    scene s;
    vls_session_row empty = {.id = shrub_id(0x1003)};

    set_up(&s, t);
    no_turn(&s, VALISE_E_CONFLICT, NULL, "0004", VALISE_NONE);
    CHECK(strstr(t->err.message, "00000a0004") && strstr(t->err.message, "00000b0004"));
    no_turn(&s, VALISE_E_INVALID, NULL, "HEAD", VALISE_NONE);
    no_turn(&s, VALISE_E_NOT_FOUND, &empty, "HEAD", VALISE_NONE);
    no_turn(&s, VALISE_E_NOT_FOUND, &s.work, "HEAD~4", VALISE_NONE);
    no_turn(&s, VALISE_E_INVALID, &s.work, "HEAD~-1", VALISE_NONE);
    no_turn(&s, VALISE_E_INVALID, &s.work, "HEADS", VALISE_NONE);
    no_turn(&s, VALISE_E_INVALID, &s.work, "HEAD", 2);
    no_turn(&s, VALISE_E_INVALID, &s.work, "a0003@1", 2);
    no_turn(&s, VALISE_E_INVALID, &s.work, "a0003@0", VALISE_NONE);
    no_turn(&s, VALISE_E_INVALID, &s.work, "a0003@", VALISE_NONE);
    no_turn(&s, VALISE_E_INVALID, &s.work, "@1", VALISE_NONE);
    no_turn(&s, VALISE_E_INVALID, &s.work, "", VALISE_NONE);
    no_turn(&s, VALISE_E_INVALID, &s.work, "003", VALISE_NONE);
    no_turn(&s, VALISE_E_NOT_FOUND, &s.work, "a0003@3", VALISE_NONE);
    no_turn(&s, VALISE_E_NOT_FOUND, &s.work, "a0003", 3);
    no_turn(&s, VALISE_E_NOT_FOUND, &s.work, "ffff", VALISE_NONE);
    no_turn(&s, VALISE_E_NOT_FOUND, NULL, "ab000000-0000-0000-0000-00000000ffff", VALISE_NONE);
    tear_down(&s);
}
