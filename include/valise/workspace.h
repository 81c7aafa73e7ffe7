/* valise/workspace.h -- open a workspace and dispatch operations in it.
 *
 *     valise *v = NULL;
 *     valise_reply reply = VALISE_REPLY_INIT;
 *     valise_error err = VALISE_ERROR_INIT;
 *
 *     rc = valise_open(&v, ".", NULL, &err);
 *     if (rc == 0)
 *         rc = valise_dispatch(&reply, v, "pin:list", "{}", NULL, &err);
 *     if (rc < 0)
 *         fprintf(stderr, "%s\n", err.message);
 *     valise_reply_release(&reply);
 *     valise_close(v);
 *
 * Every operation of every surface goes through valise_dispatch. `valise commands` lists them.
 *
 * Threads: valise is shared; two handles on one workspace, in one process or several, are fine.
 * valise_reply is single. */
#ifndef VALISE_WORKSPACE_H
#define VALISE_WORKSPACE_H

#include <stdbool.h>

#include <valise/blob.h>
#include <valise/event.h>
#include <valise/progress.h>

VALISE_BEGIN

struct valise_env;
struct valise_extension;
struct valise_middleware;
struct valise_store_ops;
struct valise_blob_store_ops;

enum {
    VALISE_OPEN_READ_ONLY = 1,      /* nothing is written, whoever asks */
    VALISE_OPEN_CREATE = 2,         /* make the workspace when there is none: `valise init` */
    VALISE_OPEN_NO_USER_CONFIG = 4, /* ignore the user's configuration: no extensions, no trust */
    VALISE_OPEN_ANYBODY = 8, /* with CREATE: unknown actors are let in as writers and recorded */
};

enum { VALISE_DURABILITY_WORKSPACE, VALISE_DURABILITY_FULL, VALISE_DURABILITY_NORMAL };

typedef struct valise_options {
    size_t size; /* sizeof(valise_options) */
    unsigned flags;
    int durability;     /* WORKSPACE: as its configuration says; FULL there by default */
    valise_str actor;   /* who acts through this handle; "": "local" */
    int64_t timeout_ns; /* how long a command waits for other writers; 0: as configured */
    const struct valise_env *env;
    const struct valise_store_ops *store;              /* NULL: sqlite, memory for ":memory:" */
    const struct valise_blob_store_ops *blobs;         /* NULL: files, memory for ":memory:" */
    const struct valise_extension *const *extensions;  /* NULL-ended, or NULL */
    const struct valise_middleware *const *middleware; /* in this order; NULL-ended, or NULL */
    const char *user_config; /* file; NULL: $XDG_CONFIG_HOME/valise/config */
} valise_options;

#define VALISE_OPTIONS_INIT                                                                        \
    {                                                                                              \
        sizeof(valise_options), 0, 0, {NULL, 0}, 0, NULL, NULL, NULL, NULL, NULL, NULL             \
    }

/* Open the workspace in the folder `path` (which holds .valise/), or a new one in memory for
 * ":memory:"; NULL opens none, and only operations that need none can be run. options may be NULL.
 * VALISE_E_NOT_FOUND when there is none; VALISE_E_DENIED for an extension that is not trusted. A
 * workspace that belongs to another user is opened read-only, unless the user trusts it; and so is
 * one in a place where nothing may be written. */
VALISE_API int valise_open(valise **out, const char *path, const valise_options *options,
                           valise_error *err);
VALISE_API void valise_close(valise *v); /* NULL is fine */

/* The folder at or above `path` that holds a workspace, as a new blob with its path. */
VALISE_API int valise_find(valise_blob **out, const char *path, valise_error *err);

/* ---- dispatch ---- */

typedef struct valise_call {
    size_t size;
    unsigned flags;    /* VALISE_CALL_... */
    valise_str actor;  /* "": the handle's */
    valise_uuid id;    /* of the command; zero: the engine makes one. A command that was accepted
                          before under the same id answers the same and changes nothing */
    valise_uuid cause; /* zero: none */
    valise_str expect; /* JSON: what must be there now; "": anything */
    valise_str at;     /* queries: as of a seq "42", a time, a command id; "": now */
    valise_progress progress;
} valise_call;

