/* prepare.c -- commands that look outside before they are queued, and many at once. [K7] [K12] */
#include "kit/bus.h"

#include "bus/patience.h"
#include "harness/fault.h"
#include "kit/log_replay.h"

TEST_PARAMS(prepare, "memory", "sqlite")

/* ---- an area with a world outside ---- */

typedef struct seen_row {
    int64_t id;
    int64_t value;
} seen_row;

static const valise_field seen_fields[] = {
    VALISE_FIELD(seen_row, id, INT, VALISE_REQUIRED | VALISE_KEY, "Always 1."),
    VALISE_FIELD(seen_row, value, INT, 0, "What was seen last."),
    VALISE_FIELD_END,
};

static const valise_coll seen_coll = {.size = sizeof(valise_coll),
                                      .name = "outside.seen",
                                      .help = "What was seen.",
                                      .fields = seen_fields,
                                      .row_size = sizeof(seen_row)};

typedef struct note_args {
    int64_t base, value;
    valise_content text;
} note_args;

static const valise_field note_in[] = {
    VALISE_FIELD(note_args, base, INT, 0, "What was there."),
    VALISE_FIELD(note_args, value, INT, 0, "What was seen."),
    VALISE_FIELD(note_args, text, DATA, VALISE_NULLABLE, "More of it."),
    VALISE_FIELD_END,
};

static int note_decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    const note_args *a = args;
    seen_row row = {.id = 1};
    int rc = valise_view_get(&row, view, &seen_coll, err);

    (void)result;
    if (rc < 0)
        return rc;
    if (row.value != a->base)
        return vls_fail(err, VALISE_E_CONFLICT, "there is %lld", (long long)row.value);
    row.value = a->value;
    return valise_view_put(view, &seen_coll, &row, err);
}

static const valise_op note_op = {
    .size = sizeof(valise_op),
    .name = "outside:note",
    .brief = "Note what was seen.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "outside:write",
    .in = note_in,
    .in_size = sizeof(note_args),
    .decide = note_decide,
    .example = "{}",
};

typedef struct use_result {
    int64_t value;
} use_result;

static const valise_field use_out[] = {
    VALISE_FIELD(use_result, value, INT, 0, "What was seen last."),
    VALISE_FIELD_END,
};

/* What lies outside, and how often it was looked at. */
static struct {
    int64_t value, base;
    int looks, wrong; /* how many looks see something that does not fit */
    int fails;
    kit *others; /* who write something at each look that does not fit; NULL: nobody */
    valise_str actor;
} world;

static int use_prepare(valise_prepare *prepare, const void *args, valise_error *err)
{
    note_args note = {.base = world.base, .value = world.value};
    char *text = NULL;
    int rc;

    (void)args;
    CHECK(valise_prepare_workspace(prepare) != NULL);
    world.actor = valise_prepare_actor(prepare);
    world.looks++;
    if (world.fails < 0)
        return vls_fail(err, world.fails, "cannot look");
    if (world.wrong-- > 0) {
        note.base = 99;
        if (world.others)
            (void)kit_run(world.others, "counter:add", "{\"name\":\"a\"}");
    }
    rc = valise_prepare_alloc((void **)&text, prepare, 4, err);
    if (rc < 0)
        return rc;
    memcpy(text, "seen", 4);
    note.text.bytes = vls_str(text, 4);
    rc = valise_prepare_add(prepare, &note_op, &note, err);
    if (rc < 0)
        return rc;
    note = (note_args){.base = world.value, .value = world.value + 1};
    note.text.size = VALISE_NONE;
    return valise_prepare_add(prepare, &note_op, &note, err);
}

static int use_decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    use_result *out = result;
    seen_row row = {.id = 1};
    int rc = valise_view_get(&row, view, &seen_coll, err);

    (void)args;
    out->value = row.value;
    return rc < 0 ? rc : 0;
}

