/* program.c -- programs as policies: whatever they do, they end, and nothing of them stays. [C17]
 * [K34] */
#include "derive/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "derive/kit.h"
#include "harness/fault.h"
#include "harness/process.h"

static const char *file(const char *name)
{
    return test_format("%s/%s", test_tmpdir(), name);
}

static void close_sealed(void *sealed)
{
    vls_sealed_close(sealed);
}

/* A sealed copy, closed when the test ends. */
static vls_sealed *seal(test *t, const char *path)
{
    vls_sealed *sealed = test_alloc(sizeof(*sealed));

    CHECK_OK(vls_program_seal(sealed, path, NULL, &t->err));
    test_defer(close_sealed, sealed);
    return sealed;
}

static void write_program(const char *path, valise_str bytes)
{
    test_write_file(path, bytes);
    CHECK_INT(0, chmod(path, 0700));
}

static vls_sealed *script(test *t, const char *text)
{
    write_program(file("script"), valise_str_of(test_format("#!/bin/sh\n%s\n", text)));
    return seal(t, file("script"));
}

static vls_program program_of(test *t, const vls_sealed *sealed)
{
    return (vls_program){.env = t->env, .name = "toy", .sealed = sealed, .timeout_ms = 20000};
}

/* Run a program that must succeed; what it wrote, NUL-ended. */
static valise_str run(test *t, const vls_program *program, valise_str input)
{
    VLS_AUTO(buf) vls_buf out = {0};
    char *copy;

    vls_buf_init(&out, t->env, 64 << 20);
    CHECK_OK(vls_program_run(&out, program, input, &t->err));
    copy = test_alloc(out.len + 1);
    if (out.len > 0)
        memcpy(copy, out.ptr, out.len);
    return vls_str(copy, out.len);
}

static valise_str run_script(test *t, const char *text, valise_str input)
{
    vls_program program = program_of(t, script(t, text));

    return run(t, &program, input);
}

/* Run a program that must fail like this; what it wrote before is not in the buffer. */
static void fails(test *t, const vls_program *program, int code, const char *message)
{
    VLS_AUTO(buf) vls_buf out = {0};

    vls_buf_init(&out, t->env, 64 << 20);
    vls_buf_add(&out, VLS_STR("before"));
    CHECK_RC(code, vls_program_run(&out, program, VLS_STR("{}"), &t->err));
    CHECK_MSG(strstr(t->err.message, message), "%s", t->err.message);
    CHECK_STR(VLS_STR("before"), vls_buf_str(&out));
    CHECK_OK(vls_buf_check(&out, NULL));
}

/* Whether the process whose number stands in that file runs; one that nobody waits for does not. */
static bool runs(const char *name)
{
    const char *stat =
        test_format("/proc/%.*s/stat", (int)strcspn(test_read_file(file(name)).ptr, "\n"),
                    test_read_file(file(name)).ptr);
    FILE *f;
    char line[256] = "";
    const char *state;

    for (int i = 0; i < 200; i++) {
        f = fopen(stat, "r");
        if (!f)
            return false;
        state = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
        (void)fclose(f);
        if (!state || state[2] == 'Z' || state[2] == 'X')
            return false;
        process_sleep_us(10000);
    }
    return true;
}

/* ---- what it gets and gives ---- */

TEST(program, reads_and_writes_bytes)
{
    CHECK_STR(VLS_STR("{\"a\":1}"), run_script(t, "cat", VLS_STR("{\"a\":1}")));
    CHECK_STR(VLS_STR(""), run_script(t, "cat", VLS_STR("")));
    CHECK_STR(VLS_STR("a\0\377\n"), run_script(t, "printf 'a\\000\\377\\n'", VLS_STR("")));
    /* Also by its name, which a socket would not allow. */
    CHECK_STR(VLS_STR("x"), run_script(t, "cat /dev/stdin", VLS_STR("x")));
}

