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
 * Every operation, from whatever surface, goes through valise_dispatch. `valise commands` lists
 * them.
 *
 * Threads: valise is shared. Several handles on one workspace are fine, in one process or in many.
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
    VALISE_OPEN_CREATE = 2,         /* create the workspace if there is none, like `valise init` */
    VALISE_OPEN_NO_USER_CONFIG = 4, /* ignore the user's configuration: no extensions, no trust */
    VALISE_OPEN_ANYBODY = 8,        /* with CREATE: unknown actors may write, and are recorded */
};

enum { VALISE_DURABILITY_WORKSPACE, VALISE_DURABILITY_FULL, VALISE_DURABILITY_NORMAL };

typedef struct valise_options {
    size_t size; /* sizeof(valise_options) */
    unsigned flags;
    int durability;     /* WORKSPACE: as its configuration says, by default FULL */
    valise_str actor;   /* who acts through this handle; "": "local" */
    int64_t timeout_ns; /* how long commands wait for other writers; 0: as configured */
    const struct valise_env *env;
    const struct valise_store_ops *store;              /* NULL: sqlite, or memory for ":memory:" */
    const struct valise_blob_store_ops *blobs;         /* NULL: files, or memory for ":memory:" */
    const struct valise_extension *const *extensions;  /* NULL-ended, or NULL */
    const struct valise_middleware *const *middleware; /* in this order; NULL-ended, or NULL */
    const char *user_config; /* file; NULL: $XDG_CONFIG_HOME/valise/config */
    /* Settings from variables such as VALISE_PROGRAM_TIMEOUT, as "NAME=value", NULL-ended; NULL:
     * none. environ, for a program that means its user's. Outlives the handle. */
    const char *const *environment;
} valise_options;

#define VALISE_OPTIONS_INIT                                                                        \
    {                                                                                              \
        sizeof(valise_options), 0, 0, {NULL, 0}, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL       \
    }

/* Open the workspace in the folder `path`, which contains .valise/; or, for ":memory:", a new one
 * in memory; or, for NULL, none at all: then only operations that need no workspace can be run.
 * options may be NULL. A workspace that belongs to another user is opened read-only, unless the
 * user trusts it; so is one that cannot be written. VALISE_E_NOT_FOUND: there is none;
 * VALISE_E_DENIED: an extension is not trusted. */
VALISE_API int valise_open(valise **out, const char *path, const valise_options *options,
                           valise_error *err);
/* Close a workspace, after everything that was opened in it. NULL is fine. */
VALISE_API void valise_close(valise *v);

/* Find the folder at or above `path` that contains a workspace; *out is a new blob with its path.
 * VALISE_E_NOT_FOUND. */
VALISE_API int valise_find(valise_blob **out, const char *path, valise_error *err);

/* ---- dispatch ---- */

typedef struct valise_call {
    size_t size;
    unsigned flags;   /* VALISE_CALL_... */
    valise_str actor; /* "": the handle's */
    /* The id of the command; zero: a new one. If a command with this id was accepted before, its
     * reply is returned again and nothing changes. */
    valise_uuid id;
    valise_uuid cause; /* zero: none */
    valise_str expect; /* JSON: what must be there now; "": anything */
    valise_str at;     /* queries: the state at a seq "42", a time or a command id; "": now */
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
    valise_blob *json;    /* canonical JSON; for lists {"items":[...]} */
    valise_blob *current; /* after VALISE_E_CONFLICT: what was there instead, as JSON */
    /* For commands: of the log entry. For queries, and for commands that had nothing to change and
     * left no entry: of the state they saw. */
    int64_t seq;
    int64_t time;
    valise_uuid id;
    bool repeated; /* the command had been accepted before */
} valise_reply;

#define VALISE_REPLY_INIT                                                                          \
    {                                                                                              \
        sizeof(valise_reply), NULL, NULL, 0, 0, {{0}}, false                                       \
    }

/* Release what a reply holds. A reply that is zeroed or released already is fine. */
VALISE_API void valise_reply_release(valise_reply *reply);

/* Run an operation. payload is a JSON object; NULL means {}. call and out may be NULL. On failure
 * only out->current may have been set. */
VALISE_API int valise_dispatch(valise_reply *out, valise *v, const char *type, const char *payload,
                               const valise_call *call, valise_error *err);

/* Run an operation, given by slices. As valise_dispatch. */
VALISE_API int valise_dispatch_str(valise_reply *out, valise *v, valise_str type,
                                   valise_str payload, const valise_call *call, valise_error *err);

/* Run a query or job whose answer is a list, and get its rows one by one, as JSON. payload, call
 * and out: as for valise_dispatch. */
typedef int valise_row_fn(void *arg, valise_str json, valise_error *err);
VALISE_API int valise_stream(valise_reply *out, valise *v, const char *type, const char *payload,
                             valise_row_fn *fn, void *arg, const valise_call *call,
                             valise_error *err);
VALISE_API int valise_stream_str(valise_reply *out, valise *v, valise_str type, valise_str payload,
                                 valise_row_fn *fn, void *arg, const valise_call *call,
                                 valise_error *err);

/* Run several commands in one transaction: all of them or none. out has room for count replies, or
 * is NULL. Each command has its own id, cause and expect. On failure err->path begins with "[i]",
 * the index of the command. */
typedef struct valise_command {
    valise_str type, payload;
    const valise_call *call; /* NULL: as for all */
} valise_command;
VALISE_API int valise_dispatch_batch(valise_reply *out, valise *v, const valise_command *commands,
                                     size_t count, const valise_call *call, valise_error *err);

