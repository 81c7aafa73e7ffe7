/* scan.h -- look at the files, and report what differs from the last tree.
 *
 *     vls_tree_scan
 *       1. the tree as it was: from the stat cache where that is of this version, else from `old`
 *       2. walk with threads: names, stat, ignore rules; files that may have changed are hashed
 *       3. directories from the bottom up; what did not change keeps its object id
 *       4. the list of changes, moves, errors
 *
 * Nothing is written but the cache, and that only by vls_tree_scan_keep, once the workspace has the
 * changes. If the root cannot be read, the scan fails: a lost mount must not empty the tree.
 *
 * A file whose mtime or ctime is not older than the beginning of the scan that read it may change
 * again without a trace. So its stat is not kept, and the next scan reads it again. (The clock is
 * that of the file system: the mtime of a file that the scan makes.) A file that changes while it
 * is being read is tried three times.
 *
 * A directory in which everything is left out by rules, including directories that are left out for
 * this reason, is left out itself, since git would have nothing there; the root never is. A
 * directory without entries is a node, and one that has only sockets and the like counts as such.
 *
 * sub: if directories above it are new, gone, ignored or no longer directories, the topmost of
 * these is scanned. A rule file stands for its directory; so does the last entry of a directory, if
 * it is gone, since the directory may then be left out. Without an earlier tree, everything is
 * scanned. subs: the same for several paths, in one walk and with one result, so that a move from
 * one of them to another is a move.
 *
 * memory: a caller that scans again and again holds the cache itself. Then keep takes time only for
 * what changed, and the file is written when the caller says so (vls_tree_scan_save). Both the
 * cache in memory and the one in the file are true for the version that they name, and otherwise
 * only help with stats: after a kill in between, the next scan is slower, but not wrong.
 *
 * Threads: single; inside, it uses as many as it is told. */
#ifndef VLS_TREE_SCAN_H
#define VLS_TREE_SCAN_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/vec.h"
#include "tree/changes.h"
#include "tree/ignore.h"
#include "tree/stat_cache.h"

#define VLS_SCAN_MAX_SUBS 64u /* more are the whole tree */

/* The tree as it was, for when the cache does not know: fn gets every node in the order of
 * vls_path_compare (the root first). Called at most once, before the walk, on the caller's thread.
 */
typedef int vls_scan_old_fn(void *arg, valise_str path, const vls_node *node, valise_error *err);

/* The cache between scans. Zeroed: nothing yet. */
typedef struct vls_scan_memory {
    vls_tree_cache cache;
    size_t whole; /* its size when nothing in it was of no use */
    bool unsaved; /* the file does not have all of it */
} vls_scan_memory;

typedef struct vls_scan_options {
    const valise_env *env;
    const char *root; /* folder of the tree. Strings must outlive the scan, until its release */
    valise_str sub;   /* only this path and what is under it, and its parents' ids; "": all */
    const valise_str *subs; /* and these */
    size_t sub_count;
    const char *store;       /* folder that is left out, wherever it is; NULL: none */
    const char *cache;       /* file of the stat cache; NULL: none */
    vls_scan_memory *memory; /* where it is instead; NULL: in the file alone */
    valise_str ignore;       /* the workspace's own ignore rules, a pattern a line */
    bool force;              /* hash every file */
    unsigned threads;        /* 0: as many as there are processors, 8 at most; never over 64 */
    int64_t version;         /* of the tree as it was; 0: there is none, everything is new */
    valise_id object;        /* and its root's object id */
    int (*old)(void *old_self, vls_scan_old_fn *fn, void *arg, valise_error *err);
    void *old_self;
    /* So many entries more were looked at, so many bytes read. Non-zero ends the scan, and is
     * returned: VALISE_E_CANCELLED. Called on the caller's thread. */
    int (*step)(void *self, uint64_t entries, uint64_t bytes, valise_error *err);
    /* A directory is open, and its names will be read. Called by any of the threads; or NULL. */
    void (*enter)(void *self, valise_str path, int fd);
    void *self; /* of step and enter */
    _Atomic uint64_t
        *to_read; /* grows by the size of each file that is going to be read; or NULL */
} vls_scan_options;

