/* decide.h -- what changes a backpack: checks first, then one or more commits.
 *
 * Each function enters the ledger, decides, appends and leaves; a failure has changed nothing. (Of
 * those that make many commits one: what memory gives out in the middle of stays as far as it went;
 * fn gets those commits. In a workspace nothing of it is kept.)
 *
 * Denied writes fail with VALISE_E_DENIED, or in a lenient backpack do nothing and say so; either
 * way they are in the log of reads.
 *
 * Threads: pure functions over a ledger. */
#ifndef VLS_DECIDE_H
#define VLS_DECIDE_H

#include "backpack/scope.h"

/* Around a change: when, and who may what. */
typedef struct vls_change_call {
    int64_t now;
    bool may_declassify;
    vls_arena *arena; /* what commits in `done` may point to */
} vls_change_call;

/* What was done: for the answer, and for the event of an ephemeral backpack. */
typedef struct vls_done {
    valise_packed packed;
    bool denied;
    valise_commit commit; /* seq 0: none. Its texts: the arguments', the scope's, the arena's */
} vls_done;

typedef struct vls_pack_args {
    valise_str key;
    valise_content value;                          /* id, size and canonical bytes */
    valise_blob *blob;                             /* the same bytes; NULL: they are copied */
    valise_str node_id, node_name, namespace_name; /* the owner's scope; ptr NULL: not given */
    valise_list tags, read, write, declassify;     /* items NULL: not given */
    valise_list taints; /* the owner's scope: besides those of the item it carries these, as in a
                         * commit; whose backpack is said, also where it is this one */
    int64_t expect;     /* version; 0: there must be none; VALISE_NONE: any */
} vls_pack_args;

int vls_bag_pack(vls_done *out, const vls_ledger *ledger, vls_scope *scope,
                 const vls_pack_args *args, const vls_change_call *call, valise_error *err);

/* Only the checks that need no state, for packs that wait: the key, lists, names. */
int vls_bag_pack_check(vls_scope *scope, const vls_pack_args *args, const vls_change_call *call,
                       valise_error *err);

/* 1: it was there; 0: absent, or denied. expect, node: as in vls_pack_args. */
int vls_bag_remove(vls_done *out, const vls_ledger *ledger, vls_scope *scope, valise_str key,
                   int64_t expect, valise_str node_id, valise_str node_name,
                   const vls_change_call *call, valise_error *err);

#define VLS_BAG_ERROR_MAX ((size_t)64 << 10)

typedef struct vls_quarantine_args {
    valise_str key, reason, error; /* error ptr NULL: none; canonical */
    bool forget;
    valise_str node_id, node_name;
    valise_list taints; /* of those who gave reason and error; as in vls_pack_args */
} vls_quarantine_args;
int vls_bag_quarantine(vls_done *out, const vls_ledger *ledger, vls_scope *scope,
                       const vls_quarantine_args *args, const vls_change_call *call,
                       valise_error *err);

int vls_bag_release(vls_done *out, const vls_ledger *ledger, vls_scope *scope, valise_str key,
                    int64_t seq, valise_str node_id, valise_str node_name,
                    const vls_change_call *call, valise_error *err);

/* Many at once: each removal is a commit; done gets each. The keys are found first. Those that are
 * denied are left out in a lenient backpack (done gets those that can be read), else nothing is
 * removed. */
typedef int vls_done_fn(void *arg, const vls_done *done, valise_error *err);
int vls_bag_clear(const vls_ledger *ledger, vls_scope *scope, valise_str tag, valise_str pattern,
                  valise_str node_id, valise_str node_name, const vls_change_call *call,
                  vls_done_fn *fn, void *arg, valise_error *err);

typedef struct vls_merge_outcome {
    int64_t conflicts;
    bool whole; /* false: there was more, which the node may not read there or write here */
} vls_merge_outcome;

/* Three-way merge into `ours`: see valise_backpack_merge. doubts: keys, sorted, of which it is not
 * known what both had in common: where the two are different it is a conflict. */
int vls_bag_merge(vls_merge_outcome *out, const vls_scoped *ours, const vls_scoped *base,
                  const vls_scoped *theirs, valise_list doubts, const vls_change_call *call,
                  vls_done_fn *fn, valise_conflict_fn *conflict, void *arg, valise_error *err);

/* The conflicts that a merge would meet. */
int vls_bag_conflicts(const vls_scoped *ours, const vls_scoped *base, const vls_scoped *theirs,
                      valise_list doubts, vls_arena *arena, valise_conflict_fn *fn, void *arg,
                      valise_error *err);

/* A run that was started before goes on with this scope. VALISE_E_NOT_FOUND; VALISE_E_INVALID when
 * it is another node's, or over. */
int vls_bag_run_resume(const vls_ledger *ledger, vls_scope *scope, int64_t number,
                       valise_error *err);

/* A run of the scope's node starts, or is over. *number: of the run. */
int vls_bag_run_start(int64_t *number, const vls_ledger *ledger, vls_scope *scope,
                      valise_error *err);
int vls_bag_run_end(const vls_ledger *ledger, vls_scope *scope, int64_t number, valise_error *err);

/* What a node may do; NULL: nothing is registered any more. And who may read and write what carries
 * the tag; both lists not given: the rule is removed. For the owner alone: the caller sees to that.
 */
int vls_bag_permit(const vls_ledger *ledger, valise_str node_id,
                   const valise_permissions *permissions, valise_error *err);
int vls_bag_tag_rule(const vls_ledger *ledger, valise_str tag, valise_list read, valise_list write,
                     vls_arena *arena, valise_error *err);

/* The same rule for all backpacks of the workspace, in a command. */
int vls_workspace_rule(valise_view *view, valise_str tag, valise_list read, valise_list write,
                       vls_arena *arena, valise_error *err);

/* VALISE_E_INVALID for names that mean something else where a point is written, such as "42". */
int vls_bag_checkpoint(int64_t *seq, const vls_ledger *ledger, valise_str name, valise_str actor,
                       int64_t now, valise_error *err);

/* *seq: what it held. VALISE_E_NOT_FOUND. */
int vls_bag_checkpoint_remove(int64_t *seq, const vls_ledger *ledger, valise_str name,
                              valise_error *err);

#endif