static const valise_op use_op = {
    .size = sizeof(valise_op),
    .name = "outside:use",
    .brief = "Use what is outside.",
    .kind = VALISE_COMMAND,
    .needs = "outside:write",
    .out = use_out,
    .out_size = sizeof(use_result),
    .decide = use_decide,
    .example = "{}",
    .prepare = use_prepare,
};

static int wrong_prepare(valise_prepare *prepare, const void *args, valise_error *err)
{
    (void)args;
    return valise_prepare_add(prepare, &counter_get, &VLS_STR("a"), err);
}

static const valise_op wrong_op = {
    .size = sizeof(valise_op),
    .name = "outside:wrong",
    .brief = "Put a query in front.",
    .kind = VALISE_COMMAND,
    .needs = "outside:write",
    .out = use_out,
    .out_size = sizeof(use_result),
    .decide = use_decide,
    .example = "{}",
    .prepare = wrong_prepare,
};

static const valise_coll *const colls[] = {&seen_coll, NULL};
static const valise_op *const ops[] = {&note_op, &use_op, &wrong_op, NULL};
static const valise_extension outside = {.size = sizeof(valise_extension),
                                         .abi = VALISE_EXTENSION_ABI,
                                         .name = "outside",
                                         .version = "1",
                                         .collections = colls,
                                         .operations = ops};

static kit *open_kit(test *t)
{
    memset(&world, 0, sizeof(world));
    world.value = 5;
    return kit_open(t, &(kit_options){.more = &outside});
}

/* ---- one command ---- */

TEST(prepare, what_was_seen_stands_in_front_in_the_same_transaction)
{
    kit *k = open_kit(t);

    CHECK_TEXT("{\"value\":6}", kit_run(k, "outside:use", "{}"));
    CHECK_INT(3, kit_seq(k));
    CHECK_INT(1, world.looks);
    CHECK_STR(VLS_STR("local"), world.actor);
    CHECK(kit_has_object(k, "data", "seen"));
}

TEST(prepare, typed_commands_are_prepared_too)
{
    kit *k = open_kit(t);
    use_result result;

    CHECK_OK(vls_run(k->v, &use_op, NULL, &result, NULL, NULL, NULL, &t->err));
    CHECK_INT(6, result.value);
    CHECK_INT(3, kit_seq(k));
}

TEST(prepare, who_may_not_leaves_nothing)
{
    kit *k = open_kit(t);
    valise_call call = VALISE_CALL_INIT;

    call.actor = VLS_STR("nobody");
    kit_fails(k, VALISE_E_DENIED, "outside:use", "{}", &call);
    CHECK_INT(0, kit_seq(k));
    kit_fails(k, VALISE_E_DENIED, "outside:note", "{}", NULL); /* only in front of another */
}

TEST(prepare, what_fails_there_fails_the_command)
{
    kit *k = open_kit(t);

    world.fails = VALISE_E_IO;
    kit_fails(k, VALISE_E_IO, "outside:use", "{}", NULL);
    CHECK_INT(1, world.looks);
    kit_fails(k, VALISE_E_INVALID, "outside:wrong", "{}", NULL);
    CHECK_INT(0, kit_seq(k));
}

TEST(prepare, what_does_not_fit_is_looked_at_again)
{
    kit *k = open_kit(t);

    world.wrong = 2;
    CHECK_TEXT("{\"value\":6}", kit_run(k, "outside:use", "{}"));
    CHECK_INT(3, world.looks);
    CHECK_INT(3, kit_seq(k));
    world.wrong = 3;
    world.looks = 0;
    kit_fails(k, VALISE_E_CONFLICT, "outside:use", "{}", NULL);
    CHECK_INT(3, world.looks);
    CHECK_INT(3, kit_seq(k));
}

