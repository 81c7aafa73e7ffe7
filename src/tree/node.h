/* node.h -- the parts of a tree: kinds, paths, ids.
 *
 * A path is relative to the root of the tree: names separated by '/', as raw bytes; "" is the root
 * itself. A name is not empty, "." or "..", and has no '/' and no NUL. Anything else is allowed:
 * bytes that are not UTF-8, newlines, colons.
 *
 * Ids (docs/formats.md, "Trees") are tagged hashes:
 *
 *     file         valise.file.1         exec bit (0, 1), SHA-256 of the bytes
 *     link         valise.link.1         target
 *     dir          valise.dir.1          list of name, kind, object id; by the bytes of the names
 *     unreadable   valise.unreadable.1   nothing: all that cannot be read are the same object
 *
 *     node         valise.node.1         path, object id
 *
 * Threads: pure functions; a hasher is single. */
#ifndef VLS_TREE_NODE_H
#define VLS_TREE_NODE_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/str.h"

/* Parent and name are part of a row's key. */
#define VLS_PATH_MAX 4000u
#define VLS_NODE_NAME_MAX 255u

/* Stored and hashed: numbers and names stay as they are. */
typedef enum vls_node_kind {
    VLS_NODE_GONE, /* rows: there is nothing any more */
    VLS_NODE_FILE,
    VLS_NODE_DIR,
    VLS_NODE_LINK,
    VLS_NODE_UNREADABLE, /* a file or directory that could not be read, or changed while it was */
} vls_node_kind;

extern const char *const vls_node_kinds[]; /* "gone", "file", ...; NULL-ended */

/* What a tree has; in stat caches as it is here. */
typedef struct vls_tree_counts {
    int64_t files, dirs, links, unreadable, bytes;
} vls_tree_counts;

/* What a node is, without its place. */
typedef struct vls_node {
    vls_node_kind kind;
    bool exec;         /* file: its owner may run it */
    int64_t size;      /* file: bytes; link: of the target; dir: entries */
    valise_id content; /* file: SHA-256 of the bytes, its blob's id; else zero */
    valise_str target; /* link: the target's bytes; else ptr NULL */
    valise_id object;
} vls_node;

/* One more, or (sign -1) one less of that kind. */
void vls_tree_count(vls_tree_counts *counts, vls_node_kind kind, int64_t size, int sign);

/* ---- paths ---- */

/* VALISE_E_INVALID, VALISE_E_TOO_LARGE. "" is fine. */
int vls_path_check(valise_str path, valise_error *err);

/* What people write ("./src//a.c/", from within the folder `here` of the tree) as a path. Does not
 * look at files; ".." that leaves the tree is VALISE_E_INVALID. out: of the buffer. */
int vls_path_resolve(vls_buf *out, valise_str here, valise_str given, valise_error *err);

/* Several, as they were given from the root of the tree; of none NULL. In the arena. */
int vls_paths_resolve(valise_str **out, vls_arena *arena, const valise_str *given, size_t count,
                      valise_error *err);

/* "a/b" of "a/b/c", "" of "a". The root lies in itself, under no name: both are "". */
valise_str vls_path_parent(valise_str path);
valise_str vls_path_name(valise_str path);

/* Append the path of what lies in a directory; the buffer remembers a failure. */
void vls_path_below(vls_buf *out, valise_str dir, valise_str name);

/* Whether path is dir or lies under it. */
bool vls_path_is_under(valise_str path, valise_str dir);
/* ... or one of these, or under one; of none: all are. */
bool vls_path_is_among(valise_str path, const valise_str *dirs, size_t count);

/* The order of trees: a directory, then everything in it, names by their bytes. Not the order of
 * the bytes of paths: "a/x" comes before "a.c", since '/' ends a name. */
int vls_path_compare(valise_str a, valise_str b);
/* The same for qsort and bsearch in arrays of valise_str. */
int vls_path_order(const void *a, const void *b);

/* ---- ids ---- */

/* Fill node->object of anything but a directory. */
void vls_node_hash(vls_node *node);

/* Of a directory: begin, its entries in the order of names, end. */
void vls_dir_hash_begin(vls_hasher *hasher, size_t count);
void vls_dir_hash_entry(vls_hasher *hasher, valise_str name, vls_node_kind kind,
                        const valise_id *object);
void vls_dir_hash_end(valise_id *out, vls_hasher *hasher);

void vls_node_id(valise_id *out, valise_str path, const valise_id *object);

#endif