/* Add a middleware after those that exist, from the next command on. It must outlive the handle. Do
 * not call this while other threads use the handle, nor within a command. VALISE_E_INVALID: it has
 * no name; VALISE_E_EXISTS: the name is taken. */
VALISE_API int valise_use(valise *v, const struct valise_middleware *middleware, valise_error *err);

/* ---- upkeep ----
 *
 * Each function is an operation that the command line has too (`valise help export`). */

/* Hash the whole state. Two workspaces with the same hash hold the same, however they came to it
 * and whichever store they use. It requires permission to read the log. Operation workspace:hash.
 */
VALISE_API int valise_workspace_hash(valise_id *out, valise *v, const valise_call *call,
                                     valise_error *err);

enum { VALISE_EXPORT_REPLACE = 1 /* replace an existing file */ };

typedef struct valise_export_options {
    size_t size;
    unsigned flags; /* VALISE_EXPORT_... */
    /* Export only these places, such as "session/ID", and what they need. */
    const valise_str *places;
    size_t place_count; /* 0: everything */
} valise_export_options;

#define VALISE_EXPORT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(valise_export_options), 0, NULL, 0                                                  \
    }

/* Export to a bundle: one file with rows, log, objects and blobs. options may be NULL.
 * VALISE_E_EXISTS: the file exists, and REPLACE was not given. Operation workspace:export. */
VALISE_API int valise_workspace_export(valise *v, const char *file,
                                       const valise_export_options *options,
                                       const valise_call *call, valise_error *err);

/* Import a bundle, as a whole or not at all. An empty workspace becomes the one that the bundle was
 * made from. VALISE_E_CORRUPT: the bundle was cut short or altered; VALISE_E_INVALID: `validate`
 * would find problems in its rows; VALISE_E_CONFLICT: it has something else under a name that is
 * taken. Operation workspace:import. */
VALISE_API int valise_workspace_import(valise *v, const char *file, const valise_call *call,
                                       valise_error *err);

typedef struct valise_erased {
    size_t size;
    int64_t places; /* places whose contents were erased */
    int64_t others; /* places that have the same contents, and keep them */
    /* What was erased: entries of the log, and what they and the rows were made of. */
    int64_t entries, objects, chunks, blobs;
    /* Some bytes remain in the write-ahead log until a reader has finished. */
    bool residue;
} valise_erased;

#define VALISE_ERASED_INIT                                                                         \
    {                                                                                              \
        sizeof(valise_erased), 0, 0, 0, 0, 0, 0, false                                             \
    }

/* Erase all that was ever said at a place ("turn/ID/VERSION", "context/KEY") from every file,
 * including its history and the log. The log keeps who erased it, when and why. reason NULL: not
 * given. out may be NULL; out->others tells whether the same contents are elsewhere.
 * VALISE_E_NOT_FOUND.
 *
 * A place is not what belongs to it: of "session/ID", the label and the metadata are erased. The
 * operation "session:erase" erases the turns as well, and "backpack:erase" items of a backpack.
 * Frames that were made from an erased frame keep what they took from it. Operation
 * workspace:erase. */
VALISE_API int valise_workspace_erase(valise_erased *out, valise *v, const char *place,
                                      const char *reason, const valise_call *call,
                                      valise_error *err);

/* Collect garbage: remove what has expired, and what nothing has referred to for grace_ns
 * (VALISE_NONE: as configured). *freed_bytes (may be NULL): how much disk space was given back.
 * Operation workspace:gc. */
VALISE_API int valise_workspace_gc(int64_t *freed_bytes, valise *v, int64_t grace_ns,
                                   const valise_call *call, valise_error *err);

/* Something that `validate` found. */
typedef struct valise_finding {
    bool is_note; /* worth knowing, but nothing is wrong */
    valise_str place, problem, remedy;
} valise_finding;
typedef int valise_finding_fn(void *arg, const valise_finding *finding, valise_error *err);

/* Validate the whole workspace. fn (may be NULL) gets each finding. 0: all is well.
 * VALISE_E_CORRUPT: something is damaged, and fn was told what. Operation workspace:validate. */
VALISE_API int valise_workspace_validate(valise *v, valise_finding_fn *fn, void *arg,
                                         const valise_call *call, valise_error *err);

/* ---- indexes ---- */

/* Get an entry of an index (see `index:list`) by its key, from memory. 1: *json is a new blob with
 * the entry; 0: there is none. It shows the newest state, or that of call->at. Operation
 * index:query. */
VALISE_API int valise_index_get(valise_blob **json, valise *v, const char *index, valise_str key,
                                const valise_call *call, valise_error *err);

/* List the entries whose keys begin with prefix ("": all), in the order of keys. Operation
 * index:query. */
typedef int valise_index_fn(void *arg, valise_str key, valise_str json, valise_error *err);
VALISE_API int valise_index_each(valise *v, const char *index, valise_str prefix,
                                 valise_index_fn *fn, void *arg, const valise_call *call,
                                 valise_error *err);

/* ---- index patches ---- */

/* Subscribe to an index (see `index:list`), in order to keep a copy of it. fn gets JSON Patch
 * operations on an object {key: entry}: first, before this function returns, one patch that adds
 * everything; then one patch for each commit that changes the index, in the order of seq. seq is
 * the state of the copy after the patch. As with events, the return value of fn stops nothing. End
 * the subscription with valise_unsubscribe. */
typedef int valise_patch_fn(void *arg, int64_t seq, valise_str json_patch, valise_error *err);
VALISE_API int valise_index_subscribe(valise_subscription **out, valise *v, const char *index,
                                      valise_patch_fn *fn, void *arg, valise_error *err);

VALISE_END

#endif
