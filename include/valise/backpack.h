/* valise/backpack.h -- the working state of a run: items with provenance, history, time travel.
 *
 *     valise_backpack *bag = NULL, *before = NULL;
 *     valise_blob *value = NULL;
 *
 *     rc = valise_backpack_open(&bag, v, "run-1", NULL, err);
 *     rc = valise_pack(NULL, bag, "limits", "{\"steps\":20}", NULL, err);
 *     rc = valise_pack_text(NULL, bag, "query", "What is AI?", NULL, err);
 *     rc = valise_unpack(&value, bag, "limits", err);            1: found, 0: absent
 *     rc = valise_snapshot_before_node(&before, bag, "research-2", 1, err);
 *
 * A valise_backpack is one of three kinds of handles. Functions that read take any of them:
 *
 *     the owner's      valise_backpack_open: no node permissions, item lists or tag rules apply
 *     a node's view    valise_backpack_node: acts as one node, under its permissions, in one run of
 *                      it. Reads and writes through it are checked, and recorded as the node's
 *     a snapshot       valise_snapshot...: the state at one commit; read-only
 *
 * Values are JSON; their canonical text is what is stored and returned. An *ephemeral* backpack
 * lives in memory and has a bounded history. A *durable* one lives in the workspace, where each
 * pack is a command like any other. The functions are the same for both.
 *
 * Threads: valise_backpack is shared. */
#ifndef VALISE_BACKPACK_H
#define VALISE_BACKPACK_H

#include <stdbool.h>

#include <valise/blob.h>
#include <valise/error.h>
#include <valise/id.h>

VALISE_BEGIN

typedef struct valise valise;
typedef struct valise_backpack valise_backpack;

/* ---- opening ---- */

enum {
    VALISE_BACKPACK_DURABLE = 1, /* in the workspace; else in memory until closed */
    /* Durable only: packs are stored by valise_backpack_flush, not before each of them returns. A
     * pack that can only be checked against the stored state is refused by that flush. */
    VALISE_BACKPACK_WRITE_BEHIND = 2,
    /* A denied read returns "absent" and a denied write does nothing; without this flag, both fail
     * with VALISE_E_DENIED. */
    VALISE_BACKPACK_LENIENT = 4,
    /* What a node packs after it has read an item with a sticky tag gets this tag too. */
    VALISE_BACKPACK_TAINT = 8,
    VALISE_BACKPACK_NEW = 16,   /* VALISE_E_EXISTS if the backpack exists */
    VALISE_BACKPACK_KNOWN = 32, /* VALISE_E_NOT_FOUND if it does not exist */
};

typedef struct valise_backpack_options {
    size_t size;
    /* If the backpack exists, only DURABLE, WRITE_BEHIND, NEW and KNOWN have an effect. */
    unsigned flags;
    /* Ephemeral: how many commits the history keeps; 0: 10,000. The newest 100 are always kept. */
    int64_t max_commits;
    int64_t max_bytes; /* ephemeral: 0: 50 MiB. docs/backpack.md says what counts */
    /* Ephemeral: a durable backpack that gets the commits which the history drops; "": none. They
     * are handed over after a while, or at once by valise_backpack_flush. While the archive cannot
     * take them (it was dropped, the disk is full), as many commits wait as the history may hold.
     * Older ones are lost, and the next flush that works reports how many, with VALISE_E_LIMIT. */
    valise_str archive;
    /* A JSON object: each of its members is packed, by the node "system"; "": none. */
    valise_str items;
    valise_list sticky; /* of valise_str: the sticky tags; not given: pii, secret */
    valise_str actor;   /* who acts through the handle; "": the actor of v */
} valise_backpack_options;

#define VALISE_BACKPACK_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(valise_backpack_options), 0, 0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0},                 \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* Open the backpack of this name, or create it. All handles on an ephemeral backpack within one
 * `valise` share its state, which is gone when the last of them is closed. VALISE_E_EXISTS, also if
 * a backpack of the other kind has the name; VALISE_E_NOT_FOUND, also if the archive does not
 * exist.
 *
 * Close all handles before their workspace. If the workspace was closed first, all functions fail
 * with VALISE_E_INVALID, except for valise_backpack_close, which frees the memory. After
 * backpack:drop, all functions fail with VALISE_E_NOT_FOUND. */
VALISE_API int valise_backpack_open(valise_backpack **out, valise *v, const char *name,
                                    const valise_backpack_options *options, valise_error *err);

