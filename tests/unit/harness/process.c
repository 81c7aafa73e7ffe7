/* process.c -- programs, children, shared memory. */
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static void shell(process_result *r, const char *script, const process_options *options)
{
    process_run(r, (const char *[]){"sh", "-c", script, NULL}, options);
}

TEST(process, captures_output_code_and_signal)
{
    process_result r;

    shell(&r, "echo out; echo err >&2; exit 3", NULL);
    CHECK_INT(3, r.exit_code);
    CHECK_INT(0, r.signal);
    CHECK_TEXT("out\n", r.out.ptr);
    CHECK_TEXT("err\n", r.err.ptr);
    CHECK_TEXT("exit code 3\nerr", process_describe(&r));
    shell(&r, "kill -9 $$", NULL);
    CHECK_INT(-1, r.exit_code);
    CHECK_INT(SIGKILL, r.signal);
}

TEST(process, gives_input_folder_and_variables)
{
    process_result r;
    const char *const env[] = {"SUITCASE=leather", NULL};

    shell(&r, "cat; pwd -P; echo $SUITCASE",
          &(process_options){.input = VLS_STR("in\n"), .dir = "/", .env = env});
    CHECK_TEXT("in\n/\nleather\n", r.out.ptr);
    CHECK(getenv("SUITCASE") == NULL);
}

TEST(process, more_output_than_a_pipe_holds)
{
    process_result r;

    shell(&r, "head -c 1000000 /dev/zero | tr '\\0' x; head -c 500000 /dev/zero >&2", NULL);
    CHECK_INT(1000000, r.out.len);
    CHECK_INT(500000, r.err.len);
}

TEST(process, ends_what_takes_too_long)
{
    process_result r;

    process_run(&r, (const char *[]){"sleep", "60", NULL}, &(process_options){.timeout_ms = 50});
    CHECK(r.timed_out);
    CHECK_HAS(valise_str_of(process_describe(&r)), "timed out, in state S");
}

TEST(process, says_when_a_program_cannot_be_started)
{
    process_result r;

    process_run(&r, (const char *[]){"/no/such/program", NULL}, NULL);
    CHECK_INT(127, r.exit_code);
    CHECK_TEXT("/no/such/program: No such file or directory\n", r.err.ptr);
}

static int append_lines(size_t index, void *arg)
{
    int fd = open(arg, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

    for (int i = 0; i < 100; i++) {
        const char *line = test_format("%zu %03d\n", index, i);
        CHECK_INT(6, write(fd, line, 6));
    }
    return close(fd);
}

/* [Q17] in small: all there, once. */
TEST(process, eight_processes_at_once)
{
    const char *path = test_format("%s/log", test_tmpdir());
    int next[8] = {0};

    process_all(NULL, 8, append_lines, (void *)(uintptr_t)path);
    valise_str all = test_read_file(path);
    CHECK_INT(8 * 100 * 6, all.len);
    for (size_t at = 0; at < all.len; at += 6)
        CHECK_INT(next[all.ptr[at] - '0']++, strtol(all.ptr + at + 2, NULL, 10));
}

static int exit_with_index(size_t index, void *arg)
{
    printf("%s %zu", (const char *)arg, index);
    return (int)index;
}

TEST(process, results_of_each_process)
{
    process_result r[5];

    process_all(r, 5, exit_with_index, (void *)(uintptr_t) "process");
    for (int i = 0; i < 5; i++) {
        CHECK_INT(i, r[i].exit_code);
        CHECK_TEXT(test_format("process %d", i), r[i].out.ptr);
    }
}

static int add_one(size_t index, void *arg)
{
    (void)index;
    for (int i = 0; i < 1000; i++)
        atomic_fetch_add((atomic_int *)arg, 1);
    return 0;
}

TEST(process, shared_memory_is_shared)
{
    atomic_int *sum = process_share(sizeof(*sum));

    process_all(NULL, 4, add_one, sum);
    CHECK_INT(4000, *sum);
}
