/* told.h -- live events of an operation, kept until it is over.
 *
 * Listeners may dispatch operations, so nobody is told while the operation holds a transaction:
 * events wait here, and are published when it has ended, whether it failed or not.
 *
 *     if (vls_bus_listens(vls_view_bus(view)))
 *         vls_view_tell(view, &event);
 *
 * Threads: single; passed from the caller to the leader and back. */
#ifndef VLS_TOLD_H
#define VLS_TOLD_H

#include "base/vec.h"
#include "bus/bus.h"

#define VLS_TOLD_MAX 1024u /* of one operation: further ones are dropped */

/* What a query, or a command that is apart, has to do once its transaction is over and before it is
 * answered; a failure is its own. It may dispatch. */
typedef int vls_after_fn(valise *v, void *arg, valise_error *err);

#define VLS_THEN_MAX 4u /* different commands that one operation has follow it */

typedef struct vls_told {
    const valise_env *env;
    const valise_op *then[VLS_THEN_MAX]; /* commands that follow; the rest is NULL */
    vls_vec(struct vls_events *) events;
    struct vls_after *after; /* what is left to do, the last one first; NULL: nothing */
} vls_told;

void vls_told_release(vls_told *told); /* forget them; a zeroed one is fine */

/* Do what was left for now, then tell those who listen, with nothing held, and forget them. */
int vls_told_publish(vls_told *told, valise *v, valise_error *err);

/* Leave something for after. arg is taken over in any case. VALISE_E_UNSUPPORTED in a command that
 * is in the log. */
int vls_view_after(valise_view *view, vls_after_fn *fn, void *arg, void (*free_arg)(void *arg),
                   valise_error *err);

/* Once this command is committed, and with nothing held, have an INTERNAL command follow it: one
 * without arguments, whose result begins with `bool more`, and that is run until there is no more.
 * For work that can wait: the command only does what must be done with it, and leaves rows that say
 * what is left. A replay has it in its log; where it fails, or is killed, `gc` goes on. */
void vls_view_then(valise_view *view, const valise_op *op);

/* Run what is to follow, as this actor ("": the handle's). */
void vls_told_follow(vls_told *told, valise *v, valise_str actor);

/* An event of the operation behind the view. What cannot be kept is dropped: like all live events
 * they are for who happens to listen. */
void vls_view_tell(valise_view *view, const valise_event *event);

static inline void vls_auto_told(vls_told *told)
{
    vls_told_release(told);
}

#endif
