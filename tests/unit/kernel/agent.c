/* agent.c -- actors: the operations on them, and what they may do, through the whole path. [K23]
 * [K24] */
#include <unistd.h>

#include <valise/workspace.h>

#include "engine/engine.h"
#include "harness/fault.h"

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

#define OK_AS(actor, type, payload) CHECK_OK(run_as(t, NULL, v, actor, type, payload))
#define REFUSED_AS(code, actor, type, payload)                                                     \
    CHECK_RC(code, run_as(t, NULL, v, actor, type, payload))

static int64_t last_seq(test *t, valise *v)
{
    valise_reply reply = VALISE_REPLY_INIT;
    int64_t seq;

    CHECK_OK(valise_dispatch(&reply, v, "agent:list", NULL, NULL, &t->err));
    seq = reply.seq;
    valise_reply_release(&reply);
    return seq;
}

TEST(agent, a_new_workspace_knows_local_with_everything) /* [K24] */
{
    valise *v = open_flags(t, VALISE_OPEN_CREATE);
    const char *json;

    CHECK_OK(run_as(t, &json, v, "local", "agent:show", "{\"id\":\"local\"}"));
    CHECK(strstr(json, "\"role\":\"owner\""));
    CHECK(strstr(json, "\"grants\":[\"*:*\",\"admin\"]"));
    CHECK_OK(run_as(t, &json, v, "local", "agent:list", NULL));
    CHECK(strstr(json, "{\"items\":[{\"added\":"));
    CHECK_INT(1, last_seq(t, v));
}

TEST(agent, an_unknown_actor_is_told_how_to_be_admitted) /* [K24] */
{
    valise *v = open_flags(t, VALISE_OPEN_CREATE);

    REFUSED_AS(VALISE_E_DENIED, "planner-7", "agent:add", "{\"id\":\"x\",\"role\":\"writer\"}");
    CHECK_TEXT("there is no actor 'planner-7' in this workspace", t->err.message);
    CHECK_TEXT("valise agent add planner-7 --role writer", t->err.hint);
    REFUSED_AS(VALISE_E_DENIED, "planner-7", "agent:list", NULL);
    CHECK_TEXT("valise agent add planner-7 --role writer (or reader)", t->err.hint);
    /* What could not stand on a command line is not put on one. */
    REFUSED_AS(VALISE_E_DENIED, "a;rm -rf x", "agent:list", NULL);
    CHECK(!strstr(t->err.hint, "rm"));
    CHECK_INT(1, last_seq(t, v));
}

TEST(agent, is_added_changed_and_removed)
{
    valise *v = open_flags(t, VALISE_OPEN_CREATE);
    const char *json;

    CHECK_OK(run_as(t, &json, v, "local", "agent:add", "{\"id\":\"a\",\"role\":\"reader\"}"));
    CHECK(strstr(json, "\"addedBy\":\"local\"") && strstr(json, "\"role\":\"reader\""));
    OK_AS("a", "agent:list", NULL);
    REFUSED_AS(VALISE_E_DENIED, "a", "agent:add", "{\"id\":\"b\",\"role\":\"reader\"}");
    CHECK_TEXT("agent:add needs admin, which a (role reader) does not have", t->err.message);
    CHECK_TEXT("valise agent update a --role owner", t->err.hint);

    REFUSED_AS(VALISE_E_EXISTS, "local", "agent:add", "{\"id\":\"a\",\"role\":\"writer\"}");
    CHECK_TEXT("valise agent update a --role writer", t->err.hint);
    OK_AS("local", "agent:update", "{\"id\":\"a\",\"role\":\"owner\"}");
    OK_AS("a", "agent:add", "{\"id\":\"b\",\"capabilities\":[\"agent:read\"]}");
    OK_AS("b", "agent:show", "{\"id\":\"a\"}");
    OK_AS("a", "agent:update", "{\"id\":\"b\",\"capabilities\":[\"pin:write\"]}");
    REFUSED_AS(VALISE_E_DENIED, "b", "agent:show", "{\"id\":\"a\"}");
    CHECK_TEXT("valise agent update b --grant agent:read", t->err.hint);

    OK_AS("a", "agent:remove", "{\"id\":\"b\"}");
    REFUSED_AS(VALISE_E_DENIED, "b", "agent:list", NULL);
    REFUSED_AS(VALISE_E_NOT_FOUND, "a", "agent:remove", "{\"id\":\"b\"}");
    REFUSED_AS(VALISE_E_NOT_FOUND, "a", "agent:update", "{\"id\":\"b\",\"role\":\"reader\"}");
    REFUSED_AS(VALISE_E_NOT_FOUND, "a", "agent:show", "{\"id\":\"b\"}");
    REFUSED_AS(VALISE_E_INVALID, "a", "agent:add", "{\"id\":\"c\"}");
    REFUSED_AS(VALISE_E_INVALID, "a", "agent:add",
               "{\"id\":\"c\",\"role\":\"reader\",\"capabilities\":[\"pin:write\"]}");
    CHECK(strstr(t->err.message, "contradicts role reader"));
    REFUSED_AS(VALISE_E_INVALID, "a", "agent:update",
               "{\"id\":\"a\",\"role\":\"reader\",\"capabilities\":[\"admin\"]}");
}

