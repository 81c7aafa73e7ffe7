/* feed.c -- following the log: opening, who serves whom, and what others wrote (follow.h). */
#include <time.h>

#include "bus/follow.h"

#include "base/mem.h"

#define POLL_FIRST_NS INT64_C(1000000)
#define POLL_MOST_NS INT64_C(50000000)
#define UPKEEP_EVERY 1000

/* ---- told by the bus ---- */

void vls_feed_raise(vls_feed *feed, int64_t seq)
{
    if (seq > feed->tip)
        feed->tip = seq;
}

static void committed(void *self, const vls_commit *commits, size_t count)
{
    vls_feed *feed = self;

    if (count == 0)
        return;
    vls_indexes_committed(&feed->indexes, commits, count);
    vls_feed_hold(feed);
    vls_feed_raise(feed, commits[count - 1].entry->seq);
    vls_feed_drop(feed);
}

/* Due whenever the log has passed another UPKEEP_EVERY entries, whoever wrote them: the processes
 * of a command line write a few each. */
static bool is_upkeep_due(vls_feed *feed)
{
    bool due;

    vls_feed_hold(feed);
    due = feed->tip / UPKEEP_EVERY > feed->kept / UPKEEP_EVERY;
    feed->kept = feed->tip;
    vls_feed_drop(feed);
    return due;
}

static void publish(void *self)
{
    vls_feed *feed = self;

    vls_feed_publish(feed);
    if (feed->v->upkeep && is_upkeep_due(feed))
        feed->v->upkeep(feed->v);
}

static const vls_feed_ops feed_ops = {.committed = committed, .publish = publish};

vls_feed *vls_feed_of(const valise *v)
{
    return v->feed == &feed_ops ? v->feed_self : NULL;
}

int vls_feed_need(vls_feed **out, const valise *v, valise_error *err)
{
    vls_feed *feed = vls_feed_of(v);

    if (!feed)
        return vls_fail(err, VALISE_E_INVALID, "there is no workspace to follow");
    *out = feed;
    return 0;
}

/* ---- opening ---- */

static int read_tip(int64_t *seq, vls_feed *feed, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int rc = vls_txn_begin(&txn, feed->v->store, VALISE_TXN_READ, err);

    if (rc == 0)
        *seq = txn.tip.seq;
    return rc;
}

int vls_feed_open(vls_feed **out, valise *v, valise_error *err)
{
    vls_feed *feed = vls_mem_zalloc(v->env, sizeof(*feed));
    int rc;

    if (!feed)
        return vls_fail_memory(err);
    feed->v = v;
    (void)pthread_mutex_init(&feed->lock, NULL);
    (void)pthread_cond_init(&feed->idle, NULL);
    vls_read_log_init(&feed->reads, v);
    rc = read_tip(&feed->tip, feed, err);
    feed->kept = feed->tip;
    if (rc == 0)
        rc = vls_indexes_open(&feed->indexes, v->store, vls_registry_indexers(v->registry), err);
    if (rc == 0)
        rc = vls_processors_open(feed, err);
    if (rc < 0) {
        vls_feed_close(feed);
        return rc;
    }
    vls_bus_follow(v, &feed_ops, feed);
    *out = feed;
    return 0;
}

void vls_feed_start(vls_feed *feed)
{
    vls_feed_publish(feed);
}

void vls_feed_close(vls_feed *feed)
{
    const valise_env *env;

    if (!feed)
        return;
    env = feed->v->env;
    vls_bus_follow(feed->v, NULL, NULL); /* nobody is served because of what is written now */
    vls_processors_close(feed);
    vls_read_log_release(&feed->reads);
    vls_feed_hold(feed);
    while (feed->first) {
        valise_subscription *s = feed->first;
        vls_subscription_detach(s);
        vls_subscription_unref(s);
    }
    vls_feed_drop(feed);
    for (size_t i = 0; i < VLS_FEED_CACHE; i++)
        vls_events_unref(feed->cache[i]);
    vls_indexes_close(&feed->indexes);
    (void)pthread_cond_destroy(&feed->idle);
    (void)pthread_mutex_destroy(&feed->lock);
    vls_mem_free(env, feed, sizeof(*feed));
}

/* ---- events that were made ---- */

/* Is what was made in memory as old as the erasures that txn knows of? An erasure rewrites entries
 * that were told before, so that it takes all that was made from them. Lock held. */
static bool is_current(vls_feed *feed, const vls_txn *txn)
{
    if (txn->meta.erased_seq > feed->erased_seq) {
        feed->erased_seq = txn->meta.erased_seq;
        for (size_t i = 0; i < VLS_FEED_CACHE; i++) {
            vls_events_unref(feed->cache[i]);
            feed->cache[i] = NULL;
        }
    }
    return txn->meta.erased_seq == feed->erased_seq;
}

