/* typed.c -- structs in, structs out, through the same pipeline. [K31] */
#include "kit/bus.h"

TEST_PARAMS(typed, "memory", "sqlite")

static add_args add_of(const char *name, int64_t by)
{
    return (add_args){.name = valise_str_of(name), .by = by};
}

TEST(typed, makes_the_same_entry_as_json)
{
    kit *k = kit_open(t, NULL);
    kit *other = kit_open(t, &(kit_options){.backend = "memory"});
    valise_call call = VALISE_CALL_INIT;
    VLS_AUTO(memory) vls_memory memory = {0};
    valise_str tags[] = {VLS_STR("x"), VLS_STR("y")};
    part_args part = {VLS_STR("p"), {.bytes = VLS_STR("bytes")}};
    part_args *parts[] = {&part};
    add_args args = add_of("a", 3);
    add_result result;
    valise_reply reply = VALISE_REPLY_INIT;

    args.note.bytes = VLS_STR("words");
    args.tags = (valise_list){tags, 2};
    args.parts = (valise_list){parts, 1};
    args.meta.bytes = VLS_STR("{\"b\": 2, \"a\": 1.0}"); /* made canonical on the way */
    call.id = kit_uuid(1);
    CHECK_OK(vls_run(k->v, &counter_add, &args, &result, &memory, &call,
                     &(vls_run_more){.reply = &reply}, &t->err));
    CHECK_INT(3, result.value);
    CHECK_STR(VLS_STR("a"), result.name);
    CHECK_INT(1, reply.seq);
    CHECK(!reply.json && !reply.repeated);
    CHECK_INT(5, part.body.size);
    CHECK(args.note.size == 0); /* the outermost struct is copied */

    kit_run_as(other, "counter:add",
               "{\"name\":\"a\",\"by\":3,\"note\":\"words\",\"tags\":[\"x\",\"y\"],"
               "\"parts\":[{\"label\":\"p\",\"body\":\"Ynl0ZXM=\"}],\"meta\":{\"a\":1,\"b\":2}}",
               &call);
    CHECK_TEXT(kit_run(other, "counter:get", "{\"name\":\"a\"}"),
               kit_run(k, "counter:get", "{\"name\":\"a\"}"));

    /* A retry through the other path is the same command. */
    valise_reply again = VALISE_REPLY_INIT;
    CHECK_OK(valise_dispatch(&again, k->v, "counter:add",
                             "{\"name\":\"a\",\"by\":3,\"note\":\"words\",\"tags\":[\"x\",\"y\"],"
                             "\"parts\":[{\"label\":\"p\",\"body\":\"Ynl0ZXM=\"}],"
                             "\"meta\":{\"a\":1,\"b\":2}}",
                             &call, &t->err));
    CHECK(again.repeated);
    valise_reply_release(&again);
}

TEST(typed, gives_the_first_result_to_a_retry)
{
    kit *k = kit_open(t, NULL);
    VLS_AUTO(memory) vls_memory one = {0};
    VLS_AUTO(memory) vls_memory two = {0};
    valise_call call = VALISE_CALL_INIT;
    add_args args = add_of("a", 3);
    add_result first, again;
    valise_reply reply = VALISE_REPLY_INIT;

    call.id = kit_uuid(1);
    CHECK_OK(vls_run(k->v, &counter_add, &args, &first, &one, &call, NULL, &t->err));
    CHECK_OK(vls_run(k->v, &counter_add, &args, &again, &two, &call,
                     &(vls_run_more){.reply = &reply}, &t->err));
    CHECK(reply.repeated);
    CHECK_INT(first.value, again.value);
    CHECK_STR(first.name, again.name);
    CHECK(vls_uuid_equal(&first.step, &again.step));
    CHECK_INT(1, kit_seq(k));
}

