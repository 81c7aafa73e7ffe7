/* ops.h -- arguments and answers of the operations that the C functions use as well.
 *
 * Threads: plain data. */
#ifndef VLS_BACKPACK_OPS_H
#define VLS_BACKPACK_OPS_H

#include "backpack/use.h"

typedef struct vls_create_args {
    valise_str name;
    bool lenient, taint;
    bool ephemeral;                 /* and then: */
    int64_t max_commits, max_bytes; /* 0: the usual */
    valise_str archive;
    valise_list sticky;   /* of valise_str */
    valise_content items; /* an object; not given: none */
} vls_create_args;

/* Each member of `items`, in its order, with its value as canonical text. */
typedef int vls_member_fn(void *arg, valise_str key, valise_str value, valise_error *err);
int vls_create_each_item(valise_str items, const valise_env *env, vls_member_fn *fn, void *arg,
                         valise_error *err);

typedef struct vls_create_result {
    valise_uuid id;
    int64_t seq;
} vls_create_result;

typedef struct vls_op_pack_args {
    vls_who who; /* as in vls_key_args */
    valise_str key;
    valise_content value;
    valise_list tags, read, write, declassify, taints;
} vls_op_pack_args;

typedef struct vls_clear_args {
    vls_who who;
    valise_str tag, pattern;
} vls_clear_args;

typedef struct vls_clear_result {
    int64_t count, denied;
} vls_clear_result;

typedef struct vls_op_quarantine_args {
    vls_who who;
    valise_str key, reason, error;
    bool forget;
    valise_list taints;
} vls_op_quarantine_args;

typedef struct vls_release_args {
    vls_who who;
    valise_str key;
    int64_t entry;
} vls_release_args;

typedef struct vls_checkpoint_args {
    vls_who who;
    valise_str name;
    bool remove;
} vls_checkpoint_args;

typedef struct vls_checkpoint_result {
    int64_t seq;
} vls_checkpoint_result;

typedef struct vls_permit_args {
    vls_who who;
    valise_str node_id;
    valise_permissions allow;
    bool remove;
} vls_permit_args;

typedef struct vls_rule_args {
    vls_who who;
    valise_str tag;
    valise_list read, write;
} vls_rule_args;

typedef struct vls_fork_args {
    vls_who who;
    valise_str name, point;
} vls_fork_args;

typedef struct vls_fork_result {
    valise_uuid id;
    int64_t seq;
} vls_fork_result;

typedef struct vls_merge_base {
    char name[VLS_BAG_NAME_MAX + 1];
    int64_t seq;
    vls_arena *arena;   /* of: */
    valise_list doubts; /* see vls_bag_merge */
} vls_merge_base;

typedef struct vls_merge_args {
    vls_who who;       /* ours */
    valise_str theirs; /* name */
    valise_str base;   /* name; "": their common past */
    valise_str theirs_point, base_point;
    valise_uuid theirs_id, base_id; /* handles: they must still be these; zero: any */
    bool passing; /* theirs is dropped next: with a base given nothing is noted for later merges */
    /* Snapshots of ephemeral ones: what the handle holds, though the points are pruned. No fields:
     * only C code of the library has them. NULL: the points say it. */
    const vls_ledger *held_theirs, *held_base;
    vls_merge_base *found; /* the same way: gets the base that was not given; or NULL */
} vls_merge_args;

typedef struct vls_merge_result {
    int64_t merged;
} vls_merge_result;

/* Start a run of who.node, or with `end` say that this one is over. */
typedef struct vls_run_args {
    vls_who who;
    int64_t end;
} vls_run_args;

typedef struct vls_run_result {
    int64_t run;
} vls_run_result;

typedef struct vls_supersede_args {
    vls_who who;
    int64_t seq;
    valise_str aside;
} vls_supersede_args;

typedef struct vls_supersede_result {
    valise_uuid id, old;
} vls_supersede_result;

#define VLS_APPEND_MAX 100000

typedef struct vls_append_item {
    const valise_commit *commit;
    valise_content value; /* not given: it has none */
} vls_append_item;

typedef struct vls_append_args {
    vls_who who;
    valise_list items; /* of const vls_append_item * */
} vls_append_args;

/* Sticky tags that a node has read in a state that cannot be changed (vls_scope_new_marks). */
typedef struct vls_taint_args {
    vls_who who;
    valise_list marks; /* of const vls_taint_row * */
} vls_taint_args;

/* Have the marks that no ledger has yet kept by that command; nothing happens without any. who:
 * backpack, node and id. */
int vls_keep_marks(valise *v, vls_scope *scope, const vls_who *who, const valise_call *call,
                   valise_error *err);

/* What is not set is as the document says. */
typedef struct vls_import_args {
    vls_who who;
    valise_content data;
    bool lenient, taint;
    valise_list sticky; /* of valise_str */
} vls_import_args;

typedef struct vls_import_result {
    valise_uuid id;
    int64_t items, commits;
} vls_import_result;

/* Drop a durable backpack, a bounded number of rows at a time. */
typedef struct vls_forget_args {
    valise_uuid backpack;
} vls_forget_args;

typedef struct vls_forget_result {
    int64_t removed; /* rows */
    bool done;       /* all of it is gone */
} vls_forget_result;

/* Go on with what is being dropped, such as what a crash left. *removed: rows. */
int vls_forget_rest(int64_t *removed, valise *v, valise_error *err);
/* A backpack of either kind that the engine made for itself; nobody is asked whether the actor may.
 */
int vls_backpack_drop(valise *v, valise_str name, valise_error *err);

/* ---- for flows that go on (op_supersede.c); nobody is asked whether the actor may ---- */

/* The durable backpack `name` is called `aside` from now on, its open runs are closed, and a fork
 * of its state after commit seq has the name, with the same permissions and rules: *id. All of it
 * or nothing. Pins and checkpoints stay with the old one. VALISE_E_NOT_FOUND, VALISE_E_LIMIT
 * (before what is kept), VALISE_E_EXISTS (aside is taken), VALISE_E_UNSUPPORTED (an ephemeral one).
 * more: other commands of the engine behind it, at most 4, in the same transaction. */
int vls_backpack_supersede(valise_uuid *id, valise *v, valise_str name, int64_t seq,
                           valise_str aside, const vls_run_item *more, size_t count,
                           const valise_call *call, valise_error *err);

/* The runs of nodes on a durable backpack, by number, and the seq of its newest commit. fn and last
 * may be NULL; what fn returns, unless 0, ends it and is returned. */
typedef int vls_run_fn(void *arg, const vls_run_row *run, valise_error *err);
int vls_backpack_each_run(int64_t *last, valise *v, valise_str name, const valise_call *call,
                          vls_run_fn *fn, void *arg, valise_error *err);

extern const valise_op vls_op_backpack_create, vls_op_backpack_pack, vls_op_backpack_rm,
    vls_op_backpack_clear, vls_op_backpack_quarantine, vls_op_backpack_release,
    vls_op_backpack_checkpoint, vls_op_backpack_permit, vls_op_backpack_rule, vls_op_backpack_fork,
    vls_op_backpack_merge, vls_op_backpack_run, vls_op_backpack_import, vls_op_backpack_append,
    vls_op_backpack_taint, vls_op_backpack_unpack, vls_op_backpack_forget,
    vls_op_backpack_supersede;

#endif
