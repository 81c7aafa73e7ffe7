/* talk.c -- lines over pipes. [F11] */
#include "base/talk.h"

#include <signal.h>

#include "harness/fault.h"
#include "harness/process.h"

static void end(void *arg)
{
    vls_talk *talk = arg;

    (void)vls_talk_end(talk, VLS_PROCESS_GRACE_MS);
    vls_talk_release(talk);
}

static int start(vls_talk *talk, const valise_env *env, const char *text, size_t max_line,
                 valise_error *err)
{
    static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    char *environment[] = {path, NULL};
    const char *const words[] = {"sh", "-c", text, NULL};
    char *argv[4];

    for (size_t i = 0; i < VLS_COUNT(argv); i++)
        argv[i] = (char *)(uintptr_t)words[i];
    vls_talk_init(talk, env, max_line);
    return vls_talk_start(
        talk, &(vls_process_start){.file = "sh", .argv = argv, .environment = environment}, true,
        "toy", err);
}

static vls_talk *talk_with(test *t, const char *text, size_t max_line)
{
    vls_talk *talk = test_alloc(sizeof(*talk));

    CHECK_OK(start(talk, t->env, text, max_line, &t->err));
    test_defer(end, talk);
    return talk;
}

/* The next line, or the next thing else; 0: the end. */
static int next(valise_str *line, vls_talk *talk)
{
    int64_t end_ms = process_now_ms() + process_timeout_ms();
    int rc = vls_talk_line(line, talk);

    for (; rc == 0 && talk->output >= 0; rc = vls_talk_line(line, talk)) {
        CHECK(process_now_ms() < end_ms);
        vls_talk_wait(talk, false, 100);
    }
    return rc;
}

TEST(talk, lines_go_back_and_forth)
{
    vls_talk *talk = talk_with(t, "while read x; do echo \"<$x>\"; echo; done; echo end", 100);
    valise_str line;
    size_t sent = 0;

    CHECK_INT(0, vls_talk_line(&line, talk));
    vls_talk_send(&sent, talk, VLS_STR("one\ntwo\n"));
    CHECK_INT(8, sent);
    CHECK_INT(1, next(&line, talk));
    CHECK_STR(VLS_STR("<one>"), line);
    CHECK_INT(1, next(&line, talk));
    CHECK_INT(0, line.len);
    CHECK_INT(1, next(&line, talk));
    CHECK_STR(VLS_STR("<two>"), line);
    vls_talk_let_it_end(talk, 10000);
    CHECK(vls_talk_end(talk, VLS_PROCESS_GRACE_MS) >= 0);
    CHECK_INT(0, talk->process.pid);
}

/* A line has a limit, not what comes in one go. */
TEST(talk, long_lines_are_skipped)
{
    vls_talk *talk = talk_with(t,
                               "i=0; while [ $i -lt 100 ]; do echo 123456789; i=$((i+1)); done;"
                               "echo 12345678901; echo a; head -c 100000 /dev/zero; echo; echo b;"
                               "printf half",
                               10);
    valise_str line;

    for (int i = 0; i < 100; i++) {
        CHECK_INT(1, next(&line, talk));
        CHECK_STR(VLS_STR("123456789"), line);
    }
    CHECK_INT(VALISE_E_TOO_LARGE, next(&line, talk));
    CHECK_INT(1, next(&line, talk));
    CHECK_STR(VLS_STR("a"), line);
    CHECK_INT(VALISE_E_TOO_LARGE, next(&line, talk));
    CHECK_INT(1, next(&line, talk));
    CHECK_STR(VLS_STR("b"), line);
    CHECK_INT(0, next(&line, talk));
    CHECK_INT(-1, talk->output);
}

TEST(talk, who_does_not_read_or_is_gone_is_no_trouble)
{
    vls_talk *talk = talk_with(t, "exec <&-; echo shut; sleep 100", 100);
    valise_str line;
    size_t sent = 0;

    CHECK_INT(1, next(&line, talk));
    vls_talk_send(&sent, talk, VLS_STR("hello\n"));
    CHECK_INT(-1, talk->input);
    CHECK(vls_talk_end(talk, VLS_PROCESS_GRACE_MS) != 0);
    talk = talk_with(t, "sleep 100", 100);
    sent = 0;
    do { /* until it is full */
        char bytes[65536] = {0};
        sent = 0;
        vls_talk_send(&sent, talk, vls_str(bytes, sizeof(bytes)));
    } while (sent == 65536);
    CHECK(talk->input >= 0);
}

TEST(talk, without_end_it_is_left_again)
{
    vls_talk *talk = talk_with(t, "exec yes 0123456789 | tr -d '\\n'", 1000);
    valise_str line;
    int rc = 0;

    for (int i = 0; i < 100; i++) {
        rc = vls_talk_line(&line, talk);
        CHECK(rc == 0 || rc == VALISE_E_TOO_LARGE);
        vls_talk_wait(talk, false, 10);
    }
    CHECK(talk->came.cap <= 2 * (1000 + VLS_PROCESS_PIECE));
}

TEST(talk, what_does_not_start)
{
    char *argv[] = {NULL};
    vls_talk talk;

    vls_talk_init(&talk, t->env, 100);
    CHECK_RC(VALISE_E_IO,
             vls_talk_start(&talk,
                            &(vls_process_start){
                                .file = "/no/such/program", .argv = argv, .environment = argv},
                            true, "toy", &t->err));
    CHECK(strstr(t->err.message, "cannot run toy"));
    CHECK_INT(0, talk.process.pid);
    CHECK(talk.input < 0 && talk.output < 0 && talk.life < 0 && talk.process.said < 0);
    vls_talk_release(&talk);
}

static int talk_once(fault *f, void *arg)
{
    vls_talk talk;
    valise_str line;
    int rc = start(&talk, f->env, "echo one; echo two", 100, &f->err);

    (void)arg;
    if (rc == 0)
        rc = next(&line, &talk);
    if (rc == 1)
        rc = next(&line, &talk);
    (void)vls_talk_end(&talk, VLS_PROCESS_GRACE_MS);
    vls_talk_release(&talk);
    if (rc == VALISE_E_NO_MEMORY)
        f->err.code = rc;
    return vls_settle(rc);
}

TEST(talk, memory)
{
    fault_each_alloc(t, 0, talk_once, NULL);
}

/* The kernel ends it with us. */
static int start_and_die(size_t index, void *arg)
{
    vls_talk talk;
    valise_str line;

    (void)index;
    if (start(&talk, valise_env_default(), "echo $$; exec sleep 1000", 100, NULL) < 0)
        return 1;
    while (vls_talk_line(&line, &talk) == 0)
        vls_talk_wait(&talk, false, 100);
    if (sscanf(line.ptr, "%d", (int *)arg) != 1)
        return 2;
    process_sleep_us(10000);
    (void)raise(SIGKILL);
    return 0;
}

/* One that nobody waits for yet does not run. */
static bool runs(int pid)
{
    char line[256] = "";
    FILE *f = fopen(test_format("/proc/%d/stat", pid), "r");
    const char *state;

    if (!f)
        return false;
    state = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
    (void)fclose(f);
    return state && state[2] != 'Z' && state[2] != 'X';
}

TEST(talk, is_killed_with_us)
{
    int *pid = process_share(sizeof(*pid));
    process_result r;

    process_all(&r, 1, start_and_die, pid);
    CHECK_INT(SIGKILL, r.signal);
    CHECK(*pid > 0);
    for (int i = 0; i < 500 && runs(*pid); i++)
        process_sleep_us(10000);
    CHECK(!runs(*pid));
}
