/* valise/sys/view.h -- collections, and the view through which operations see them.
 *
 * Everything that can change is a row of a *collection*: a C struct and its field table. An
 * operation reads rows and, if it is a command, changes them through the *view* that it is given:
 *
 *     pin_row pin = {.name = args->name};
 *     rc = valise_view_get(&pin, view, &pin_collection, err);      1: found, 0: absent
 *     ...
 *     rc = valise_view_put(view, &pin_collection, &pin, err);
 *
 * Nothing is written while an operation runs: the view collects its changes, and shows them to
 * later reads of the same operation. If the operation returns 0, all changes are applied together;
 * if it fails, none is. The same command on the same state must always make the same changes,
 * because a log can be replayed, on another machine and with another backend. So a command uses no
 * clock, no randomness, no I/O and no static variables; the time and new ids come from the view.
 *
 * Bytes that a view hands out (strings of rows, objects) live as long as the view.
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
    VALISE_COLL_EXEMPT = 1, /* derived data: not in the state hash, not in log entries */
    /* For IMMUTABLE rows that no index follows: log entries have no images of them, and have their
     * keys only if `event` reports them. Which rows existed in the past follows from the seq that
     * put them. Only INTERNAL commands delete them (retention); then past states lack them too. */
    VALISE_COLL_QUIET = 2,
    /* A row is put once; another row under the same key is refused. */
    VALISE_COLL_IMMUTABLE = 4,
    /* Rows say that something was used: gc keeps what they refer to, but an erasure does not count
     * them among those who still have it. */
    VALISE_COLL_WITNESS = 8,
};

typedef struct valise_coll_index {
    const char *name;          /* NULL ends the list */
    const char *const *fields; /* names, NULL-ended */
} valise_coll_index;

typedef int valise_find_fn(void *arg, const void *row, const valise_uuid *id, valise_error *err);

/* Receives a row that a text names: the members of its key are enough, and their strings must live
 * as long as the view. */
typedef int valise_named_fn(void *arg, const void *row, const char *name, valise_error *err);

/* Receives a row that another row needs: its collection, and a row with only the key set. */
struct valise_coll;
typedef int valise_lead_fn(void *arg, const struct valise_coll *coll, const void *key_row,
                           valise_error *err);

typedef struct valise_coll {
    size_t size;      /* sizeof(valise_coll) */
    const char *name; /* "session"; in an extension: "extension.thing" */
    const char *help; /* one sentence: what a row is */
    const valise_field *fields;
    size_t row_size;
    uint32_t flags;
    const valise_coll_index *indexes; /* NULL: none */

    /* ---- optional ---- */

    /* Called by `validate`, and for each row that a bundle brought, which is refused whole if there
     * is a problem: check what the fields of the row cannot say themselves, and report problems
     * with valise_check_problem. */
    int (*check)(valise_check *check, valise_view *view, const void *row, valise_error *err);

    /* Make the event of a change; before is NULL for an insert, after for a delete. 1: type is
     * filled, and node_id, namespace, run_id and payload as far as there are any. 0: no event. */
    int (*event)(valise_event *out, valise_view *view, const void *before, const void *after,
                 valise_error *err);

    /* The capability needed to see its rows with `show` or through an index, such as "note:read".
     * NULL: all capabilities that the queries of its package need. */
    const char *needs;

    /* For rows with an id that is made from their content and is not their key: call fn with each
     * row whose id ends with these hex digits (lower case, no dashes). Used by `show ID`. */
    int (*find)(valise_view *view, valise_str digits, valise_find_fn *fn, void *arg,
                valise_error *err);

    /* For rows that need others which none of their fields names, because the reference is inside a
     * content: call fn with each of these, with its key. Used when a part is exported. */
    int (*leads)(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                 valise_error *err);

    /* An erasure removes contents of this row. The row is as it was before; the view has it without
     * the contents. Release, in the same command, what is held for the sake of these contents. If
     * the row was deleted earlier, only its key is set. */
    int (*erased)(valise_view *view, const void *row, valise_error *err);

    /* A bundle has a different row under an existing key: put the row that is to hold from now on.
     * All other rows of the bundle are visible. NULL: this is a conflict. */
    int (*meet)(valise_view *view, const void *here, const void *there, valise_error *err);

    /* A bundle added these rows: check that they fit each other and what was here. All other rows
     * of the bundle are visible. A failure refuses the whole bundle. */
    int (*arrive)(valise_view *view, const void *const *rows, size_t count, valise_error *err);

    /* A whole bundle replaced an empty workspace: check that the rows of this collection fit each
     * other and all others. There may be more than memory can hold; nothing may be changed. A
     * failure refuses the whole bundle. */
    int (*restored)(valise_view *view, valise_error *err);

    /* For QUIET rows with events. Called by `validate` where the log says that a row was put, and
     * it is not there; only its key is set. 1: it may be gone, as retention removes such rows; 0:
     * it was lost. NULL: nobody can tell. */
    int (*expired)(valise_view *view, const void *key_row, valise_error *err);

    /* For rows that people are shown under another name than their key, such as the root of a tree
     * or ID@VERSION: call fn with each row that this text names, with that name in full. The text
     * is what somebody wrote; hex digits come in lower case and without dashes, and may be the
     * beginning of an id. widely: nothing has that name that is found by an index, so rows may be
     * looked through. Used by `show`, `pin add` and `at`. */
    int (*named)(valise_view *view, valise_str text, bool widely, valise_named_fn *fn, void *arg,
                 valise_error *err);
} valise_coll;

