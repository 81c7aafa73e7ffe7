/* resume.c -- runs that are recorded, and go on. [F13] */
#include "durable_kit.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "flow/record.h"
#include "harness/process.h"

TEST_PARAMS(flow_resume, "memory", "sqlite")

/* A node that fails while the file is there, after it wrote a little. */
static const char *flag_of(const char *name)
{
    return test_format("%s/%s", test_tmpdir(), name);
}

static void raise_flag(const char *flag)
{
    test_write_file(flag, VLS_STR(""));
}

static const char *three(const char *flag)
{
    return test_format(
        "{'nodes':[%s,%s,%s],'edges':[%s,%s]}", NODE("a", "{'exec':[['inc','n']]}"),
        NODE("b", test_format("{'exec':[['inc','n'],['pack','half',1],['block','%s'],['rm',"
                              "'half']]}",
                              flag)),
        NODE("c", "{'exec':[['inc','n']],'post':[['act','ready']]}"), edge_("a", "b", NULL),
        edge_("b", "c", NULL));
}

TEST(flow_resume, a_run_leaves_a_record) /* [F13] */
{
    site *s = site_of(t);
    const char *answer = run_on(s, "x", three("/nowhere"));

    CHECK_TEXT("ready", talk_member(&s->k, answer, "action"));
    CHECK_TEXT("c", talk_member(&s->k, answer, "node"));
    CHECK_TEXT("3", talk_member(&s->k, answer, "steps"));
    CHECK_TEXT("x", talk_member(&s->k, answer, "backpack"));
    CHECK_TEXT("done 3 ready c ", runs_of(s));
    CHECK_TEXT("a#1>b b#1>c c#1>", steps_of_run(s));
    CHECK_TEXT("n=3", holds(s, "x"));
    check_site(s);
}

TEST(flow_resume, an_ephemeral_run_leaves_none)
{
    site *s = site_of(t);

    (void)talk_run(&s->k, "flow:run", "{\"ephemeral\":true,\"flow\":%s}",
                   quoted(three("/nowhere")));
    CHECK_TEXT("", runs_of(s));
}

TEST(flow_resume, a_run_that_failed_goes_on_from_the_state_before) /* [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_of("flag");

    raise_flag(flag);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", three(flag)));
    CHECK_TEXT("node 'b': blocked", t->err.message);
    HAS(t->err.hint, "valise flow resume x");
    CHECK_TEXT("failed 2  b IO", runs_of(s));
    CHECK_TEXT("half=1 n=2", holds(s, "x"));
    /* Again, and it fails again. */
    CHECK_RC(VALISE_E_IO, try_resume(s, "x"));
    CHECK_TEXT("half=1 n=2", holds(s, "x"));
    CHECK_TEXT("half=1 n=2", holds(s, "x.aborted-1"));
    CHECK_INT(0, unlink(flag));
    CHECK_TEXT("ready", talk_member(&s->k, resume(s, "x"), "action"));
    CHECK_TEXT("n=3", holds(s, "x"));
    CHECK_TEXT("half=1 n=2", holds(s, "x.aborted-2"));
    CHECK_TEXT("a#1>b b#1>c c#1>", steps_of_run(s));
    CHECK_TEXT("done 5 ready c ", runs_of(s));
    CHECK_RC(VALISE_E_INVALID, try_resume(s, "x"));
    HAS(t->err.hint, "valise flow rerun");
    check_site(s);
}

TEST(flow_resume, a_node_that_wrote_nothing_just_runs_again)
{
    site *s = site_of(t);
    const char *flag = flag_of("flag");
    const char *config =
        test_format("{'nodes':[%s,%s],'edges':[%s]}", NODE("a", "{'exec':[['inc','n']]}"),
                    NODE("b", test_format("{'exec':[['block','%s'],['inc','n']]}", flag)),
                    edge_("a", "b", NULL));

    raise_flag(flag);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", config));
    CHECK_INT(0, unlink(flag));
    (void)resume(s, "x");
    CHECK_TEXT("n=2", holds(s, "x"));
    CHECK(!strstr(talk_run(&s->k, "backpack:list", "{}"), "aborted"));
    CHECK_TEXT("done 3 default b ", runs_of(s));
}

