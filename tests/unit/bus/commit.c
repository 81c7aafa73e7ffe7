/* commit.c -- the requests of a group, put together by hand. [K33] */
#include "kit/bus.h"

#include "bus/request.h"

TEST_PARAMS(commit, "memory", "sqlite")

#define MAX 5

typedef struct party {
    kit *k;
    vls_command commands[MAX];
    vls_bus_request requests[MAX];
    size_t count;
} party;

static void add(party *p, const char *payload, bool dry_run, uint64_t id)
{
    test *t = p->k->t;
    size_t i = p->count++;
    valise_call call = VALISE_CALL_INIT;

    if (id > 0)
        call.id = kit_uuid(id);
    CHECK_OK(vls_command_init(&p->commands[i], p->k->v, &counter_add, &call, false, &t->err));
    CHECK_OK(vls_command_decode(&p->commands[i], valise_str_of(payload), VLS_FIELD_INPUT, &t->err));
    p->commands[i].want_json = true;
    p->requests[i] = (vls_bus_request){
        .item = {.commands = 1}, .commands = &p->commands[i], .count = 1, .dry_run = dry_run};
    if (i > 0)
        p->requests[i - 1].item.next = &p->requests[i].item;
}

static void run(party *p)
{
    vls_commit_group(p->k->v, &p->requests[0].item, p->count);
}

static void release(party *p)
{
    for (size_t i = 0; i < p->count; i++)
        vls_command_release(&p->commands[i]);
    p->count = 0;
}

static void run_with_a_failure(party *p, unsigned careful)
{
    int64_t seq = kit_seq(p->k), value = kit_value(p->k, "a", "");

    add(p, "{\"name\":\"a\",\"note\":\"one\"}", false, 0);
    add(p, "{\"name\":\"a\",\"by\":1000000000,\"note\":\"lost\"}", false, 0);
    add(p, "{\"name\":\"a\",\"by\":5}", false, 0);
    CHECK_INT(careful, p->k->v->careful);
    run(p);
    CHECK_INT(0, p->requests[0].rc);
    CHECK_INT(VALISE_E_LIMIT, p->requests[1].rc);
    CHECK_INT(VALISE_E_LIMIT, p->requests[1].err.code);
    CHECK_INT(0, p->requests[2].rc);
    CHECK_INT(seq + 1, p->commands[0].entry.seq);
    CHECK_INT(seq + 2, p->commands[2].entry.seq);
    CHECK(p->commands[0].answer && !p->commands[1].answer && p->commands[2].answer);
    CHECK_INT(VLS_MAX(value, 0) + 6, kit_value(p->k, "a", ""));
    CHECK_INT(seq + 2, kit_seq(p->k));
    CHECK(kit_has_object(p->k, "text", "one") && !kit_has_object(p->k, "text", "lost"));
    release(p);
}

/* First without marks, so that all of it runs again; then with. */
TEST(commit, leaves_out_who_fails)
{
    party p = {.k = kit_open(t, NULL)};

    run_with_a_failure(&p, 0);
    run_with_a_failure(&p, 64);
    run_with_a_failure(&p, 63);
    kit_validate(p.k);
}

TEST(commit, answers_a_retry_within_the_group)
{
    party p = {.k = kit_open(t, NULL)};

    add(&p, "{\"name\":\"a\"}", false, 7);
    add(&p, "{\"name\":\"a\",\"by\":1000000001}", false, 0);
    add(&p, "{\"name\":\"a\"}", false, 7);
    run(&p);
    CHECK(!p.commands[0].repeated && p.commands[2].repeated);
    CHECK_INT(1, p.commands[2].entry.seq);
    CHECK_INT(VALISE_E_LIMIT, p.requests[1].rc);
    CHECK_INT(1, kit_seq(p.k));
    release(&p);
}

/* What is only tried is always taken back by itself. */
TEST(commit, tries_beside_others)
{
    party p = {.k = kit_open(t, NULL)};

    add(&p, "{\"name\":\"a\"}", false, 0);
    add(&p, "{\"name\":\"a\",\"by\":50}", true, 0);
    add(&p, "{\"name\":\"a\"}", false, 0);
    run(&p);
    for (int i = 0; i < 3; i++)
        CHECK_INT(0, p.requests[i].rc);
    CHECK_INT(2, p.commands[2].entry.seq);
    CHECK_INT(2, kit_value(p.k, "a", ""));
    CHECK_INT(0, p.k->v->careful);
    release(&p);
}

TEST(commit, of_nothing_but_failures_commits_nothing)
{
    party p = {.k = kit_open(t, NULL)};
    const char *before = kit_state(p.k);

    add(&p, "{\"name\":\"a\",\"by\":1000000001}", false, 0);
    add(&p, "{\"name\":\"b\",\"by\":1000000001}", false, 0);
    run(&p);
    CHECK_INT(VALISE_E_LIMIT, p.requests[0].rc);
    CHECK_INT(VALISE_E_LIMIT, p.requests[1].rc);
    CHECK_TEXT(before, kit_state(p.k));
    CHECK_INT(0, kit_seq(p.k));
    release(&p);
}