TEST(prepare, who_is_late_looks_again_for_as_long_as_writers_are_waited_for)
{
    kit *k = open_kit(t);
    vls_patience patience;

    world.others = k;
    world.wrong = 40;
    CHECK_TEXT("{\"value\":6}", kit_run(k, "outside:use", "{}"));
    CHECK_INT(41, world.looks);
    CHECK_INT(43, kit_seq(k));
    CHECK_INT(40, kit_value(k, "a", ""));

    vls_patience_init(&patience, k->v);
    CHECK(patience.end_ticks > 0);
    patience.end_ticks = 0;
    CHECK(vls_patience_again(&patience, 1)); /* the first time costs nothing */
    CHECK(!vls_patience_again(&patience, 2));
    CHECK_RC(VALISE_E_BUSY, vls_patience_fail(&patience, VALISE_E_CONFLICT, "the tree", &t->err));
    CHECK(t->err.hint[0] != '\0');
    /* Where nobody else does anything, waiting does not help, and what is wrong is said. */
    vls_patience_init(&patience, k->v);
    CHECK(vls_patience_again(&patience, 7) && vls_patience_again(&patience, 7));
    CHECK(!vls_patience_again(&patience, 7));
    CHECK_RC(VALISE_E_CONFLICT, vls_patience_fail(&patience, VALISE_E_CONFLICT, "it", &t->err));
}

TEST(prepare, a_trial_leaves_nothing)
{
    kit *k = open_kit(t);
    valise_call call = VALISE_CALL_INIT;

    call.flags = VALISE_CALL_DRY_RUN;
    CHECK_TEXT("{\"value\":6}", kit_run_as(k, "outside:use", "{}", &call));
    CHECK_INT(0, kit_seq(k));
}

/* The log alone makes the same state: nobody looks outside again. */
TEST(prepare, a_replay_does_not_look)
{
    kit *k = open_kit(t);
    kit *other = kit_open(t, &(kit_options){.backend = "memory", .more = &outside});

    kit_run(k, "outside:use", "{}");
    world.looks = 0;
    world.value = 77;
    CHECK_OK(log_replay_run(
        NULL,
        &(log_replay){
            .from = k->store, .to = other->store, .registry = k->registry, .access = kit_access},
        &t->err));
    CHECK_INT(0, world.looks);
    CHECK_TEXT(kit_state(k), kit_state(other));
}

static int refuse(void *self, valise_pass *pass, valise_error *err)
{
    int *calls = self;

    ++*calls;
    if (*calls < 3)
        return valise_pass_add(pass, false, "counter:add", VLS_STR("{\"name\":\"m\"}"), VLS_STR(""),
                               err);
    return vls_fail(err, VALISE_E_DENIED, "no more");
}

/* Middleware sees the command, not what was put in front of it. */
TEST(prepare, middleware_comes_after_it)
{
    int calls = 0;
    valise_middleware m = {.size = sizeof(m), .name = "refuse", .self = &calls, .before = refuse};
    const valise_middleware *const list[] = {&m, NULL};
    kit *k;

    memset(&world, 0, sizeof(world));
    world.value = 5;
    k = kit_open(t, &(kit_options){.more = &outside, .middleware = list});
    CHECK_TEXT("{\"value\":6}", kit_run(k, "outside:use", "{}"));
    CHECK_INT(1, calls);
    CHECK_INT(4, kit_seq(k));
    CHECK_INT(1, kit_value(k, "m", ""));
    world.base = 6;
    CHECK_TEXT("{\"value\":6}", kit_run(k, "outside:use", "{}"));
    kit_fails(k, VALISE_E_DENIED, "outside:use", "{}", NULL);
    CHECK_INT(8, kit_seq(k));
}

/* ---- batches ---- */

