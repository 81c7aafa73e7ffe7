/* ephemeral.h -- the ephemeral backpacks of one handle of a workspace.
 *
 *     table, kept with the handle     name -> vls_ephemeral, counted
 *     vls_ephemeral                   a ring, and what all who use it share
 *
 * One lives as long as somebody has it open: `opened` counts, and the last one who leaves takes the
 * name along. One that an operation made (backpack:create, backpack:fork) is open until
 * backpack:drop, or until the handle of the workspace is closed. Who still holds one that is gone
 * is told so; the name may be another's by then, which is why they are found by id as well.
 *
 * Rules of the workspace (rows with the backpack zero) hold for rings too: the ring has copies,
 * which whoever has a view of the newest state brings up to date.
 *
 * Threads: shared. */
#ifndef VLS_EPHEMERAL_H
#define VLS_EPHEMERAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "backpack/ring.h"
#include "backpack/scope.h"
#include "base/ref.h"
#include "bus/bus.h"

typedef struct vls_ephemeral {
    const valise_env *env;
    vls_ring *ring;
    size_t name_len, archive_len, actor_len;
    int64_t created;
    int64_t rules_seq;    /* the state of the workspace whose rules the ring has; -1: none */
    pthread_mutex_t lock; /* over rules_seq */
    vls_ref refs;
    unsigned retry_max;   /* see retry_in */
    unsigned opened;      /* under the lock of the table */
    atomic_uint failures; /* of the archive, one after the other */
    atomic_uint retry_in; /* commands until it is tried again; 0: it does not fail */
    _Atomic bool gone;    /* it was dropped: its name is no longer its own */
    valise_uuid id;
    char actor[VLS_ACTOR_MAX + 1]; /* who made it */
    char name[VLS_BAG_NAME_MAX + 1];
    char archive[VLS_BAG_NAME_MAX + 1]; /* the durable one that gets what is dropped; "": none */
} vls_ephemeral;

typedef struct vls_ephemeral_new {
    valise_str name, archive, actor;
    int64_t created;
    const valise_uuid *id; /* of the ring */
} vls_ephemeral_new;

static inline valise_str vls_ephemeral_name(const vls_ephemeral *e)
{
    return (valise_str){e->name, e->name_len};
}

static inline valise_str vls_ephemeral_archive_name(const vls_ephemeral *e)
{
    return (valise_str){e->archive, e->archive_len};
}

/* Put a ring that was just made under a name, open once. Takes a reference of the ring.
 * VALISE_E_EXISTS. */
int vls_ephemeral_add(vls_ephemeral **out, valise *v, vls_ring *ring, const vls_ephemeral_new *like,
                      valise_error *err);

/* Make the ring too, with the id of *like. */
int vls_ephemeral_make(vls_ephemeral **out, valise *v, const vls_ephemeral_new *like,
                       const vls_ring_options *options, valise_error *err);

/* The same for one that starts with the state that a ledger of another ring shows: *seq. Whether it
 * is lenient, taints, and with what, is as it is there; of options only name, bounds and archive
 * count. */
int vls_ephemeral_fork(vls_ephemeral **out, int64_t *seq, valise *v, const vls_ledger *from,
                       const vls_ephemeral_new *like, const vls_ring_options *options,
                       valise_error *err);

/* VALISE_E_EXISTS when a durable backpack has the name. */
int vls_ephemeral_check_name(valise_view *view, valise_str name, valise_error *err);

/* The archive must be a durable backpack that the actor of the view may write to. */
int vls_ephemeral_check_archive(valise_view *view, valise_str name, valise_error *err);

/* The failure of a durable backpack that is given what only rings have: VALISE_E_INVALID. */
int vls_ephemeral_only(valise_error *err);

/* A new reference, or NULL. id: only if it has this one; NULL or zero: any. */
vls_ephemeral *vls_ephemeral_find(valise *v, valise_str name, const valise_uuid *id);
vls_ephemeral *vls_ephemeral_find_id(valise *v, const valise_uuid *id);

/* find, and counted among those who have it open, until vls_ephemeral_leave. */
vls_ephemeral *vls_ephemeral_enter(valise *v, valise_str name);
void vls_ephemeral_leave(valise *v, vls_ephemeral *e);

/* Take it out of the table, whoever has it open; false: there is none. */
bool vls_ephemeral_drop(valise *v, valise_str name);

vls_ephemeral *vls_ephemeral_ref(vls_ephemeral *e);
void vls_ephemeral_unref(vls_ephemeral *e); /* NULL is fine */

/* All of them, each a new reference, by name. */
int vls_ephemeral_list(vls_ephemeral ***out, size_t *count, valise *v, valise_error *err);
void vls_ephemeral_list_free(vls_ephemeral **list, size_t count, valise *v);

/* Copy the rules of the workspace that the view sees into the ring. A state that is older than the
 * one they were copied from last changes nothing. */
int vls_ephemeral_take_rules(vls_ephemeral *e, valise_view *view, valise_error *err);

/* Marks that only the scope has (what its node read in a state of the past) go into the ring. */
int vls_ephemeral_keep_marks(vls_ephemeral *e, vls_scope *scope, valise_error *err);

/* Hand what was dropped to the archive, as this actor (tell.c); what it does not take, it is handed
 * again. Not within an operation. */
void vls_ephemeral_archive(vls_ephemeral *e, valise *v, valise_str actor);

/* Asked once after each command: is it time for that? While the archive fails it is not each time
 * that something is dropped, and may be though nothing was. */
bool vls_ephemeral_must_archive(vls_ephemeral *e, bool dropped);

/* The same, and wait for whoever is at it. VALISE_E_LIMIT, once: some were lost. */
int vls_ephemeral_flush(vls_ephemeral *e, valise *v, valise_str actor, valise_error *err);

static inline void vls_auto_ephemeral(vls_ephemeral **e)
{
    vls_ephemeral_unref(*e);
}

#endif
