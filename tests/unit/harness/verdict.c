/* verdict.c -- the runner: every way to fail is seen, and named. */
#include "victim.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(verdict, a_passing_test_passes)
{
    process_result r;

    victim_run(&r, "verdicts.passes", NULL);
    CHECK_INT(0, r.exit_code);
    CHECK_TEXT("TAP version 13\n1..1\nok 1 - verdicts.passes\n", r.out.ptr);
}

TEST(verdict, failed_checks_say_what_and_where)
{
    victim_must_fail("verdicts.fails", "2 is 2, expected 1\n# while nothing in particular happens");
    victim_must_fail("verdicts.text_differs", "is \"actual\" (6 bytes), expected \"expected\"");
    victim_must_fail("verdicts.wrong_code", "returned CORRUPT, expected OK: entry 7 is torn");
    victim_must_fail("verdicts.fails", "verdicts.c:");
}

TEST(verdict, leftovers_fail)
{
    victim_must_fail("verdicts.leaks_memory", "100 bytes in 1 blocks were not freed");
    victim_must_fail("verdicts.leaks_a_descriptor", "not closed: ");
    victim_must_fail("verdicts.leaks_a_descriptor", "/dev/null");
    victim_must_fail("verdicts.checks_nothing", "no check ran");
    victim_must_fail("verdicts.fails_when_deferred", "in a deferred function");
    victim_must_fail("verdicts.fails_when_deferred", "# the other deferred function ran");
}

TEST(verdict, a_check_may_fail_on_any_thread_and_in_any_process)
{
    process_result r;

    victim_must_fail("verdicts.fails_on_a_thread", "on a thread");
    victim_must_fail("verdicts.fails_on_one_of_many_threads", "index != 2");
    victim_must_fail("verdicts.has_a_child_that_fails", "process 1 found a problem");

    victim_run(&r, "verdicts.fails_in_a_forked_child", NULL);
    CHECK_HAS(r.out, "not ok 1 - verdicts.fails_in_a_forked_child\n");
    CHECK_HAS(r.out, "is 97, expected 0");
    CHECK_HAS(r.err, "in a child");

    victim_run(&r, "verdicts.forgets_that_it_is_a_child", NULL);
    CHECK_TEXT("TAP version 13\n1..1\nok 1 - verdicts.forgets_that_it_is_a_child\n", r.out.ptr);
    CHECK_HAS(r.err, "a child process came back from the test");
}

TEST(verdict, a_skipped_test_gives_its_reason)
{
    process_result r;

    victim_run(&r, "verdicts.skips", NULL);
    CHECK_INT(0, r.exit_code);
    CHECK_HAS(r.out, "ok 1 - verdicts.skips # SKIP no such thing here\n");
}

TEST(verdict, what_a_test_prints_is_not_in_the_report)
{
    process_result r;

    victim_run(&r, "verdicts.prints", NULL);
    CHECK_INT(0, r.exit_code);
    CHECK_TEXT("TAP version 13\n1..1\nok 1 - verdicts.prints\n", r.out.ptr);
    CHECK_TEXT("ok 1 - this is not the report\nBail out!", r.err.ptr);
}

static void must_end(const char *name, const char *message)
{
    process_result r;

    victim_run(&r, test_format("ending.%s", name), NULL);
    CHECK_MSG(strstr(r.out.ptr, "\nok") == NULL, "%s", r.out.ptr);
    CHECK_HAS(r.out, message);
}

TEST(verdict, a_test_that_ends_the_program_fails)
{
    must_end("exits", "not ok 1 - ending.exits\n# the test called exit()");
    must_end("aborts", "not ok 1 - ending.aborts\n# the test crashed");
    must_end("crashes", "not ok 1 - ending.crashes\n# ");
    must_end("is_ended_from_outside", "not ok 1 - ending.is_ended_from_outside\n# ended from");
    must_end("underscore_exits", "1..1\n"); /* the plan is not kept: that much can be seen */
}

