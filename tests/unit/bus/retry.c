/* retry.c -- commands that come twice, and commands that expect something. [K8] */
#include "kit/bus.h"

TEST_PARAMS(retry, "memory", "sqlite")
TEST_PARAMS(expect, "memory", "sqlite")

TEST(retry, answers_the_same_and_changes_nothing)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;
    valise_reply first = VALISE_REPLY_INIT, again = VALISE_REPLY_INIT;
    const char *payload = "{\"name\":\"a\",\"note\":\"n\"}";

    call.id = kit_uuid(1);
    CHECK_OK(valise_dispatch(&first, k->v, "counter:add", payload, &call, &t->err));
    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    CHECK_OK(valise_dispatch(&again, k->v, "counter:add",
                             "{\"note\":\"n\" , \"by\":0, \"name\":\"\\u0061\"}", &call, &t->err));
    CHECK(!first.repeated && again.repeated);
    CHECK_INT(1, again.seq);
    CHECK_INT(first.time, again.time);
    CHECK(vls_uuid_equal(&call.id, &again.id));
    CHECK_STR(valise_blob_bytes(first.json), valise_blob_bytes(again.json));
    CHECK_INT(2, kit_value(k, "a", ""));
    CHECK_INT(2, kit_seq(k));
    valise_reply_release(&first);
    valise_reply_release(&again);
}

TEST(retry, with_anything_else_is_refused)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;

    call.id = kit_uuid(1);
    kit_run_as(k, "counter:add", "{\"name\":\"a\",\"note\":\"n\"}", &call);
    kit_fails(k, VALISE_E_EXISTS, "counter:add", "{\"name\":\"a\"}", &call);
    CHECK(strstr(t->err.message, "counter:add, seq 1"));
    kit_fails(k, VALISE_E_EXISTS, "counter:add", "{\"name\":\"a\",\"note\":\"m\"}", &call);
    kit_fails(k, VALISE_E_EXISTS, "counter:remove", "{\"name\":\"a\"}", &call);
    call.actor = VLS_STR("ann");
    kit_fails(k, VALISE_E_EXISTS, "counter:add", "{\"name\":\"a\",\"note\":\"n\"}", &call);
    CHECK_INT(1, kit_seq(k));
}

TEST(retry, of_a_command_that_failed_is_a_new_command)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;

    call.id = kit_uuid(1);
    kit_fails(k, VALISE_E_LIMIT, "counter:add", "{\"name\":\"a\",\"by\":1000000001}", &call);
    kit_run_as(k, "counter:add", "{\"name\":\"a\"}", &call);
    CHECK_INT(1, kit_value(k, "a", ""));
}

TEST(retry, comes_before_expect)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;

    call.id = kit_uuid(1);
    call.expect = VLS_STR("null");
    kit_run_as(k, "counter:add", "{\"name\":\"a\"}", &call);
    kit_run_as(k, "counter:add", "{\"name\":\"a\"}", &call);
    CHECK_INT(1, kit_value(k, "a", ""));
}

TEST(expect, lets_through_what_holds)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;

    call.expect = VLS_STR(" null ");
    kit_run_as(k, "counter:add", "{\"name\":\"a\"}", &call);
    call.expect = VLS_STR("1.0");
    kit_run_as(k, "counter:add", "{\"name\":\"a\"}", &call);
    CHECK_INT(2, kit_value(k, "a", ""));
}

TEST(expect, gives_the_current_value_when_it_does_not_hold)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    call.expect = VLS_STR("3");
    CHECK_RC(VALISE_E_CONFLICT,
             valise_dispatch(&reply, k->v, "counter:add", "{\"name\":\"a\"}", &call, &t->err));
    CHECK_TEXT("counter:add expects 3, but there is null", t->err.message);
    CHECK_STR(VLS_STR("null"), valise_blob_bytes(reply.current));
    CHECK(!reply.json);
    valise_reply_release(&reply);
    kit_run(k, "counter:add", "{\"name\":\"a\",\"by\":7}");
    call.expect = VLS_STR("null");
    CHECK_RC(VALISE_E_CONFLICT,
             valise_dispatch(&reply, k->v, "counter:add", "{\"name\":\"a\"}", &call, &t->err));
    CHECK_STR(VLS_STR("7"), valise_blob_bytes(reply.current));
    valise_reply_release(&reply);
    CHECK_RC(VALISE_E_CONFLICT,
             valise_dispatch(NULL, k->v, "counter:add", "{\"name\":\"a\"}", &call, NULL));
    call.expect = VLS_STR("{");
    kit_fails(k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\"}", &call);
    CHECK_TEXT("expect", t->err.path);
    CHECK_INT(1, kit_seq(k));
}

/* A conflict shows what is there: not to somebody who may not know. */
TEST(expect, shows_nothing_to_those_who_may_not)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    kit_run(k, "counter:add", "{\"name\":\"a\",\"by\":7}");
    call.expect = VLS_STR("1");
    call.actor = VLS_STR("nobody");
    CHECK_RC(VALISE_E_DENIED,
             valise_dispatch(&reply, k->v, "counter:add", "{\"name\":\"a\"}", &call, &t->err));
    CHECK(!reply.current);
}
