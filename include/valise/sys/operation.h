/* valise/sys/operation.h -- one operation: everything anybody has to know about it, once.
 *
 * An entry of the registry gives the C dispatch, the command line with help, man page and
 * completion, and later HTTP routes, MCP tools and bindings. docs/adding-an-operation.md walks
 * through one.
 *
 * Threads: immutable. */
#ifndef VALISE_SYS_OPERATION_H
#define VALISE_SYS_OPERATION_H

#include <valise/progress.h>
#include <valise/sys/view.h>

VALISE_BEGIN

typedef struct valise valise;
typedef struct valise_job valise_job;
typedef struct valise_prepare valise_prepare;

enum {
    VALISE_COMMAND = 1, /* changes state, is logged */
    VALISE_QUERY,       /* reads one consistent state */
    VALISE_JOB,         /* outside or long work; submits commands */
};

enum {
    VALISE_OP_IDEMPOTENT = 1,   /* twice is the same as once. A command that changes no row is then
                                   not in the log, unless the caller gave it an id */
    VALISE_OP_DESTRUCTIVE = 2,  /* takes something away that cannot be had back */
    VALISE_OP_LIST = 4,         /* queries: the answer is a list; rows come by valise_view_emit */
    VALISE_OP_NO_WORKSPACE = 8, /* queries: needs none (the view has no rows) */
    VALISE_OP_INTERNAL = 16,    /* only the engine itself submits it */
    VALISE_OP_READ_ONLY = 32,   /* jobs: change nothing in the workspace */
    VALISE_OP_ASKS = 64, /* its arguments do not say what they stand for (a node id: which path?),
                            so where a grant is narrowed it asks itself, with valise_view_allows */
};

typedef struct valise_op {
    size_t size;       /* sizeof(valise_op) */
    const char *name;  /* "pin:add"; the command line is `valise pin add` */
    const char *alias; /* another command line, "validate" for "workspace:validate", or NULL */
    const char *brief; /* one line with a period */
    const char *help;  /* paragraphs for --help and the man page, or NULL */
    uint32_t kind;     /* VALISE_COMMAND, ... */
    uint32_t flags;    /* VALISE_OP_... */

    /* The capability it needs: "pin:write", "admin". A field of the arguments narrows it when a
     * grant does: "context:write type=summary" allows only calls whose `type` is summary. NULL
     * only with NO_WORKSPACE. */
    const char *needs;

    const valise_field *in; /* NULL: no arguments */
    size_t in_size;
    const valise_field *out; /* NULL: answers with {} */
    size_t out_size;

    /* What `expect` is compared with: fill *json with the canonical text of what is there now,
     * "null" when there is nothing. NULL: the operation takes no `expect`. It is called before
     * decide, and a conflict tells what it says: one that ASKS has to ask here too. */
    int (*current)(valise_str *json, valise_view *view, const void *args, valise_error *err);
    const char *expect_help; /* what that is: "the version of the item" */

    /* Exactly one of them. result is zeroed, out_size large. */
    int (*decide)(valise_view *view, const void *args, void *result, valise_error *err);
    int (*query)(valise_view *view, const void *args, void *result, valise_error *err);
    int (*job)(valise_job *job, const void *args, void *result, valise_error *err);

    const char *example; /* arguments as JSON; checked at registration */

    /* Commands, optional. Do these arguments concern something that lives in the memory of this
     * handle alone? Then the command goes the same way (schema, access, expect, middleware), but
     * sees the newest state, puts no rows, and is in no log: the reply's seq is 0, and a retry with
     * its id is done again. Not in a batch, not as a dry run; middleware cannot add commands to
     * it: VALISE_E_UNSUPPORTED. decide may then run beside the commands of other threads. What it
     * did stays done, also where there is no memory for the answer, or a middleware refuses it
     * after. */
    bool (*apart)(valise *v, const void *args);

    /* Commands, optional. Called on the caller's thread before the command is queued, once its
     * arguments were checked: here, and nowhere else, a command may look at the world outside
     * (files). What it saw it puts in front of the command with valise_prepare_add: commands that
     * are run before it in the same transaction, once it is known that the actor may. The log holds
     * them, so a replay never asks again. When one of them fails with VALISE_E_CONFLICT (what was
     * seen no longer fits), all of it is prepared anew, three times at most. Not called for
     * commands that are apart, or added by a middleware. */
    int (*prepare)(valise_prepare *prepare, const void *args, valise_error *err);

    /* Commands, optional. Called on the caller's thread as soon as the arguments were checked,
     * before their contents become objects: here bytes that came along can be put elsewhere
     * (blobs), and args be given their final form, which is what the log will hold. Nested structs
     * and lists belong to the caller: replace them, with memory of valise_prepare_alloc. Access was
     * not checked yet. Not called when a log is replayed. */
    int (*receive)(valise_prepare *prepare, void *args, valise_error *err);
} valise_op;

/* ---- what `prepare` and `receive` can do ---- */

/* The workspace: queries can be dispatched to it. */
VALISE_API valise *valise_prepare_workspace(valise_prepare *prepare);
VALISE_API valise_str valise_prepare_actor(const valise_prepare *prepare);

/* One more command in front, with a struct of op->in, behind those that were added before. It is
 * run as the engine's own (INTERNAL operations too): as the actor, who is not asked for, and with
 * no middleware. What args point to must live until the command is done: valise_prepare_alloc. */
VALISE_API int valise_prepare_add(valise_prepare *prepare, const valise_op *op, const void *args,
                                  valise_error *err);

/* Memory that lives as long as the command. Never of size 0. */
VALISE_API int valise_prepare_alloc(void **out, valise_prepare *prepare, size_t size,
                                    valise_error *err);

/* ---- what a job can do ---- */

/* The workspace it runs in; dispatch with valise_dispatch, as the job's actor. */
VALISE_API valise *valise_job_workspace(valise_job *job);
VALISE_API valise_str valise_job_actor(const valise_job *job);

struct valise_call;

/* How to dispatch a command of this job: as its actor. Within a processor also with the cause, and
 * with an id that is the same when the processor runs again for the same event: what was done
 * before a crash is then recognised as a retry. Ask anew for each command, in the same order each
 * time. Change other members of *out as you like. */
VALISE_API int valise_job_call(struct valise_call *out, valise_job *job, valise_error *err);

VALISE_API void valise_job_stage(valise_job *job, const char *stage, const char *unit,
                                 uint64_t total);
/* n more are done. VALISE_E_CANCELLED: leave everything consistent and pass it on. */
VALISE_API int valise_job_step(valise_job *job, uint64_t n, valise_error *err);

VALISE_API int valise_job_alloc(void **out, valise_job *job, size_t size, valise_error *err);
VALISE_API int valise_job_emit(valise_job *job, const void *row, valise_error *err); /* LIST */

VALISE_END

#endif
