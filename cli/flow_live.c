/* flow_live.c -- see flow_live.h: events in, a thread that redraws, one JSON line each. */
#include "cli/flow_live.h"

#include <time.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/time.h"
#include "field/field.h"

#define DRAW_EVERY_NS INT64_C(60000000)
#define TURN_NS INT64_C(120000000) /* when nothing comes, so often */
#define TEXT_MAX_BYTES ((size_t)1 << 20)
#define PAYLOAD_MAX_BYTES ((size_t)64 << 20)

/* ---- JSON ---- */

typedef struct event_line {
    valise_uuid id;
    int64_t time;
    valise_str type, node_id, name_space, run_id, payload;
} event_line;

/* As `valise events --json` has them; a live event has no place in the log. */
static const valise_field event_fields[] = {
    VALISE_FIELD(event_line, id, UUID, VALISE_REQUIRED, "The event's id."),
    VALISE_FIELD(event_line, time, TIME, VALISE_REQUIRED, "When it happened."),
    VALISE_FIELD(event_line, type, STR, VALISE_REQUIRED, "What happened, such as flow:NODE_END."),
    VALISE_FIELD_AS(event_line, run_id, "runId", STR, 0, "The run it belongs to."),
    VALISE_FIELD_AS(event_line, node_id, "nodeId", STR, 0, "The node it is about."),
    VALISE_FIELD_AS(event_line, name_space, "namespace", STR, 0, "Where that node stands."),
    VALISE_FIELD(event_line, payload, JSON, VALISE_REQUIRED, "The rest, by its type."),
    VALISE_FIELD_END,
};
const valise_field *const cli_flow_lines[] = {event_fields, NULL};

static int add_json(cli_flow_live *live, const valise_event *event, valise_error *err)
{
    const event_line line = {.id = event->id,
                             .time = event->time,
                             .type = event->type,
                             .run_id = event->run_id,
                             .node_id = event->node_id,
                             .name_space = event->namespace_name,
                             .payload = event->payload};
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, live->c->env, PAYLOAD_MAX_BYTES);
    rc = vls_fields_write(&text, &line, event_fields, VLS_FIELD_INPUT, 0, err);
    if (rc == 0)
        rc = vls_buf_check(&text, err);
    if (rc < 0)
        return rc;
    cli_add_data(live->c->out, vls_buf_str(&text), 0);
    vls_buf_add_byte(&live->c->out->text, '\n');
    live->stale = true;
    return 0;
}

/* ---- events ---- */

static int take(cli_flow_live *live, valise_str type, const valise_event *event, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json payload = vls_json_null();
    int rc;

    vls_arena_init(&arena, live->c->env, PAYLOAD_MAX_BYTES);
    rc = vls_json_parse(&payload, &arena, event->payload, NULL, err);
    if (rc == 0)
        cli_flow_take(live, type, event, payload);
    return rc < 0 ? rc : live->failed;
}

/* Many may come at once: not each is worth a picture of its own. */
static void draw_if_due(cli_flow_live *live, int64_t every_ns)
{
    const valise_env *env = live->c->env;

    if (live->stale && env->ticks_ns(env->self) - live->wrote_ns >= every_ns)
        cli_flow_draw(live);
}

int cli_flow_live_event(void *arg, const valise_event *event, valise_error *err)
{
    static const valise_str area = {"flow:", 5};
    cli_flow_live *live = arg;
    int rc = 0;

    /* What is in the log is of the commands that record the run. */
    if (event->seq != 0 || !vls_str_starts(event->type, area))
        return 0;
    (void)pthread_mutex_lock(&live->lock);
    if (live->json)
        rc = add_json(live, event, err);
    else if (!live->over)
        rc = take(live, vls_str_from(event->type, area.len), event, err);
    draw_if_due(live, DRAW_EVERY_NS);
    (void)pthread_mutex_unlock(&live->lock);
    return rc;
}

/* ---- the thread ---- */

static void *tick(void *arg)
{
    cli_flow_live *live = arg;

    (void)pthread_mutex_lock(&live->lock);
    while (!live->over) {
        struct timespec until;

        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TURN_NS;
        if (until.tv_nsec >= VLS_NS_PER_SECOND) {
            until.tv_nsec -= VLS_NS_PER_SECOND;
            until.tv_sec++;
        }
        (void)pthread_cond_timedwait(&live->wake, &live->lock, &until);
        live->turns++;
        if (live->moves && live->open.len > 0)
            live->stale = true;
        if (!live->over)
            draw_if_due(live, DRAW_EVERY_NS);
    }
    (void)pthread_mutex_unlock(&live->lock);
    return NULL;
}

/* ---- all of it ---- */

/* Lines are moved as all terminals do it but the dumbest. */
static bool can_move(const cli *c)
{
    const char *term = getenv("TERM");

    return c->out->terminal && !c->options.json && term && term[0] && strcmp(term, "dumb") != 0;
}

int cli_flow_live_begin(cli_flow_live *live, cli *c, valise_error *err)
{
    vls_buf *const texts[] = {&live->last, &live->backpack, &live->run, &live->status};
    pthread_condattr_t attr;

    *live = (cli_flow_live){.c = c, .json = c->options.json, .moves = can_move(c)};
    for (size_t i = 0; i < VLS_COUNT(texts); i++)
        vls_buf_init(texts[i], c->env, TEXT_MAX_BYTES);
    live->start_ns = c->env->ticks_ns(c->env->self);
    if (pthread_mutex_init(&live->lock, NULL) != 0)
        return vls_fail_memory(err);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&live->wake, &attr);
    (void)pthread_condattr_destroy(&attr);
    /* Without this thread lines are only late. */
    live->ticks = vls_thread_start(&live->ticker, tick, live) == 0;
    return 0;
}

void cli_flow_live_end(cli_flow_live *live)
{
    (void)pthread_mutex_lock(&live->lock);
    if (!live->json)
        cli_flow_close_below(live, VLS_STR(""));
    live->over = true;
    cli_flow_draw(live);
    (void)pthread_cond_signal(&live->wake);
    (void)pthread_mutex_unlock(&live->lock);
    if (live->ticks)
        (void)pthread_join(live->ticker, NULL);
    live->ticks = false;
}

void cli_flow_live_release(cli_flow_live *live)
{
    assert(live->open.len == 0); /* the end has told of each */
    vls_vec_release(&live->open, live->c->env);
    vls_vec_release(&live->drawn, live->c->env);
    vls_buf_release(&live->last);
    vls_buf_release(&live->backpack);
    vls_buf_release(&live->run);
    vls_buf_release(&live->status);
    (void)pthread_cond_destroy(&live->wake);
    (void)pthread_mutex_destroy(&live->lock);
}
