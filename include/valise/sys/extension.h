/* valise/sys/extension.h -- extensions: packages of collections, operations and what goes with
 * them.
 *
 * An extension is registered from C when a workspace is opened (valise_options), or loaded from a
 * shared object that the user's own configuration names. The shared object exports one function:
 *
 *     VALISE_API const valise_extension *valise_extension_v1(void);
 *
 * examples/extension/ is a complete one. A table is read only as far as its `size` says; members
 * beyond that count as zero.
 *
 * Threads: the tables are immutable. Their functions are called from any thread; those of commands
 * and middleware of one workspace never at the same time. */
#ifndef VALISE_SYS_EXTENSION_H
#define VALISE_SYS_EXTENSION_H

#include <valise/sys/operation.h>
#include <valise/sys/policy.h>

VALISE_BEGIN

#define VALISE_EXTENSION_ABI 1

/* ---- middleware: sees each command before it is decided, and its result after ---- */

typedef struct valise_pass valise_pass;

typedef struct valise_middleware {
    size_t size;
    const char *name;
    void *self;
    /* Both are optional. A negative code, with err filled, aborts the command: nothing is stored.
     */
    int (*before)(void *self, valise_pass *pass, valise_error *err);
    int (*after)(void *self, valise_pass *pass, valise_error *err);
} valise_middleware;

/* The command that passes: its operation, its stamp, and a view for reading only. */
VALISE_API const valise_op *valise_pass_op(const valise_pass *pass);
VALISE_API const valise_stamp *valise_pass_stamp(const valise_pass *pass);
VALISE_API valise_view *valise_pass_view(valise_pass *pass); /* for reading only */
/* The payload as JSON, with contents inline; and, in `after`, the result. Valid during the call. */
VALISE_API int valise_pass_payload(valise_str *json, valise_pass *pass, valise_error *err);
VALISE_API int valise_pass_result(valise_str *json, valise_pass *pass, valise_error *err);
/* In `before`: replace the payload. Schema and access are checked again. */
VALISE_API int valise_pass_change(valise_pass *pass, valise_str json, valise_error *err);
/* In `before`: add a command to the same transaction, before or after this one. It runs as another
 * actor, who must be allowed to run it, and passes no middleware itself. */
VALISE_API int valise_pass_add(valise_pass *pass, bool after, const char *type, valise_str json,
                               valise_str actor, valise_error *err);

/* ---- indexers: read models in memory, a pure function of rows ---- */

typedef struct valise_index_out valise_index_out;

typedef struct valise_index_source {
    const valise_coll *coll; /* NULL ends the list */
    /* Add the entries that this row makes, with valise_index_add; none is fine. */
    int (*map)(valise_index_out *out, const void *row, valise_error *err);
} valise_index_source;

typedef struct valise_indexer {
    size_t size;
    const char *name;
    const char *help;
    const valise_index_source *sources;
} valise_indexer;

/* Add an entry to an index. key is UTF-8 without NUL, 1 byte to 4 KiB long, and must be unique over
 * all rows: end it with the row's own key. json is a JSON text of at most 1 MiB; the index keeps
 * its canonical form. */
VALISE_API int valise_index_add(valise_index_out *out, valise_str key, valise_str json,
                                valise_error *err);

/* ---- processors: run after a change was committed, in commands of their own ---- */

typedef struct valise_processor {
    size_t size;
    const char *name; /* also the actor of its commands */
    void *self;
    const valise_coll *coll; /* it runs when rows are put into this collection */
    /* Whether to run for this row. NULL: for all rows. */
    bool (*wants)(void *self, const void *row);
    /* Called at least once for each row; a stored cursor survives crashes. It dispatches its
     * commands with valise_job_call, so that the event's command becomes their cause, they do not
     * make the processor run again, and they take effect once even if it runs twice. After a
     * failure it is called again later; VALISE_E_EXISTS counts as success. It is not called for a
     * row that the same command replaced or deleted. */
    int (*run)(void *self, valise_job *job, const valise_event *event, const void *row,
               valise_error *err);
} valise_processor;

/* ---- status ---- */

typedef struct valise_status valise_status;

