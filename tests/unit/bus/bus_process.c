/* bus_process.c -- several processes, and processes that die. [K11 K33 Q16 Q17] */
#include "kit/bus.h"

#include "harness/kill.h"
#include "harness/process.h"

#define PROCESSES 8
#define COMMANDS 500

static kit open_in(const char *dir, bool full_sync)
{
    kit k = {0};
    valise_error err = VALISE_ERROR_INIT;

    int rc = kit_try_open(
        &k,
        &(kit_options){
            .env = valise_env_default(), .backend = "sqlite", .dir = dir, .full_sync = full_sync},
        &err);
    CHECK_MSG(rc == 0, "open: %s", err.message);
    return k;
}

static int add_500(size_t index, void *arg)
{
    kit k = open_in(arg, false);
    valise_error err = VALISE_ERROR_INIT;

    for (int i = 0; i < COMMANDS; i++) {
        const char *payload = test_format("{\"name\":\"%s\",\"note\":\"%zu-%d\"}",
                                          i % 2 ? "shared" : "other", index, i);
        int rc = valise_dispatch(NULL, k.v, "counter:add", payload, NULL, &err);
        CHECK_MSG(rc == 0, "command %d: %s", i, err.message);
    }
    kit_close(&k);
    return 0;
}

/* Each sees the other's writes, and none is lost. */
TEST(process, eight_write_five_hundred_commands_each)
{
    char *dir = test_alloc(256);
    kit *k;

    snprintf(dir, 256, "%s", test_tmpdir());
    k = kit_open(t, &(kit_options){.backend = "sqlite"});
    process_all(NULL, PROCESSES, add_500, dir);
    CHECK_INT(PROCESSES * COMMANDS, kit_seq(k));
    CHECK_INT(PROCESSES * COMMANDS / 2, kit_value(k, "shared", ""));
    CHECK_INT(PROCESSES * COMMANDS / 2, kit_value(k, "other", ""));
    kit_validate(k);
    kit_run(k, "counter:add", "{\"name\":\"shared\"}");
    CHECK_INT(PROCESSES * COMMANDS / 2 + 1, kit_value(k, "shared", ""));
}

static void add_until_killed(kill_run *run, void *arg)
{
    kit k = open_in(run->dir, arg != NULL);

    for (uint64_t i = 1; i <= 60; i++) {
        valise_call call = VALISE_CALL_INIT;
        valise_command two[2] = {{VLS_STR("counter:add"), VLS_STR("{\"name\":\"left\"}"), NULL},
                                 {VLS_STR("counter:add"), VLS_STR("{\"name\":\"right\"}"), NULL}};
        call.id = kit_uuid(i);
        CHECK_INT(0, valise_dispatch(NULL, k.v, "counter:add",
                                     test_format("{\"name\":\"c%d\",\"note\":\"note %d\"}",
                                                 (int)(i % 7), (int)i),
                                     &call, NULL));
        kill_ack(run, "%d", (int)i);
        CHECK_INT(0, valise_dispatch_batch(NULL, k.v, two, 2, NULL, NULL));
    }
    kit_close(&k);
}

/* What was acknowledged is there, whole transactions only, and the workspace goes on. */
static void all_there(test *t, const kill_run *run, void *arg)
{
    kit k = open_in(run->dir, false);
    valise_error err = VALISE_ERROR_INIT;

    (void)arg;
    k.t = t;
    for (size_t i = 0; i < run->acked; i++) {
        valise_reply reply = VALISE_REPLY_INIT;
        valise_call call = VALISE_CALL_INIT;
        int64_t n = 0;
        CHECK(vls_str_to_i64(&n, valise_str_of(run->acks[i])));
        call.id = kit_uuid((uint64_t)n);
        CHECK_INT(0, valise_dispatch(&reply, k.v, "counter:add",
                                     test_format("{\"name\":\"c%d\",\"note\":\"note %d\"}",
                                                 (int)(n % 7), (int)n),
                                     &call, &err));
        CHECK(reply.repeated);
        valise_reply_release(&reply);
    }
    CHECK_INT(kit_value(&k, "left", ""), kit_value(&k, "right", ""));
    kit_validate(&k);
    kit_run(&k, "counter:add", "{\"name\":\"after\"}");
    kit_close(&k);
}

TEST(process, killed_at_any_moment_loses_nothing_it_acknowledged)
{
    kill_loop(t, 35, add_until_killed, all_there, NULL);
}

TEST(process, killed_while_it_syncs_loses_nothing_it_acknowledged)
{
    kill_loop(t, 20, add_until_killed, all_there, t);
}
