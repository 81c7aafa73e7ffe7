/* deliver.c -- from a subscription's place in the log to its callback or queue (follow.h).
 *
 * A batch of entries is read in one transaction, which is over before the first event is handed
 * out. Start reading at vls_subscription_serve. */
#include "bus/follow.h"

#include "base/mem.h"

/* ---- what waits ---- */

bool vls_subscription_push(valise_subscription *s, vls_note note)
{
    if (s->ring_len == s->ring_max)
        return false;
    s->ring[(s->ring_first + s->ring_len++) % s->ring_max] = note;
    return true;
}

vls_note vls_subscription_pop(valise_subscription *s)
{
    vls_note note = s->ring[s->ring_first];

    assert(s->ring_len > 0);
    s->ring_first = (s->ring_first + 1) % s->ring_max;
    s->ring_len--;
    return note;
}

/* A note of the log from before an erasure that is known of by now. */
static bool is_stale(const valise_subscription *s, const vls_note *note)
{
    return note->events->seq > 0 && note->events->erased_seq < s->feed->erased_seq;
}

static bool has_stale(const valise_subscription *s)
{
    for (uint32_t i = 0; i < s->ring_len; i++) {
        if (is_stale(s, &s->ring[(s->ring_first + i) % s->ring_max]))
            return true;
    }
    return false;
}

void vls_subscription_refresh(valise_subscription *s)
{
    bool found = false;
    uint32_t count;

    while (s->busy && has_stale(s)) /* who fills it moves the place too */
        (void)pthread_cond_wait(&s->feed->idle, &s->feed->lock);
    count = has_stale(s) ? s->ring_len : 0;
    for (uint32_t i = 0; i < count; i++) {
        vls_note note = vls_subscription_pop(s);
        const valise_event *event = &note.events->events[note.at];
        if (!found && is_stale(s, &note)) {
            s->place = (valise_cursor){event->seq, event->index};
            found = true;
        }
        if (found && event->seq > 0)
            vls_events_unref(note.events); /* comes again, behind the place */
        else
            (void)vls_subscription_push(s, note);
    }
    s->replaying = s->replaying || found;
}

static bool log_has_more(const valise_subscription *s)
{
    return s->place.seq <= s->feed->tip;
}

static bool work_is_left(const valise_subscription *s)
{
    return (!s->replaying && log_has_more(s)) || (!s->queued && s->ring_len > 0);
}

bool vls_subscription_has_work(const valise_subscription *s)
{
    return !s->busy && !s->closed && work_is_left(s);
}

/* ---- who may see it ---- */

static int allowed(bool *out, const valise_subscription *s, valise_view *view,
                   const vls_event_need *need, valise_error *err)
{
    const vls_bus_access *access = &s->feed->v->access;
    valise_error why = VALISE_ERROR_INIT;
    int rc = access->allows(access->self, view, s->actor, need->capability, need->attrs, &why);

    if (rc < 0 && rc != VALISE_E_DENIED) {
        if (err)
            *err = why;
        return rc;
    }
    *out = rc >= 0;
    return 0;
}

#define AREA_MAX 64u

/* Who may see it whatever node, namespace and run it is of, is asked once for all events of an
 * area: anew when this handle's workspace has changed, and once a second for what others did. */
#define SIGHT_NS INT64_C(1000000000)

static bool is_known(const valise_subscription *s, const vls_event_need *need, int64_t now)
{
    return s->sight.capability[0] && now - s->sight.asked_ns < SIGHT_NS &&
           now >= s->sight.asked_ns && s->sight.epoch == vls_bus_epoch(s->feed->v) &&
           strcmp(s->sight.capability, need->capability) == 0;
}

static int ask_live(bool *out, valise_subscription *s, valise_view *view,
                    const vls_event_need *need, int64_t now, uint64_t epoch, valise_error *err)
{
    vls_event_need any = *need;
    int rc;

    any.attrs[0] = NULL;
    rc = allowed(out, s, view, &any, err);
    if (rc < 0 || !*out)
        return rc < 0 || !need->attrs[0] ? rc : allowed(out, s, view, need, err);
    s->sight.asked_ns = now;
    s->sight.epoch = epoch;
    memcpy(s->sight.capability, need->capability, sizeof(s->sight.capability));
    return 0;
}

