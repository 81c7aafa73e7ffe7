/* batch.c -- several commands in one transaction: all of them or none. [K7] */
#include "kit/bus.h"

TEST_PARAMS(batch, "memory", "sqlite")

#define ADD(payload) ((valise_command){VLS_STR("counter:add"), VLS_STR(payload), NULL})

TEST(batch, runs_all_in_order)
{
    kit *k = kit_open(t, NULL);
    valise_reply replies[3] = {VALISE_REPLY_INIT, VALISE_REPLY_INIT, VALISE_REPLY_INIT};
    valise_command commands[3] = {ADD("{\"name\":\"a\"}"), ADD("{\"name\":\"a\",\"by\":5}"),
                                  ADD("{\"name\":\"b\"}")};
    valise_call call = VALISE_CALL_INIT;

    call.actor = VLS_STR("ann");
    CHECK_OK(valise_dispatch_batch(replies, k->v, commands, 3, &call, &t->err));
    for (int i = 0; i < 3; i++) {
        CHECK_INT(i + 1, replies[i].seq);
        CHECK(replies[i].json && !replies[i].repeated);
        valise_reply_release(&replies[i]);
    }
    CHECK_INT(6, kit_value(k, "a", ""));
    CHECK_INT(1, kit_value(k, "a", "1"));
    CHECK_OK(valise_dispatch_batch(NULL, k->v, commands, 3, NULL, &t->err));
    CHECK_INT(12, kit_value(k, "a", ""));
    CHECK_OK(valise_dispatch_batch(NULL, k->v, NULL, 0, NULL, &t->err));
    CHECK_INT(6, kit_seq(k));
}

TEST(batch, keeps_nothing_when_one_fails)
{
    kit *k = kit_open(t, NULL);
    valise_reply replies[3] = {VALISE_REPLY_INIT, VALISE_REPLY_INIT, VALISE_REPLY_INIT};
    valise_command commands[3] = {ADD("{\"name\":\"a\"}"), ADD("{\"name\":\"b\"}"),
                                  ADD("{\"name\":\"a\",\"by\":1000000000}")};
    const char *before = kit_state(k);

    CHECK_RC(VALISE_E_LIMIT, valise_dispatch_batch(replies, k->v, commands, 3, NULL, &t->err));
    CHECK_TEXT("[2]", t->err.path);
    CHECK(!replies[0].json && !replies[2].json);
    CHECK_TEXT(before, kit_state(k));
    CHECK_INT(0, kit_seq(k));

    commands[1].payload = VLS_STR("{\"name\":\"b\",\"by\":true}");
    CHECK_RC(VALISE_E_INVALID, valise_dispatch_batch(NULL, k->v, commands, 3, NULL, &t->err));
    CHECK_TEXT("[1].by", t->err.path);
    commands[1].type = VLS_STR("counter:list");
    CHECK_RC(VALISE_E_INVALID, valise_dispatch_batch(NULL, k->v, commands, 3, NULL, &t->err));
    CHECK_TEXT("[1]", t->err.path);
    commands[1].type = VLS_STR("counter:nothing");
    CHECK_RC(VALISE_E_NOT_FOUND, valise_dispatch_batch(NULL, k->v, commands, 3, NULL, &t->err));
    CHECK_INT(0, kit_seq(k));
}

TEST(batch, compares_the_expect_of_each_with_what_the_ones_before_it_made)
{
    kit *k = kit_open(t, NULL);
    valise_reply replies[2] = {VALISE_REPLY_INIT, VALISE_REPLY_INIT};
    valise_call none = VALISE_CALL_INIT, one = VALISE_CALL_INIT;
    valise_command commands[2] = {ADD("{\"name\":\"a\"}"), ADD("{\"name\":\"a\"}")};

    none.expect = VLS_STR("null");
    one.expect = VLS_STR("1");
    commands[0].call = &none;
    commands[1].call = &one;
    CHECK_OK(valise_dispatch_batch(NULL, k->v, commands, 2, NULL, &t->err));
    CHECK_RC(VALISE_E_CONFLICT, valise_dispatch_batch(replies, k->v, commands, 2, NULL, &t->err));
    CHECK_TEXT("[0]", t->err.path);
    CHECK_STR(VLS_STR("2"), valise_blob_bytes(replies[0].current));
    valise_reply_release(&replies[0]);
    CHECK_INT(2, kit_value(k, "a", ""));
}

TEST(batch, knows_commands_it_has_seen)
{
    kit *k = kit_open(t, NULL);
    valise_reply replies[3] = {VALISE_REPLY_INIT, VALISE_REPLY_INIT, VALISE_REPLY_INIT};
    valise_call first = VALISE_CALL_INIT, second = VALISE_CALL_INIT;
    valise_command commands[3] = {ADD("{\"name\":\"a\"}"), ADD("{\"name\":\"b\"}"),
                                  ADD("{\"name\":\"a\"}")};

    first.id = kit_uuid(1);
    second.id = kit_uuid(2);
    commands[0].call = commands[2].call = &first;
    commands[1].call = &second;
    for (int round = 0; round < 2; round++) {
        CHECK_OK(valise_dispatch_batch(replies, k->v, commands, 3, NULL, &t->err));
        CHECK_INT(round == 1, replies[0].repeated);
        CHECK(replies[2].repeated);
        CHECK_INT(1, replies[2].seq);
        for (int i = 0; i < 3; i++)
            valise_reply_release(&replies[i]);
    }
    CHECK_INT(2, kit_seq(k));
}

TEST(batch, is_tried_as_a_whole)
{
    kit *k = kit_open(t, NULL);
    valise_call dry = VALISE_CALL_INIT;
    valise_command commands[2] = {ADD("{\"name\":\"a\"}"), ADD("{\"name\":\"a\"}")};

    dry.flags = VALISE_CALL_DRY_RUN;
    CHECK_OK(valise_dispatch_batch(NULL, k->v, commands, 2, &dry, &t->err));
    CHECK_INT(0, kit_seq(k));
    commands[1].call = &dry;
    CHECK_RC(VALISE_E_INVALID, valise_dispatch_batch(NULL, k->v, commands, 2, NULL, &t->err));
    dry.id = kit_uuid(1);
    CHECK_RC(VALISE_E_INVALID, valise_dispatch_batch(NULL, k->v, commands, 1, &dry, &t->err));
    CHECK_RC(VALISE_E_LIMIT,
             valise_dispatch_batch(NULL, k->v, commands, VLS_BATCH_MAX + 1, NULL, &t->err));
    CHECK_INT(0, kit_seq(k));
}

TEST(batch, may_be_larger_than_a_group)
{
    enum { COUNT = 3 * VLS_GROUP_MAX_COMMANDS };
    kit *k = kit_open(t, NULL);
    valise_command commands[COUNT];

    for (int i = 0; i < COUNT; i++)
        commands[i] = ADD("{\"name\":\"a\",\"note\":\"n\"}");
    CHECK_OK(valise_dispatch_batch(NULL, k->v, commands, COUNT, NULL, &t->err));
    CHECK_INT(COUNT, kit_value(k, "a", ""));
}
