/* mcp.c -- a server: started, asked, given up, ended. See mcp.h. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/mem.h"
#include "base/talk.h"
#include "base/utf8.h"
#include "json/make.h"
#include "tool/mcp.h"

#define LOOK_MS 100
#define LATE_MAX 2
#define PATIENCE_MS 1000  /* with who may end by itself */
#define STRANGE_MAX 1000u /* lines that are no messages, between a question and its answer */
#define REPLIES_MAX ((size_t)64 << 10) /* who asks and does not read is not answered */
#define REPLY_ID_MAX 256u
#define OUT_MAX (2 * VLS_TOOL_INPUT_MAX)
#define MEMORY_PER_BYTE                                                                            \
    64u /* "[0,0,..." takes sixteen bytes for two, and as much while it is built */

struct vls_mcp {
    const valise_env *env;
    vls_text_brief name;
    const vls_tool_start *start;
    pthread_mutex_t lock; /* over this: */
    pthread_cond_t freed;
    bool busy;  /* all that follows is of whoever has it */
    bool ready; /* it was greeted */
    vls_talk talk;
    vls_buf out; /* what goes to it */
    size_t sent; /* ... and went */
    int64_t last_id;
    int late;           /* questions in a row that it did not answer in time */
    size_t strange;     /* since the last question */
    vls_text_brief odd; /* the first of them */
    vls_arena scratch;  /* of one message */
};

static int64_t now_ns(const vls_mcp *m)
{
    return m->env->ticks_ns(m->env->self);
}

/* ---- being one ---- */

int vls_mcp_new(vls_mcp **out, const valise_env *env, valise_str name, const vls_tool_start *start,
                valise_error *err)
{
    vls_mcp *m = vls_mem_zalloc(env, sizeof(*m));
    pthread_condattr_t attr;

    if (!m)
        return vls_fail_memory(err);
    m->env = env;
    m->name = vls_text_short(name);
    m->start = start;
    vls_talk_init(&m->talk, env, start->max_bytes);
    vls_buf_init(&m->out, env, OUT_MAX);
    vls_arena_init(&m->scratch, env, start->max_bytes * MEMORY_PER_BYTE);
    (void)pthread_mutex_init(&m->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&m->freed, &attr);
    (void)pthread_condattr_destroy(&attr);
    *out = m;
    return 0;
}

valise_str vls_mcp_called(const vls_mcp *mcp)
{
    return valise_str_of(mcp->name.s);
}

void vls_mcp_hang_up(vls_mcp *mcp)
{
    vls_talk_let_it_end(&mcp->talk, 0);
}

static void end(vls_mcp *m)
{
    (void)vls_talk_end(&m->talk, VLS_TOOL_GRACE_MS);
    m->ready = false;
}

void vls_mcp_free(vls_mcp *mcp)
{
    if (!mcp)
        return;
    vls_talk_let_it_end(&mcp->talk, PATIENCE_MS);
    (void)vls_talk_end(&mcp->talk, VLS_PROCESS_GRACE_MS);
    vls_talk_release(&mcp->talk);
    vls_buf_release(&mcp->out);
    vls_arena_release(&mcp->scratch);
    (void)pthread_cond_destroy(&mcp->freed);
    (void)pthread_mutex_destroy(&mcp->lock);
    vls_mem_free(mcp->env, mcp, sizeof(*mcp));
}

/* ---- waiting ---- */

/* Ten times a second, whatever else there is to do. */
static int look(const vls_mcp *m, vls_mcp_wait *wait, valise_error *err)
{
    int rc;

    if (!wait->look || now_ns(m) - wait->looked_ns < LOOK_MS * INT64_C(1000000))
        return 0;
    wait->looked_ns = now_ns(m);
    rc = wait->look(wait->arg, err);
    wait->given_up = rc < 0;
    return vls_settle(rc);
}

static void wait_for_others(vls_mcp *m)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_cond_timedwait(&m->freed, &m->lock, &until);
}

/* ---- writing ---- */

/* What went is of no use any more. */
static void drop_sent(vls_mcp *m)
{
    size_t rest = m->out.len - m->sent;

    if (rest > 0 && m->sent > 0)
        memmove(m->out.ptr, m->out.ptr + m->sent, rest);
    m->out.len = rest;
    m->sent = 0;
}

