/* outside.h -- the files of a workspace, and what is to be recorded of them.
 *
 *     vls_outside_open     where the tree is: its folder, the stat cache, the workspace's own rules
 *     vls_outside_state    one path: is it as the tree has it? Reads only              queries
 *     vls_outside_explain  one path: why is it not in the tree?                       queries
 *     vls_outside_look     the same, and if not, commands in front of another one      prepare
 *
 * Threads: single. */
#ifndef VLS_OUTSIDE_H
#define VLS_OUTSIDE_H

#include "bus/bus.h"
#include "context/ops_tree.h"
#include "tree/scan.h"

#define VLS_TREE_CACHE "tree-cache" /* in .valise */
#define VLS_TREE_IGNORE "tree.ignore"

typedef struct vls_outside {
    valise *v;
    vls_arena arena; /* of paths and rules */
    vls_scan_options options;
    bool scanned;      /* there is a version */
    bool told;         /* and somebody said something about it: there are slots */
    vls_tree_row tree; /* as it was when it was opened, or refreshed */
} vls_outside;

/* dir: the folder of the tree where the workspace has none ("": that of the workspace).
 * VALISE_E_UNSUPPORTED when there is none at all. */
int vls_outside_open(vls_outside *out, valise *v, valise_str dir, valise_error *err);
/* Read the newest version anew, to compare with that. */
int vls_outside_refresh(vls_outside *outside, valise_error *err);
void vls_outside_release(vls_outside *outside); /* a zeroed one is fine */

static inline void vls_auto_outside(vls_outside *outside)
{
    vls_outside_release(outside);
}

/* Is the view of the newest state, in a workspace that is open? Then what lies outside is about it.
 */
static inline bool vls_outside_is_now(const valise_view *view)
{
    return vls_view_bus(view) && view->at == view->txn->tip.seq;
}

/* All of it was looked at just now; and when it was the last time: 1, or 0 when nobody knows. A
 * scan that finds nothing leaves no other trace than the time of the cache's file. */
void vls_outside_scanned(const vls_outside *outside);
int vls_outside_when(int64_t *time_ns, const valise *v);

/* Look at what the options say, and if that is a part in which something came, went or moved, at
 * the whole tree: it may have moved, and what was said about it goes along (where there is
 * anything). */
int vls_outside_scan(vls_scan *out, const vls_outside *outside, const vls_scan_options *options,
                     valise_error *err);

/* VALISE_E_NOT_FOUND when the tree has no such path, and the disk neither, or one that is left out.
 */
int vls_outside_check(const vls_outside *outside, valise_str path, valise_error *err);

enum {
    VLS_OUTSIDE_SAME,     /* the path is as the newest version has it */
    VLS_OUTSIDE_NOTHING,  /* so it is, and that is nothing */
    VLS_OUTSIDE_OUTDATED, /* it is something else by now */
    VLS_OUTSIDE_UNKNOWN,  /* nobody can tell without reading much */
};

/* By its stat; a file of up to VLS_STAT_READ_MAX bytes by these, where the stat does not say that
 * it is the same. Also UNKNOWN where there are no files to be looked at, or no version. */
int vls_outside_state(int *out, valise *v, valise_str path, valise_error *err);

/* Why the newest version does not have what lies at the path: VALISE_E_NOT_FOUND names the file
 * with the rule that leaves it out, or says that it is a pipe or the like. 0: there is no such
 * reason. */
int vls_outside_explain(valise *v, valise_str path, valise_error *err);

/* Look at the path, and hash it and what is under it where its stat does not say that it is as the
 * newest version has it, or it is a directory. What is different (and so the directories above it)
 * is put in front of the command that is being prepared. path was checked. Where there are no files
 * to be looked at, nothing is done. VALISE_E_NOT_FOUND as above, for actors that have tree:read:
 * what is left out cannot be spoken about.
 *
 * hopeful: the stat cache becomes that of the version which the command brings. Where it fails the
 * next look reads the whole tree from its rows, so this is for commands that mostly do not. */
int vls_outside_look(valise_prepare *prepare, valise_str path, bool hopeful, valise_error *err);

#endif