/* Add a line to the status. name is a few words, json a JSON text. Both are copied. */
VALISE_API int valise_status_add(valise_status *status, const char *name, valise_str json,
                                 valise_error *err);

/* Whether the status may take long (`status --check`): then look outside and count as well. */
VALISE_API bool valise_status_checks(const valise_status *status);

/* ---- orders of compositions ---- */

struct valise_composed; /* valise/context.h */

/* An order of frames, for `valise compose --policy custom=NAME`. It sees everything of a frame but
 * its content, and must order the same frames in the same way everywhere: no clock, no locale, no
 * addresses. If it returns 0, path, type and id decide. It is asked about the 4,096 most relevant
 * frames. */
typedef struct valise_order {
    size_t size;
    const char *name; /* in an extension: "extension.name" */
    void *self;
    /* Negative: a comes before b. It must be transitive, as for qsort. */
    int (*compare)(void *self, const struct valise_composed *a, const struct valise_composed *b);
} valise_order;

/* ---- retrievers of prompts ---- */

/* A context entry whose topics fit, as a retriever sees it. */
typedef struct valise_candidate {
    valise_str key, text; /* text: ptr NULL if it is a file */
    int64_t overlap;      /* topics in common with session and role; at least 1 */
    int64_t updated;      /* ns */
} valise_candidate;

/* A retriever scores how well entries answer what the user said last, or the query that was given
 * (question; "": neither). The highest score comes first; of equal scores, the entry with more
 * topics in common, then the newest. An entry with a score below zero is not sent. The same input
 * must give the same scores everywhere: no clock, no locale, no addresses. Raise the version when
 * scores change; manifests record it. */
typedef struct valise_retriever {
    size_t size;
    const char *name; /* in an extension: "extension.name" */
    int64_t version;  /* 1 or more */
    void *self;
    int (*rank)(int64_t *scores, void *self, valise_str question,
                const valise_candidate *candidates, size_t count, valise_error *err);
} valise_retriever;

/* ---- files that are made from rows ---- */

/* What `validate`, `sync` and `repair` report about files that are made from rows. */
typedef struct valise_projection {
    size_t size;
    const char *name;     /* what they hold */
    int64_t seq, entries; /* the state they show, and the number of entries; 0: there are none */
    int64_t differences;  /* entries that are not as they should be */
    char example[256];    /* one of these, described */
    char damage[256];     /* why they cannot be read at all; "": they can */
} valise_projection;

/* ---- the package ---- */

typedef struct valise_extension {
    size_t size;
    uint32_t abi;     /* VALISE_EXTENSION_ABI */
    const char *name; /* [a-z][a-z0-9_]*; its collections are named "name.thing" */
    const char *version;
    const valise_coll *const *collections; /* this and the next ones: NULL-ended, or NULL */
    const valise_op *const *operations;
    const valise_middleware *const *middleware;
    const valise_indexer *const *indexers;
    const valise_processor *const *processors;

    /* What `status` says about its rows, with valise_status_add. It is to be quick: look up, but
     * count only if valise_status_checks. NULL: nothing. */
    int (*status)(valise_status *status, valise_view *view, valise_error *err);

    const valise_policy *const *policies;
    const valise_order *const *orders; /* NULL-ended, or NULL */

    /* For extensions that keep files made from rows: bring the files up to date, so that no byte is
     * left of what the rows said before. Called after an erasure, before anybody is told that it is
     * done; and again by the next open or gc if it failed. NULL: there are no such files. */
    int (*forget)(valise *v, valise_error *err);

    /* Called by `gc` before it looks at objects and blobs: delete, with commands, rows that nothing
     * needs any more. NULL: nothing to do. */
    int (*collect)(valise *v, valise_error *err);

    /* For extensions that keep files made from rows: do they agree with the rows? mend: make them
     * agree. *out is zero except for its size. NULL: there are no such files. */
    int (*verify)(valise_projection *out, valise *v, bool mend, valise_error *err);

    const valise_retriever *const *retrievers; /* NULL-ended, or NULL */

    /* Node types for flows (valise/sys/node.h), named "extension.Name". NULL-ended, or NULL. */
    const struct valise_node_type *const *node_types;
} valise_extension;

typedef const valise_extension *valise_extension_fn(void);

VALISE_END

#endif
