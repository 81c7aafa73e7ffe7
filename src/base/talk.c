/* talk.c -- see talk.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/talk.h"

#define PIECES_MAX 64 /* read in one go: who writes without end must not keep us */

void vls_talk_init(vls_talk *talk, const valise_env *env, size_t max_line)
{
    *talk =
        (vls_talk){.env = env, .process = VLS_PROCESS_INIT, .input = -1, .output = -1, .life = -1};
    talk->max_line = max_line;
    vls_buf_init(&talk->came, env, max_line + VLS_PROCESS_PIECE);
}

void vls_talk_release(vls_talk *talk)
{
    assert(talk->process.pid == 0);
    vls_mark_release(&talk->mark);
    vls_buf_release(&talk->came);
}

/* ---- starting ---- */

static int open_input(int *ours, int *theirs, valise_error *err)
{
    int ends[2], high;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return vls_fail_errno(err, "cannot make", VLS_STR("a socket"));
    high = vls_process_copy_fd(ends[1]);
    (void)vls_fd_close(ends[1]);
    if (high < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
        int rc = vls_fail_errno(err, "cannot make", VLS_STR("a socket"));
        (void)vls_fd_close(ends[0]);
        (void)vls_fd_close(high);
        return rc;
    }
    *ours = ends[0];
    *theirs = high;
    return 0;
}

static int open_and_spawn(vls_talk *t, const vls_process_start *given, int fds[4], bool tied,
                          const char *name, valise_error *err)
{
    vls_process_start start = *given;
    int rc = open_input(&t->input, &fds[0], err), why;

    if (rc == 0)
        rc = vls_process_pipe(&t->output, &fds[1], 1, err);
    if (rc == 0)
        rc = vls_process_pipe(&t->process.said, &fds[2], 1, err);
    if (rc == 0 && tied)
        rc = vls_process_pipe(&t->life, &fds[3], 0, err);
    vls_mark_release(&t->mark);
    if (rc == 0 && start.marked) {
        rc = vls_mark_make(&t->mark, t->env, start.environment, err);
        start.environment = t->mark.environment;
    }
    if (rc < 0)
        return rc;
    start.fds = fds;
    start.count = tied ? 4 : 3;
    why = vls_process_spawn(&t->process, &start);
    if (why != 0)
        return vls_process_fail(why, &start, name, err);
    if (tied)
        vls_process_tie(&t->process, fds[3]);
    return 0;
}

int vls_talk_start(vls_talk *talk, const vls_process_start *start, bool tied, const char *name,
                   valise_error *err)
{
    int fds[4] = {-1, -1, -1, -1}, rc;

    assert(talk->process.pid == 0);
    talk->process = (vls_process)VLS_PROCESS_INIT;
    vls_buf_clear(&talk->came);
    talk->line = 0;
    talk->skipping = false;
    rc = open_and_spawn(talk, start, fds, tied, name, err);
    for (size_t i = 0; i < VLS_COUNT(fds); i++)
        (void)vls_fd_close(fds[i]);
    if (rc < 0)
        (void)vls_talk_end(talk, VLS_PROCESS_GRACE_MS);
    return rc;
}

/* ---- talking ---- */

/* What was handed out is of nobody any more. */
static void drop_line(vls_talk *t)
{
    size_t rest = t->came.len - t->line;

    if (t->line > 0 && rest > 0)
        memmove(t->came.ptr, t->came.ptr + t->line, rest);
    t->came.len = rest;
    t->line = 0;
}

/* What stands behind the end of a line that is skipped. */
static valise_str skip(vls_talk *t, valise_str piece)
{
    size_t newline;

    if (!t->skipping)
        return piece;
    newline = vls_str_find_byte(piece, '\n');
    t->skipping = newline == piece.len;
    return vls_str_from(piece, newline + 1);
}

/* The line that is coming is of no use, up to its end. */
static int give_line_up(vls_talk *t, int why)
{
    vls_buf_clear(&t->came);
    t->skipping = true;
    return why;
}

int vls_talk_line(valise_str *out, vls_talk *talk)
{
    char room[VLS_PROCESS_PIECE];
    valise_str piece;
    size_t newline, searched = 0;

    drop_line(talk);
    for (int i = 0;; i++) {
        piece = vls_str_from(vls_buf_str(&talk->came), searched);
        newline = searched + vls_str_find_byte(piece, '\n');
        if (newline < talk->came.len) {
            talk->line = newline + 1;
            *out = vls_str(talk->came.ptr, newline);
            return newline > talk->max_line ? VALISE_E_TOO_LARGE : 1;
        }
        searched = talk->came.len;
        if (searched > talk->max_line)
            return give_line_up(talk, VALISE_E_TOO_LARGE);
        if (i == PIECES_MAX || !vls_process_read(&piece, room, &talk->output))
            return 0;
        vls_buf_add(&talk->came, skip(talk, piece));
        if (talk->came.failed)
            return give_line_up(talk, talk->came.failed); /* no memory */
    }
}

void vls_talk_send(size_t *sent, vls_talk *talk, valise_str bytes)
{
    while (talk->input >= 0 && *sent < bytes.len) {
        ssize_t n = send(talk->input, bytes.ptr + *sent, bytes.len - *sent, MSG_NOSIGNAL);
        if (vls_fd_again(n))
            continue;
        if (n < 0 && errno != EAGAIN)
            talk->input = vls_fd_close(talk->input);
        if (n <= 0)
            return;
        *sent += (size_t)n;
    }
}

void vls_talk_wait(vls_talk *talk, bool sending, int64_t ms)
{
    struct pollfd fds[] = {{.fd = talk->output, .events = POLLIN},
                           {.fd = talk->process.said, .events = POLLIN},
                           {.fd = sending ? talk->input : -1, .events = POLLOUT}};

    (void)poll(fds, VLS_COUNT(fds), (int)VLS_MAX(0, VLS_MIN(ms, INT64_C(1000))));
    vls_process_hear(&talk->process);
}

/* ---- the end ---- */

static int64_t now_ms(const vls_talk *t)
{
    return t->env->ticks_ns(t->env->self) / 1000000;
}

void vls_talk_let_it_end(vls_talk *talk, int64_t ms)
{
    int64_t end_ms = now_ms(talk) + ms;

    talk->input = vls_fd_close(talk->input);
    talk->output = vls_fd_close(talk->output);
    while (talk->process.pid != 0 && !vls_process_has_ended(&talk->process) &&
           now_ms(talk) < end_ms) {
        (void)poll(NULL, 0, 5);
        vls_process_hear(&talk->process);
    }
}

int vls_talk_end(vls_talk *talk, int64_t grace_ms)
{
    int status = -1;

    talk->input = vls_fd_close(talk->input);
    talk->output = vls_fd_close(talk->output);
    if (talk->process.pid != 0) {
        bool by_itself = vls_process_has_ended(&talk->process);

        vls_process_end(&talk->process, talk->env, grace_ms);
        status = vls_process_reap(&talk->process);
        if (!by_itself)
            vls_mark_hunt(&talk->mark);
        vls_process_hear(&talk->process);
    }
    talk->process.said = vls_fd_close(talk->process.said);
    talk->life = vls_fd_close(talk->life); /* behind the reaping: that is the kernel's turn */
    talk->process.pid = 0;
    return status;
}
