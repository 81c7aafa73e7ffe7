/* rows_impl.h -- what the files of rows.h share.
 *
 * Threads: single, as the view is. */
#ifndef VLS_TREE_ROWS_IMPL_H
#define VLS_TREE_ROWS_IMPL_H

#include "store/view.h"
#include "tree/rows.h"

/* The first eight bytes of a node id, as rows and their index have them. */
int64_t vls_tree_node8(const valise_id *id);

/* The smallest id that begins with digits. */
void vls_tree_digits_floor(valise_id *out, valise_str digits);

/* The newest row of a path up to a version: 1 (of kind `gone` too), or 0. Strings are the arena's.
 * flags: 0 or VLS_SCAN_BELOW. */
typedef struct vls_tree_at {
    valise_view *view;
    valise_uuid tree;
    int64_t version;
    unsigned flags;
} vls_tree_at;
int vls_tree_seek(vls_tree_node_row *out, const vls_tree_at *at, valise_str parent, valise_str name,
                  vls_arena *arena, valise_error *err);

/* What a row, which is not gone, says of the node at this path; object and id are computed. Borrows
 * the strings of both. */
void vls_tree_found_of(vls_tree_found *out, const vls_tree_node_row *row, valise_str path);

/* valise_coll.named of versions and nodes (rows_named.c). */
int vls_tree_named_version(valise_view *view, valise_str text, bool widely, valise_named_fn *fn,
                           void *arg, valise_error *err);
int vls_tree_named_node(valise_view *view, valise_str text, bool widely, valise_named_fn *fn,
                        void *arg, valise_error *err);

/* ---- the names in a directory (rows_walk.c) ---- */

/* From name to name: for each its newest row up to the version, where that is not gone. */
typedef struct vls_tree_names {
    vls_tree_at at;
    vls_buf dir;  /* the directory */
    vls_buf name; /* of row; where a seek begins */
    vls_arena arena;
    vls_tree_node_row row; /* strings: dir, name, arena */
    valise_scan *scan;
    bool have_ahead;
    vls_tree_node_row ahead; /* the next row of the scan */
} vls_tree_names;

void vls_tree_names_init(vls_tree_names *names, const vls_tree_at *at);
void vls_tree_names_release(vls_tree_names *names); /* a zeroed one is fine */
/* Begin in dir behind a name; "": with the first. Neither may be of the buffers of names. */
int vls_tree_names_enter(vls_tree_names *names, valise_str dir, valise_str behind,
                         valise_error *err);
int vls_tree_names_next(vls_tree_names *names, valise_error *err); /* 1, 0 at the end */

static inline void vls_auto_tree_names(vls_tree_names *names)
{
    vls_tree_names_release(names);
}

/* Everything under a directory, not itself: the rows without what would have to be computed. */
typedef int vls_tree_row_fn(void *arg, valise_str path, const vls_tree_node_row *row,
                            valise_error *err);
int vls_tree_each_row(const vls_tree_at *at, valise_str dir, vls_tree_row_fn *fn, void *arg,
                      valise_error *err);

/* ---- for `validate` (rows_check.c) ---- */

int vls_tree_check_here(valise_check *check, valise_view *view, const void *row, valise_error *err);
int vls_tree_check_head(valise_check *check, valise_view *view, const void *row, valise_error *err);
int vls_tree_check_version(valise_check *check, valise_view *view, const void *row,
                           valise_error *err);
int vls_tree_check_node(valise_check *check, valise_view *view, const void *row, valise_error *err);

#endif
