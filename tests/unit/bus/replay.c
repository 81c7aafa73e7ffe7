/* replay.c -- the same log gives the same state, on every backend. [K32] */
#include "kit/bus.h"
#include "kit/log_replay.h"

TEST_PARAMS(replay, "memory", "sqlite")

static int replay(int64_t *count, kit *from, kit *to)
{
    return log_replay_run(
        count,
        &(log_replay){
            .from = from->store, .to = to->store, .registry = from->registry, .access = kit_access},
        &from->t->err);
}

static kit *empty(test *t, const char *backend)
{
    return kit_open(t, &(kit_options){.backend = backend,
                                      .dir = test_format("%s/%s-copy", test_tmpdir(), backend)});
}

static void fill(kit *k)
{
    valise_call call = VALISE_CALL_INIT;

    call.actor = VLS_STR("ann");
    call.cause = kit_uuid(9);
    kit_run_as(k, "counter:add",
               "{\"name\":\"a\",\"note\":\"words\",\"tags\":[\"x\"],\"meta\":{\"a\":1},"
               "\"parts\":[{\"label\":\"x\",\"body\":\"c2VjcmV0IGJ5dGVz\"}]}",
               &call);
    for (int i = 0; i < 20; i++)
        kit_run(k, "counter:add", test_format("{\"name\":\"c%d\",\"by\":%d}", i % 3, i));
    kit_run(k, "counter:remove", "{\"name\":\"a\"}");
    kit_run(k, "counter:add", "{\"name\":\"a\"}");
}

TEST(replay, gives_the_same_chain_and_the_same_state_everywhere)
{
    static const char *const backends[] = {"memory", "sqlite"};
    kit *k = kit_open(t, NULL);
    int64_t count = 0;

    fill(k);
    for (size_t i = 0; i < VLS_COUNT(backends); i++) {
        kit *copy = empty(t, backends[i]);
        CHECK_OK(replay(&count, k, copy));
        CHECK_INT(23, count);
        CHECK_TEXT(kit_tip(k), kit_tip(copy));
        CHECK_TEXT(kit_state(k), kit_state(copy));
        CHECK_INT(-1, kit_value(copy, "a", "22"));
        CHECK_INT(1, kit_value(copy, "a", "21"));
    }
}

static int refuse(void *self, valise_pass *pass, valise_error *err)
{
    bool *active = self;

    (void)pass;
    return *active ? vls_fail(err, VALISE_E_DENIED, "no") : 0;
}

static int change(void *self, valise_pass *pass, valise_error *err)
{
    bool *active = self;

    if (!*active)
        return 0;
    int rc = valise_pass_add(pass, true, "counter:add", VLS_STR("{\"name\":\"more\"}"),
                             VLS_STR("helper"), err);
    return rc < 0 ? rc : valise_pass_change(pass, VLS_STR("{\"name\":\"changed\"}"), err);
}

TEST(replay, runs_what_was_executed_and_no_middleware)
{
    bool active = true;
    valise_middleware m = {.size = sizeof(m), .name = "m", .self = &active, .before = change};
    const valise_middleware *list[] = {&m, NULL};
    kit *k = kit_open(t, &(kit_options){.middleware = list});
    kit *copy = empty(t, t->param);

    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    m.before = refuse;
    CHECK_OK(replay(NULL, k, copy));
    CHECK_TEXT(kit_state(k), kit_state(copy));
    CHECK_TEXT(kit_tip(k), kit_tip(copy));
    CHECK_INT(1, kit_value(copy, "changed", ""));
    CHECK_INT(1, kit_value(copy, "more", ""));
}

TEST(replay, goes_only_into_an_empty_store)
{
    kit *k = kit_open(t, NULL);
    kit *copy = empty(t, t->param);

    fill(k);
    kit_run(copy, "counter:add", "{\"name\":\"a\"}");
    CHECK_RC(VALISE_E_EXISTS, replay(NULL, k, copy));
    CHECK_INT(1, kit_seq(copy));
}

