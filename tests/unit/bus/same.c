/* same.c -- commands that find everything as they would have it leave no entry. [K5] [K8] [C8] */
#include "kit/bus.h"

#include "kit/log_replay.h"

TEST_PARAMS(same, "memory", "sqlite")

/* ---- an area where things are set ---- */

typedef struct thing_row {
    valise_str name;
    int64_t value;
} thing_row;

static const valise_field thing_fields[] = {
    VALISE_FIELD(thing_row, name, STR, VALISE_REQUIRED | VALISE_KEY, "Its name."),
    VALISE_FIELD(thing_row, value, INT, 0, "Its value."),
    VALISE_FIELD_END,
};

static const valise_coll things = {.size = sizeof(valise_coll),
                                   .name = "same.thing",
                                   .help = "Things.",
                                   .fields = thing_fields,
                                   .row_size = sizeof(thing_row)};

typedef struct set_args {
    valise_str name;
    int64_t value;
    valise_content why;
} set_args;

static const valise_field set_in[] = {
    VALISE_FIELD(set_args, name, STR, VALISE_REQUIRED, "Its name."),
    VALISE_FIELD(set_args, value, INT, 0, "Its value."),
    VALISE_FIELD(set_args, why, DATA, VALISE_NULLABLE, "Nobody keeps it."),
    VALISE_FIELD_END,
};

typedef struct set_result {
    bool changed;
} set_result;

static const valise_field set_out[] = {
    VALISE_FIELD(set_result, changed, BOOL, VALISE_REQUIRED, "It was another."),
    VALISE_FIELD_END,
};

/* The row is put in any case: that it is the same is for others to see. */
static int set_decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const set_args *args = in;
    set_result *result = out;
    thing_row row = {.name = args->name};
    int rc = valise_view_get(&row, view, &things, err);

    if (rc < 0)
        return rc;
    result->changed = rc == 0 || row.value != args->value;
    row = (thing_row){args->name, args->value};
    return valise_view_put(view, &things, &row, err);
}

#define SET(op_name, op_flags, more)                                                               \
    {                                                                                              \
        .size = sizeof(valise_op), .name = op_name, .brief = "Set a thing.",                       \
        .kind = VALISE_COMMAND, .flags = op_flags, .needs = "same:write", .in = set_in,            \
        .in_size = sizeof(set_args), .out = set_out, .out_size = sizeof(set_result),               \
        .decide = set_decide, .example = "{\"name\":\"a\"}", more                                  \
    }

static const valise_op set_op = SET("same:set", VALISE_OP_IDEMPOTENT, .prepare = NULL);
static const valise_op log_op = SET("same:log", 0, .prepare = NULL);

static int64_t outside; /* what lies there, of the one test that runs */

static int look(valise_prepare *prepare, const void *in, valise_error *err)
{
    const set_args seen = {.name = VLS_STR("seen"), .value = outside, .why.size = VALISE_NONE};

    (void)in;
    return valise_prepare_add(prepare, &set_op, &seen, err);
}

static const valise_op look_op = SET("same:look", VALISE_OP_IDEMPOTENT, .prepare = look);

static const valise_coll *const colls[] = {&things, NULL};
static const valise_op *const ops[] = {&set_op, &log_op, &look_op, NULL};
static const valise_extension same = {.size = sizeof(valise_extension),
                                      .abi = VALISE_EXTENSION_ABI,
                                      .name = "same",
                                      .version = "1",
                                      .collections = colls,
                                      .operations = ops};

static const char first[] = "{\"name\":\"a\",\"value\":1}";

static kit *open_kit(test *t, const valise_middleware *const *middleware)
{
    outside = 7;
    return kit_open(t, &(kit_options){.more = &same, .middleware = middleware});
}

/* ---- one command ---- */

TEST(same, twice_is_in_the_log_once)
{
    kit *k = open_kit(t, NULL);
    valise_reply reply = VALISE_REPLY_INIT;
    const char *tip;

    CHECK_TEXT("{\"changed\":true}", kit_run(k, "same:set", first));
    (void)kit_run(k, "counter:add", "{\"name\":\"x\"}");
    tip = kit_tip(k);
    CHECK_OK(valise_dispatch(&reply, k->v, "same:set",
                             "{\"name\":\"a\",\"value\":1,\"why\":\"d2h5\"}", NULL, &t->err));
    CHECK_STR(VLS_STR("{\"changed\":false}"), valise_blob_bytes(reply.json));
    CHECK_INT(2, reply.seq); /* the state in which it was so */
    CHECK(!reply.repeated);
    valise_reply_release(&reply);
    CHECK_TEXT(tip, kit_tip(k));
    CHECK(!kit_has_object(k, "data", "why")); /* nobody refers to it */
    CHECK_TEXT("{\"changed\":true}", kit_run(k, "same:set", "{\"name\":\"a\",\"value\":2}"));
    CHECK_INT(3, kit_seq(k));
    kit_validate(k);
}

/* An operation that does not say so is in the log each time. */
TEST(same, others_are_in_the_log_each_time)
{
    kit *k = open_kit(t, NULL);

    (void)kit_run(k, "same:log", first);
    CHECK_TEXT("{\"changed\":false}", kit_run(k, "same:log", first));
    CHECK_INT(2, kit_seq(k));
}

