/* tell.h -- report what a round recorded, change by change.
 *
 * Threads: single. */
#ifndef VLS_WATCH_TELL_H
#define VLS_WATCH_TELL_H

#include "context/ops_tree.h"
#include "tree/difference.h"
#include "watch/watch.h"

/* Call back. part: it was a look at some paths, and what changes again and again may have to wait.
 * The scan was not kept yet. */
int vls_watch_tell(valise_watch *w, const vls_scan *scan, bool part, valise_error *err);

/* After all of its changes: the version, and what others recorded before it (may be zero). */
int vls_watch_tell_version(const valise_watch *w, const vls_scan *scan,
                           const vls_watch_counts *others, const vls_tree_commit_result *done,
                           valise_error *err);

/* ---- the parts of it ---- */

/* The ends of moves, each in order. */
int vls_watch_sort_moves(valise_str **from, valise_str **to, const vls_scan *scan, vls_arena *arena,
                         valise_error *err);
/* VALISE_TREE_ADDED, ...; -1: nothing that is told, or it is told as a move. */
int vls_watch_kind_of(const vls_difference *d, const valise_str *from, const valise_str *to,
                      size_t moves);
int vls_watch_tell_change(const valise_watch *w, const valise_tree_change *change,
                          valise_error *err);

#endif
