/* bus.h -- the handle, and the one path of every operation.
 *
 *     valise_dispatch   JSON in, JSON out          dispatch.c      every surface
 *     vls_run           structs in, structs out    run.c           C code of the library
 *          |
 *     command           decode, check, lift        command.c       on the caller's thread
 *     group             queue, lead, hand over     group.c
 *     commit            one transaction            commit.c        on the leader's thread
 *     pipeline          retry, access, expect,     pipeline.c
 *                       middleware, decide, apply
 *     feed              what follows               feed.h
 *
 * Nothing else writes state. What is not state (cursors, the read log, garbage collection) is
 * written through vls_with_txn, which takes turns with the commands.
 *
 * Threads: struct valise is shared; everything else here is single. */
#ifndef VLS_BUS_H
#define VLS_BUS_H

#include <pthread.h>
#include <stdatomic.h>

#include <valise/workspace.h>

#include "base/time.h"
#include "base/uuid.h"
#include "bus/actor.h"
#include "bus/feed.h"
#include "bus/group.h"
#include "bus/registry.h"
#include "store/blob.h"
#include "store/view.h"

#define VLS_REPLY_MAX ((size_t)256 << 20) /* bytes of an answer that is not streamed */
#define VLS_BATCH_MAX 10000u              /* commands of one batch */
#define VLS_NONCES 32u                    /* drawn at once */

/* ---- opening ---- */

/* Who may do what (access.h has the functions). Both return 0, or VALISE_E_DENIED with a message
 * and the way out; rows of actors are read through the view. 1: yes, and in front of a command the
 * one that records this new actor is run (VLS_ACCESS_ADMIT). Never NULL. */
typedef struct vls_bus_access {
    void *self; /* passed to both */
    /* May the actor run op with these arguments (a struct of op->in, which grants may narrow)? */
    int (*check)(void *self, valise_view *view, valise_str actor, const valise_op *op,
                 const void *args, valise_error *err);
    /* valise_view_allows: one more capability, while an operation runs. */
    int (*allows)(void *self, valise_view *view, valise_str actor, const char *capability,
                  const char *const *attrs, valise_error *err);
} vls_bus_access;

#define VLS_CONFIG_FILE "config" /* in the workspace's own folder: its settings */

/* Where the workspace lies, for areas that look outside. */
typedef struct vls_bus_place {
    const char *root;   /* the folder it is about; NULL: none, it is in memory */
    const char *folder; /* in it, for files of its own; NULL: the same */
    /* Append the values of a setting of the configuration, a line for each. NULL: there are none */
    int (*setting)(vls_buf *out, const valise *v, const char *name, valise_error *err);
    /* Programs that the user lets run (K34). NULL: none. */
    /* May these bytes at this path (absolute, without links) run? id NULL: may any?
     * VALISE_E_DENIED, with the line that would trust them. */
    int (*may_run)(const valise *v, const char *path, const valise_id *id, valise_error *err);
    /* Append the path of the nth program with these bytes that is trusted: 1. 0: there is none. */
    int (*trusted)(vls_buf *out, const valise *v, const valise_id *id, size_t nth,
                   valise_error *err);
} vls_bus_place;

/* Everything is borrowed and must outlive the handle. */
typedef struct vls_bus_options {
    const valise_env *env;
    vls_store *store; /* NULL: only operations with NO_WORKSPACE */
    vls_blobs *blobs; /* NULL: there is no blob storage */
    const vls_registry *registry;
    vls_bus_access access;
    const valise_middleware *const *middleware; /* in this order, NULL-ended; or NULL */
    valise_str actor;                           /* "": "local" */
    bool full_sync;                             /* a commit waits for the disk */
    const char *read_only_hint; /* the way out where the store is read-only; NULL: there is none */
    /* Called now and then after a command, with nothing held; may be NULL. */
    void (*upkeep)(valise *v);
    void *engine; /* whatever the engine keeps with the handle */
    vls_bus_place place;
} vls_bus_options;

/* What an area keeps with a handle. */
typedef struct vls_kept {
    const void *key;
    void *self;
    void (*free_fn)(void *self);
} vls_kept;

struct valise {
    const valise_env *env;
    vls_store *store;
    vls_blobs *blobs;
    const vls_registry *registry;
    vls_bus_access access;
    const valise_middleware *const *middleware;
    size_t middleware_count;
    char actor_text[VLS_ACTOR_MAX + 1];
    valise_str actor;
    void *engine;
    vls_bus_place place;
    const char *read_only_hint;
    void (*upkeep)(valise *v);

    vls_uuid_gen ids;
    vls_clock clock;
    vls_group group;
    const vls_feed_ops *feed; /* NULL: nobody follows */
    void *feed_self;

    _Atomic uint64_t epoch; /* counts what this handle committed */

    pthread_mutex_t keeping; /* over what is kept */
    vls_vec(vls_kept) kept;

    pthread_mutex_t aside;         /* apart.c: held by who runs middleware or an apart command */
    _Atomic uint64_t aside_thread; /* that runs an apart command now, or 0 */

    /* Of whoever leads: */
    unsigned careful;            /* groups that still take marks, since a command failed lately */
    vls_arena spare;             /* for the next view; env NULL: none */
    vls_vec(vls_commit) commits; /* of the group, for the feed */
    uint8_t nonces[VLS_NONCES][VLS_NONCE_SIZE];
    unsigned nonces_left;
};

