/* process.c -- the adapter that talks with a program: one question, one answer, a line each.
 *
 *     us                                         the program
 *     input   --- socket ------------------->    standard input      no SIGPIPE when it is gone
 *     output  <-- pipe ----------------------    standard output
 *     said    <-- pipe ----------------------    standard error      its last line is in messages
 *
 * Whoever does not keep to that is ended: what comes next over the pipe could belong to anything.
 * What ended it is what later calls are told. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/adapter.h"
#include "agent/protocol.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/sized.h"
#include "base/str.h"
#include "base/text.h"
#include "bus/command.h"

#define TIMEOUT_MS 60000
#define TIMEOUT_MAX_MS INT64_C(1000000000)
#define WAIT_MS 100
#define PATIENCE_MS 1000 /* with who may end by itself */

typedef struct talk {
    vls_agent agent; /* first */
    const valise_env *env;
    pthread_mutex_t lock; /* over all that follows */
    vls_process process;  /* pid 0: it was ended */
    int input, output;
    vls_buf answer; /* what came and was not asked for yet */
    int64_t timeout_ms, last_id;
    vls_text_brief name;
    char reason[sizeof(((valise_error *)NULL)->message)]; /* why it was ended */
} talk;

static int64_t now_ms(const talk *t)
{
    return t->env->ticks_ns(t->env->self) / 1000000;
}

/* ---- the end ---- */

/* Nothing of it stays. Returns its status, -1: nobody knows. */
static int end(talk *t)
{
    int status;

    t->input = vls_fd_close(t->input);
    t->output = vls_fd_close(t->output);
    if (t->process.pid == 0)
        return -1;
    vls_process_end(&t->process, t->env);
    status = vls_process_reap(&t->process);
    vls_process_hear(&t->process);
    t->process.said = vls_fd_close(t->process.said);
    t->process.pid = 0;
    return status;
}

/* Without its input and output it may end by itself. */
static void let_it_end(talk *t)
{
    int64_t end_ms = now_ms(t) + PATIENCE_MS;

    t->input = vls_fd_close(t->input);
    t->output = vls_fd_close(t->output);
    while (t->process.pid != 0 && !vls_process_has_ended(&t->process) && now_ms(t) < end_ms) {
        (void)poll(NULL, 0, 5);
        vls_process_hear(&t->process);
    }
}

static void close_talk(void *self)
{
    talk *t = self;

    let_it_end(t);
    (void)end(t);
    (void)vls_fd_close(t->process.said);
    vls_buf_release(&t->answer);
    (void)pthread_mutex_destroy(&t->lock);
    vls_mem_free(t->env, t, sizeof(*t));
}

/* It did not keep to what was agreed on. */
static int give_up(talk *t, int rc, const valise_error *why, valise_error *err)
{
    (void)end(t);
    vls_buf_release(&t->answer);
    (void)snprintf(t->reason, sizeof(t->reason), "%.*s", (int)sizeof(t->reason) - 1, why->message);
    if (err)
        *err = *why;
    return rc;
}

/* Its output has ended. */
static int fail_ended(talk *t, valise_error *err)
{
    VLS_AUTO(buf) vls_buf line = {0};
    int status, rc = 0;

    let_it_end(t);
    status = end(t);
    if (status != -1)
        rc = vls_process_judge(&t->process, status, t->name.s, t->env, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&line, t->env, 4096);
    vls_process_last_line(&line, &t->process);
    return vls_fail(err, VALISE_E_IO, "%s ended without an answer%s", t->name.s,
                    line.len > 0 && vls_buf_cstr(&line) ? line.ptr : "");
}

/* ---- one question ---- */

/* 1: there is a line now, and its length. */
static int read_answer(size_t *len, talk *t, valise_error *err)
{
    char room[VLS_PROCESS_PIECE];
    valise_str piece;
    const char *newline = t->answer.len ? memchr(t->answer.ptr, '\n', t->answer.len) : NULL;

    while (!newline && vls_process_read(&piece, room, &t->output)) {
        size_t before = t->answer.len;
        vls_buf_add(&t->answer, piece);
        if (t->answer.failed == VALISE_E_NO_MEMORY)
            return vls_fail_memory(err);
        if (t->answer.failed)
            return vls_fail(err, VALISE_E_TOO_LARGE, "%s answered over %zu bytes", t->name.s,
                            t->answer.max);
        newline = memchr(t->answer.ptr + before, '\n', t->answer.len - before);
    }
    if (newline)
        *len = (size_t)(newline - t->answer.ptr);
    return newline != NULL;
}

