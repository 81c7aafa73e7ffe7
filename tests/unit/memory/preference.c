/* preference.c -- what is preferred, where, and its history. [W13] */
#include "memory/kit.h"

TEST_PARAMS(preference, "memory", "sqlite")

#define SESSION "01a1e410-7146-7261-a0e0-7f52ef793de6"
#define ID "01a1e410-7146-7261-a0e0-7f52ef793de7"

TEST(preference, has_scope_slot_priority_and_topics)
{
    den *d = den_open(t);
    const char *id, *shown;

    (void)den_run(d, "role:add", "{\"name\":\"coder\"}");
    id = den_member(den_run(d, "preference:add",
                            "{\"content\":\"Be brief.\",\"scope\":\"role\",\"of\":\"coder\","
                            "\"slot\":\"length\",\"priority\":-3,\"topics\":[\"b\",\"a\"]}"),
                    "id");
    shown = den_run(d, "preference:show", test_format("{\"id\":\"%s\"}", id));
    CHECK_TEXT("Be brief.", den_member(shown, "content"));
    CHECK_TEXT("role", den_member(shown, "scope"));
    CHECK_TEXT("coder", den_member(shown, "of"));
    CHECK_TEXT("length", den_member(shown, "slot"));
    CHECK_TEXT("-3", den_member(shown, "priority"));
    CHECK_TEXT("1", den_member(shown, "version"));
    CHECK(strstr(shown, "\"topics\":[\"a\",\"b\"]"));
    CHECK(den_member(shown, "updated")[0]);

    (void)den_run(d, "preference:add", "{\"content\":\"x\"}");
    (void)den_run(d, "session:create", "{\"id\":\"" SESSION "\"}");
    (void)den_run(d, "preference:add",
                  "{\"content\":\"y\",\"scope\":\"session\",\"of\":\""
                  "01A1E410-7146-7261-A0E0-7F52EF793DE6\"}");
    CHECK_INT(3, den_times(den_run(d, "preference:list", "{}"), "\"content\""));
    CHECK_INT(1, den_times(den_run(d, "preference:list", "{\"scope\":\"workspace\"}"), "\"x\""));
    CHECK_INT(1, den_times(den_run(d, "preference:list", "{\"of\":\"" SESSION "\"}"), "\"y\""));
    CHECK_INT(1, den_times(den_run(d, "preference:list", "{\"slot\":\"length\"}"), "\"id\""));
    CHECK_INT(1, den_times(den_run(d, "preference:list", "{\"topic\":\"b\"}"), "\"id\""));
    CHECK_INT(0, den_times(den_run(d, "preference:list", "{\"topic\":\"c\"}"), "\"id\""));
    den_check(d);
}

TEST(preference, what_makes_no_sense_is_refused)
{
    static const struct {
        int code;
        const char *json, *says;
    } wrong[] = {
        {VALISE_E_INVALID, "{}", "content"},
        {VALISE_E_INVALID, "{\"content\":\"x\",\"of\":\"a\"}", "cannot have a role or session"},
        {VALISE_E_INVALID, "{\"content\":\"x\",\"scope\":\"role\"}", "which role"},
        {VALISE_E_INVALID, "{\"content\":\"x\",\"scope\":\"session\"}", "which session"},
        {VALISE_E_INVALID, "{\"content\":\"x\",\"scope\":\"session\",\"of\":\"z\"}", "not the id"},
        {VALISE_E_NOT_FOUND, "{\"content\":\"x\",\"scope\":\"session\",\"of\":\"" SESSION "\"}",
         "no session " SESSION},
        {VALISE_E_NOT_FOUND, "{\"content\":\"x\",\"scope\":\"role\",\"of\":\"z\"}", "no role"},
        {VALISE_E_INVALID, "{\"content\":\"x\",\"scope\":\"moon\"}", "scope"},
        {VALISE_E_INVALID, "{\"content\":\"x\",\"slot\":\"\"}", "slot"},
        {VALISE_E_INVALID, "{\"content\":\"x\",\"slot\":\"a\\u0001\"}", "control"},
        {VALISE_E_INVALID, "{\"content\":\"x\",\"priority\":1000001}", "priority"},
        {VALISE_E_INVALID, "{\"content\":\"x\",\"topics\":[\" \"]}", "space"},
    };
    den *d = den_open(t);
    int64_t seq = den_seq(d);

    for (size_t i = 0; i < VLS_COUNT(wrong); i++)
        den_refused(d, wrong[i].code, wrong[i].says, "preference:add", wrong[i].json);
    CHECK_INT(seq, den_seq(d));
    (void)den_run(d, "preference:add", "{\"id\":\"" ID "\",\"content\":\"x\"}");
    den_refused(d, VALISE_E_EXISTS, ID, "preference:add", "{\"id\":\"" ID "\",\"content\":\"y\"}");
    den_refused(d, VALISE_E_INVALID, "which role", "preference:update",
                "{\"id\":\"" ID "\",\"scope\":\"role\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "no preference", "preference:update",
                "{\"id\":\"" SESSION "\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "no preference", "preference:show",
                "{\"id\":\"" SESSION "\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "no preference", "preference:delete",
                "{\"id\":\"" SESSION "\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "the log has no", "preference:history",
                "{\"id\":\"" SESSION "\"}");
    CHECK_RC(VALISE_E_NOT_FOUND, den_try(d, "preference:erase", "{\"id\":\"" SESSION "\"}"));
}

