/* program.c -- see program.h.
 *
 *     us                                         the child
 *     input  --- pipe --------------------->     standard input
 *            <-- pipe that exec closes -----     errno, where exec fails
 *     wait for it                                exit code
 *
 * A program may end without reading: what is left of the input is nobody's then (EPIPE). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/program.h"

#include "base/fd.h"
#include "base/text.h"
#include "cli/output.h"

typedef struct pipes {
    int input[2], failure[2];
    bool shown; /* what it prints goes where our errors go */
} pipes;

static void close_both(int fd[2])
{
    for (int i = 0; i < 2; i++) {
        if (fd[i] >= 0)
            (void)close(fd[i]);
        fd[i] = -1;
    }
}

static int open_pipes(pipes *p, valise_error *err)
{
    if (pipe2(p->input, O_CLOEXEC) == 0 && pipe2(p->failure, O_CLOEXEC) == 0)
        return 0;
    return vls_fail_errno(err, "cannot make", VLS_STR("a pipe"));
}

/* In the child. Only what is safe between fork and exec, but for setenv: there is one thread. */
static void become(char *const *argv, const cli_variable *variables, const pipes *p)
{
    struct sigaction normal = {.sa_handler = SIG_DFL};
    int none = open("/dev/null", O_WRONLY | O_CLOEXEC), why;

    (void)sigaction(SIGPIPE, &normal, NULL);
    for (; variables->name; variables++)
        (void)setenv(variables->name, variables->value, 1);
    if (none >= 0 && dup2(p->input[0], STDIN_FILENO) >= 0 &&
        dup2(p->shown ? STDERR_FILENO : none, STDOUT_FILENO) >= 0)
        (void)execvp(argv[0], argv);
    why = errno;
    if (write(p->failure[1], &why, sizeof(why)) < 0)
        _exit(126);
    _exit(127);
}

/* Did exec fail? The other end is closed without a word when it did not. */
static int read_failure(const pipes *p, const char *name, valise_error *err)
{
    ssize_t got;
    int why = 0;

    do
        got = read(p->failure[0], &why, sizeof(why));
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof(why))
        return 0;
    errno = why;
    (void)vls_fail_errno(err, "cannot run", valise_str_of(name));
    vls_hint(err, "give its path, or put its folder into PATH");
    if (err)
        err->code = VALISE_E_IO; /* whatever the reason: NOT_FOUND is what a search may answer */
    return VALISE_E_IO;
}

static int wait_for(pid_t child, const char *name, bool shown, valise_error *err)
{
    int status = 0, rc;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    rc = cli_check_interrupt(err);
    if (rc < 0)
        return rc;
    if (WIFEXITED(status) || shown)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    (void)vls_fail(err, VALISE_E_IO, "'%s' was ended by signal %d (%s)",
                   vls_text_short(valise_str_of(name)).s, WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
    vls_hint(err, "run it by hand to see why");
    return VALISE_E_IO;
}

static int run(char *const *argv, const cli_variable *variables, valise_str input, pipes *p,
               valise_error *err)
{
    pid_t child = fork();
    int failed, code;

    if (child < 0)
        return vls_fail_errno(err, "cannot start", valise_str_of(argv[0]));
    if (child == 0)
        become(argv, variables, p);
    (void)close(p->input[0]);
    (void)close(p->failure[1]);
    p->input[0] = p->failure[1] = -1;
    (void)vls_fd_write_all(p->input[1], input); /* who does not want to read need not */
    (void)close(p->input[1]);
    p->input[1] = -1;
    failed = read_failure(p, argv[0], err);
    code = wait_for(child, argv[0], p->shown, failed < 0 ? NULL : err);
    return failed < 0 ? failed : code;
}

static int run_with(char *const *argv, const cli_variable *variables, valise_str input, bool shown,
                    valise_error *err)
{
    pipes p = {{-1, -1}, {-1, -1}, shown};
    int rc = open_pipes(&p, err);

    if (rc == 0)
        rc = run(argv, variables, input, &p, err);
    close_both(p.input);
    close_both(p.failure);
    return rc;
}

int cli_run_program(char *const *argv, const cli_variable *variables, valise_str input,
                    valise_error *err)
{
    return run_with(argv, variables, input, false, err);
}

int cli_run_hook(char *const *argv, const cli_variable *variables, valise_str input,
                 valise_error *err)
{
    return run_with(argv, variables, input, true, err);
}

int cli_make_argv(char *const **out, cli *c, const valise_list *words, valise_error *err)
{
    const valise_str *word = words->items;
    char **argv = vls_arena_array(&c->arena, words->count + 1, sizeof(*argv));

    if (!argv)
        return vls_arena_fail(&c->arena, err);
    for (size_t i = 0; i < words->count; i++) {
        argv[i] = vls_arena_alloc(&c->arena, word[i].len + 1);
        if (!argv[i])
            return vls_arena_fail(&c->arena, err);
        memcpy(argv[i], word[i].ptr, word[i].len);
        argv[i][word[i].len] = '\0';
    }
    argv[words->count] = NULL;
    *out = argv;
    return 0;
}
