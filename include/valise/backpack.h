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
 * A handle is one of three, and all functions that read take any of them:
 *
 *     the backpack     the owner's: under no node, item or tag rule
 *     a node's view    valise_backpack_node: carries the node's identity, permissions and run.
 *                      Whatever is read or written through it is checked, and recorded as its own
 *     a snapshot       valise_snapshot...: the state at one commit; nothing can be written
 *
 * Values are JSON; the canonical text is what is kept and returned. An *ephemeral* backpack lives
 * in memory, with a bounded history; a *durable* one in the workspace, where each pack is a
 * command like any other. The functions are the same.
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
    VALISE_BACKPACK_DURABLE = 1,      /* in the workspace; else in memory, until it is closed */
    VALISE_BACKPACK_WRITE_BEHIND = 2, /* durable: packs are kept by valise_backpack_flush, not by
                                         the return of each; that also refuses what only the
                                         state refuses */
    VALISE_BACKPACK_LENIENT = 4, /* a denied read is "absent", a denied write does nothing; without
                                    it both fail with VALISE_E_DENIED */
    VALISE_BACKPACK_TAINT = 8,   /* what a node packs after it read a sticky tag carries the tag */
    VALISE_BACKPACK_NEW = 16,    /* VALISE_E_EXISTS when there is one of this name */
    VALISE_BACKPACK_KNOWN = 32,  /* VALISE_E_NOT_FOUND when there is none */
};

typedef struct valise_backpack_options {
    size_t size;
    unsigned flags; /* of a backpack that exists only DURABLE, WRITE_BEHIND, NEW and KNOWN count */
    int64_t max_commits; /* ephemeral: commits that history keeps; 0: 10,000. The newest 100 stay */
    int64_t max_bytes;   /* ephemeral: 0: 50 MiB. docs/backpack.md says what counts */
    valise_str archive;  /* ephemeral: a durable backpack that gets the commits it drops, in time;
                            valise_backpack_flush says whether it has them. While it fails (it may
                            be dropped, or the disk be full) as many wait as history may hold; older
                            ones are lost, and the next flush that works says how many, with
                            VALISE_E_LIMIT. "": none */
    valise_str items;    /* a JSON object: each member is packed by the node "system"; "": none */
    valise_list sticky;  /* of valise_str: tags that taint; none: pii, secret */
    valise_str actor;    /* who acts through the handle; "": that of v */
} valise_backpack_options;

#define VALISE_BACKPACK_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(valise_backpack_options), 0, 0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0},                 \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* Open the backpack of that name, or make it. Of an ephemeral one all handles of one `valise` share
 * the state; it is gone with the last of them. VALISE_E_EXISTS: also where a backpack of the other
 * kind has the name; VALISE_E_NOT_FOUND: also for an archive nobody knows.
 *
 * Close all handles before their workspace. Where that was closed first, everything fails with
 * VALISE_E_INVALID, and only memory is left to be freed. After backpack:drop everything fails with
 * VALISE_E_NOT_FOUND. */
VALISE_API int valise_backpack_open(valise_backpack **out, valise *v, const char *name,
                                    const valise_backpack_options *options, valise_error *err);

/* Of any of the three kinds; NULL is fine. What is not flushed yet is flushed, and what cannot be
 * is lost with the last handle: flush first to know. What is refused when a view is closed the next
 * flush of the backpack says. */
VALISE_API void valise_backpack_close(valise_backpack *bag);

/* ---- nodes ---- */

/* Lists with items NULL are not given: that is something else than an empty list. */
typedef struct valise_permissions {
    valise_list read, write, deny;               /* of valise_str: keys, with * for any bytes */
    valise_list namespace_read, namespace_write; /* of valise_str: patterns, "sales.*" */
} valise_permissions;

