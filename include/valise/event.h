/* valise/event.h -- events: follow what happens in a workspace.
 *
 * *Log events* are made from a log entry once it is durable. Index 0 is the command itself; the
 * others are those of its changes that have an event. Whoever follows from a cursor (seq, index)
 * misses nothing that is still in the log. *Live events* (reads, progress, stream chunks) have no
 * seq and reach only those who listen at that moment.
 *
 * Threads: an event is immutable, and borrowed until the callback returns. A subscription is
 * shared, but only one thread at a time may take events from its queue. */
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
    valise_uuid id;     /* of the command for index 0, else derived from it */
    int64_t seq;        /* 0: a live event */
    uint32_t index;     /* within the entry */
    int64_t time;       /* ns */
    valise_str type;    /* "pin:add", "BACKPACK_PACK" */
    valise_str source;  /* the actor */
    valise_str node_id; /* "": none; likewise the next two */
    valise_str namespace_name;
    valise_str run_id;
    valise_uuid cause;  /* zero: none */
    valise_str payload; /* canonical JSON: ids, sizes and summaries, never contents */
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
    int64_t seq; /* the next event is the first at or after (seq, index) */
    uint32_t index;
} valise_cursor;

/* Receives events. It runs without any lock held and may call the API. Its return value stops
 * nothing: a negative code is only counted (valise_subscription_losses). */
typedef int valise_event_fn(void *arg, const valise_event *event, valise_error *err);

typedef struct valise_filter {
    size_t size;
    const char *const *types;   /* NULL-ended, with * for any text; NULL: all */
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
    bool live;                  /* include live events */
    /* 0: fn is called for each event. Else events wait in a queue of this size for
     * valise_subscription_next; events that do not fit are counted and lost. */
    uint32_t queue_max;
    valise_event_fn *fn;
    void *arg;
    valise_str actor; /* who follows: only events that this actor may see are delivered; "": the
                         handle's actor */
    /* With live and fn: if too many live events wait for fn, a thread that publishes another one
     * waits until fn has caught up. fn must not wait for such a thread. */
    bool lossless;
} valise_follow;

#define VALISE_FOLLOW_INIT                                                                         \
    {                                                                                              \
        sizeof(valise_follow), VALISE_FILTER_INIT, NULL, false, 0, NULL, NULL, {NULL, 0}, false    \
    }

typedef struct valise_subscription valise_subscription;

/* Follow events. The subscription ends with valise_unsubscribe. VALISE_E_LIMIT: `since` is older
 * than the log; the message names the oldest seq there is. */
VALISE_API int valise_subscribe(valise_subscription **out, valise *v, const valise_follow *follow,
                                valise_error *err);
/* End a subscription. After this returns, no callback runs any more (unless a callback itself made
 * the call). NULL is fine. */
VALISE_API void valise_unsubscribe(valise_subscription *subscription);

/* Take the next event from the queue. 1: *out is valid until the next call. 0: none came within
 * timeout_ns. */
VALISE_API int valise_subscription_next(const valise_event **out, valise_subscription *subscription,
                                        int64_t timeout_ns, valise_error *err);

/* Tell how many events did not fit into the queue, and how many callbacks failed. */
VALISE_API void valise_subscription_losses(uint64_t *dropped, uint64_t *failed,
                                           valise_subscription *subscription);

/* Publish a live event to those who listen now. Of the event, only size, type, node_id,
 * namespace_name, run_id, cause and payload are read. */
VALISE_API int valise_publish(valise *v, valise_str actor, const valise_event *event,
                              valise_error *err);

/* Deliver events of commands that other processes ran, waiting up to timeout_ns for one. 1: there
 * were events; 0: there were none. A host that follows a workspace which other processes write to
 * calls this regularly. */
VALISE_API int valise_poll(valise *v, int64_t timeout_ns, valise_error *err);

VALISE_END

#endif