/* Nobody can lock everybody out. */
TEST(agent, the_last_administrator_stays)
{
    valise *v = open_flags(t, VALISE_OPEN_CREATE);

    REFUSED_AS(VALISE_E_CONFLICT, "local", "agent:remove", "{\"id\":\"local\"}");
    REFUSED_AS(VALISE_E_CONFLICT, "local", "agent:update",
               "{\"id\":\"local\",\"role\":\"writer\"}");
    CHECK(strstr(t->err.message, "only actor who can administer"));
    OK_AS("local", "agent:add",
          "{\"id\":\"half\",\"capabilities\":[\"admin path=a\",\"pin:read\"]}");
    REFUSED_AS(VALISE_E_CONFLICT, "local", "agent:remove", "{\"id\":\"local\"}");
    OK_AS("local", "agent:add", "{\"id\":\"other\",\"capabilities\":[\"admin\"]}");
    OK_AS("local", "agent:update", "{\"id\":\"local\",\"role\":\"writer\"}");
    REFUSED_AS(VALISE_E_CONFLICT, "other", "agent:remove", "{\"id\":\"other\"}");
    OK_AS("other", "agent:remove", "{\"id\":\"local\"}");
}

TEST(agent, narrowed_grants_look_at_the_arguments) /* [K23] */
{
    valise *v = open_flags(t, VALISE_OPEN_CREATE);

    OK_AS("local", "agent:add", "{\"id\":\"a\",\"capabilities\":[\"agent:read id=team/*\"]}");
    OK_AS("local", "agent:add", "{\"id\":\"team/b\",\"role\":\"reader\"}");
    OK_AS("a", "agent:show", "{\"id\":\"team/b\"}");
    REFUSED_AS(VALISE_E_DENIED, "a", "agent:show", "{\"id\":\"local\"}");
    CHECK_TEXT("agent:show needs agent:read, which a has only with id=team/*", t->err.message);
    REFUSED_AS(VALISE_E_DENIED, "a", "agent:list", NULL); /* has no id */
    OK_AS("local", "agent:add", "{\"id\":\"c\",\"capabilities\":[\"agent:read id=a type=b\"]}");
    REFUSED_AS(VALISE_E_DENIED, "c", "agent:show", "{\"id\":\"a\"}");
    CHECK(strstr(t->err.message, "has only with id=a and type=b"));
}

/* ---- open workspaces ---- */

TEST(agent, an_open_workspace_lets_everybody_in_as_a_writer) /* [K24] */
{
    valise *v = open_flags(t, VALISE_OPEN_CREATE | VALISE_OPEN_ANYBODY);
    const char *json;
    int64_t seq = last_seq(t, v);

    /* Who only reads is not recorded. */
    OK_AS("new", "agent:list", NULL);
    CHECK_INT(seq, last_seq(t, v));
    REFUSED_AS(VALISE_E_NOT_FOUND, "local", "agent:show", "{\"id\":\"new\"}");

    /* With the first command two entries come, in one transaction. */
    OK_AS("new", "pin:add", "{\"name\":\"p\",\"target\":\"1\"}");
    CHECK_INT(seq + 2, last_seq(t, v));
    CHECK_OK(run_as(t, &json, v, "local", "agent:show", "{\"id\":\"new\"}"));
    CHECK(strstr(json, "\"role\":\"writer\"") && strstr(json, "\"addedBy\":\"new\""));
    CHECK_OK(run_as(t, &json, v, "local", "log:list", "{}"));
    CHECK(strstr(json, "\"agent:admit\"") && strstr(json, "\"pin:add\""));

    /* Only once. */
    OK_AS("new", "pin:remove", "{\"name\":\"p\"}");
    CHECK_INT(seq + 3, last_seq(t, v));
    /* A writer is no owner. */
    REFUSED_AS(VALISE_E_DENIED, "new", "agent:remove", "{\"id\":\"new\"}");
    REFUSED_AS(VALISE_E_DENIED, "newer", "agent:remove", "{\"id\":\"new\"}");
    CHECK_TEXT("valise agent add newer --role owner", t->err.hint);
    REFUSED_AS(VALISE_E_DENIED, "not an id", "agent:list", NULL);
}

