/* valise/sys/extension.h -- packages of collections, operations and whatever follows them.
 *
 * An extension is registered from C when a workspace is opened (valise_options), or loaded from a
 * shared object that the user's own configuration names. A shared object exports one function:
 *
 *     VALISE_API const valise_extension *valise_extension_v1(void);
 *
 * examples/extension/ has a whole one. Tables are read only as far as their `size` says; missing
 * members are as if zero.
 *
 * Threads: the tables are immutable; the functions are called from any thread, those of one
 * workspace's commands and middleware never at the same time. */
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
    /* Both optional. A negative code with err filled aborts the command: nothing is stored. */
    int (*before)(void *self, valise_pass *pass, valise_error *err);
    int (*after)(void *self, valise_pass *pass, valise_error *err);
} valise_middleware;

VALISE_API const valise_op *valise_pass_op(const valise_pass *pass);
VALISE_API const valise_stamp *valise_pass_stamp(const valise_pass *pass);
VALISE_API valise_view *valise_pass_view(valise_pass *pass); /* for reading only */
/* The payload as JSON with contents inline, and, in `after`, the result. Valid during the call. */
VALISE_API int valise_pass_payload(valise_str *json, valise_pass *pass, valise_error *err);
VALISE_API int valise_pass_result(valise_str *json, valise_pass *pass, valise_error *err);
/* In `before`: replace the payload; schema and access are checked again. */
VALISE_API int valise_pass_change(valise_pass *pass, valise_str json, valise_error *err);
/* In `before`: one more command in the same transaction, before or after this one, as another
 * actor (who must be allowed to). It goes through no middleware itself. */
VALISE_API int valise_pass_add(valise_pass *pass, bool after, const char *type, valise_str json,
                               valise_str actor, valise_error *err);

/* ---- indexers: read models in memory, a pure function of rows ---- */

typedef struct valise_index_out valise_index_out;

typedef struct valise_index_source {
    const valise_coll *coll; /* NULL ends the list */
    /* Say with valise_index_add which entries this row makes; none is fine. */
    int (*map)(valise_index_out *out, const void *row, valise_error *err);
} valise_index_source;

typedef struct valise_indexer {
    size_t size;
    const char *name;
    const char *help;
    const valise_index_source *sources;
} valise_indexer;

/* key: UTF-8 without NUL, 1 byte to 4 KiB, unique over all rows (make it so by ending it with the
 * row's own key). json: a JSON text of at most 1 MiB; the index keeps its canonical form. */
VALISE_API int valise_index_add(valise_index_out *out, valise_str key, valise_str json,
                                valise_error *err);

/* ---- processors: run after a change was committed, in commands of their own ---- */

typedef struct valise_processor {
    size_t size;
    const char *name; /* also the actor of what it does */
    void *self;
    const valise_coll *coll; /* rows that were put into it make it run */
    /* Is this row of interest? NULL: all. */
    bool (*wants)(void *self, const void *row);
    /* At least once for each; a stored cursor survives a crash. It dispatches its commands with
     * valise_job_call: they have the event's command as their cause, do not make it run again, and
     * take effect once even where it runs twice. A failure is tried again later; VALISE_E_EXISTS
     * counts as done. Without a row (it was replaced or deleted by the same command) it does not
     * run. */
    int (*run)(void *self, valise_job *job, const valise_event *event, const void *row,
               valise_error *err);
} valise_processor;

/* ---- status ---- */

typedef struct valise_status valise_status;

/* One more line: name is a few words, json a JSON text. Both are copied. */
VALISE_API int valise_status_add(valise_status *status, const char *name, valise_str json,
                                 valise_error *err);

/* Whether it may take its time (`status --check`): look outside, count, and say that too. */
VALISE_API bool valise_status_checks(const valise_status *status);

/* ---- orders of compositions ---- */

struct valise_composed; /* valise/context.h */

/* `valise compose --policy custom=NAME`. What it sees of a frame is all but its content; the order
 * must be the same for the same frames, everywhere: no clock, no locale, no address. Where it says
 * 0, path, type and id decide. It is asked about the 4,096 frames that are most relevant. */
typedef struct valise_order {
    size_t size;
    const char *name; /* of an extension: "extension.name" */
    void *self;
    /* Negative: a comes before b. Transitive, as for qsort. */
    int (*compare)(void *self, const struct valise_composed *a, const struct valise_composed *b);
} valise_order;

/* ---- retrievers of prompts ---- */

/* An entry whose topics fit, as a retriever sees it. */
typedef struct valise_candidate {
    valise_str key, text; /* text: ptr NULL where it is a file */
    int64_t overlap;      /* topics that it has in common with session and role; at least 1 */
    int64_t updated;      /* ns */
} valise_candidate;

/* How well entries answer what the user said last (or the query that was given; "": neither). The
 * highest score comes first; of equal ones that with more topics in common, then the newest. Below
 * zero: it is not sent. The same input must give the same scores, everywhere: no clock, no locale,
 * no address; the version counts changes of them, and stands in manifests. */
typedef struct valise_retriever {
    size_t size;
    const char *name; /* of an extension: "extension.name" */
    int64_t version;  /* 1 or more */
    void *self;
    int (*rank)(int64_t *scores, void *self, valise_str question,
                const valise_candidate *candidates, size_t count, valise_error *err);
} valise_retriever;

/* ---- files that are made from rows ---- */

/* What `validate`, `sync` and `repair` tell of one. */
typedef struct valise_projection {
    size_t size;
    const char *name;     /* of what is derived */
    int64_t seq, entries; /* the state it shows, and how much it holds; 0: there is none */
    int64_t differences;  /* in what it holds and should */
    char example[256];    /* one of them */
    char damage[256];     /* why it cannot be read at all; "": it can */
} valise_projection;

/* ---- the package ---- */

typedef struct valise_extension {
    size_t size;
    uint32_t abi;     /* VALISE_EXTENSION_ABI */
    const char *name; /* [a-z][a-z0-9_]*; its collections are named "name.thing" */
    const char *version;
    const valise_coll *const *collections; /* this and the rest: NULL-ended, or NULL */
    const valise_op *const *operations;
    const valise_middleware *const *middleware;
    const valise_indexer *const *indexers;
    const valise_processor *const *processors;

    /* What `status` tells of its rows, at a glance: look up, count nothing (but for
     * valise_status_checks), and say it with valise_status_add. NULL: nothing. */
    int (*status)(valise_status *status, valise_view *view, valise_error *err);

    const valise_policy *const *policies;
    const valise_order *const *orders; /* NULL-ended, or NULL */

    /* Where it keeps files of its own that are made from rows: bring them to what the rows say now,
     * so that no byte is left of what they said before. Called after an erasure, before anybody
     * hears that it is done; and again by the next open or gc when it failed. NULL: it has none. */
    int (*forget)(valise *v, valise_error *err);

    /* `gc`: let go, with commands, of rows that nothing needs any more, before objects and blobs
     * are looked at. NULL: nothing. */
    int (*collect)(valise *v, valise_error *err);

    /* Where it keeps files of its own that are made from rows: are they what the rows say? mend:
     * make them so. *out is zero but for its size. NULL: it has none. */
    int (*verify)(valise_projection *out, valise *v, bool mend, valise_error *err);

    const valise_retriever *const *retrievers; /* NULL-ended, or NULL */

    /* Types of nodes in flows (valise/sys/node.h): "extension.Name". NULL-ended, or NULL. */
    const struct valise_node_type *const *node_types;
} valise_extension;

typedef const valise_extension *valise_extension_fn(void);

VALISE_END

#endif
