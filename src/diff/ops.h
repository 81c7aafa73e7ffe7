/* ops.h -- arguments and answers of the operations.
 *
 * Threads: plain data. */
#ifndef VLS_DIFF_OPS_H
#define VLS_DIFF_OPS_H

#include <valise/sys/operation.h>

#include "tree/node.h"

#define VLS_DIFF_PATHS_MAX 10000u

/* ---- tree:diff ---- */

typedef struct vls_diff_args {
    valise_str from, to; /* see point.h; ptr NULL: left out */
    valise_list paths;   /* of valise_str */
    bool nodes, context; /* only these; neither: both */
    bool patch, stat;
    int64_t limit; /* of rows; 0: none */
    valise_str dir;
} vls_diff_args;

enum { VLS_DIFF_NODE, VLS_DIFF_SLOT, VLS_DIFF_SUMMARY };

/* The first three as a scan has them. */
enum {
    VLS_DIFF_ADDED,
    VLS_DIFF_CHANGED,
    VLS_DIFF_REMOVED,
    VLS_DIFF_MOVED,
    VLS_DIFF_INVALIDATED,
    VLS_DIFF_REAFFIRMED,
    VLS_DIFF_ORPHANED,
    VLS_DIFF_FOUND,
};
#define VLS_DIFF_CHANGES 8u

/* Of one side of a node. */
typedef struct vls_diff_node {
    valise_id object;
    int64_t kind; /* vls_node_kind */
    bool exec;
    int64_t size;
} vls_diff_node;

/* Of one side of a slot. */
typedef struct vls_diff_head {
    valise_id frame; /* zero: it has none */
    valise_str agent;
    bool invalidated, orphaned;
} vls_diff_head;

typedef struct vls_diff_counts {
    int64_t from_version, to_version;
    valise_id from_root, to_root;
    int64_t nodes[VLS_DIFF_CHANGES], slots[VLS_DIFF_CHANGES];
} vls_diff_counts;

typedef struct vls_diff_row {
    int64_t what;   /* VLS_DIFF_NODE, ... */
    int64_t change; /* VALISE_NONE: a summary */
    valise_str path, from, type;
    const vls_diff_node *before, *after;
    const vls_diff_head *head_before, *head_after;
    valise_str patch, patch_data; /* text, or bytes that are none */
    valise_str unshown;           /* why there is no patch */
    const vls_diff_counts *summary;
} vls_diff_row;

/* ---- checkpoint:diff ---- */

typedef struct vls_checkpoint_diff_args {
    valise_str checkpoint, other; /* other: ptr NULL: the files as they are */
    valise_list paths;
    bool patch;
    valise_str dir;
} vls_checkpoint_diff_args;

/* One side of a path. */
typedef struct vls_checkpoint_diff_side {
    int64_t kind; /* vls_manifest_kind */
    valise_str mode;
    int64_t size;      /* VALISE_NONE: no file */
    valise_id content; /* zero: no file */
    valise_str target;
} vls_checkpoint_diff_side;

typedef struct vls_checkpoint_diff_row {
    int64_t change;
    valise_str path;
    const vls_checkpoint_diff_side *before, *after;
    valise_str patch, patch_data, unshown;
} vls_checkpoint_diff_row;

extern const valise_op vls_op_diff_tree_diff, vls_op_diff_checkpoint_diff;

#endif