/* An area tells live events of the types that its collections have in the log: AREA_PACKED is of
 * `area:`, if there is one. Else the type says what it is. */
static valise_str live_command(char *out, const vls_registry *registry, valise_str type)
{
    const valise_op *const *op = vls_registry_ops(registry);
    size_t len = vls_str_find_byte(type, '_');

    if (len == 0 || len >= type.len || len > AREA_MAX || vls_str_find_byte(type, ':') < len)
        return type;
    for (size_t i = 0; i < len; i++)
        out[i] = (char)(type.ptr[i] >= 'A' && type.ptr[i] <= 'Z' ? type.ptr[i] + 32 : type.ptr[i]);
    out[len] = ':';
    while (*op && strncmp((*op)->name, out, len + 1) != 0)
        op++;
    return *op ? vls_str(out, len + 1) : type;
}

int vls_subscription_sees(bool *out, valise_subscription *s, const valise_event *event,
                          valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    const valise_env *env = s->feed->v->env;
    uint64_t epoch = vls_bus_epoch(s->feed->v);
    int64_t now = env->ticks_ns(env->self);
    char command[AREA_MAX + 8];
    vls_event_need need;
    int rc;

    vls_event_need_of(&need, s->feed->v->registry, event,
                      live_command(command, s->feed->v->registry, event->type));
    if (is_known(s, &need, now)) {
        *out = true;
        return 0;
    }
    rc = vls_txn_begin(&txn, s->feed->v->store, VALISE_TXN_READ, err);
    if (rc < 0)
        return rc;
    vls_view_init(&view, &txn, env);
    return ask_live(out, s, &view, &need, now, epoch, err);
}

/* ---- a batch ---- */

typedef struct batch {
    valise_subscription *s;
    size_t max; /* events */
    vls_txn txn;
    valise_view view; /* to ask who may see what */
    /* What was asked for last, and the answer: within a transaction it stays. */
    vls_event_need last;
    bool last_sees;
    vls_vec(vls_note) notes;
    valise_cursor next; /* behind what was read */
    uint64_t lost;      /* entries that have expired meanwhile */
} batch;

static void batch_release(batch *b)
{
    const valise_env *env = b->s->feed->v->env;

    vls_view_release(&b->view);
    vls_txn_rollback(&b->txn);
    for (size_t i = 0; i < b->notes.len; i++)
        vls_events_unref(b->notes.ptr[i].events);
    vls_vec_release(&b->notes, env);
}

/* Most events need the same and have nothing that narrows it. */
static int ask(bool *out, batch *b, const valise_event *event, valise_str command,
               valise_error *err)
{
    vls_event_need need;
    int rc;

    vls_event_need_of(&need, b->s->feed->v->registry, event, command);
    if (!need.attrs[0] && !b->last.attrs[0] && strcmp(need.capability, b->last.capability) == 0) {
        *out = b->last_sees;
        return 0;
    }
    rc = allowed(out, b->s, &b->view, &need, err);
    if (rc == 0) {
        b->last = need;
        b->last_sees = *out;
    }
    return rc;
}

static int add_note(batch *b, vls_events *events, size_t at, valise_error *err)
{
    vls_note note = {.events = events, .at = (uint32_t)at};

    if (!vls_vec_push(&b->notes, b->s->feed->v->env, note))
        return vls_fail_memory(err);
    (void)vls_events_ref(events);
    return 0;
}

/* The events of one entry that the subscriber wants and may see. */
static int take_events(batch *b, vls_events *events, uint32_t from_index, valise_error *err)
{
    for (size_t i = 0; i < events->count; i++) {
        const valise_event *event = &events->events[i];
        bool sees = false;
        int rc = 0;
        if (event->index < from_index)
            continue;
        if (b->notes.len == b->max)
            return 0; /* b->next says how far it came */
        if (vls_filter_match(&b->s->filter, event))
            rc = ask(&sees, b, event, events->events[0].type, err);
        if (rc == 0 && sees)
            rc = add_note(b, events, i, err);
        if (rc < 0)
            return rc;
        b->next = (valise_cursor){event->seq, event->index + 1};
    }
    b->next = (valise_cursor){events->seq + 1, 0};
    return 0;
}