/* Close a handle of any of the three kinds; NULL is fine. Packs that wait are flushed. If that
 * fails, closing the last handle loses them: call valise_backpack_flush first to see the error. If
 * packs are refused when a view is closed, the next flush of the backpack reports it. */
VALISE_API void valise_backpack_close(valise_backpack *bag);

/* ---- nodes ---- */

/* What a node may do. A list whose items are NULL is not given, which differs from an empty list.
 */
typedef struct valise_permissions {
    valise_list read, write, deny;               /* of valise_str: keys, with * for any bytes */
    valise_list namespace_read, namespace_write; /* of valise_str: patterns such as "sales.*" */
} valise_permissions;

typedef struct valise_node {
    size_t size;
    valise_str id, name;                   /* "": unknown */
    valise_str namespace_name;             /* given to all that the node packs; "": none */
    const valise_permissions *permissions; /* NULL: those that valise_permit registered for id */
} valise_node;

#define VALISE_NODE_INIT                                                                           \
    {                                                                                              \
        sizeof(valise_node), {NULL, 0}, {NULL, 0}, {NULL, 0}, NULL                                 \
    }

/* Make a view for one run of a node; the run begins here and ends when the view is closed. If
 * node->permissions is given, they are first registered as by valise_permit, which needs
 * backpack:permit. A snapshot cannot register them; there they apply to this view only. */
VALISE_API int valise_backpack_node(valise_backpack **out, valise_backpack *bag,
                                    const valise_node *node, valise_error *err);

/* Register the permissions of a node, for every view of it; NULL removes them. Owner only. */
VALISE_API int valise_permit(valise_backpack *bag, const char *node_id,
                             const valise_permissions *permissions, valise_error *err);

/* Restrict a tag: only these nodes may read, and only these may write, items that have it. A list
 * that is not given restricts nothing; if neither is given, the rule is removed. Owner only. */
VALISE_API int valise_tag_rule(valise_backpack *bag, const char *tag, const valise_list *read,
                               const valise_list *write, valise_error *err);

/* ---- commits ---- */

enum {
    VALISE_ACTION_PACK,
    VALISE_ACTION_DELETE,
    VALISE_ACTION_QUARANTINE,
    VALISE_ACTION_RELEASE,
    VALISE_ACTION_MERGE,  /* a pack by a merge; its deletions and quarantines have their usual
                             actions */
    VALISE_ACTION_IMPORT, /* an item that came from elsewhere */
    VALISE_ACTION_UNPACK, /* a read: kept in a log of its own, with an outcome */
};

enum { VALISE_READ_FOUND, VALISE_READ_ABSENT, VALISE_READ_DENIED };

/* A tag that a node's reads passed on, and the commit whose item had it. */
typedef struct valise_taint {
    valise_str tag;
    int64_t seq;
    valise_uuid backpack; /* of that commit; zero: the same as that of the tainted commit */
} valise_taint;

/* One entry of the history. The newest commit of a key is its item, unless it is a delete or a
 * quarantine. */
typedef struct valise_commit {
    valise_uuid backpack; /* where it was made: for a fork's older commits, the origin */
    int64_t seq;          /* counts from 1 within the backpack */
    valise_uuid id;
    int64_t time;   /* ns; never decreases */
    int64_t action; /* VALISE_ACTION_... */
    valise_str key;
    valise_id value; /* zero: none (deleted, not kept, erased) */
    int64_t value_size;
    valise_id previous_value;
    valise_str summary; /* at most 200 bytes; "[redacted]" if a tag demands it */
    int64_t version;
    int64_t previous; /* seq of the previous commit of this key; 0: none */
    valise_str node_id, node_name;
    valise_str namespace_name; /* ptr NULL: none */
    /* Number of the run it belongs to, counted over all nodes. 0: none, because it came in by a
     * merge or an import. */
    int64_t run;
    valise_list tags;         /* of valise_str, sorted */
    valise_list read, write;  /* of valise_str: nodes that may read or write the item; items
                                 NULL: all */
    valise_list taints;       /* of const valise_taint * */
    valise_list declassified; /* of valise_str: sticky tags that the node left out */
    valise_str reason;        /* QUARANTINE; ptr NULL: none */
    valise_str error;         /* QUARANTINE: JSON; ptr NULL: none */
    int64_t entry;   /* RELEASE: number of the entry; MERGE: seq of the other side; else 0 */
    int64_t outcome; /* UNPACK, and denied writes: VALISE_READ_...; else VALISE_NONE */
    int64_t log_seq; /* durable: seq of the command in the log; else 0 */
} valise_commit;