static int cancel_it(void *arg, const valise_progress_state *state)
{
    (void)arg, (void)state;
    return 1;
}

TEST(flow_resume, a_run_that_was_cancelled_goes_on) /* [F13] [F14] */
{
    site *s = site_of(t);
    valise_backpack *bag = bag_of(s->d, "x");
    valise_flow_run_options options = VALISE_FLOW_RUN_OPTIONS_INIT;
    valise_flow *flow = flow_of(s->d, test_format("{'nodes':[%s,%s],'edges':[%s]}",
                                                  NODE("a", "{'exec':[['inc','n']]}"),
                                                  NODE("b", "{'exec':[['inc','n'],['sleep',300]]}"),
                                                  edge_("a", "b", NULL)));

    options.progress = (valise_progress){cancel_it, NULL};
    CHECK_RC(VALISE_E_CANCELLED, valise_flow_run(NULL, NULL, flow, bag, &options, &t->err));
    HAS(runs_of(s), "cancelled ");
    (void)resume(s, "x");
    CHECK_TEXT("n=2", holds(s, "x"));
    check_site(s);
}

/* ---- levels ---- */

TEST(flow_resume, inside_of_a_subflow) /* [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_of("flag");
    const char *config = test_format(
        "{'start':'in','nodes':[%s],'edges':[{'from':'in','to':'z'}],'subflows':[{'namespace':'in',"
        "'nodes':[%s,%s],'edges':[%s]}]}",
        NODE("z", "{'exec':[['inc','n']]}"), NODE("a", "{'exec':[['inc','n'],['inc','a']]}"),
        NODE("b", test_format("{'exec':[['inc','n'],['block','%s']]}", flag)),
        edge_("a", "b", NULL));

    raise_flag(flag);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", config));
    CHECK_TEXT("in/a#1>b", steps_of_run(s));
    CHECK_TEXT("a=1 n=2", holds(s, "x"));
    CHECK_INT(0, unlink(flag));
    (void)resume(s, "x");
    CHECK_TEXT("a=1 n=3", holds(s, "x"));
    CHECK_TEXT("in/a#1>b in/b#1> in#1>z z#1>", steps_of_run(s));
    check_site(s);
}

/* The second lap of a loop around a subflow: what ran in the first one is not what runs now. */
TEST(flow_resume, inside_of_a_subflow_in_its_second_lap) /* [F13], S26 */
{
    site *s = site_of(t);
    const char *flag = flag_of("flag");
    const char *config = test_format(
        "{'start':'in','nodes':[%s],'edges':[{'from':'in','to':'turn'},{'from':'turn','to':'in','"
        "condition':"
        "'again'}],'subflows':[{'namespace':'in','nodes':[%s,%s],'edges':[%s]}]}",
        NODE("turn", "{'exec':[['inc','turns']],'post':[['until','turns',3,'again','out']]}"),
        NODE("a", "{'exec':[['inc','a']]}"),
        NODE("b", test_format("{'exec':[['inc','b'],['block','%s']]}", flag)),
        edge_("a", "b", NULL));

    (void)run_on(s, "plain", config);
    CHECK_TEXT("a=3 b=3 turns=3", holds(s, "plain"));
    for (int lap = 1; lap <= 3; lap++) {
        const char *name = test_format("x%d", lap);
        /* It fails in that lap, and again when it is resumed. */
        const char *bad = test_format(
            "{'start':'in','nodes':[%s],'edges':[{'from':'in','to':'turn'},{'from':'turn','to':'in'"
            ","
            "'condition':'again'}],'subflows':[{'namespace':'in','nodes':[%s,%s,%s,%s],'edges':[%s,"
            "%s,%s]}]}",
            NODE("turn", "{'exec':[['inc','turns']],'post':[['until','turns',3,'again','out']]}"),
            NODE("a", "{'exec':[['inc','a']]}"),
            NODE("b", test_format("{'exec':[['inc','b']],'post':[['until','b',%d,'good','maybe']]}",
                                  lap)),
            NODE("bad", test_format("{'exec':[['inc','bad'],['block','%s']]}", flag)),
            NODE("c", "{'exec':[['inc','c']]}"), edge_("a", "b", NULL), edge_("b", "c", "'good'"),
            test_format("%s,%s", edge_("b", "bad", "'maybe'"), edge_("bad", "c", NULL)));

        raise_flag(flag);
        CHECK_RC(VALISE_E_IO, try_run_on(s, name, bad));
        CHECK_RC(VALISE_E_IO, try_resume(s, name));
        CHECK_INT(0, unlink(flag));
        (void)resume(s, name);
        CHECK_TEXT(test_format("a=3 b=3 bad=%d c=3 turns=3", 4 - lap), holds(s, name));
    }
    check_site(s);
}

