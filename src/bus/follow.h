/* follow.h -- those who follow the log of a handle: subscribers, memory indexes, processors.
 *
 *     committed()   a seq (`tip`), memory indexes patched          leader's thread
 *     publish()     whoever has work and is not being served       feed.c
 *                   is served until there is none left:
 *                       subscriptions      deliver.c   from their cursor in the log
 *                       processors         processor.c the same, with a stored cursor
 *     valise_poll   what others wrote raises `tip` too
 *
 * Everybody reads the log from a cursor of his own, so it makes no difference who wrote an entry,
 * whether it is old or new, and whether somebody else is slow: there is one way, and on it neither
 * gaps nor repetitions. Who finds nobody serving a follower claims it; work that comes meanwhile is
 * seen before the claim is given up, under the lock, so none is left lying. No lock and no
 * transaction is held while foreign code runs. A thread that is serving serves nobody else from
 * inside a callback: its outermost call does, later.
 *
 * Threads: vls_feed and valise_subscription are shared. */
#ifndef VLS_FOLLOW_H
#define VLS_FOLLOW_H

#include <pthread.h>

#include "bus/bus.h"
#include "bus/event.h"
#include "bus/index.h"
#include "bus/read_log.h"

#define VLS_FEED_CACHE 64u /* entries whose events are kept for the next who wants them */
#define VLS_FEED_BATCH 64u /* entries read in one transaction */
#define VLS_FEED_BATCH_EVENTS 256u
#define VLS_LIVE_QUEUE 1024u /* live events that wait for a callback */
#define VLS_QUEUE_MAX (1u << 20)

typedef struct vls_feed vls_feed;

/* One event for one subscriber. */
typedef struct vls_note {
    vls_events *events;
    uint32_t at;   /* which of them */
    int64_t after; /* live: deliver it behind the log's events up to here */
} vls_note;

struct valise_subscription {
    vls_feed *feed;
    vls_arena arena; /* of the next two */
    valise_filter filter;
    valise_str actor;
    valise_event_fn *fn;
    valise_patch_fn *patch; /* instead of fn: of an index */
    vls_index *index;
    void *arg;
    bool live, queued, lossless;
    vls_ahead ahead;  /* this and the next: of whoever serves it */
    int64_t unerased; /* of an index: no entry up to here tells of an erasure */

    /* Also of whoever serves it: live events of this area are for the actor, as it was asked last.
     */
    struct {
        char capability[80];
        int64_t asked_ns; /* ticks */
        uint64_t epoch;
    } sight;

    /* The rest under the feed's lock. */
    valise_subscription *prev, *next;
    unsigned refs; /* the subscriber, and whoever serves it */
    bool busy;     /* somebody serves it */
    bool closed;
    bool replaying;      /* queued: what is old is fetched as it is taken */
    valise_cursor place; /* the next event it gets */
    vls_note *ring;      /* of a queue, or live events for a callback */
    uint32_t ring_max, ring_first, ring_len;
    vls_events *current; /* what valise_subscription_next handed out */
    uint64_t dropped, failed;
    pthread_cond_t came; /* something was queued */
};

/* A processor, and how far it has come. */
typedef struct vls_processor {
    const valise_processor *table;
    const vls_coll *coll;
    bool busy;
    vls_ahead ahead;     /* of whoever serves it */
    bool unsaved;        /* place must be stored */
    valise_cursor place; /* the next change it gets */
    valise_cursor stored;
    uint64_t failed;
    unsigned attempts;     /* in a row that failed */
    int64_t not_before_ns; /* ticks */
} vls_processor;

/* A thread inside publish. */
typedef struct vls_serving {
    pthread_t thread;
    struct vls_serving *next;
} vls_serving;

struct vls_feed {
    valise *v;
    vls_indexes indexes;
    vls_read_log reads;
    _Atomic unsigned listeners; /* subscriptions that want live events */

    pthread_mutex_t lock; /* over everything below */
    pthread_cond_t idle;  /* a subscription is not being served any more, or has room again */
    int64_t tip;          /* the newest entry that is known of */
    int64_t kept;         /* what it was at the last look whether upkeep is due */
    valise_subscription *first;
    vls_serving *serving;
    unsigned publishers;               /* that wait until a lossless subscription has room */
    vls_events *cache[VLS_FEED_CACHE]; /* by seq */
    int64_t erased_seq;                /* the newest erasure that is known of, of any process */
    vls_processor *processors;
    size_t processor_count;
};

/* Begin to follow: everything the registry of v lists. v must have a workspace. Processors catch up
 * with vls_feed_start, once the handle can be used. */
int vls_feed_open(vls_feed **out, valise *v, valise_error *err);
void vls_feed_start(vls_feed *feed);
/* Nobody uses the handle any more, but its store is still open. Writes what was held back. NULL is
 * fine. */
void vls_feed_close(vls_feed *feed);

/* The feed of a handle, or NULL. */
vls_feed *vls_feed_of(const valise *v);
int vls_feed_need(vls_feed **out, const valise *v, valise_error *err); /* VALISE_E_INVALID */

/* Serve whoever has work. */
void vls_feed_publish(vls_feed *feed);

/* An entry is there; the lock is held. */
void vls_feed_raise(vls_feed *feed, int64_t seq);
bool vls_feed_is_serving(const vls_feed *feed); /* this thread, in a callback; lock held */

/* The events of an entry, from the cache or made. Without the lock. */
int vls_feed_events(vls_events **out, vls_feed *feed, vls_txn *txn, const vls_entry *entry,
                    const vls_ahead *ahead, valise_error *err);

/* ---- deliver.c ---- */

/* Has it work for somebody who publishes? And: do it until there is none left; true when something
 * was done. Lock held on entry and return. */
bool vls_subscription_has_work(const valise_subscription *s);
bool vls_subscription_serve(valise_subscription *s);
/* Let go of what a queue holds from before an erasure; it is fetched anew. The same. */
void vls_subscription_refresh(valise_subscription *s);
/* Fetch so many events for a queue that is replaying; the same. */
int vls_subscription_fetch(valise_subscription *s, valise_error *err);

/* May the subscriber see this event? Without the lock. */
int vls_subscription_sees(bool *out, valise_subscription *s, const valise_event *event,
                          valise_error *err);

/* An event more that waits; false when there is no room. Lock held, as for the next three. */
bool vls_subscription_push(valise_subscription *s, vls_note note);
vls_note vls_subscription_pop(valise_subscription *s); /* there must be one */
void vls_subscription_detach(valise_subscription *s);  /* out of the list: it gets nothing more */
void vls_subscription_unref(valise_subscription *s);

/* ---- live events (subscribe.c) ---- */

/* A live event, checked and copied; then: put it where those who listen find it, without the lock.
 * vls_feed_publish afterwards. */
int vls_live_make(vls_events **out, valise *v, valise_str actor, const valise_event *event,
                  valise_error *err);
void vls_live_tell(vls_feed *feed, vls_events *live);

/* ---- processor.c ---- */

int vls_processors_open(vls_feed *feed, valise_error *err);
void vls_processors_close(vls_feed *feed);
/* As for a subscription. */
bool vls_processor_has_work(const vls_feed *feed, const vls_processor *p);
bool vls_processor_serve(vls_feed *feed, vls_processor *p);

static inline void vls_feed_hold(vls_feed *feed)
{
    (void)pthread_mutex_lock(&feed->lock);
}

static inline void vls_feed_drop(vls_feed *feed)
{
    (void)pthread_mutex_unlock(&feed->lock);
}

#endif
