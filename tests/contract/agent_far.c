/* agent_far.c -- far sides that do not keep to it: whatever they do, the call ends with an error
 * that says what, nothing of them stays, and later calls say why. [C29] */
#include "agent_kit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"
#include "harness/fault.h"

typedef struct far_side {
    const char *script;
    int code;
    const char *message; /* a part of it */
} far_side;

#define READ "read q; "

static int read_lib(valise_agent_adapter *a, valise_error *err)
{
    valise_frames *known = NULL;
    int rc = a->read_context(&known, a->self, "lib", NULL, NULL, err);

    CHECK_INT(rc == 0, known != NULL);
    valise_frames_free(known);
    return rc;
}

static void check_far(test *t, desk *d, const far_side *f, int64_t timeout_ms)
{
    valise_agent_adapter *a = desk_script(d, f->script, timeout_ms, 0);
    int rc = read_lib(a, &t->err);

    test_note("%s", f->script);
    CHECK_MSG(rc == f->code && strstr(t->err.message, f->message), "%s: %s, but %s '%s'", f->script,
              valise_error_name(f->code), desk_error(&t->err), f->message);
    desk_check_alone(); /* it was reaped at once */
    t->err = (valise_error)VALISE_ERROR_INIT;
    CHECK_RC(VALISE_E_IO, read_lib(a, &t->err));
    CHECK(strstr(t->err.message, "was ended: ") && strstr(t->err.message, f->message));
    CHECK(strstr(t->err.hint, "valise_agent_start"));
}

TEST(far, who_does_not_answer)
{
    static const far_side all[] = {
        {"sleep 1000", VALISE_E_LIMIT, "sh did not answer within 150 ms"},
        {READ "printf '{\"id\":1,'; sleep 1000", VALISE_E_LIMIT, "did not answer within"},
        {"trap '' TERM; " READ "sleep 0.1; exec 2>&-; while :; do sleep 1; done", VALISE_E_LIMIT,
         "did not answer"},
        {READ "exec 1>&2; sleep 1000 & exit 0", VALISE_E_IO, "ended without an answer"},
    };
    desk *d = desk_open(t);

    for (size_t i = 0; i < VLS_COUNT(all); i++)
        check_far(t, d, &all[i], 150);
}

TEST(far, who_ends)
{
    static const far_side all[] = {
        {"exit 0", VALISE_E_IO, "sh ended without an answer"},
        {READ "echo 'no such workspace' >&2; exit 3", VALISE_E_IO,
         "sh ended with exit code 3: no such workspace"},
        {READ "echo one >&2; echo two >&2; exit 0", VALISE_E_IO, "ended without an answer: two"},
        {READ "kill -9 $$", VALISE_E_IO, "sh was ended by signal 9"},
        {READ "printf '{\"id\":1,\"result\":{'", VALISE_E_IO, "ended without an answer"},
        {READ "exec 1>&-; sleep 1000", VALISE_E_IO, "sh was ended by signal 15"},
    };
    desk *d = desk_open(t);

    for (size_t i = 0; i < VLS_COUNT(all); i++)
        check_far(t, d, &all[i], 20000);
}