typedef struct valise_node {
    size_t size;
    valise_str id, name;                   /* "": unknown */
    valise_str namespace_name;             /* what it packs carries it; "": none */
    const valise_permissions *permissions; /* NULL: those that valise_permit registered for id */
} valise_node;

#define VALISE_NODE_INIT                                                                           \
    {                                                                                              \
        sizeof(valise_node), {NULL, 0}, {NULL, 0}, {NULL, 0}, NULL                                 \
    }

/* A view for one run of a node: the run starts here and ends when it is closed. With permissions
 * these are registered first (needs backpack:permit); of a snapshot, where nothing can
 * be, they hold for this view. */
VALISE_API int valise_backpack_node(valise_backpack **out, valise_backpack *bag,
                                    const valise_node *node, valise_error *err);

/* What a node may do, whoever opens its view. NULL: nothing is registered any more. Owner only. */
VALISE_API int valise_permit(valise_backpack *bag, const char *node_id,
                             const valise_permissions *permissions, valise_error *err);

/* Only these nodes may read and write what carries the tag; a list that is not given restricts
 * nothing, both not given: the rule is removed. Owner only. */
VALISE_API int valise_tag_rule(valise_backpack *bag, const char *tag, const valise_list *read,
                               const valise_list *write, valise_error *err);

/* ---- commits ---- */

enum {
    VALISE_ACTION_PACK,
    VALISE_ACTION_DELETE,
    VALISE_ACTION_QUARANTINE,
    VALISE_ACTION_RELEASE,
    VALISE_ACTION_MERGE,  /* a pack that a merge made; what it takes away is as anywhere else */
    VALISE_ACTION_IMPORT, /* an item that came in from elsewhere */
    VALISE_ACTION_UNPACK, /* a read: in a log of its own, with an outcome */
};

enum { VALISE_READ_FOUND, VALISE_READ_ABSENT, VALISE_READ_DENIED };

/* A tag that came from what was read: the commit whose item carried it. */
typedef struct valise_taint {
    valise_str tag;
    int64_t seq;
    valise_uuid backpack; /* whose commit that is; zero: that of the commit which says so */
} valise_taint;

/* One entry of the history; the newest of a key that is no delete or quarantine is the item. */
typedef struct valise_commit {
    valise_uuid backpack; /* that made it: of a fork's older commits the origin */
    int64_t seq;          /* counts from 1 within the backpack */
    valise_uuid id;
    int64_t time;   /* ns; never decreases */
    int64_t action; /* VALISE_ACTION_... */
    valise_str key;
    valise_id value; /* zero: none (deleted, not kept, erased) */
    int64_t value_size;
    valise_id previous_value;
    valise_str summary; /* at most 200 bytes; "[redacted]" where a tag says so */
    int64_t version;
    int64_t previous; /* seq of the commit of the key before this one; 0: none */
    valise_str node_id, node_name;
    valise_str namespace_name; /* ptr NULL: none */
    int64_t run;               /* number of the run it belongs to; counts over all nodes. 0: none,
                                * it came in by a merge or an import */
    valise_list tags;          /* of valise_str, sorted */
    valise_list read, write;   /* of valise_str: the nodes that may; items NULL: all */
    valise_list taints;        /* of const valise_taint * */
    valise_list declassified;  /* of valise_str: sticky tags that the node left out */
    valise_str reason;         /* quarantine; ptr NULL: none */
    valise_str error;          /* quarantine: JSON; ptr NULL: none */
    int64_t entry;   /* release: number of the entry; merge: seq of the other side; 0: none */
    int64_t outcome; /* UNPACK, and what was denied: VALISE_READ_...; else VALISE_NONE */
    int64_t log_seq; /* durable: of the command; 0 */
} valise_commit;

typedef int valise_commit_fn(void *arg, const valise_commit *commit, valise_error *err);

/* ---- items ---- */

