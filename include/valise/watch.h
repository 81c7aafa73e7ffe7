/* valise/watch.h -- hear of changes of the workspace's files as they are made, and have the tree
 * follow them.
 *
 *     static int changed(void *arg, const valise_tree_change *change, valise_error *err)
 *     {
 *         printf("%.*s\n", VALISE_STR_ARG(change->path));
 *         return 0;
 *     }
 *
 *     valise_watch_options options = VALISE_WATCH_OPTIONS_INIT;
 *     valise_watch *watch = NULL;
 *
 *     options.changed = changed;
 *     rc = valise_watch_open(&watch, v, &options, NULL, err);
 *     while (rc >= 0)
 *         rc = valise_watch_step(watch, -1, err);
 *     valise_watch_close(watch);
 *
 * `recorded` is the place to do something with a version, such as making again what was made of
 * something that changed, and then what was made of that:
 *
 *     static int recorded(void *arg, const valise_tree_scanned *scanned, valise_error *err)
 *     {
 *         valise_regenerate_options again = VALISE_REGENERATE_OPTIONS_INIT;
 *
 *         again.flags = VALISE_DERIVE_RECURSIVE | VALISE_DERIVE_NO_SCAN | VALISE_DERIVE_ONLY_NEW;
 *         return valise_regenerate(NULL, v, ".", &again, NULL, err);
 *     }
 *
 * NO_SCAN: the files were looked at just now. ONLY_NEW: a run looks at what changed since the last
 * one alone, so that it does not grow with the tree, and tells of what cannot be made once. Where
 * others put frames meanwhile there is no version: who wants to follow these, too, compares
 * valise_roots_get with what it was before the last run. An error that is returned comes out of
 * step; who wants to go on with the next version returns 0.
 *
 * What somebody else recorded first, by a scan, by saying something about the file, or by a watch
 * of its own, is told as well, with the next look at what was heard; several versions are then one.
 * When its rows were pruned meanwhile, the version is told without its changes.
 *
 * Whatever happens, the tree becomes what a scan would give: where the kernel cannot tell which
 * files changed, everything is looked at. What is written is the tree and nothing else.
 *
 * A program with a loop of its own polls valise_watch_fd for reading, and calls step with a timeout
 * of 0 when it is readable, or when as much time is over as valise_watch_wait_ns says.
 *
 * Threads: single. Functions call back on the thread that called them; what is called may use the
 * handle of the workspace, and must not use the watch. */
#ifndef VALISE_WATCH_H
#define VALISE_WATCH_H

#include <valise/context.h>

VALISE_BEGIN

typedef struct valise_watch valise_watch;

enum {
    VALISE_WATCH_SHORT,    /* not all directories can be watched: everything is looked at, now and
                              then. Said once, until it is over */
    VALISE_WATCH_ENOUGH,   /* that is over */
    VALISE_WATCH_OVERFLOW, /* more changed at once than the kernel could tell: everything is
                              looked at */
};

typedef struct valise_watch_options {
    size_t size;
    unsigned flags; /* 0 */
    /* What was recorded, change by change: added, changed, removed, moved, ambiguous, errors. Where
     * it stops there is no more of this round; a number above 0 comes out of step, which has an
     * answer of its own, as VALISE_E_CANCELLED. May be NULL. */
    valise_tree_change_fn *changed;
    /* After these: one version. Stops as `changed` does. May be NULL. */
    int (*recorded)(void *arg, const valise_tree_scanned *scanned, valise_error *err);
    /* Something about the watching itself, VALISE_WATCH_..., with a sentence for people. There is
     * nothing that it could stop. May be NULL. */
    void (*noted)(void *arg, int note, const char *text);
    void *arg;           /* of all three */
    int64_t quiet_ns;    /* nothing may have happened for so long before files are looked at */
    int64_t patience_ns; /* but no longer than this after the first thing that did */
    int64_t rescan_ns;   /* between two looks at everything where not all can be watched */
    int64_t full_ns;     /* between two looks at everything in any case */
    int64_t save_ns;     /* nothing may have happened for so long before the stat cache is saved */
} valise_watch_options;

#define VALISE_WATCH_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(valise_watch_options), 0, NULL, NULL, NULL, NULL, 50000000, 1000000000,             \
            10000000000, 600000000000, 5000000000                                                  \
    }

/* Watch, then look at everything once: what changed since the last scan is recorded and told before
 * this returns. call says who acts (tree:write), and its progress hears how far a look is and can
 * stop it, here and in step. options and call may be NULL. VALISE_E_UNSUPPORTED where the workspace
 * has no folder. The watch must be closed before the workspace is. */
VALISE_API int valise_watch_open(valise_watch **out, valise *v, const valise_watch_options *options,
                                 const valise_call *call, valise_error *err);

/* Wait until something changed, record it and call back: 1. 0: nothing did within timeout_ns (-1:
 * there is no limit; 0: do not wait), or a signal came. VALISE_E_NOT_FOUND: the folder is gone or
 * another one by now. After VALISE_E_CANCELLED and most other errors one can go on: the next step
 * looks at everything. */
VALISE_API int valise_watch_step(valise_watch *watch, int64_t timeout_ns, valise_error *err);

/* Readable when something happened; -1 where nothing can be watched at all. */
VALISE_API int valise_watch_fd(const valise_watch *watch);

/* How long there is nothing to do, if nothing happens. */
VALISE_API int64_t valise_watch_wait_ns(const valise_watch *watch);

VALISE_API void valise_watch_close(valise_watch *watch); /* NULL is fine */

VALISE_END

#endif
