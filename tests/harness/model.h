/* model.h -- random operations against a naive model, and the shortest sequence that fails.
 *
 *     static void op_put(void *state, model_args *a)     changes the real thing and the model,
 *     {                                                  checks that both answer alike
 *         pair *p = state;
 *         uint64_t key = model_below(a, "key", 16);
 *         ...
 *     }
 *     static const model map_model = {
 *         .start = start, .check = compare_all, .stop = stop,
 *         .ops = {{"put", 3, op_put}, {"remove", 1, op_remove}},
 *     };
 *     TEST(map, agrees_with_a_list) { model_test(t, &map_model); }
 *
 * Runs happen in child processes: a failed check, an assertion, a sanitizer's report, a crash, a
 * hang and memory that is not freed are all failures. What failed is made shorter (steps left
 * out) and simpler (parameters towards 0) as long as it still fails, then printed with the
 * commands that repeat it.
 *
 * In the environment: VALISE_TEST_SEED; VALISE_MODEL_RUNS; VALISE_MODEL_STEPS (of one run);
 * VALISE_MODEL_SECONDS (go on for so long, whatever the number of runs; in make test-long 30, or
 * as the model says);
 * VALISE_MODEL_REPLAY="put 3 0; remove 3" (only these steps, in this process: for a debugger). */
#ifndef MODEL_H
#define MODEL_H

#include "harness/test.h"

#define MODEL_MAX_OPS 32
#define MODEL_MAX_PARAMS 8 /* of one step */

typedef struct model_args model_args;

/* The next parameter of this step: 0 .. limit-1 (limit > 0), by chance or as replayed. The label
 * is a literal and stands in the report. Ask for the same ones in the same order each time. */
uint64_t model_below(model_args *a, const char *label, uint64_t limit);

typedef struct model_op {
    const char *name;                        /* one word */
    unsigned weight;                         /* how often, relative to the others; 0 counts as 1 */
    void (*run)(void *state, model_args *a); /* one that does not apply now does nothing */
} model_op;

typedef struct model {
    /* A new thing and a new model. dir is new and empty if wants_dir, else NULL. Memory is to
     * come from t->env or test_alloc(). */
    void *(*start)(test *t, const char *dir);
    void (*check)(void *state); /* after each step: what always holds. May be NULL */
    void (*stop)(void *state);
    bool wants_dir;
    unsigned runs, steps;  /* in a plain test run; 0: 100 of each */
    unsigned long_seconds; /* with VALISE_TEST_LONG; 0: 30 */
    model_op ops[MODEL_MAX_OPS + 1];
} model;

void model_test(test *t, const model *m);

#endif
