/* verdicts.c -- tests that go wrong in every way a test can. Run by unit/harness/verdict.c. */
#include "harness/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "harness/process.h"

TEST(verdicts, passes)
{
    CHECK(true);
}

TEST(verdicts, fails)
{
    test_context("while nothing in particular happens");
    CHECK_INT(1, 2);
}

TEST(verdicts, text_differs)
{
    CHECK_TEXT("expected", "actual");
}

TEST(verdicts, wrong_code)
{
    CHECK_OK(vls_fail(&t->err, VALISE_E_CORRUPT, "entry 7 is torn"));
}

TEST(verdicts, skips)
{
    SKIP("no such thing here");
}

TEST(verdicts, leaks_memory)
{
    CHECK(vls_mem_alloc(t->env, 100) != NULL);
}

TEST(verdicts, leaks_a_descriptor)
{
    CHECK(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
}

TEST(verdicts, checks_nothing)
{
}

TEST(verdicts, prints)
{
    printf("ok 1 - this is not the report\nBail out!");
    CHECK(true);
}

static void *fail_on_thread(void *arg)
{
    CHECK_MSG(arg != NULL, "on a thread");
    return NULL;
}

TEST(verdicts, fails_on_a_thread)
{
    pthread_t thread;

    CHECK_INT(0, pthread_create(&thread, NULL, fail_on_thread, NULL));
    (void)pthread_join(thread, NULL);
}

static void fail_third(size_t index, void *arg)
{
    (void)arg;
    CHECK(index != 2);
}

TEST(verdicts, fails_on_one_of_many_threads)
{
    test_threads(8, fail_third, NULL);
    abort(); /* not reached */
}

TEST(verdicts, fails_in_a_forked_child)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        CHECK_MSG(false, "in a child");
    (void)waitpid(pid, &status, 0);
    CHECK_INT(0, WEXITSTATUS(status));
}

TEST(verdicts, forgets_that_it_is_a_child)
{
    int status = 0;
    pid_t pid = fork();

    if (pid > 0) {
        (void)waitpid(pid, &status, 0);
        CHECK_INT(97, WEXITSTATUS(status));
    }
}

static void fail_late(void *arg)
{
    CHECK_MSG(arg != NULL, "in a deferred function");
}

static void note_late(void *arg)
{
    (void)arg;
    test_note("the other deferred function ran");
}

TEST(verdicts, fails_when_deferred)
{
    test_defer(note_late, NULL);
    test_defer(fail_late, NULL);
    CHECK(true);
}

static int forever(size_t index, void *arg)
{
    (void)arg;
    printf("child %zu was here\n", index);
    while (index == 1)
        (void)pause();
    return 0;
}

TEST(verdicts, has_a_child_that_hangs)
{
    process_all(NULL, 3, forever, NULL);
}

static int end_badly(size_t index, void *arg)
{
    (void)arg;
    CHECK_MSG(index != 1, "process 1 found a problem");
    return 0;
}

TEST(verdicts, has_a_child_that_fails)
{
    process_all(NULL, 3, end_badly, NULL);
}

TEST(verdicts, leaves_a_child_behind)
{
    process *p = test_alloc(sizeof(process));

    process_start(p, forever, 1, NULL);
    test_note("child %d", (int)p->pid);
    CHECK(false);
}

TEST(verdicts, golden)
{
    CHECK_GOLDEN("golden/dir/file", VLS_STR("first\nsecond\nthird\n"));
}

/* ---- each of these ends the program ---- */

TEST(ending, exits)
{
    exit(0);
}

TEST(ending, underscore_exits)
{
    _exit(0);
}

TEST(ending, aborts)
{
    abort();
}

TEST(ending, crashes)
{
    volatile uintptr_t nowhere = 8;

    *(volatile int *)nowhere = 1;
}

TEST(ending, is_ended_from_outside)
{
    (void)kill(getpid(), SIGTERM);
    (void)pause();
}
