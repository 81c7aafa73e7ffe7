/* resume_kill.c -- runs whose process is killed, whose disk fails, that two want to go on with.
 * [F13] */
#include "durable_kit.h"

#include <errno.h>
#include <unistd.h>

#include "harness/fault.h"
#include "harness/kill.h"
#include "harness/process.h"

#define NODES 10

/* n0 .. n9, in two levels, with a loop: each adds one to `sum`, and logs that it ran. */
static const char *ten_nodes(const char *log, const char *die)
{
    const char *inner = "", *inner_edges = "", *outer = "", *outer_edges = "";

    for (int i = 0; i < NODES; i++) {
        const char *id = test_format("n%d", i);
        const char *node = NODE(
            id, test_format(
                    "{'exec':[['log','%s','%s'],['pack','half','%s'],['inc','sum'],['inc','%s'],"
                    "['die','%s-%s'],['rm','half']]}",
                    log, id, id, id, die, id));

        if (i >= 4 && i < 7) {
            inner = test_format("%s%s%s", inner, *inner ? "," : "", node);
            if (i > 4)
                inner_edges = test_format("%s%s%s", inner_edges, *inner_edges ? "," : "",
                                          edge_(test_format("n%d", i - 1), id, NULL));
        } else {
            outer = test_format("%s%s%s", outer, *outer ? "," : "", node);
            outer_edges = test_format("%s%s%s", outer_edges, *outer_edges ? "," : "",
                                      edge_(i == 0   ? "turn"
                                            : i == 7 ? "in"
                                                     : test_format("n%d", i - 1),
                                            id, i == 0 ? "'go'" : NULL));
        }
    }
    /* Two laps: n9 -> turn -> n0. */
    return test_format(
        "{'start':'turn','nodes':[%s,%s],'edges':[%s,{'from':'n3','to':'in'},{'from':'n9','to':'"
        "turn'}],"
        "'subflows':[{'namespace':'in','nodes':[%s],'edges':[%s]}]}",
        NODE("turn", "{'exec':[['inc','turns']],'post':[['until','turns',3,'go','out']]}"), outer,
        outer_edges, inner, inner_edges);
}

static const char *expected(void)
{
    const char *text = "";

    for (int i = 0; i < NODES; i++)
        text = test_format("%sn%d=2 ", text, i);
    return test_format("%ssum=%d turns=3", text, 2 * NODES);
}

static const char *dir_of(const kill_run *run)
{
    return test_format("%s/ws", run->dir);
}

static const char *log_of(const char *dir)
{
    return test_format("%s/log", dir);
}

static int run_ten(valise *v, const char *dir)
{
    const char *payload = test_format("{\"backpack\":\"x\",\"flow\":%s}",
                                      quoted(ten_nodes(log_of(dir), test_format("%s/die", dir))));
    valise_error err = VALISE_ERROR_INIT;

    return valise_dispatch(NULL, v, "flow:run", payload, NULL, &err);
}

static void run_and_be_killed(kill_run *run, void *arg)
{
    valise *v = NULL;
    valise_error err = VALISE_ERROR_INIT;

    (void)arg;
    fault_io_pause();
    CHECK(script_try_open(&v, NULL, dir_of(run), &err) == 0);
    kill_ack(run, "begun");
    fault_io_resume();
    CHECK(run_ten(v, run->dir) == 0);
    kill_ack(run, "done");
    valise_close(v);
}

/* How often each node is in the log; those whose step is recorded must not run again. */
static void count_log(size_t *counts, const char *dir)
{
    valise_str text = access(log_of(dir), F_OK) == 0 ? test_read_file(log_of(dir)) : VLS_STR("");

    for (int i = 0; i < NODES; i++)
        counts[i] = times_in(text.ptr ? text.ptr : "", test_format("n%d\n", i));
}