TEST(flow_resume, a_subflow_whose_promise_was_broken_keeps_what_ran_inside) /* [F13] [F17] */
{
    site *s = site_of(t);
    /* The subflow's output is missing the first time. */
    const char *config = test_format("{'nodes':[{'id':'in','type':'SubflowNode','outputs':{'out':{'"
                                     "type':'integer'}},'params':{'flow':{"
                                     "'nodes':[%s]}}}]}",
                                     NODE("a", "{'exec':[['inc','a']]}"));
    valise_backpack *bag;

    CHECK_RC(VALISE_E_INVALID, try_run_on(s, "x", config));
    CHECK_TEXT("a=1", holds(s, "x"));
    CHECK_TEXT("in/a#1>", steps_of_run(s));
    bag = bag_of(s->d, "x");
    CHECK_OK(pack(bag, "out", "1", &t->err)); /* a person mends it */
    (void)resume(s, "x");
    CHECK_TEXT("a=1 out=1", holds(s, "x")); /* a is done, and what it wrote is there */
}

TEST(flow_resume, an_attempt_of_a_subflow_that_failed_is_void) /* [F2] [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_of("flag");
    /* b fails in the first attempt, which is taken back; the second attempt is blocked in b. */
    const char *config =
        test_format("{'nodes':[{'id':'in','type':'SubflowNode','maxRetries':1,'quarantine':true,'"
                    "params':{'flow':{'nodes'"
                    ":[%s,%s],'edges':[%s]}}}]}",
                    NODE("a", "{'exec':[['inc','a'],['log','LOG','a']]}"),
                    NODE("b", test_format("{'exec':[['block','%s'],['inc','b']]}", flag)),
                    edge_("a", "b", NULL));
    const char *log = flag_of("log");

    {
        const char *at = strstr(config, "LOG");
        config = test_format("%.*s%s%s", (int)(at - config), config, log, at + 3);
    }
    raise_flag(flag);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", config));
    CHECK_INT(2, (intmax_t)times_in(test_read_file(log).ptr, "a"));
    CHECK_INT(0, unlink(flag));
    (void)resume(s, "x");
    CHECK_TEXT("a=1 b=1", holds(s, "x"));
    check_site(s);
}

TEST(flow_resume, a_failure_that_an_edge_took_is_not_made_again) /* [F3] [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_of("flag");
    const char *config =
        test_format("{'nodes':[%s,%s,%s],'edges':[%s,%s]}",
                    NODE("a", "{'exec':[['inc','a'],['fail',0,'TOO_LARGE','no room']]}"),
                    NODE("b", "{'exec':[['why','why']]}"),
                    NODE("c", test_format("{'exec':[['block','%s']]}", flag)),
                    edge_("a", "b", "'error'"), edge_("b", "c", NULL));

    raise_flag(flag);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", config));
    CHECK_INT(0, unlink(flag));
    (void)resume(s, "x");
    CHECK_TEXT("a=1 why=\"TOO_LARGE: node 'a': no room\"", holds(s, "x"));
}

TEST(flow_resume, the_node_behind_a_failure_knows_why_also_later) /* [F3] [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_of("flag");
    const char *config = test_format(
        "{'nodes':[%s,%s],'edges':[%s]}", NODE("a", "{'exec':[['fail',0,'TOO_LARGE','no room']]}"),
        NODE("b", test_format("{'exec':[['block','%s'],['why','why']]}", flag)),
        edge_("a", "b", "'error'"));

    raise_flag(flag);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", config));
    CHECK_INT(0, unlink(flag));
    (void)resume(s, "x");
    CHECK_TEXT("why=\"TOO_LARGE: node 'a': no room\"", holds(s, "x"));
}

TEST(flow_resume, a_map_goes_on_as_a_whole) /* [F13] [F18] */
{
    site *s = site_of(t);
    const char *flag = flag_of("flag");
    const char *config =
        test_format("{'nodes':[%s,{'id':'map','type':'MapNode','params':{'over':'list','parallel':"
                    "2,'flow':{'nodes':[%s,"
                    "%s],'edges':[%s]},'collect':'out'}}],'edges':[%s]}",
                    NODE("first", "{'exec':[['pack','list',[1,2,3]]]}"),
                    NODE("a", "{'exec':[['pack','out',7]]}"),
                    NODE("b", test_format("{'exec':[['block','%s'],['inc','out']]}", flag)),
                    edge_("a", "b", NULL), edge_("first", "map", NULL));

    raise_flag(flag);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", config));
    HAS(t->err.message, "node 'map/");
    HAS(runs_of(s), " map/");
    CHECK_TEXT("list=[1,2,3]", holds(s, "x"));
    CHECK_INT(0, unlink(flag));
    (void)resume(s, "x");
    CHECK_TEXT("list=[1,2,3] results=[8,8,8]", holds(s, "x"));
    check_site(s);
}

