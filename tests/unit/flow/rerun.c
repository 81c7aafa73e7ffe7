/* rerun.c -- a run, repeated from some node on. [F13] */
#include "durable_kit.h"

#include "flow/rows.h"

TEST_PARAMS(flow_rerun, "memory", "sqlite")

static const char *chain(void)
{
    return test_format("{'nodes':[%s,%s,%s],'edges':[%s,%s]}",
                       NODE("a", "{'exec':[['inc','n'],['inc','a']]}"),
                       NODE("b", "{'exec':[['inc','n'],['inc','b']],'word':'old'}"),
                       NODE("c", "{'exec':[['inc','n'],['params','c']]}"), edge_("a", "b", NULL),
                       edge_("b", "c", NULL));
}

TEST(flow_rerun, begins_with_the_state_before_the_node) /* [F13] */
{
    site *s = site_of(t);
    const char *answer;

    (void)run_on(s, "x", chain());
    answer = rerun(s, "x", "'from':'b','backpack':'y'");
    CHECK_TEXT("y", talk_member(&s->k, answer, "backpack"));
    CHECK_TEXT("2", talk_member(&s->k, answer, "steps"));
    HAS(holds(s, "y"), "a=1 b=1 ");
    HAS(holds(s, "y"), " n=3");
    HAS(holds(s, "x"), " n=3");
    CHECK_TEXT("a#1>b b#1>c c#1>", steps_of_run(s));
    /* From the first one, from the last one. */
    CHECK_TEXT("3", talk_member(&s->k, rerun(s, "x", "'from':'a','backpack':'z'"), "steps"));
    CHECK_TEXT("1", talk_member(&s->k, rerun(s, "x", "'from':'c'"), "steps"));
    check_site(s);
}

TEST(flow_rerun, with_other_items_and_params) /* [F13] */
{
    site *s = site_of(t);

    (void)run_on(s, "x", chain());
    (void)rerun(s, "x", "'from':'b','backpack':'y','set':['n=40'],'items':{'other':1}");
    HAS(holds(s, "y"), " n=42 other=1");
    (void)rerun(s, "x", "'from':'c','backpack':'z','param':['c.word=\\\"new\\\"','c.deep.er=[1]']");
    HAS(holds(s, "z"), "\"word\":\"new\"");
    HAS(holds(s, "z"), "\"deep\":{\"er\":[1]}");
    CHECK_RC(VALISE_E_NOT_FOUND, try_rerun(s, "x", "'from':'c','param':['nobody.word=1']"));
    HAS(t->err.path, "param[0]");
    CHECK_RC(VALISE_E_INVALID, try_rerun(s, "x", "'from':'c','param':['c.word=new']"));
    CHECK_RC(VALISE_E_INVALID, try_rerun(s, "x", "'from':'c','set':['n']"));
    check_site(s);
}

TEST(flow_rerun, of_one_lap_of_a_loop) /* [F13], S26 */
{
    site *s = site_of(t);
    const char *config = test_format(
        "{'nodes':[%s],'edges':[%s]}",
        NODE("a", "{'exec':[['inc','n'],['inc','seen']],'post':[['until','n',4,'again','out']]}"),
        edge_("a", "a", "'again'"));

    (void)run_on(s, "x", config);
    CHECK_TEXT("n=4 seen=4", holds(s, "x"));
    (void)rerun(s, "x", "'from':'a#3','backpack':'y','set':['seen=0']");
    CHECK_TEXT("n=4 seen=2", holds(s, "y"));
    CHECK_TEXT("a#1>a a#2>a a#3>a a#4>", steps_of_run(s));
    CHECK_RC(VALISE_E_NOT_FOUND, try_rerun(s, "x", "'from':'a#5'"));
    CHECK_RC(VALISE_E_INVALID, try_rerun(s, "x", "'from':'a#0'"));
    CHECK_RC(VALISE_E_INVALID, try_rerun(s, "x", "'from':'a#x'"));
    CHECK_RC(VALISE_E_NOT_FOUND, try_rerun(s, "x", "'from':'nobody'"));
}

TEST(flow_rerun, of_a_rerun) /* [F13] */
{
    site *s = site_of(t);
    const char *all;

    (void)run_on(s, "x", chain());
    (void)rerun(s, "x", "'from':'b','backpack':'y','set':['n=10']");
    (void)rerun(s, "y", "'from':'c','backpack':'z'");
    HAS(holds(s, "z"), " n=12");
    (void)rerun(s, "z", "'from':'a','backpack':'w'"); /* a ran in the first one only */
    HAS(holds(s, "w"), "a=1 b=1 ");
    HAS(holds(s, "w"), " n=3");
    all = talk_run(&s->k, "flow:runs", "{}");
    CHECK_TEXT(talk_member(&s->k, all, "items.3.id"), talk_member(&s->k, all, "items.2.origin"));
    CHECK_TEXT(talk_member(&s->k, all, "items.2.id"), talk_member(&s->k, all, "items.1.origin"));
    check_site(s);
}

