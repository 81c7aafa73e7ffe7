/* map_threads.c -- elements of a map at once, and several runs of one flow at once. [F18] */
#include "nodes_kit.h"

TEST_PARAMS(map_threads, "ephemeral")

#define ELEMENTS 200
#define RUNS 4

typedef struct shared {
    desk *d;
    valise_flow *flow;
    const char *list;
} shared;

static void run_one(size_t index, void *arg)
{
    shared *s = arg;
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack *bag = NULL;
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;
    valise_blob *value = NULL;

    CHECK(valise_backpack_open(&bag, s->d->v, test_format("b%zu", index), &options, &err) == 0);
    CHECK(pack(bag, "list", s->list, &err) == 0);
    CHECK(valise_flow_run(NULL, NULL, s->flow, bag, NULL, &err) == 0);
    CHECK(valise_unpack(&value, bag, "total", &err) == 1);
    CHECK_TEXT(test_format("%d", ELEMENTS * (ELEMENTS - 1) / 2),
               test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(value))));
    valise_blob_unref(value);
    valise_backpack_close(bag);
}

TEST(map_threads, sums_in_parallel)
{
    shared s = {.d = desk_open(t)};
    vls_buf list;

    s.flow =
        nodes_of(s.d,
                 "{'id':'m','type':'MapNode','params':{'over':'list','parallel':8,'reduce':{"
                 "'total':'sum'},'flow':{'nodes':[{'id':'a','type':'SetNode','params':{'values':{"
                 "'total':'{{item}}'}}},{'id':'b','type':'DecisionNode','params':{'key':'item',"
                 "'cases':{'0':'zero'},'otherwise':'other'}}],'edges':[{'from':'a','to':'b'}]}}}",
                 "");
    vls_buf_init(&list, t->env, 1 << 20);
    for (int i = 0; i < ELEMENTS; i++)
        vls_buf_printf(&list, "%c%d", i == 0 ? '[' : ',', i);
    vls_buf_add_byte(&list, ']');
    s.list = test_format("%s", vls_buf_cstr(&list));
    vls_buf_release(&list);
    test_threads(RUNS, run_one, &s);
}

/* Several fail at once: one of them is told. */
TEST(map_threads, failures_at_once)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    valise_flow *flow = nodes_of(d,
                                 "{'id':'m','type':'MapNode','params':{'over':'list','parallel':8,"
                                 "'flow':{'nodes':[{'id':'a','type':'SetNode','params':{'values':{"
                                 "'x':'{{nobody}}'}}}]}}}",
                                 "");

    CHECK_OK(pack(bag, "list", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]", d->err));
    CHECK(strstr(ran(d, flow, bag), "there is no item 'nobody'"));
    CHECK_TEXT("list", keys(bag));
}