TEST(far, who_answers_something_else)
{
    static const far_side all[] = {
        {READ "echo hello; cat", VALISE_E_IO, "sh: this is not an answer: invalid JSON at byte 0"},
        {READ "echo; cat", VALISE_E_IO, "this is not an answer: invalid JSON"},
        {READ "echo '[]'; cat", VALISE_E_IO, "this is not an answer: it is not an object"},
        {READ "echo '{}'; cat", VALISE_E_IO, "its id is different"},
        {READ "echo '{\"id\":2,\"result\":{}}'; cat", VALISE_E_IO,
         "not an answer to question 1: its id is different"},
        {READ "echo '{\"id\":\"1\",\"result\":{}}'; cat", VALISE_E_IO, "its id is different"},
        {READ "echo '{\"id\":null,\"result\":{}}'; cat", VALISE_E_IO, "its id is different"},
        {READ "echo '{\"id\":1}'; cat", VALISE_E_IO, "neither a result nor an error"},
        {READ "echo '{\"id\":1,\"result\":[]}'; cat", VALISE_E_IO, "this is not an answer: "},
        {READ "echo '{\"id\":1,\"result\":{}}'; cat", VALISE_E_IO, "this is not an answer: "},
        {READ "echo '{\"id\":1,\"result\":{\"node\":null,\"frames\":[],\"total\":0}}'; cat",
         VALISE_E_IO, "this is not an answer: "},
        {READ "echo '{\"id\":1,\"error\":{}}'; cat", VALISE_E_IO, "its error code is unknown"},
        {READ "echo '{\"id\":1,\"error\":{\"code\":\"OK\"}}'; cat", VALISE_E_IO, "is unknown"},
        {READ "echo '{\"id\":1,\"error\":{\"code\":7}}'; cat", VALISE_E_IO, "is unknown"},
        {READ "printf '\\377\\376\\n'; cat", VALISE_E_IO, "this is not an answer: "},
        {READ "printf '{\"id\":1\\0}\\n'; cat", VALISE_E_IO, "this is not an answer: "},
    };
    desk *d = desk_open(t);

    for (size_t i = 0; i < VLS_COUNT(all); i++)
        check_far(t, d, &all[i], 20000);
}

/* A hundred megabytes without a newline are not taken in. */
TEST(far, who_answers_too_much)
{
    static const far_side large = {READ "head -c 100000000 /dev/zero | tr '\\0' x; echo",
                                   VALISE_E_TOO_LARGE, "sh answered with more than 67108864 bytes"};
    desk *d = desk_open(t);
    valise_agent_adapter *a;

    check_far(t, d, &large, 60000);
    a = desk_script(d, READ "while :; do echo x; done | tr -d '\\n'", 20000, 1000);
    CHECK_RC(VALISE_E_TOO_LARGE, read_lib(a, &t->err));
    desk_check_alone();
}

/* An error that it tells of is that error, made harmless, and it goes on. */
TEST(far, who_answers_an_error)
{
    desk *d = desk_open(t);
    valise_agent_adapter *a = desk_script(
        d,
        READ "echo '{\"id\":1,\"error\":{\"code\":\"DENIED\",\"message\":\"no\\u001b[31m\","
             "\"hint\":\"ask\",\"path\":\"args.node\",\"offset\":7,\"more\":[]}}'; " READ
             "echo '{\"id\":null,\"error\":{\"code\":\"TOO_LARGE\",\"message\":\"what?\"}}'; " READ
             "echo '{\"id\":3,\"error\":{\"code\":\"IO\",\"message\":\"the disk\"}}'; " READ
             "printf '{\"id\":4,\"error\":{\"code\":\"BUSY\",\"message\":\"'; "
             "head -c 5000 /dev/zero | tr '\\0' y; echo '\"}}'; " READ
             "echo '{\"id\":5,\"error\":{\"code\":\"BUSY\",\"message\":5}}'; cat",
        20000, 0);

    CHECK_RC(VALISE_E_DENIED, read_lib(a, &t->err));
    CHECK_TEXT("DENIED 'args.node' no\\x1b[31m | ask", desk_error(&t->err));
    CHECK_INT(7, t->err.offset);
    CHECK_RC(VALISE_E_TOO_LARGE, read_lib(a, &t->err));
    CHECK_TEXT("TOO_LARGE '' what? | ", desk_error(&t->err));
    CHECK_RC(VALISE_E_IO, read_lib(a, &t->err));
    CHECK_TEXT("IO '' the disk | ", desk_error(&t->err));
    CHECK_RC(VALISE_E_BUSY, read_lib(a, &t->err));
    CHECK_INT(sizeof(t->err.message) - 1, strlen(t->err.message));
    CHECK_RC(VALISE_E_BUSY, read_lib(a, NULL));
    CHECK_RC(VALISE_E_IO, read_lib(a, NULL)); /* cat gives the question back: no answer */
}