TEST(preference, history_tells_of_updates_deletes_and_what_came_again)
{
    den *d = den_open(t);
    const char *history;
    int64_t seq;

    (void)den_run(d, "preference:add", "{\"id\":\"" ID "\",\"content\":\"one\",\"slot\":\"s\"}");
    (void)den_run(d, "preference:update", "{\"id\":\"" ID "\",\"content\":\"two\"}");
    (void)den_run(d, "preference:update", "{\"id\":\"" ID "\",\"unset\":[\"slot\"]}");
    seq = den_seq(d);
    CHECK_TEXT("3", den_member(den_run(d, "preference:update",
                                       "{\"id\":\"" ID "\",\"content\":\"two\",\"priority\":0}"),
                               "version"));
    CHECK_INT(seq, den_seq(d));
    (void)den_run(d, "preference:delete", "{\"id\":\"" ID "\"}");
    CHECK(!strstr(den_run(d, "preference:list", "{}"), ID));
    (void)den_run(d, "preference:add", "{\"id\":\"" ID "\",\"content\":\"three\"}");

    history = den_run(d, "preference:history", "{\"id\":\"" ID "\"}");
    CHECK_INT(5, den_times(history, "\"seq\":"));
    CHECK_INT(1, den_times(history, "\"deleted\":true"));
    CHECK(strstr(history, "three") < strstr(history, "\"deleted\":true"));
    CHECK(strstr(history, "\"deleted\":true") < strstr(history, "two"));
    CHECK(strstr(history, "two") < strstr(history, "one"));
    CHECK_INT(2, den_times(history, "\"slot\":\"s\""));
    CHECK_INT(5, den_times(history, "\"actor\":\"local\""));
    history = den_at(d, "preference:history", "{\"id\":\"" ID "\"}", "3");
    CHECK_INT(2, den_times(history, "\"seq\":"));
    den_check(d);
}

TEST(preference, erase_takes_it_from_every_file)
{
    den *d = den_open(t);

    (void)den_run(d, "preference:add", "{\"id\":\"" ID "\",\"content\":\"the first secret\"}");
    (void)den_run(d, "preference:update", "{\"id\":\"" ID "\",\"content\":\"the second secret\"}");
    CHECK(!d->dir || den_has_bytes(d, "the first secret"));
    (void)den_run(d, "preference:erase", "{\"id\":\"" ID "\",\"reason\":\"asked for\"}");
    (void)den_run(d, "workspace:gc", "{\"grace\":\"0s\"}");
    CHECK(!den_has_bytes(d, "the first secret"));
    CHECK(!den_has_bytes(d, "the second secret"));
    CHECK(!strstr(den_run(d, "preference:list", "{}"), ID));
    CHECK(!strstr(den_run(d, "preference:history", "{\"id\":\"" ID "\"}"), "secret"));
    CHECK(strstr(den_run(d, "erasure:list", "{}"), "asked for"));
    den_check(d);

    /* What was deleted before can be erased too. */
    (void)den_run(d, "preference:add", "{\"id\":\"" SESSION "\",\"content\":\"a third secret\"}");
    (void)den_run(d, "preference:delete", "{\"id\":\"" SESSION "\"}");
    CHECK(!d->dir || den_has_bytes(d, "a third secret"));
    (void)den_run(d, "preference:erase", "{\"id\":\"" SESSION "\"}");
    (void)den_run(d, "workspace:gc", "{\"grace\":\"0s\"}");
    CHECK(!den_has_bytes(d, "a third secret"));
    den_check(d);
}

TEST(preference, needs_its_capabilities)
{
    den *d = den_open(t);

    (void)den_run(d, "agent:add",
                  "{\"id\":\"eve\",\"role\":\"none\","
                  "\"capabilities\":[\"preference:read\"]}");
    CHECK_OK(den_try_as(d, "eve", "preference:list", "{}"));
    CHECK_RC(VALISE_E_DENIED, den_try_as(d, "eve", "preference:add", "{\"content\":\"x\"}"));
    CHECK_RC(VALISE_E_DENIED, den_try_as(d, "eve", "role:list", "{}"));
    CHECK_RC(VALISE_E_DENIED, den_try_as(d, "eve", "context:list", "{}"));
    CHECK_RC(VALISE_E_DENIED, den_try_as(d, "eve", "index:query", "{\"name\":\"preferences\"}"));
    (void)den_run(d, "agent:add", "{\"id\":\"wim\",\"role\":\"writer\"}");
    CHECK_OK(den_try_as(d, "wim", "preference:add", "{\"id\":\"" ID "\",\"content\":\"x\"}"));
    CHECK_RC(VALISE_E_DENIED, den_try_as(d, "wim", "preference:erase", "{\"id\":\"" ID "\"}"));
}
