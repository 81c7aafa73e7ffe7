/* resume_shared.c -- a run that goes on where others wrote too; from C; with the params of a rerun.
 * [F13] */
#include "durable_kit.h"

#include <unistd.h>

TEST_PARAMS(flow_shared, "memory", "sqlite")

static const char *flag_up(void)
{
    const char *flag = test_format("%s/flag", test_tmpdir());

    test_write_file(flag, VLS_STR(""));
    return flag;
}

/* b writes a little, and fails while the file is there; c counts. */
static const char *three(const char *flag)
{
    return test_format(
        "{'nodes':[%s,%s,%s],'edges':[%s,%s]}", NODE("a", "{'exec':[['inc','n']]}"),
        NODE("b", test_format("{'exec':[['inc','n'],['pack','half',1],['block','%s'],['rm',"
                              "'half']]}",
                              flag)),
        NODE("c", "{'exec':[['inc','n']]}"), edge_("a", "b", NULL), edge_("b", "c", NULL));
}

static const char *nth_run(site *s, int n)
{
    return talk_member(&s->k, talk_run(&s->k, "flow:runs", "{}"), test_format("items.%d.id", n));
}

static void pack_as_owner(site *s, const char *bag, const char *key, const char *json)
{
    (void)talk_run(&s->k, "backpack:pack", "{\"backpack\":\"%s\",\"key\":\"%s\",\"value\":%s}", bag,
                   key, json);
}

TEST(flow_shared, what_the_owner_packed_since_is_not_taken_away) /* [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_up();

    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", three(flag)));
    pack_as_owner(s, "x", "hint", "\"look left\"");
    CHECK_INT(0, unlink(flag));
    CHECK_RC(VALISE_E_CONFLICT, try_resume(s, "x"));
    CHECK_TEXT("undoing what 'b' had written would also undo what the owner wrote to 'hint' since",
               t->err.message);
    HAS(t->err.hint, "valise flow rerun x --from b");
    CHECK_TEXT("half=1 hint=\"look left\" n=2", holds(s, "x"));
    CHECK_TEXT("failed 2  b IO", runs_of(s));
    /* What it says to do is what helps. */
    (void)rerun(s, "x", "'from':'b','backpack':'y','set':['hint=\\\"look left\\\"']");
    CHECK_TEXT("hint=\"look left\" n=3", holds(s, "y"));
    /* And what is there again as it was is in nobody's way. */
    (void)talk_run(&s->k, "backpack:rm", "{\"backpack\":\"x\",\"key\":\"hint\"}");
    CHECK_RC(VALISE_E_CONFLICT, try_resume(s, "x"));
    check_site(s);
}

TEST(flow_shared, what_is_as_it_was_is_in_nobodys_way)
{
    site *s = site_of(t);
    const char *flag = flag_up();

    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", three(flag)));
    (void)talk_run(&s->k, "backpack:rm", "{\"backpack\":\"x\",\"key\":\"half\"}");
    CHECK_INT(0, unlink(flag));
    (void)resume(s, "x");
    CHECK_TEXT("n=3", holds(s, "x"));
}

/* An attempt that is taken back packs what others had packed, as theirs. */
TEST(flow_shared, what_an_attempt_put_back_is_in_nobodys_way) /* [F2] [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_up();
    const char *config =
        test_format("{'nodes':[%s,%s],'edges':[%s]}", NODE("a", "{'exec':[['inc','n']]}"),
                    node_("b", test_format("{'exec':[['inc','n'],['block','%s']]}", flag),
                          ",'quarantine':true"),
                    edge_("a", "b", NULL));

    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", config));
    CHECK_TEXT("n=1", holds(s, "x"));
    CHECK_INT(0, unlink(flag));
    (void)resume(s, "x");
    CHECK_TEXT("n=2", holds(s, "x"));
    check_site(s);
}

TEST(flow_shared, another_run_on_the_same_backpack) /* [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_up(), *first;

    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", three(flag)));
    first = nth_run(s, 0);
    CHECK_INT(0, unlink(flag));
    (void)run_on(s, "x", three(flag));
    CHECK_TEXT("n=5", holds(s, "x"));
    CHECK_RC(VALISE_E_CONFLICT, try_resume(s, first));
    HAS(t->err.message, "undoing what 'b' had written would also undo");
    CHECK_TEXT("n=5", holds(s, "x"));
    (void)rerun(s, first, "'from':'b','backpack':'y'");
    CHECK_TEXT("n=3", holds(s, "y"));
    check_site(s);
}

/* The first one failed without a trace, the second one left some: that is the second one's. */
TEST(flow_shared, each_run_takes_back_its_own)
{
    site *s = site_of(t);
    const char *flag = flag_up(), *first;
    const char *clean =
        test_format("{'nodes':[%s,%s],'edges':[%s]}", NODE("a", "{'exec':[['inc','m']]}"),
                    NODE("b", test_format("{'exec':[['block','%s'],['inc','m']]}", flag)),
                    edge_("a", "b", NULL));

    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", clean));
    first = nth_run(s, 0);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", three(flag)));
    CHECK_TEXT("half=1 m=1 n=2", holds(s, "x"));
    CHECK_INT(0, unlink(flag));
    (void)resume(s, first);
    CHECK_TEXT("half=1 m=2 n=2", holds(s, "x"));
    CHECK_RC(VALISE_E_CONFLICT, try_resume(s, "x")); /* m is not in the state before */
    CHECK_TEXT("half=1 m=2 n=2", holds(s, "x"));
    check_site(s);
}