TEST(same, typed_callers_get_their_struct)
{
    kit *k = open_kit(t, NULL);
    const set_args args = {.name = VLS_STR("a"), .value = 1, .why.size = VALISE_NONE};
    set_result result = {.changed = false};
    vls_memory memory = {0};

    CHECK_OK(vls_run(k->v, &set_op, &args, &result, NULL, NULL, NULL, &t->err));
    CHECK(result.changed);
    CHECK_OK(vls_run(k->v, &set_op, &args, &result, &memory, NULL, NULL, &t->err));
    CHECK(!result.changed);
    vls_memory_release(&memory);
    CHECK_INT(1, kit_seq(k));
}

/* Who brings an id may ask again with it, whatever has happened since: that is what the entry is
 * for. [K8] */
TEST(same, one_with_an_id_is_remembered)
{
    kit *k = open_kit(t, NULL);
    valise_call call = VALISE_CALL_INIT;

    (void)kit_run(k, "same:set", first);
    call.id = kit_uuid(1);
    CHECK_TEXT("{\"changed\":false}", kit_run_as(k, "same:set", first, &call));
    CHECK_INT(2, kit_seq(k));
    (void)kit_run(k, "same:set", "{\"name\":\"a\",\"value\":2}");
    CHECK_TEXT("{\"changed\":false}", kit_run_as(k, "same:set", first, &call));
    CHECK_INT(3, kit_seq(k));
    CHECK_TEXT("{\"changed\":false}", kit_run(k, "same:set", "{\"name\":\"a\",\"value\":2}"));
}

/* A log that has such entries, because of their ids or its age, is replayed with all of them. */
TEST(same, a_replay_makes_every_entry)
{
    kit *k = open_kit(t, NULL), *other;
    valise_call call = VALISE_CALL_INIT;
    int64_t count = 0;

    (void)kit_run(k, "same:set", first);
    call.id = kit_uuid(1);
    (void)kit_run_as(k, "same:set", first, &call);
    other = kit_open(t, &(kit_options){.backend = "memory", .more = &same});
    CHECK_OK(log_replay_run(
        &count,
        &(log_replay){
            .from = k->store, .to = other->store, .registry = k->registry, .access = kit_access},
        &t->err));
    CHECK_INT(2, count);
    CHECK_TEXT(kit_tip(k), kit_tip(other));
}

/* ---- with others around it ---- */

/* What was seen outside is recorded even where the command itself has nothing to add. */
TEST(same, what_stands_in_front_is_kept)
{
    kit *k = open_kit(t, NULL);

    (void)kit_run(k, "same:look", first);
    CHECK_INT(2, kit_seq(k));
    CHECK_TEXT("{\"changed\":false}", kit_run(k, "same:look", first));
    CHECK_INT(2, kit_seq(k));
    outside = 8;
    CHECK_TEXT("{\"changed\":false}", kit_run(k, "same:look", first));
    CHECK_INT(3, kit_seq(k));
    kit_validate(k);
}

TEST(same, in_a_batch_only_what_changes_is_in_the_log)
{
    kit *k = open_kit(t, NULL);
    const valise_command commands[] = {{VLS_STR("same:set"), valise_str_of(first), NULL},
                                       {VLS_STR("same:set"), valise_str_of(first), NULL},
                                       {VLS_STR("counter:add"), VLS_STR("{\"name\":\"x\"}"), NULL}};
    valise_reply replies[3] = {VALISE_REPLY_INIT, VALISE_REPLY_INIT, VALISE_REPLY_INIT};

    CHECK_OK(valise_dispatch_batch(replies, k->v, commands, 3, NULL, &t->err));
    CHECK_INT(1, replies[0].seq);
    CHECK_INT(1, replies[1].seq);
    CHECK_INT(2, replies[2].seq);
    for (int i = 0; i < 3; i++)
        valise_reply_release(&replies[i]);
    CHECK_OK(valise_dispatch_batch(NULL, k->v, commands, 2, NULL, &t->err));
    CHECK_INT(2, kit_seq(k));
    kit_validate(k);
}

typedef struct seen {
    int after;
    int64_t seq;
    bool adds;
} seen;

static int before(void *self, valise_pass *pass, valise_error *err)
{
    const seen *s = self;

    return !s->adds ? 0
                    : valise_pass_add(pass, true, "counter:add", VLS_STR("{\"name\":\"m\"}"),
                                      VLS_STR(""), err);
}

static int after(void *self, valise_pass *pass, valise_error *err)
{
    seen *s = self;

    (void)err;
    s->after++;
    s->seq = valise_pass_stamp(pass)->seq;
    return 0;
}

/* Middleware sees it like any other, and what it adds is kept. [K12] */
TEST(same, middleware_sees_it)
{
    seen s = {.adds = false};
    const valise_middleware m = {
        .size = sizeof(m), .name = "see", .self = &s, .before = before, .after = after};
    const valise_middleware *const list[] = {&m, NULL};
    kit *k = open_kit(t, list);

    (void)kit_run(k, "same:set", first);
    (void)kit_run(k, "same:set", first);
    CHECK_INT(2, s.after);
    CHECK_INT(1, s.seq);
    CHECK_INT(1, kit_seq(k));
    s.adds = true;
    CHECK_TEXT("{\"changed\":false}", kit_run(k, "same:set", first));
    CHECK_INT(2, kit_seq(k));
    CHECK_INT(1, kit_value(k, "m", ""));
    kit_validate(k);
}
