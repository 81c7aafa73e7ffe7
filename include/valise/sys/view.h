/* valise/sys/view.h -- collections, and the view through which operations see them.
 *
 * Everything that can change is a row of a *collection*: a C struct and its field table. An
 * operation reads and, if it is a command, changes rows through the *view* it is given:
 *
 *     pin_row pin = {.name = args->name};
 *     rc = valise_view_get(&pin, view, &pin_collection, err);      1: found, 0: absent
 *     ...
 *     rc = valise_view_put(view, &pin_collection, &pin, err);
 *
 * Nothing is written while an operation runs: the view collects the changes, and shows them to
 * later reads of the same operation. When it returned 0, all of them are applied together, or none
 * when it failed. The same command on the same state must always make the same changes: a log can
 * be replayed, on another machine and another backend. So: no clock, no randomness, no I/O, no
 * static variables in a command; time and further ids come from the view.
 *
 * Bytes that a view hands out (strings of rows, objects) live as long as the view does.
 *
 * Threads: a view is single. Collections are immutable. */
#ifndef VALISE_SYS_VIEW_H
#define VALISE_SYS_VIEW_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/event.h>
#include <valise/sys/field.h>

VALISE_BEGIN

typedef struct valise_view valise_view;
typedef struct valise_scan valise_scan;
typedef struct valise_check valise_check;

/* ---- collections ---- */

enum {
    VALISE_COLL_EXEMPT = 1,    /* derived data: not in the state hash, not in log entries */
    VALISE_COLL_QUIET = 2,     /* IMMUTABLE rows that no index follows: a log entry has no image of
                                  them, and their key only where `event` tells of them; the past is
                                  told by the seq that made them. Only INTERNAL commands delete
                                  them (retention): then no state of the past has them either */
    VALISE_COLL_IMMUTABLE = 4, /* a row is put once; another row under the same key is refused */
    VALISE_COLL_WITNESS = 8,   /* rows say that something was used: gc keeps what they name, but an
                                  erasure does not count them among those who still have it */
};

typedef struct valise_coll_index {
    const char *name;          /* NULL ends the list */
    const char *const *fields; /* names, NULL-ended */
} valise_coll_index;

typedef int valise_find_fn(void *arg, const void *row, const valise_uuid *id, valise_error *err);

/* What one row leads to: a row of another collection, of which only the key is set. */
struct valise_coll;
typedef int valise_lead_fn(void *arg, const struct valise_coll *coll, const void *key_row,
                           valise_error *err);

typedef struct valise_coll {
    size_t size;      /* sizeof(valise_coll) */
    const char *name; /* "session"; of an extension: "extension.thing" */
    const char *help; /* one sentence: what a row is */
    const valise_field *fields;
    size_t row_size;
    uint32_t flags;
    const valise_coll_index *indexes; /* NULL: none */

    /* ---- optional ---- */

    /* `validate`: is this row right, as far as its fields do not say so themselves? Report with
     * valise_check_problem. */
    int (*check)(valise_check *check, valise_view *view, const void *row, valise_error *err);

    /* The event of a change (before or after is NULL for an insert or a delete). Returns 1 and
     * fills type, and node_id, namespace, run_id, payload where there are any; 0: no event. */
    int (*event)(valise_event *out, valise_view *view, const void *before, const void *after,
                 valise_error *err);

    /* The capability to see its rows with `show` or through an index, "note:read". NULL: all that
     * the queries of its package need. */
    const char *needs;

    /* Where rows have an id that is made of what they hold and is not their key: fn gets each row
     * whose id ends with these hex digits (lower case, without dashes). `show ID` asks. */
    int (*find)(valise_view *view, valise_str digits, valise_find_fn *fn, void *arg,
                valise_error *err);

    /* Rows that a row needs though none of its fields names them, since they stand in what it
     * holds: fn gets each, with its key. `export` of a part asks. */
    int (*leads)(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                 valise_error *err);

    /* An erasure takes contents of this row, here as it was (the view has it without them): let go,
     * in the same command, of what is held for their sake. Of a row that was gone before only the
     * key is set. */
    int (*erased)(valise_view *view, const void *row, valise_error *err);

    /* A bundle brings another row under a key that is there: put what holds from now on. All other
     * rows of the bundle can be seen. NULL: that is a conflict. */
    int (*meet)(valise_view *view, const void *here, const void *there, valise_error *err);

    /* A bundle brought these rows, which were not there: do they fit together, and to what is
     * here? All other rows of the bundle can be seen. A failure refuses it, whole. */
    int (*arrive)(valise_view *view, const void *const *rows, size_t count, valise_error *err);

    /* A whole bundle took the place of an empty workspace: do the rows of this collection fit
     * together, and to all others? There can be more than memory holds, and nothing may be changed.
     * A failure refuses it, whole. */
    int (*restored)(valise_view *view, valise_error *err);
} valise_coll;

