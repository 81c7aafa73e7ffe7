/* kills.c -- kill loops over code with bugs. Run by unit/harness/kill.c. */
#include "../bodies.h"

#include <unistd.h>

static void each_io(test *t, unsigned bugs)
{
    kill_each_io(t, FAULT_CHANGES, save_three, verify_versions, &bugs);
}

static void each_cut(test *t, unsigned bugs)
{
    kill_each_power_cut(t, FAULT_CHANGES, save_three, verify_versions, &bugs);
}

TEST(kills, in_place)
{
    each_io(t, BUG_IN_PLACE);
}

TEST(kills, power_in_place)
{
    each_cut(t, BUG_IN_PLACE);
}

TEST(kills, power_rename_first)
{
    each_cut(t, BUG_RENAME_FIRST);
}

TEST(kills, power_no_dir_sync)
{
    each_cut(t, BUG_NO_DIR_SYNC);
}

static void ack_first(kill_run *run, void *arg)
{
    unsigned bugs = 0;
    valise_error err = VALISE_ERROR_INIT;

    (void)arg;
    for (int i = 1; i <= 9; i++) {
        const char *text = test_format("version %d", i);
        kill_ack(run, "%d", i);
        usleep(2000);
        CHECK(sample_save(valise_env_default(), run->dir, valise_str_of(text), bugs, &err) == 0);
    }
}

TEST(kills, acknowledges_too_early)
{
    kill_loop(t, 50, ack_first, verify_versions, NULL);
}

static void hang(kill_run *run, void *arg)
{
    (void)arg;
    kill_ack(run, "1");
    for (;;)
        (void)pause();
}

TEST(kills, hangs)
{
    kill_loop(t, 5, hang, verify_versions, NULL);
}

static void fail(kill_run *run, void *arg)
{
    (void)arg;
    CHECK_MSG(run->dir == NULL, "the child found a problem");
}

TEST(kills, child_fails)
{
    kill_loop(t, 5, fail, verify_versions, NULL);
}

TEST(kills, no_file_calls)
{
    unsigned bugs = 0;

    kill_each_io(t, FAULT_LOCK, save_three, verify_versions, &bugs);
}
