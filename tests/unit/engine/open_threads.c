/* open_threads.c -- one handle, many threads and many actors; and handles opened at once. [K26] */
#include <valise/workspace.h>

#include "bus/access.h"
#include "harness/test.h"

enum { THREADS = 6, ROUNDS = 40 };

static valise *open_memory(void)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;

    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_ANYBODY | VALISE_OPEN_CREATE;
    CHECK_MSG(valise_open(&v, ":memory:", &o, &err) == 0, "%s", err.message);
    return v;
}

static int run_as(valise *v, const char *actor, const char *type, const char *payload)
{
    valise_call call = VALISE_CALL_INIT;
    valise_error err = VALISE_ERROR_INIT;

    call.actor = valise_str_of(actor);
    return valise_dispatch(NULL, v, type, payload, &call, &err);
}

/* Each thread changes what its own actor may do, and must see that at once. */
static void act(size_t index, void *arg)
{
    const char *me = test_format("a%zu", index);
    const char *show = test_format("{\"id\":\"%s\"}", me);

    CHECK_INT(0, run_as(arg, "local", "agent:add",
                        test_format("{\"id\":\"%s\",\"role\":\"reader\"}", me)));
    for (int i = 0; i < ROUNDS; i++) {
        bool may = i % 2 == 0;
        CHECK_INT(0, run_as(arg, "local", "agent:update",
                            test_format("{\"id\":\"%s\",\"role\":\"none\",\"capabilities\":"
                                        "[\"agent:read id=%s\"]}",
                                        me, may ? me : "nobody")));
        CHECK_INT(may ? 0 : VALISE_E_DENIED, run_as(arg, me, "agent:show", show));
    }
}

TEST(open_threads, what_an_actor_may_do_holds_at_once)
{
    valise *v = open_memory();

    test_threads(THREADS, act, v);
    valise_close(v);
}

static void come_in(size_t index, void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        CHECK_INT(0, run_as(arg, test_format("n%d", i), "pin:add",
                            test_format("{\"name\":\"p%zu-%d\",\"target\":\"1\"}", index, i)));
}

/* Many come in at once; each is recorded once. */
TEST(open_threads, new_actors_are_recorded_once)
{
    valise *v = open_memory();
    valise_reply reply = VALISE_REPLY_INIT;

    test_threads(THREADS, come_in, v);
    CHECK_OK(valise_dispatch(&reply, v, "agent:list", NULL, NULL, &t->err));
    CHECK_INT(1 + ROUNDS + THREADS * ROUNDS, reply.seq);
    valise_reply_release(&reply);
    valise_close(v);
}

static void open_and_close(size_t index, void *arg)
{
    (void)index, (void)arg;
    for (int i = 0; i < 5; i++)
        valise_close(open_memory());
}

TEST(open_threads, handles_are_opened_at_once)
{
    test_threads(THREADS, open_and_close, NULL);
    CHECK(t);
}