typedef int valise_commit_fn(void *arg, const valise_commit *commit, valise_error *err);

/* ---- items ---- */

typedef struct valise_pack_options {
    size_t size;
    valise_str node_id, node_name, namespace_name; /* for the owner's handle only; a view has its
                                                      own */
    valise_list tags;                              /* of valise_str; not given: those of the item */
    /* Of valise_str: only these nodes may read or write the item; not given: as for the item so
     * far. */
    valise_list read, write;
    valise_list declassify; /* of valise_str: sticky tags to leave out; needs backpack:declassify */
    int64_t expect;         /* the item's present version; 0: it must not exist; VALISE_NONE: any */
} valise_pack_options;

#define VALISE_PACK_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_pack_options), {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0},        \
            {NULL, 0}, {NULL, 0}, VALISE_NONE                                                      \
    }

/* The result of a write. With write-behind only `applied` is filled: the rest is known after the
 * flush. For a denied write, all is zero. */
typedef struct valise_packed {
    bool applied; /* false: denied, in a lenient backpack */
    int64_t seq, version;
    valise_uuid commit;
    valise_id value;
} valise_packed;

/* Add or update an item. json is one JSON text. out and options may be NULL. VALISE_E_INVALID (json
 * is not JSON; the key is empty, longer than 1 KiB or has control characters), VALISE_E_DENIED,
 * VALISE_E_CONFLICT (the version is not options->expect). */
VALISE_API int valise_pack(valise_packed *out, valise_backpack *bag, const char *key,
                           const char *json, const valise_pack_options *options, valise_error *err);
VALISE_API int valise_pack_str(valise_packed *out, valise_backpack *bag, valise_str key,
                               valise_str json, const valise_pack_options *options,
                               valise_error *err);
/* Add or update an item whose value is a text, which is stored as a JSON string. As valise_pack;
 * VALISE_E_INVALID also if the text is not UTF-8. */
VALISE_API int valise_pack_text(valise_packed *out, valise_backpack *bag, const char *key,
                                const char *text, const valise_pack_options *options,
                                valise_error *err);
VALISE_API int valise_pack_text_str(valise_packed *out, valise_backpack *bag, valise_str key,
                                    valise_str text, const valise_pack_options *options,
                                    valise_error *err);

/* Read a value. 1: *out is a new reference to its canonical JSON, which stays valid whatever
 * happens to the backpack; 0: absent. The read is recorded. */
VALISE_API int valise_unpack(valise_blob **out, valise_backpack *bag, const char *key,
                             valise_error *err);
VALISE_API int valise_unpack_str(valise_blob **out, valise_backpack *bag, valise_str key,
                                 valise_error *err);
/* Read a value that is a string. 1: *out has its text, without quotes and escapes; 0: absent.
 * VALISE_E_INVALID: it is not a string. The read is recorded. */
VALISE_API int valise_unpack_text(valise_blob **out, valise_backpack *bag, const char *key,
                                  valise_error *err);
/* Read a value that must be there: 0. VALISE_E_NOT_FOUND: it is absent; VALISE_E_DENIED: it is
 * denied, in a lenient backpack too. */
VALISE_API int valise_unpack_required(valise_blob **out, valise_backpack *bag, const char *key,
                                      valise_error *err);
/* Read a value as valise_unpack does, without recording the read. */
VALISE_API int valise_peek(valise_blob **out, valise_backpack *bag, const char *key,
                           valise_error *err);
/* Whether an item exists: 1 or 0. Nothing is recorded. */
VALISE_API int valise_has(valise_backpack *bag, const char *key, valise_error *err);

/* Delete an item. *removed (may be NULL): whether there was one; also false if the delete was
 * denied in a lenient backpack. */
VALISE_API int valise_remove(bool *removed, valise_backpack *bag, const char *key,
                             valise_error *err);

/* Delete all items that have the tag and whose namespace matches the pattern. One of the two may be
 * "": any. *count (may be NULL): how many items were deleted. */
VALISE_API int valise_clear(int64_t *count, valise_backpack *bag, valise_str tag,
                            valise_str namespace_pattern, valise_error *err);

/* An item, as callbacks get it. Lists of items are in the order of keys. */
typedef struct valise_item {
    const valise_commit *commit; /* the commit that made it: who, when, version, tags */
    /* Borrowed: take a reference to keep it. NULL: it was erased, and always for valise_each_key.
     */
    valise_blob *value;
} valise_item;
typedef int valise_item_fn(void *arg, const valise_item *item, valise_error *err);

