/* sight.c -- what lies in the store is shown to those who may read the area it belongs to. [K23] */
#include "base/str.h"
#include "kernel/kit.h"

TEST_PARAMS(sight, "memory", "sqlite")

static int ask(test *t, const char **json, valise *v, const char *actor, const char *type,
               const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    int rc;

    call.actor = valise_str_of(actor);
    t->err = (valise_error)VALISE_ERROR_INIT;
    rc = valise_dispatch(&reply, v, type, payload, &call, &t->err);
    *json = rc < 0 ? "" : test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return rc;
}

#define SHOWN(actor, type, payload) CHECK_OK(ask(t, &json, v, actor, type, payload))
#define HIDDEN(actor, type, payload)                                                               \
    CHECK_RC(VALISE_E_DENIED, ask(t, &json, v, actor, type, payload))

/* A workspace with a secret in it, and `eve` who may do what is given besides log:read. */
static valise *open_with_eve(test *t, const char *more)
{
    valise *v = ws_open(t);

    (void)ws_run(t, v, "counter:add", "{\"name\":\"secret\",\"note\":\"hush\"}");
    (void)ws_run(
        t, v, "agent:add",
        test_format("{\"id\":\"eve\",\"capabilities\":[\"log:read\",\"index:read\"%s]}", more));
    return v;
}

TEST(sight, a_row_needs_what_the_queries_of_its_package_need)
{
    valise *v = open_with_eve(t, "");
    const char *json;

    HIDDEN("eve", "counter:get", "{\"name\":\"secret\"}");
    HIDDEN("eve", "workspace:show", "{\"target\":\"counter.tally/secret\"}");
    CHECK(strstr(t->err.message, "counter:read") && t->err.hint[0]);
    HIDDEN("eve", "workspace:show", "{\"target\":\"counter.tally/none\"}"); /* nor that it is not */
    SHOWN("local", "workspace:show", "{\"target\":\"counter.tally/secret\"}");
    (void)ws_run(t, v, "agent:update",
                 "{\"id\":\"eve\",\"capabilities\":[\"log:read\",\"counter:read\"]}");
    SHOWN("eve", "workspace:show", "{\"target\":\"counter.tally/secret\"}");
    CHECK(strstr(json, "\"value\":{"));
}

TEST(sight, the_kernel_s_own_rows)
{
    valise *v = open_with_eve(t, "");
    const char *json;

    (void)ws_run(t, v, "pin:add", "{\"name\":\"p\"}");
    (void)ws_run(t, v, "retention:set", "{\"kind\":\"log\",\"keepLatest\":100}");
    HIDDEN("eve", "workspace:show", "{\"target\":\"pin/p\"}");
    HIDDEN("eve", "workspace:show", "{\"target\":\"actor/local\"}");
    SHOWN("eve", "workspace:show", "{\"target\":\"retention/log\"}");
    (void)ws_run(t, v, "agent:update",
                 "{\"id\":\"eve\",\"capabilities\":[\"log:read\",\"pin:read\",\"agent:read\"]}");
    SHOWN("eve", "workspace:show", "{\"target\":\"pin/p\"}");
    SHOWN("eve", "workspace:show", "{\"target\":\"actor/local\"}");
}

TEST(sight, an_object_needs_a_capability_of_its_own)
{
    valise *v = open_with_eve(t, ",\"counter:read\"");
    const char *json, *id;
    const char *target;

    SHOWN("eve", "workspace:show", "{\"target\":\"counter.tally/secret\"}");
    id = strstr(json, "\"note\":\"");
    CHECK(id);
    target = test_format("{\"target\":\"%.64s\"}", id + strlen("\"note\":\""));
    HIDDEN("eve", "workspace:show", target);
    CHECK(strstr(t->err.message, "object:read"));
    (void)ws_run(t, v, "agent:update",
                 "{\"id\":\"eve\",\"capabilities\":[\"log:read\",\"object:read\"]}");
    SHOWN("eve", "workspace:show", target);
    CHECK(strstr(json, "hush"));
    (void)ws_run(t, v, "agent:add", "{\"id\":\"rita\",\"role\":\"reader\"}");
    SHOWN("rita", "workspace:show", target);
}

TEST(sight, payloads_are_left_out_of_the_log)
{
    valise *v = open_with_eve(t, "");
    const char *json;

    SHOWN("eve", "log:list", NULL);
    CHECK(strstr(json, "\"type\":\"counter:add\"") && !strstr(json, "secret"));
    SHOWN("eve", "workspace:show", "{\"target\":\"2\"}");
    CHECK(strstr(json, "\"type\":\"counter:add\"") && !strstr(json, "secret"));
    CHECK(strstr(json, "\"erased\":false"));
    SHOWN("local", "log:list", NULL);
    CHECK(strstr(json, "secret"));
    (void)ws_run(t, v, "agent:update",
                 "{\"id\":\"eve\",\"capabilities\":[\"log:read\",\"counter:read\"]}");
    SHOWN("eve", "log:list", NULL);
    CHECK(strstr(json, "\"name\":\"secret\""));
    CHECK(!strstr(json, "\"capabilities\"")); /* of agent:add */
    SHOWN("eve", "workspace:show", "{\"target\":\"2\"}");
    CHECK(strstr(json, "secret"));
}
