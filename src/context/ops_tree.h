/* ops_tree.h -- what the operations of the tree take and answer.
 *
 * Threads: immutable tables. */
#ifndef VLS_OPS_TREE_H
#define VLS_OPS_TREE_H

#include <valise/sys/operation.h>

#include "tree/rows.h"

/* tree:record -- the rows of a list of changes. */
typedef struct vls_tree_record_args {
    int64_t base;           /* the version they were made against; 0: none */
    valise_content changes; /* changes.h */
} vls_tree_record_args;

/* tree:commit -- the version that the changes make. */
typedef struct vls_tree_commit_args {
    int64_t base;
    valise_id object; /* of the root */
    int64_t added, changed, removed, moved;
    vls_tree_counts counts;
} vls_tree_commit_args;

typedef struct vls_tree_commit_result {
    int64_t version;
    valise_id root;
} vls_tree_commit_result;

/* tree:scan -- what is different. */
typedef struct vls_tree_scan_args {
    valise_str path, dir;
    bool force;
} vls_tree_scan_args;

enum { VLS_CHANGE_ADDED, VLS_CHANGE_CHANGED, VLS_CHANGE_REMOVED };

typedef struct vls_tree_scan_change {
    valise_str path;
    int64_t change; /* VLS_CHANGE_... */
} vls_tree_scan_change;

typedef struct vls_tree_scan_problem {
    valise_str path;
    valise_str reason; /* may hold bytes of names: made plain */
} vls_tree_scan_problem;

typedef struct vls_tree_scan_result {
    valise_id old_tree_root, tree_root;
    int64_t version;
    int64_t added, changed, removed, moved;
    valise_list changes;           /* of const vls_tree_scan_change * */
    valise_list moves;             /* of const vls_scan_move * */
    valise_list ambiguous, errors; /* of const vls_tree_scan_problem * */
    int64_t ambiguous_count, error_count;
    int64_t hashed, skipped, ignored;
    vls_tree_counts counts;
} vls_tree_scan_result;

extern const valise_op vls_op_context_tree_record, vls_op_context_tree_commit,
    vls_op_context_tree_scan;

#define VLS_TREE_COUNT_FIELDS(struct_type, flags)                                                  \
    VALISE_FIELD_AS(struct_type, counts.files, "files", INT, flags, "Files in it."),               \
        VALISE_FIELD_AS(struct_type, counts.dirs, "dirs", INT, flags, "Directories in it."),       \
        VALISE_FIELD_AS(struct_type, counts.links, "links", INT, flags, "Symbolic links."),        \
        VALISE_FIELD_AS(struct_type, counts.unreadable, "unreadable", INT, flags,                  \
                        "What could not be read."),                                                \
        VALISE_FIELD_AS(struct_type, counts.bytes, "bytes", INT, flags, "Bytes of the files.")

#endif