TEST(agent, a_command_that_fails_admits_nobody)
{
    valise *v = open_flags(t, VALISE_OPEN_CREATE | VALISE_OPEN_ANYBODY);
    int64_t seq = last_seq(t, v);

    REFUSED_AS(VALISE_E_NOT_FOUND, "new", "pin:remove", "{\"name\":\"nothing\"}");
    CHECK_INT(seq, last_seq(t, v));
    REFUSED_AS(VALISE_E_NOT_FOUND, "local", "agent:show", "{\"id\":\"new\"}");
}

TEST(agent, a_batch_admits_once)
{
    valise *v = open_flags(t, VALISE_OPEN_CREATE | VALISE_OPEN_ANYBODY);
    valise_command commands[] = {
        {VLS_STR("pin:add"), VLS_STR("{\"name\":\"a\",\"target\":\"1\"}"), NULL},
        {VLS_STR("pin:add"), VLS_STR("{\"name\":\"b\",\"target\":\"1\"}"), NULL},
    };
    valise_call call = VALISE_CALL_INIT;
    int64_t seq = last_seq(t, v);

    call.actor = VLS_STR("new");
    CHECK_OK(valise_dispatch_batch(NULL, v, commands, 2, &call, &t->err));
    CHECK_INT(seq + 3, last_seq(t, v));
}

TEST(agent, what_only_the_engine_does_cannot_be_asked_for)
{
    valise *v = open_flags(t, VALISE_OPEN_CREATE);

    CHECK(run_as(t, NULL, v, "local", "agent:admit", "{\"id\":\"x\"}") < 0);
    CHECK(run_as(t, NULL, v, "local", "workspace:create", "{}") < 0);
    CHECK_INT(1, last_seq(t, v));
}

/* ---- what is remembered ---- */

/* A row that was undone leaves nothing behind, even where its seq is given out again. */
static void undo_a_grant(test *t, const char *undone, const char *instead)
{
    valise *v = open_flags(t, VALISE_OPEN_CREATE);
    valise_call as_a = VALISE_CALL_INIT;
    valise_command commands[] = {
        {VLS_STR("agent:add"), valise_str_of(undone), NULL},
        {VLS_STR("pin:add"), VLS_STR("{\"name\":\"b\",\"target\":\"1\"}"), &as_a},
        {VLS_STR("pin:remove"), VLS_STR("{\"name\":\"none\"}"), &as_a},
    };

    as_a.actor = VLS_STR("a");
    CHECK_RC(VALISE_E_NOT_FOUND, valise_dispatch_batch(NULL, v, commands, 3, NULL, &t->err));
    REFUSED_AS(VALISE_E_DENIED, "a", "agent:list", NULL);
    OK_AS("local", "agent:add", instead); /* the same seq */
    REFUSED_AS(VALISE_E_DENIED, "a", "pin:add", "{\"name\":\"b\",\"target\":\"1\"}");
    OK_AS("a", "agent:list", NULL);
}

TEST(agent, an_undone_grant_is_not_remembered)
{
    undo_a_grant(t, "{\"id\":\"a\",\"role\":\"owner\"}", "{\"id\":\"a\",\"role\":\"reader\"}");
    undo_a_grant(t, "{\"id\":\"a\",\"capabilities\":[\"pin:write\"]}",
                 "{\"id\":\"a\",\"capabilities\":[\"agent:read\"]}");
}

/* Many more actors than are remembered. */
TEST(agent, many_actors_take_turns)
{
    enum { COUNT = 3 * VLS_ACCESS_CACHED };
    valise *v = open_flags(t, VALISE_OPEN_CREATE);

    for (int i = 0; i < COUNT; i++)
        OK_AS("local", "agent:add",
              test_format("{\"id\":\"a%d\",\"capabilities\":[\"agent:read id=a%d\"]}", i, i));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            const char *actor = test_format("a%d", i);
            OK_AS(actor, "agent:show", test_format("{\"id\":\"a%d\"}", i));
            REFUSED_AS(VALISE_E_DENIED, actor, "agent:show",
                       test_format("{\"id\":\"a%d\"}", i + 1));
        }
    }
}

