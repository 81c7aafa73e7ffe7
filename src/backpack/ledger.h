/* ledger.h -- where the commits of a backpack lie: the one thing that is different between an
 * ephemeral and a durable backpack.
 *
 *     ring    in memory: a table of keys, a ring of records, states made on demand     ring.h
 *     rows    in the workspace: the collections of bag.h, seen through a view          rows.h
 *
 * What packing, access, history, time travel, differences and merges mean is written once, above
 * this line, in terms of these functions. tests/contract/ledger.c runs one suite over both and over
 * a naive third one.
 *
 * A ledger shows one state: the newest, or the one after commit `upto` (freeze), in which case
 * nothing can be changed. Functions return 0, 1 where something was found, or a negative code.
 *
 * Commits that are handed out belong to the ledger. Those of `newest` and `commit` are valid until
 * `leave`; those that a callback gets until it returns. No lock is held while a callback runs, and
 * it may use the backpack; of what changes meanwhile it may see the old or the new state.
 *
 * Threads: those of the ledger behind it. A ring is shared; rows are single, as their view is. */
#ifndef VLS_LEDGER_H
#define VLS_LEDGER_H

#include "backpack/bag.h"
#include "base/blob.h"

typedef struct vls_ledger vls_ledger;

/* What there is to know without looking at any item. */
typedef struct vls_ledger_head {
    valise_uuid id;
    valise_str name;
    bool lenient, taint;
    valise_list sticky;
    valise_uuid origin;
    int64_t origin_seq;
    int64_t origin_time;  /* of the state that a fork started with; 0: not known, or no fork */
    int64_t edge;         /* the oldest state that can be seen */
    int64_t last;         /* seq of the newest commit, or of the state of a frozen one; 0: none */
    int64_t last_time;    /* of the newest, whatever state is shown; where there is none that of the
                             origin's state; 0: none either */
    int64_t last_run;     /* number of the newest run; 0: none */
    valise_str last_node; /* that made the newest commit; of a frozen ring it is not told */
    int64_t open_run;     /* the run of the newest commit, if that is behind the edge and the run is
                             not over; else 0. Of a frozen one: 0 */
    uint64_t generation;  /* changes whenever permissions or rules do; never 0. These are
                           * those of today, whatever state is shown */
    int64_t max_commits, max_bytes; /* its own bounds; 0: none */
} vls_ledger_head;

/* One read, or a write that was denied, for the log of reads. */
typedef struct vls_ledger_read {
    valise_str node_id, node_name, namespace_name, key;
    int64_t action; /* VALISE_ACTION_UNPACK; of a write that was denied what it would have been */
    int64_t seq;    /* of the commit that was read; 0: none */
    int64_t version;
    int64_t outcome; /* VALISE_READ_... */
    int64_t time;
    valise_list tags;
} vls_ledger_read;