/* Get one item with its commit. The read is not recorded. */
VALISE_API int valise_item_get(valise_backpack *bag, const char *key, valise_item_fn *fn, void *arg,
                               valise_error *err); /* 1: fn was called; 0: absent */
/* List the items with their values. */
VALISE_API int valise_each_item(valise_backpack *bag, valise_item_fn *fn, void *arg,
                                valise_error *err);
/* List the items without their values. */
VALISE_API int valise_each_key(valise_backpack *bag, valise_item_fn *fn, void *arg,
                               valise_error *err);
/* List the items whose namespace matches the pattern. */
VALISE_API int valise_items_by_namespace(valise_backpack *bag, valise_str pattern,
                                         valise_item_fn *fn, void *arg, valise_error *err);
/* The items of a namespace as one JSON object, from key to value. */
VALISE_API int valise_unpack_by_namespace(valise_blob **out, valise_backpack *bag,
                                          valise_str pattern, valise_error *err);
/* Count the items. The owner of an ephemeral backpack is told at once; otherwise, all of them are
 * looked at. */
VALISE_API int valise_backpack_size(int64_t *out, valise_backpack *bag, valise_error *err);

/* ---- history ---- */

typedef struct valise_history {
    size_t size;
    valise_str node_id, key, tag, namespace_pattern; /* "": any */
    unsigned actions;                                /* bits 1 << VALISE_ACTION_...; 0: all but
                                                        UNPACK */
    int64_t since, until;                            /* ns; VALISE_NONE: no bound */
    int64_t first, last;                             /* seq; 0: no bound */
    bool oldest_first;
    int64_t limit; /* 0: all */
} valise_history;

