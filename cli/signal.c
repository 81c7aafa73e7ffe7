/* signal.c -- Ctrl-C, SIGTERM and SIGHUP where something is to be ended, and closed streams.
 *
 * The first one asks: progress callbacks and rows see it, and the operation stops where
 * everything is consistent. The second one is not caught and ends the process. A reader that went
 * away (SIGPIPE) is an error of write, which output.c takes quietly. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "cli/cli.h"

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t terminated; /* by this signal; 0: not yet */

static void note_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void note_termination(int number)
{
    terminated = number;
    interrupted = 1;
}

int cli_is_terminated(void)
{
    return terminated;
}

void cli_catch_termination(void)
{
    static const int numbers[] = {SIGTERM, SIGHUP};
    struct sigaction catch = {.sa_handler = note_termination, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;

    for (size_t i = 0; i < VLS_COUNT(numbers); i++) {
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &catch, NULL);
    }
}

bool cli_is_interrupted(void)
{
    return interrupted != 0;
}

int cli_check_interrupt(valise_error *err)
{
    return interrupted ? vls_fail(err, VALISE_E_CANCELLED, "interrupted") : 0;
}

void cli_guard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        /* The lowest one that is free is taken. Reading from one that is open to write fails, and
         * the other way round. */
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

void cli_catch_signals(void)
{
    /* Without SA_RESTART: a read that waits must come back. */
    struct sigaction catch = {.sa_handler = note_interrupt, .sa_flags = (int)SA_RESETHAND};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;

    /* Started with it ignored (nohup, a background job): leave it so. */
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        (void)sigaction(SIGINT, &catch, NULL);
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGXFSZ, &ignore, NULL); /* a file over the limit is an error of write, too */
}

static int look(void *arg, const valise_progress_state *state)
{
    (void)arg;
    (void)state;
    return cli_is_interrupted();
}

valise_progress cli_stop_on_interrupt(void)
{
    return (valise_progress){look, NULL};
}

bool cli_wait_for_input(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t ours, before;
    int ready = -1;

    /* One that comes between the look and the wait must end the wait. */
    (void)sigemptyset(&ours);
    (void)sigaddset(&ours, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &ours, &before);
    if (!interrupted)
        ready = ppoll(&input, 1, NULL, &before);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return ready > 0;
}

void cli_forget_interrupt(void)
{
    if (!interrupted)
        return;
    interrupted = 0;
    cli_catch_signals();
}