enum { VALISE_CALL_DRY_RUN = 1 /* commands: answer, but keep nothing */ };

#define VALISE_CALL_INIT                                                                           \
    {                                                                                              \
        sizeof(valise_call), 0, {NULL, 0}, {{0}}, {{0}}, {NULL, 0}, {NULL, 0},                     \
        {                                                                                          \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

typedef struct valise_reply {
    size_t size;
    valise_blob *json;    /* canonical JSON; of a list {"items":[...]} */
    valise_blob *current; /* after VALISE_E_CONFLICT: what was there instead, as JSON */
    int64_t seq;          /* commands: of the entry; queries, and commands that found everything as
                             they would have it and left no entry: the state they saw */
    int64_t time;
    valise_uuid id;
    bool repeated; /* the command had been accepted before */
} valise_reply;

#define VALISE_REPLY_INIT                                                                          \
    {                                                                                              \
        sizeof(valise_reply), NULL, NULL, 0, 0, {{0}}, false                                       \
    }

/* Release what it holds; a zeroed or released one is fine. */
VALISE_API void valise_reply_release(valise_reply *reply);

/* Run an operation. payload: a JSON object, NULL for {}. call and out may be NULL. On failure only
 * out->current may have been set. */
VALISE_API int valise_dispatch(valise_reply *out, valise *v, const char *type, const char *payload,
                               const valise_call *call, valise_error *err);

/* The same with slices. */
VALISE_API int valise_dispatch_str(valise_reply *out, valise *v, valise_str type,
                                   valise_str payload, const valise_call *call, valise_error *err);

/* Run a query or job and get the rows of its list one by one, as JSON. payload, call and out as for
 * valise_dispatch. */
typedef int valise_row_fn(void *arg, valise_str json, valise_error *err);
VALISE_API int valise_stream(valise_reply *out, valise *v, const char *type, const char *payload,
                             valise_row_fn *fn, void *arg, const valise_call *call,
                             valise_error *err);
VALISE_API int valise_stream_str(valise_reply *out, valise *v, valise_str type, valise_str payload,
                                 valise_row_fn *fn, void *arg, const valise_call *call,
                                 valise_error *err);

/* Several commands in one transaction: all of them or none. out has room for count replies, or is
 * NULL. Each has its own id, cause and expect. err->path starts with "[i]". */
typedef struct valise_command {
    valise_str type, payload;
    const valise_call *call; /* NULL: as for all */
} valise_command;
VALISE_API int valise_dispatch_batch(valise_reply *out, valise *v, const valise_command *commands,
                                     size_t count, const valise_call *call, valise_error *err);

/* One more middleware, behind those that are there: from the next command on. It must outlive the
 * handle. Not while others use the handle, nor within a command. VALISE_E_INVALID for one without a
 * name, VALISE_E_EXISTS for a name that is taken. */
VALISE_API int valise_use(valise *v, const struct valise_middleware *middleware, valise_error *err);

/* ---- upkeep ----
 *
 * Each is an operation, as the command line has it (`valise help export`). */

/* The hash of the whole state: two workspaces with the same one hold the same, whatever way they
 * came to it and whatever store they are in. Who may read the log may ask. workspace:hash */
VALISE_API int valise_workspace_hash(valise_id *out, valise *v, const valise_call *call,
                                     valise_error *err);

enum { VALISE_EXPORT_REPLACE = 1 /* a file that is there */ };

typedef struct valise_export_options {
    size_t size;
    unsigned flags;            /* VALISE_EXPORT_... */
    const char *const *places; /* NULL-ended: only these, such as "session/ID", and what they need;
                                  NULL: everything */
} valise_export_options;

#define VALISE_EXPORT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(valise_export_options), 0, NULL                                                     \
    }

/* Write a bundle: one file with rows, log, objects and blobs. options may be NULL. VALISE_E_EXISTS:
 * there is such a file, and REPLACE was not said. workspace:export */
VALISE_API int valise_workspace_export(valise *v, const char *file,
                                       const valise_export_options *options,
                                       const valise_call *call, valise_error *err);

/* Take in a bundle, whole or not at all; an empty workspace becomes what it was made from.
 * VALISE_E_CORRUPT: it was cut or altered; VALISE_E_CONFLICT: it has something else under a name
 * that is taken. workspace:import */
VALISE_API int valise_workspace_import(valise *v, const char *file, const valise_call *call,
                                       valise_error *err);

typedef struct valise_erased {
    size_t size;
    int64_t places; /* whose contents were erased */
    int64_t others; /* places that hold the same contents, and still do */
    int64_t entries, objects, chunks,
        blobs;    /* of the log, and what they and the rows were made of */
    bool residue; /* bytes are left in the write-ahead log until a reader is done */
} valise_erased;

#define VALISE_ERASED_INIT                                                                         \
    {                                                                                              \
        sizeof(valise_erased), 0, 0, 0, 0, 0, 0, false                                             \
    }

/* Remove what was ever said at a place ("session/ID", "context/KEY") from every file, its history
 * and the log too; the log says who did, when and why. reason: NULL: not told. out may be NULL.
 * VALISE_E_NOT_FOUND. Items of a backpack have "backpack:erase". workspace:erase */
VALISE_API int valise_workspace_erase(valise_erased *out, valise *v, const char *place,
                                      const char *reason, const valise_call *call,
                                      valise_error *err);

/* Remove what expired and what nothing refers to any more for as long as grace_ns (VALISE_NONE: as
 * configured). *freed_bytes (may be NULL): what the disk has back. workspace:gc */
VALISE_API int valise_workspace_gc(int64_t *freed_bytes, valise *v, int64_t grace_ns,
                                   const valise_call *call, valise_error *err);

/* Something that `validate` found. */
typedef struct valise_finding {
    bool is_note; /* good to know, and nothing is wrong */
    valise_str place, problem, remedy;
} valise_finding;
typedef int valise_finding_fn(void *arg, const valise_finding *finding, valise_error *err);

/* Look at everything. fn (may be NULL) gets what was found. 0: all is well; VALISE_E_CORRUPT: it is
 * not, and fn was told. workspace:validate */
VALISE_API int valise_workspace_validate(valise *v, valise_finding_fn *fn, void *arg,
                                         const valise_call *call, valise_error *err);

/* ---- indexes ---- */

/* An entry of an index (see `index:list`) by its key: 1, and *json is a new blob with what it says;
 * 0: there is none. From memory; as of the newest state, or that of call->at. index:query */
VALISE_API int valise_index_get(valise_blob **json, valise *v, const char *index, valise_str key,
                                const valise_call *call, valise_error *err);

/* Each entry whose key begins so, in their order; "": all. index:query */
typedef int valise_index_fn(void *arg, valise_str key, valise_str json, valise_error *err);
VALISE_API int valise_index_each(valise *v, const char *index, valise_str prefix,
                                 valise_index_fn *fn, void *arg, const valise_call *call,
                                 valise_error *err);

/* ---- index patches ---- */

/* An index (see `index:list`) as JSON Patch operations on an object {key: entry}: first one that
 * adds everything, before this function returns, then one for each commit that changes it, in the
 * order of seq. seq: the state the copy has after this patch. What fn returns stops nothing, as
 * with events. End it with valise_unsubscribe. */
typedef int valise_patch_fn(void *arg, int64_t seq, valise_str json_patch, valise_error *err);
VALISE_API int valise_index_subscribe(valise_subscription **out, valise *v, const char *index,
                                      valise_patch_fn *fn, void *arg, valise_error *err);

VALISE_END

#endif