TEST(typed, checks_what_json_would_check)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;
    add_args args = add_of("a", 3);

    args.meta.bytes = VLS_STR("{");
    CHECK_RC(VALISE_E_INVALID, vls_run(k->v, &counter_add, &args, NULL, NULL, NULL, NULL, &t->err));
    args = add_of("a", 3);
    args.name = VLS_STR("\xff");
    CHECK_RC(VALISE_E_INVALID, vls_run(k->v, &counter_add, &args, NULL, NULL, NULL, NULL, &t->err));
    args = add_of("a", 3);
    call.actor = VLS_STR("reader");
    CHECK_RC(VALISE_E_DENIED, vls_run(k->v, &counter_add, &args, NULL, NULL, &call, NULL, &t->err));
    call.actor = VLS_STR("");
    call.expect = VLS_STR("9");
    valise_reply reply = VALISE_REPLY_INIT;
    CHECK_RC(VALISE_E_CONFLICT, vls_run(k->v, &counter_add, &args, NULL, NULL, &call,
                                        &(vls_run_more){.reply = &reply}, &t->err));
    CHECK_STR(VLS_STR("null"), valise_blob_bytes(reply.current));
    valise_reply_release(&reply);
    CHECK_RC(VALISE_E_CONFLICT,
             vls_run(k->v, &counter_add, &args, NULL, NULL, &call, NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED, vls_run(k->v, &counter_reset, NULL, NULL, NULL, NULL, NULL, &t->err));
    CHECK_INT(0, kit_seq(k));
}

/* An object that is there already may be named instead of brought along. */
TEST(typed, takes_the_id_of_an_object)
{
    kit *k = kit_open(t, NULL);
    add_args args = add_of("a", 1);
    valise_str name = VLS_STR("a");
    VLS_AUTO(memory) vls_memory memory = {0};
    get_result got;

    kit_run(k, "counter:add", "{\"name\":\"a\",\"note\":\"words\"}");
    CHECK_OK(vls_run(k->v, &counter_get, &name, &got, &memory, NULL, NULL, &t->err));
    CHECK_STR(VLS_STR("words"), got.note.bytes);
    args = add_of("b", 1);
    args.note = (valise_content){.id = got.note.id, .size = 5};
    CHECK_OK(vls_run(k->v, &counter_add, &args, NULL, NULL, NULL, NULL, &t->err));
    CHECK_TEXT("{\"name\":\"b\",\"note\":\"words\",\"value\":1,\"version\":2}",
               kit_run(k, "counter:get", "{\"name\":\"b\"}"));
    memset(&args.note.id, 7, sizeof(args.note.id));
    CHECK_RC(VALISE_E_NOT_FOUND,
             vls_run(k->v, &counter_add, &args, NULL, NULL, NULL, NULL, &t->err));
}

static int sum_rows(void *arg, const void *row, valise_error *err)
{
    int64_t *sum = arg;

    (void)err;
    *sum += ((const get_result *)row)->value;
    return *sum > 5;
}

static int fail_rows(void *arg, const void *row, valise_error *err)
{
    (void)arg, (void)row;
    return vls_fail(err, VALISE_E_IO, "enough");
}

TEST(typed, hands_rows_out_as_structs)
{
    kit *k = kit_open(t, NULL);
    int64_t above = VALISE_NONE, sum = 0;

    for (int i = 0; i < 5; i++)
        kit_run(k, "counter:add", test_format("{\"name\":\"c%d\",\"by\":2}", i));
    CHECK_OK(vls_run(k->v, &counter_list, &above, NULL, NULL, NULL,
                     &(vls_run_more){.emit = sum_rows, .emit_arg = &sum}, &t->err));
    CHECK_INT(6, sum);
    CHECK_RC(VALISE_E_IO, vls_run(k->v, &counter_list, &above, NULL, NULL, NULL,
                                  &(vls_run_more){.emit = fail_rows}, &t->err));
    CHECK_TEXT("enough", t->err.message);
}

static int also_fail(void *arg, vls_txn *txn, valise_view *view, valise_error *err)
{
    (void)txn;
    *(int64_t *)arg = valise_view_stamp(view)->seq;
    return vls_fail(err, VALISE_E_CORRUPT, "also");
}

static int also_meta(void *arg, vls_txn *txn, valise_view *view, valise_error *err)
{
    (void)view;
    return vls_meta_put_int(txn, "kit", *(int64_t *)arg, err);
}

