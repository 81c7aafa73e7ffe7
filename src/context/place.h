/* place.h -- which node is meant: what operations of the context do first.
 *
 * A node is given as a path from the root of the tree ("src/a.c", "./src/a.c", "." for the root),
 * as a node id, or as the first digits of one (4 or more). Sixty-four digits are an id; fewer are a
 * path, if there is such a one. "./cafe" is a path in any case.
 *
 * Threads: single, as the view is. */
#ifndef VLS_CONTEXT_PLACE_H
#define VLS_CONTEXT_PLACE_H

#include <valise/sys/operation.h>

#include "context/state.h"

typedef struct vls_place {
    vls_tree_row tree;
    int64_t version; /* of the tree: the newest, or the one that was asked for */
    valise_str path;
    bool there;    /* node is what lies at the path in this version */
    bool outdated; /* an id was given that is not in this version: node shows it */
    vls_tree_found node;
    valise_str tree_is; /* see vls_place_look; ptr NULL: there is nothing to be said */
    bool trusted;       /* see vls_state_at */
} vls_place;

/* VALISE_E_NOT_FOUND: nothing was scanned yet, or nobody knows such a node. A path where there is
 * nothing (any more) is found: there is false. at: a root, the first digits of one, or "v12"; "":
 * the newest version. */
int vls_place_find(vls_place *out, valise_view *view, valise_str given, valise_str at,
                   valise_error *err);

/* Queries, before that: what somebody wrote behind --at. A root or version of the tree stays what
 * it is; a seq, a time or whatever else `at` of a call may be is where the view goes, and *at is
 * "". */
int vls_place_when(valise_str *at, valise_view *view, valise_error *err);

/* A hint for who looks for what is not there; it may have been only in versions that were pruned.
 */
void vls_place_hint(const vls_tree_row *tree, const char *hint, valise_error *err);

/* The place of a path in the newest version. Borrows path. */
int vls_place_of(vls_place *out, valise_view *view, const vls_tree_row *tree, valise_str path,
                 valise_error *err);

/* ---- the files outside ---- [C10] */

/* Every operation that takes a node takes this too; member `no_scan`. */
#define VLS_NO_SCAN_FIELD(args)                                                                    \
    VALISE_FIELD_AS(args, no_scan, "noScan", BOOL, 0, "Do not check whether the file has changed.")

/* Every read says this under `meta`; member `tree`, of a place's tree_is. */
#define VLS_TREE_IS_FIELD(meta)                                                                    \
    VALISE_FIELD(meta, tree, STR, VALISE_NULLABLE,                                                 \
                 "outdated: the file is not what the tree says. earlier: the node is not in the "  \
                 "newest version any more.")

/* Queries: tree_is becomes "earlier" when the id that was given is not in the newest version, or
 * "outdated" when the file is not what that has, by its stat. Of the past nobody can tell. */
int vls_place_look(vls_place *place, valise_view *view, bool no_scan, valise_error *err);

/* Queries, after that: an id of another version shows that version. */
void vls_place_go(vls_place *place);

/* Commands (valise_op.prepare): what lies at the path of the node is looked at, and recorded in
 * front of the command when the tree has something else. So an id that is no longer what lies there
 * is found to be outdated, whoever noticed it first. */
int vls_place_prepare(valise_prepare *prepare, valise_str given, bool no_scan, valise_error *err);

/* ---- */

/* Where today's version of a node of an earlier one lies: at its path, unless it went from there,
 * or where what was said about it went along. 1; or 0 when it is gone, when nobody knows, or when
 * the actor may not know it (the capability, for the type). */
int vls_place_now(vls_place *out, valise_view *view, const vls_place *place, const char *capability,
                  valise_str type, valise_error *err);

/* There is nothing at the path: VALISE_E_NOT_FOUND. Queries look why: what lies in the folder may
 * be ignored. Commands have looked before (vls_outside_look). */
int vls_place_fail(const vls_place *place, valise_error *err);
int vls_place_explain(const vls_place *place, valise_view *view, valise_error *err);

/* The root of the tree as of the place's version. */
int vls_place_root(valise_id *out, valise_view *view, const vls_place *place, valise_error *err);

/* For states. Borrows. */
vls_state_at vls_place_at(const vls_place *place);

/* May the actor? Narrowed by path and type; "": is there any type for which it may? */
int vls_place_allows(const vls_place *place, valise_view *view, const char *capability,
                     valise_str type, valise_error *err);
int vls_path_allows(valise_view *view, const char *capability, valise_str path, valise_str type,
                    valise_error *err);

/* For who asks often and goes on without it: may the actor read it? 1, or 0. */
int vls_path_readable(valise_view *view, valise_str path, valise_str type, valise_error *err);

#endif
