/* subscribe.c -- valise/event.h: subscriptions, their queues, and live events. */
#include <errno.h>
#include <time.h>

#include "bus/follow.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "bus/sight.h"

/* ---- a new one ---- */

static int make_ring(valise_subscription *s, uint32_t max, valise_error *err)
{
    if (max == 0)
        return 0;
    s->ring = vls_mem_alloc(s->feed->v->env, max * sizeof(*s->ring)); /* VLS_QUEUE_MAX at most */
    if (!s->ring)
        return vls_fail_memory(err);
    s->ring_max = max;
    return 0;
}

static void init_cond(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(cond, &attr);
    (void)pthread_condattr_destroy(&attr);
}

static int new_subscription(valise_subscription **out, vls_feed *feed, const valise_filter *filter,
                            valise_str actor, uint32_t ring_max, valise_error *err)
{
    valise_subscription *s = vls_mem_zalloc(feed->v->env, sizeof(*s));
    int rc;

    if (!s)
        return vls_fail_memory(err);
    s->feed = feed;
    s->refs = 1;
    init_cond(&s->came);
    vls_arena_init(&s->arena, feed->v->env, VLS_VIEW_MAX_BYTES);
    rc = vls_filter_copy(&s->filter, filter, &s->arena, err);
    if (rc == 0)
        rc = vls_arena_dup(&s->actor, &s->arena, actor.len ? actor : feed->v->actor, err);
    if (rc == 0)
        rc = make_ring(s, ring_max, err);
    if (rc < 0) {
        vls_subscription_unref(s);
        return rc;
    }
    *out = s;
    return 0;
}

/* From here on it is served. */
static void attach(valise_subscription *s)
{
    vls_feed *feed = s->feed;

    vls_feed_hold(feed);
    s->next = feed->first;
    if (s->next)
        s->next->prev = s;
    feed->first = s;
    if (s->live)
        atomic_fetch_add_explicit(&feed->listeners, 1, memory_order_relaxed);
    vls_feed_drop(feed);
    vls_feed_publish(feed);
}

/* ---- where to begin ---- */

static int fail_expired(int64_t since, int64_t base, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_LIMIT, "the log no longer has the events of seq %lld",
                   (long long)since);
    vls_hint(err, "the oldest seq is %lld: start there, and read the state for what was before",
             (long long)base + 1);
    return VALISE_E_LIMIT;
}

/* Check that the actor may listen at all, and find the place to begin. */
static int find_place(valise_subscription *s, const valise_cursor *since, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    valise *v = s->feed->v;
    int rc = vls_txn_begin(&txn, v->store, VALISE_TXN_READ, err);

    if (rc < 0)
        return rc;
    vls_view_init(&view, &txn, v->env);
    rc = v->access.allows(v->access.self, &view, s->actor, "event:read", NULL, err);
    if (rc < 0)
        return rc;
    s->place = since ? *since : (valise_cursor){txn.tip.seq + 1, 0};
    if (s->place.seq <= 0)
        s->place = (valise_cursor){1, 0};
    return s->place.seq <= txn.tip.base_seq ? fail_expired(s->place.seq, txn.tip.base_seq, err) : 0;
}

int valise_subscribe(valise_subscription **out, valise *v, const valise_follow *follow,
                     valise_error *err)
{
    valise_follow how = {0};
    valise_subscription *s = NULL;
    vls_feed *feed;
    int rc;

    VLS_ARG(out && v && follow && follow->size >= sizeof(size_t), err);
    memcpy(&how, follow, VLS_MIN(follow->size, sizeof(how)));
    if (how.queue_max == 0 && !how.fn)
        return vls_fail(err, VALISE_E_INVALID,
                        "events go nowhere: valise_follow has neither fn nor queue_max");
    if (how.queue_max > VLS_QUEUE_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "a queue holds at most %u events", VLS_QUEUE_MAX);
    rc = vls_feed_need(&feed, v, err);
    if (rc == 0)
        rc = vls_filter_check(&how.filter, err);
    if (rc == 0)
        rc = new_subscription(&s, feed, &how.filter, how.actor,
                              how.queue_max ? how.queue_max
                              : how.live    ? VLS_LIVE_QUEUE
                                            : 0,
                              err);
    if (rc < 0)
        return rc;
    assert(s);
    s->queued = how.queue_max > 0;
    s->replaying = s->queued && how.since;
    s->live = how.live;
    s->lossless = how.live && how.lossless && !s->queued;
    s->fn = how.fn;
    s->arg = how.arg;
    rc = find_place(s, how.since, err);
    if (rc < 0) {
        vls_subscription_unref(s);
        return rc;
    }
    *out = s;
    attach(s);
    return 0;
}