/* A later version may say more: what nobody here knows is passed over, however deep. */
TEST(far, who_answers_more)
{
    desk *d = desk_open(t);
    valise_agent_adapter *plain = desk_process(d, "w"), *more;
    valise_frames *known = NULL;
    const char *expected;

    CHECK_OK(plain->write_context(NULL, plain->self, "lib/a.c", VLS_STR("x"), NULL, &t->err));
    CHECK_OK(plain->read_context(&known, plain->self, "lib/a.c", NULL, NULL, &t->err));
    expected = desk_frames(known);
    known = NULL;
    more = desk_script(d,
                       "\"$VALISE\" agent serve --as w | sed -u "
                       "'s/{\"/{\"aa\":{\"a\":[{\"b\":1}]},\"/g; s/,\"meta/,\"lx\":[],\"meta/g'",
                       20000, 0);
    CHECK_OK(more->read_context(&known, more->self, "lib/a.c", NULL, NULL, &t->err));
    CHECK_TEXT(expected, desk_frames(known));
}

/* A line too many belongs to nothing. */
TEST(far, who_answers_twice)
{
    desk *d = desk_open(t);
    valise_agent_adapter *a = desk_script(
        d, READ "for i in 1 1; do echo '{\"id\":1,\"error\":{\"code\":\"BUSY\"}}'; done; cat",
        20000, 0);

    CHECK_RC(VALISE_E_BUSY, read_lib(a, &t->err));
    CHECK_RC(VALISE_E_IO, read_lib(a, &t->err));
    CHECK(strstr(t->err.message, "not an answer to question 2"));
}

/* Who does not read, and who complains without end, do not hold us; nor does a host die of a
 * SIGPIPE. */
TEST(far, who_does_not_read)
{
    desk *d = desk_open(t);
    char *text = test_alloc((size_t)4 << 20);
    valise_agent_adapter *a;

    memset(text, 'x', (size_t)4 << 20);
    a = desk_script(d, "sleep 1000", 300, 0);
    CHECK_RC(VALISE_E_LIMIT,
             a->write_context(NULL, a->self, "lib", vls_str(text, (size_t)4 << 20), NULL, &t->err));
    a = desk_script(d, "echo '{\"id\":1,\"error\":{\"code\":\"BUSY\"}}'; sleep 1000", 20000, 0);
    CHECK_RC(VALISE_E_IO,
             a->write_context(NULL, a->self, "lib", vls_str(text, (size_t)4 << 20), NULL, &t->err));
    CHECK(strstr(t->err.message, "sent an answer before it was asked"));
    (void)signal(SIGPIPE, SIG_DFL);
    a = desk_script(d, "exec <&-; sleep 0.1; exit 5", 20000, 0);
    CHECK_RC(VALISE_E_IO,
             a->write_context(NULL, a->self, "lib", vls_str(text, (size_t)4 << 20), NULL, &t->err));
    CHECK(strstr(t->err.message, "exit code 5"));
    a = desk_script(d, "while :; do echo complaint >&2; done", 300, 0);
    CHECK_RC(VALISE_E_LIMIT, read_lib(a, &t->err));
    a = desk_script(d,
                    READ "head -c 3000000 /dev/zero >&2; echo '{\"id\":1,\"error\":{\"code\":"
                         "\"BUSY\"}}'; cat",
                    20000, 0);
    CHECK_RC(VALISE_E_BUSY, read_lib(a, &t->err));
}

/* It gets what it was named with, and nothing else: no shell, no descriptors, its own session. */
TEST(far, what_it_gets)
{
    desk *d = desk_open(t);
    int fd = dup(2);
    valise_agent_adapter *a = desk_script(
        d,
        READ
        "n=$(ls /proc/$$/fd | wc -l); p=$(pwd); s=$(cut -d' ' -f6 /proc/$$/stat); "
        "echo \"{\\\"id\\\":1,\\\"error\\\":{\\\"code\\\":\\\"BUSY\\\",\\\"message\\\":\\\"$n $p "
        "$((s == $$)) $XDG_CONFIG_HOME\\\"}}\"; cat",
        20000, 0);

    CHECK_RC(VALISE_E_BUSY, read_lib(a, &t->err));
    /* 0, 1, 2, and the pipe from ls. */
    CHECK_TEXT(test_format("4 %s 1 %s", d->dir, test_tmpdir()), t->err.message);
    CHECK_INT(0, close(fd));
}

