/* set.h -- which directories are watched: an inotify instance, and the path of each watch.
 *
 * A watch is on a directory, wherever that is, not on a path: a renamed directory keeps its watch.
 * So a walk reports each directory that it enters, with its present path, before it reads its
 * names: whatever happens in it afterwards is reported under that path. Watches on directories that
 * a full walk did not enter are removed (vls_watch_set_sweep).
 *
 * Threads: shared while a walk enters directories (enter alone), else single. */
#ifndef VLS_WATCH_SET_H
#define VLS_WATCH_SET_H

#include <pthread.h>
#include <sys/inotify.h>

#include "base/map.h"
#include "base/str.h"

typedef struct vls_watch_set {
    const valise_env *env;
    int fd;            /* -1: there is none */
    vls_map by_number; /* of watch_item */
    pthread_mutex_t lock;
    uint64_t generation;
    size_t limit; /* watches at most; 0: as many as the system gives */
    int shortage; /* errno: some directory is not watched; 0: all are */
} vls_watch_set;

/* Where the system has no instance left, it has none (fd -1), and shortage says why. */
void vls_watch_set_init(vls_watch_set *set, const valise_env *env, size_t limit);
void vls_watch_set_release(vls_watch_set *set);

/* A walk enters the directory that is open as fd. Shared. */
void vls_watch_set_enter(vls_watch_set *set, valise_str path, int fd);

/* A walk of everything begins, and is over: what it did not enter is not watched any more. */
void vls_watch_set_begin(vls_watch_set *set);
void vls_watch_set_sweep(vls_watch_set *set);

/* The path of a watch: false when it is not known (any more). Valid until the next change. */
bool vls_watch_set_path(valise_str *out, const vls_watch_set *set, int number);

/* Hear of files that are replaced, written or removed in a folder that is no part of the tree: the
 * number of the watch, or -1. Walks know nothing of it. */
int vls_watch_set_beside(const vls_watch_set *set, const char *folder);

/* The kernel has dropped it. */
void vls_watch_set_forget(vls_watch_set *set, int number);

/* The directory moved: it and those below it have no path, until a walk enters them. */
void vls_watch_set_drop(vls_watch_set *set, valise_str path);

#endif
