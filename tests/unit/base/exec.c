/* exec.c -- programs from start to end: what is not of policies (unit/derive/program.c has the
 * rest). [F11] [F14] */
#include "base/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "harness/fault.h"
#include "harness/process.h"

typedef struct ran {
    int rc;
    vls_exec_end end;
    const char *out; /* NUL-ended */
} ran;

static char *words[8];

/* A shell that runs this text. */
static vls_exec shell(test *t, const char *text)
{
    static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", word[] = "WORD=given";
    static char *environment[] = {path, word, NULL};
    const char *argv[] = {"sh", "-c", text, NULL};

    for (size_t i = 0; i < VLS_COUNT(argv); i++)
        words[i] = (char *)(uintptr_t)argv[i];
    return (vls_exec){.env = t->env,
                      .name = "toy",
                      .start = {.file = "sh", .argv = words, .environment = environment},
                      .timeout_ms = 20000};
}

static ran run(test *t, const vls_exec *exec, const char *input)
{
    VLS_AUTO(buf) vls_buf out = {0};
    ran r;

    t->err = (valise_error)VALISE_ERROR_INIT;
    vls_buf_init(&out, t->env, 1 << 20);
    r.rc = vls_exec_run(&out, exec, valise_str_of(input), &r.end, &t->err);
    r.out = test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&out)));
    return r;
}

TEST(exec, finds_programs_in_path_and_gives_them_what_they_get)
{
    vls_exec exec = shell(t, "cat; echo $WORD; pwd");
    ran r;

    exec.start.folder = "/usr";
    r = run(t, &exec, "in ");
    CHECK_INT(0, r.rc);
    CHECK_TEXT("in given\n/usr\n", r.out);
    CHECK(r.end.ended && !r.end.given_up && r.end.not_started == 0);
    CHECK_INT(0, r.end.exit_code);
    CHECK_INT(0, r.end.verdict.code);
}