/* ---- reading ---- */

typedef struct valise_stamp {
    int64_t seq;         /* queries: the state they see; commands: the seq of their entry */
    int64_t time;        /* of the command; for a query, when it was asked */
    valise_uuid command; /* id of the command; zero for queries */
    valise_str actor;
    valise_uuid cause; /* zero: none */
} valise_stamp;

/* When and by whom the command or query was called. */
VALISE_API const valise_stamp *valise_view_stamp(const valise_view *view);

/* Get a row: set its key members, and the others are filled. 1: found. 0: there is none, and *row
 * is untouched. */
VALISE_API int valise_view_get(void *row, valise_view *view, const valise_coll *coll,
                               valise_error *err);

/* Get the version of a row: *seq is that of the command that put it; 0: there is no row. */
VALISE_API int valise_view_version(int64_t *seq, valise_view *view, const valise_coll *coll,
                                   const void *key_row, valise_error *err);

/* Which rows to scan, in which order. Of the fields of the index (or key), the first `equal` must
 * be as in row, and the next `from` say where to begin. */
typedef struct valise_select {
    const char *index; /* NULL: by key */
    const void *row;   /* may be NULL if equal and from are 0 */
    uint16_t equal, from;
    unsigned flags; /* VALISE_SCAN_REVERSE, VALISE_SCAN_AFTER (sys/store.h) */
} valise_select;

/* Scan rows; select NULL: all rows, by key. Close the scan before the view ends. Rows that the same
 * operation changes while a scan is open may or may not be seen. The strings in a row are valid
 * until the next call with the scan, so that a long list takes no memory. */
VALISE_API int valise_view_scan(valise_scan **out, valise_view *view, const valise_coll *coll,
                                const valise_select *select, valise_error *err);
/* Get the next row of a scan: 1; 0 at the end. */
VALISE_API int valise_scan_next(void *row, valise_scan *scan, valise_error *err);
/* Close a scan; NULL is fine. */
VALISE_API void valise_scan_close(valise_scan *scan);

/* Get the bytes of an object, which are checked against its id. VALISE_E_NOT_FOUND, also if it was
 * erased; VALISE_E_CORRUPT. */
VALISE_API int valise_view_object(valise_str *out, valise_view *view, const valise_id *id,
                                  valise_error *err);

/* Check whether the actor has another capability; VALISE_E_DENIED if not. What the registry entry
 * of an operation needs is checked already; this is for what turns out only while it runs. attrs
 * (may be NULL) are pairs of name and value for narrowed grants, ended by NULL: {"path", "src/a.c",
 * NULL}. With "?path" as the name, the value is ignored, and the question is whether there is any
 * path for which the actor has the capability. */
VALISE_API int valise_view_allows(valise_view *view, const char *capability,
                                  const char *const *attrs, valise_error *err);

/* Allocate memory that lives as long as the view, for results. size must not be 0. */
VALISE_API int valise_view_alloc(void **out, valise_view *view, size_t size, valise_error *err);

/* ---- changing (commands) ---- */

/* Insert or replace a row. VALISE_E_INVALID: the row does not fit its table. */
VALISE_API int valise_view_put(valise_view *view, const valise_coll *coll, const void *row,
                               valise_error *err);
/* Delete a row: 1 if there was one, else 0. */
VALISE_API int valise_view_delete(valise_view *view, const valise_coll *coll, const void *key_row,
                                  valise_error *err);

/* Add an object. kind is a word such as "frame", and part of the object's id (docs/formats.md,
 * "Objects"). Contents among the arguments are objects already. */
VALISE_API int valise_view_add(valise_id *out, valise_view *view, const char *kind,
                               valise_str bytes, valise_error *err);

/* Make a new id. When the command is replayed, it is the same. */
VALISE_API int valise_view_uuid(valise_uuid *out, valise_view *view, valise_error *err);

/* ---- answering (queries whose answer is a list) ---- */

/* Add a row to the answer: a struct of the operation's `out`. VALISE_E_CANCELLED: nobody wants
 * more; return it. */
VALISE_API int valise_view_emit(valise_view *view, const void *row, valise_error *err);

/* ---- validating ---- */

/* Report a problem, and what to do about it. */
VALISE_API int valise_check_problem(valise_check *check, valise_error *err, const char *remedy,
                                    const char *format, ...) VALISE_PRINTF(4, 5);

VALISE_END

#endif
