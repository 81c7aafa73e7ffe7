/* valise/sys/operation.h -- operations: everything there is to know about one, in one place.
 *
 * From an entry of the registry come the C dispatch and the command line with help, man page and
 * completion; later also HTTP routes, MCP tools and bindings. docs/adding-an-operation.md walks
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
    VALISE_COMMAND = 1, /* changes state; is logged */
    VALISE_QUERY,       /* reads one consistent state */
    VALISE_JOB,         /* does outside or long work; submits commands */
};

enum {
    /* Twice is the same as once. A command that changes no row is then not logged, unless the
     * caller gave it an id. */
    VALISE_OP_IDEMPOTENT = 1,
    VALISE_OP_DESTRUCTIVE = 2,  /* removes something for good */
    VALISE_OP_LIST = 4,         /* queries: the answer is a list; rows come from valise_view_emit */
    VALISE_OP_NO_WORKSPACE = 8, /* queries: needs no workspace (the view has no rows) */
    VALISE_OP_INTERNAL = 16,    /* only the engine itself submits it */
    VALISE_OP_READ_ONLY = 32,   /* jobs: changes nothing in the workspace */
    /* Its arguments do not show what they refer to (for a node id: which path?). So it checks
     * narrowed grants itself, with valise_view_allows. */
    VALISE_OP_ASKS = 64,
};

typedef struct valise_op {
    size_t size;       /* sizeof(valise_op) */
    const char *name;  /* "pin:add"; the command line is `valise pin add` */
    const char *alias; /* a shorter command line, "validate" for "workspace:validate", or NULL */
    const char *brief; /* one line with a period */
    const char *help;  /* paragraphs for --help and the man page, or NULL */
    uint32_t kind;     /* VALISE_COMMAND, ... */
    uint32_t flags;    /* VALISE_OP_... */

    /* The capability that it needs: "pin:write", "admin". A grant may be narrowed by a field of the
     * arguments: "context:write type=summary" allows only calls whose `type` is summary. NULL only
     * with NO_WORKSPACE. */
    const char *needs;

    const valise_field *in; /* NULL: no arguments */
    size_t in_size;
    const valise_field *out; /* NULL: the answer is {} */
    size_t out_size;

    /* Called before decide to get what `expect` is compared with: fill *json with the canonical
     * text of what is there now, or "null". After a conflict the caller is told this text, so an
     * operation with VALISE_OP_ASKS must check here too. NULL: the operation takes no `expect`. */
    int (*current)(valise_str *json, valise_view *view, const void *args, valise_error *err);
    const char *expect_help; /* what that is: "the version of the item" */

    /* Exactly one of these. result is zeroed and has out_size bytes. */
    int (*decide)(valise_view *view, const void *args, void *result, valise_error *err);
    int (*query)(valise_view *view, const void *args, void *result, valise_error *err);
    int (*job)(valise_job *job, const void *args, void *result, valise_error *err);

    const char *example; /* arguments as JSON; checked at registration */

    /* Commands, optional: whether these arguments concern something that lives only in the memory
     * of this handle. Then the command is processed as usual (schema, access, expect, middleware),
     * but it sees the newest state, puts no rows, and is not logged: the seq of the reply is 0, and
     * a retry with the same id runs again. It cannot be in a batch or a dry run, and middleware
     * cannot add commands to it: VALISE_E_UNSUPPORTED. decide may then run at the same time as the
     * commands of other threads. What it did remains done, even if there is no memory for the
     * answer, or a middleware refuses it afterwards. */
    bool (*apart)(valise *v, const void *args);

    /* Commands, optional. Called on the caller's thread after the arguments were checked and before
     * the command is queued. Only here may a command look at the outside world (files). It adds
     * what it saw with valise_prepare_add, as commands that run before it in the same transaction,
     * after access was checked. The log contains them, so a replay never looks outside. If one of
     * them fails with VALISE_E_CONFLICT (what was seen is out of date), everything is prepared
     * again, for as long as the store waits for other writers, and then VALISE_E_BUSY; but at most
     * three times if nobody else has written in between. Not called for commands that are apart, or
     * that a middleware added. */
    int (*prepare)(valise_prepare *prepare, const void *args, valise_error *err);

    /* Commands, optional. Called on the caller's thread when the arguments have been checked,
     * before their contents become objects and before access is checked. Here, bytes that came with
     * the arguments can be stored elsewhere (as blobs), and args can be given their final form,
     * which is what is logged. Nested structs and lists belong to the caller: replace them, with
     * memory from valise_prepare_alloc. Not called when a log is replayed. */
    int (*receive)(valise_prepare *prepare, void *args, valise_error *err);
} valise_op;

/* ---- what `prepare` and `receive` can do ---- */

/* The workspace, to dispatch queries to, and the actor. */
VALISE_API valise *valise_prepare_workspace(valise_prepare *prepare);
VALISE_API valise_str valise_prepare_actor(const valise_prepare *prepare);

/* Add a command to run before the prepared one, after those added before. args is a struct of
 * op->in. It runs as the engine's own, so it may be INTERNAL: on behalf of the actor, but without
 * access check and middleware. What args points to must live until the command is done:
 * valise_prepare_alloc. */
VALISE_API int valise_prepare_add(valise_prepare *prepare, const valise_op *op, const void *args,
                                  valise_error *err);

/* Allocate memory that lives as long as the command. size must not be 0. */
VALISE_API int valise_prepare_alloc(void **out, valise_prepare *prepare, size_t size,
                                    valise_error *err);

/* ---- what a job can do ---- */

/* The workspace that the job runs in, and its actor. Dispatch with valise_dispatch, as this actor.
 */
VALISE_API valise *valise_job_workspace(valise_job *job);
VALISE_API valise_str valise_job_actor(const valise_job *job);

struct valise_call;

/* Fill *out for a command of this job, with its actor. In a processor, also with the cause, and
 * with an id that is the same when the processor runs again for the same event, so that whatever
 * was done before a crash is recognised as a retry. Call this again for each command, and in the
 * same order each time. You may change the other members of *out. */
VALISE_API int valise_job_call(struct valise_call *out, valise_job *job, valise_error *err);

/* Begin a stage of the work, for progress reports: total units of a kind, 0 if unknown. */
VALISE_API void valise_job_stage(valise_job *job, const char *stage, const char *unit,
                                 uint64_t total);
/* Report that n more are done. VALISE_E_CANCELLED: leave everything consistent and return it. */
VALISE_API int valise_job_step(valise_job *job, uint64_t n, valise_error *err);

/* Allocate memory that lives as long as the job; and add a row to its answer, which must be a LIST.
 */
VALISE_API int valise_job_alloc(void **out, valise_job *job, size_t size, valise_error *err);
VALISE_API int valise_job_emit(valise_job *job, const void *row, valise_error *err);

VALISE_END

#endif