static vls_events *cached(vls_feed *feed, const vls_txn *txn, int64_t seq)
{
    vls_events *events = NULL;

    vls_feed_hold(feed);
    if (is_current(feed, txn))
        events = feed->cache[(uint64_t)seq % VLS_FEED_CACHE];
    events = events && events->seq == seq ? vls_events_ref(events) : NULL;
    vls_feed_drop(feed);
    return events;
}

static void cache(vls_feed *feed, const vls_txn *txn, vls_events *events)
{
    vls_events **slot = &feed->cache[(uint64_t)events->seq % VLS_FEED_CACHE];
    vls_events *old = NULL;

    vls_feed_hold(feed);
    /* Who reads what is old must not push out what everybody wants. */
    if (is_current(feed, txn) && (!*slot || (*slot)->seq < events->seq)) {
        old = *slot;
        *slot = vls_events_ref(events);
    }
    vls_feed_drop(feed);
    vls_events_unref(old);
}

int vls_feed_events(vls_events **out, vls_feed *feed, vls_txn *txn, const vls_entry *entry,
                    const vls_ahead *ahead, valise_error *err)
{
    vls_events *events = cached(feed, txn, entry->seq);
    int rc = 0;

    if (!events) {
        rc = vls_events_of_entry(&events, txn, entry, ahead, err);
        if (rc == 0) {
            events->erased_seq = txn->meta.erased_seq;
            cache(feed, txn, events);
        }
    }
    if (rc == 0)
        *out = events;
    return rc;
}

/* ---- serving ---- */

bool vls_feed_is_serving(const vls_feed *feed)
{
    pthread_t self = pthread_self();

    for (const vls_serving *s = feed->serving; s; s = s->next) {
        if (pthread_equal(s->thread, self))
            return true;
    }
    return false;
}

static void stop_serving(vls_feed *feed, vls_serving *me)
{
    vls_serving **at = &feed->serving;

    while (*at != me)
        at = &(*at)->next;
    *at = me->next;
}

/* Lock held, but not while somebody is served. */
static bool serve_subscriptions(vls_feed *feed)
{
    valise_subscription *s = feed->first;
    bool moved = false;

    while (s) {
        valise_subscription *next = s->next;
        if (vls_subscription_has_work(s)) {
            s->refs++;
            moved |= vls_subscription_serve(s);
            next = s->closed ? feed->first : s->next; /* the list may be another one by now */
            vls_subscription_unref(s);
        }
        s = next;
    }
    return moved;
}

static bool serve_processors(vls_feed *feed)
{
    bool moved = false;

    for (size_t i = 0; i < feed->processor_count; i++) {
        if (vls_processor_has_work(feed, &feed->processors[i]))
            moved |= vls_processor_serve(feed, &feed->processors[i]);
    }
    return moved;
}

void vls_feed_publish(vls_feed *feed)
{
    vls_serving me = {.thread = pthread_self()};
    bool moved;

    vls_feed_hold(feed);
    if (!vls_feed_is_serving(feed)) {
        me.next = feed->serving;
        /* cppcheck-suppress autoVariables ; taken out again below */
        feed->serving = &me;
        do {
            moved = serve_subscriptions(feed);
            moved |= serve_processors(feed);
        } while (moved);
        stop_serving(feed, &me);
    }
    vls_feed_drop(feed);
}

/* ---- what others wrote ---- */

/* 1 when there is something new. */
static int look(vls_feed *feed, valise_error *err)
{
    int64_t seq = 0;
    bool more;
    int rc = read_tip(&seq, feed, err);

    if (rc < 0)
        return rc;
    vls_feed_hold(feed);
    more = seq > feed->tip;
    vls_feed_raise(feed, seq);
    vls_feed_drop(feed);
    return more;
}

static void sleep_ns(int64_t ns)
{
    struct timespec time = {.tv_sec = ns / VLS_NS_PER_SECOND, .tv_nsec = ns % VLS_NS_PER_SECOND};

    (void)nanosleep(&time, NULL);
}

int valise_poll(valise *v, int64_t timeout_ns, valise_error *err)
{
    int64_t pause_ns = POLL_FIRST_NS;
    vls_feed *feed;
    int rc;

    VLS_ARG(v, err);
    rc = vls_feed_need(&feed, v, err);
    if (rc < 0)
        return rc;
    while ((rc = look(feed, err)) == 0 && timeout_ns > 0) {
        pause_ns = VLS_MIN(pause_ns, timeout_ns);
        sleep_ns(pause_ns);
        timeout_ns -= pause_ns;
        pause_ns = VLS_MIN(2 * pause_ns, POLL_MOST_NS);
    }
    /* Also for who failed before and may succeed now. */
    if (rc >= 0)
        vls_feed_publish(feed);
    return rc;
}