/* Access is what holds now, also for who looks at the past. */
TEST(agent, the_past_is_read_with_the_rights_of_today)
{
    valise *v = open_flags(t, VALISE_OPEN_CREATE);
    valise_call call = VALISE_CALL_INIT;

    OK_AS("local", "agent:add", "{\"id\":\"a\",\"role\":\"reader\"}");
    call.actor = VLS_STR("a");
    call.at = VLS_STR("1"); /* a was not there yet */
    CHECK_OK(valise_dispatch(NULL, v, "agent:list", NULL, &call, &t->err));
    OK_AS("local", "agent:remove", "{\"id\":\"a\"}");
    call.at = VLS_STR("2"); /* a was there */
    CHECK_RC(VALISE_E_DENIED, valise_dispatch(NULL, v, "agent:list", NULL, &call, &t->err));
}

/* ---- every operation, every role ---- */

/* By hand, and not from the tables that are tested. */
static bool may(const char *role, const char *needs)
{
    const char *verb = strchr(needs, ':');

    if (strcmp(role, "owner") == 0)
        return true;
    if (!verb)
        return false;
    if (strcmp(verb, ":read") == 0)
        return true;
    if (strcmp(role, "writer") == 0)
        return strcmp(verb, ":write") == 0 || strcmp(verb, ":run") == 0 ||
               strcmp(verb, ":invalidate") == 0;
    return strcmp(role, "synthesis") == 0 &&
           (strcmp(needs, "context:write") == 0 || strcmp(needs, "context:synthesize") == 0 ||
            strcmp(needs, "context:regenerate") == 0 || strcmp(needs, "context:invalidate") == 0);
}

static int state_of(void *arg, valise_view *view, valise_error *err)
{
    return vls_state_hash(arg, view, err);
}

static valise_id state_hash(test *t, valise *v)
{
    valise_id id;

    CHECK_OK(vls_with_view(v, NULL, state_of, &id, &t->err));
    return id;
}

TEST(agent, every_operation_as_every_role) /* [Q24] [K24] */
{
    static const char *const roles[] = {"reader", "writer", "synthesis", "owner"};
    size_t calls = 0, denied = 0;
    char back[4096];

    CHECK(getcwd(back, sizeof(back))); /* examples of jobs may write files */
    CHECK_INT(0, chdir(test_tmpdir()));
    for (size_t r = 0; r < VLS_COUNT(roles); r++) {
        valise *v = open_flags(t, VALISE_OPEN_CREATE);
        const valise_op *const *ops = vls_registry_ops(vls_engine_of(v)->registry);
        OK_AS("local", "agent:add", test_format("{\"id\":\"it\",\"role\":\"%s\"}", roles[r]));
        for (; *ops; ops++) {
            valise_id before = state_hash(t, v);
            bool allowed;
            int rc;
            if (!(*ops)->needs || ((*ops)->flags & VALISE_OP_INTERNAL))
                continue;
            allowed = may(roles[r], (*ops)->needs);
            rc = run_as(t, NULL, v, "it", (*ops)->name, (*ops)->example);
            test_context("%s as %s: %s", (*ops)->name, roles[r], t->err.message);
            CHECK((rc == VALISE_E_DENIED) == !allowed);
            calls++;
            denied += !allowed;
            if (!allowed || strcmp(roles[r], "reader") == 0) {
                valise_id after = state_hash(t, v);
                CHECK(vls_id_equal(&before, &after));
            }
        }
    }
    CHECK_INT(0, chdir(back));
    CHECK(calls > 4 && denied > 0);
    test_note("%zu calls, %zu of them denied", calls, denied);
}

/* ---- failures ---- */

static int act_once(fault *f, void *arg)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_call call = VALISE_CALL_INIT;
    valise *v = NULL;
    int rc;

    (void)arg;
    o.env = f->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE | VALISE_OPEN_ANYBODY;
    rc = valise_open(&v, ":memory:", &o, &f->err);
    if (rc == 0)
        rc =
            valise_dispatch(NULL, v, "agent:add",
                            "{\"id\":\"a\",\"capabilities\":[\"agent:read id=a\"]}", NULL, &f->err);
    call.actor = VLS_STR("a");
    if (rc == 0)
        rc = valise_dispatch(NULL, v, "agent:show", "{\"id\":\"a\"}", &call, &f->err);
    call.actor = VLS_STR("new");
    if (rc == 0)
        rc = valise_dispatch(NULL, v, "pin:add", "{\"name\":\"b\",\"target\":\"1\"}", &call,
                             &f->err);
    valise_close(v);
    f->recovered = rc == 0; /* followers and upkeep do without, and come back later */
    return rc;
}

TEST(agent, without_memory)
{
    fault_each_alloc(t, 0, act_once, NULL);
}