/* Closing ends it, whether it wants to or not. */
TEST(far, closing)
{
    static const char *const scripts[] = {"cat >/dev/null", "trap '' TERM; sleep 1000 & wait",
                                          "exit 1"};

    for (size_t i = 0; i < VLS_COUNT(scripts); i++) {
        const char *const argv[] = {"sh", "-c", scripts[i], NULL};
        valise_agent_process p = VALISE_AGENT_PROCESS_INIT;
        valise_agent_adapter *a = NULL;
        p.argv = argv;
        p.env = t->env;
        CHECK_OK(valise_agent_start(&a, &p, &t->err));
        valise_agent_close(a);
        desk_check_alone();
    }
}

/* What it started and left behind goes with it, even if it does not want to. */
TEST(far, nothing_of_it_stays)
{
    desk *d = desk_open(t);
    valise_agent_adapter *a = desk_script(
        d, "trap '' TERM; sleep 1000 >&- 2>&- & echo $! >pid.new; mv pid.new pid; " READ "exit 1",
        20000, 0);
    pid_t pid;
    int tries = 0;

    CHECK_RC(VALISE_E_IO, read_lib(a, &t->err));
    pid = (pid_t)strtol(test_read_file(test_format("%s/pid", d->dir)).ptr, NULL, 10);
    CHECK(pid > 1);
    while (kill(pid, 0) == 0 && tries++ < 1000) /* somebody else reaps it */
        (void)usleep(5000);
    CHECK_INT(ESRCH, kill(pid, 0) < 0 ? errno : 0);
}

/* ---- without memory ---- */

static int talk(fault *f, void *arg)
{
    const char *const argv[] = {getenv("VALISE"), "-C", arg, "agent", "serve", "--as", "w", NULL};
    valise_agent_process p = VALISE_AGENT_PROCESS_INIT;
    valise_frame_options o = VALISE_FRAME_OPTIONS_INIT;
    valise_agent_adapter *a = NULL;
    valise_frames *known = NULL;
    int rc;

    p.argv = argv;
    p.env = f->env;
    o.metadata = VLS_STR("[1, 2]");
    rc = valise_agent_start(&a, &p, &f->err);
    CHECK_INT(rc == 0, a != NULL);
    if (rc == 0)
        rc = a->write_context(NULL, a->self, "lib/a.c", VLS_STR("one"), &o, &f->err);
    if (rc == 0)
        rc = a->read_context(&known, a->self, "lib/a.c", NULL, NULL, &f->err);
    valise_frames_free(known);
    if (a && rc == VALISE_E_NO_MEMORY && strstr(f->err.message, "was ended") == NULL) {
        fault_off(f); /* it goes on, unless the answer was lost */
        known = NULL;
        rc = a->read_context(&known, a->self, "lib/a.c", NULL, NULL, NULL);
        CHECK(rc == 0 || rc == VALISE_E_IO);
        valise_frames_free(known);
        fault_on(f);
        rc = VALISE_E_NO_MEMORY;
    }
    valise_agent_close(a);
    desk_check_alone();
    return rc;
}

TEST(far, without_memory)
{
    desk *d = desk_open(t);

    CHECK(fault_each_alloc(t, 0, talk, (void *)(uintptr_t)d->dir) > 0);
}

static int talk_here(fault *f, void *arg)
{
    valise_agent_adapter *a = NULL;
    valise_options o = VALISE_OPTIONS_INIT;
    valise_frames *known = NULL;
    valise *v = NULL;
    int rc;

    fault_off(f);
    o.env = f->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_INT(0, valise_open(&v, arg, &o, &f->err));
    fault_on(f);
    rc = valise_agent_open(&a, v, "w", &f->err);
    CHECK_INT(rc == 0, a != NULL);
    if (rc == 0)
        rc = a->read_context(&known, a->self, "lib", NULL, NULL, &f->err);
    CHECK_INT(rc == 0, known != NULL);
    valise_frames_free(known);
    valise_agent_close(a);
    fault_off(f);
    valise_close(v);
    fault_on(f);
    return rc;
}

TEST(far, nearby_without_memory)
{
    desk *d = desk_open(t);

    desk_close(d);
    CHECK(fault_each_alloc(t, 0, talk_here, (void *)(uintptr_t)d->dir) > 0);
}
