/* kill.c -- kill -9 at every file call of a run (only where it syncs, unless the tests may take
 * long): nothing is half done, and the next run finishes it
 * with what was made, which is not computed again. [C23] */
#include <sys/stat.h>

#include "derive/counted.h"
#include "harness/kill.h"

/* A clock that is always late: each frame is stored by itself, long before the heads move. */
static int64_t late_ticks(void *self)
{
    static int64_t now;

    (void)self;
    return now += INT64_C(3000000000);
}

static yard *open_in(test *t, const char *dir, const valise_env *env)
{
    const valise_env *usual = t->env;
    yard *y;

    t->env = env ? env : usual;
    t->param = "sqlite";
    y = counted_open_at(t, test_format("%s/ws", dir), 1);
    t->env = usual;
    return y;
}

static void say(yard *y, const char *node, const char *words)
{
    (void)yard_put(y, NULL, node, "notes", words, "");
}

static void begin(yard *y)
{
    yard_grow(y, "a/x=1 a/b/y=2 c/z=3", "");
    say(y, "a/x", "about x");
    say(y, "a/b/y", "about y");
    say(y, "c/z", "about z");
    (void)yard_run(y, "context:synthesize",
                   "{\"noScan\":true,\"recursive\":true,\"policy\":\"toy.join\"}");
    say(y, "a/b/y", "other words");
    say(y, "c/z", "other words, too");
}

static const char *regenerate(yard *y)
{
    return yard_run(y, "context:regenerate", "{\"noScan\":true,\"recursive\":true}");
}

typedef struct plan {
    test *t;
    const char *root; /* that the context must have */
    int resumed;      /* rounds in which something was found that was made before */
    int whole;        /* rounds in which all was to be made, */
    int none;         /* or nothing */
} plan;

static void run_it(kill_run *run, void *arg)
{
    static valise_env late;
    plan *p = arg;
    yard *y;

    fault_io_pause();
    late = *p->t->env;
    late.ticks_ns = late_ticks;
    y = open_in(p->t, run->dir, &late);
    begin(y);
    kill_ack(run, "begun");
    fault_io_resume();
    (void)regenerate(y);
    kill_ack(run, "done");
    fault_io_pause();
}

static void finish_it(test *t, const kill_run *run, void *arg)
{
    plan *p = arg;
    const char *answer, *seq;
    int made, calls;
    yard *y;

    CHECK(run->acked > 0);
    y = open_in(t, run->dir, NULL);
    yard_check(y);
    answer = regenerate(y);
    calls = counted_calls();
    made = yard_member(y, answer, "made")[0] - '0';
    /* The heads move all together. */
    CHECK_MSG(made == 4 || made == 0, "%d", made);
    CHECK(run->acked < 2 || made == 0);
    CHECK(calls <= made);
    p->resumed += made > 0 && calls < made;
    p->whole += made > 0 && calls == made;
    p->none += made == 0;
    CHECK_TEXT(p->root, yard_member(y, answer, "contextRoot"));
    seq = yard_member(y, yard_run(y, "log:list", "{}"), "items.0.seq");
    CHECK_TEXT("0", yard_member(y, regenerate(y), "made"));
    CHECK_TEXT(seq, yard_member(y, yard_run(y, "log:list", "{}"), "items.0.seq"));
    yard_check(y);
    valise_close(y->v);
    y->v = NULL;
}

TEST(derive_kill, at_every_file_call_of_a_run)
{
    plan p = {.t = t};
    yard *y;
    long long points;

    t->param = "memory";
    y = counted_open(t, "", 1);
    begin(y);
    p.root = yard_member(y, regenerate(y), "contextRoot");
    points = kill_each_io(t, test_is_long() ? FAULT_CHANGES : FAULT_SYNC, run_it, finish_it, &p);
    test_note("%lld points: %d found nothing, %d found some, %d all", points, p.whole, p.resumed,
              p.none);
    CHECK(points >= 4);
    CHECK((p.whole > 0 || !test_is_long()) && p.resumed > 0 && p.none > 0);
}
