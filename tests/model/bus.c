/* bus.c -- random commands: the past stays as it was, and a replay gives the same. [K32 K35] */
#include "harness/model.h"

#include <sys/stat.h>

#include "kit/bus.h"
#include "kit/log_replay.h"

#define NAMES 4
#define MAX_SEQ 256

/* What each counter stood at after each command; -1: there was none. */
typedef struct world {
    test *t;
    kit k;
    const char *backend;
    int64_t values[MAX_SEQ][NAMES];
    valise_uuid ids[MAX_SEQ];
    int64_t seq;
} world;

static void open_kit(kit *k, test *t, const char *backend, const char *dir)
{
    CHECK_OK(
        kit_try_open(k, &(kit_options){.env = t->env, .backend = backend, .dir = dir}, &t->err));
    k->t = t;
}

static void *start(test *t, const char *dir)
{
    world *w = test_alloc(sizeof(*w));

    w->t = t;
    w->backend = t->param;
    open_kit(&w->k, t, t->param, dir);
    for (int i = 0; i < NAMES; i++)
        w->values[0][i] = -1;
    return w;
}

static int dispatch(world *w, const char *type, const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    int rc = valise_dispatch(&reply, w->k.v, type, payload, NULL, &w->t->err);

    if (rc == 0) {
        CHECK_INT(w->seq + 1, reply.seq);
        memcpy(w->values[reply.seq], w->values[w->seq], sizeof(w->values[0]));
        w->ids[reply.seq] = reply.id;
        w->seq = reply.seq;
    }
    valise_reply_release(&reply);
    return rc;
}

static bool is_full(const world *w)
{
    return w->seq + 4 >= MAX_SEQ;
}

static void op_add(void *state, model_args *a)
{
    world *w = state;
    int name = (int)model_below(a, "name", NAMES);
    int by = (int)model_below(a, "by", 9) + 1;

    if (is_full(w))
        return;
    CHECK_INT(0,
              dispatch(w, "counter:add",
                       test_format("{\"name\":\"c%d\",\"by\":%d,\"note\":\"n%d\"}", name, by, by)));
    w->values[w->seq][name] = VLS_MAX(w->values[w->seq][name], 0) + by;
}

static void op_remove(void *state, model_args *a)
{
    world *w = state;
    int name = (int)model_below(a, "name", NAMES);
    bool there = w->values[w->seq][name] >= 0;

    if (is_full(w))
        return;
    CHECK_INT(there ? 0 : VALISE_E_NOT_FOUND,
              dispatch(w, "counter:remove", test_format("{\"name\":\"c%d\"}", name)));
    if (there)
        w->values[w->seq][name] = -1;
}

static void op_fail(void *state, model_args *a)
{
    world *w = state;
    int name = (int)model_below(a, "name", NAMES);

    CHECK_INT(VALISE_E_LIMIT, dispatch(w, "counter:add",
                                       test_format("{\"name\":\"c%d\",\"by\":2000000000}", name)));
}

static void op_batch(void *state, model_args *a)
{
    world *w = state;
    int one = (int)model_below(a, "one", NAMES), two = (int)model_below(a, "two", NAMES);
    bool fails = model_below(a, "fails", 3) == 0;
    valise_command commands[2] = {{.type = VLS_STR("counter:add")},
                                  {.type = VLS_STR("counter:add")}};
    valise_reply replies[2] = {VALISE_REPLY_INIT, VALISE_REPLY_INIT};

    if (is_full(w))
        return;
    commands[0].payload = valise_str_of(test_format("{\"name\":\"c%d\"}", one));
    commands[1].payload =
        valise_str_of(test_format("{\"name\":\"c%d\",\"by\":%d}", two, fails ? 2000000000 : 2));
    CHECK_INT(fails ? VALISE_E_LIMIT : 0,
              valise_dispatch_batch(replies, w->k.v, commands, 2, NULL, &w->t->err));
    for (int i = 0; !fails && i < 2; i++) {
        int name = i == 0 ? one : two;
        memcpy(w->values[w->seq + 1], w->values[w->seq], sizeof(w->values[0]));
        w->seq++;
        w->ids[w->seq] = replies[i].id;
        w->values[w->seq][name] = VLS_MAX(w->values[w->seq][name], 0) + i + 1;
        valise_reply_release(&replies[i]);
    }
}

/* Every earlier state, row by row and as a list. */
static void op_look_back(void *state, model_args *a)
{
    world *w = state;
    int64_t seq = (int64_t)model_below(a, "seq", (uint64_t)w->seq + 1);
    const char *at = test_format("%lld", (long long)seq);
    const char *expected = "";
    valise_call call = VALISE_CALL_INIT;

    for (int i = 0; i < NAMES; i++) {
        CHECK_INT(w->values[seq][i], kit_value(&w->k, test_format("c%d", i), at));
        if (w->values[seq][i] >= 0)
            expected = test_format("%s c%d=%lld", expected, i, (long long)w->values[seq][i]);
    }
    call.at = valise_str_of(at);
    const char *list = kit_run_as(&w->k, "counter:list", "{}", &call), *actual = "";
    for (const char *row = list; (row = strstr(row, "\"name\":\"")) != NULL; row++) {
        const char *value = strstr(row, "\"value\":");
        int64_t number = 0;
        size_t len = strcspn(value + 8, ",}");
        CHECK(vls_str_to_i64(&number, vls_str(value + 8, len)));
        actual = test_format("%s %.2s=%lld", actual, row + 8, (long long)number);
    }
    CHECK_TEXT(expected, actual);
}

static void op_replay(void *state, model_args *a)
{
    world *w = state;
    const char *backend = model_below(a, "backend", 2) ? "sqlite" : "memory";
    const char *dir = test_format("%s/copy", test_tmpdir());
    kit copy;

    test_remove(dir);
    mkdir(dir, 0700);
    open_kit(&copy, w->t, backend, dir);
    test *t = w->t;
    CHECK_OK(log_replay_run(
        NULL,
        &(log_replay){
            .from = w->k.store, .to = copy.store, .registry = w->k.registry, .access = kit_access},
        &t->err));
    CHECK_TEXT(kit_state(&w->k), kit_state(&copy));
    CHECK_TEXT(kit_tip(&w->k), kit_tip(&copy));
    kit_close(&copy);
}

static void check(void *state)
{
    world *w = state;

    CHECK_INT(w->seq, kit_seq(&w->k));
}

static void stop(void *state)
{
    world *w = state;

    for (int64_t seq = 0; seq <= w->seq; seq++) {
        for (int i = 0; i < NAMES; i++)
            CHECK_INT(w->values[seq][i],
                      kit_value(&w->k, test_format("c%d", i), test_format("%lld", (long long)seq)));
    }
    kit_validate(&w->k);
    kit_close(&w->k);
}

TEST_PARAMS(bus, "memory", "sqlite")

TEST(bus, keeps_every_past_and_replays)
{
    static const model m = {.start = start,
                            .check = check,
                            .stop = stop,
                            .wants_dir = true,
                            .runs = 12,
                            .steps = 60,
                            .ops = {{"add", 6, op_add},
                                    {"remove", 3, op_remove},
                                    {"fail", 1, op_fail},
                                    {"batch", 2, op_batch},
                                    {"look", 2, op_look_back},
                                    {"replay", 1, op_replay}}};
    model_test(t, &m);
}