static int read_meta(void *arg, valise_view *view, valise_error *err)
{
    return vls_meta_get_int(arg, view->txn, "kit", err);
}

TEST(typed, does_more_in_the_same_transaction)
{
    kit *k = kit_open(t, NULL);
    add_args args = add_of("a", 1);
    int64_t seq = 0, number = 42, got = 0;

    CHECK_RC(VALISE_E_CORRUPT, vls_run(k->v, &counter_add, &args, NULL, NULL, NULL,
                                       &(vls_run_more){.also = also_fail, .arg = &seq}, &t->err));
    CHECK_INT(1, seq);
    CHECK_INT(0, kit_seq(k));
    CHECK_OK(vls_run(k->v, &counter_add, &args, NULL, NULL, NULL,
                     &(vls_run_more){.also = also_meta, .arg = &number}, &t->err));
    CHECK_INT(1, vls_with_view(k->v, NULL, read_meta, &got, &t->err));
    CHECK_INT(42, got);
}

static int put_meta(void *arg, vls_txn *txn, valise_error *err)
{
    int rc = vls_meta_put_int(txn, "kit", 7, err);

    return rc < 0 || !arg ? rc : vls_fail(err, VALISE_E_IO, "no");
}

TEST(typed, writes_what_is_no_state_in_turn)
{
    kit *k = kit_open(t, NULL);
    int64_t got = 0;

    CHECK_RC(VALISE_E_IO, vls_with_txn(k->v, put_meta, k, &t->err));
    CHECK_INT(0, vls_with_view(k->v, NULL, read_meta, &got, &t->err));
    CHECK_OK(vls_with_txn(k->v, put_meta, NULL, &t->err));
    CHECK_INT(1, vls_with_view(k->v, NULL, read_meta, &got, &t->err));
    CHECK_INT(7, got);
}

TEST(typed, runs_jobs_too)
{
    kit *k = kit_open(t, NULL);
    VLS_AUTO(memory) vls_memory memory = {0};
    many_args args = {VLS_STR("a"), 3};
    get_result result;
    int64_t sum = 0;

    CHECK_OK(vls_run(k->v, &counter_many, &args, &result, &memory, NULL,
                     &(vls_run_more){.emit = sum_rows, .emit_arg = &sum}, &t->err));
    CHECK_INT(0 + 1 + 2, sum);
    CHECK_INT(3, kit_value(k, "a", ""));
}

/* ---- followers ---- */

typedef struct follower {
    kit *k;
    int commits, publishes;
    char log[512];
} follower;

static void committed(void *self, const vls_commit *commits, size_t count)
{
    follower *f = self;

    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(f->log);
        snprintf(f->log + len, sizeof(f->log) - len, "%lld:%s:%zu ",
                 (long long)commits[i].entry->seq, commits[i].op->name,
                 commits[i].changes->rows.len);
        CHECK(commits[i].entry->changes.len > 0);
        f->commits++;
    }
}

static void publish(void *self)
{
    follower *f = self;

    f->publishes++;
    CHECK(kit_seq(f->k) > 0); /* nothing is held: the API works */
}

TEST(typed, tells_followers_what_was_committed)
{
    static const vls_feed_ops ops = {committed, publish};
    kit *k = kit_open(t, NULL);
    follower f = {.k = k};
    valise_command commands[2] = {{VLS_STR("counter:add"), VLS_STR("{\"name\":\"a\"}"), NULL},
                                  {VLS_STR("counter:remove"), VLS_STR("{\"name\":\"a\"}"), NULL}};

    vls_bus_follow(k->v, &ops, &f);
    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    kit_fails(k, VALISE_E_LIMIT, "counter:add", "{\"name\":\"a\",\"by\":1000000000}", NULL);
    CHECK_OK(valise_dispatch_batch(NULL, k->v, commands, 2, NULL, &t->err));
    CHECK_TEXT("1:counter:add:2 2:counter:add:2 3:counter:remove:1 ", f.log);
    CHECK_INT(3, f.publishes);
}
