/* reach.h -- get at the files of the tree, name by name from its root, never through a link.
 *
 * Each directory on the way is opened with O_NOFOLLOW from the one above it, so that a directory
 * that somebody replaced by a link leads nowhere instead of out of the tree. Those of the last path
 * stay open: in the order of a tree each is opened once.
 *
 * A writer opens up directories that their owner may not write to, and closes them again at the
 * end.
 *
 * Threads: single. */
#ifndef VLS_REACH_H
#define VLS_REACH_H

#include <sys/stat.h>

#include "base/buf.h"
#include "base/vec.h"
#include "tree/node.h"

typedef struct vls_reach_level {
    int fd;     /* -1: closed, since too many were open */
    size_t len; /* of the directory's path */
} vls_reach_level;

typedef struct vls_reach_opened {
    valise_str path;
    mode_t mode; /* that it had */
} vls_reach_opened;

typedef struct vls_reach {
    const valise_env *env;
    int root;        /* -1: not open */
    bool write;      /* open up directories */
    vls_arena arena; /* of the paths of those that were opened up */
    vls_buf path;    /* of the innermost directory that is open */
    vls_vec(vls_reach_level) levels;
    vls_vec(vls_reach_opened) opened;
} vls_reach;

/* root: folder of the tree. To read; who is going to write sets `write`. */
int vls_reach_open(vls_reach *out, const valise_env *env, const char *root, valise_error *err);
/* Directories that were opened up get their modes again. A zeroed one is fine. */
void vls_reach_close(vls_reach *reach);

/* The directory that a path (not "") lies in, as a descriptor that stays the reach's until the next
 * call, and the name in it, NUL-ended in room. 1; 0: there is no such directory (something else may
 * be there, or a link). */
int vls_reach_parent(int *fd, char name[VLS_NODE_NAME_MAX + 1], vls_reach *reach, valise_str path,
                     valise_error *err);

/* lstat: 1; 0: there is nothing. */
int vls_reach_stat(struct stat *out, vls_reach *reach, valise_str path, valise_error *err);

/* Forget what is open at a path and below: it is about to go. */
void vls_reach_leave(vls_reach *reach, valise_str path);

/* A directory that is gone has no mode to get again. */
void vls_reach_forget(vls_reach *reach, valise_str path);

/* The mode that a directory that was opened up shall have at the end, in place of what it had. */
void vls_reach_set_mode(vls_reach *reach, valise_str path, mode_t mode);

static inline void vls_auto_reach(vls_reach *reach)
{
    vls_reach_close(reach);
}

#endif