/* ---- who may, and when ---- */

static int resume_meanwhile(void *arg, valise_node_run *run, valise_error *err)
{
    site *s = arg;
    test *t = s->d->t;

    (void)run, (void)err;
    CHECK_RC(VALISE_E_BUSY, try_resume(s, "x"));
    HAS(runs_of(s), "running ");
    return 0;
}

/* As one that was killed between fork and exec of a program does: its lock goes a little later. */
static void *let_go_later(void *arg)
{
    process_sleep_us(120000);
    (void)close(*(int *)arg);
    return NULL;
}

TEST(flow_resume, a_lock_that_is_let_go_is_waited_for) /* [F13] */
{
    site *s = site_of(t);
    const valise_uuid run = {{1, 2, 3}};
    int fd = -1, other = -1;
    pthread_t thread;

    CHECK_OK(vls_flow_lock(&fd, s->d->v, &run, &t->err));
    CHECK_INT(1, vls_flow_is_locked(s->d->v, &run, &t->err));
    CHECK(pthread_create(&thread, NULL, let_go_later, &fd) == 0);
    CHECK_OK(vls_flow_lock(&other, s->d->v, &run, &t->err));
    CHECK(pthread_join(thread, NULL) == 0);
    fd = -1;
    CHECK_RC(VALISE_E_BUSY, vls_flow_lock(&fd, s->d->v, &run, &t->err));
    CHECK_INT(-1, fd);
    (void)close(other);
    CHECK_INT(0, vls_flow_is_locked(s->d->v, &run, &t->err));
}

typedef struct second {
    valise *v;
    int rc;
    valise_error err;
} second;

static void *resume_as_well(void *arg)
{
    second *it = arg;

    it->rc = valise_dispatch(NULL, it->v, "flow:resume", "{\"run\":\"x\"}", NULL, &it->err);
    return NULL;
}

/* Two look at a run that failed; while one waits for the lock, the other finishes it. */
TEST(flow_resume, what_was_finished_while_one_waited_is_not_run_again) /* [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_of("flag");
    second other = {.v = s->d->v, .err = VALISE_ERROR_INIT};
    valise_uuid run;
    pthread_t thread;
    int fd = -1, rc;

    raise_flag(flag);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", three(flag)));
    CHECK_OK(vls_uuid_parse(
        &run, valise_str_of(talk_member(&s->k, talk_run(&s->k, "flow:runs", "{}"), "items.0.id")),
        &t->err));
    CHECK_INT(0, unlink(flag));
    CHECK_OK(vls_flow_lock(&fd, s->d->v, &run, &t->err));
    CHECK(pthread_create(&thread, NULL, resume_as_well, &other) == 0);
    process_sleep_us(120000);
    (void)close(fd);
    rc = try_resume(s, "x");
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_MSG((rc == 0) != (other.rc == 0), "%d and %d: %s%s", rc, other.rc, t->err.message,
              other.err.message);
    CHECK_RC(VALISE_E_INVALID, VLS_MIN(rc, other.rc));
    CHECK_TEXT("n=3", holds(s, "x"));
}

TEST(flow_resume, a_run_that_goes_on_is_busy) /* [F13] */
{
    site *s = site_of(t);
    const hook h = {resume_meanwhile, s};
    const valise_service services[] = {{"h", VALISE_SERVICE_OTHER, &h}, {NULL, 0, NULL}};

    CHECK_TEXT("default at a",
               ran(s->d,
                   flow_with(s->d,
                             "{'nodes':[{'id':'a','type':'kit.Script','params':{'exec':[['call',"
                             "'h']]}}]}",
                             services),
                   bag_of(s->d, "x")));
}

