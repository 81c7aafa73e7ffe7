/* agent.c -- operations on actors, through the whole path. [K23] [K24] */
#include <valise/workspace.h>

#include "harness/test.h"

static void close_it(void *arg)
{
    valise_close(arg);
}

static valise *open_flags(test *t, unsigned flags)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | flags;
    CHECK_OK(valise_open(&v, ":memory:", &o, &t->err));
    test_defer(close_it, v);
    return v;
}

/* Run it as somebody; the answer, or "" when it failed. */
static int run_as(test *t, const char **json, valise *v, const char *actor, const char *type,
                  const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    int rc;

    call.actor = valise_str_of(actor);
    t->err = (valise_error)VALISE_ERROR_INIT;
    rc = valise_dispatch(&reply, v, type, payload, &call, &t->err);
    if (json)
        *json = rc < 0 ? "" : test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return rc;
}

TEST(agent, a_new_workspace_knows_local_with_everything) /* [K24] */
{
    valise *v = open_flags(t, VALISE_OPEN_CREATE);
    const char *json;

    CHECK_OK(run_as(t, &json, v, "local", "agent:show", "{\"id\":\"local\"}"));
    CHECK(strstr(json, "\"role\":\"owner\""));
    CHECK(strstr(json, "\"grants\":[\"*:*\",\"admin\"]"));
}
