/* mark.h -- find the processes that a program started, wherever they went.
 *
 * A process that made a session of its own is in no process group of ours, and once its parent has
 * ended it is no descendant either: the kernel gives it to a process that reaps orphans, which a
 * library must not make of its host. But it still has the environment that it was started with. So
 * each program gets a variable that no other program has, and all processes with this variable are
 * its descendants.
 *
 * This finds what was left behind by accident (daemons, browsers of test runners). It is not a
 * cage: a process that wants to escape clears its environment, or becomes another user.
 *
 * Threads: single. */
#ifndef VLS_MARK_H
#define VLS_MARK_H

#include "base/base.h"

#define VLS_MARK_NAME "VALISE_CALL"

typedef struct vls_mark {
    const valise_env *env;
    char **environment; /* with the mark; NULL: there is none */
    size_t room;        /* pointers in it */
    char text[sizeof(VLS_MARK_NAME) + 33];
} vls_mark;

/* A mark that nobody has, and these variables with it, which must stay as long. */
int vls_mark_make(vls_mark *out, const valise_env *env, char *const *environment,
                  valise_error *err);
void vls_mark_release(vls_mark *mark); /* a zeroed one is fine */

/* Kill all that have it, until there are none. */
void vls_mark_hunt(const vls_mark *mark);

static inline void vls_auto_mark(vls_mark *mark)
{
    vls_mark_release(mark);
}

#endif
