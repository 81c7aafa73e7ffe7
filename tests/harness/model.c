/* model.c -- making sequences, running them in children, and shrinking what fails.
 *
 * The sequence that runs lies in memory shared with the child, which writes each parameter back
 * as it was used (reduced below its limit) and says how far it is. So when the child is gone,
 * however it went, the steps up to the failure are there, in their simplest form. */
#include "harness/model.h"

#include <errno.h>
#include <sys/stat.h>

#include "harness/internal.h"
#include "harness/process.h"

#define MAX_STEPS 100000
#define RUNS_PER_CHILD 200 /* a new child now and then: test_alloc() never shrinks */
#define LONG_SECONDS 30    /* with VALISE_TEST_LONG */
#define MAX_PROBES 3000
#define SHRINK_MS 60000
#define SHORT_TIMEOUT_MS 3000 /* for attempts to shorten a hang */

typedef struct step {
    unsigned op;
    unsigned used; /* parameters that the operation asked for */
    uint64_t params[MODEL_MAX_PARAMS];
    const char *labels[MODEL_MAX_PARAMS]; /* literals: the same address in the child */
} step;

typedef struct shared {
    atomic_ullong beats; /* steps done, in all: stands still when the child hangs */
    uint64_t run;        /* whose steps these are */
    size_t at;           /* the step that runs now; count: the end of the run */
    size_t count;
    step steps[];
} shared;

struct model_args {
    step *s;
    unsigned next;
};

typedef struct driver {
    test *t;
    const model *m;
    size_t op_count;
    uint64_t weights; /* of all operations */
    uint64_t seed, first_run, runs;
    size_t steps;
    int64_t end_ms; /* stop making runs then; 0: after `runs` */
    shared *shared;
    /* while shrinking */
    step *best;
    size_t best_count;
    long probes;
    int64_t shrink_end_ms;
    int timeout_ms;
} driver;

uint64_t model_below(model_args *a, const char *label, uint64_t limit)
{
    unsigned i = a->next++;

    NEED(i < MODEL_MAX_PARAMS, "a step asks for more than %d parameters", MODEL_MAX_PARAMS);
    NEED(limit > 0, "parameter %s has a limit of 0", label);
    a->s->params[i] %= limit;
    a->s->labels[i] = label;
    a->s->used = a->next;
    return a->s->params[i];
}

/* ---- one run, in the child (or, replayed, in the test) ---- */

static uint64_t weight_of(const model_op *op)
{
    return op->weight ? op->weight : 1;
}

static void generate(driver *d, uint64_t run)
{
    test_rng rng = test_rng_new(d->seed + run);

    d->shared->run = run;
    d->shared->count = d->steps;
    for (size_t i = 0; i < d->steps; i++) {
        step *s = &d->shared->steps[i];
        uint64_t pick = test_random_below(&rng, d->weights);
        *s = (step){.op = 0};
        while (pick >= weight_of(&d->m->ops[s->op]))
            pick -= weight_of(&d->m->ops[s->op++]);
        for (size_t j = 0; j < MODEL_MAX_PARAMS; j++)
            s->params[j] = test_random(&rng);
    }
}

static void execute(driver *d)
{
    shared *sh = d->shared;
    const char *dir = d->m->wants_dir ? test_format("%s/model", test_tmpdir()) : NULL;
    size_t before = test_bytes_in_use(d->t);

    if (dir) {
        test_remove(dir);
        NEED(mkdir(dir, 0700) == 0, "mkdir %s: %s", dir, strerror(errno));
    }
    sh->at = 0;
    void *state = d->m->start(d->t, dir);
    for (; sh->at < sh->count; sh->at++) {
        model_args a = {&sh->steps[sh->at], 0};
        a.s->used = 0;
        d->m->ops[a.s->op].run(state, &a);
        if (d->m->check)
            d->m->check(state);
        atomic_fetch_add(&sh->beats, 1);
    }
    d->m->stop(state);
    size_t left = test_bytes_in_use(d->t) - before;
    CHECK_MSG(left == 0, "%zu bytes were not freed", left);
}

static int run_many(size_t index, void *arg)
{
    driver *d = arg;

    (void)index;
    for (uint64_t i = 0; i < RUNS_PER_CHILD && d->first_run + i < d->runs; i++) {
        if (d->end_ms && process_now_ms() > d->end_ms)
            break;
        generate(d, d->first_run + i);
        execute(d);
    }
    return 0;
}

static int run_given(size_t index, void *arg)
{
    (void)index;
    execute(arg);
    return 0;
}

/* ---- children ---- */