void valise_unsubscribe(valise_subscription *s)
{
    vls_feed *feed;

    if (!s)
        return;
    feed = s->feed;
    vls_feed_hold(feed);
    vls_subscription_detach(s);
    /* From inside a callback nobody waits: two of them might wait for each other. */
    while (s->busy && !vls_feed_is_serving(feed))
        (void)pthread_cond_wait(&feed->idle, &feed->lock);
    vls_subscription_unref(s);
    vls_feed_drop(feed);
}

void valise_subscription_losses(uint64_t *dropped, uint64_t *failed, valise_subscription *s)
{
    vls_feed_hold(s->feed);
    if (dropped)
        *dropped = s->dropped;
    if (failed)
        *failed = s->failed;
    vls_feed_drop(s->feed);
}

/* ---- queues ---- */

static struct timespec deadline_after(int64_t ns)
{
    struct timespec at = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    if (ns > VLS_NS_PER_SECOND * 86400 * 365)
        ns = VLS_NS_PER_SECOND * 86400 * 365;
    at.tv_sec += ns / VLS_NS_PER_SECOND;
    at.tv_nsec += ns % VLS_NS_PER_SECOND;
    if (at.tv_nsec >= VLS_NS_PER_SECOND) {
        at.tv_sec++;
        at.tv_nsec -= VLS_NS_PER_SECOND;
    }
    return at;
}

/* Wait until something is queued: 1; 0 when the time is over. Lock held. */
static int wait_for_note(valise_subscription *s, const struct timespec *deadline, valise_error *err)
{
    vls_subscription_refresh(s);
    while (s->ring_len == 0) {
        int rc;
        if (s->replaying) {
            rc = vls_subscription_fetch(s, err);
            if (rc < 0)
                return rc;
        } else if (pthread_cond_timedwait(&s->came, &s->feed->lock, deadline) == ETIMEDOUT) {
            return s->ring_len > 0;
        }
    }
    return 1;
}

/* Log events were checked when they were queued. */
static int sees_note(bool *out, valise_subscription *s, const vls_note *note, valise_error *err)
{
    *out = true;
    return note->events->seq > 0
               ? 0
               : vls_subscription_sees(out, s, &note->events->events[note->at], err);
}

int valise_subscription_next(const valise_event **out, valise_subscription *s, int64_t timeout_ns,
                             valise_error *err)
{
    struct timespec deadline;
    bool sees = false;
    int rc = 1;

    VLS_ARG(out && s && s->queued, err);
    deadline = deadline_after(VLS_MAX(timeout_ns, 0));
    while (rc > 0 && !sees) {
        vls_note note = {0};
        vls_feed_hold(s->feed);
        vls_events_unref(s->current);
        s->current = NULL;
        rc = wait_for_note(s, &deadline, err);
        if (rc > 0) {
            note = vls_subscription_pop(s);
            s->current = note.events;
        }
        vls_feed_drop(s->feed);
        if (rc <= 0)
            return rc;
        rc = sees_note(&sees, s, &note, err);
        if (rc < 0)
            return rc;
        *out = &note.events->events[note.at];
        rc = 1;
    }
    return rc;
}

/* ---- live events ---- */

