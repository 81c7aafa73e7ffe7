/* faults.c -- every allocation fails in turn; nothing stays behind, and outputs are untouched. */
#include "flow/kit.h"
#include "harness/fault.h"

static const char whole[] =
    "{'namespace':'sales','dependencies':{'w':{'tool':{'command':['./w'],'parameters':{'type':"
    "'object'},'env':{'K':'${K}'}}}},'nodes':["
    "{'id':'a','type':'StrictNode','params':{'model':'m'},'permissions':{'read':['x.*']},"
    "'inputs':{'k':{'type':'string'}},'dependencies':['w']},"
    "{'id':'b','type':'SchemaNode','params':{'n':1}},{'id':'m','type':'MadeNode'},"
    "{'id':'f','type':'SubflowNode','params':{'flow':{'nodes':[{'id':'x','type':'MadeNode'}]}}}],"
    "'subflows':[{'namespace':'in','nodes':[{'id':'c','type':'SearchNode'}]}],"
    "'edges':[{'from':'a','to':'b','condition':{'>':[{'var':'n'},1]},'mappings':{'x':'y'}},"
    "{'from':'b','to':'in'},{'from':'a','to':'m'},{'from':'m','to':'f'},{'from':'f','to':'q'}]}";

static int load_once(fault *f, void *arg)
{
    VLS_AUTO(flow) valise_flow *flow = NULL;
    VLS_AUTO(blob) valise_blob *config = NULL, *picture = NULL, *report = NULL;
    valise_flow_options options = kit_options();
    valise *v;
    const char *text = kit_quote(whole);
    valise_str good;
    int rc;

    (void)arg;
    fault_off(f);
    v = kit_open_in(f->env, &f->err);
    CHECK(v != NULL);
    text =
        test_format("%.*s}]}", (int)(strlen(text) - strlen(",{\"from\":\"f\",\"to\":\"q\"}]}")) - 1,
                    text); /* without the edge that leads nowhere */
    good = valise_str_of(text);
    fault_on(f);
    rc = valise_flow_from_config(&flow, v, good, NULL, &options, &f->err);
    CHECK((rc == 0) == (flow != NULL));
    if (rc == 0)
        rc = valise_flow_to_config(&config, flow, &f->err);
    if (rc == 0)
        rc = valise_flow_graph(&picture, flow, VALISE_GRAPH_DOT, &f->err);
    if (rc == 0)
        rc = vls_settle(
            valise_flow_check(&report, v, valise_str_of(kit_quote(whole)), &options, &f->err));
    fault_off(f);
    report = valise_blob_unref(report);
    config = valise_blob_unref(config);
    picture = valise_blob_unref(picture);
    valise_flow_free(VLS_TAKE(flow));
    CHECK_INT(0, kit_made);
    valise_close(v);
    return rc;
}

TEST(flow_faults, loading_checking_writing_and_drawing)
{
    CHECK(fault_each_alloc(t, 0, load_once, NULL) > 10);
}

static int build_once(fault *f, void *arg)
{
    VLS_AUTO(flow) valise_flow *flow = NULL;
    valise_flow_options options = kit_options();
    valise_flow *inner = NULL;
    valise *v;
    int rc;

    (void)arg;
    fault_off(f);
    v = kit_open_in(f->env, &f->err);
    CHECK(v != NULL);
    fault_on(f);
    rc = valise_flow_new(&flow, v, "sales", &options, &f->err);
    if (rc == 0)
        rc = valise_flow_add_node(flow, NULL, kit_quote("{'id':'a','type':'MadeNode'}"), &f->err);
    if (rc == 0)
        rc = valise_flow_add_subflow(&inner, flow, kit_quote("{'id':'s'}"), &f->err);
    if (rc == 0)
        rc = valise_flow_add_node(inner, NULL, kit_quote("{'id':'b','type':'ChatNode'}"), &f->err);
    if (rc == 0)
        rc = valise_flow_next(flow, "a", "s", &f->err);
    if (rc == 0)
        rc = vls_flow_link(flow, NULL, &f->err);
    fault_off(f);
    /* What failed was not added, and can be tried again. */
    if (flow && rc < 0 && !vls_flow_find(flow, VLS_STR("a")))
        CHECK_INT(0, kit_made);
    valise_flow_free(VLS_TAKE(flow));
    CHECK_INT(0, kit_made);
    valise_close(v);
    return rc;
}

TEST(flow_faults, building_by_hand)
{
    CHECK(fault_each_alloc(t, 0, build_once, NULL) > 10);
}
