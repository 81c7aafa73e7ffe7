/* map_threads.c -- elements of a map at once, and several runs of one flow at once. [F18] */
#include "nodes_kit.h"

#include "harness/process.h"

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

/* Several fail at once: the first of them is told, whoever was faster. [F18] */
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
    for (int i = 0; i < 20; i++)
        CHECK_TEXT("NOT_FOUND: node 'm/0/a': there is no item 'nobody'", ran(d, flow, bag));
    CHECK_TEXT("list", keys(bag));
}

/* The second one fails at once, the first one a little later, and those behind would take minutes.
 */
TEST(map_threads, the_first_failure_is_told_also_when_it_comes_later)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "b");
    int64_t began = process_now_ms();
    valise_flow *flow;

    put_program("fails.sh", "cat >/dev/null; echo \"it was $1\" >&2\n"
                            "case $1 in 0) sleep 0.3; exit 1;; 1) exit 1;; *) sleep 100;; esac");
    flow = nodes_of(d,
                    "{'id':'m','type':'MapNode','params':{'over':'list','parallel':4,'flow':{"
                    "'nodes':[{'id':'p','type':'ExecNode','params':{'command':['./fails.sh',"
                    "'{{item}}']}}]}}}",
                    "");
    CHECK_OK(pack(bag, "list", "[0,1,2,3,4,5]", d->err));
    CHECK_TEXT("IO: node 'm/0/p': ./fails.sh ended with exit code 1: it was 0", ran(d, flow, bag));
    CHECK_MSG(process_now_ms() - began < 20000, "those behind went on");
}