/* What was added since then goes out again if that failed: a message goes in whole, or not at all.
 */
static int settle_message(vls_mcp *m, size_t before, int rc, valise_error *err)
{
    if (rc == 0)
        rc = vls_buf_check(&m->out, err);
    if (rc < 0) {
        m->out.len = before;
        m->out.failed = 0;
    }
    return rc;
}

/* {"id":7,"jsonrpc":"2.0","method":"tools/list","params":{...}}; id 0: a notification. */
static int write_message(vls_mcp *m, int64_t id, const char *method, vls_json params,
                         valise_error *err)
{
    size_t before;
    int rc = 0;

    drop_sent(m);
    before = m->out.len;
    vls_buf_add_byte(&m->out, '{');
    if (id > 0)
        vls_buf_printf(&m->out, "\"id\":%lld,", (long long)id);
    vls_buf_printf(&m->out, "\"jsonrpc\":\"2.0\",\"method\":\"%s\"", method);
    if (params.type != VLS_JSON_NULL) {
        vls_buf_add(&m->out, VLS_STR(",\"params\":"));
        rc = vls_json_write_around(&m->out, params, err);
    }
    vls_buf_add(&m->out, VLS_STR("}\n"));
    return settle_message(m, before, rc, err);
}

/* It asks us something. */
static int reply(vls_mcp *m, const vls_mcp_message *asked, valise_error *err)
{
    bool ping = vls_str_equal(asked->method, VLS_STR("ping"));
    size_t before;
    int rc;

    drop_sent(m);
    before = m->out.len;
    if (before > REPLIES_MAX ||
        (asked->asked_id.type == VLS_JSON_STRING && asked->asked_id.len > REPLY_ID_MAX))
        return 0;
    vls_buf_add(&m->out, VLS_STR("{\"id\":"));
    rc = vls_json_write(&m->out, asked->asked_id, err);
    vls_buf_add_text(&m->out, ping
                                  ? ",\"jsonrpc\":\"2.0\",\"result\":{}}\n"
                                  : ",\"error\":{\"code\":-32601,\"message\":\"method not found\"},"
                                    "\"jsonrpc\":\"2.0\"}\n");
    return settle_message(m, before, rc, err);
}

static void send_some(vls_mcp *m)
{
    vls_talk_send(&m->sent, &m->talk, vls_buf_str(&m->out));
}

/* Nobody waits for it any more. That the notice is lost where there is no memory does not matter:
 * the answer is passed over. */
static void cancel(vls_mcp *m, int64_t id, const char *why)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json params;

    vls_arena_init(&arena, m->env, 4096);
    if (VLS_PAIRS(&params, &arena, NULL, {"reason", vls_json_string(valise_str_of(why)), false},
                  {"requestId", vls_json_int(id), false}) < 0)
        return;
    if (write_message(m, 0, "notifications/cancelled", params, NULL) == 0)
        send_some(m);
}

/* ---- reading ---- */

/* What is waited for, and what came. */
typedef struct asking {
    int64_t id;
    vls_mcp_wait *wait;
    vls_arena *arena;
    vls_json *out;
} asking;

/* 1: that is the answer. */
static int take_message(vls_mcp *m, const asking *a, vls_json value, valise_error *err)
{
    vls_mcp_message message = vls_mcp_message_of(value);
    int rc;

    switch (message.kind) {
    case VLS_MCP_REQUEST:
        return reply(m, &message, err);
    case VLS_MCP_ERROR:
        if (message.id != 0 && message.id != a->id)
            return 0;
        m->late = 0;
        return vls_mcp_fail_remote(message.body, vls_mcp_called(m), err);
    case VLS_MCP_RESULT:
        if (message.id != a->id)
            return 0;
        m->late = 0;
        rc = vls_json_copy(a->out, a->arena, message.body, err);
        return rc < 0 ? rc : 1;
    case VLS_MCP_STRANGE:
        m->strange++;
        break;
    case VLS_MCP_PASSED:
        break;
    }
    return 0;
}