/* Wait as long as the child makes progress. True when it failed. */
static bool fails(driver *d, process_result *r, process_fn *fn)
{
    process p;
    uint64_t seen = 0;
    int64_t since_ms = process_now_ms();

    process_start(&p, fn, 0, d);
    for (int64_t pause_us = 50; !process_ended(&p); pause_us = VLS_MIN(pause_us * 2, 2000)) {
        uint64_t beats = atomic_load(&d->shared->beats);
        if (beats != seen)
            since_ms = process_now_ms();
        else if (process_now_ms() - since_ms > d->timeout_ms)
            break;
        seen = beats;
        process_sleep_us(pause_us);
    }
    process_wait(r, &p, 1); /* one that hangs is killed now */
    return r->timed_out || r->exit_code != 0;
}

/* ---- shrinking ---- */

/* What ran becomes the best, without what was not reached. */
static void adopt(driver *d)
{
    size_t count = VLS_MIN(d->shared->at + 1, d->shared->count);

    d->best_count = count;
    memcpy(d->best, d->shared->steps, count * sizeof(step));
}

/* Put the best, without `len` steps at `from`, up for a run. */
static void propose(driver *d, size_t from, size_t len)
{
    step *to = d->shared->steps;

    memcpy(to, d->best, from * sizeof(step));
    memcpy(to + from, d->best + from + len, (d->best_count - from - len) * sizeof(step));
    d->shared->count = d->best_count - len;
}

static bool in_budget(const driver *d)
{
    return d->probes < MAX_PROBES && process_now_ms() < d->shrink_end_ms;
}

/* True when what is up for a run still fails; it is then the best. */
static bool probe(driver *d)
{
    process_result r;

    if (!in_budget(d))
        return false;
    d->probes++;
    if (!fails(d, &r, run_given))
        return false;
    adopt(d);
    return true;
}

static bool leave_out_steps(driver *d)
{
    bool better = false;

    for (size_t len = VLS_MAX(d->best_count / 2, 1); len > 0; len /= 2) {
        for (size_t from = 0; from + len <= d->best_count && d->best_count > 1;) {
            propose(d, from, len);
            if (probe(d))
                better = true;
            else
                from += len;
        }
    }
    return better;
}

/* Set one parameter, or every one that has the same value: keys that must stay equal. */
static bool try_param(driver *d, size_t at, unsigned i, uint64_t value, bool all)
{
    uint64_t old = d->best[at].params[i];

    propose(d, 0, 0);
    for (size_t j = 0; all && j < d->best_count; j++) {
        for (unsigned k = 0; k < d->best[j].used; k++) {
            if (d->best[j].params[k] == old)
                d->shared->steps[j].params[k] = value;
        }
    }
    d->shared->steps[at].params[i] = value;
    return probe(d);
}

static bool lower_param(driver *d, size_t at, unsigned i, bool all)
{
    bool better = false;

    if (d->best[at].params[i] == 0)
        return false;
    if (try_param(d, at, i, 0, all))
        return true;
    while (at < d->best_count && d->best[at].params[i] > 1 &&
           (try_param(d, at, i, d->best[at].params[i] / 2, all) ||
            (at < d->best_count && try_param(d, at, i, d->best[at].params[i] - 1, all))))
        better = true;
    return better;
}

static bool lower_params(driver *d)
{
    bool better = false;

    for (size_t at = 0; at < d->best_count; at++) {
        for (unsigned i = 0; at < d->best_count && i < d->best[at].used; i++) {
            better = lower_param(d, at, i, false) || better;
            if (at < d->best_count)
                better = lower_param(d, at, i, true) || better;
        }
    }
    return better;
}

static void shrink(driver *d)
{
    d->shrink_end_ms = process_now_ms() + SHRINK_MS;
    d->timeout_ms = VLS_MIN(d->timeout_ms, SHORT_TIMEOUT_MS);
    while (in_budget(d)) {
        bool shorter = leave_out_steps(d);
        if (!lower_params(d) && !shorter)
            break;
    }
}

/* ---- the report ---- */

static const char *replay_text(const driver *d)
{
    const char *text = "";

    for (size_t i = 0; i < d->best_count; i++) {
        const step *s = &d->best[i];
        text = test_format("%s%s%s", text, i ? "; " : "", d->m->ops[s->op].name);
        for (unsigned j = 0; j < s->used; j++)
            text = test_format("%s %ju", text, (uintmax_t)s->params[j]);
    }
    return text;
}

