/* exec.c -- see exec.h: spawn, read until its output ends, wait, clean up. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exec.h"
#include "base/fd.h"
#include "base/mark.h"
#include "base/text.h"

#define LOOK_MS 100
#define PAUSE_MAX_MS 50
#define TIMEOUT_MAX_MS INT64_C(1000000000)

/* What the program gets: its input, its output, what it complains to, what it is given, its life.
 */
typedef struct given {
    int fds[VLS_EXEC_FDS_MAX + 4];
    int count;
} given;

typedef struct run {
    const vls_exec *exec;
    vls_exec_end end;
    vls_process process;
    vls_mark mark;
    int output;         /* our end, -1 once it ended */
    int life;           /* our end: closed when we are gone */
    vls_buf *out;       /* where the output goes */
    size_t begin, max;  /* where it begins, and how much it may be */
    int64_t end_ns;     /* the deadline */
    int64_t timeout_ms; /* ... as it was given */
} run;

/* What messages call it. */
static vls_text_brief called(const run *r)
{
    return vls_text_short(valise_str_of(r->exec->name));
}

static void vls_auto_given(given *g)
{
    while (g->count > 0)
        (void)vls_fd_close(g->fds[--g->count]);
}

/* ---- before ---- */

static int open_input(int *out, valise_str input, valise_error *err)
{
    const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    VLS_AUTO(fd) int fd = memfd_create("valise-input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int high;

    if (fd < 0 || vls_fd_write_all(fd, input) < 0 || fcntl(fd, F_ADD_SEALS, seals) < 0 ||
        lseek(fd, 0, SEEK_SET) < 0)
        return vls_fail_errno(err, "cannot make", VLS_STR("the input of a program"));
    high = vls_process_copy_fd(fd);
    if (high < 0)
        return vls_fail_errno(err, "cannot make", VLS_STR("the input of a program"));
    *out = high;
    return 0;
}

static int give_copy(given *g, const vls_exec *exec, int fd, valise_error *err)
{
    int high = vls_process_copy_fd(fd);

    if (high < 0)
        return vls_fail_errno(err, "cannot run", valise_str_of(exec->name));
    g->fds[g->count++] = high;
    return 0;
}

static int open_all(run *r, given *g, valise_str input, valise_error *err)
{
    const vls_process_start *start = &r->exec->start;
    int rc = open_input(&g->fds[0], input, err);

    g->count += rc == 0;
    if (rc == 0)
        rc = vls_process_pipe(&r->output, &g->fds[1], 1, err);
    g->count += rc == 0;
    if (rc == 0)
        rc = vls_process_pipe(&r->process.said, &g->fds[2], 1, err);
    g->count += rc == 0;
    for (int i = 0; rc == 0 && i < start->count; i++)
        rc = give_copy(g, r->exec, start->fds[i], err);
    if (rc == 0)
        rc = vls_process_pipe(&r->life, &g->fds[g->count], 0, err);
    g->count += rc == 0;
    return rc;
}

static int start_it(run *r, const given *g, valise_error *err)
{
    vls_process_start start = r->exec->start;
    int rc = start.marked ? vls_mark_make(&r->mark, r->exec->env, start.environment, err) : 0;

    if (rc < 0)
        return rc;
    if (start.marked)
        start.environment = r->mark.environment;
    start.fds = g->fds;
    start.count = g->count;
    r->end.not_started = vls_process_spawn(&r->process, &start);
    if (r->end.not_started != 0)
        return vls_process_fail(r->end.not_started, &start, r->exec->name, err);
    vls_process_tie(&r->process, g->fds[g->count - 1]);
    return 0;
}

/* ---- while it runs ---- */

static int64_t now_ns(const run *r)
{
    return r->exec->env->ticks_ns(r->exec->env->self);
}

static int read_output(run *r, valise_error *err)
{
    char room[VLS_PROCESS_PIECE];
    valise_str piece;

    while (vls_process_read(&piece, room, &r->output)) {
        if (piece.len > r->max - (r->out->len - r->begin))
            return vls_fail(err, VALISE_E_TOO_LARGE, "%s wrote more than %zu bytes", called(r).s,
                            r->max);
        vls_buf_add(r->out, piece);
        if (r->out->failed)
            return vls_buf_check(r->out, err);
    }
    return 0;
}

static int fail_late(run *r, valise_error *err)
{
    if (r->output >= 0 && vls_process_has_ended(&r->process))
        return vls_fail(err, VALISE_E_LIMIT,
                        "%s has ended, but what it started kept its output open for %lld ms",
                        called(r).s, (long long)r->timeout_ms);
    return vls_fail(err, VALISE_E_LIMIT, "%s did not end within %lld ms", called(r).s,
                    (long long)r->timeout_ms);
}

/* Wait for output, for at most so long. */
static void wait_a_little(const run *r, int ms)
{
    struct pollfd fds[] = {{.fd = r->output, .events = POLLIN},
                           {.fd = r->process.said, .events = POLLIN}};

    (void)poll(fds, VLS_COUNT(fds), ms); /* a signal is as good as any other reason to go on */
}

/* Until its output has ended and itself too. */
static int follow(run *r, valise_error *err)
{
    int64_t looked_ns = now_ns(r);
    int pause_ms = 1;

    for (;;) {
        int64_t left_ms = (r->end_ns - now_ns(r)) / 1000000;
        int rc = read_output(r, err);
        vls_process_hear(&r->process);
        if (rc < 0)
            return rc;
        if (r->output < 0 && vls_process_has_ended(&r->process))
            return 0;
        if (left_ms <= 0)
            return fail_late(r, err);
        if (r->exec->look && now_ns(r) - looked_ns >= LOOK_MS * INT64_C(1000000)) {
            looked_ns = now_ns(r);
            rc = r->exec->look(r->exec->self, err);
            r->end.given_up = rc < 0;
            if (rc < 0)
                return rc;
        }
        pause_ms = r->output >= 0 ? LOOK_MS : VLS_MIN(2 * pause_ms, PAUSE_MAX_MS);
        wait_a_little(r, (int)VLS_MIN(left_ms, pause_ms));
    }
}

/* ---- the end ---- */

static void hand_out_said(const run *r)
{
    if (r->exec->said)
        vls_text_neutralize(r->exec->said, vls_process_said(&r->process),
                            VLS_TEXT_KEEP_NEWLINE | VLS_TEXT_KEEP_TAB | VLS_TEXT_KEEP_BACKSLASH);
}

/* It ended by itself. A status that nobody knows is a failure in any case. */
static int judge(run *r, int status, valise_error *err)
{
    int rc = vls_process_judge(&r->process, status, called(r).s, r->exec->env, &r->end.verdict);

    r->end.ended = status != -1;
    r->end.exit_code = r->end.ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    r->end.signal = r->end.ended && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (rc == 0 || (r->exec->any_end && r->end.ended))
        return 0;
    if (err)
        *err = r->end.verdict;
    return rc;
}

static int run_to_end(run *r, valise_error *err)
{
    int64_t grace_ms = r->exec->grace_ms > 0 ? r->exec->grace_ms : VLS_PROCESS_GRACE_MS;
    int rc = follow(r, err), status;

    if (rc < 0) {
        r->output = vls_fd_close(r->output);
        vls_process_end(&r->process, r->exec->env, grace_ms);
    }
    status = vls_process_reap(&r->process);
    if (rc < 0)
        vls_mark_hunt(&r->mark);
    vls_process_hear(&r->process);
    hand_out_said(r);
    return rc < 0 ? rc : judge(r, status, err);
}

static int start_and_run(run *r, valise_str input, valise_error *err)
{
    int rc;

    {
        VLS_AUTO(given) given g = {.count = 0};
        rc = open_all(r, &g, input, err);
        if (rc == 0)
            rc = start_it(r, &g, err);
    } /* its ends are closed: ours see the end of what it writes */
    r->end_ns = now_ns(r) + r->timeout_ms * INT64_C(1000000);
    if (rc == 0)
        rc = run_to_end(r, err);
    (void)vls_fd_close(r->output);
    (void)vls_fd_close(r->process.said);
    (void)vls_fd_close(r->life);
    vls_mark_release(&r->mark);
    return rc;
}

int vls_exec_run(vls_buf *out, const vls_exec *exec, valise_str input, vls_exec_end *end,
                 valise_error *err)
{
    run r = {.exec = exec,
             .end = {.exit_code = -1, .verdict = VALISE_ERROR_INIT},
             .output = -1,
             .process = VLS_PROCESS_INIT,
             .life = -1,
             .out = out,
             .begin = out->len};
    int rc;

    VLS_ARG(exec->env && exec->name && exec->start.file && exec->start.count <= VLS_EXEC_FDS_MAX,
            err);
    if (end)
        *end = r.end;
    rc = vls_buf_check(out, err);
    if (rc < 0)
        return rc;
    r.timeout_ms = exec->timeout_ms > 0 ? exec->timeout_ms : VLS_EXEC_TIMEOUT_MS;
    r.timeout_ms = VLS_MIN(r.timeout_ms, TIMEOUT_MAX_MS);
    r.max = exec->max_bytes > 0 ? exec->max_bytes : VLS_EXEC_OUTPUT_MAX;
    rc = start_and_run(&r, input, err);
    if (rc < 0) {
        out->len = r.begin;
        out->failed = 0;
    }
    if (end)
        *end = r.end;
    return rc;
}
