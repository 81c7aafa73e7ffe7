/* admit.c -- an open workspace records who comes in, in front of their first command. [K24] */
#include "kit/bus.h"

#include "bus/access.h"

TEST_PARAMS(admit, "memory", "sqlite")

/* Whoever has a counter of their name is known; strangers come in, others are as in the kit. */
static int check(void *self, valise_view *view, valise_str actor, const valise_op *op,
                 const void *args, valise_error *err)
{
    tally_row row = {.name = actor};
    int rc;

    if (!vls_str_starts(actor, VLS_STR("stranger")))
        return kit_access.check(self, view, actor, op, args, err);
    rc = valise_view_get(&row, view, &counter_tally, err);
    return rc < 0 ? rc : rc == 0;
}

typedef struct admit_args {
    valise_str id;
} admit_args;

static const valise_field admit_in[] = {
    VALISE_FIELD(admit_args, id, STR, VALISE_REQUIRED, "Who."),
    VALISE_FIELD_END,
};

static int admit_decide(valise_view *view, const void *arguments, void *result, valise_error *err)
{
    const admit_args *args = arguments;
    tally_row row = {.name = args->id};

    (void)result;
    return valise_view_put(view, &counter_tally, &row, err);
}

static const valise_op admit_op = {
    .size = sizeof(valise_op),
    .name = VLS_ACCESS_ADMIT,
    .brief = "Record who came in.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "admin",
    .in = admit_in,
    .in_size = sizeof(admit_args),
    .decide = admit_decide,
    .example = "{\"id\":\"ann\"}",
};

static const valise_op *const ops[] = {&admit_op, NULL};
static const valise_extension package = {.size = sizeof(package),
                                         .abi = VALISE_EXTENSION_ABI,
                                         .name = "agent",
                                         .version = "1",
                                         .operations = ops};

typedef struct told {
    int64_t last;
} told;

static void committed(void *self, const vls_commit *commits, size_t count)
{
    told *f = self;

    for (size_t i = 0; i < count; i++)
        CHECK_INT(++f->last, commits[i].entry->seq);
}

TEST(admit, records_a_stranger_in_front_of_the_first_command)
{
    static const vls_feed_ops feed = {.committed = committed};
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;
    told f = {0};

    CHECK_OK(vls_registry_add(k->registry, &package, false, &t->err));
    k->v->access.check = check;
    vls_bus_follow(k->v, &feed, &f);
    call.actor = VLS_STR("stranger \"1\"");
    kit_run_as(k, "counter:list", "{}", &call); /* a query just goes on */
    CHECK_INT(0, kit_seq(k));
    kit_fails(k, VALISE_E_LIMIT, "counter:add", "{\"name\":\"a\",\"by\":1000000001}", &call);
    CHECK_INT(0, kit_seq(k));
    kit_run_as(k, "counter:add", "{\"name\":\"a\"}", &call);
    CHECK_INT(2, kit_seq(k));
    CHECK_INT(0, kit_value(k, "stranger \"1\"", "1"));
    kit_run_as(k, "counter:add", "{\"name\":\"a\"}", &call);
    CHECK_INT(3, kit_seq(k));
    CHECK_INT(3, f.last);
}

TEST(admit, needs_the_operation)
{
    kit *k = kit_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;

    k->v->access.check = check;
    call.actor = VLS_STR("stranger");
    kit_fails(k, VALISE_E_UNSUPPORTED, "counter:add", "{\"name\":\"a\"}", &call);
}
