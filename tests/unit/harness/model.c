/* model.c -- the model driver: finds the shortest failure, and can repeat it. */
#include "victim.h"

static void run_model(process_result *r, const char *name, const char *const *env)
{
    victim_run(r, name, env);
    CHECK_MSG(r->exit_code != 0, "%s passed", name);
    CHECK_HAS(r->out, test_format("not ok 1 - %s\n", name));
}

TEST(model, shrinks_to_the_three_steps_that_matter)
{
    process_result r;

    run_model(&r, "models.off_by_one", NULL);
    CHECK_HAS(r.out, "; 3 steps are left after ");
    CHECK_HAS(r.out, "#    1. put key=");
    CHECK_HAS(r.out, "#    2. put key=");
    CHECK_HAS(r.out, "#    3. remove key=");
    CHECK_MSG(strstr(r.out.ptr, "'put 0; put 1; remove 0'") ||
                  strstr(r.out.ptr, "'put 1; put 0; remove 1'"),
              "%s", r.out.ptr);
    CHECK_HAS(r.out, "models.c:"); /* the check that failed */
}

TEST(model, lowers_parameters_to_the_smallest_that_fails)
{
    process_result r;

    run_model(&r, "models.limit", NULL);
    CHECK_HAS(r.out, "; 1 steps are left after ");
    CHECK_HAS(r.out, "#    1. add unused=0 amount=100\n");
}

TEST(model, crashes_hangs_and_leaks_are_failures)
{
    process_result r;

    run_model(&r, "models.crash", NULL);
    CHECK_HAS(r.out, "#    1. crash x=7\n");
    CHECK_HAS(r.out, "signal 6");
    run_model(&r, "models.hang", NULL);
    CHECK_HAS(r.out, "#    1. hang x=7\n");
    CHECK_HAS(r.out, "timed out");
    run_model(&r, "models.leak", NULL);
    CHECK_HAS(r.out, "#    1. leak\n");
    CHECK_HAS(r.out, "10 bytes were not freed");
}

/* The line of the report that begins like this, without its "# ". */
static const char *command_in(valise_str report, const char *start)
{
    const char *at = strstr(report.ptr, test_format("\n#   %s", start));

    CHECK_MSG(at != NULL, "no %s in:\n%s", start, report.ptr);
    return test_format("%.*s", (int)strcspn(at + 5, "\n"), at + 5);
}

TEST(model, the_commands_in_the_report_repeat_the_failure)
{
    process_result r, again;

    run_model(&r, "models.off_by_one", NULL);
    const char *verdict = strstr(r.out.ptr, " failed at step ");
    CHECK(verdict != NULL);

    const char *whole = command_in(r.out, "VALISE_TEST_SEED=");
    process_run(&again, (const char *[]){"sh", "-c", whole, NULL}, NULL);
    CHECK_INT(1, again.exit_code);
    CHECK_HAS(again.out, test_format("%.*s", (int)strcspn(verdict, "\n"), verdict));

    const char *steps = command_in(r.out, "VALISE_MODEL_REPLAY=");
    process_run(&again, (const char *[]){"sh", "-c", steps, NULL}, NULL);
    CHECK_INT(1, again.exit_code);
    CHECK_HAS(again.out, "not ok 1 - models.off_by_one\n");
}

TEST(model, steps_can_be_replayed)
{
    process_result r;

    run_model(&r, "models.off_by_one",
              (const char *[]){"VALISE_MODEL_REPLAY=put 5; put 6; remove 5", NULL});
    CHECK_HAS(r.out, "key 5");
    victim_run(&r, "models.off_by_one",
               (const char *[]){"VALISE_MODEL_REPLAY=put 5; put 6; remove 6", NULL});
    CHECK_INT(0, r.exit_code);
    CHECK_HAS(r.out, "# replayed 3 steps");
    run_model(&r, "models.off_by_one", (const char *[]){"VALISE_MODEL_REPLAY=fly 5", NULL});
    CHECK_HAS(r.out, "no operation fly");
}