static int erase_payload(void *arg, vls_txn *txn, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry;
    int rc;

    vls_arena_init(&arena, vls_store_env(txn->store), 1 << 20);
    rc = vls_log_get(&entry, txn, *(int64_t *)arg, &arena, err);
    CHECK_INT(1, rc);
    entry.payload = entry.nonce = (valise_str){NULL, 0};
    return vls_log_rewrite(txn, &entry, err);
}

TEST(replay, refuses_a_partial_log)
{
    kit *k = kit_open(t, NULL);
    kit *copy = empty(t, t->param);
    int64_t seq = 5;
    valise_call call = VALISE_CALL_INIT;

    fill(k);
    call.id = kit_uuid(1);
    kit_run_as(k, "counter:add", "{\"name\":\"a\"}", &call);
    CHECK_OK(vls_with_txn(k->v, erase_payload, &seq, &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED, replay(NULL, k, copy));
    CHECK(strstr(t->err.message, "the payload of entry 5 was erased"));

    /* A retry of an erased command cannot be told from another one. [K8] */
    seq = 24;
    CHECK_OK(vls_with_txn(k->v, erase_payload, &seq, &t->err));
    kit_fails(k, VALISE_E_EXISTS, "counter:add", "{\"name\":\"a\"}", &call);
}

static int expire(void *arg, vls_txn *txn, valise_error *err)
{
    int rc = vls_log_delete(txn, 1, err);

    (void)arg;
    return rc < 0 ? rc : vls_meta_put_int(txn, "base_seq", 1, err);
}

TEST(replay, refuses_a_log_whose_beginning_expired)
{
    kit *k = kit_open(t, NULL);
    kit *copy = empty(t, t->param);
    valise_call call = VALISE_CALL_INIT;

    fill(k);
    CHECK_OK(vls_with_txn(k->v, expire, NULL, &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED, replay(NULL, k, copy));
    CHECK(strstr(t->err.message, "entries up to 1 have expired"));
    call.at = VLS_STR("0");
    kit_fails(k, VALISE_E_LIMIT, "counter:list", "{}", &call); /* [K35] */
    CHECK(strstr(t->err.hint, "seq 1"));
}

TEST(replay, refuses_operations_it_does_not_know)
{
    kit *k = kit_open(t, NULL);
    kit *copy = empty(t, t->param);
    vls_registry *none = NULL;

    fill(k);
    CHECK_OK(vls_registry_new(&none, t->env, &t->err));
    int rc = log_replay_run(
        NULL,
        &(log_replay){.from = k->store, .to = copy->store, .registry = none, .access = kit_access},
        &t->err);
    vls_registry_free(none);
    CHECK_INT(VALISE_E_UNSUPPORTED, rc);
    CHECK(strstr(t->err.message, "counter:add"));
}

/* A decider that looks at the world. */
static int impure_decide(valise_view *view, const void *arguments, void *result, valise_error *err)
{
    static int64_t calls;
    tally_row row = {.name = VLS_STR("impure")};

    (void)arguments, (void)result;
    row.value = ++calls;
    return valise_view_put(view, &counter_tally, &row, err);
}

typedef struct impure_result {
    int64_t value;
} impure_result;

static int impure_answer(valise_view *view, const void *arguments, void *result, valise_error *err)
{
    static int64_t calls;

    (void)view, (void)arguments, (void)err;
    ((impure_result *)result)->value = ++calls;
    return 0;
}

static const valise_field impure_out[] = {
    VALISE_FIELD(impure_result, value, INT, 0, "A number."),
    VALISE_FIELD_END,
};

TEST(replay, notices_an_operation_that_is_not_pure)
{
    valise_op op = counter_reset;
    const valise_op *ops[] = {&op, NULL};
    valise_extension package = {.size = sizeof(package),
                                .abi = VALISE_EXTENSION_ABI,
                                .name = "impure",
                                .version = "1",
                                .operations = ops};
    kit *k = kit_open(t, NULL);
    kit *copy = empty(t, "memory");

    op.name = "impure:count";
    op.flags = 0;
    op.needs = "impure:write";
    op.decide = impure_answer;
    op.out = impure_out;
    op.out_size = sizeof(impure_result);
    CHECK_OK(vls_registry_add(k->registry, &package, false, &t->err));
    kit_run(k, "impure:count", "{}");
    CHECK_RC(VALISE_E_CORRUPT, replay(NULL, k, copy));
    CHECK(strstr(t->err.message, "entry 1 (impure:count) gave a different result"));

    /* What it puts into rows shows in the state hash, and in what the next change replaces. */
    op.decide = impure_decide;
    op.out = NULL;
    op.out_size = 0;
    kit *two = kit_open(t, &(kit_options){.backend = "memory"});
    kit *again = empty(t, "memory");
    CHECK_OK(vls_registry_add(two->registry, &package, false, &t->err));
    kit_run(two, "impure:count", "{}");
    CHECK_OK(replay(NULL, two, again));
    CHECK(strcmp(kit_state(two), kit_state(again)) != 0);
    kit_run(two, "impure:count", "{}");
    again = empty(t, "memory");
    CHECK_RC(VALISE_E_CORRUPT, replay(NULL, two, again));
    CHECK(strstr(t->err.message, "list of changes"));
}

/* ---- limits that became narrower ---- */

typedef struct box {
    valise_str name;
    int64_t size;
    double weight;
    valise_list tags;
    valise_content note; /* TEXT; of the arguments alone */
    valise_str colour;
} box;

static const valise_field box_tag = {.type = VALISE_T_STR};

/* Not constant: what these say changes between two versions of the program. */
static valise_field box_fields[] = {
    VALISE_FIELD(box, name, STR, VALISE_KEY, "Its name."),
    VALISE_FIELD(box, size, INT, 0, "How large it is."),
    VALISE_FIELD(box, weight, REAL, 0, "How heavy it is."),
    VALISE_FIELD_WITH(box, tags, LIST, 0, "Its tags.", .more = &box_tag),
    VALISE_FIELD(box, colour, STR, 0, "Its colour."),
    VALISE_FIELD_END,
};
static valise_field box_in[] = {
    VALISE_FIELD(box, name, STR, VALISE_REQUIRED, "Its name."),
    VALISE_FIELD(box, size, INT, 0, "How large it is."),
    VALISE_FIELD(box, weight, REAL, 0, "How heavy it is."),
    VALISE_FIELD_WITH(box, tags, LIST, 0, "Its tags.", .more = &box_tag),
    VALISE_FIELD(box, note, TEXT, VALISE_NULLABLE, "What is in it."),
    VALISE_FIELD(box, colour, STR, 0, "Its colour."),
    VALISE_FIELD_END,
};

static const valise_coll box_coll = {.size = sizeof(valise_coll),
                                     .name = "box.row",
                                     .help = "A box.",
                                     .fields = box_fields,
                                     .row_size = sizeof(box)};

static int box_decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    (void)result;
    return valise_view_put(view, &box_coll, args, err);
}

static const valise_op box_put = {.size = sizeof(valise_op),
                                  .name = "box:put",
                                  .brief = "Put a box.",
                                  .kind = VALISE_COMMAND,
                                  .needs = "box:write",
                                  .in = box_in,
                                  .in_size = sizeof(box),
                                  .decide = box_decide,
                                  .example = "{\"name\":\"a\"}"};
static const valise_op *const box_ops[] = {&box_put, NULL};
static const valise_coll *const box_colls[] = {&box_coll, NULL};
static const valise_extension box_extension = {.size = sizeof(valise_extension),
                                               .abi = VALISE_EXTENSION_ABI,
                                               .name = "box",
                                               .version = "1",
                                               .collections = box_colls,
                                               .operations = box_ops};

static void limit(valise_field *fields, int64_t max)
{
    for (valise_field *f = fields; f->type != VALISE_T_END; f++)
        f->max = max;
}

static void limit_all(int64_t max)
{
    limit(box_fields, max);
    limit(box_in, max);
}

static void widen(void *arg)
{
    (void)arg;
    limit_all(0);
}

/* [K32] What was accepted once is replayed, and is sound, whatever the limits are now. */
TEST(replay, accepts_what_was_accepted_under_wider_limits)
{
    const char *large = "{\"name\":\"a long name\",\"size\":1000,\"weight\":99.5,"
                        "\"tags\":[\"1\",\"2\",\"3\",\"4\",\"5\"],"
                        "\"note\":\"a long note\",\"colour\":\"yellow\"}";
    const char *small = "{\"name\":\"b\",\"size\":1}";
    kit *k, *copy;

    test_defer(widen, NULL);
    k = kit_open(t, &(kit_options){.more = &box_extension});
    kit_run(k, "box:put", large);
    kit_run(k, "box:put", small);
    kit_run(k, "box:put", "{\"name\":\"a long name\",\"size\":2000}");
    limit_all(4);
    kit_fails(k, VALISE_E_INVALID, "box:put", large, NULL);
    kit_validate(k); /* [K22] */
    copy = kit_open(t, &(kit_options){.backend = t->param,
                                      .more = &box_extension,
                                      .dir = test_format("%s/copy", test_tmpdir())});
    CHECK_OK(replay(NULL, k, copy));
    CHECK_TEXT(kit_tip(k), kit_tip(copy));
    CHECK_TEXT(kit_state(k), kit_state(copy));
    kit_validate(copy);
    /* What is new is under the limits of now, in the copy too. */
    kit_fails(copy, VALISE_E_INVALID, "box:put", large, NULL);
    kit_run(copy, "box:put", "{\"name\":\"c\",\"size\":4}");
    limit(box_fields, 2); /* of the row alone */
    kit_fails(copy, VALISE_E_INVALID, "box:put", "{\"name\":\"c\",\"size\":3}", NULL);
}

/* ---- a collection that has grown ---- */

static void grow(void *arg)
{
    valise_field *last = arg;

    last->type = VALISE_T_STR;
    last->flags = VALISE_NULLABLE;
}

/* [K32 Q22] Columns that came later are none in the rows of that time, also in the log's images. */
TEST(replay, accepts_images_from_before_a_collection_has_grown)
{
    valise_field *colour = &box_fields[4];
    kit *k, *copy;

    colour->type = VALISE_T_END; /* the program of then has one column less */
    test_defer(grow, colour);
    k = kit_open(t, &(kit_options){.more = &box_extension});
    kit_run(k, "box:put", "{\"name\":\"a\",\"size\":1}");
    kit_run(k, "box:put", "{\"name\":\"a\",\"size\":2}");
    grow(colour);
    copy = kit_open(t, &(kit_options){.backend = t->param,
                                      .more = &box_extension,
                                      .dir = test_format("%s/copy", test_tmpdir())});
    CHECK_OK(replay(NULL, k, copy));
    CHECK_TEXT(kit_tip(k), kit_tip(copy));
}

static int stop_at_once(void *arg, const valise_progress_state *state)
{
    (void)arg, (void)state;
    return 1;
}

TEST(replay, can_be_stopped)
{
    kit *k = kit_open(t, NULL);
    kit *copy = empty(t, "memory");

    fill(k);
    CHECK_RC(VALISE_E_CANCELLED, log_replay_run(NULL,
                                                &(log_replay){.from = k->store,
                                                              .to = copy->store,
                                                              .registry = k->registry,
                                                              .access = kit_access,
                                                              .progress = {stop_at_once, NULL}},
                                                &t->err));
}