TEST(flow_resume, names_what_it_does_not_find)
{
    site *s = site_of(t);
    const char *flag = flag_of("flag"), *id;

    CHECK_RC(VALISE_E_NOT_FOUND, try_resume(s, "x"));
    HAS(t->err.hint, "valise flow runs");
    raise_flag(flag);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", three(flag)));
    id = talk_member(&s->k, talk_run(&s->k, "flow:runs", "{}"), "items.0.id");
    CHECK_RC(VALISE_E_IO, try_resume(s, id));
    CHECK_RC(VALISE_E_IO, try_resume(s, id + strlen(id) - 8));
    CHECK_RC(VALISE_E_NOT_FOUND, try_resume(s, id + strlen(id) - 3));
    (void)talk_run(&s->k, "backpack:drop", "{\"backpack\":\"x\"}");
    CHECK_RC(VALISE_E_NOT_FOUND, try_resume(s, id));
    HAS(t->err.message, "was dropped");
}

TEST(flow_resume, needs_a_backpack_of_its_own_name_only_once)
{
    site *s = site_of(t);
    const char *flag = flag_of("flag");

    raise_flag(flag);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", three(flag)));
    (void)bag_of(s->d, "x.aborted-1"); /* the name is taken */
    CHECK_INT(0, unlink(flag));
    (void)resume(s, "x");
    CHECK_TEXT("half=1 n=2", holds(s, "x.aborted-2"));
    CHECK_TEXT("n=3", holds(s, "x"));
}

TEST(flow_resume, the_newest_run_on_a_backpack_is_meant)
{
    site *s = site_of(t);
    const char *flag = flag_of("flag");

    (void)run_on(s, "x", three(flag));
    (void)run_on(s, "x", three(flag));
    raise_flag(flag);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", three(flag)));
    CHECK_INT(0, unlink(flag));
    (void)resume(s, "x");
    CHECK_TEXT("done 4 ready c ; done 3 ready c ; done 3 ready c ", runs_of(s));
    CHECK_TEXT("n=9", holds(s, "x"));
}

TEST(flow_resume, who_may_not_run_flows_changes_nothing) /* [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_of("flag");
    valise_flow *flow = flow_of(s->d, three(flag));
    valise_flow_run_options options = VALISE_FLOW_RUN_OPTIONS_INIT;
    valise_backpack_options open = desk_options(s->d, 0);
    valise_backpack *bag = NULL;

    raise_flag(flag);
    CHECK_RC(VALISE_E_IO, try_run_on(s, "x", three(flag)));
    let_in(s->d, "packer", "none", "\"backpack:*\"");
    let_in(s->d, "flower", "none", "\"flow:*\",\"backpack:read\"");
    open.actor = VLS_STR("packer");
    CHECK_OK(valise_backpack_open(&bag, s->d->v, "y", &open, &t->err));
    options.items = "{\"n\":1}";
    CHECK_RC(VALISE_E_DENIED, valise_flow_run(NULL, NULL, flow, bag, &options, &t->err));
    CHECK_TEXT("", items(bag));
    valise_backpack_close(bag);
    CHECK_INT(VALISE_E_DENIED, run_as(s->d, "packer", "flow:resume", "{\"run\":\"x\"}"));
    CHECK_TEXT("half=1 n=2", holds(s, "x"));
    CHECK_TEXT("failed 2  b IO", runs_of(s));
}

/* ---- read only ---- */