/* As much as goes now. Where nobody reads any more, its output tells. */
static void send_some(size_t *sent, talk *t, valise_str question)
{
    while (t->input >= 0 && *sent < question.len) {
        ssize_t n = send(t->input, question.ptr + *sent, question.len - *sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            t->input = vls_fd_close(t->input);
        if (n <= 0)
            return;
        *sent += (size_t)n;
    }
}

static void wait_a_little(const talk *t, bool sending, int64_t left_ms)
{
    struct pollfd fds[] = {{.fd = t->output, .events = POLLIN},
                           {.fd = t->process.said, .events = POLLIN},
                           {.fd = sending ? t->input : -1, .events = POLLOUT}};

    (void)poll(fds, VLS_COUNT(fds), (int)VLS_MIN(left_ms, WAIT_MS));
}

/* Ask, and wait for the line that answers. */
static int ask(size_t *len, talk *t, valise_str question, valise_error *err)
{
    int64_t end_ms = now_ms(t) + t->timeout_ms;
    size_t sent = 0;

    for (;;) {
        int64_t left_ms = end_ms - now_ms(t);
        int rc;
        send_some(&sent, t, question);
        rc = read_answer(len, t, err);
        vls_process_hear(&t->process);
        if (rc > 0 && sent < question.len)
            return vls_fail(err, VALISE_E_IO, "%s answered what it was not asked yet", t->name.s);
        if (rc != 0)
            return VLS_MIN(rc, 0);
        if (t->output < 0)
            return fail_ended(t, err);
        if (left_ms <= 0)
            return vls_fail(err, VALISE_E_LIMIT, "%s did not answer within %lld ms", t->name.s,
                            (long long)t->timeout_ms);
        wait_a_little(t, sent < question.len, left_ms);
    }
}

/* What stands behind the line is of the next one. */
static void drop_line(talk *t, size_t len)
{
    size_t rest = t->answer.len - len - 1;

    memmove(t->answer.ptr, t->answer.ptr + len + 1, rest);
    t->answer.len = rest;
}

static int exchange(talk *t, valise_str question, const valise_op *op, void *result, int64_t *seq,
                    vls_arena *arena, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    bool understood = false;
    size_t len = 0;
    int rc = ask(&len, t, question, &why);

    if (rc < 0)
        return give_up(t, rc, &why, err);
    rc = vls_agent_read(result, seq, &understood, arena, vls_str(t->answer.ptr, len), t->last_id,
                        op, &why);
    drop_line(t, len);
    if (rc == VALISE_E_IO && !understood) {
        valise_error told = VALISE_ERROR_INIT;
        (void)vls_fail(&told, rc, "%s: %.300s", t->name.s, why.message);
        return give_up(t, rc, &told, err);
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

static int converse(talk *t, const valise_op *op, const void *args, void *result, int64_t *seq,
                    vls_arena *arena, valise_str expect, valise_error *err)
{
    VLS_AUTO(buf) vls_buf question = {0};
    int rc;

    if (t->process.pid == 0) {
        (void)vls_fail(err, VALISE_E_IO, "%s was ended: %.300s", t->name.s, t->reason);
        vls_hint(err, "start it again: valise_agent_start");
        return VALISE_E_IO;
    }
    vls_buf_init(&question, t->env, VLS_AGENT_LINE_MAX);
    rc = vls_agent_ask(&question, t->last_id + 1, op, args, expect, err);
    if (rc < 0)
        return rc;
    t->last_id++;
    return exchange(t, vls_buf_str(&question), op, result, seq, arena, err);
}

/* What vls_run does, elsewhere. */
static int run(void *self, const valise_op *op, const void *args, void *result, vls_memory *memory,
               const valise_call *call, const vls_run_more *more, valise_error *err)
{
    talk *t = self;
    VLS_AUTO(memory) vls_memory own = {0};
    int64_t seq = 0;
    valise_call how;
    int rc = vls_call_read(&how, call, err);

    if (rc < 0)
        return rc;
    if (!memory)
        memory = &own;
    vls_arena_init(&memory->arena, t->env, VLS_VIEW_MAX_BYTES);
    rc = vls_fields_validate(args, op->in, &memory->arena, err);
    if (rc < 0)
        return rc;
    (void)pthread_mutex_lock(&t->lock);
    rc = converse(t, op, args, result, &seq, &memory->arena, how.expect, err);
    (void)pthread_mutex_unlock(&t->lock);
    if (rc == 0 && more && more->reply)
        more->reply->seq = seq;
    return rc;
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

/* posix_spawn takes words that it could write to, and does not. */
typedef union words {
    const char *const *given;
    char *const *taken;
} words;

static int spawn(talk *t, const valise_agent_process *o, const int fds[3], valise_error *err)
{
    const words argv = {.given = o->argv};
    int why = vls_process_spawn(&t->process, &(vls_process_start){.file = o->argv[0],
                                                                  .argv = argv.taken,
                                                                  .environment = environ,
                                                                  .folder = o->folder,
                                                                  .fds = fds,
                                                                  .count = 3});

    if (why == 0)
        return 0;
    if (why == ENOMEM)
        return vls_fail_memory(err);
    errno = why;
    (void)vls_fail_errno(err, "cannot run", valise_str_of(o->argv[0]));
    vls_hint(err, "give its path, or put its folder into PATH");
    if (err)
        err->code = VALISE_E_IO; /* whatever the reason: NOT_FOUND is what a search may answer */
    return VALISE_E_IO;
}

static int start(talk *t, const valise_agent_process *o, valise_error *err)
{
    int fds[3] = {-1, -1, -1};
    int rc = open_input(&t->input, &fds[0], err);

    if (rc == 0)
        rc = vls_process_pipe(&t->output, &fds[1], 1, err);
    if (rc == 0)
        rc = vls_process_pipe(&t->process.said, &fds[2], 1, err);
    if (rc == 0)
        rc = spawn(t, o, fds, err);
    for (size_t i = 0; i < VLS_COUNT(fds); i++)
        (void)vls_fd_close(fds[i]);
    return rc;
}

static int take_options(valise_agent_process *out, const valise_agent_process *given,
                        valise_error *err)
{
    int rc;

    *out = (valise_agent_process)VALISE_AGENT_PROCESS_INIT;
    rc = vls_sized_take(out, sizeof(*out), given, offsetof(valise_agent_process, folder),
                        "valise_agent_process", err);
    if (rc < 0)
        return rc;
    if (!out->argv || !out->argv[0] || !out->argv[0][0])
        return vls_fail(err, VALISE_E_INVALID, "valise_agent_process names no program");
    if (out->timeout_ms < 0 || out->max_bytes > VLS_AGENT_LINE_MAX)
        return vls_fail(err, VALISE_E_INVALID, "a limit of valise_agent_process makes no sense");
    if (out->timeout_ms == 0)
        out->timeout_ms = TIMEOUT_MS;
    out->timeout_ms = VLS_MIN(out->timeout_ms, TIMEOUT_MAX_MS);
    if (out->max_bytes == 0)
        out->max_bytes = VLS_AGENT_LINE_MAX;
    if (!out->env)
        out->env = valise_env_default();
    return 0;
}

/* What messages call it: its name without the folder. */
static vls_text_brief name_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return vls_text_short(valise_str_of(slash && slash[1] ? slash + 1 : file));
}

int valise_agent_start(valise_agent_adapter **out, const valise_agent_process *process,
                       valise_error *err)
{
    valise_agent_process o;
    talk *t;
    int rc;

    VLS_ARG(out && process, err);
    rc = take_options(&o, process, err);
    if (rc < 0)
        return rc;
    t = vls_mem_zalloc(o.env, sizeof(*t));
    if (!t)
        return vls_fail_memory(err);
    t->env = o.env;
    t->process = (vls_process)VLS_PROCESS_INIT;
    t->input = t->output = -1;
    t->timeout_ms = o.timeout_ms;
    t->name = name_of(o.argv[0]);
    vls_buf_init(&t->answer, o.env, o.max_bytes);
    (void)pthread_mutex_init(&t->lock, NULL);
    vls_agent_init(&t->agent, (vls_runner){o.env, run, t}, close_talk);
    rc = start(t, &o, err);
    if (rc < 0) {
        close_talk(t);
        return rc;
    }
    *out = &t->agent.table;
    return 0;
}