TEST(program, large_inputs_and_outputs)
{
    const size_t size = (size_t)10 << 20;
    char *bytes = test_alloc(size);
    vls_program program = program_of(t, script(t, "cat"));
    valise_str out;

    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 31 >> 3);
    program.max_bytes = size;
    out = run(t, &program, vls_str(bytes, size));
    CHECK(vls_str_equal(vls_str(bytes, size), out));
    /* Who does not read, or closes it, is no trouble. */
    CHECK_STR(VLS_STR("ok\n"), run_script(t, "echo ok", vls_str(bytes, size)));
    CHECK_STR(VLS_STR("ok\n"), run_script(t, "exec <&-; echo ok", vls_str(bytes, size)));
    CHECK_INT(1, run_script(t, "head -c 1", vls_str(bytes, size)).len);
}

TEST(program, has_three_variables_and_no_arguments)
{
    vls_program program = program_of(t, seal(t, "/usr/bin/env"));

    CHECK_TEXT("PATH=/usr/local/bin:/usr/bin:/bin\nLC_ALL=C\nTZ=UTC\n",
               run(t, &program, VLS_STR("")).ptr);
    program.path = "/opt/bin:/bin";
    CHECK_TEXT("PATH=/opt/bin:/bin\nLC_ALL=C\nTZ=UTC\n", run(t, &program, VLS_STR("")).ptr);
    CHECK_TEXT("0 /\n", run_script(t, "echo $# $PWD", VLS_STR("")).ptr);
}

TEST(program, has_none_of_the_descriptors_of_the_host)
{
    int mine = open("/dev/null", O_RDONLY), high = fcntl(mine, F_DUPFD, 200);
    valise_str out = run_script(t, "readlink /proc/$$/fd/*; true", VLS_STR(""));

    CHECK(mine >= 0 && high >= 200);
    (void)close(mine);
    (void)close(high);
    /* Its input, its pipes (three), itself; the shell may have opened itself and the folder once
     * more. */
    CHECK(vls_str_find(out, VLS_STR("valise-input")) < out.len);
    CHECK_MSG(vls_str_find(out, VLS_STR("/dev/null")) == out.len, "%s", out.ptr);
    for (size_t lines = 0, i = 0; i < out.len; i++) {
        lines += out.ptr[i] == '\n';
        CHECK_MSG(lines <= 7, "%s", out.ptr);
    }
}

/* The session is its own: no terminal, and a group that can be ended. */
TEST(program, has_a_session_and_signals_of_its_own)
{
    struct sigaction was, ignored = {.sa_handler = SIG_IGN};
    sigset_t blocked, before;
    vls_program program;

    CHECK_TEXT("own\n", run_script(t,
                                   "read pid comm state ppid group session rest </proc/self/stat\n"
                                   "[ $session = $$ ] && [ $group = $$ ] && echo own",
                                   VLS_STR(""))
                            .ptr);
    CHECK_INT(0, sigaction(SIGPIPE, &ignored, &was));
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGUSR1);
    CHECK_INT(0, pthread_sigmask(SIG_BLOCK, &blocked, &before));
    program = program_of(t, script(t, "kill -PIPE $$; echo still here"));
    fails(t, &program, VALISE_E_IO, "toy was ended by signal 13");
    program = program_of(t, script(t, "kill -USR1 $$; echo still here"));
    fails(t, &program, VALISE_E_IO, "toy was ended by signal 10");
    CHECK_INT(0, pthread_sigmask(SIG_SETMASK, &before, NULL));
    CHECK_INT(0, sigaction(SIGPIPE, &was, NULL));
}

/* ---- failing ---- */

TEST(program, exit_codes_and_what_it_said)
{
    VLS_AUTO(buf) vls_buf said = {0};
    vls_program program =
        program_of(t, script(t, "echo out; echo one >&2; printf 'two \\033[1m\\n\\n' >&2; exit 3"));

    vls_buf_init(&said, t->env, 1 << 20);
    program.said = &said;
    fails(t, &program, VALISE_E_IO, "toy ended with exit code 3: two \\x1b[1m");
    CHECK_STR(VLS_STR("one\ntwo \\x1b[1m\n\n"), vls_buf_str(&said));
    program = program_of(t, script(t, "exit 1"));
    program.name = "a\nb";
    fails(t, &program, VALISE_E_IO, "a\\nb ended with exit code 1");
    program = program_of(t, script(t, "kill -SEGV $$"));
    fails(t, &program, VALISE_E_IO, "toy was ended by signal 11");
}

