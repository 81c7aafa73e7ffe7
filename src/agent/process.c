/* process.c -- the adapter that talks with a program: one question, one answer, a line each.
 *
 * Whoever does not keep to that is ended: what comes next over the pipe could belong to anything.
 * What ended it is what later calls are told. */
#include <pthread.h>
#include <unistd.h>

#include "agent/adapter.h"
#include "agent/protocol.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/str.h"
#include "base/talk.h"
#include "base/text.h"
#include "bus/command.h"

#define TIMEOUT_MS 60000
#define TIMEOUT_MAX_MS INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define WAIT_MS 100
#define PATIENCE_MS 1000 /* with who may end by itself */

typedef struct talk {
    vls_agent agent; /* first */
    const valise_env *env;
    pthread_mutex_t lock; /* over all that follows */
    vls_talk with;        /* nothing runs: it was ended */
    int64_t timeout_ms, last_id;
    vls_text_brief name;
    char reason[sizeof(((valise_error *)NULL)->message)]; /* why it was ended */
} talk;

static int64_t now_ms(const talk *t)
{
    return t->env->ticks_ns(t->env->self) / 1000000;
}

/* ---- the end ---- */

static void close_talk(void *self)
{
    talk *t = self;

    vls_talk_let_it_end(&t->with, PATIENCE_MS);
    (void)vls_talk_end(&t->with, VLS_PROCESS_GRACE_MS);
    vls_talk_release(&t->with);
    (void)pthread_mutex_destroy(&t->lock);
    vls_mem_free(t->env, t, sizeof(*t));
}

/* It did not keep to what was agreed on. */
static int give_up(talk *t, int rc, const valise_error *why, valise_error *err)
{
    (void)vls_talk_end(&t->with, VLS_PROCESS_GRACE_MS);
    vls_buf_release(&t->with.came);
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

    vls_talk_let_it_end(&t->with, PATIENCE_MS);
    status = vls_talk_end(&t->with, VLS_PROCESS_GRACE_MS);
    if (status != -1)
        rc = vls_process_judge(&t->with.process, status, t->name.s, t->env, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&line, t->env, 4096);
    vls_process_last_line(&line, &t->with.process);
    return vls_fail(err, VALISE_E_IO, "%s ended without an answer%s", t->name.s,
                    line.len > 0 && vls_buf_cstr(&line) ? line.ptr : "");
}

/* ---- one question ---- */

/* 1: there is a line now. */
static int read_answer(valise_str *answer, talk *t, valise_error *err)
{
    int rc = vls_talk_line(answer, &t->with);

    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    if (rc < 0)
        return vls_fail(err, VALISE_E_TOO_LARGE, "%s answered with more than %zu bytes", t->name.s,
                        t->with.max_line);
    return rc;
}

/* Ask, and wait for the line that answers. */
static int ask(valise_str *answer, talk *t, valise_str question, valise_error *err)
{
    int64_t end_ms = now_ms(t) + t->timeout_ms;
    size_t sent = 0;

    for (;;) {
        int64_t left_ms = end_ms - now_ms(t);
        int rc;
        vls_talk_send(&sent, &t->with, question);
        rc = read_answer(answer, t, err);
        if (rc > 0 && sent < question.len)
            return vls_fail(err, VALISE_E_IO, "%s sent an answer before it was asked", t->name.s);
        if (rc != 0)
            return vls_settle(rc);
        if (t->with.output < 0)
            return fail_ended(t, err);
        if (left_ms <= 0)
            return vls_fail(err, VALISE_E_LIMIT, "%s did not answer within %lld ms", t->name.s,
                            (long long)t->timeout_ms);
        vls_talk_wait(&t->with, sent < question.len, VLS_MIN(left_ms, WAIT_MS));
    }
}

static int exchange(talk *t, valise_str question, const valise_op *op, void *result, int64_t *seq,
                    vls_arena *arena, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    bool understood = false;
    valise_str answer = {NULL, 0};
    int rc = ask(&answer, t, question, &why);

    if (rc < 0)
        return give_up(t, rc, &why, err);
    rc = vls_agent_read(result, seq, &understood, arena, answer, t->last_id, op, &why);
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

    if (t->with.process.pid == 0) {
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

/* posix_spawn takes words that it could write to, and does not. */
typedef union words {
    const char *const *given;
    char *const *taken;
} words;

static int start(talk *t, const valise_agent_process *o, valise_error *err)
{
    const words argv = {.given = o->argv};

    return vls_talk_start(
        &t->with,
        &(vls_process_start){
            .file = o->argv[0], .argv = argv.taken, .environment = environ, .folder = o->folder},
        false, o->argv[0], err);
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
    if (out->timeout_ns < 0 || out->max_bytes > VLS_AGENT_LINE_MAX)
        return vls_fail(err, VALISE_E_INVALID,
                        "timeout_ns must not be below 0, nor max_bytes over %zu",
                        (size_t)VLS_AGENT_LINE_MAX);
    if (out->timeout_ns == 0)
        out->timeout_ns = TIMEOUT_MS * NS_PER_MS;
    if (out->max_bytes == 0)
        out->max_bytes = VLS_AGENT_LINE_MAX;
    if (!out->env)
        out->env = valise_env_default();
    return vls_env_check(out->env, err);
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
    t->timeout_ms =
        VLS_MIN(o.timeout_ns / NS_PER_MS + (o.timeout_ns % NS_PER_MS > 0), TIMEOUT_MAX_MS);
    t->name = name_of(o.argv[0]);
    vls_talk_init(&t->with, o.env, o.max_bytes);
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