static int take_line(vls_mcp *m, const asking *a, valise_str line, valise_error *err)
{
    const vls_json_limits limits = {.max_bytes = m->start->max_bytes,
                                    .around = VLS_MCP_AROUND,
                                    .flags = VLS_JSON_LAST_KEY_WINS};
    size_t strange = m->strange;
    vls_json value;
    int rc;

    if (vls_str_trim(line).len == 0)
        return 0;
    vls_arena_reset(&m->scratch);
    rc = vls_json_parse(&value, &m->scratch, line, &limits, err);
    if (rc == VALISE_E_NO_MEMORY)
        return rc;
    if (rc < 0) {
        m->strange++;
        rc = 0;
    } else if (value.type == VLS_JSON_ARRAY) { /* several in one: version 2025-03-26 has that */
        for (uint32_t i = 0; rc == 0 && i < value.len; i++)
            rc = take_message(m, a, value.items[i], err);
    } else {
        rc = take_message(m, a, value, err);
    }
    if (strange == 0 && m->strange > 0)
        m->odd = vls_text_short(line);
    return rc;
}

/* All that is there; 1: the answer was. */
static int take_lines(vls_mcp *m, const asking *a, valise_error *err)
{
    valise_str line;
    int rc, came;

    while ((came = vls_talk_line(&line, &m->talk)) > 0) {
        rc = take_line(m, a, line, err);
        if (rc != 0)
            return rc;
        if (m->strange > STRANGE_MAX || now_ns(m) >= a->wait->end_ns)
            return 0;
        rc = look(m, a->wait, err);
        if (rc < 0)
            return rc;
    }
    if (came == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    if (came < 0)
        return vls_fail(err, VALISE_E_TOO_LARGE, "%s answered with more than %zu bytes", m->name.s,
                        m->start->max_bytes);
    return 0;
}

/* ---- asking ---- */

static int fail_ended(vls_mcp *m, valise_error *err)
{
    VLS_AUTO(buf) vls_buf line = {0};
    bool by_itself;
    int status, rc = 0;

    vls_talk_let_it_end(&m->talk, VLS_TOOL_GRACE_MS);
    by_itself = m->talk.process.pid == 0 || vls_process_has_ended(&m->talk.process);
    status = vls_talk_end(&m->talk, VLS_TOOL_GRACE_MS);
    m->ready = false;
    if (status != -1 && by_itself) /* else that was us */
        rc = vls_process_judge(&m->talk.process, status, m->name.s, m->env, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&line, m->env, 4096);
    vls_process_last_line(&line, &m->talk.process);
    return vls_fail(err, VALISE_E_IO, "%s %s without an answer%s", m->name.s,
                    by_itself ? "ended" : "closed its output",
                    line.len > 0 && vls_buf_cstr(&line) ? line.ptr : "");
}

static int fail_strange(vls_mcp *m, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_IO, "%s does not speak MCP; it wrote: %s", m->name.s, m->odd.s);
    vls_hint(err, "a server must write its log to standard error");
    end(m);
    return VALISE_E_IO;
}

static int fail_late(vls_mcp *m, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_LIMIT, "%s did not answer within %lld ms%s%s", m->name.s,
                   (long long)m->start->timeout_ms, m->strange ? ", but wrote: " : "",
                   m->strange ? m->odd.s : "");
    /* A line that has no end, or twice nothing: it hangs. */
    if (m->talk.skipping || ++m->late == LATE_MAX)
        end(m);
    return VALISE_E_LIMIT;
}

static int wait_for_answer(vls_mcp *m, const asking *a, valise_error *err)
{
    for (;;) {
        int64_t left_ms;
        int rc;
        send_some(m);
        rc = take_lines(m, a, err);
        if (rc != 0)
            return vls_settle(rc);
        left_ms = (a->wait->end_ns - now_ns(m)) / 1000000;
        if (m->strange > STRANGE_MAX)
            return fail_strange(m, err);
        if (m->talk.output < 0)
            return fail_ended(m, err);
        if (left_ms <= 0)
            return fail_late(m, err);
        rc = look(m, a->wait, err);
        if (rc < 0)
            return rc;
        vls_talk_wait(&m->talk, m->sent < m->out.len, VLS_MIN(left_ms, LOOK_MS));
    }
}