/* Inside of a container the paths are the same; who wrote is told by when they ran. */
TEST(flow_shared, another_run_within_the_same_subflow)
{
    site *s = site_of(t);
    const char *flag = flag_up(), *first;
    const char *config =
        test_format("{'subflows':[{'namespace':'in','nodes':[%s,%s],'edges':[%s]}]}",
                    NODE("a", "{'exec':[['inc','n']]}"),
                    NODE("b", test_format("{'exec':[['inc','n'],['block','%s']]}", flag)),
                    edge_("a", "b", NULL));

    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", config));
    first = nth_run(s, 0);
    CHECK_INT(0, unlink(flag));
    (void)run_on(s, "x", config);
    CHECK_TEXT("n=4", holds(s, "x"));
    CHECK_RC(VALISE_E_CONFLICT, try_resume(s, first));
    CHECK_TEXT("n=4", holds(s, "x"));
}

TEST(flow_shared, what_was_moved_aside_is_told)
{
    site *s = site_of(t);
    const char *flag = flag_up(), *answer;
    listener *l = listen_to(s->d, "flow:WARNING");

    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", three(flag)));
    CHECK_INT(0, unlink(flag));
    answer = resume(s, "x");
    CHECK_TEXT("x.aborted-1", talk_member(&s->k, answer, "aside"));
    HAS(heard(l), "x.aborted-1");
    answer = rerun(s, "x", "'from':'c'");
    CHECK_TEXT("", talk_member(&s->k, answer, "aside"));
}

/* ---- from C ---- */

TEST(flow_shared, a_host_resumes_a_flow_of_its_own_types) /* [F8] [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_up();
    valise_flow *flow = flow_of(s->d, three(flag)), *other = flow_of(s->d, three("/nowhere"));
    valise_flow_resume_options options = VALISE_FLOW_RESUME_OPTIONS_INIT;
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;
    valise_backpack *bag = bag_of(s->d, "x");

    CHECK_RC(VALISE_E_NOT_FOUND, valise_flow_resume(NULL, flow, "x", NULL, &t->err));
    CHECK_RC(VALISE_E_IO, valise_flow_run(NULL, NULL, flow, bag, NULL, &t->err));
    CHECK_RC(VALISE_E_CONFLICT, valise_flow_resume(NULL, other, "x", NULL, &t->err));
    CHECK_RC(VALISE_E_IO, valise_flow_resume(&result, flow, "x", NULL, &t->err));
    CHECK_TEXT("b", result.node);
    CHECK_TEXT("x.aborted-1", result.aside);
    CHECK_INT(0, unlink(flag));
    options.actor = VLS_STR("nobody");
    CHECK_RC(VALISE_E_DENIED, valise_flow_resume(NULL, flow, "x", &options, &t->err));
    options.actor = VLS_STR("");
    options.max_steps = -1;
    CHECK_RC(VALISE_E_INVALID, valise_flow_resume(NULL, flow, "x", &options, &t->err));
    options.max_steps = 1;
    CHECK_RC(VALISE_E_LIMIT, valise_flow_resume(NULL, flow, "x", &options, &t->err));
    CHECK_OK(valise_flow_resume(&result, flow, "x", NULL, &t->err));
    CHECK_TEXT("c", result.node);
    CHECK_TEXT("n=3", holds(s, "x"));
    CHECK_RC(VALISE_E_INVALID, valise_flow_resume(NULL, flow, "x", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_resume(NULL, NULL, "x", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_flow_resume(NULL, flow, NULL, NULL, &t->err));
    check_site(s);
}

/* ---- other params ---- */

