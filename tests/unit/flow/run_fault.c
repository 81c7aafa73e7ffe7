/* run_fault.c -- every allocation of a run fails in turn. [Q18] */
#include "run_kit.h"

#include "harness/fault.h"

typedef struct kind {
    const char *param; /* of desk_try */
    bool durable;
} kind;

static const char *config(void)
{
    return test_format("{'start':'a','nodes':[%s,%s,%s],'edges':[%s,{'from':'b','to':'in','"
                       "condition':'error','mappings':{"
                       "'n':'m'}},{'from':'in','to':'c','condition':{'==':[{'var':'n'},4]}}],'"
                       "subflows':[{'namespace':'in',"
                       "'nodes':[%s]}]}",
                       node_("a", "{'prep':[['read','n']],'exec':[['inc','n']]}",
                             ",'inputs':{'n':{'default':1}},'outputs':{"
                             "'n':{'type':'integer'}}"),
                       node_("b", "{'exec':[['inc','n'],['fail',0,'IO','no luck']]}",
                             ",'maxRetries':1,'quarantine':true"),
                       NODE("c", "{'exec':[['inc','c'],['tell','t',1],['stream','s']]}"),
                       edge_("a", "b", NULL), NODE("i", "{'exec':[['inc','n'],['inc','n']]}"));
}

static int hear(void *arg, const valise_event *event, valise_error *err)
{
    (void)arg, (void)event, (void)err;
    return 0;
}

static int run_once(fault *f, void *arg)
{
    const kind *k = arg;
    valise *v = NULL;
    valise_backpack *bag = NULL;
    valise_flow *flow = NULL;
    valise_subscription *s = NULL;
    const valise_follow follow = {.size = sizeof(follow), .live = true, .fn = hear};
    valise_backpack_options open = VALISE_BACKPACK_OPTIONS_INIT;
    valise_options options = VALISE_OPTIONS_INIT;
    const valise_extension *const extensions[] = {&script_extension, NULL};
    const char *text = quoted(config()), *after;
    valise_error ignored = VALISE_ERROR_INIT;
    int rc;

    fault_off(f);
    options.env = f->env;
    options.extensions = extensions;
    CHECK(desk_try(&v, k->param, NULL, &options, &ignored) == 0);
    open.flags = k->durable ? VALISE_BACKPACK_DURABLE : 0;
    CHECK(valise_backpack_open(&bag, v, "x", &open, &ignored) == 0);
    CHECK(valise_flow_from_config(&flow, v, valise_str_of(text), NULL, NULL, &ignored) == 0);
    CHECK(valise_subscribe(&s, v, &follow, &ignored) == 0);
    fault_on(f);
    rc = valise_flow_run(NULL, NULL, flow, bag, NULL, &f->err);
    fault_off(f);
    after = items(bag);
    if (rc == 0) {
        CHECK_TEXT("c=1 m=2 n=4", after);
        f->recovered = true; /* an event that was not told is nobody's failure */
    }
    /* What is left can be used: the next run is as if nothing had been. */
    CHECK(pack(bag, "n", "1", &ignored) == 0);
    CHECK_MSG(valise_flow_run(NULL, NULL, flow, bag, NULL, &ignored) == 0, "%s", ignored.message);
    valise_unsubscribe(s);
    valise_flow_free(flow);
    valise_backpack_close(bag);
    valise_close(v);
    return rc;
}

TEST(flow_fault, an_ephemeral_run) /* [Q18] */
{
    kind k = {"ephemeral", false};

    fault_each_alloc(t, 0, run_once, &k);
    fault_each_alloc(t, FAULT_ONWARD, run_once, &k);
}

TEST(flow_fault, a_durable_run) /* [Q18] */
{
    kind k = {"memory", true};

    fault_each_alloc(t, 0, run_once, &k);
    fault_each_alloc(t, FAULT_ONWARD, run_once, &k);
}

static int resume_once(fault *f, void *arg)
{
    valise *v = NULL;
    valise_backpack *bag = NULL;
    valise_backpack_options open = VALISE_BACKPACK_OPTIONS_INIT;
    valise_options options = VALISE_OPTIONS_INIT;
    const valise_extension *const extensions[] = {&script_extension, NULL};
    const char *flag = test_format("%s/flag", test_tmpdir());
    valise_error ignored = VALISE_ERROR_INIT;
    int rc;

    (void)arg;
    fault_off(f);
    options.env = f->env;
    options.extensions = extensions;
    CHECK(desk_try(&v, "memory", NULL, &options, &ignored) == 0);
    test_write_file(flag, VLS_STR(""));
    CHECK(valise_dispatch(
              NULL, v, "flow:run",
              test_format("{\"backpack\":\"x\",\"flow\":%s}",
                          quoted(test_format(
                              "{'nodes':[%s,%s],'edges':[%s]}", NODE("a", "{'exec':[['inc','n']]}"),
                              NODE("b", test_format("{'exec':[['inc','n'],['block','%s']]}", flag)),
                              edge_("a", "b", NULL)))),
              NULL, &ignored) == VALISE_E_IO);
    test_remove(flag);
    fault_on(f);
    rc = valise_dispatch(NULL, v, "flow:resume", "{\"run\":\"x\"}", NULL, &f->err);
    fault_off(f);
    if (rc < 0)
        (void)valise_dispatch(NULL, v, "flow:resume", "{\"run\":\"x\"}", NULL, &ignored);
    else
        f->recovered = true;
    open.flags = VALISE_BACKPACK_DURABLE;
    CHECK(valise_backpack_open(&bag, v, "x", &open, &ignored) == 0);
    CHECK_TEXT("n=2", items(bag));
    valise_backpack_close(bag);
    valise_close(v);
    return rc;
}

TEST(flow_fault, a_run_that_goes_on) /* [F13] [Q18] */
{
    fault_each_alloc(t, 0, resume_once, NULL);
    fault_each_alloc(t, FAULT_ONWARD, resume_once, NULL);
}