static void go_on(test *t, const kill_run *run, void *arg)
{
    site *s = site_at(t, dir_of(run));
    size_t before[NODES], after[NODES], done[NODES];
    const char *runs, *steps;
    int rc;

    (void)arg;
    if (run->acked == 0)
        return;
    runs = runs_of(s);
    if (!*runs) /* nothing is recorded, and nothing was done */
        return;
    steps = steps_of_run(s);
    if (strncmp(runs, "done", 4) != 0) {
        CHECK_MSG(strncmp(runs, "interrupted", 11) == 0, "%s", runs);
        for (int i = 0; i < NODES; i++)
            done[i] = times_in(steps, test_format("n%d#", i));
        count_log(before, run->dir);
        rc = try_resume(s, "x");
        CHECK_MSG(rc == 0, "%s: %s; %s", valise_error_name(rc), t->err.message, steps);
        count_log(after, run->dir);
        for (int i = 0; i < NODES; i++)
            CHECK_MSG(after[i] - before[i] == 2 - done[i],
                      "n%d ran %zu times more, and %zu were done", i, after[i] - before[i],
                      done[i]);
    }
    CHECK_TEXT(expected(), holds(s, "x"));
    HAS(runs_of(s), "done ");
    check_site(s);
}

TEST(flow_kill, at_random_moments_and_it_goes_on) /* [F13] */
{
    kill_loop(t, 12, run_and_be_killed, go_on, NULL);
}

/* The rounds of resuming are killed, too. */
static void resume_and_be_killed(kill_run *run, void *arg)
{
    valise *v = NULL;
    valise_error err = VALISE_ERROR_INIT;
    int rc = VALISE_E_IO;

    (void)arg;
    CHECK(script_try_open(&v, NULL, dir_of(run), &err) == 0);
    test_write_file(test_format("%s/block", run->dir), VLS_STR(""));
    kill_ack(run, "begun");
    {
        const char *config = test_format(
            "{'nodes':[%s,%s,%s],'edges':[%s,%s]}", NODE("a", "{'exec':[['inc','sum']]}"),
            NODE("b",
                 test_format("{'exec':[['inc','sum'],['pack','half',1],['block','%s/block'],['rm',"
                             "'half']]}",
                             run->dir)),
            NODE("c", "{'exec':[['inc','sum']]}"), edge_("a", "b", NULL), edge_("b", "c", NULL));
        const char *payload = test_format("{\"backpack\":\"x\",\"flow\":%s}", quoted(config));

        CHECK(valise_dispatch(NULL, v, "flow:run", payload, NULL, &err) == VALISE_E_IO);
    }
    for (int i = 0; i < 4; i++) {
        if (i == 3)
            test_remove(test_format("%s/block", run->dir));
        rc = valise_dispatch(NULL, v, "flow:resume", "{\"run\":\"x\"}", NULL, &err);
        CHECK_MSG(rc == (i == 3 ? 0 : VALISE_E_IO), "%s", err.message);
        kill_ack(run, "%d", i);
    }
    valise_close(v);
}

static void end_it(test *t, const kill_run *run, void *arg)
{
    site *s = site_at(t, dir_of(run));

    (void)arg;
    if (run->acked == 0 || !*runs_of(s))
        return;
    test_remove(test_format("%s/block", run->dir));
    if (!strstr(runs_of(s), "done")) {
        int rc = try_resume(s, "x");

        CHECK_MSG(rc == 0, "%s; %s", t->err.message, steps_of_run(s));
    }
    CHECK_TEXT("sum=3", holds(s, "x"));
    check_site(s);
}

TEST(flow_kill, resuming_at_random_moments) /* [F13] */
{
    kill_loop(t, 12, resume_and_be_killed, end_it, NULL);
}

/* ---- in a node ---- */

static int run_child(size_t index, void *arg)
{
    const char *dir = arg;
    valise *v = NULL;
    valise_error err = VALISE_ERROR_INIT;

    (void)index;
    CHECK(script_try_open(&v, NULL, test_format("%s/ws", dir), &err) == 0);
    CHECK(run_ten(v, dir) == 0);
    valise_close(v);
    return 0;
}

static void run_until_it_dies(const char *dir, const char *node)
{
    process_result r;

    test_write_file(test_format("%s/die-%s", dir, node), VLS_STR(""));
    process_all(&r, 1, run_child, (void *)(uintptr_t)dir);
    CHECK_MSG(r.signal == 9, "%s", process_describe(&r));
}