TEST(program, complaints_are_kept_to_their_end)
{
    VLS_AUTO(buf) vls_buf said = {0};
    vls_program program = program_of(
        t, script(t, "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1"));

    vls_buf_init(&said, t->env, 1 << 20);
    program.said = &said;
    fails(t, &program, VALISE_E_IO, "exit code 1: line 2999");
    CHECK_INT(VLS_PROCESS_SAID_MAX, said.len);
    CHECK(vls_str_ends(vls_buf_str(&said), VLS_STR("line 2998\nline 2999\n")));
    /* Complaints alone are no failure. */
    CHECK_TEXT("fine\n", run_script(t, "echo hm >&2; echo fine", VLS_STR("")).ptr);
}

TEST(program, what_is_no_program)
{
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};
    vls_program program;

    write_program(file("plain"), VLS_STR("echo hello\n"));
    program = program_of(t, seal(t, file("plain")));
    fails(t, &program, VALISE_E_IO, "cannot run toy");
    CHECK(strstr(t->err.hint, "#!/bin/sh"));
    write_program(file("plain"), VLS_STR("#!/nowhere/sh\necho hello\n"));
    program = program_of(t, seal(t, file("plain")));
    fails(t, &program, VALISE_E_IO, "cannot run toy");
    CHECK(strstr(t->err.hint, "#!"));
    /* What its owner does not let run does not run, though a copy could. */
    CHECK_INT(0, chmod(file("plain"), 0600));
    CHECK_RC(VALISE_E_DENIED, vls_program_seal(&sealed, file("plain"), NULL, &t->err));
    CHECK(strstr(t->err.message, "not executable") && strstr(t->err.hint, "chmod +x"));
    CHECK_INT(-1, sealed.fd);
    CHECK_RC(VALISE_E_INVALID, vls_program_seal(&sealed, test_tmpdir(), NULL, &t->err));
}

TEST(program, output_has_a_limit)
{
    vls_program program = program_of(t, script(t, "yes"));

    program.max_bytes = 100000;
    fails(t, &program, VALISE_E_TOO_LARGE, "toy wrote more than 100000 bytes");
    program = program_of(t, script(t, "printf 12345"));
    program.max_bytes = 5;
    CHECK_STR(VLS_STR("12345"), run(t, &program, VLS_STR("")));
    program.max_bytes = 4;
    fails(t, &program, VALISE_E_TOO_LARGE, "toy wrote more than 4 bytes");
}

TEST(program, a_buffer_that_is_full_is_an_error)
{
    VLS_AUTO(buf) vls_buf out = {0};
    vls_program program = program_of(t, script(t, "printf 12345"));

    vls_buf_init(&out, t->env, 4);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_program_run(&out, &program, VLS_STR(""), &t->err));
    CHECK_INT(0, out.len);
    vls_buf_add(&out, VLS_STR("12345"));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_program_run(&out, &program, VLS_STR(""), &t->err));
}

/* ---- ending ---- */

TEST(program, time_is_limited)
{
    vls_program program = program_of(t, script(t, "echo begun; sleep 100"));

    program.timeout_ms = 200;
    fails(t, &program, VALISE_E_LIMIT, "toy did not end within 200 ms");
    /* One that closed its output and goes on. */
    program = program_of(t, script(t, "exec >&- 2>&-; sleep 100"));
    program.timeout_ms = 200;
    fails(t, &program, VALISE_E_LIMIT, "toy did not end within 200 ms");
    /* One that complains without end. */
    program = program_of(t, script(t, "exec yes >&2"));
    program.timeout_ms = 200;
    fails(t, &program, VALISE_E_LIMIT, "toy did not end within 200 ms");
}