/* The patch of one entry to an index is handed around as the payload of an event. */
static int take_patch(batch *b, const vls_entry *entry, valise_error *err)
{
    VLS_AUTO(events) vls_events *events = NULL;
    int rc = vls_index_patch(&events, b->s->index, &b->txn, entry, &b->s->ahead, err);

    if (rc > 0)
        rc = add_note(b, events, 0, err);
    if (rc == 0)
        b->next = (valise_cursor){entry->seq + 1, 0};
    return rc;
}

/* Where an erasure has gone over the entries that are to come, they do not tell what goes: then the
 * copy gets everything anew. 1 when it does. */
static int take_whole(batch *b, valise_error *err)
{
    VLS_AUTO(events) vls_events *events = NULL;
    int64_t from = VLS_MAX(b->next.seq, b->s->unerased + 1);
    bool erased;
    int rc = vls_index_erased(&erased, &b->txn, from, err);

    if (rc < 0)
        return rc;
    b->s->unerased = b->txn.tip.seq;
    if (!erased)
        return 0;
    rc = vls_index_whole(&events, b->s->index, &b->view, err);
    if (rc >= 0)
        rc = add_note(b, events, 0, err);
    if (rc == 0)
        b->next = (valise_cursor){b->txn.tip.seq + 1, 0};
    return rc < 0 ? rc : 1;
}

static int take_entry(batch *b, const vls_entry *entry, valise_error *err)
{
    uint32_t from = entry->seq == b->next.seq ? b->next.index : 0;
    VLS_AUTO(events) vls_events *events = NULL;
    int rc;

    if (b->s->index)
        return take_patch(b, entry, err);
    rc = vls_feed_events(&events, b->s->feed, &b->txn, entry, &b->s->ahead, err);
    return rc < 0 ? rc : take_events(b, events, from, err);
}

static int take_entries(batch *b, valise_error *err)
{
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    unsigned count = 0;
    vls_entry entry;
    int rc = vls_log_scan_open(&scan, &b->txn, b->next.seq, false, err);

    vls_arena_init(&arena, b->s->feed->v->env, VLS_VIEW_MAX_BYTES);
    while (rc >= 0 && b->notes.len < b->max && count++ < VLS_FEED_BATCH) {
        rc = vls_log_scan_next(&entry, &scan, &arena, err);
        if (rc == 0) {
            b->next = (valise_cursor){VLS_MAX(b->next.seq, b->txn.tip.seq + 1), 0};
            return 0;
        }
        if (rc > 0)
            rc = take_entry(b, &entry, err);
        vls_arena_reset(&arena);
    }
    return rc < 0 ? rc : 0;
}

/* Read from b->next on. The transaction is over when it returns. */
static int batch_read(batch *b, valise_error *err)
{
    vls_feed *feed = b->s->feed;
    int rc = vls_txn_begin(&b->txn, feed->v->store, VALISE_TXN_READ, err);

    if (rc < 0)
        return rc;
    vls_view_init(&b->view, &b->txn, feed->v->env);
    if (b->next.seq <= b->txn.tip.base_seq) {
        b->lost = (uint64_t)(b->txn.tip.base_seq - b->next.seq) + 1;
        b->next = (valise_cursor){b->txn.tip.base_seq + 1, 0};
    }
    rc = vls_ahead_prepare(&b->s->ahead, &b->txn, b->next.seq, err);
    if (rc == 0 && b->s->index)
        rc = take_whole(b, err);
    if (rc == 0)
        rc = take_entries(b, err);
    vls_feed_hold(feed);
    vls_feed_raise(feed, b->txn.tip.seq);
    vls_feed_drop(feed);
    vls_view_release(&b->view);
    vls_txn_rollback(&b->txn);
    return rc < 0 ? rc : 0;
}

/* ---- handing over ---- */

static int call(const valise_subscription *s, const valise_event *event)
{
    valise_error err = VALISE_ERROR_INIT; /* counted, not told */

    return s->patch ? s->patch(s->arg, event->seq, event->payload, &err)
                    : s->fn(s->arg, event, &err);
}

/* Lock held, but not during the calls. */
static void call_all(valise_subscription *s, const batch *b)
{
    for (size_t i = 0; i < b->notes.len && !s->closed; i++) {
        const vls_note *note = &b->notes.ptr[i];
        const valise_event *event = &note->events->events[note->at];
        int rc;
        s->place = (valise_cursor){event->seq, event->index + 1};
        vls_feed_drop(s->feed);
        rc = call(s, event);
        vls_feed_hold(s->feed);
        s->failed += rc < 0;
    }
}