TEST(flow_kill, what_a_killed_node_wrote_stays_in_a_backpack_aside) /* [F13] */
{
    const char *dir = test_tmpdir();
    site *s;

    run_until_it_dies(dir, "n5");
    s = site_at(t, test_format("%s/ws", dir));
    CHECK_TEXT("interrupted 6   ", runs_of(s));
    CHECK_TEXT("turn#1>n0 n0#1>n1 n1#1>n2 n2#1>n3 n3#1>in in/n4#1>n5", steps_of_run(s));
    (void)resume(s, "x");
    CHECK_TEXT(expected(), holds(s, "x"));
    HAS(commits(s, "x.aborted-1"), " by in/n5");
    CHECK_RC(VALISE_E_INVALID, try_resume(s, "x"));
    check_site(s);
}

TEST(flow_kill, one_that_was_interrupted_can_be_repeated_before_it_goes_on) /* [F13] */
{
    const char *dir = test_tmpdir();
    site *s;

    run_until_it_dies(dir, "n5");
    s = site_at(t, test_format("%s/ws", dir));
    (void)rerun(s, "x", "'from':'n3','backpack':'y'"); /* also of one that was interrupted */
    CHECK_TEXT(expected(), holds(s, "y"));
    HAS(holds(s, "x"), "half=\"n5\"");
    (void)rerun(s, "x", "'from':'in/n5','backpack':'z'");
    CHECK_TEXT(expected(), holds(s, "z"));
    (void)talk_run(&s->k, "flow:resume", "{\"run\":\"x\"}");
    CHECK_TEXT(expected(), holds(s, "x"));
}

/* The first attempt of a subflow fails in b and is taken back; in the second one a is killed. */
static int run_attempts(size_t index, void *arg)
{
    const char *dir = arg;
    valise *v = NULL;
    valise_error err = VALISE_ERROR_INIT;
    const char *config = test_format(
        "{'nodes':[{'id':'in','type':'SubflowNode','maxRetries':1,'quarantine':true,'params':{'"
        "flow':{"
        "'nodes':[%s,%s],'edges':[%s]}}}]}",
        NODE("a", test_format("{'exec':[['inc','a'],['die','%s/die']]}", dir)),
        NODE("b", test_format("{'exec':[['log','%s/die','x'],['block','%s/block'],['inc','b']]}",
                              dir, dir)),
        edge_("a", "b", NULL));

    (void)index;
    test_write_file(test_format("%s/block", dir), VLS_STR(""));
    CHECK(script_try_open(&v, NULL, test_format("%s/ws", dir), &err) == 0);
    (void)valise_dispatch(NULL, v, "flow:run",
                          test_format("{\"backpack\":\"x\",\"flow\":%s}", quoted(config)), NULL,
                          &err);
    valise_close(v);
    return 1;
}

TEST(flow_kill, in_the_second_attempt_of_a_subflow) /* [F2] [F13] */
{
    const char *dir = test_tmpdir();
    process_result r;
    site *s;

    process_all(&r, 1, run_attempts, (void *)(uintptr_t)dir);
    CHECK_MSG(r.signal == 9, "%s", process_describe(&r));
    test_remove(test_format("%s/block", dir));
    s = site_at(t, test_format("%s/ws", dir));
    CHECK_TEXT("in/a#1>b in#0>", steps_of_run(s));
    (void)resume(s, "x");
    CHECK_TEXT("a=1 b=1", holds(s, "x")); /* and not b alone: what the first a did was taken back */
    check_site(s);
}

/* ---- two, one after the other ---- */

typedef struct dying {
    const char *dir, *config;
} dying;

static int run_dying(size_t index, void *arg)
{
    const dying *d = arg;
    valise *v = NULL;
    valise_error err = VALISE_ERROR_INIT;

    (void)index;
    CHECK(script_try_open(&v, NULL, test_format("%s/ws", d->dir), &err) == 0);
    (void)valise_dispatch(NULL, v, "flow:run",
                          test_format("{\"backpack\":\"x\",\"flow\":%s}", quoted(d->config)), NULL,
                          &err);
    valise_close(v);
    return 1;
}

/* a counts, and in b the process is killed: after it wrote, or before. */
static void run_and_die(const char *dir, bool wrote)
{
    const char *die = test_format("%s/die", dir);
    dying d = {dir, test_format(
                        "{'nodes':[%s,%s],'edges':[%s]}", NODE("a", "{'exec':[['inc','n']]}"),
                        NODE("b", test_format(wrote ? "{'exec':[['inc','n'],['inc','m'],['die','%s'"
                                                      "]]}"
                                                    : "{'exec':[['die','%s'],['inc','n']]}",
                                              die)),
                        edge_("a", "b", NULL))};
    process_result r;

    test_write_file(die, VLS_STR(""));
    process_all(&r, 1, run_dying, &d);
    CHECK_MSG(r.signal == 9, "%s", process_describe(&r));
}