/* SIGTERM first, and its last words are heard; who does not listen is killed. */
TEST(program, is_asked_to_end_and_then_made_to)
{
    VLS_AUTO(buf) vls_buf said = {0};
    vls_program program =
        program_of(t, script(t, "trap 'echo bye >&2; exit' TERM; while :; do sleep 0.01; done"));

    vls_buf_init(&said, t->env, 1 << 20);
    program.said = &said;
    program.timeout_ms = 300;
    fails(t, &program, VALISE_E_LIMIT, "did not end");
    CHECK(vls_str_find(vls_buf_str(&said), VLS_STR("bye")) < said.len);
    program = program_of(
        t, script(t, test_format("trap '' TERM; echo $$ >%s; while :; do sleep 0.01; done",
                                 file("pid"))));
    program.timeout_ms = 300;
    fails(t, &program, VALISE_E_LIMIT, "did not end");
    CHECK(!runs("pid"));
}

TEST(program, what_it_started_does_not_hold_us)
{
    vls_program program =
        program_of(t, script(t, test_format("sleep 100 & echo $! >%s; echo done", file("pid"))));

    program.timeout_ms = 500;
    fails(t, &program, VALISE_E_LIMIT, "toy has ended, but what it started kept its output open");
    CHECK(!runs("pid"));
    /* One that left the group too. It ends by itself. */
    program = program_of(t, script(t, "setsid sleep 5 & echo done"));
    program.timeout_ms = 500;
    fails(t, &program, VALISE_E_LIMIT, "kept its output open");
}

TEST(program, nothing_of_it_stays)
{
    CHECK_TEXT(
        "done\n",
        run_script(t,
                   test_format("sleep 100 >/dev/null 2>&1 & echo $! >%s; echo done", file("pid")),
                   VLS_STR(""))
            .ptr);
    CHECK(!runs("pid"));
    /* Standard error alone is not waited for. */
    CHECK_TEXT("done\n", run_script(t, "sleep 100 >/dev/null & echo done", VLS_STR("")).ptr);
}

static int look(void *self, valise_error *err)
{
    int *left = self;

    return --*left > 0 ? 0 : vls_fail(err, VALISE_E_CANCELLED, "enough");
}

TEST(program, can_be_cancelled)
{
    vls_program program =
        program_of(t, script(t, test_format("echo $$ >%s; sleep 100", file("pid"))));
    int left = 3;

    program.look = look;
    program.self = &left;
    fails(t, &program, VALISE_E_CANCELLED, "enough");
    CHECK_INT(0, left);
    CHECK(!runs("pid"));
}

/* ---- hosts ---- */

TEST(program, a_host_that_takes_exit_codes_is_told)
{
    struct sigaction was, ignored = {.sa_handler = SIG_IGN};
    vls_program program = program_of(t, script(t, "echo done"));

    CHECK_INT(0, sigaction(SIGCHLD, &ignored, &was));
    fails(t, &program, VALISE_E_UNSUPPORTED, "the host took its exit code");
    CHECK_INT(0, sigaction(SIGCHLD, &was, NULL));
    CHECK(strstr(t->err.hint, "SIGCHLD"));
    CHECK_TEXT("done\n", run(t, &program, VLS_STR("")).ptr);
}

static int without_standard_files(size_t index, void *arg)
{
    VLS_AUTO(buf) vls_buf out = {0};
    const vls_program *program = arg;

    vls_buf_init(&out, valise_env_default(), 1000);
    for (int fd = 0; fd < 5; fd++) {
        if (index >> fd & 1)
            (void)close(fd);
    }
    if (vls_program_run(&out, program, VLS_STR("in"), NULL) < 0)
        return 1;
    return vls_str_equal(vls_buf_str(&out), VLS_STR("in")) ? 0 : 2;
}

TEST(program, a_host_without_standard_files)
{
    vls_program program = program_of(t, script(t, "cat"));

    /* Each set of the first five that is not there. */
    program.env = valise_env_default();
    process_all(NULL, 32, without_standard_files, &program);
}

