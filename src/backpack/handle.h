/* handle.h -- the inside of valise_backpack: which backpack, which state, and who acts.
 *
 * Reading goes through vls_handle_read: the actor is checked, and fn gets a ledger and the handle's
 * scope. Writing is an operation (ops.h), run with vls_run like any other. Only packing and
 * unpacking on an ephemeral backpack take a short way: where no middleware wants to see the
 * command, the same decision is made without its JSON.
 *
 * Threads: shared, as the public type is. */
#ifndef VLS_HANDLE_H
#define VLS_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "backpack/ops.h"
#include "base/ref.h"

/* What is told to who watches a view: a read that is recorded, with its outcome (VALISE_READ_...),
 * or a write that was applied: its action and VALISE_NONE. */
typedef void vls_handle_seen_fn(void *arg, valise_str key, int64_t action, int64_t outcome);

struct valise_backpack {
    const valise_env *env;
    valise *v; /* NULL: that was closed first; nothing can be done any more but to close this */
    struct valise_backpack *prev, *next; /* among the handles of v, under a lock of theirs */
    vls_arena arena;                     /* the texts below */
    valise_str name, actor;

    vls_ephemeral *memory; /* ephemeral: held; NULL: durable */
    vls_ring *ring;        /* of memory; or NULL */
    bool entered;          /* it is counted among those who have it open */
    valise_uuid id;

    bool snapshot;
    int64_t upto;      /* snapshot: the commit */
    vls_ledger frozen; /* snapshot of a ring */

    bool node; /* a node's view */
    vls_who who;
    vls_scope *scope;
    bool lent;                      /* the scope is the parent's */
    struct valise_backpack *parent; /* whose state, queue and open ring a view shares; or NULL */
    vls_ref refs;                   /* the handle itself, and those whose parent it is */

    vls_handle_seen_fn *seen; /* of a view; NULL: nobody watches */
    void *seen_arg;

    struct vls_behind *behind; /* what is not kept yet; NULL: packs are kept at once */

    /* What the actor may, as it was asked for last: when, and epoch << 3 | VLS_HANDLE_... */
    _Atomic int64_t asked_ns;
    _Atomic uint64_t allowed;
};

enum { VLS_HANDLE_READ = 1, VLS_HANDLE_WRITE = 2, VLS_HANDLE_AS_NODE = 4 };

#define VLS_GLANCE_MAX 3 /* handles that are looked at together */

/* What is seen through one handle or more, each with a ledger and a scope of its own. */
typedef struct vls_glance {
    vls_ledger ledgers[VLS_GLANCE_MAX];
    vls_scoped seen[VLS_GLANCE_MAX];
    int64_t now;
} vls_glance;

/* Look at the states of handles, which are of one kind and see one state of the workspace. The
 * actor of each must be allowed to look at its own. A node's view makes the owner's beside it show
 * what that node may see there. */
typedef int vls_handle_fn(void *arg, const vls_glance *at, valise_error *err);
int vls_handle_read(valise_backpack *bag, vls_handle_fn *fn, void *arg, valise_error *err);
int vls_handle_read_many(valise_backpack *const *bags, size_t count, vls_handle_fn *fn, void *arg,
                         valise_error *err);

/* As the handle's actor. */
static inline valise_call vls_handle_call(const valise_backpack *bag)
{
    valise_call call = VALISE_CALL_INIT;

    call.actor = bag->actor;
    return call;
}

/* Fill in who acts, as vls_handle_run does. */
void vls_handle_sign(vls_who *who, const valise_backpack *bag);

/* Run an operation on the handle's backpack, as its actor and node. args starts with a vls_who,
 * which is filled in. Of a snapshot VALISE_E_INVALID. */
int vls_handle_run(valise_backpack *bag, const valise_op *op, void *args, void *result,
                   const valise_call *call, valise_error *err);

/* The same for later: the backpack is written behind. */
int vls_handle_queue(valise_backpack *bag, const valise_op *op, void *args, const valise_call *call,
                     valise_error *err);

/* The state that a snapshot of an ephemeral backpack holds, whatever was pruned since; NULL: the
 * handle is none. */
const vls_ledger *vls_handle_held(const valise_backpack *bag);

/* Ephemeral: may the actor do what the bits say? Asked anew when this handle's workspace has
 * changed, and once a second for what other processes did. */
int vls_handle_allowed(valise_backpack *bag, unsigned what, int64_t now, valise_error *err);

/* One more capability of the actor. */
int vls_handle_may(valise_backpack *bag, const char *capability, valise_error *err);

/* Tell those who listen what an ephemeral backpack did, and archive what it dropped: what cannot be
 * archived now is with the next pack, or by a flush (tell.c). */
void vls_handle_tell(valise_backpack *bag, const vls_done *done);
/* A read, or what was denied: outcome is VALISE_READ_... */
void vls_handle_tell_access(valise_backpack *bag, valise_str key, int64_t action, int64_t outcome,
                            int64_t now);
void vls_handle_tell_snapshot(valise_backpack *bag);

/* Does it take the short way? Then no middleware wants to see its commands. */
static inline bool vls_handle_is_short(const valise_backpack *bag)
{
    return bag->ring && bag->v && bag->v->middleware_count == 0;
}

/* valise_backpack_merge of one that is dropped next: later merges need not know of it. */
int vls_handle_merge_passing(valise_backpack *ours, valise_backpack *base, valise_backpack *theirs,
                             valise_conflict_fn *fn, void *arg, valise_error *err);

