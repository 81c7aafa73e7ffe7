/* changes.h -- a list of changes of a tree, as bytes: what a scan hands to its commands.
 *
 *     magic   "valise changes 1\n"
 *     change  u8 kind | u8 exec | varint shared | varint rest | rest bytes of the path | what it is
 *     ...
 *
 *     shared: how many bytes of the path before it this one begins with. What it is:
 *       gone, unreadable   nothing
 *       file               varint size, 32 bytes content
 *       link               varint size, target
 *       dir                varint entries, 32 bytes object id
 *
 * Changes are in the order of vls_path_compare, each path once. A directory that is gone, or is no
 * longer a directory, takes everything below it along, which is not listed (rows.h writes a row for
 * each). The reader checks everything: the bytes may come from anywhere.
 *
 * Threads: single. */
#ifndef VLS_TREE_CHANGES_H
#define VLS_TREE_CHANGES_H

#include "base/bytes.h"
#include "tree/node.h"

typedef struct vls_tree_change {
    valise_str path;
    vls_node node; /* object: set for directories; of the others vls_node_hash makes it */
} vls_tree_change;

typedef struct vls_tree_changes_writer {
    vls_buf *out; /* not owned; remembers a failure */
    size_t path_len;
    char path[VLS_PATH_MAX]; /* the one before */
} vls_tree_changes_writer;

/* The paths come in their order and were checked. */
void vls_tree_changes_begin(vls_tree_changes_writer *writer, vls_buf *out);
void vls_tree_changes_add(vls_tree_changes_writer *writer, const vls_tree_change *change);

typedef struct vls_tree_changes_reader {
    vls_reader in;
    size_t size; /* of all of it */
    bool begun;  /* path is one */
    size_t path_len;
    char path[VLS_PATH_MAX];
} vls_tree_changes_reader;

void vls_tree_changes_open(vls_tree_changes_reader *reader, valise_str bytes);
/* 1, 0 at the end, VALISE_E_CORRUPT. The strings are valid until the next call. */
int vls_tree_changes_next(vls_tree_change *out, vls_tree_changes_reader *reader, valise_error *err);

#endif