typedef struct vls_ledger_ops {
    const char *name;
    bool undone; /* what a command that fails has changed is undone, the commit too; else nothing
                    may fail after `append` */

    /* Nobody else changes the ledger between the two, and what was handed out stays. Not nested. */
    void (*enter)(void *self);
    void (*leave)(void *self);

    /* ---- between enter and leave ---- */

    int (*head)(vls_ledger_head *out, void *self, valise_error *err);
    /* The newest commit of the key in the state that is shown, of whatever action: 1, or 0. */
    int (*newest)(valise_commit *out, void *self, valise_str key, valise_error *err);
    /* The same in the state of today, whatever state is shown: who may see an old version depends
     * on the item of today. */
    int (*present)(valise_commit *out, void *self, valise_str key, valise_error *err);
    /* Of a key that `newest` knows nothing of: the version that it counts on from. While any commit
     * of the key is kept (by a checkpoint, the quarantine, a fork), so is its newest one, which is
     * no item and not shown. *out is 0 when none is. [B2] */
    int (*version)(int64_t *out, void *self, valise_str key, valise_error *err);
    /* 1, or 0 when it was dropped or never was. Of a fork's origin too: backpack says whose. What
     * an entry of the quarantine is about (the commit that put it there, and the item) is kept
     * while it is not released. */
    int (*commit)(valise_commit *out, void *self, const valise_uuid *backpack, int64_t seq,
                  valise_error *err);
    /* Is that commit, kept or not, part of the history that led to the state that is shown? */
    bool (*includes)(void *self, const valise_uuid *backpack, int64_t seq);
    /* The value of a commit: a new reference. VALISE_E_NOT_FOUND when it was erased. */
    int (*value)(valise_blob **out, void *self, const valise_commit *commit, valise_error *err);
    /* Add a commit. The caller has filled everything but backpack, seq, id and log_seq (its outcome
     * is VALISE_NONE, and so is that of what is handed out); value is
     * the bytes of commit->value (NULL where it has none), canonical. Fills seq, id, backpack.
     * Never leaves half of it. With a seq already it is restored under that one: greater than the
     * last, and leaving out others only up to an edge that is set next. A deletion among them
     * stays for its version alone. */
    int (*append)(void *self, valise_commit *commit, valise_blob *value, valise_error *err);
    /* Restoring: what was appended so far is the state at the edge, the oldest that can be seen. */
    int (*set_edge)(void *self, int64_t edge, valise_error *err);

    /* Rows of the other collections of bag.h: coll is one of them, row its struct, whose backpack
     * member (the ledger's own id, or zero for a rule of the workspace) and key members are set.
     * As valise_view_get, _put and _delete; strings live until leave. put and delete are
     * VALISE_E_UNSUPPORTED where nothing can be changed (rows in a query). */
    int (*row_get)(void *row, void *self, const valise_coll *coll, valise_error *err);
    int (*row_put)(void *self, const valise_coll *coll, const void *row, valise_error *err);
    int (*row_delete)(void *self, const valise_coll *coll, const void *row, valise_error *err);

    /* Has a run of this node a row, whatever state is shown? 1, 0. Without looking at the others.
     */
    int (*ran)(void *self, valise_str node_id, valise_error *err);

    /* The log of reads. Never fails: what cannot be kept is not. Copies what it is given. */
    void (*read_add)(void *self, const vls_ledger_read *read);

    /* ---- outside of enter and leave ---- */

    /* The ledger of the same backpack as it is today, which belongs to this one: whose permissions
     * and rules hold, when the workspace is looked at as it was once. NULL: these rows are
     * those of today in all states. */
    int (*today)(vls_ledger *out, void *self, valise_error *err);

    /* Items in the order of keys. */
    int (*each_item)(void *self, valise_commit_fn *fn, void *arg, valise_error *err);
    /* Keys that are no items, but have commits that are kept: the newest of each, in the order of
     * keys. It has the version that the key counts on from. */
    int (*each_gone)(void *self, valise_commit_fn *fn, void *arg, valise_error *err);
    /* Items whose namespace matches, in the order of keys. The pattern was checked. */
    int (*each_named)(void *self, valise_str pattern, valise_commit_fn *fn, void *arg,
                      valise_error *err);
    /* All commits of a key up to the state that is shown, newest first, those of a fork's origin
     * behind its own. */
    int (*each_version)(void *self, valise_str key, valise_commit_fn *fn, void *arg,
                        valise_error *err);
    /* Commits with first <= seq <= last behind the edge, its own only. */
    int (*each_commit)(void *self, int64_t first, int64_t last, bool reverse, valise_commit_fn *fn,
                       void *arg, valise_error *err);
    /* Keys whose newest commits are different in the two states, in order; other is a ledger of the
     * same kind and of the same backpack or a fork of it. Either commit may be one that is no item.
     * VALISE_E_UNSUPPORTED: compare item by item. Cost goes with what differs. */
    int (*each_difference)(void *self, void *other,
                           int (*fn)(void *arg, const valise_commit *in_self,
                                     const valise_commit *in_other, valise_error *err),
                           void *arg, valise_error *err);
    /* Rows of a collection of bag.h that belong to this ledger, in the order of keys; of
     * vls_bag_rules also those of the workspace (backpack zero), which come first. */
    int (*each_row)(void *self, const valise_coll *coll,
                    int (*fn)(void *arg, const void *row, valise_error *err), void *arg,
                    valise_error *err);

    /* The log of reads, newest first. */
    int (*each_read)(void *self,
                     int (*fn)(void *arg, const vls_ledger_read *read, valise_error *err),
                     void *arg, valise_error *err);

    int (*usage)(valise_usage *out, void *self, valise_error *err);

    /* The state after commit upto, as a ledger of its own that is to be released. upto is between
     * edge and last, or what a checkpoint holds before the edge. */
    int (*freeze)(vls_ledger *out, void *self, int64_t upto, valise_error *err);
    void (*release)(void *self); /* of a frozen one only */
} vls_ledger_ops;

struct vls_ledger {
    const vls_ledger_ops *ops; /* NULL: none */
    void *self;
    bool frozen;
};

#endif