int vls_mcp_ask(vls_json *out, vls_arena *arena, vls_mcp *mcp, const char *method, vls_json params,
                vls_mcp_wait *wait, valise_error *err)
{
    const asking a = {.id = mcp->last_id + 1, .wait = wait, .arena = arena, .out = out};
    bool heard = mcp->sent == mcp->out.len;
    int rc = write_message(mcp, a.id, method, params, err);

    if (rc == VALISE_E_TOO_LARGE && !heard) {
        end(mcp);
        return vls_fail(err, VALISE_E_IO, "%s does not read its requests", mcp->name.s);
    }
    if (rc < 0)
        return rc;
    mcp->last_id = a.id;
    mcp->strange = 0;
    rc = wait_for_answer(mcp, &a, err);
    if (rc < 0 && rc != VALISE_E_REMOTE && mcp->ready)
        cancel(mcp, a.id, wait->given_up ? "the caller gave up" : valise_error_text(rc));
    return rc;
}

/* ---- being had ---- */

static int greet(vls_mcp *m, vls_mcp_wait *wait, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_error why = VALISE_ERROR_INIT;
    vls_json info, nothing, params, hello = vls_json_null();
    int rc;

    vls_arena_init(&arena, m->env, m->scratch.max);
    rc = VLS_PAIRS(&info, &arena, err, {"name", vls_json_string(VLS_STR("valise")), false},
                   {"version", vls_json_string(valise_str_of(valise_version())), false});
    if (rc == 0)
        rc = vls_json_object(&nothing, NULL, 0, err);
    if (rc == 0)
        rc = VLS_PAIRS(&params, &arena, err, {"capabilities", nothing, false},
                       {"clientInfo", info, false},
                       {"protocolVersion", vls_json_string(VLS_STR(VLS_MCP_VERSION)), false});
    if (rc == 0)
        rc = vls_mcp_ask(&hello, &arena, m, "initialize", params, wait, err);
    if (rc < 0)
        return rc;
    rc = vls_mcp_take_hello(hello, &why);
    if (rc < 0)
        return vls_fail(err, rc, "%s cannot be used: %.300s", m->name.s, why.message);
    return write_message(m, 0, "notifications/initialized", vls_json_null(), err);
}

/* What was left of the last one is of no use to this one. */
static int start(vls_mcp *m, vls_mcp_wait *wait, valise_error *err)
{
    const vls_process_start how = {.file = m->start->argv[0],
                                   .argv = m->start->argv,
                                   .environment = m->start->environment,
                                   .folder = m->start->folder,
                                   .marked = true};
    int rc;

    vls_buf_clear(&m->out);
    m->sent = 0;
    m->late = 0;
    rc = vls_tool_start_may(m->start, err);
    if (rc < 0)
        return rc;
    rc = vls_talk_start(&m->talk, &how, true, m->name.s, err);
    if (rc == 0)
        rc = greet(m, wait, err);
    if (rc < 0) {
        end(m);
        return rc;
    }
    m->ready = true;
    return 0;
}

int vls_mcp_acquire(vls_mcp *mcp, vls_mcp_wait *wait, valise_error *err)
{
    int rc = 0;

    (void)pthread_mutex_lock(&mcp->lock);
    while (mcp->busy && rc == 0) {
        wait_for_others(mcp);
        (void)pthread_mutex_unlock(&mcp->lock);
        rc = look(mcp, wait, err);
        (void)pthread_mutex_lock(&mcp->lock);
    }
    if (rc == 0)
        mcp->busy = true;
    (void)pthread_mutex_unlock(&mcp->lock);
    if (rc < 0)
        return rc;
    wait->end_ns = now_ns(mcp) + mcp->start->timeout_ms * INT64_C(1000000);
    if (mcp->ready && vls_process_has_ended(&mcp->talk.process))
        end(mcp);
    if (!mcp->ready)
        rc = start(mcp, wait, err);
    if (rc < 0)
        vls_mcp_release(mcp);
    return rc;
}

void vls_mcp_release(vls_mcp *mcp)
{
    (void)pthread_mutex_lock(&mcp->lock);
    mcp->busy = false;
    (void)pthread_cond_signal(&mcp->freed);
    (void)pthread_mutex_unlock(&mcp->lock);
}