/* Newest first. */
static const char *run_id(site *s, int n)
{
    return talk_member(&s->k, talk_run(&s->k, "flow:runs", "{}"), test_format("items.%d.id", n));
}

/* Of both a node is open in the backpack: each of them means its own. */
TEST(flow_kill, the_node_of_another_run_that_was_killed) /* [F13] */
{
    const char *dir = test_tmpdir();
    site *s;

    run_and_die(dir, true);
    run_and_die(dir, false);
    s = site_at(t, test_format("%s/ws", dir));
    CHECK_TEXT("n=3", holds(s, "x"));
    CHECK_RC(VALISE_E_CONFLICT, try_resume(s, run_id(s, 1)));
    HAS(t->err.message, "undoing what 'b' had written would also undo what a wrote");
    CHECK_TEXT("n=3", holds(s, "x"));
    (void)resume(s, run_id(s, 0));
    CHECK_TEXT("n=4", holds(s, "x"));
    CHECK_RC(VALISE_E_CONFLICT, try_resume(s, run_id(s, 1))); /* still */
    CHECK(!strstr(talk_run(&s->k, "backpack:list", "{}"), "aborted"));
    (void)rerun(s, run_id(s, 1), "'from':'b','backpack':'y'");
    HAS(holds(s, "y"), "n=2");
    check_site(s);
}

/* The first one left nothing: it goes on; then the second one has something to lose. */
TEST(flow_kill, before_another_run_that_was_killed) /* [F13] */
{
    const char *dir = test_tmpdir();
    site *s;

    run_and_die(dir, false);
    run_and_die(dir, true);
    s = site_at(t, test_format("%s/ws", dir));
    CHECK_TEXT("n=3", holds(s, "x"));
    (void)resume(s, run_id(s, 1));
    CHECK_TEXT("n=4", holds(s, "x"));
    CHECK_RC(VALISE_E_CONFLICT, try_resume(s, run_id(s, 0)));
    CHECK_TEXT("n=4", holds(s, "x"));
    check_site(s);
}

/* ---- two at once ---- */

static int resume_child(size_t index, void *arg)
{
    const char *dir = arg;
    valise *v = NULL;
    valise_error err = VALISE_ERROR_INIT;
    int rc;

    (void)index;
    CHECK(script_try_open(&v, NULL, test_format("%s/ws", dir), &err) == 0);
    rc = valise_dispatch(NULL, v, "flow:resume", "{\"run\":\"x\"}", NULL, &err);
    valise_close(v);
    CHECK_MSG(rc == 0 || rc == VALISE_E_BUSY || rc == VALISE_E_INVALID, "%s", err.message);
    return rc == 0 ? 0 : 10;
}

TEST(flow_kill, two_processes_that_go_on_with_it) /* [F13] */
{
    const char *dir = test_tmpdir();
    process_result r[4];
    size_t won = 0;
    site *s;

    run_until_it_dies(dir, "n5");
    process_all(r, 4, resume_child, (void *)(uintptr_t)dir);
    for (size_t i = 0; i < 4; i++) {
        CHECK_MSG(r[i].exit_code == 0 || r[i].exit_code == 10, "%s", process_describe(&r[i]));
        won += r[i].exit_code == 0;
    }
    CHECK_INT(1, (intmax_t)won);
    s = site_at(t, test_format("%s/ws", dir));
    CHECK_TEXT(expected(), holds(s, "x"));
    check_site(s);
}

/* ---- the disk ---- */

