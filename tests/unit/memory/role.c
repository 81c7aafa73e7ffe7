/* role.c -- roles and their versions. [W12] */
#include "memory/kit.h"

TEST_PARAMS(role, "memory", "sqlite")

static const char *show(den *d, const char *json)
{
    return den_run(d, "role:show", json);
}

TEST(role, has_persona_constraints_and_topics)
{
    den *d = den_open(t);
    const char *shown;

    CHECK_TEXT("{\"name\":\"coder\",\"version\":1}",
               den_run(d, "role:add",
                       "{\"name\":\"coder\",\"label\":\"The coder\",\"persona\":\"You write C.\","
                       "\"constraints\":{\"model\":\"m\",\"temperature\":0.5,\"maxTokens\":100,"
                       "\"window\":8000,\"stop\":[\"END\"],\"extras\":{\"top_k\":4}},"
                       "\"topics\":[\"tests\",\"code\",\"tests\"]}"));
    shown = show(d, "{\"name\":\"coder\"}");
    CHECK(strstr(shown, "\"constraints\":{\"extras\":{\"top_k\":4},\"maxTokens\":100,\"model\":"
                        "\"m\",\"stop\":[\"END\"],\"temperature\":0.5,\"window\":8000}"));
    CHECK(strstr(shown, "\"topics\":[\"code\",\"tests\"]")); /* sorted, each once */
    CHECK_TEXT("You write C.", den_member(shown, "persona"));
    CHECK_TEXT("The coder", den_member(shown, "label"));
    CHECK_TEXT("true", den_member(shown, "current"));
    CHECK(strstr(den_run(d, "role:list", "{\"topic\":\"code\"}"), "\"coder\""));
    CHECK(!strstr(den_run(d, "role:list", "{\"topic\":\"c\"}"), "\"coder\""));
    den_check(d);
}

TEST(role, an_update_changes_only_what_is_given)
{
    den *d = den_open(t);
    const char *shown;

    (void)den_run(d, "role:add",
                  "{\"name\":\"a\",\"persona\":\"first\",\"label\":\"L\",\"topics\":[\"x\"],"
                  "\"constraints\":{\"model\":\"m\",\"temperature\":1}}");
    CHECK_TEXT("{\"name\":\"a\",\"version\":2}",
               den_run(d, "role:update", "{\"name\":\"a\",\"persona\":\"second\"}"));
    CHECK_TEXT("{\"name\":\"a\",\"version\":3}",
               den_run(d, "role:update", "{\"name\":\"a\",\"constraints\":{\"temperature\":0}}"));
    CHECK_TEXT("{\"name\":\"a\",\"version\":4}",
               den_run(d, "role:update",
                       "{\"name\":\"a\",\"unset\":[\"label\",\"model\"],\"topics\":[]}"));
    shown = show(d, "{\"name\":\"a\"}");
    CHECK(strstr(shown, "\"constraints\":{\"temperature\":0}"));
    CHECK(strstr(shown, "\"topics\":[]"));
    CHECK_TEXT("second", den_member(shown, "persona"));
    CHECK_TEXT("", den_member(shown, "label"));
    shown = show(d, "{\"name\":\"a\",\"version\":1}"); /* a prompt of then can be explained */
    CHECK_TEXT("first", den_member(shown, "persona"));
    CHECK_TEXT("false", den_member(shown, "current"));
    CHECK(strstr(shown, "\"constraints\":{\"model\":\"m\",\"temperature\":1}"));
    CHECK_TEXT("{\"name\":\"a\",\"version\":5}",
               den_run(d, "role:update", "{\"name\":\"a\",\"unset\":[\"temperature\"]}"));
    CHECK(!strstr(show(d, "{\"name\":\"a\"}"), "constraints"));
    CHECK_INT(5, den_times(den_run(d, "role:history", "{\"name\":\"a\"}"), "\"version\":"));
    den_check(d);
}