static int check_text(const char *name, valise_str text, valise_error *err)
{
    if (text.len > VLS_EVENT_MAX_TEXT || !vls_utf8_valid(text))
        return vls_fail(err, VALISE_E_INVALID, "event: %s is not UTF-8 of at most %u bytes", name,
                        VLS_EVENT_MAX_TEXT);
    return 0;
}

static int check_event(const valise_event *event, valise_error *err)
{
    int rc = check_text("type", event->type, err);

    if (rc == 0 && event->type.len == 0)
        rc = vls_fail(err, VALISE_E_INVALID, "event: it has no type");
    if (rc == 0)
        rc = check_text("nodeId", event->node_id, err);
    if (rc == 0)
        rc = check_text("namespace", event->namespace_name, err);
    if (rc == 0)
        rc = check_text("runId", event->run_id, err);
    return rc;
}

/* The payload as canonical JSON: itself, where it is; else in room. "" stands for {}. */
static int canonical_payload(valise_str *out, vls_buf *room, valise_str payload,
                             const valise_env *env, valise_error *err)
{
    const vls_json_limits limits = {.max_bytes = VLS_EVENT_MAX_PAYLOAD};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json value;
    int rc;

    *out = payload.len ? payload : VLS_STR("{}");
    if (payload.len <= VLS_EVENT_MAX_PAYLOAD && vls_json_is_canonical(*out))
        return 0;
    vls_arena_init(&arena, env, 16 * VLS_EVENT_MAX_PAYLOAD);
    rc = vls_json_parse(&value, &arena, *out, &limits, err);
    if (rc < 0) {
        vls_error_prepend(err, "payload");
        return rc;
    }
    rc = vls_json_write(room, value, err);
    *out = vls_buf_str(room);
    return rc;
}

int vls_live_make(vls_events **out, valise *v, valise_str actor, const valise_event *event,
                  valise_error *err)
{
    VLS_AUTO(events) vls_events *events = NULL;
    VLS_AUTO(buf) vls_buf payload = {0};
    valise_event live = {.type = event->type,
                         .source = actor.len ? actor : v->actor,
                         .node_id = event->node_id,
                         .namespace_name = event->namespace_name,
                         .run_id = event->run_id,
                         .cause = event->cause};
    int rc = check_event(event, err);

    vls_buf_init(&payload, v->env, 2 * VLS_EVENT_MAX_PAYLOAD);
    if (rc == 0)
        rc = canonical_payload(&live.payload, &payload, event->payload, v->env, err);
    if (rc == 0)
        rc = vls_uuid_new(&live.id, &v->ids, err);
    if (rc == 0)
        rc = vls_events_new(&events, v->env, 0, 1, err);
    if (rc < 0)
        return rc;
    live.time = vls_clock_now_ns(&v->clock);
    rc = vls_events_add(events, &live, err);
    if (rc == 0)
        *out = VLS_TAKE(events);
    return rc;
}

#define ROOM_TRIES 8

/* A lossless subscription that has no room for this event, or NULL. */
static valise_subscription *find_full(const vls_feed *feed, const vls_events *live)
{
    valise_subscription *s = feed->first;

    while (s && !(s->lossless && s->ring_len == s->ring_max &&
                  vls_filter_match(&s->filter, &live->events[0])))
        s = s->next;
    return s;
}

/* Lock held, but not while waiting. Inside a callback there is no waiting: the thread that would
 * make room is this one. */
static void wait_for_room(vls_feed *feed, const vls_events *live)
{
    const valise_subscription *s;
    int tries = 0;

    while ((s = find_full(feed, live)) && !vls_feed_is_serving(feed)) {
        if (s->busy) {
            feed->publishers++;
            (void)pthread_cond_wait(&feed->idle, &feed->lock);
            feed->publishers--;
        } else if (tries++ < ROOM_TRIES) {
            vls_feed_drop(feed);
            vls_feed_publish(feed);
            vls_feed_hold(feed);
        } else {
            return; /* it cannot be served, as when the log cannot be read: the loss is counted */
        }
    }
}

