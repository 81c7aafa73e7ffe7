/* valise/event.h -- what happened, for those who follow.
 *
 * *Log events* are made from log entries after they are durable: index 0 is the command itself,
 * the others are the changes it made that mean something to somebody. A cursor (seq, index)
 * misses nothing inside the retained log. *Live events* (reads, progress, stream chunks) have no
 * seq and go to whoever listens now.
 *
 * Threads: an event is immutable, and borrowed for the time of the callback. A subscription is
 * shared, but one thread at a time takes events from its queue. */
#ifndef VALISE_EVENT_H
#define VALISE_EVENT_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/id.h>
#include <valise/str.h>

VALISE_BEGIN

typedef struct valise valise;

typedef struct valise_event {
    size_t size;
    valise_uuid id;     /* the command's for index 0, else derived from it */
    int64_t seq;        /* 0: a live event */
    uint32_t index;     /* within the entry */
    int64_t time;       /* ns */
    valise_str type;    /* "pin:add", "BACKPACK_PACK" */
    valise_str source;  /* the actor */
    valise_str node_id; /* "" where there is none, as the next two */
    valise_str namespace_name;
    valise_str run_id;
    valise_uuid cause;  /* zero: none */
    valise_str payload; /* canonical JSON: ids, sizes, summaries, never contents */
} valise_event;

#define VALISE_EVENT_INIT                                                                          \
    {                                                                                              \
        sizeof(valise_event), {{0}}, 0, 0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0},          \
            {NULL, 0}, {{0}},                                                                      \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

typedef struct valise_cursor {
    int64_t seq; /* the next event to get: the first one at or behind (seq, index) */
    uint32_t index;
} valise_cursor;

/* Runs with no lock held and may call the API. What it returns stops nothing: a code below 0 is
 * counted (valise_subscription_losses). */
typedef int valise_event_fn(void *arg, const valise_event *event, valise_error *err);

typedef struct valise_filter {
    size_t size;
    const char *const *types;   /* NULL-ended, '*' globs allowed; NULL: all */
    valise_str node_id, run_id; /* "": any */
    valise_str namespace_pattern;
} valise_filter;

#define VALISE_FILTER_INIT                                                                         \
    {                                                                                              \
        sizeof(valise_filter), NULL, {NULL, 0}, {NULL, 0},                                         \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

typedef struct valise_follow {
    size_t size;
    valise_filter filter;
    const valise_cursor *since; /* NULL: from now on */
    bool live;                  /* live events too */
    uint32_t queue_max;         /* 0: fn is called as events come. Else they wait in a queue of this
                                   size for valise_subscription_next; what does not fit is counted */
    valise_event_fn *fn;
    void *arg;
    valise_str actor; /* who listens: events the actor may not see are left out; "": the handle's */
    bool lossless;    /* with live and fn: while too many live events wait for fn, whoever publishes
                         another one waits as well. fn must not wait for a publisher itself */
} valise_follow;

#define VALISE_FOLLOW_INIT                                                                         \
    {                                                                                              \
        sizeof(valise_follow), VALISE_FILTER_INIT, NULL, false, 0, NULL, NULL, {NULL, 0}, false    \
    }

typedef struct valise_subscription valise_subscription;

/* VALISE_E_LIMIT when `since` lies before the retained log: it names the oldest seq. */
VALISE_API int valise_subscribe(valise_subscription **out, valise *v, const valise_follow *follow,
                                valise_error *err);
/* No callback runs after it returned, except where a callback itself calls it. NULL is fine. */
VALISE_API void valise_unsubscribe(valise_subscription *subscription);

/* The next queued event: 1; 0 when none came for timeout_ns. Valid until the next call. */
VALISE_API int valise_subscription_next(const valise_event **out, valise_subscription *subscription,
                                        int64_t timeout_ns, valise_error *err);

/* How many did not fit into the queue, and how many callbacks failed. */
VALISE_API void valise_subscription_losses(uint64_t *dropped, uint64_t *failed,
                                           valise_subscription *subscription);

/* Tell those who listen now. Only size, type, node_id, namespace_name, run_id, cause and payload
 * are read. */
VALISE_API int valise_publish(valise *v, valise_str actor, const valise_event *event,
                              valise_error *err);

/* Look for what other processes wrote, and deliver it. A host that follows a workspace others write
 * to calls it now and then, or waits: returns 1 when there was something, 0 after timeout_ns. */
VALISE_API int valise_poll(valise *v, int64_t timeout_ns, valise_error *err);

VALISE_END

#endif