typedef struct vls_scan_move {
    valise_str from, to;
} vls_scan_move;

/* What could not be read, and why; or a move that is not one to one. */
typedef struct vls_scan_problem {
    valise_str path;
    int code;   /* VALISE_E_... */
    bool minor; /* matters only where something was said about the path */
    valise_str message;
} vls_scan_problem;

typedef struct vls_scan {
    const valise_env *env;
    vls_arena arena;              /* of what is below */
    valise_id old_object, object; /* of the root, then and now; equal: nothing has changed */
    /* Nodes, the root among them. A directory that changed only below is not counted; what is of
     * another kind now is removed and added, unless it could not be read then or now; what moved is
     * neither. moved: as moves has them, a directory with all that is in it is one. */
    int64_t added, changed, removed, moved;
    vls_tree_counts counts;      /* of the whole tree, now */
    int64_t skipped;             /* sockets and the like */
    int64_t ignored;             /* entries that a rule left out */
    int64_t hashed;              /* files that were read */
    bool whole;                  /* all of it was looked at, not only a part */
    vls_vec(valise_str) changes; /* lists of changes of at most about 4 MiB each; none: no change */
    vls_vec(vls_scan_move) moves; /* by where they come from */
    vls_vec(vls_scan_problem) ambiguous, errors;
    struct vls_stat_cache *cache; /* for keep */
} vls_scan;

int vls_tree_scan(vls_scan *out, const vls_scan_options *options, valise_error *err);

/* Write the cache: it belongs to this version now. The time of the file stays what it was (1970 if
 * there was none): that is for who knows when all was looked at. Failures are no errors of the
 * scan: the next one reads more. With memory the differences (vls_tree_scan_each) are gone after
 * that. */
int vls_tree_scan_keep(vls_scan *scan, int64_t version, valise_error *err);

/* Write what is in memory to the file, if that does not have it. */
int vls_tree_scan_save(vls_scan_memory *memory, const char *file, valise_error *err);
void vls_scan_memory_release(vls_scan_memory *memory); /* a zeroed one is fine */
void vls_tree_scan_release(vls_scan *scan);            /* a zeroed one is fine */

static inline void vls_auto_tree_scan(vls_scan *scan)
{
    vls_tree_scan_release(scan);
}

/* ---- one path, without a scan ---- */

enum {
    VLS_STAT_SAME,    /* as it was */
    VLS_STAT_DIFFERS, /* or is not there any more */
    VLS_STAT_UNKNOWN, /* the cache does not know it, or cannot say; or it may not be looked at */
};

/* Whether at the path there is what there was (NULL: nothing that belongs to the tree), by its stat
 * alone. Another kind or size, or nothing at all, is another one whatever the cache says; an entry
 * of the cache is true whatever the version of the tree. Of a directory only its own stat. */
int vls_tree_stat(int *out, const vls_scan_options *options, valise_str path, const vls_node *was,
                  valise_error *err);

#define VLS_STAT_READ_MAX (INT64_C(1) << 20)

/* The same of a file that was there, by its bytes: SAME or DIFFERS. UNKNOWN where it is larger than
 * VLS_STAT_READ_MAX, or cannot be read. */
int vls_tree_read(int *out, const vls_scan_options *options, valise_str path, const vls_node *was,
                  valise_error *err);

/* Which rule decides about the path, by the rule files that are there now. as_dir: it counts as a
 * directory, also where it is none. The root is never ignored. *keep is a new reference to what
 * verdict borrows from, or NULL. */
int vls_tree_check_ignore(vls_ignore_verdict *out, vls_ignore **keep,
                          const vls_scan_options *options, valise_str path, bool as_dir,
                          valise_error *err);

#endif
