/* watch.h -- shared by the files of a watch; valise/watch.h says what a watch is for.
 *
 *     events.c   what the kernel says, as names to look at                       pending
 *     busy.c     names that change all the time, and have to wait
 *     round.c    look at them (src/tree), record what is different, tell it (tell.c)
 *     catch_up.c tell what others recorded meanwhile
 *     watch.c    when; and the public functions
 *
 * Names are hints: what is recorded is what a scan of them finds. When hints may be missing (the
 * queue was full, a rule file changed, a round failed), everything is scanned. So the invariant is:
 * each change in a directory, after a walk entered it, is pending, or in the kernel's queue, or
 * everything is to be scanned.
 *
 * Threads: single, except for the set of watches while a walk is running. */
#ifndef VLS_WATCH_H
#define VLS_WATCH_H

#include <sys/types.h>
#include <valise/watch.h>

#include "base/arena.h"
#include "base/progress.h"
#include "base/vec.h"
#include "tree/rows.h"
#include "tree/scan.h"
#include "watch/set.h"

#define VLS_WATCH_MAX_BUSY 64u

/* For tests: less than what the system gives. 0: as much as that. */
typedef struct vls_watch_limits {
    size_t watches;
    size_t events; /* that are read for one round; more are an overflow */
} vls_watch_limits;

/* A name that changed in the last rounds. */
typedef struct vls_watch_busy {
    char *path; /* NULL: free */
    size_t path_len;
    int64_t last_ns;  /* when it was looked at */
    int64_t until_ns; /* it waits; 0: it does not */
    unsigned rounds;  /* in a row */
    bool waiting;     /* it changed meanwhile */
} vls_watch_busy;

struct valise_watch {
    valise *v;
    const valise_env *env;
    valise_watch_options options;
    valise_call call;
    char *actor; /* of the call, copied; NULL: the handle's */
    vls_watch_limits limits;
    vls_progress progress;
    vls_watch_set set;
    int settings;           /* number of the watch of the workspace's own folder; -1: none */
    vls_scan_memory memory; /* the stat cache */
    char *cache;            /* its file; NULL: none */
    dev_t root_device;
    ino_t root_inode;

    vls_arena arena; /* of pending */
    vls_vec(valise_str) pending;
    size_t events; /* read since the last round */
    int64_t told;  /* the version that was told last, or the first one; 0: none yet */
    valise_id told_root;
    uint64_t heard; /* names so far, those that were pending already among them */
    bool full;      /* everything is to be looked at, and watched anew */
    bool gone;      /* the root is */
    bool said_short;
    bool said_overflow;        /* in this round */
    uint32_t half_moved;       /* cookie of a move of which only one side was heard; 0: none */
    int64_t first_ns, last_ns; /* ticks: of what was heard since the last round */
    int64_t full_ns;           /* of the last look at everything */
    int64_t kept_ns;           /* of the last round */
    int64_t unsaved_ns;        /* since when the file of the cache lags behind; 0: it does not */
    vls_watch_busy busy[VLS_WATCH_MAX_BUSY];
};

static inline int64_t vls_watch_now(const valise_watch *w)
{
    return w->env->ticks_ns(w->env->self);
}

int vls_watch_open(valise_watch **out, valise *v, const valise_watch_options *options,
                   const valise_call *call, const vls_watch_limits *limits, valise_error *err);

/* ---- events.c ---- */

/* Read what the kernel has to say. VALISE_E_NO_MEMORY (then everything is to be looked at). */
int vls_watch_read(valise_watch *w, valise_error *err);

/* One more name. */
int vls_watch_add(valise_watch *w, valise_str path, valise_error *err);

void vls_watch_clear(valise_watch *w); /* nothing is pending */

void vls_watch_note(const valise_watch *w, int note, const char *text);

/* ---- busy.c ---- */

/* Is it to wait? Then it is remembered until it has waited. */
bool vls_watch_must_wait(valise_watch *w, valise_str path, int64_t now_ns);

/* It was looked at, and something was different. */
void vls_watch_was_busy(valise_watch *w, valise_str path, int64_t now_ns);

/* When the first of them has waited; INT64_MAX: none waits. */
int64_t vls_watch_waits_until(const valise_watch *w);

/* Those that have waited are pending. */
int vls_watch_wake(valise_watch *w, int64_t now_ns, valise_error *err);
void vls_watch_release_busy(valise_watch *w);

/* ---- round.c ---- */

/* Look at what is pending, or at everything: 1 when something was recorded, here or by others. */
int vls_watch_round(valise_watch *w, valise_error *err);

/* ---- catch_up.c ---- */

typedef struct vls_watch_counts {
    int64_t added, changed, removed, moved;
} vls_watch_counts;

/* Tell the changes that others recorded since the version that was told last, up to that of the
 * tree: 1 when there is such a version. What was pruned meanwhile is not told. */
int vls_watch_catch_up(vls_watch_counts *out, valise_watch *w, const vls_tree_row *tree,
                       valise_error *err);

#endif