static int count_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* From so few descriptors that nothing goes to as many as it takes: an error, and none is lost. */
static int with_few_descriptors(size_t index, void *arg)
{
    struct rlimit limit = {.rlim_max = 256};
    int before = count_descriptors(), failures = 0;

    (void)index;
    for (limit.rlim_cur = 3; limit.rlim_cur < 200; limit.rlim_cur++) {
        VLS_AUTO(buf) vls_buf out = {0};
        valise_error err = VALISE_ERROR_INIT;
        int rc;
        vls_buf_init(&out, valise_env_default(), 1000);
        CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &limit));
        rc = vls_program_run(&out, arg, VLS_STR("in"), &err);
        CHECK_INT(before, count_descriptors());
        if (rc == 0) {
            CHECK_STR(VLS_STR("in"), vls_buf_str(&out));
            return failures >= 5 ? 0 : 1;
        }
        CHECK_INT(rc, err.code);
        CHECK(err.message[0] && out.len == 0);
        failures++;
    }
    return 2;
}

TEST(program, a_host_with_few_descriptors)
{
    vls_program program = program_of(t, script(t, "cat"));

    program.env = valise_env_default();
    process_all(NULL, 1, with_few_descriptors, &program);
}

static int run_in_host(size_t index, void *arg)
{
    VLS_AUTO(buf) vls_buf out = {0};

    (void)index;
    vls_buf_init(&out, valise_env_default(), 1000);
    return vls_program_run(&out, arg, VLS_STR(""), NULL);
}

/* Nobody is left to end it, nor what it started. */
TEST(program, a_host_that_is_killed_takes_it_along)
{
    vls_program program = program_of(
        t, script(t, test_format("sleep 100 & echo $! >%s; echo $$ >%s.new; mv %s.new %s; wait",
                                 file("child"), file("pid"), file("pid"), file("pid"))));
    process_result result;
    process host;

    program.env = valise_env_default();
    process_start(&host, run_in_host, 0, &program);
    while (access(file("pid"), F_OK) != 0 && !process_ended(&host))
        process_sleep_us(1000);
    process_kill(&host);
    process_wait(&result, &host, 0);
    CHECK(!runs("pid"));
    CHECK(!runs("child"));
}

/* ---- which bytes ---- */

TEST(program, the_bytes_that_run_are_those_that_were_checked)
{
    VLS_AUTO(sealed) vls_sealed other = {.fd = -1};
    vls_sealed *sealed = script(t, "echo first");
    vls_program program = program_of(t, sealed);

    CHECK_OK(vls_program_seal(&other, file("script"), &sealed->id, &t->err));
    write_program(file("script"), VLS_STR("#!/bin/sh\necho second\n"));
    CHECK_TEXT("first\n", run(t, &program, VLS_STR("")).ptr);
    vls_sealed_close(&other);
    other = (vls_sealed){.fd = -1};
    CHECK_RC(VALISE_E_DENIED, vls_program_seal(&other, file("script"), &sealed->id, &t->err));
    CHECK_INT(-1, other.fd);
    CHECK_RC(VALISE_E_NOT_FOUND, vls_program_seal(&other, file("none"), NULL, &t->err));
    program.sealed = &other;
    fails(t, &program, VALISE_E_INVALID, "invalid argument");
}

static int run_once(fault *f, void *arg)
{
    VLS_AUTO(buf) vls_buf out = {0}, said = {0};
    vls_program program = *(const vls_program *)arg;
    int rc;

    program.env = f->env;
    program.said = &said;
    vls_buf_init(&out, f->env, 1 << 20);
    vls_buf_init(&said, f->env, 1 << 20);
    rc = vls_program_run(&out, &program, VLS_STR("some input"), &f->err);
    /* What it said is only a courtesy. */
    f->recovered = rc == 0;
    return rc;
}

TEST(program, without_memory)
{
    vls_program program = program_of(t, script(t, "cat; echo hm >&2"));

    fault_each_alloc(t, 0, run_once, &program);
    fault_each_alloc(t, FAULT_ONWARD, run_once, &program);
}
