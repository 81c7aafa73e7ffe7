/* walk.h -- look at the files with threads: names, stat, ignore rules, hashes.
 *
 *     job DIR     open, read the names, leave out what rules say, then the entries
 *     job RANGE   some entries of a directory that has many: stat, and read what may have changed
 *     job FILE    read one large file
 *
 * Jobs wait on one stack, so the walk goes down before it goes on, and few directories are open at
 * once. A directory stays open until everything in it was opened; if too many are open, it is
 * closed and later opened again name by name from the root. Whoever completes the last thing in a
 * directory completes the directory: computes its object id, and so on upwards.
 *
 * What did not change takes its ids from the earlier tree. A directory in which nothing changed at
 * all, stat included, stays NULL: its old record is still right.
 *
 * The calling thread does jobs like the others, and is the only one that calls step().
 *
 * Threads: single; immutable once vls_walk_run has returned. */
#ifndef VLS_TREE_WALK_H
#define VLS_TREE_WALK_H

#include "tree/ignore.h"
#include "tree/scan.h"
#include "tree/stat_cache.h"

#define VLS_WALK_TRIES 3u
#define VLS_WALK_MAX_THREADS 64u

typedef struct vls_walk_dir vls_walk_dir;

typedef struct vls_walk_entry {
    vls_cache_entry e;          /* all but name and ref. GONE: there is nothing */
    const vls_cache_entry *old; /* of that name; NULL: there was none */
    const char *name;           /* e.name_len bytes */
    const char *target;         /* link */
    vls_walk_dir *dir;          /* directory; NULL: as old says, with all below it */
    uint8_t type;               /* DT_...: what to expect */
    bool left_out;              /* GONE because of a rule */
    bool wanted;                /* of a partial directory: it is looked at, or leads further */
} vls_walk_entry;

struct vls_walk_dir {
    vls_walk_dir *parent;         /* NULL: the root */
    vls_walk_entry *entry;        /* that it is */
    const vls_cache_record *old;  /* NULL: there was none */
    valise_str path;              /* with a NUL behind it */
    vls_walk_entry *entries;      /* in the order of names; those that are GONE go at the end */
    uint32_t count;               /* of them */
    struct vls_walk_inside *with; /* while it is walked */
};

typedef struct vls_walk_counts {
    int64_t skipped, ignored, hashed;
} vls_walk_counts;

typedef struct vls_walk {
    const vls_scan_options *options;
    const vls_tree_cache *old; /* no bytes: everything is new */
    int64_t clock_ns;          /* of the file system, before the walk; INT64_MIN: not known */
    vls_walk_entry root;       /* dir NULL and not GONE: nothing changed */
    vls_walk_counts counts;
    struct vls_walk_queue *queue;
} vls_walk;

/* options and old must outlive it. */
int vls_walk_init(vls_walk *walk, const vls_scan_options *options, const vls_tree_cache *old,
                  int64_t clock_ns, valise_error *err);
void vls_walk_release(vls_walk *walk); /* a zeroed or released one is fine */

/* All of it; or some paths and what is under them (walk_sub.c), when there is an old tree: in the
 * order of vls_path_compare, none of them "" or under another. 1: the result depends on more than
 * that, on vls_walk_wider, which are directories above some of them: walk again with these. */
int vls_walk_run(vls_walk *walk, valise_error *err);
int vls_walk_run_subs(vls_walk *walk, const valise_str *subs, size_t count, valise_error *err);
const valise_str *vls_walk_wider(size_t *count, const vls_walk *walk); /* of the walk */

/* What could not be read, in the order of paths, copied into the arena of the scan. */
int vls_walk_problems(vls_scan *out, const vls_walk *walk, valise_error *err);

/* Whether a file with that mtime or ctime cannot change any more without that one changing, when
 * the clock of the file system showed clock_ns before it was read. Some file systems keep whole
 * seconds, or every other one: of a time without a fraction that is assumed. */
bool vls_walk_is_settled(int64_t time_ns, int64_t clock_ns);

#endif