static void queue_all(valise_subscription *s, batch *b)
{
    for (size_t i = 0; i < b->notes.len; i++) {
        if (vls_subscription_push(s, b->notes.ptr[i]))
            (void)vls_events_ref(b->notes.ptr[i].events);
        else
            s->dropped++;
    }
    if (b->notes.len > 0)
        (void)pthread_cond_broadcast(&s->came);
}

/* One batch from the log; at most max events. Lock held, but not while reading and calling. */
static int deliver_batch(valise_subscription *s, size_t max, valise_error *err)
{
    batch b = {.s = s, .max = max, .next = s->place, .notes = VLS_VEC_INIT};
    int rc;

    vls_feed_drop(s->feed);
    rc = batch_read(&b, err);
    vls_feed_hold(s->feed);
    if (rc == 0) {
        s->dropped += b.lost;
        if (s->queued)
            queue_all(s, &b);
        else
            call_all(s, &b);
        s->place = b.next;
    }
    vls_feed_drop(s->feed);
    batch_release(&b);
    vls_feed_hold(s->feed);
    return rc;
}

static bool live_is_due(const valise_subscription *s)
{
    return !s->queued && s->ring_len > 0 && s->place.seq > s->ring[s->ring_first].after;
}

/* Those who wait are woken when there is room for many. */
static void make_room(valise_subscription *s)
{
    if (s->feed->publishers > 0 && s->ring_len <= s->ring_max / 2)
        (void)pthread_cond_broadcast(&s->feed->idle);
}

static int deliver_live(valise_subscription *s)
{
    vls_note note = vls_subscription_pop(s);
    const valise_event *event = &note.events->events[note.at];
    bool sees = false;
    int rc, called = 0;

    make_room(s);
    vls_feed_drop(s->feed);
    rc = vls_subscription_sees(&sees, s, event, NULL);
    if (rc == 0 && sees)
        called = call(s, event);
    vls_events_unref(note.events);
    vls_feed_hold(s->feed);
    s->failed += called < 0;
    s->dropped += rc < 0;
    return rc;
}

static void end_serving(valise_subscription *s)
{
    s->busy = false;
    (void)pthread_cond_broadcast(&s->feed->idle);
}

bool vls_subscription_serve(valise_subscription *s)
{
    bool done = false;
    int rc = 0;

    s->busy = true;
    while (rc >= 0 && !s->closed && work_is_left(s)) {
        rc = live_is_due(s) ? deliver_live(s) : deliver_batch(s, VLS_FEED_BATCH_EVENTS, NULL);
        done |= rc == 0;
    }
    end_serving(s);
    return rc >= 0 && done;
}

int vls_subscription_fetch(valise_subscription *s, valise_error *err)
{
    int rc = 0;

    s->busy = true;
    if (log_has_more(s))
        rc = deliver_batch(s, s->ring_max - s->ring_len, err);
    else
        s->replaying = false; /* from here on it is pushed to: under the lock, so nothing is lost */
    end_serving(s);
    return rc;
}

/* ---- the end ---- */

void vls_subscription_detach(valise_subscription *s)
{
    assert(!s->closed);
    s->closed = true;
    if (s->live)
        atomic_fetch_sub_explicit(&s->feed->listeners, 1, memory_order_relaxed);
    if (s->prev)
        s->prev->next = s->next;
    else
        s->feed->first = s->next;
    if (s->next)
        s->next->prev = s->prev;
    (void)pthread_cond_broadcast(&s->feed->idle); /* nobody waits for room in it any more */
}

void vls_subscription_unref(valise_subscription *s)
{
    const valise_env *env = s->feed->v->env;

    assert(s->refs > 0);
    if (--s->refs > 0)
        return;
    while (s->ring_len > 0)
        vls_events_unref(vls_subscription_pop(s).events);
    if (s->ring)
        vls_mem_free(env, s->ring, s->ring_max * sizeof(*s->ring));
    vls_events_unref(s->current);
    vls_ahead_release(&s->ahead);
    vls_arena_release(&s->arena);
    (void)pthread_cond_destroy(&s->came);
    vls_mem_free(env, s, sizeof(*s));
}
