/* command.h -- one command on its way through the pipeline.
 *
 *     vls_command_init     who, what, which id
 *     vls_command_decode   JSON         \  on the caller's thread: parsing, checking, hashing
 *     vls_command_take     a struct     /
 *     vls_pipeline_run     on the leader's thread, inside the transaction
 *     vls_command_reply    on the caller's thread again
 *
 * *Lifting* takes the contents out of the arguments: each becomes an object of its own, and the
 * payload that goes into the log holds its id.
 *
 * Threads: single; passed from the caller to the leader and back. */
#ifndef VLS_COMMAND_H
#define VLS_COMMAND_H

#include "bus/bus.h"
#include "bus/patience.h"

#define VLS_COMMAND_MAX_BYTES VLS_VIEW_MAX_BYTES

typedef struct vls_command {
    valise *bus;
    const valise_op *op;
    valise_str actor; /* this and all that follows up to `view`: set before it is queued */
    valise_uuid id;
    valise_uuid cause;
    valise_str expect;         /* canonical; "": anything */
    bool id_given;             /* by the caller: it may have been accepted before */
    bool internal;             /* no access check */
    bool no_middleware;        /* internal, or added by a middleware */
    bool apart;                /* nothing of it is stored (apart.c) */
    bool dry_run;              /* it will be undone, whatever comes of it */
    bool *prepared_once;       /* of a batch: one of its commands spoke for all; NULL: no batch */
    bool want_json;            /* the answer is handed out as a blob */
    bool want_struct;          /* the struct of the result, and so the view, is needed afterwards */
    const vls_entry *replayed; /* not NULL: time, nonce, sent come from here */
    int (*also)(void *arg, vls_txn *txn, valise_view *view, valise_error *err);
    void *also_arg;

    struct vls_told *told; /* where its live events wait; NULL: nowhere */
    vls_arena *arena;      /* of arguments, result and texts: its own, or a batch's */
    vls_arena own_arena;
    vls_arena *view_pool;            /* what the views of a batch live in; NULL: each by itself */
    void *args;                      /* struct of op->in */
    vls_vec(vls_new_object) objects; /* contents of args; in the arena */
    valise_str payload;              /* in LOGGED form */
    valise_str sent; /* the payload before a middleware changed it; ptr NULL: nobody did */

    valise_view view; /* the changes, once it ran */
    bool view_lent;   /* its arena is that of view_pool */
    int64_t time;     /* frozen when it is looked at first; 0: not yet */
    void *result;     /* struct of op->out; NULL without one */
    valise_blob *answer;
    vls_entry entry;    /* as stored, or as found by a retry */
    valise_str current; /* after VALISE_E_CONFLICT */
    bool repeated;      /* accepted before: entry is the old one and nothing was changed */
    bool applied;       /* entry was appended by this command; else it says which state it saw */

    vls_let_go let_go;           /* blobs to look after when it is committed (purge.h) */
    vls_vec(valise_id) received; /* blobs that came with it; in the arena */

    struct vls_command *admitted; /* what recorded its new actor, in front of it; or NULL. Lives in
                                     the arena */

    /* What its `prepare` and then middleware added, to run before it, and after it. They live in
     * the arena. */
    vls_vec(struct vls_command *) before;
    vls_vec(struct vls_command *) after;
    size_t prepared;        /* of before */
    const void *seen;       /* what `prepare` left for who calls; NULL: nothing */
    valise_str told_result; /* the answer with its PASSING members; ptr NULL: it has none */
    bool outdated;          /* one of these found that what was prepared no longer fits, or a blob
                               that was received is gone again */
} vls_command;

/* Borrows actor and expect (which is made canonical) from call. internal: no access check. The
 * struct must stay where it is. */
int vls_command_init(vls_command *out, valise *bus, const valise_op *op, const valise_call *call,
                     bool internal, valise_error *err);

/* The same with arenas that the commands of a batch share, and that outlive them. */
int vls_command_init_in(vls_command *out, valise *bus, const valise_op *op, const valise_call *call,
                        vls_arena *arena, vls_arena *view_pool, valise_error *err);
void vls_command_release(vls_command *command); /* a zeroed one is fine */

/* Let the operation take out of its arguments what is to lie elsewhere (prepare.c). */
int vls_command_receive(vls_command *command, valise_error *err);

/* For `receive`: may the actor run the command with these arguments? Nothing is written for
 * somebody who may not. Commands of the engine and of middleware are not asked for. */