TEST(verdict, children_that_hang_are_ended_and_described)
{
    process_result r;

    victim_must_fail("verdicts.has_a_child_that_hangs", "process 1 of 3: timed out, in state S");
    victim_run(&r, "verdicts.leaves_a_child_behind", NULL);
    const char *at = strstr(r.out.ptr, "# child ");
    CHECK(at != NULL);
    CHECK_INT(-1, kill((pid_t)strtol(at + 8, NULL, 10), 0));
    CHECK_INT(ESRCH, errno);
}

TEST(verdict, a_pattern_that_fits_nothing_is_an_error)
{
    process_result r;

    victim_run(&r, "no.such", NULL);
    CHECK_INT(2, r.exit_code);
    CHECK_HAS(r.err, "no test fits no.such");
}

/* ---- what tests get ---- */

static void count_up(size_t index, void *arg)
{
    atomic_int *seen = arg;

    CHECK(index < 16);
    CHECK_TEXT("x", test_format("%c", 'x'));
    atomic_fetch_add(&seen[index], 1);
}

TEST(verdict, threads_run_once_each)
{
    atomic_int seen[16] = {0};

    test_threads(16, count_up, seen);
    for (size_t i = 0; i < VLS_COUNT(seen); i++)
        CHECK_INT(1, seen[i]);
}

/* In a child, and not as root: root may do anything. */
static int remove_locked(size_t index, void *arg)
{
    const char *dir = test_format("%s/%zu", (const char *)arg, index);

    if (geteuid() == 0)
        CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
    if (mkdir(dir, 0700) < 0 && errno == EACCES)
        return 77;
    CHECK_INT(0, mkdir(test_format("%s/locked", dir), 0700));
    test_write_file(test_format("%s/locked/file", dir), VLS_STR("x"));
    CHECK_INT(0, chmod(test_format("%s/locked", dir), 0));
    CHECK_INT(-1, unlink(test_format("%s/locked/file", dir)));
    test_remove(dir);
    CHECK_INT(-1, access(dir, F_OK));
    return 0;
}

TEST(verdict, a_locked_folder_is_removed)
{
    const char *dir = test_tmpdir();
    process_result r;

    CHECK_INT(0, chmod(dir, 0777));
    process_all(&r, 1, remove_locked, (void *)(uintptr_t)dir);
    if (r.exit_code == 77)
        SKIP("%s is not open to other users", dir);
    CHECK_MSG(r.exit_code == 0, "%s", process_describe(&r));
}

/* ---- golden files: the victim looks for them under a source tree of ours ---- */

TEST(golden, differs_is_missing_and_is_written)
{
    const char *file = test_format("%s/tests/golden/dir/file", test_tmpdir());
    const char *root = test_format("VALISE_SOURCE_ROOT=%s", test_tmpdir());
    process_result r;

    victim_run(&r, "verdicts.golden", (const char *[]){root, NULL});
    CHECK_HAS(r.out, "not ok 1 - verdicts.golden\n");
    CHECK_HAS(r.out, "is not there (VALISE_UPDATE_GOLDEN=1 writes it)");
    CHECK_INT(-1, access(file, F_OK));

    victim_run(&r, "verdicts.golden", (const char *[]){root, "VALISE_UPDATE_GOLDEN=1", NULL});
    CHECK_INT(0, r.exit_code);
    CHECK_HAS(r.out, test_format("# wrote %s", file));
    CHECK_TEXT("first\nsecond\nthird\n", test_read_file(file).ptr);

    victim_run(&r, "verdicts.golden", (const char *[]){root, NULL});
    CHECK_INT(0, r.exit_code);

    test_write_file(file, VLS_STR("first\nother\nthird\n"));
    victim_run(&r, "verdicts.golden", (const char *[]){root, NULL});
    CHECK_HAS(r.out, "not ok 1 - verdicts.golden\n");
    CHECK_HAS(r.out,
              "file:2: differs (VALISE_UPDATE_GOLDEN=1 rewrites it)\n# - other\n# + second\n");

    test_write_file(file, VLS_STR("first\nsecond\nthird"));
    victim_run(&r, "verdicts.golden", (const char *[]){root, NULL});
    CHECK_HAS(r.out, "file:3: differs in the newline at its end");
}