/* valise_open and valise_close (src/engine) call these. */
int vls_bus_open(valise **out, const vls_bus_options *options, valise_error *err);
void vls_bus_close(valise *v); /* nobody uses it any more; NULL is fine */

/* The handle that an operation runs on, seen from its view; NULL: none. */
static inline valise *vls_view_bus(const valise_view *view)
{
    return view->bus;
}

/* State of an area that belongs to this handle, under a key of its own (the address of something
 * static): what was kept under it before, else what make makes. It is freed with the handle, the
 * last one first, while the store is still open. Shared: any thread. make runs with a lock held. */
typedef int vls_keep_fn(void **out, valise *v, valise_error *err);
int vls_bus_keep(void **out, valise *v, const void *key, vls_keep_fn *make,
                 void (*free_fn)(void *self), valise_error *err);
void *vls_bus_kept(valise *v, const void *key); /* NULL: nothing */

/* Another number once this handle has committed something: what was read before may be out of date.
 */
static inline uint64_t vls_bus_epoch(const valise *v)
{
    return atomic_load_explicit(&v->epoch, memory_order_acquire);
}

/* Does anybody listen to live events? Cheap: ask before making one. */
bool vls_bus_listens(const valise *v);

/* Is this thread inside of a command, decider or middleware of this handle? Then it must not
 * dispatch. */
bool vls_bus_is_inside(valise *v);

/* Before the handle is used by others. */
void vls_bus_follow(valise *v, const vls_feed_ops *feed, void *self);

/* ---- the typed path ---- */

/* What the strings of a result live in. Zeroed, or released with vls_memory_release. */
typedef struct vls_memory {
    valise_view view; /* over: nothing can be read through it any more */
    vls_arena arena;
} vls_memory;
void vls_memory_release(vls_memory *memory);

static inline void vls_auto_memory(vls_memory *memory)
{
    vls_memory_release(memory);
}

/* What only code of the library may ask for. */
typedef struct vls_run_more {
    /* Within the transaction of a command, after its changes were applied: erasure rewrites
     * entries here. A failure undoes the command. May be NULL. */
    int (*also)(void *arg, vls_txn *txn, valise_view *view, valise_error *err);
    void *arg;
    bool internal; /* the engine itself acts: INTERNAL operations too, no access check, no
                      middleware */
    /* LIST queries and jobs: gets each row, a struct of op->out. Positive: no more, please. */
    int (*emit)(void *arg, const void *row, valise_error *err);
    void *emit_arg;
    valise_reply *reply; /* gets seq, time, id, repeated and current; json stays NULL. Or NULL */
} vls_run_more;

/* Run an operation of any kind with a struct of op->in (NULL where it takes none) and get a
 * struct of op->out. The same checks as for JSON are made. The engine fills id and size of
 * contents, in lists and nested structs in place: these must be writable, args itself is copied.
 * result may be NULL when nobody wants it, memory when it is nothing but numbers and ids; call and
 * more may be NULL. */
int vls_run(valise *v, const valise_op *op, const void *args, void *result, vls_memory *memory,
            const valise_call *call, const vls_run_more *more, valise_error *err);

/* The same as the engine's own (vls_run_more.internal): on behalf of the call's actor. */
int vls_run_own(valise *v, const valise_op *op, const void *args, void *result, vls_memory *memory,
                const valise_call *call, valise_error *err);

/* The engine's own again and again, until there is no more: a command without arguments, whose
 * result begins with `bool more`. Each round does something or is the last one. */
int vls_run_rounds(valise *v, const valise_op *op, const valise_call *call, valise_error *err);

/* One of several commands that are run together. */
typedef struct vls_run_item {
    const valise_op *op;
    const void *args; /* struct of op->in; borrowed with all it points to, but see vls_run */
    void *result;     /* struct of op->out, of numbers and ids; NULL: nobody wants it */
} vls_run_item;

/* Run commands in one transaction, all or none, as the engine's own (vls_run_more.internal) with
 * the actor and cause of the call; their `prepare` is not asked. What they leave behind for
 * followers is kept until the end; rows of QUIET collections without events are not. */
int vls_run_many(valise *v, const vls_run_item *items, size_t count, const valise_call *call,
                 valise_error *err);

/* A batch as valise_dispatch_batch takes it (each command its actor's, and checked as such), and
 * behind it commands of the engine itself, as vls_run_many takes them, in one transaction. Errors
 * of the batch name the command as "[3].key"; count is at least 1. */
int vls_dispatch_with(valise *v, const valise_command *commands, size_t count,
                      const vls_run_item *more, size_t more_count, const valise_call *call,
                      valise_error *err);

/* ---- reading and writing outside operations ---- */

/* Read one consistent state, that of call->at or the newest, as call->actor. No access check. */
typedef int vls_view_fn(void *arg, valise_view *view, valise_error *err);
int vls_with_view(valise *v, const valise_call *call, vls_view_fn *fn, void *arg,
                  valise_error *err);

/* Write what is not state, in a transaction of its own, in turn with the commands. Changes nothing
 * when fn fails. Not from a decider or middleware: VALISE_E_INVALID. */
typedef int vls_txn_fn(void *arg, vls_txn *txn, valise_error *err);
int vls_with_txn(valise *v, vls_txn_fn *fn, void *arg, valise_error *err);

/* The same for what is not worth waiting for: VALISE_E_BUSY where others are writing, and lost in a
 * power cut, since nobody waits for the disk. */
int vls_with_lazy_txn(valise *v, vls_txn_fn *fn, void *arg, valise_error *err);

#endif