typedef struct valise_pack_options {
    size_t size;
    valise_str node_id, node_name, namespace_name; /* the owner's handle only: a view has its own */
    valise_list tags;        /* of valise_str; not given: as the item has them */
    valise_list read, write; /* of valise_str: only these nodes; not given: as the item has them */
    valise_list declassify; /* of valise_str: sticky tags to leave out; needs backpack:declassify */
    int64_t expect;         /* the item's version now, 0: there must be none; VALISE_NONE: any */
} valise_pack_options;

#define VALISE_PACK_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_pack_options), {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0},        \
            {NULL, 0}, {NULL, 0}, VALISE_NONE                                                      \
    }

/* What became of a write. Written behind, only `applied` is filled: the rest is known once it is
 * flushed. Of what was denied all is zero. */
typedef struct valise_packed {
    bool applied; /* false: denied, in a lenient backpack */
    int64_t seq, version;
    valise_uuid commit;
    valise_id value;
} valise_packed;

/* Add or update. json: one JSON text. out and options may be NULL. VALISE_E_INVALID (no JSON; a
 * key that is empty, over 1 KiB or has control characters), VALISE_E_DENIED, VALISE_E_CONFLICT. */
VALISE_API int valise_pack(valise_packed *out, valise_backpack *bag, const char *key,
                           const char *json, const valise_pack_options *options, valise_error *err);
VALISE_API int valise_pack_str(valise_packed *out, valise_backpack *bag, valise_str key,
                               valise_str json, const valise_pack_options *options,
                               valise_error *err);
/* The same with a text, which becomes a JSON string. VALISE_E_INVALID: it is not UTF-8. */
VALISE_API int valise_pack_text(valise_packed *out, valise_backpack *bag, const char *key,
                                const char *text, const valise_pack_options *options,
                                valise_error *err);
VALISE_API int valise_pack_text_str(valise_packed *out, valise_backpack *bag, valise_str key,
                                    valise_str text, const valise_pack_options *options,
                                    valise_error *err);

/* The value as canonical JSON: 1 and a new reference, which stays valid whatever happens to the
 * backpack; or 0. The read is recorded. */
VALISE_API int valise_unpack(valise_blob **out, valise_backpack *bag, const char *key,
                             valise_error *err);
VALISE_API int valise_unpack_str(valise_blob **out, valise_backpack *bag, valise_str key,
                                 valise_error *err);
/* The text of a value that is a string, without quotes and escapes: 1, or 0. VALISE_E_INVALID: it
 * is something else. */
VALISE_API int valise_unpack_text(valise_blob **out, valise_backpack *bag, const char *key,
                                  valise_error *err);
/* The value: 0. What is absent is VALISE_E_NOT_FOUND; what is denied VALISE_E_DENIED, always. */
VALISE_API int valise_unpack_required(valise_blob **out, valise_backpack *bag, const char *key,
                                      valise_error *err);
/* As valise_unpack, but nothing is recorded. */
VALISE_API int valise_peek(valise_blob **out, valise_backpack *bag, const char *key,
                           valise_error *err);
/* Is it there? 1 or 0. Nothing is recorded. */
VALISE_API int valise_has(valise_backpack *bag, const char *key, valise_error *err);

/* Delete. *removed (may be NULL): whether there was something; false also for what was denied in a
 * lenient backpack. */
VALISE_API int valise_remove(bool *removed, valise_backpack *bag, const char *key,
                             valise_error *err);

/* Delete what carries the tag, and what lies in a namespace that matches; "" for either: any, but
 * not for both. *count: how many; may be NULL. */
VALISE_API int valise_clear(int64_t *count, valise_backpack *bag, valise_str tag,
                            valise_str namespace_pattern, valise_error *err);

/* Items in the order of keys. */
typedef struct valise_item {
    const valise_commit *commit; /* what made it: who, when, version, tags */
    valise_blob *value; /* borrowed: take a reference to keep it. NULL: it was erased; and always
                         * for valise_each_key */
} valise_item;
typedef int valise_item_fn(void *arg, const valise_item *item, valise_error *err);

