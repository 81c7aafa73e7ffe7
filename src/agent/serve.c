/* serve.c -- the far side: lines in, lines out, as one agent. Nothing but answers is written. */
#include <valise/agent.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "agent/protocol.h"
#include "base/fd.h"
#include "base/str.h"
#include "bus/command.h"

#define WAIT_MS 200 /* between two looks at whether to go on */

typedef struct serving {
    valise *v;
    valise_str agent;
    int in, out;
    valise_progress progress;
    vls_buf line;   /* what was read of one */
    vls_buf answer; /* to it */
    bool too_long;  /* the rest of it is dropped */
} serving;

static void vls_auto_serving(serving *s)
{
    vls_buf_release(&s->line);
    vls_buf_release(&s->answer);
}

static bool is_blank(valise_str line)
{
    return vls_str_trim(line).len == 0;
}

static int ask_whether_to_go_on(const serving *s, valise_error *err)
{
    const valise_progress_state state = {.stage = "serve", .unit = "questions"};

    if (s->progress.fn && s->progress.fn(s->progress.arg, &state) != 0)
        return vls_fail(err, VALISE_E_CANCELLED, "cancelled");
    return 0;
}

/* write(2), but nobody's default action for SIGPIPE ends the host: where nobody reads any more it
 * is EPIPE. One that is pending already is somebody else's. */
static ssize_t write_quietly(int fd, valise_str bytes)
{
    const struct timespec now = {0};
    sigset_t pipe, before, pending;
    ssize_t done;
    int why;

    (void)sigemptyset(&pipe);
    (void)sigaddset(&pipe, SIGPIPE);
    (void)sigemptyset(&pending);
    (void)sigpending(&pending);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
    done = write(fd, bytes.ptr, bytes.len);
    why = errno;
    if (done < 0 && why == EPIPE && !sigismember(&pending, SIGPIPE))
        (void)sigtimedwait(&pipe, NULL, &now);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return done;
}

/* The descriptor may be one that does not wait. */
static int send_answer(const serving *s, valise_error *err)
{
    valise_str rest = vls_buf_str(&s->answer);
    int rc = 0;

    while (rc == 0 && rest.len > 0) {
        struct pollfd fd = {.fd = s->out, .events = POLLOUT};
        ssize_t done = write_quietly(s->out, rest);
        if (done > 0)
            rest = vls_str_from(rest, (size_t)done);
        else if (done < 0 && errno != EINTR && errno != EAGAIN)
            return vls_fail_errno(err, "cannot write", VLS_STR("an answer"));
        if (done < 0) {
            (void)poll(&fd, 1, WAIT_MS);
            rc = ask_whether_to_go_on(s, err);
        }
    }
    return rc;
}

/* The line is over. */
static int answer(serving *s, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = 0;

    vls_buf_clear(&s->answer);
    if (s->too_long) {
        (void)vls_fail(&why, VALISE_E_TOO_LARGE, "a question has at most %zu bytes",
                       VLS_AGENT_LINE_MAX);
        rc = vls_agent_answer_error(&s->answer, s->v->env, &why, err);
    } else if (!is_blank(vls_buf_str(&s->line))) {
        rc = vls_agent_answer(&s->answer, s->v, s->agent, vls_buf_str(&s->line), err);
    }
    s->too_long = false;
    vls_buf_clear(&s->line);
    return rc < 0 ? rc : send_answer(s, err);
}

static int take(serving *s, valise_str piece, valise_error *err)
{
    while (piece.len > 0) {
        const char *end = memchr(piece.ptr, '\n', piece.len);
        size_t len = end ? (size_t)(end - piece.ptr) : piece.len;
        int rc = 0;
        if (!s->too_long)
            vls_buf_add(&s->line, vls_str_head(piece, len));
        if (s->line.failed == VALISE_E_NO_MEMORY)
            return vls_fail_memory(err);
        if (s->line.failed) {
            s->too_long = true;
            vls_buf_release(&s->line);
            vls_buf_init(&s->line, s->v->env, VLS_AGENT_LINE_MAX);
        }
        if (end)
            rc = answer(s, err);
        if (rc < 0)
            return rc;
        piece = vls_str_from(piece, end ? len + 1 : len);
    }
    return 0;
}

static int serve(serving *s, valise_error *err)
{
    char room[65536];

    for (;;) {
        struct pollfd fd = {.fd = s->in, .events = POLLIN};
        int rc = ask_whether_to_go_on(s, err);
        ssize_t len;
        if (rc < 0)
            return rc;
        if (poll(&fd, 1, WAIT_MS) <= 0) /* a signal is a reason to ask again, too */
            continue;
        len = vls_fd_read(s->in, room, sizeof(room));
        if (len < 0 && errno == EAGAIN)
            continue;
        if (len < 0)
            return vls_fail_errno(err, "cannot read", VLS_STR("questions"));
        if (len == 0) /* the last one may have no newline */
            return s->line.len > 0 || s->too_long ? answer(s, err) : 0;
        rc = take(s, vls_str(room, (size_t)len), err);
        if (rc < 0)
            return rc;
    }
}

int valise_agent_serve(valise *v, const char *agent, int in, int out, const valise_call *call,
                       valise_error *err)
{
    VLS_AUTO(serving) serving s = {.v = v, .in = in, .out = out};
    valise_call how;
    int rc;

    VLS_ARG(v && agent && agent[0] && in >= 0 && out >= 0, err);
    rc = vls_call_read(&how, call, err);
    if (rc < 0)
        return rc;
    s.agent = valise_str_of(agent);
    s.progress = how.progress;
    vls_buf_init(&s.line, v->env, VLS_AGENT_LINE_MAX);
    vls_buf_init(&s.answer, v->env, VLS_AGENT_LINE_MAX + 1);
    return serve(&s, err);
}