/* ---- reading ---- */

typedef struct valise_stamp {
    int64_t seq;         /* queries: the state they see. Commands: what their entry will have */
    int64_t time;        /* of the command; of a query: when it was asked */
    valise_uuid command; /* id of the command; zero for queries */
    valise_str actor;
    valise_uuid cause; /* zero: none */
} valise_stamp;

VALISE_API const valise_stamp *valise_view_stamp(const valise_view *view);

/* Fill the row whose key members are set. 1; or 0 when there is none, and *row is as it was. */
VALISE_API int valise_view_get(void *row, valise_view *view, const valise_coll *coll,
                               valise_error *err);

/* *seq: of the command that made the row that is there now; 0: there is none. */
VALISE_API int valise_view_version(int64_t *seq, valise_view *view, const valise_coll *coll,
                                   const void *key_row, valise_error *err);

/* Which rows, in which order. Of the fields of the index (or key), the first `equal` must be as
 * in row, and the next `from` say where to begin. */
typedef struct valise_select {
    const char *index; /* NULL: by key */
    const void *row;   /* may be NULL when equal and from are 0 */
    uint16_t equal, from;
    unsigned flags; /* VALISE_SCAN_REVERSE, VALISE_SCAN_AFTER (sys/store.h) */
} valise_select;

/* select may be NULL: all rows by key. The scan must be closed before the view ends. Rows the same
 * operation changes while a scan is open may or may not be seen by it. The strings of a row that a
 * scan filled are valid until its next call: a long list takes no memory. */
VALISE_API int valise_view_scan(valise_scan **out, valise_view *view, const valise_coll *coll,
                                const valise_select *select, valise_error *err);
VALISE_API int valise_scan_next(void *row, valise_scan *scan, valise_error *err); /* 1, 0 at end */
VALISE_API void valise_scan_close(valise_scan *scan);                             /* NULL is fine */

/* The bytes of an object, checked against its id. VALISE_E_NOT_FOUND (also when it was erased),
 * VALISE_E_CORRUPT. */
VALISE_API int valise_view_object(valise_str *out, valise_view *view, const valise_id *id,
                                  valise_error *err);

/* May the actor do this as well? Operations whose entry in the registry says what they need do not
 * call it; it is for what only shows while they run. attrs are pairs of name and value, ended by
 * NULL, for narrowed capabilities ("path", "src/a.c", NULL); may be NULL. With "?path" as the name
 * the value does not matter: is there any path for which the actor may? VALISE_E_DENIED. */
VALISE_API int valise_view_allows(valise_view *view, const char *capability,
                                  const char *const *attrs, valise_error *err);

/* Memory that lives as long as the view, for results. Never of size 0. */
VALISE_API int valise_view_alloc(void **out, valise_view *view, size_t size, valise_error *err);

/* ---- changing (commands) ---- */

/* Insert or replace. VALISE_E_INVALID when the row breaks its table. */
VALISE_API int valise_view_put(valise_view *view, const valise_coll *coll, const void *row,
                               valise_error *err);
/* 1 when there was a row, else 0. */
VALISE_API int valise_view_delete(valise_view *view, const valise_coll *coll, const void *key_row,
                                  valise_error *err);

/* Add an object; kind is a word such as "frame" and part of its id (docs/formats.md, "Objects").
 * Contents among the arguments are objects already. */
VALISE_API int valise_view_add(valise_id *out, valise_view *view, const char *kind,
                               valise_str bytes, valise_error *err);

/* A new id, the same when the command is replayed. */
VALISE_API int valise_view_uuid(valise_uuid *out, valise_view *view, valise_error *err);

/* ---- answering (queries whose answer is a list) ---- */

/* One more row of the answer, a struct of the operation's `out`. VALISE_E_CANCELLED when nobody
 * wants more: pass it on. */
VALISE_API int valise_view_emit(valise_view *view, const void *row, valise_error *err);

/* ---- validating ---- */

/* One thing that is wrong and what to do about it. */
VALISE_API int valise_check_problem(valise_check *check, valise_error *err, const char *remedy,
                                    const char *format, ...) VALISE_PRINTF(4, 5);

VALISE_END

#endif
