/* tell.h -- live events of backpacks.
 *
 * Threads: pure functions. */
#ifndef VLS_TELL_H
#define VLS_TELL_H

#include <valise/event.h>

#include "backpack/scope.h"

/* The event of a commit of an ephemeral backpack, of a read, or of what was denied (outcome DENIED:
 * then it says why): type, node, namespace, run and payload, in arena. A write that was denied is
 * BACKPACK_DENIED, a read BACKPACK_UNPACK. */
int vls_live_event(valise_event *out, const valise_commit *commit, valise_str name,
                   vls_arena *arena);

/* What somebody tried, as if it were a commit: for that event. */
valise_commit vls_attempt(const vls_scope *scope, valise_str key, int64_t action, int64_t outcome,
                          int64_t now);

#endif
