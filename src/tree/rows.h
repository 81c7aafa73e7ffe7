/* rows.h -- the tree in the workspace: versions of nodes as rows.
 *
 *     tree_here      one row, which never travels: which tree is that of this workspace
 *     tree           one row per tree: the head. Its newest version, root, counts
 *     tree_version   one row per version: root, when, how many changes. By root, for --at ROOT
 *     tree_node      one row per version of a node, keyed (tree, parent, name, version). QUIET
 *
 * Versions count 1, 2, 3 within a tree. The tree of version v has, for each name, its newest row up
 * to v; a row of kind `gone` says that nothing is there. When a directory is removed (or becomes
 * something else), everything below it gets such a row, so that a path is found with one seek, and
 * what comes back later does not bring back its past.
 *
 * Only rows of directories have an object id, and rows have only the first eight bytes of the node
 * id: the rest follows from what is there (node.h), and a hundred thousand rows may be written at
 * once.
 *
 * Rows up to `edge` may have been removed: versions before it cannot be seen (VALISE_E_LIMIT).
 *
 * Threads: immutable tables; everything else is single, as the view is. */
#ifndef VLS_TREE_ROWS_H
#define VLS_TREE_ROWS_H

#include <valise/sys/view.h>

#include "base/arena.h"
#include "tree/node.h"

typedef struct vls_tree_here_row {
    int64_t id; /* 1 */
    valise_uuid tree;
} vls_tree_here_row;

typedef struct vls_tree_row {
    valise_uuid id;
    int64_t version;  /* 0: nothing yet */
    int64_t edge;     /* the oldest version that can be seen */
    valise_id object; /* of the root */
    valise_id root;   /* its node id: what people call the root */
    int64_t time;     /* of that version */
    vls_tree_counts counts;
} vls_tree_row;

typedef struct vls_tree_version_row {
    valise_uuid tree;
    int64_t version;
    valise_id object, root;
    int64_t time;
    int64_t seq; /* of the log */
    int64_t added, changed, removed, moved;
    vls_tree_counts counts;
} vls_tree_version_row;

typedef struct vls_tree_node_row {
    valise_uuid tree;
    valise_str parent, name; /* PATH; the root: both "" */
    int64_t version;
    int64_t kind; /* vls_node_kind */
    bool exec;
    int64_t size;
    valise_id hash;    /* file: of its bytes; dir: object id; else zero */
    valise_str target; /* link; else ptr NULL */
    int64_t node8;     /* the first eight bytes of its node id; gone: 0 */
} vls_tree_node_row;

extern const valise_coll vls_tree_heres, vls_trees, vls_tree_versions, vls_tree_nodes;

/* The workspace's own tree as of the view. 1; 0: nothing was scanned yet, *out is zero. */
int vls_tree_head(vls_tree_row *out, valise_view *view, valise_error *err);

/* The newest version with this root, or one that begins with these digits (4 or more), or the
 * version with this number ("v12"). 1; 0: none; VALISE_E_LIMIT: a number before the edge; ambiguous
 * prefixes are an error that lists candidates. */
int vls_tree_version_of(vls_tree_version_row *out, valise_view *view, const vls_tree_row *tree,
                        valise_str given, valise_error *err);

/* VALISE_E_LIMIT when the rows of this version may be gone. */
int vls_tree_sees(const vls_tree_row *tree, int64_t version, valise_error *err);

/* Are these the first digits of an id: 4 to 64, in lower case? And does one begin with them? */
bool vls_tree_is_digits(valise_str given);
bool vls_tree_has_digits(const valise_id *id, valise_str digits);

/* ---- one node ---- */

typedef struct vls_tree_found {
    valise_str path; /* of the view's memory */
    vls_node node;   /* with its object id */
    valise_id id;
    int64_t version; /* that brought it */
} vls_tree_found;

/* As of a version: 1, or 0 when there is nothing. */
int vls_tree_get(vls_tree_found *out, valise_view *view, const vls_tree_row *tree, int64_t version,
                 valise_str path, valise_error *err);

/* By node id, or its beginning (4 hex digits or more). 1: it is in that version; 2: it is one of
 * another version, which *out shows (the newest that has it); 0: nobody knows it. Ambiguous ones
 * (within the version first, then over all) are an error that lists candidates. */
int vls_tree_find(vls_tree_found *out, valise_view *view, const vls_tree_row *tree, int64_t version,
                  valise_str digits, valise_error *err);

/* Did what lay there go since: 1, and it was recorded by commands behind *after, up to *until (seqs
 * of the log); 0: there has been something of that kind at the path ever since. */
int vls_tree_went(int64_t *after, int64_t *until, valise_view *view, const vls_tree_row *tree,
                  const vls_tree_found *found, valise_error *err);

/* ---- directories ---- */

typedef int vls_tree_fn(void *arg, const vls_tree_found *node, valise_error *err);

/* What lies in a directory, in the order of names. Non-zero from fn ends it, and is returned. What
 * fn gets is valid until it returns. */
int vls_tree_children(valise_view *view, const vls_tree_row *tree, int64_t version, valise_str dir,
                      vls_tree_fn *fn, void *arg, valise_error *err);

/* dir itself and everything under it, in the order of vls_path_compare. No recursion. */
int vls_tree_walk(valise_view *view, const vls_tree_row *tree, int64_t version, valise_str dir,
                  vls_tree_fn *fn, void *arg, valise_error *err);

/* ---- changing (commands) ---- */

/* The workspace's tree, made when there is none. */
int vls_tree_own(vls_tree_row *out, valise_view *view, valise_error *err);

/* Put the rows of a list of changes (changes.h) of version tree->version + 1. VALISE_E_CONFLICT
 * when they do not fit what is there (something gone that is not there, a child of no directory).
 */
int vls_tree_apply(valise_view *view, const vls_tree_row *tree, valise_str changes,
                   valise_error *err);

/* Make the version: head and version row. about: counts of changes and of the tree. The object id
 * of the root's row is checked against about->object. */
int vls_tree_commit(vls_tree_row *tree, valise_view *view, const vls_tree_version_row *about,
                    valise_error *err);

#endif