TEST(flow_rerun, of_a_node_inside) /* [F13] [F19] */
{
    site *s = site_of(t);
    const char *config = test_format(
        "{'start':'in','nodes':[%s],'edges':[{'from':'in','to':'z'}],'subflows':[{'namespace':'in',"
        "'nodes':[%s,%s],'edges':[%s]}]}",
        NODE("z", "{'exec':[['inc','n']]}"), NODE("a", "{'exec':[['inc','n'],['inc','a']]}"),
        NODE("b", "{'exec':[['inc','n'],['params','b']]}"), edge_("a", "b", NULL));

    (void)run_on(s, "x", config);
    (void)rerun(s, "x", "'from':'in/b','backpack':'y','param':['in/b.word=1']");
    HAS(holds(s, "y"), "a=1 ");
    HAS(holds(s, "y"), "\"word\":1");
    HAS(holds(s, "y"), " n=3");
    (void)rerun(s, "x", "'from':'b','backpack':'z'"); /* there is one only */
    HAS(holds(s, "z"), " n=3");
}

TEST(flow_rerun, of_a_run_that_failed_from_the_node_that_failed) /* [F13] */
{
    site *s = site_of(t);
    const char *config =
        test_format("{'nodes':[%s,%s],'edges':[%s]}", NODE("a", "{'exec':[['inc','n']]}"),
                    NODE("b", "{'exec':[['inc','n']],'post':[['fail',0,'IO','no luck']]}"),
                    edge_("a", "b", NULL));

    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", config));
    CHECK_TEXT("n=2", holds(s, "x"));
    CHECK_INT(VALISE_E_IO, try_rerun(s, "x", "'from':'b','backpack':'y'"));
    CHECK_TEXT("n=2", holds(s, "y"));
    CHECK_TEXT("n=2", holds(s, "x"));
    CHECK_INT(0, try_rerun(s, "x", "'from':'b','backpack':'z','param':['b.post=[]']"));
    CHECK_TEXT("n=2", holds(s, "z"));
    HAS(runs_of(s), "done 1 default b ; failed 1  b IO; failed 2  b IO");
}

TEST(flow_rerun, that_failed_can_be_resumed) /* [F13] */
{
    site *s = site_of(t);
    const char *flag = test_format("%s/flag", test_tmpdir());
    const char *config =
        test_format("{'nodes':[%s,%s],'edges':[%s]}", NODE("a", "{'exec':[['inc','n']]}"),
                    NODE("b", test_format("{'exec':[['inc','n'],['block','%s']]}", flag)),
                    edge_("a", "b", NULL));

    (void)run_on(s, "x", config);
    test_write_file(flag, VLS_STR(""));
    CHECK_INT(VALISE_E_IO, try_rerun(s, "x", "'from':'b','backpack':'y','set':['n=10']"));
    test_remove(flag);
    (void)resume(s, "y");
    CHECK_TEXT("n=11", holds(s, "y")); /* and not 1, or 12 */
}

/* ---- the end ---- */

static int count_rows(void *arg, valise_view *view, valise_error *err)
{
    static const valise_coll *const colls[] = {&vls_flow_runs, &vls_flow_steps};
    int *counts = arg;
    int rc = 0;

    for (size_t i = 0; i < VLS_COUNT(colls) && rc == 0; i++) {
        valise_scan *scan = NULL;
        void *row = test_alloc(colls[i]->row_size);

        rc = valise_view_scan(&scan, view, colls[i], NULL, err);
        while (rc == 0 && (rc = valise_scan_next(row, scan, err)) > 0) {
            counts[i]++;
            rc = 0;
        }
        valise_scan_close(scan);
    }
    return rc;
}

/* "RUNS STEPS" */
static const char *rows_of(site *s)
{
    test *t = s->d->t;
    int counts[2] = {0, 0};

    CHECK_OK(vls_with_view(s->d->v, NULL, count_rows, counts, &t->err));
    return test_format("%d %d", counts[0], counts[1]);
}

TEST(flow_rerun, what_is_known_of_a_run_goes_with_its_backpack) /* [F13] [K30] */
{
    site *s = site_of(t);
    /* More steps than one command removes. */
    int laps = strcmp(t->param, "memory") == 0 ? 2100 : 3;
    const char *loop =
        test_format("{'nodes':[%s],'edges':[%s]}",
                    NODE("a", test_format("{'exec':[['inc','n']],'post':[['until','n',%d,'again',"
                                          "'out']]}",
                                          laps)),
                    edge_("a", "a", "'again'"));
    int steps = laps;

    (void)run_on(s, "x", chain());
    (void)rerun(s, "x", "'from':'b','backpack':'y'"); /* has the step of a as its own */
    (void)run_on(s, "z", loop);
    CHECK_TEXT(test_format("3 %d", 3 + 3 + steps), rows_of(s));
    (void)talk_run(&s->k, "workspace:gc", "{}");
    CHECK_TEXT(test_format("3 %d", 3 + 3 + steps), rows_of(s)); /* they are all needed */
    (void)talk_run(&s->k, "backpack:drop", "{\"backpack\":\"z\"}");
    (void)talk_run(&s->k, "workspace:gc", "{}");
    CHECK_TEXT("2 6", rows_of(s));
    CHECK_RC(VALISE_E_NOT_FOUND, try_resume(s, "z"));
    (void)talk_run(&s->k, "backpack:drop", "{\"backpack\":\"y\"}");
    (void)run_on(s, "y", chain()); /* another one with that name */
    (void)talk_run(&s->k, "workspace:gc", "{}");
    CHECK_TEXT("2 6", rows_of(s));
    (void)rerun(s, "y", "'from':'c','backpack':'w'");
    check_site(s);
}