int vls_prepare_allowed(valise_prepare *prepare, const void *args, valise_error *err);

/* For `receive`: this blob came along, and was put unless it is a dry run; and, since middleware
 * has the arguments received once more: did it? */
int vls_prepare_received(valise_prepare *prepare, const valise_id *blob, valise_error *err);
bool vls_prepare_has_received(const valise_prepare *prepare, const valise_id *blob);
bool vls_command_has_received(const vls_command *command, const valise_id *blob);

/* Let the operation look outside (prepare.c), once the arguments are there. */
int vls_command_prepare(vls_command *command, valise_error *err);

/* What valise_prepare_alloc takes its memory from; whether the command is only tried; whether it is
 * one of several. What is put in front of one of these does not know what is put in front of
 * another: so what is about the world at large is put in front of one alone, the first that asks
 * for it. */
vls_arena *vls_prepare_arena(valise_prepare *prepare);
bool vls_prepare_is_dry_run(const valise_prepare *prepare);
bool vls_prepare_is_shared(const valise_prepare *prepare);
bool vls_prepare_is_first(valise_prepare *prepare); /* of several, and once */

/* For decide, as view->seen, to tell the caller of in PASSING members of its answer; in a replay
 * there is nothing. Lives as long as the command: vls_prepare_arena. */
void vls_prepare_leave(valise_prepare *prepare, const void *seen);

/* Where bytes came along: whoever lets go of the same ones may take the file away each time, as
 * long as its clock is coarse. Nothing is asked of the caller, so there can be more. */
#define VLS_RECEIVE_TRIES 32u

/* It failed: is it because what was prepared no longer fits, and is there time for another try? And
 * if not, what the caller gets to know. */
bool vls_command_again(vls_patience *patience, const vls_command *command);
int vls_command_late(const vls_patience *patience, const vls_command *command, int rc,
                     valise_error *err);

/* It ran, and its transaction was rolled back: as if it had not. No middleware has seen it. */
void vls_command_forget(vls_command *command);

/* Arguments from JSON text, which is borrowed. INPUT: contents are lifted. ACCEPTED: they are ids,
 * to be filled by the caller. */
int vls_command_decode(vls_command *command, valise_str json, vls_field_form form,
                       valise_error *err);

/* The same for queries and jobs: only the struct, in arena. */
int vls_args_decode(void **out, const valise_op *op, valise_str json, vls_field_form form,
                    vls_arena *arena, valise_error *err);

/* Arguments from a struct, of which only the outermost is copied. */
int vls_command_take(vls_command *command, const void *args, valise_error *err);

/* Make objects of the contents of args, and the payload from args. checked: VALUEs are known to be
 * canonical. */
int vls_command_lift(vls_command *command, bool checked, valise_error *err);

/* Run the steps inside the transaction, of which some must be undone when it fails. */
int vls_pipeline_run(vls_command *command, vls_txn *txn, valise_error *err);

/* Parts of it, for middleware and replay: see the state of txn as this command; ask whether the
 * actor may; decide and apply. */
int vls_pipeline_look(vls_command *command, vls_txn *txn, valise_error *err);
int vls_pipeline_allowed(vls_command *command, valise_error *err);
int vls_pipeline_execute(vls_command *command, vls_txn *txn, valise_error *err);

/* The same steps for a command that is apart: nothing is written, no entry is made. txn reads. */
int vls_pipeline_apart(vls_command *command, vls_txn *txn, valise_error *err);

/* VALISE_E_UNSUPPORTED for one that is apart, and so cannot be `how`. */
int vls_apart_refuse(const vls_command *command, const char *how, valise_error *err);

/* Run it on this thread (apart.c). */
int vls_apart_run(vls_command *command, valise_error *err);

/* Only expect and decide: nothing is written. view.changes and entry.result say what would be. */
int vls_pipeline_try(vls_command *command, vls_txn *txn, valise_error *err);

/* From the middleware on (middleware.c); and without it, only with what was prepared. */
int vls_middleware_run(vls_command *command, vls_txn *txn, valise_error *err);
int vls_pipeline_execute_all(vls_command *command, vls_txn *txn, valise_error *err);

/* The answer of a command that ran. Gives the blob of the JSON away. */
valise_reply vls_command_reply(vls_command *command);

/* What is in `call`, of whatever size the caller's struct is. NULL: nothing. */
int vls_call_read(valise_call *out, const valise_call *call, valise_error *err);

static inline void vls_auto_command(vls_command *command)
{
    vls_command_release(command);
}

#endif