/* The consent to what a flow's file names holds for what was typed beside it, too; so it has to be
 * typed again. [K34] */
TEST(flow_shared, a_rerun_with_other_params_is_resumed_with_them) /* [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_up(), *file = test_format("%s/flow.json", test_tmpdir());
    const char *config =
        test_format("{'nodes':[%s,%s],'edges':[%s]}", NODE("a", "{'exec':[['inc','n']]}"),
                    NODE("b", test_format("{'exec':[['inc','n'],['block','%s']],'word':1}", flag)),
                    edge_("a", "b", NULL));

    test_write_file(file, valise_str_of(quoted(config)));
    CHECK_RC(VALISE_E_IO,
             talk_try(&s->k, "flow:run", "{\"backpack\":\"x\",\"file\":\"%s\"}", file));
    CHECK_RC(VALISE_E_IO,
             talk_try(&s->k, "flow:rerun",
                      "{\"run\":\"x\",\"file\":\"%s\",\"from\":\"b\",\"backpack\":\"y\",\"param\":"
                      "[\"b.word=2\"]}",
                      file));
    CHECK_RC(VALISE_E_CONFLICT,
             talk_try(&s->k, "flow:resume", "{\"run\":\"y\",\"file\":\"%s\"}", file));
    HAS(t->err.hint, "its own --param");
    CHECK_RC(VALISE_E_CONFLICT,
             talk_try(&s->k, "flow:resume",
                      "{\"run\":\"y\",\"file\":\"%s\",\"param\":[\"b.word=3\"]}", file));
    CHECK_RC(VALISE_E_NOT_FOUND,
             talk_try(&s->k, "flow:resume",
                      "{\"run\":\"y\",\"file\":\"%s\",\"param\":[\"z.word=2\"]}", file));
    CHECK_INT(0, unlink(flag));
    CHECK_OK(talk_try(&s->k, "flow:resume",
                      "{\"run\":\"y\",\"file\":\"%s\",\"param\":[\"b.word=2\"]}", file));
    CHECK_TEXT("n=2", holds(s, "y"));
    /* And repeated: the file alone is another flow. */
    CHECK_OK(talk_try(&s->k, "flow:rerun",
                      "{\"run\":\"y\",\"file\":\"%s\",\"from\":\"b\",\"backpack\":\"z\",\"param\":"
                      "[\"b.word=2\"]}",
                      file));
    CHECK_TEXT("n=2", holds(s, "z"));
    CHECK_RC(VALISE_E_CONFLICT,
             talk_try(&s->k, "flow:rerun",
                      "{\"run\":\"y\",\"file\":\"%s\",\"from\":\"b\",\"backpack\":\"w\"}", file));
    (void)run_on(s, "v", "{'nodes':[{'id':'a','type':'SetNode','params':{'values':{}}}]}");
    CHECK_RC(VALISE_E_INVALID, talk_try(&s->k, "flow:resume", "{\"run\":\"v\"}"));
}

/* ---- subflows that were interrupted ---- */

/* Its visit began with the first node inside, also where it went on later. */
TEST(flow_shared, repeating_a_subflow_that_was_resumed) /* [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_up();
    const char *config = test_format(
        "{'start':'z','nodes':[%s],'edges':[{'from':'z','to':'in'}],'subflows':[{'namespace':'in',"
        "'nodes':[%s,%s],'edges':[%s]}]}",
        NODE("z", "{'exec':[['inc','z']]}"), NODE("a", "{'exec':[['inc','n'],['inc','a']]}"),
        NODE("b", test_format("{'exec':[['inc','n'],['block','%s']]}", flag)),
        edge_("a", "b", NULL));

    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", config));
    CHECK_INT(0, unlink(flag));
    (void)rerun(s, "x", "'from':'in','backpack':'w','set':['n=10']"); /* before it goes on */
    CHECK_TEXT("a=1 n=12 z=1", holds(s, "w"));
    (void)resume(s, "x");
    CHECK_TEXT("a=1 n=2 z=1", holds(s, "x"));
    (void)rerun(s, "x", "'from':'in','backpack':'y','set':['n=10']");
    CHECK_TEXT("a=1 n=12 z=1", holds(s, "y"));
    CHECK_TEXT("z#1>in in/a#1>b in/b#1> in#1>", steps_of_run(s));
    (void)rerun(s, "x", "'from':'in/b','backpack':'v','set':['n=10']");
    CHECK_TEXT("a=1 n=11 z=1", holds(s, "v"));
    check_site(s);
}