/* The first items of a backpack, {"key":value}, packed as by the system; "": none. */
int vls_handle_pack_first(valise_backpack *bag, valise_str items, valise_error *err);

/* valise_pack_str and valise_quarantine by the owner, for a node: what is written carries these
 * taints too (vls_pack_args). */
int vls_handle_pack(valise_packed *out, valise_backpack *bag, valise_str key, valise_str json,
                    const valise_pack_options *options, valise_list taints, valise_error *err);
int vls_handle_quarantine(valise_packed *out, valise_backpack *bag, const char *key,
                          const valise_quarantine_options *options, valise_list taints,
                          valise_error *err);

/* What a view's node would pack now carries these, in arena: a list of const valise_taint * whose
 * backpack is said. In a run that was started. */
int vls_handle_marks(valise_list *out, valise_backpack *view, vls_arena *arena, valise_error *err);
/* A view's node has read what carries these elsewhere. */
int vls_handle_mark(valise_backpack *view, valise_list taints, valise_error *err);

/* VALISE_E_INVALID for a snapshot. */
int vls_handle_check_writable(valise_backpack *bag, valise_error *err);

/* Are these handles usable, and of one workspace? VALISE_E_INVALID when theirs was closed. */
int vls_handle_check(valise_backpack *const *bags, size_t count, valise_error *err);

/* A handle, and one of the same backpack; not filled any further. */
int vls_handle_new(valise_backpack **out, valise *v, valise_str name, valise_str actor,
                   valise_error *err);
int vls_handle_child(valise_backpack **out, valise_backpack *parent, valise_error *err);

/* ---- views of nodes (api_node.c) ---- */

/* As valise_backpack_node, but no run starts. Each is begun and ended then, while nobody else uses
 * the view: flows keep one view for each node. Permissions that changed hold from the next access
 * on, as always. What is done between two runs makes runs of its own, as outside of flows. */
int vls_handle_node(valise_backpack **out, valise_backpack *bag, const valise_node *node,
                    valise_error *err);

/* A run of the view's node starts. VALISE_E_INVALID while one goes on. */
int vls_handle_begin_run(valise_backpack *view, valise_error *err);

/* It is over. On failure it goes on, and can be ended again; what waits to be written is kept
 * first. valise_backpack_close ends it too, and tells nobody what went wrong. */
int vls_handle_end_run(valise_backpack *view, valise_error *err);

/* The same, and commands of the engine with it, in one transaction with what waits to be written. A
 * pack that is refused fails it: that pack is gone, the others wait, the run goes on and none of
 * `more` was run. Of an ephemeral backpack `more` comes first, in a transaction of its own, and
 * only then the run ends. */
int vls_handle_end_run_with(valise_backpack *view, const vls_run_item *more, size_t count,
                            valise_error *err);

/* From now on fn is told what is read and written through the view, on the thread that does it and
 * once it is done; fn NULL: no longer. Set it while nobody else uses the view. Of what waits to be
 * written it is told at once: it was accepted. fn may use the backpack. */
void vls_handle_watch(valise_backpack *view, vls_handle_seen_fn *fn, void *arg);

static inline void vls_handle_seen(const valise_backpack *bag, valise_str key, int64_t action,
                                   int64_t outcome)
{
    if (VLS_UNLIKELY(bag->seen))
        bag->seen(bag->seen_arg, key, action, outcome);
}

/* Around what makes many commits at once: whoever watches is told of those of this view behind
 * seq. */
int vls_handle_seen_from(int64_t *seq, valise_backpack *bag, valise_error *err);
void vls_handle_seen_since(valise_backpack *bag, int64_t seq);

/* Give the handle its scope. permissions: of a view of a snapshot, which can register none. */
int vls_handle_scope(valise_backpack *bag, const valise_permissions *permissions,
                     valise_error *err);

/* ---- write-behind (behind.c) ---- */

int vls_behind_new(struct vls_behind **out, valise_backpack *bag, valise_error *err);
void vls_behind_free(struct vls_behind *behind); /* what waits is lost */
/* A command that is refused fails the flush and is gone; the others wait for the next one. Anything
 * else that fails leaves all of them waiting. */
int vls_behind_flush(struct vls_behind *behind, valise_error *err);
/* The same where nobody hears of errors: all that is not refused is kept, if it can be. The next
 * flush tells what was refused first. */
void vls_behind_settle(struct vls_behind *behind);
/* One more command that waits, as this actor. Borrows nothing. When too many wait they are flushed
 * first; if that fails, this one does not wait either. */
int vls_behind_add(struct vls_behind *behind, const valise_op *op, const void *args,
                   const valise_call *call, valise_error *err);

/* Flush, and in the same transaction run one more command, as the actor of the call, and others as
 * the engine's own: all or nothing. What fails the flush fails these, and they do not wait; what
 * was refused before is told first, and nothing is done then. Durable backpacks, written behind or
 * not. */
int vls_behind_flush_with(valise_backpack *bag, const valise_op *op, const void *args,
                          const vls_run_item *more, size_t count, const valise_call *call,
                          valise_error *err);

/* Of the handle, or of the one it is a view of. */
struct vls_behind *vls_handle_behind(valise_backpack *bag); /* NULL: none */
int vls_handle_flush(valise_backpack *bag, valise_error *err);

#endif