TEST(role, where_nothing_changes_there_is_no_version_and_no_entry)
{
    den *d = den_open(t);
    int64_t seq;

    (void)den_run(d, "role:add",
                  "{\"name\":\"a\",\"persona\":\"p\",\"topics\":[\"x\",\"y\"],"
                  "\"constraints\":{\"temperature\":1}}");
    seq = den_seq(d);
    CHECK_TEXT("{\"name\":\"a\",\"version\":1}",
               den_run(d, "role:update",
                       "{\"name\":\"a\",\"persona\":\"p\",\"topics\":[\"y\",\"x\"],"
                       "\"constraints\":{\"temperature\":1.0},\"unset\":[\"model\",\"label\"]}"));
    CHECK_TEXT("{\"name\":\"a\",\"version\":1}", den_run(d, "role:update", "{\"name\":\"a\"}"));
    CHECK_INT(seq, den_seq(d));
}

TEST(role, what_makes_no_sense_is_refused)
{
    static const struct {
        const char *json, *says;
    } wrong[] = {
        {"{\"name\":\"\"}", "name"},
        {"{\"name\":\" a\"}", "space"},
        {"{\"name\":\"a\\u0007\"}", "control"},
        {"{\"name\":\"a\",\"topics\":[\"\"]}", "topic"},
        {"{\"name\":\"a\",\"topics\":[\"x\\n\"]}", "control"},
        {"{\"name\":\"a\",\"constraints\":{\"temperature\":2.5}}", "between 0 and 2"},
        {"{\"name\":\"a\",\"constraints\":{\"temperature\":\"hot\"}}", "temperature"},
        {"{\"name\":\"a\",\"constraints\":{\"maxTokens\":0}}", "maxTokens"},
        {"{\"name\":\"a\",\"constraints\":{\"window\":-5}}", "window"},
        {"{\"name\":\"a\",\"constraints\":{\"stop\":\"x\"}}", "stop"},
        {"{\"name\":\"a\",\"constraints\":{\"stop\":[\"\"]}}", "stop"},
        {"{\"name\":\"a\",\"constraints\":{\"model\":\"\"}}", "model"},
        {"{\"name\":\"a\",\"constraints\":{\"extras\":[1]}}", "extras"},
        {"{\"name\":\"a\",\"constraints\":{\"top_k\":4}}", "top_k"},
    };
    den *d = den_open(t);
    int64_t seq = den_seq(d);

    for (size_t i = 0; i < VLS_COUNT(wrong); i++)
        den_refused(d, VALISE_E_INVALID, wrong[i].says, "role:add", wrong[i].json);
    CHECK_INT(seq, den_seq(d));
    (void)den_run(d, "role:add", "{\"name\":\"a\"}");
    den_refused(d, VALISE_E_EXISTS, "a role 'a' already exists", "role:add", "{\"name\":\"a\"}");
    den_refused(d, VALISE_E_INVALID, "extras", "role:update",
                "{\"name\":\"a\",\"constraints\":{\"extras\":1}}");
    den_refused(d, VALISE_E_INVALID, "must be one of", "role:update",
                "{\"name\":\"a\",\"unset\":[\"x\"]}");
    den_refused(d, VALISE_E_NOT_FOUND, "no role 'b'", "role:update", "{\"name\":\"b\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "no role 'b'", "role:show", "{\"name\":\"b\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "never was", "role:history", "{\"name\":\"b\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "no role 'b'", "role:delete", "{\"name\":\"b\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "no version 7", "role:show",
                "{\"name\":\"a\",\"version\":7}");
}

TEST(role, is_not_deleted_while_a_session_uses_it)
{
    den *d = den_open(t);
    const char *session;

    (void)den_run(d, "role:add", "{\"name\":\"a\",\"persona\":\"p\"}");
    (void)den_run(d, "role:add", "{\"name\":\"b\"}");
    session = den_member(den_run(d, "session:create", "{\"role\":\"a\"}"), "id");
    den_refused(d, VALISE_E_CONFLICT, session, "role:delete", "{\"name\":\"a\"}");
    (void)den_run(d, "session:role:switch",
                  test_format("{\"sessionId\":\"%s\",\"newRole\":\"b\"}", session));
    /* It began with it, and goes back to it with its head. */
    den_refused(d, VALISE_E_CONFLICT, session, "role:delete", "{\"name\":\"a\"}");
    den_refused(d, VALISE_E_CONFLICT, "1 session uses", "role:delete", "{\"name\":\"b\"}");
    (void)den_run(d, "role:delete", "{\"name\":\"a\",\"force\":true}");
    CHECK(!strstr(den_run(d, "role:list", "{}"), "\"a\""));
    den_check(d); /* what a session names may be gone */
    (void)den_run(d, "session:delete", test_format("{\"sessionId\":\"%s\"}", session));
    (void)den_run(d, "role:delete", "{\"name\":\"b\"}");
    den_check(d);
}

TEST(role, versions_stay_and_their_numbers_go_on)
{
    den *d = den_open(t);

    (void)den_run(d, "role:add", "{\"name\":\"a\",\"persona\":\"one\"}");
    (void)den_run(d, "role:update", "{\"name\":\"a\",\"persona\":\"two\"}");
    (void)den_run(d, "role:delete", "{\"name\":\"a\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "no role", "role:show", "{\"name\":\"a\"}");
    CHECK_TEXT("two", den_member(show(d, "{\"name\":\"a\",\"version\":2}"), "persona"));
    CHECK(!strstr(den_run(d, "role:history", "{\"name\":\"a\"}"), "\"current\":true"));
    CHECK_TEXT("{\"name\":\"a\",\"version\":3}",
               den_run(d, "role:add", "{\"name\":\"a\",\"persona\":\"three\"}"));
    CHECK_INT(3, den_times(den_run(d, "role:history", "{\"name\":\"a\"}"), "\"persona\":"));
    CHECK_TEXT("two", den_member(den_at(d, "role:show", "{\"name\":\"a\"}", "3"), "persona"));
    den_check(d);
}

TEST(role, expects_a_version)
{
    den *d = den_open(t);
    valise_call call = VALISE_CALL_INIT;

    (void)den_run(d, "role:add", "{\"name\":\"a\"}");
    (void)den_run(d, "role:update", "{\"name\":\"a\",\"persona\":\"p\"}");
    call.expect = VLS_STR("1");
    CHECK_RC(VALISE_E_CONFLICT,
             valise_dispatch(NULL, d->v, "role:update", "{\"name\":\"a\",\"persona\":\"q\"}", &call,
                             &t->err));
    CHECK_RC(VALISE_E_CONFLICT,
             valise_dispatch(NULL, d->v, "role:delete", "{\"name\":\"a\"}", &call, &t->err));
    call.expect = VLS_STR("2");
    CHECK_OK(valise_dispatch(NULL, d->v, "role:delete", "{\"name\":\"a\"}", &call, &t->err));
}

/* [K20] */
TEST(role, a_version_can_be_erased)
{
    den *d = den_open(t);

    (void)den_run(d, "role:add", "{\"name\":\"a\",\"persona\":\"the secret words\"}");
    (void)den_run(d, "role:update", "{\"name\":\"a\",\"persona\":\"harmless\"}");
    CHECK(!d->dir || den_has_bytes(d, "the secret words"));
    (void)den_run(d, "workspace:erase", "{\"place\":\"role_version/a/1\"}");
    (void)den_run(d, "workspace:gc", "{\"grace\":\"0s\"}");
    CHECK(!den_has_bytes(d, "the secret words"));
    CHECK(!strstr(show(d, "{\"name\":\"a\",\"version\":1}"), "persona"));
    CHECK_TEXT("harmless", den_member(show(d, "{\"name\":\"a\"}"), "persona"));
    den_check(d);
}