TEST(exec, descriptors_are_copied_from_3_on)
{
    VLS_AUTO(fd) int fd = memfd_create("given", 0);
    const int fds[] = {fd, fd};
    vls_exec exec = shell(t, "cat <&3; readlink /proc/$$/fd/4 /proc/$$/fd/5 /proc/$$/fd/6");
    ran r;

    CHECK(fd >= 0 && vls_fd_write_all(fd, VLS_STR("hello ")) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    exec.start.fds = fds;
    exec.start.count = 2;
    exec.any_end = true;
    r = run(t, &exec, "");
    CHECK_INT(0, r.rc);
    CHECK_MSG(strncmp(r.out, "hello /memfd:given (deleted)\npipe:", 34) == 0, "%s", r.out);
    exec.start.count = VLS_EXEC_FDS_MAX + 1;
    CHECK_RC(VALISE_E_INVALID, run(t, &exec, "").rc);
}

/* A program that says no is an answer for who wants to know, and a failure for who does not. */
TEST(exec, exit_codes_are_failures_or_answers)
{
    VLS_AUTO(buf) vls_buf said = {0};
    vls_exec exec = shell(t, "echo out; echo why >&2; exit 3");
    ran r = run(t, &exec, "");

    CHECK_RC(VALISE_E_IO, r.rc);
    CHECK_TEXT("toy ended with exit code 3: why", t->err.message);
    CHECK_TEXT("", r.out);
    CHECK_INT(3, r.end.exit_code);
    vls_buf_init(&said, t->env, 10000);
    exec.any_end = true;
    exec.said = &said;
    r = run(t, &exec, "");
    CHECK_INT(0, r.rc);
    CHECK_TEXT("out\n", r.out);
    CHECK(r.end.ended);
    CHECK_INT(3, r.end.exit_code);
    CHECK_INT(VALISE_E_IO, r.end.verdict.code);
    CHECK_TEXT("toy ended with exit code 3: why", r.end.verdict.message);
    CHECK_STR(VLS_STR("why\n"), vls_buf_str(&said));
    exec = shell(t, "kill -9 $$");
    exec.any_end = true;
    r = run(t, &exec, "");
    CHECK_INT(0, r.rc);
    CHECK_INT(-1, r.end.exit_code);
    CHECK_INT(9, r.end.signal);
    CHECK_TEXT("toy was ended by signal 9", r.end.verdict.message);
}

TEST(exec, what_does_not_start_says_why)
{
    vls_exec exec = shell(t, "true");
    ran r;

    exec.start.file = "no-such-program-anywhere";
    r = run(t, &exec, "");
    CHECK_RC(VALISE_E_IO, r.rc);
    CHECK_INT(VALISE_E_IO, t->err.code);
    CHECK_INT(ENOENT, r.end.not_started);
    CHECK(!r.end.ended && r.end.exit_code == -1);
    CHECK_MSG(strstr(t->err.hint, "PATH"), "%s", t->err.hint);
    exec = shell(t, "true");
    exec.start.folder = "/no/such/folder";
    r = run(t, &exec, "");
    CHECK_RC(VALISE_E_IO, r.rc);
    CHECK_TEXT("cannot run toy in /no/such/folder: it is not a folder", t->err.message);
    exec.start.folder = NULL;
    exec.start.file = test_format("%s/plain", test_tmpdir());
    test_write_file(exec.start.file, VLS_STR("#!/bin/sh\n"));
    r = run(t, &exec, "");
    CHECK_RC(VALISE_E_IO, r.rc);
    CHECK_MSG(strstr(t->err.hint, "chmod +x"), "%s", t->err.hint);
    CHECK_INT(0, chmod(exec.start.file, 0700));
    test_write_file(exec.start.file, VLS_STR("echo\n"));
    r = run(t, &exec, "");
    CHECK_INT(ENOEXEC, r.end.not_started);
    CHECK_MSG(strstr(t->err.hint, "#!/bin/sh"), "%s", t->err.hint);
}

static int enough(void *self, valise_error *err)
{
    int *left = self;

    return --*left > 0 ? 0 : vls_fail(err, VALISE_E_LIMIT, "enough");
}

/* Who does not listen to SIGTERM has only as long as he is given. */
TEST(exec, looks_and_gives_little_grace)
{
    vls_exec exec = shell(t, "trap '' TERM; echo begun; while :; do sleep 0.01; done");
    int64_t begin_ms = process_now_ms(), took_ms;
    int left = 1;
    ran r;

    exec.look = enough;
    exec.self = &left;
    exec.grace_ms = 50;
    exec.any_end = true;
    r = run(t, &exec, "");
    took_ms = process_now_ms() - begin_ms;
    CHECK_RC(VALISE_E_LIMIT, r.rc);
    CHECK_TEXT("enough", t->err.message);
    CHECK(r.end.given_up && !r.end.ended);
    CHECK_MSG(took_ms < (test_is_watched() ? 1500 : 500), "%lld ms", (long long)took_ms);
    /* A timeout is none of that. */
    exec.look = NULL;
    exec.timeout_ms = 50;
    r = run(t, &exec, "");
    CHECK_RC(VALISE_E_LIMIT, r.rc);
    CHECK(!r.end.given_up);
    CHECK(strstr(t->err.message, "toy did not end within 50 ms"));
}

/* ---- what it started ---- */

/* The number that a process wrote into the file. */
static pid_t pid_in(const char *file)
{
    int64_t end_ms = process_now_ms() + process_timeout_ms();
    const char *text = "";

    while (!strchr(text, '\n')) {
        CHECK_MSG(process_now_ms() < end_ms, "nobody wrote to %s", file);
        process_sleep_us(5000);
        if (access(file, F_OK) == 0)
            text = test_format("%.*s", VALISE_STR_ARG(test_read_file(file)));
    }
    return (pid_t)strtol(text, NULL, 10);
}

static bool is_alive(pid_t pid)
{
    char text[512] = "";
    int fd = open(test_format("/proc/%d/stat", (int)pid), O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : vls_fd_read(fd, text, sizeof(text) - 1);
    const char *name_end = strrchr(text, ')');

    (void)vls_fd_close(fd);
    return len > 0 && name_end && name_end[2] != 'Z' && name_end[2] != 'X';
}

static bool ends_soon(pid_t pid)
{
    for (int i = 0; i < 400 && is_alive(pid); i++)
        process_sleep_us(5000);
    return !is_alive(pid);
}

/* In a session of its own, and nobody's child. */
#define ESCAPE "(setsid sh -c 'echo $$ >%s; exec sleep 100' >/dev/null 2>&1 &);"

TEST(exec, what_it_started_ends_with_it_wherever_it_went) /* [F14] */
{
    const char *file = test_format("%s/pid", test_tmpdir());
    vls_exec exec = shell(t, test_format(ESCAPE "sleep 100", file));

    exec.start.marked = true;
    exec.timeout_ms = 1500;
    CHECK_RC(VALISE_E_LIMIT, run(t, &exec, "").rc);
    CHECK(ends_soon(pid_in(file)));
}

/* One that starts the next one and ends, over and over, is caught between two of them. */
TEST(exec, what_runs_away_is_hunted_down) /* [F14] */
{
    const char *file = test_format("%s/pid", test_tmpdir());
    const char *chain = test_format("#!/bin/sh\necho $$ >%s\nsleep 0.05\n"
                                    "(setsid \"$0\" >/dev/null 2>&1 &)\n",
                                    file);
    const char *program = test_format("%s/chain", test_tmpdir());
    vls_exec exec;
    pid_t last;

    test_write_file(program, valise_str_of(chain));
    CHECK(chmod(program, 0700) == 0);
    exec = shell(t, test_format("(setsid %s >/dev/null 2>&1 &); sleep 100", program));
    exec.start.marked = true;
    exec.timeout_ms = 1500;
    CHECK_RC(VALISE_E_LIMIT, run(t, &exec, "").rc);
    CHECK(ends_soon(pid_in(file)));
    last = pid_in(file);
    process_sleep_us(300000);
    CHECK_INT(last, pid_in(file)); /* there is no next one */
}

TEST(exec, what_was_meant_to_stay_stays)
{
    const char *file = test_format("%s/pid", test_tmpdir());
    vls_exec exec =
        shell(t, test_format(ESCAPE "until [ -s %s ]; do sleep 0.01; done; env", file, file));
    ran r;
    pid_t pid;

    exec.start.marked = true;
    r = run(t, &exec, "");
    CHECK_INT(0, r.rc);
    CHECK(strstr(r.out, "VALISE_CALL=") && strstr(r.out, "WORD=given"));
    pid = pid_in(file);
    CHECK(is_alive(pid));
    (void)kill(pid, SIGKILL);
    exec.start.marked = false;
    r = run(t, &exec, "");
    CHECK(!strstr(r.out, "VALISE_CALL="));
    (void)kill(pid_in(file), SIGKILL);
}

/* Another call of the same program goes on. */
TEST(exec, a_mark_is_of_one_call)
{
    const char *file = test_format("%s/pid", test_tmpdir());
    vls_exec exec =
        shell(t, test_format(ESCAPE "until [ -s %s ]; do sleep 0.01; done", file, file));
    pid_t other;

    exec.start.marked = true;
    CHECK_INT(0, run(t, &exec, "").rc);
    other = pid_in(file);
    exec = shell(t, "sleep 100");
    exec.start.marked = true;
    exec.timeout_ms = 50;
    CHECK_RC(VALISE_E_LIMIT, run(t, &exec, "").rc);
    CHECK(is_alive(other));
    (void)kill(other, SIGKILL);
}

static int run_once(fault *f, void *arg)
{
    VLS_AUTO(buf) vls_buf out = {0};
    vls_exec exec = *(const vls_exec *)arg;
    int rc;

    exec.env = f->env;
    vls_buf_init(&out, f->env, 1000);
    rc = vls_exec_run(&out, &exec, VLS_STR("in"), NULL, &f->err);
    CHECK_INT(rc == 0 ? 2 : 0, out.len);
    return rc;
}

TEST(exec, memory)
{
    vls_exec exec = shell(t, "cat; echo why >&2");

    exec.start.marked = true;
    fault_each_alloc(t, 0, run_once, &exec);
}