#define VALISE_HISTORY_INIT                                                                        \
    {                                                                                              \
        sizeof(valise_history), {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, 0, VALISE_NONE,        \
            VALISE_NONE, 0, 0, false, 0                                                            \
    }

/* List commits that match the filter, the newest first (unless it says oldest_first). */
VALISE_API int valise_history_each(valise_backpack *bag, const valise_history *filter,
                                   valise_commit_fn *fn, void *arg, valise_error *err);

/* List what a node read (with outcomes) or wrote, oldest first. */
VALISE_API int valise_access_log(valise_backpack *bag, const char *node_id, bool writes,
                                 valise_commit_fn *fn, void *arg, valise_error *err);

/* List the commits of an item that made it what it is, newest first. */
VALISE_API int valise_blame(valise_backpack *bag, const char *key, valise_commit_fn *fn, void *arg,
                            valise_error *err);

/* ---- time travel ---- */

/* Open the state at an earlier point as a read-only backpack, which the caller closes.
 * VALISE_E_LIMIT: the point is older than the history, and the message names the oldest point;
 * VALISE_E_NOT_FOUND: there is no such commit, node, run or checkpoint. */
VALISE_API int valise_snapshot(valise_backpack **out, valise_backpack *bag, int64_t time,
                               valise_error *err); /* after the last commit whose time is at most
                                                      this */
VALISE_API int valise_snapshot_named(valise_backpack **out, valise_backpack *bag,
                                     const char *checkpoint, valise_error *err);
VALISE_API int valise_snapshot_at_commit(valise_backpack **out, valise_backpack *bag,
                                         const valise_uuid *commit, valise_error *err);
VALISE_API int valise_snapshot_at_seq(valise_backpack **out, valise_backpack *bag, int64_t seq,
                                      valise_error *err); /* 0: before the first commit */
/* Open the state just before, or just after, the n-th run of a node; n < 0 counts from the last
 * run. If no node has node_id as its id, it is taken as the end of a node's path ("chat" for
 * "agent/search/chat"); VALISE_E_CONFLICT: several paths end so. valise_history and
 * valise_access_log take node ids in the same way. */
VALISE_API int valise_snapshot_before_node(valise_backpack **out, valise_backpack *bag,
                                           const char *node_id, int64_t n, valise_error *err);
VALISE_API int valise_snapshot_after_node(valise_backpack **out, valise_backpack *bag,
                                          const char *node_id, int64_t n, valise_error *err);

/* Open the state at a point given as text, as on the command line: a seq "42", a time
 * "2026-01-02T03:04:05Z", a commit's id or the end of it, "before:NODE", "after:NODE#2", "now", or
 * the name of a checkpoint. */
VALISE_API int valise_snapshot_at(valise_backpack **out, valise_backpack *bag, valise_str point,
                                  valise_error *err);

/* Name the present state, and keep it even after the history has dropped its commits. Giving the
 * same state the same name again is fine; for another state it is VALISE_E_EXISTS. *seq (may be
 * NULL): the last commit of the state. */
VALISE_API int valise_checkpoint(int64_t *seq, valise_backpack *bag, const char *name,
                                 valise_error *err);
/* Remove the name of a state, so that it is no longer kept. */
VALISE_API int valise_checkpoint_remove(valise_backpack *bag, const char *name, valise_error *err);

/* Make a new backpack that starts with the state of another, usually of a snapshot: its items,
 * quarantine, permissions and rules. The fork records its origin. options: as for
 * valise_backpack_open, but a fork is of the same kind as its origin and takes LENIENT, TAINT and
 * sticky from it. Owner only. */
VALISE_API int valise_backpack_fork(valise_backpack **out, valise_backpack *from, const char *name,
                                    const valise_backpack_options *options, valise_error *err);
/* Fork the state at a commit, to run again from there. */
VALISE_API int valise_replay_from_commit(valise_backpack **out, valise_backpack *bag,
                                         const valise_uuid *commit, const char *name,
                                         valise_error *err);

/* ---- difference ---- */

enum { VALISE_CHANGE_ADDED, VALISE_CHANGE_MODIFIED, VALISE_CHANGE_DELETED };

typedef struct valise_change {
    int kind; /* VALISE_CHANGE_ADDED, ... */
    valise_str key;
    const valise_commit *before, *after; /* NULL: there is no item on this side */
    const valise_commit *by; /* the commit that made the difference; NULL: b is not a later state
                                of a */
    valise_blob *old_value, *new_value; /* borrowed; NULL: no item, or it was erased */
} valise_change;
typedef int valise_change_fn(void *arg, const valise_change *change, valise_error *err);

/* List what differs in b from a, in the order of keys. Values are equal if their canonical texts
 * are equal. Each side contains what may be read through its handle; if one of them is the view of
 * a node, both contain what that node may read. */
VALISE_API int valise_backpack_diff(valise_backpack *a, valise_backpack *b, valise_change_fn *fn,
                                    void *arg, valise_error *err);

/* Find the first commit after `from`, up to `to`, whose state makes a predicate true, by bisection.
 * holds gets a snapshot and returns 1, 0 or an error; found gets the commit. VALISE_E_NOT_FOUND: it
 * is not true at `to`; VALISE_E_INVALID: it is true at `from`. */
typedef int valise_bisect_fn(void *arg, valise_backpack *snapshot, valise_error *err);
VALISE_API int valise_bisect(valise_backpack *bag, int64_t from, int64_t to,
                             valise_bisect_fn *holds, void *arg, valise_commit_fn *found,
                             void *found_arg, valise_error *err);

typedef struct valise_conflict {
    valise_str key;
    const valise_commit *base, *ours, *theirs; /* NULL: there is no item */
    valise_blob *base_value, *our_value, *their_value;
    /* The commit that changed it, which may be a deletion; NULL: unknown. */
    const valise_commit *our_change, *their_change;
} valise_conflict;
typedef int valise_conflict_fn(void *arg, const valise_conflict *conflict, valise_error *err);

/* Merge: bring what `theirs` changed since base into `ours`, as commits of the action MERGE. *count
 * (may be NULL): how many keys were changed.
 *
 * base NULL stands for the newest state that both have in common, by forks and by complete merges.
 * VALISE_E_LIMIT: that state is no longer kept, or its backpack was dropped; VALISE_E_NOT_FOUND:
 * there is none.
 *
 * All three are of one kind (durable or ephemeral). base and theirs are owner's handles, or views
 * of the same node as ours, and the actor of ours must be allowed to read them. A node takes over
 * what it may read in theirs, and writes what it may write in ours; each backpack applies its own
 * permissions.
 *
 * A key that both sides changed, to items that differ (in value, namespace, tags or lists of
 * nodes), is a conflict. fn gets each conflict, nothing at all is merged, and the result is
 * VALISE_E_CONFLICT.
 *
 * What theirs quarantined or released is merged as well. In a merge by the owner, each commit keeps
 * the node that made the change, but belongs to no run of ours; in a merge by a node, all commits
 * are that node's. */
VALISE_API int valise_backpack_merge(int64_t *count, valise_backpack *ours, valise_backpack *base,
                                     valise_backpack *theirs, valise_conflict_fn *fn, void *arg,
                                     valise_error *err);

/* ---- quarantine ---- */

typedef struct valise_quarantine_options {
    size_t size;
    valise_str reason;             /* required */
    valise_str error;              /* JSON; "": none */
    bool forget;                   /* make no entry, and keep no value in the commit */
    valise_str node_id, node_name; /* for the owner's handle only */
} valise_quarantine_options;

#define VALISE_QUARANTINE_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(valise_quarantine_options), {NULL, 0}, {NULL, 0}, false, {NULL, 0},                 \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* Move an item into quarantine, out of the active state. A key that was never packed gets an entry
 * too. */
VALISE_API int valise_quarantine(valise_packed *out, valise_backpack *bag, const char *key,
                                 const valise_quarantine_options *options, valise_error *err);
/* Bring an entry of a key back from quarantine. entry is its number, 0: the newest. The number is
 * the seq of the commit that quarantined it; entries that a fork began with have numbers below 0,
 * the newest of them -1. VALISE_E_EXISTS: the key has an item now; VALISE_E_NOT_FOUND. */
VALISE_API int valise_release(valise_packed *out, valise_backpack *bag, const char *key,
                              int64_t entry, valise_error *err);
/* List the quarantine: for each entry, the commit that put it there (its member `entry` is the
 * entry's number) and the value (NULL: there was none). */
VALISE_API int valise_quarantined(valise_backpack *bag, valise_item_fn *fn, void *arg,
                                  valise_error *err);

/* ---- the rest ---- */

/* Validate the whole state as one object (key ""), or one value, against a JSON Schema 2020-12. 1:
 * valid; 0: invalid. *report is a new blob that lists every error with its paths. */
VALISE_API int valise_backpack_validate(valise_blob **report, valise_backpack *bag, const char *key,
                                        valise_str schema, valise_error *err);

/* Export the backpack as JSON, with the newest `commits` of the history (0: 1,000; -1: all). */
VALISE_API int valise_backpack_to_json(valise_blob **out, valise_backpack *bag, int64_t commits,
                                       valise_error *err);
/* Make a new backpack from such JSON, or from the older shape {items, history, permissions}. On
 * failure nothing is made. What options leave open (LENIENT, TAINT, sticky, bounds) is taken from
 * the JSON. */
VALISE_API int valise_backpack_from_json(valise_backpack **out, valise *v, const char *name,
                                         valise_str json, const valise_backpack_options *options,
                                         valise_error *err);

typedef struct valise_usage {
    size_t size;
    int64_t items, commits, reads, quarantined;
    /* Values of items, of the quarantine and of the oldest state that is kept; and those of their
     * commits that the history has dropped. */
    int64_t state_bytes;
    int64_t history_bytes; /* what counts against max_bytes */
    int64_t read_bytes;
    int64_t held_bytes;          /* what only checkpoints, snapshots and forks still need */
    int64_t overhead_bytes;      /* tables, trees and rings */
    int64_t first_seq, last_seq; /* of the history; 0: it is empty */
} valise_usage;

#define VALISE_USAGE_INIT                                                                          \
    {                                                                                              \
        sizeof(valise_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                      \
    }

/* Tell how much memory or disk a backpack takes. Owner only. */
VALISE_API int valise_backpack_usage(valise_usage *out, valise_backpack *bag, valise_error *err);

/* Store the packs that wait (write-behind). 0: all of them are stored. On failure none is.
 *
 * If a pack is refused (by the lists of the item, by rules, or because the version is not the
 * expected one), the error says so once, and that pack is gone; the others wait for the next flush.
 * err->path has its position among the packs that waited, as "[i]", from 0. After any other
 * failure, such as VALISE_E_IO or VALISE_E_BUSY, all packs continue to wait until the handle is
 * closed.
 *
 * All other functions flush first, whichever handle they are called with. If that fails, they fail
 * with its error and do nothing else: call them again. A pack that the permissions of its node do
 * not allow never waits: it fails at once, or is not applied in a lenient backpack. When many packs
 * wait, the next pack flushes them.
 *
 * For an ephemeral backpack: hand dropped commits to the archive. VALISE_E_LIMIT: some are lost;
 * this is reported once. */
VALISE_API int valise_backpack_flush(valise_backpack *bag, valise_error *err);

VALISE_END

#endif