VALISE_API int valise_item_get(valise_backpack *bag, const char *key, valise_item_fn *fn, void *arg,
                               valise_error *err); /* 1: fn was called; 0: absent */
VALISE_API int valise_each_item(valise_backpack *bag, valise_item_fn *fn, void *arg,
                                valise_error *err);
VALISE_API int valise_each_key(valise_backpack *bag, valise_item_fn *fn, void *arg,
                               valise_error *err);
VALISE_API int valise_items_by_namespace(valise_backpack *bag, valise_str pattern,
                                         valise_item_fn *fn, void *arg, valise_error *err);
/* As one JSON object, key to value. */
VALISE_API int valise_unpack_by_namespace(valise_blob **out, valise_backpack *bag,
                                          valise_str pattern, valise_error *err);
VALISE_API int valise_backpack_size(int64_t *out, valise_backpack *bag, valise_error *err);

/* ---- history ---- */

typedef struct valise_history {
    size_t size;
    valise_str node_id, key, tag, namespace_pattern; /* "": any */
    unsigned actions;                                /* 1 << VALISE_ACTION_...; 0: all but UNPACK */
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

VALISE_API int valise_history_each(valise_backpack *bag, const valise_history *filter,
                                   valise_commit_fn *fn, void *arg, valise_error *err);

/* What a node read (with the outcome) or wrote, oldest first. */
VALISE_API int valise_access_log(valise_backpack *bag, const char *node_id, bool writes,
                                 valise_commit_fn *fn, void *arg, valise_error *err);

/* The commits that made the item what it is, newest first. */
VALISE_API int valise_blame(valise_backpack *bag, const char *key, valise_commit_fn *fn, void *arg,
                            valise_error *err);

/* ---- time travel ---- */

/* Each gives a read-only backpack of its own. A point before what history keeps is VALISE_E_LIMIT
 * and names the oldest one there is; a commit, node, run or name nobody knows VALISE_E_NOT_FOUND.
 */
VALISE_API int valise_snapshot(valise_backpack **out, valise_backpack *bag, int64_t time,
                               valise_error *err); /* after the last commit with a time <= this */
VALISE_API int valise_snapshot_named(valise_backpack **out, valise_backpack *bag,
                                     const char *checkpoint, valise_error *err);
VALISE_API int valise_snapshot_at_commit(valise_backpack **out, valise_backpack *bag,
                                         const valise_uuid *commit, valise_error *err);
VALISE_API int valise_snapshot_at_seq(valise_backpack **out, valise_backpack *bag, int64_t seq,
                                      valise_error *err); /* 0: before the first commit */
/* Just before the n-th run of a node, or just after it; n < 0 counts from the last run. The end of
 * a node's path will do ("chat" for "agent/search/chat"), where no node has it as its id:
 * VALISE_E_CONFLICT when it is that of several. So too in valise_history and valise_access_log. */
VALISE_API int valise_snapshot_before_node(valise_backpack **out, valise_backpack *bag,
                                           const char *node_id, int64_t n, valise_error *err);
VALISE_API int valise_snapshot_after_node(valise_backpack **out, valise_backpack *bag,
                                          const char *node_id, int64_t n, valise_error *err);

/* The same from a text, as the command line takes it: a seq "42", a time "2026-01-02T03:04:05Z", a
 * commit's id or its ending, "before:NODE", "after:NODE#2", "now", or the name of a checkpoint. */
VALISE_API int valise_snapshot_at(valise_backpack **out, valise_backpack *bag, valise_str point,
                                  valise_error *err);

/* Name the present state and hold it, whatever history drops. A name is given once: again for the
 * same state is fine, for another VALISE_E_EXISTS. seq: NULL when nobody wants it. */
VALISE_API int valise_checkpoint(int64_t *seq, valise_backpack *bag, const char *name,
                                 valise_error *err);
VALISE_API int valise_checkpoint_remove(valise_backpack *bag, const char *name, valise_error *err);

/* A new backpack that starts with the state of another (mostly a snapshot), its quarantine too,
 * with its origin recorded, and with its permissions and rules. options: as for opening, but it is
 * of the kind of its origin, and LENIENT, TAINT and sticky are those of the origin. Owner only. */
VALISE_API int valise_backpack_fork(valise_backpack **out, valise_backpack *from, const char *name,
                                    const valise_backpack_options *options, valise_error *err);
/* A fork of the state at a commit, for a rerun from there. */
VALISE_API int valise_replay_from_commit(valise_backpack **out, valise_backpack *bag,
                                         const valise_uuid *commit, const char *name,
                                         valise_error *err);

/* ---- difference ---- */

enum { VALISE_CHANGE_ADDED, VALISE_CHANGE_MODIFIED, VALISE_CHANGE_DELETED };

typedef struct valise_change {
    int kind; /* VALISE_CHANGE_ADDED, ... */
    valise_str key;
    const valise_commit *before, *after; /* NULL where there is no item */
    const valise_commit *by; /* what made the difference; NULL: b is no later state of a */
    valise_blob *old_value, *new_value; /* borrowed; NULL: no item, or it was erased */
} valise_change;
typedef int valise_change_fn(void *arg, const valise_change *change, valise_error *err);

/* What is different in b, in the order of keys. Values are equal when their canonical texts are.
 * Each side shows what may be read there; beside the view of a node that is what the node may. */
VALISE_API int valise_backpack_diff(valise_backpack *a, valise_backpack *b, valise_change_fn *fn,
                                    void *arg, valise_error *err);

/* The first commit in (from, to] whose state makes the predicate true. holds: gets a snapshot, says
 * 1, 0 or fails. VALISE_E_NOT_FOUND when it is not true at `to`, VALISE_E_INVALID when it is at
 * `from`. */
typedef int valise_bisect_fn(void *arg, valise_backpack *snapshot, valise_error *err);
VALISE_API int valise_bisect(valise_backpack *bag, int64_t from, int64_t to,
                             valise_bisect_fn *holds, void *arg, valise_commit_fn *found,
                             void *found_arg, valise_error *err);

typedef struct valise_conflict {
    valise_str key;
    const valise_commit *base, *ours, *theirs; /* NULL: no item there */
    valise_blob *base_value, *our_value, *their_value;
    const valise_commit *our_change, *their_change; /* what made it so, a deletion too; NULL: not
                                                       known */
} valise_conflict;
typedef int valise_conflict_fn(void *arg, const valise_conflict *conflict, valise_error *err);

/* Bring what `theirs` changed since base into `ours`, as commits of a merge. base NULL: the newest
 * state that both have in common, by forks and by merges that brought all there was; VALISE_E_LIMIT
 * when that is no longer kept, or its backpack was dropped, VALISE_E_NOT_FOUND when there is none.
 * All of one kind; base and theirs are the owner's, or views of the same node as ours; the actor of
 * ours must be allowed to read them. A node brings along what it may read in theirs, and writes
 * what it may in ours: each backpack says that for itself. Where both changed a key, and not to the
 * same item (value, namespace, tags, lists of nodes), it is a conflict: fn gets each, nothing at
 * all is merged, and the result is VALISE_E_CONFLICT. What theirs put into quarantine or brought
 * back from it comes along. The owner's merge keeps who made each change, but no run of theirs is
 * one of ours; a node's is the node's own. *count: keys that were changed; may be NULL. */
VALISE_API int valise_backpack_merge(int64_t *count, valise_backpack *ours, valise_backpack *base,
                                     valise_backpack *theirs, valise_conflict_fn *fn, void *arg,
                                     valise_error *err);

/* ---- quarantine ---- */

typedef struct valise_quarantine_options {
    size_t size;
    valise_str reason;             /* needed */
    valise_str error;              /* JSON; "": none */
    bool forget;                   /* no entry, and the commit has no value */
    valise_str node_id, node_name; /* the owner's handle only */
} valise_quarantine_options;

#define VALISE_QUARANTINE_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(valise_quarantine_options), {NULL, 0}, {NULL, 0}, false, {NULL, 0},                 \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* Take an item out of the active state. A key that was never packed gets an entry too. */
VALISE_API int valise_quarantine(valise_packed *out, valise_backpack *bag, const char *key,
                                 const valise_quarantine_options *options, valise_error *err);
/* Bring an entry back: the newest of the key, or the one with this number (0: newest). That is the
 * seq of the commit that put it there; what a fork began with has numbers below 0, the newest -1.
 * VALISE_E_EXISTS when the key is live, VALISE_E_NOT_FOUND. */
VALISE_API int valise_release(valise_packed *out, valise_backpack *bag, const char *key,
                              int64_t entry, valise_error *err);
/* Every entry: the commit that put it there, with the entry's number as its `entry`, and the item's
 * value (NULL: there was none). */
VALISE_API int valise_quarantined(valise_backpack *bag, valise_item_fn *fn, void *arg,
                                  valise_error *err);

/* ---- the rest ---- */

/* JSON Schema 2020-12 over the state as an object (key ""), or over one value. 1: valid; 0: not,
 * and *report lists every error with its paths. */
VALISE_API int valise_backpack_validate(valise_blob **report, valise_backpack *bag, const char *key,
                                        valise_str schema, valise_error *err);

/* The whole backpack as JSON, with the newest `commits` of the history (0: 1,000; -1: all). */
VALISE_API int valise_backpack_to_json(valise_blob **out, valise_backpack *bag, int64_t commits,
                                       valise_error *err);
/* A new backpack from that, or from the older shape {items, history, permissions}. Nothing is made
 * when it fails. What options leave open (LENIENT, TAINT, sticky, bounds) is as the JSON says. */
VALISE_API int valise_backpack_from_json(valise_backpack **out, valise *v, const char *name,
                                         valise_str json, const valise_backpack_options *options,
                                         valise_error *err);

typedef struct valise_usage {
    size_t size;
    int64_t items, commits, reads, quarantined;
    int64_t state_bytes;   /* values of items, quarantine and the state at the edge, and those of
                              their commits that history has dropped */
    int64_t history_bytes; /* what counts against max_bytes */
    int64_t read_bytes;
    int64_t held_bytes;          /* what only checkpoints, snapshots and forks still need */
    int64_t overhead_bytes;      /* tables, trees and rings */
    int64_t first_seq, last_seq; /* of the history that is kept; 0: none */
} valise_usage;

#define VALISE_USAGE_INIT                                                                          \
    {                                                                                              \
        sizeof(valise_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                      \
    }

/* Owner only. */
VALISE_API int valise_backpack_usage(valise_usage *out, valise_backpack *bag, valise_error *err);

/* Write-behind: keep what was packed. 0 when all of it is kept; else none of it. A pack that is
 * refused (denied by the item's lists or rules, a version that was not expected) is the error, said
 * once, and is gone: the others wait for the next flush. `[i]` in err->path: the how manyth it was
 * of those that waited, from 0. After any other failure, such as VALISE_E_IO or VALISE_E_BUSY, all
 * of them wait on until the handle is closed.
 *
 * Other calls flush first, through whichever handle, and fail with that error before they do
 * anything: call again. What the permissions of its node do not allow a pack does not wait: it
 * fails at once, or in a lenient backpack is not applied. When many wait, a pack flushes before it
 * waits too.
 *
 * Ephemeral: hand what was dropped to the archive; VALISE_E_LIMIT, once: some of it is lost. */
VALISE_API int valise_backpack_flush(valise_backpack *bag, valise_error *err);

VALISE_END

#endif