static void note_steps(const driver *d)
{
    for (size_t i = 0; i < d->best_count; i++) {
        const step *s = &d->best[i];
        const char *line = test_format("%4zu. %s", i + 1, d->m->ops[s->op].name);
        for (unsigned j = 0; j < s->used; j++)
            line = test_format("%s %s=%ju", line, s->labels[j], (uintmax_t)s->params[j]);
        test_note("%s", line);
    }
}

static void report_failure(driver *d, const process_result *first)
{
    uint64_t seed = d->seed + d->shared->run;
    const char *param = d->t->param;
    const char *command = test_format("%s --only %s.%s%s%s", test_program, d->t->suite, d->t->name,
                                      param ? "/" : "", param ? param : "");
    size_t long_count;
    process_result r;

    adopt(d);
    long_count = d->best_count;
    propose(d, 0, 0);
    bool again = fails(d, &r, run_given);
    if (again) {
        adopt(d);
        shrink(d);
        propose(d, 0, 0);
        again = fails(d, &r, run_given);
    }
    test_note("seed %ju failed at step %zu; %zu steps are left after %ld attempts:",
              (uintmax_t)seed, long_count, d->best_count, d->probes);
    note_steps(d);
    test_note(
        "the whole run:\n  VALISE_TEST_SEED=%ju VALISE_MODEL_RUNS=1 VALISE_MODEL_STEPS=%zu %s",
        (uintmax_t)seed, d->steps, command);
    if (d->best_count <= 50)
        test_note("these steps:\n  VALISE_MODEL_REPLAY='%s' %s", replay_text(d), command);
    test_fail(__FILE__, __LINE__, "%s%s", process_describe(again ? &r : first),
              again ? "" : "\n(it does not fail every time)");
}

/* ---- replay ---- */

static void parse_step(const driver *d, step *s, valise_str text)
{
    valise_str word, rest;
    bool more = vls_str_cut(&word, &rest, vls_str_trim(text), ' ');

    *s = (step){.op = 0};
    while (s->op < d->op_count && !vls_str_equal(valise_str_of(d->m->ops[s->op].name), word))
        s->op++;
    NEED(s->op < d->op_count, "VALISE_MODEL_REPLAY: no operation %.*s", VALISE_STR_ARG(word));
    for (size_t i = 0; more; i++) {
        more = vls_str_cut(&word, &rest, rest, ' ');
        NEED(i < MODEL_MAX_PARAMS && vls_str_to_u64(&s->params[i], word),
             "VALISE_MODEL_REPLAY: %.*s is no parameter", VALISE_STR_ARG(word));
    }
}

static void replay(driver *d, const char *text)
{
    valise_str one, rest = valise_str_of(text);

    d->shared->count = 0;
    for (bool more = true; more && d->shared->count < MAX_STEPS;) {
        more = vls_str_cut(&one, &rest, rest, ';');
        parse_step(d, &d->shared->steps[d->shared->count++], one);
    }
    execute(d);
    test_note("replayed %zu steps", d->shared->count);
}

/* ---- the test ---- */

void model_test(test *t, const model *m)
{
    const char *given = getenv("VALISE_MODEL_REPLAY");
    uint64_t enough = m->long_seconds ? m->long_seconds : LONG_SECONDS;
    uint64_t seconds = test_setting("VALISE_MODEL_SECONDS", test_is_long() ? enough : 0);
    driver d = {.t = t, .m = m, .timeout_ms = process_timeout_ms()};
    process_result r;

    for (; m->ops[d.op_count].name; d.op_count++)
        d.weights += weight_of(&m->ops[d.op_count]);
    d.steps = test_setting("VALISE_MODEL_STEPS", m->steps ? m->steps : 100);
    d.runs = seconds ? UINT64_MAX : test_setting("VALISE_MODEL_RUNS", m->runs ? m->runs : 100);
    d.end_ms = seconds ? process_now_ms() + (int64_t)seconds * 1000 : 0;
    NEED(d.op_count > 0 && d.steps > 0 && d.steps <= MAX_STEPS, "no operations, or %zu steps",
         d.steps);
    d.shared = process_share(sizeof(shared) + MAX_STEPS * sizeof(step));
    d.best = test_alloc(d.steps * sizeof(step));
    if (given && given[0]) {
        replay(&d, given);
        return;
    }

    d.seed = test_seed();
    for (; d.first_run < d.runs; d.first_run += RUNS_PER_CHILD) {
        if (d.end_ms && process_now_ms() > d.end_ms)
            break;
        if (fails(&d, &r, run_many))
            report_failure(&d, &r);
    }
    test_count_check();
    test_note("%llu steps, %zu in each run", atomic_load(&d.shared->beats), d.steps);
}
