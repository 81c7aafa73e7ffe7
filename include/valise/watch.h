/* valise/watch.h -- watch the files of a workspace, and record and report changes as they are made.
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
 * `recorded` is called after each new version of the tree. It is the place to regenerate the frames
 * whose inputs have changed:
 *
 *     static int recorded(void *arg, const valise_tree_scanned *scanned, valise_error *err)
 *     {
 *         valise_regenerate_options again = VALISE_REGENERATE_OPTIONS_INIT;
 *
 *         again.flags = VALISE_DERIVE_RECURSIVE | VALISE_DERIVE_NO_SCAN | VALISE_DERIVE_ONLY_NEW;
 *         return valise_regenerate(NULL, v, ".", &again, NULL, err);
 *     }
 *
 * NO_SCAN: the files have just been looked at. ONLY_NEW: a run looks only at what has changed since
 * the last run, so that its cost does not grow with the tree, and reports only once what cannot be
 * made. Frames that others put make no version of the tree; to follow these too, compare
 * valise_roots_get with its answer before the last run. An error that the callback returns is
 * returned by valise_watch_step; return 0 to go on with the next version.
 *
 * Changes that somebody else recorded first (by a scan, by a put of a frame, or by another watch)
 * are reported as well, after the next look at the files; several versions are then reported as
 * one. If the rows of a version have been pruned meanwhile, it is reported without its changes.
 *
 * The tree always becomes what a scan would make it: if the kernel cannot tell which files changed,
 * all files are looked at. A watch writes nothing but the tree.
 *
 * A program with an event loop polls valise_watch_fd for reading, and calls valise_watch_step with
 * a timeout of 0 when the descriptor is readable, or when the time that valise_watch_wait_ns
 * returned has passed.
 *
 * Threads: single. Callbacks run on the thread that called open or step. They may use the handle of
 * the workspace, but not the watch. */
#ifndef VALISE_WATCH_H
#define VALISE_WATCH_H

#include <valise/context.h>

VALISE_BEGIN

typedef struct valise_watch valise_watch;

enum {
    /* Not all directories can be watched: all files are looked at from time to time. Noted once,
     * until ENOUGH. */
    VALISE_WATCH_SHORT,
    VALISE_WATCH_ENOUGH, /* all directories can be watched again */
    /* More changed at once than the kernel could report: all files are looked at. */
    VALISE_WATCH_OVERFLOW,
};

typedef struct valise_watch_options {
    size_t size;
    unsigned flags; /* 0 */
    /* Called for each recorded change: added, changed, removed, moved, ambiguous, errors. If it
     * stops, the other changes of this round are not reported; a positive number is then returned
     * from step as VALISE_E_CANCELLED. May be NULL. */
    valise_tree_change_fn *changed;
    /* Called after them, once for each version. It stops as `changed` does. May be NULL. */
    int (*recorded)(void *arg, const valise_tree_scanned *scanned, valise_error *err);
    /* Called with a note about the watching itself, VALISE_WATCH_..., and a sentence for people.
     * May be NULL. */
    void (*noted)(void *arg, int note, const char *text);
    void *arg;           /* for all three */
    int64_t quiet_ns;    /* how long nothing must happen before files are looked at */
    int64_t patience_ns; /* but at most this long after the first change */
    int64_t rescan_ns;   /* between two looks at all files, if not all can be watched */
    int64_t full_ns;     /* between two looks at all files in any case */
    int64_t save_ns;     /* how long nothing must happen before the stat cache is saved */
} valise_watch_options;

#define VALISE_WATCH_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(valise_watch_options), 0, NULL, NULL, NULL, NULL, 50000000, 1000000000,             \
            10000000000, 600000000000, 5000000000                                                  \
    }

/* Start watching, then look at all files once: changes since the last scan are recorded and
 * reported before this returns. call says who acts (tree:write); its progress is told how far a
 * look at the files is, here and in valise_watch_step, and can stop it. options and call may be
 * NULL. VALISE_E_UNSUPPORTED: the workspace has no folder. Close the watch before the workspace. */
VALISE_API int valise_watch_open(valise_watch **out, valise *v, const valise_watch_options *options,
                                 const valise_call *call, valise_error *err);

/* Wait until something changes, record it and call back. 1: done. 0: nothing changed within
 * timeout_ns (-1: no limit; 0: do not wait), or a signal arrived. VALISE_E_NOT_FOUND: the folder is
 * gone, or another one is in its place. After VALISE_E_CANCELLED and most other errors you can go
 * on: the next step looks at all files. */
VALISE_API int valise_watch_step(valise_watch *watch, int64_t timeout_ns, valise_error *err);

/* A descriptor that becomes readable when something happens; -1: nothing can be watched. */
VALISE_API int valise_watch_fd(const valise_watch *watch);

/* How long valise_watch_step has nothing to do, if nothing happens meanwhile. */
VALISE_API int64_t valise_watch_wait_ns(const valise_watch *watch);

/* Stop watching; NULL is fine. */
VALISE_API void valise_watch_close(valise_watch *watch);

VALISE_END

#endif