void vls_live_tell(vls_feed *feed, vls_events *live)
{
    vls_feed_hold(feed);
    wait_for_room(feed, live);
    for (valise_subscription *s = feed->first; s; s = s->next) {
        vls_note note = {.events = live, .after = feed->tip};
        if (!s->live || !vls_filter_match(&s->filter, &live->events[0]))
            continue;
        /* A queue that is still filled with what is old has no room for what is not. */
        if (s->replaying || !vls_subscription_push(s, note)) {
            s->dropped++;
            continue;
        }
        (void)vls_events_ref(live);
        if (s->queued)
            (void)pthread_cond_broadcast(&s->came);
    }
    vls_feed_drop(feed);
}

int valise_publish(valise *v, valise_str actor, const valise_event *event, valise_error *err)
{
    VLS_AUTO(events) vls_events *live = NULL;
    valise_event given = {0};
    vls_feed *feed;
    int rc;

    VLS_ARG(v && event && event->size >= sizeof(size_t), err);
    VLS_ARG(actor.len <= VLS_ACTOR_MAX, err);
    memcpy(&given, event, VLS_MIN(event->size, sizeof(given)));
    rc = vls_feed_need(&feed, v, err);
    if (rc == 0)
        rc = vls_live_make(&live, v, actor, &given, err);
    if (rc < 0)
        return rc;
    assert(live);
    vls_live_tell(feed, live);
    vls_feed_publish(feed);
    return 0;
}

/* ---- patches of an index ---- */

/* An index shows what is in rows. */
static int sees_sources(const valise_subscription *s, valise_view *view, valise_error *err)
{
    const valise *v = s->feed->v;
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < s->index->source_count; i++) {
        const char *capability;
        size_t at = 0;
        while (rc >= 0 && (capability = vls_sight_next(&at, v->registry, s->index->colls[i]->desc)))
            rc = v->access.allows(v->access.self, view, s->actor, capability, NULL, err);
    }
    return rc;
}

/* The first patch, from one state; the place is behind it. */
static int send_everything(valise_subscription *s, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    VLS_AUTO(buf) vls_buf patch = {0};
    valise_error ignored = VALISE_ERROR_INIT;
    valise *v = s->feed->v;
    int rc = vls_txn_begin(&txn, v->store, VALISE_TXN_READ, err);

    if (rc < 0)
        return rc;
    vls_view_init(&view, &txn, v->env);
    vls_buf_init(&patch, v->env, VLS_REPLY_MAX);
    rc = v->access.allows(v->access.self, &view, s->actor, "index:read", NULL, err);
    if (rc >= 0)
        rc = sees_sources(s, &view, err);
    if (rc >= 0)
        rc = vls_index_first_patch(&patch, s->index, &view, err);
    if (rc < 0)
        return rc;
    s->place = (valise_cursor){txn.tip.seq + 1, 0};
    vls_view_release(&view);
    vls_txn_rollback(&txn);
    s->failed += s->patch(s->arg, s->place.seq - 1, vls_buf_str(&patch), &ignored) < 0;
    return 0;
}

int valise_index_subscribe(valise_subscription **out, valise *v, const char *index,
                           valise_patch_fn *fn, void *arg, valise_error *err)
{
    const valise_filter all = {.size = sizeof(all)};
    valise_subscription *s = NULL;
    vls_feed *feed;
    vls_index *found = NULL;
    int rc;

    VLS_ARG(out && v && index && fn, err);
    rc = vls_feed_need(&feed, v, err);
    if (rc == 0)
        rc = vls_indexes_find(&found, &feed->indexes, valise_str_of(index), err);
    if (rc == 0)
        rc = new_subscription(&s, feed, &all, v->actor, 0, err);
    if (rc < 0)
        return rc;
    assert(s);
    s->index = found;
    s->patch = fn;
    s->arg = arg;
    rc = send_everything(s, err);
    if (rc < 0) {
        vls_subscription_unref(s);
        return rc;
    }
    *out = s;
    attach(s);
    return 0;
}
