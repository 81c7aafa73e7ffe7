/* event.h -- log events: what those who follow the log are told about an entry.
 *
 *     index 0      the command: type is the operation's name
 *     index i      the i-th change that the entry lists, where its collection has an `event`
 *                  function and that function says there is an event
 *
 * Numbers of changes are those of the list, whoever asks. So if an extension is missing, its
 * changes have no events, but the cursors for all others mean the same. Events are made from the
 * entry and the rows whenever they are wanted; no table holds them. docs/events.md says what they
 * contain.
 *
 * Threads: vls_events is immutable; the functions work on a transaction, which is single. */
#ifndef VLS_EVENT_H
#define VLS_EVENT_H

#include <valise/event.h>

#include "base/ref.h"
#include "bus/change.h"
#include "bus/registry.h"

#define VLS_EVENT_MAX_PAYLOAD ((size_t)1 << 20)
#define VLS_EVENT_MAX_RESULT ((size_t)64 << 10) /* a longer answer is not repeated in the event */
#define VLS_EVENT_MAX_TEXT 1024u                /* type, node, namespace, run of a live event */

/* Ids of events are derived from the command's, with numbers no command uses for its own. */
#define VLS_EVENT_FIRST_ID (UINT64_C(1) << 63)

/* The events of one entry, or one live event. Counted. */
typedef struct vls_events {
    vls_ref refs;
    vls_arena arena;    /* whatever they point to; texts end in NUL */
    int64_t erased_seq; /* the newest erasure there was when they were made */
    int64_t seq;        /* 0: live */
    valise_event *events;
    size_t count;
} vls_events;

int vls_events_new(vls_events **out, const valise_env *env, int64_t seq, size_t max,
                   valise_error *err);
vls_events *vls_events_ref(vls_events *events);
void vls_events_unref(vls_events *events); /* NULL is fine */

/* Copy an event with everything it points to behind the others: there must be room. */
int vls_events_add(vls_events *events, const valise_event *event, valise_error *err);

/* All events of an entry that txn sees. ahead may be NULL. */
int vls_events_of_entry(vls_events **out, vls_txn *txn, const vls_entry *entry,
                        const vls_ahead *ahead, valise_error *err);

/* The event of a change whose collection is known, borrowed from the walk: 1; or 0 when the
 * collection tells nothing of it, and *out is the command's with the id and index of the change.
 * before and after are structs or NULL. */
int vls_event_of_change(valise_event *out, vls_changes_walk *walk, const vls_change *change,
                        const void *before, const void *after, valise_error *err);

/* ---- who gets it ---- */

/* Patterns must be patterns, and texts not endless. VALISE_E_INVALID. */
int vls_filter_check(const valise_filter *filter, valise_error *err);
bool vls_filter_match(const valise_filter *filter, const valise_event *event);
int vls_filter_copy(valise_filter *out, const valise_filter *filter, vls_arena *arena,
                    valise_error *err);

/* For valise_coll.event: this type, and a struct as the payload. 1. */
int vls_event_tell(valise_event *out, valise_view *view, const char *type, const void *told,
                   const valise_field *fields, valise_error *err);

/* What one must be allowed to see an event: "AREA:read", where AREA is that of what the command
 * needs, else of its name (of a live event: of its type; "event" where that has none), narrowed by
 * the namespace, nodeId and runId it has. */
typedef struct vls_event_need {
    char capability[80];
    const char *attrs[7]; /* pairs, NULL-ended */
} vls_event_need;

/* command: the type of the entry's first event; of a live event its own. Borrows from event, whose
 * texts end in NUL. */
void vls_event_need_of(vls_event_need *out, const vls_registry *registry, const valise_event *event,
                       valise_str command);

static inline void vls_auto_events(vls_events **events)
{
    vls_events_unref(*events);
}

#endif
