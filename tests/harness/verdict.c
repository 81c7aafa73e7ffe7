/* verdict.c -- how a test ends, and what the report says of it.
 *
 * A check that fails on the runner's thread jumps back to run_one() in main.c; on another thread
 * it ends that thread, in a child process the child. The report has a descriptor of its own,
 * unbuffered: nothing a test prints, and no fork, can disturb it. */
#include "harness/internal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#include "harness/fault_io.h"

test_now_state test_now = {.lock = PTHREAD_MUTEX_INITIALIZER, .only_leaks = true};
atomic_bool test_has_checked;

static int report_fd = STDOUT_FILENO;

/* Defined by sanitizers; otherwise NULL. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/* ---- the report ---- */

void test_report(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vdprintf(report_fd, format, args);
    va_end(args);
}

/* Each line of text behind "# ", so that TAP takes it for a remark. */
void test_report_remark(const char *text)
{
    valise_str rest = valise_str_of(text), line;

    do {
        (void)vls_str_cut(&line, &rest, rest, '\n');
        test_report("# %.*s\n", VALISE_STR_ARG(line));
    } while (rest.len > 0);
}

void test_note(const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    test_report_remark(text);
}

void test_context(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(test_now.context, sizeof(test_now.context), format, args);
    va_end(args);
}

void test_context_end(void)
{
    test_now.context[0] = '\0';
}

/* ---- verdicts ---- */

bool test_in_child(void)
{
    return getpid() != test_now.pid;
}

void test_child_exit(int code)
{
    _exit(code);
}

void test_rethrow(void)
{
    pthread_mutex_lock(&test_now.lock);
    bool settled = test_now.state != TEST_RUNNING;
    pthread_mutex_unlock(&test_now.lock);
    if (settled)
        longjmp(test_now.out, 1);
}

/* The message and what was being tried, one per line. */
static void describe(char *out, size_t size, const char *text)
{
    bool struck = atomic_load(&fault_io_active) && fault_io_hit();

    (void)snprintf(out, size, "%s%s%s%s%s", text, test_now.context[0] ? "\n" : "", test_now.context,
                   struck ? "\nafter a fault in " : "", struck ? fault_io_what() : "");
}

__attribute__((noreturn)) static void settle(int state, bool leak, const char *text)
{
    char message[sizeof(test_now.message)];

    describe(message, sizeof(message), text);
    if (test_in_child()) {
        (void)dprintf(STDERR_FILENO, "%s%s\n", state == TEST_SKIPPED ? "SKIP in a child: " : "",
                      message);
        test_child_exit(TEST_EXIT_FAILED);
    }
    pthread_mutex_lock(&test_now.lock);
    if (test_now.state == TEST_RUNNING) { /* the first one is the cause of the others */
        test_now.state = (__typeof__(test_now.state))state;
        (void)snprintf(test_now.message, sizeof(test_now.message), "%s",
                       state == TEST_SKIPPED ? text : message);
        test_now.only_leaks = test_now.only_leaks && (leak || state == TEST_SKIPPED);
    }
    pthread_mutex_unlock(&test_now.lock);
    if (!pthread_equal(pthread_self(), test_now.runner))
        pthread_exit(NULL);
    longjmp(test_now.out, 1);
}

void test_fail(const char *file, int line, const char *format, ...)
{
    char text[3500];
    va_list args;
    int len = snprintf(text, sizeof(text), "%s:%d: ", file, line);

    va_start(args, format);
    (void)vsnprintf(text + len, sizeof(text) - (size_t)len, format, args);
    va_end(args);
    settle(TEST_FAILED, false, text);
}

void test_fail_leak(const char *file, int line, const char *what)
{
    settle(TEST_FAILED, true, test_format("%s:%d: %s", file, line, what));
}

void test_skip(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    settle(TEST_SKIPPED, false, text);
}

void test_check_int(const char *file, int line, const char *what, intmax_t expected,
                    intmax_t actual)
{
    test_count_check();
    if (expected != actual)
        test_fail(file, line, "%s is %jd, expected %jd", what, actual, expected);
}

void test_check_str(const char *file, int line, const char *what, valise_str expected,
                    valise_str actual)
{
    test_count_check();
    if (!vls_str_equal(expected, actual))
        test_fail(file, line, "%s is \"%.*s\" (%zu bytes), expected \"%.*s\" (%zu bytes)", what,
                  VALISE_STR_ARG(vls_str_head(actual, 1200)), actual.len,
                  VALISE_STR_ARG(vls_str_head(expected, 1200)), expected.len);
}

void test_check_rc(const char *file, int line, const char *what, int expected, int actual, test *t)
{
    test_count_check();
    if (expected != actual)
        test_fail(file, line, "%s returned %s, expected %s%s%s", what, valise_error_name(actual),
                  valise_error_name(expected), t->err.message[0] ? ": " : "", t->err.message);
}

size_t test_bytes_in_use(const test *t)
{
    (void)t;
    return counting_env_in_use(&test_now.env);
}

/* ---- a test that ends the program ---- */

/* Called from signal handlers: prepared text and write() only. */
static void report_lost(const char *why)
{
    if (!test_now.running || test_in_child())
        return;
    test_now.running = 0;
    ssize_t ignored = write(report_fd, test_now.lost, strlen(test_now.lost));
    ignored += write(report_fd, why, strlen(why));
    (void)ignored;
}

static void on_signal(int number)
{
    report_lost(number == SIGTERM ? "# ended from outside (SIGTERM), out of time?\n"
                                  : "# the test crashed\n");
    (void)raise(number); /* the handler is gone by now: ends the program */
}

static void on_sanitizer_death(void)
{
    report_lost("# a sanitizer ended the test\n");
}

static void on_exit_in_test(void)
{
    if (!test_now.running || test_in_child())
        return;
    report_lost("# the test called exit()\n");
    test_child_exit(1);
}

void test_verdict_init(void)
{
    static const int signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTERM};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    struct sigaction old;

    report_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    test_now.pid = getpid();
    test_now.runner = pthread_self();

    for (size_t i = 0; i < VLS_COUNT(signals); i++) {
        /* A sanitizer's handler prints more than ours would; it calls back when it is done. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            (void)sigaction(signals[i], &action, NULL);
    }
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(on_sanitizer_death);
    (void)atexit(on_exit_in_test);
}