static int run_with_faults(fault *f, void *arg)
{
    const char *dir = test_format("%s/ws", f->dir), *state;
    valise *v = NULL;
    talk k;
    site s;
    desk d;
    int rc;

    (void)arg;
    fault_off(f);
    CHECK(script_try_open(&v, f->env, dir, &f->err) == 0);
    fault_on(f);
    {
        const char *config =
            test_format("{'nodes':[%s,%s],'edges':[%s]}",
                        NODE("a", "{'exec':[['inc','sum'],['pack','half',1],['rm',"
                                  "'half']]}"),
                        NODE("b", "{'exec':[['inc','sum']]}"), edge_("a", "b", NULL));
        rc = valise_dispatch(NULL, v, "flow:run",
                             test_format("{\"backpack\":\"x\",\"flow\":%s}", quoted(config)), NULL,
                             &f->err);
    }
    fault_off(f);
    valise_close(v);
    v = NULL;
    CHECK(script_try_open(&v, f->env, dir, &(valise_error){.code = 0}) == 0);
    d = (desk){.t = f->t, .v = v, .err = &f->t->err, .dir = dir, .durable = true};
    k = (talk){.t = f->t, .v = v, .path = dir};
    s = (site){.d = &d, .k = k};
    state = runs_of(&s);
    if (rc == 0) {
        f->recovered = true; /* SQLite does without some of them */
        CHECK_TEXT("sum=2", holds(&s, "x"));
        CHECK_TEXT("done 2 default b ", state);
    } else if (*state && !strstr(state, "done")) {
        CHECK_MSG(try_resume(&s, "x") == 0, "%s: %s", state, f->t->err.message);
        CHECK_TEXT("sum=2", holds(&s, "x"));
    }
    talk_check(&k, true);
    valise_close(v);
    return rc;
}

TEST(flow_kill, with_a_disk_that_fails) /* [F13] [Q18] */
{
    fault_each_io(t, FAULT_WRITE | FAULT_SYNC, EIO, run_with_faults, NULL);
}

TEST(flow_kill, with_a_disk_that_is_full) /* [F13] [Q18] */
{
    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_WRITE, .error = ENOSPC, .onward = true},
                    run_with_faults, NULL);
}

/* A run that was killed is there, so that each node is noted when it begins. */
static int begin_and_die(size_t index, void *arg)
{
    const char *dir = arg;
    valise *v = NULL;
    valise_error err = VALISE_ERROR_INIT;
    const char *config =
        test_format("{'nodes':[%s]}", NODE("z", test_format("{'exec':[['die','%s/die']]}", dir)));

    (void)index;
    CHECK(script_try_open(&v, NULL, test_format("%s/ws", dir), &err) == 0);
    (void)valise_dispatch(NULL, v, "flow:run",
                          test_format("{\"backpack\":\"x\",\"flow\":%s}", quoted(config)), NULL,
                          &err);
    return 1;
}

static int retry_with_faults(fault *f, void *arg)
{
    const char *config = test_format(
        "{'nodes':[{'id':'in','type':'SubflowNode','maxRetries':2,'quarantine':true,'params':{"
        "'flow':{'nodes':[%s,%s],'edges':[%s]}}}]}",
        NODE("a", "{'exec':[['inc','sum']]}"), NODE("b", "{'exec':[['inc','sum']]}"),
        edge_("a", "b", NULL));
    process_result r;
    valise *v = NULL;
    int rc;

    (void)arg;
    fault_off(f);
    test_write_file(test_format("%s/die", f->dir), VLS_STR(""));
    process_all(&r, 1, begin_and_die, (void *)(uintptr_t)f->dir);
    CHECK_MSG(r.signal == 9, "%s", process_describe(&r));
    CHECK(script_try_open(&v, f->env, test_format("%s/ws", f->dir), &f->err) == 0);
    fault_on(f);
    rc = valise_dispatch(NULL, v, "flow:run",
                         test_format("{\"backpack\":\"x\",\"flow\":%s}", quoted(config)), NULL,
                         &f->err);
    fault_off(f);
    f->recovered = rc == 0;
    CHECK_MSG(!strstr(f->err.message, "is not over"), "%s", f->err.message);
    if (rc == 0) {
        valise_backpack_options open = VALISE_BACKPACK_OPTIONS_INIT;
        valise_backpack *bag = NULL;

        open.flags = VALISE_BACKPACK_DURABLE;
        CHECK(valise_backpack_open(&bag, v, "x", &open, &f->t->err) == 0);
        CHECK_TEXT("sum=2", items(bag));
        valise_backpack_close(bag);
    }
    valise_close(v);
    return rc;
}

TEST(flow_kill, a_node_whose_beginning_cannot_be_noted_can_begin_again) /* [F2] [Q18] */
{
    fault_each_io(t, FAULT_WRITE | FAULT_SYNC, EIO, retry_with_faults, NULL);
}