TEST(flow_resume, a_workspace_that_may_only_be_read_lists_its_runs)
{
    site *s = site_of(t);
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;
    talk k;

    if (!s->d->dir)
        SKIP("there is no folder");
    (void)run_on(s, "x", three("/nowhere"));
    CHECK_INT(0, chmod(test_format("%s/.valise/flows.lock", s->d->dir), 0400) == 0
                     ? 0
                     : chmod(test_format("%s/flows.lock", s->d->dir), 0400));
    o.flags = VALISE_OPEN_READ_ONLY;
    CHECK_OK(desk_try(&v, "sqlite", s->d->dir, &o, &t->err));
    k = (talk){.t = t, .v = v, .path = s->d->dir};
    HAS(talk_run(&k, "flow:runs", "{}"), "\"status\":\"done\"");
    CHECK(talk_try(&k, "flow:run", "{\"backpack\":\"y\",\"flow\":{\"nodes\":[]}}") < 0);
    valise_close(v);
}

/* ---- written behind ---- */

/* flow:run writes behind: what prep packed is not there yet where an attempt is taken back to. */
TEST(flow_resume, an_attempt_is_taken_back_to_what_is_not_written_yet) /* [F2] */
{
    site *s = site_of(t);

    (void)run_on(s, "x",
                 test_format("{'nodes':[%s]}",
                             node_("a",
                                   "{'prep':[['pack','n',5],['pack','m',1]],'exec':[['inc',"
                                   "'n'],['fail',2,'IO','no luck']]}",
                                   ",'maxRetries':2,'quarantine':true")));
    CHECK_TEXT("m=1 n=6", holds(s, "x"));
    check_site(s);
}

/* ---- the file of a flow ---- */

TEST(flow_resume, another_flow_is_not_the_flow_of_the_run) /* [F13] */
{
    site *s = site_of(t);
    const char *flag = flag_of("flag"), *file = flag_of("flow.json"),
               *other = flag_of("other.json");

    raise_flag(flag);
    test_write_file(file, valise_str_of(quoted(three(flag))));
    test_write_file(other, VLS_STR("{\"nodes\":[{\"id\":\"b\",\"type\":\"kit.Script\"}]}"));
    CHECK_RC(VALISE_E_IO,
             talk_try(&s->k, "flow:run", "{\"backpack\":\"x\",\"file\":\"%s\"}", file));
    CHECK_RC(VALISE_E_CONFLICT,
             talk_try(&s->k, "flow:resume", "{\"run\":\"x\",\"file\":\"%s\"}", other));
    CHECK_INT(0, unlink(flag));
    /* The file says something else now: it goes on with the flow that it was. */
    test_write_file(file, VLS_STR("{\"nodes\":[{\"id\":\"zzz\",\"type\":\"kit.Script\"}]}"));
    CHECK_RC(VALISE_E_CONFLICT,
             talk_try(&s->k, "flow:resume", "{\"run\":\"x\",\"file\":\"%s\"}", file));
    (void)resume(s, "x");
    CHECK_TEXT("n=3", holds(s, "x"));
}

/* Whether anybody runs it is not known then: gc says so, and does not just keep the fork. */
TEST(flow_resume, gc_fails_where_locks_cannot_be_looked_at)
{
    site *s = site_of(t);
    const char *file = test_format("%s/.valise/flows.lock", s->d->dir), *run;

    if (!s->d->dir)
        SKIP("there is no folder");
    run_on(s, "bag", "{'nodes':[{'id':'s','type':'SetNode','params':{'values':{'a':1}}}]}");
    if (access(file, F_OK) != 0)
        file = test_format("%s/flows.lock", s->d->dir);
    run = talk_member(&s->k, talk_run(&s->k, "flow:runs", "{}"), "items.0.id");
    (void)talk_run(&s->k, "backpack:create", "{\"name\":\"map-%s-0\"}", run);
    CHECK_INT(0, unlink(file));
    CHECK_INT(0, symlink(file, file));
    CHECK(talk_try(&s->k, "workspace:gc", "{}") < 0);
    CHECK_MSG(strstr(t->err.message, "flows.lock"), "%s", t->err.message);
    CHECK_INT(0, unlink(file));
    (void)talk_run(&s->k, "workspace:gc", "{}");
    CHECK_RC(VALISE_E_NOT_FOUND,
             talk_try(&s->k, "backpack:info", "{\"backpack\":\"map-%s-0\"}", run));
}