TEST(prepare, the_commands_of_a_batch_are_prepared)
{
    kit *k = open_kit(t);
    valise_command commands[2] = {{VLS_STR("counter:add"), VLS_STR("{\"name\":\"a\"}"), NULL},
                                  {VLS_STR("outside:use"), VLS_STR("{}"), NULL}};
    valise_reply replies[2] = {VALISE_REPLY_INIT, VALISE_REPLY_INIT};

    world.wrong = 1;
    CHECK_OK(valise_dispatch_batch(replies, k->v, commands, 2, NULL, &t->err));
    CHECK_INT(2, world.looks);
    CHECK_INT(1, replies[0].seq);
    CHECK_INT(4, replies[1].seq);
    valise_reply_release(&replies[0]);
    valise_reply_release(&replies[1]);
    world.wrong = 9;
    CHECK_RC(VALISE_E_CONFLICT, valise_dispatch_batch(NULL, k->v, commands, 2, NULL, &t->err));
    CHECK_TEXT("[1]", t->err.path);
    CHECK_INT(4, kit_seq(k));
    CHECK_INT(1, kit_value(k, "a", ""));
}

TEST(prepare, many_are_run_together_or_not_at_all)
{
    kit *k = open_kit(t);
    note_args notes[3] = {{0, 1, {.bytes = VLS_STR("one")}},
                          {1, 2, {.size = VALISE_NONE}},
                          {2, 3, {.size = VALISE_NONE}}};
    add_args add = {.name = VLS_STR("a"), .by = 3};
    add_result result;
    vls_run_item items[4] = {{&note_op, &notes[0], NULL},
                             {&note_op, &notes[1], NULL},
                             {&note_op, &notes[2], NULL},
                             {&counter_add, &add, &result}};
    valise_call call = VALISE_CALL_INIT;

    call.actor = VLS_STR("ann");
    CHECK_OK(vls_run_many(k->v, items, 4, &call, &t->err));
    CHECK_INT(4, kit_seq(k));
    CHECK_INT(3, result.value);
    CHECK_INT(3, kit_value(k, "a", ""));
    CHECK_RC(VALISE_E_CONFLICT, vls_run_many(k->v, items, 4, &call, &t->err));
    add.by = 1000000000;
    notes[0].base = 3;
    CHECK_RC(VALISE_E_LIMIT, vls_run_many(k->v, items, 4, &call, &t->err));
    add.name = VLS_STR("\xff");
    CHECK_RC(VALISE_E_INVALID, vls_run_many(k->v, items, 4, &call, &t->err));
    CHECK_INT(4, kit_seq(k));
    kit_validate(k);
}

TEST(prepare, many_need_a_store_to_write)
{
    kit *k = kit_open(t, &(kit_options){.more = &outside, .no_store = true});
    note_args note = {0, 1, {.size = VALISE_NONE}};
    vls_run_item item = {&note_op, &note, NULL};

    CHECK_RC(VALISE_E_NOT_FOUND, vls_run_many(k->v, &item, 1, NULL, &t->err));
}

/* ---- no memory ---- */

static int once(fault *f, void *arg)
{
    note_args note = {0, 1, {.bytes = VLS_STR("one")}};
    vls_run_item items[2] = {{&note_op, &note, NULL}, {&use_op, NULL, NULL}};
    kit k;
    int rc;

    fault_off(f);
    memset(&world, 0, sizeof(world));
    CHECK(kit_try_open(&k, &(kit_options){.env = f->env, .backend = "memory", .more = &outside},
                       &f->err) == 0);
    fault_on(f);
    rc = arg ? vls_run_many(k.v, items, 2, NULL, &f->err)
             : valise_dispatch(NULL, k.v, "outside:use", "{}", NULL, &f->err);
    fault_off(f);
    kit_close(&k);
    return rc;
}

TEST(prepare, no_memory)
{
    CHECK(fault_each_alloc(t, 0, once, NULL) > 0);
    CHECK(fault_each_alloc(t, 0, once, &world) > 0);
}

/* A query cannot be prepared. */
TEST(prepare, only_commands)
{
    valise_op bad = counter_get;
    const valise_op *list[] = {&bad, NULL};
    valise_extension package = outside;
    kit *k = open_kit(t);

    bad.name = "other:get";
    bad.prepare = use_prepare;
    package.name = "other";
    package.collections = NULL;
    package.operations = list;
    CHECK_RC(VALISE_E_INVALID, vls_registry_add(k->registry, &package, false, &t->err));
}
