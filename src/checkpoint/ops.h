/* ops.h -- arguments and answers of the operations.
 *
 * Threads: plain data. */
#ifndef VLS_CHECKPOINT_OPS_H
#define VLS_CHECKPOINT_OPS_H

#include <valise/sys/operation.h>

#include "checkpoint/rows.h"

/* ---- internal commands ---- */

#define VLS_CHECKPOINT_BATCH 4096u

/* checkpoint:store -- contents, before some manifest lists them. */
typedef struct vls_checkpoint_content {
    valise_id hash;
    valise_content data; /* size VALISE_NONE: it is a blob */
    int64_t size;
} vls_checkpoint_content;

typedef struct vls_checkpoint_store_args {
    valise_list contents; /* of vls_checkpoint_content * */
} vls_checkpoint_store_args;

/* checkpoint:make */
typedef struct vls_checkpoint_make_args {
    valise_str name, prefix; /* name "": prefix and the seq */
    valise_content manifest;
    bool partial;
    valise_uuid tree;
    int64_t version;
    valise_id root;
    int64_t files, dirs, links, bytes, lacking;
} vls_checkpoint_make_args;

typedef struct vls_checkpoint_made {
    valise_str name;
    int64_t seq;
} vls_checkpoint_made;

/* checkpoint:drop */
typedef struct vls_checkpoint_drop_args {
    valise_uuid tree;
    valise_str name;
} vls_checkpoint_drop_args;

/* checkpoint:forget -- contents that no manifest lists, when the checkpoints are these. */
typedef struct vls_checkpoint_forget_args {
    valise_id state;
    valise_list hashes; /* of valise_id */
} vls_checkpoint_forget_args;

/* ---- tree:checkpoint ---- */

typedef struct vls_tree_checkpoint_args {
    valise_str name, dir;
    bool dry_run;
} vls_tree_checkpoint_args;

typedef struct vls_checkpoint_problem {
    valise_str path, reason;
} vls_checkpoint_problem;

typedef struct vls_tree_checkpoint_result {
    valise_str name; /* ptr NULL: dry run */
    bool existed;    /* nothing had changed since the one with this name */
    int64_t version;
    valise_id tree_root;
    int64_t files, dirs, links, bytes;
    int64_t stored, stored_bytes; /* contents that were not there before */
    int64_t lacking_count;
    valise_list lacking;  /* of const vls_checkpoint_problem * */
    int64_t failed_count; /* of what is lacking, and is not only too large */
} vls_tree_checkpoint_result;

/* ---- checkpoint:list, :show, :remove ---- */

typedef struct vls_checkpoint_show_args {
    valise_str checkpoint, path;
} vls_checkpoint_show_args;

typedef struct vls_checkpoint_show_row {
    valise_str path;
    int64_t kind; /* vls_manifest_kind */
    valise_str mode;
    int64_t size;
    valise_id content;
    valise_str target, reason;
} vls_checkpoint_show_row;

typedef struct vls_checkpoint_remove_args {
    valise_str checkpoint;
} vls_checkpoint_remove_args;

typedef struct vls_checkpoint_remove_result {
    valise_str name;
    int64_t contents, bytes; /* that nobody needs any more */
} vls_checkpoint_remove_result;

/* ---- tree:restore ---- */

typedef struct vls_restore_args {
    valise_str checkpoint;
    valise_list paths;
    valise_str dir;
    bool remove, force, dry_run;
} vls_restore_args;

enum { VLS_RESTORE_CREATE, VLS_RESTORE_REPLACE, VLS_RESTORE_MODE, VLS_RESTORE_DELETE };

typedef struct vls_restore_change {
    valise_str path;
    int64_t change; /* VLS_RESTORE_... */
} vls_restore_change;

typedef struct vls_restore_result {
    valise_str name;  /* of the checkpoint */
    bool dry_run;     /* nothing was done */
    valise_str saved; /* the checkpoint that takes it back; ptr NULL: nothing was overwritten */
    int64_t restored, unchanged, deleted;
    valise_list changes; /* of const vls_restore_change *: the first of them */
    int64_t in_the_way_count, lacking_count, kept;
    valise_list in_the_way, lacking; /* of const vls_checkpoint_problem * */
    valise_list unsaved;             /* the same: what no checkpoint can bring back */
    int64_t unsaved_count;
    valise_list late;  /* of valise_str: more checkpoints of what was there */
    valise_list found; /* of valise_str: files that a killed restore left */
    int64_t version;   /* of the tree after it */
    valise_id tree_root;
} vls_restore_result;

extern const valise_op vls_op_checkpoint_checkpoint_store, vls_op_checkpoint_checkpoint_make,
    vls_op_checkpoint_checkpoint_drop, vls_op_checkpoint_checkpoint_forget,
    vls_op_checkpoint_checkpoint_list, vls_op_checkpoint_checkpoint_show,
    vls_op_checkpoint_checkpoint_remove, vls_op_checkpoint_tree_checkpoint,
    vls_op_checkpoint_tree_restore;

extern const valise_field vls_checkpoint_problem_item; /* {"path": ..., "reason": ...} */

#define VLS_CHECKPOINT_LISTED 100u /* problems in an answer: the first of them */

#endif
