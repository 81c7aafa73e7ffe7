/* scope_impl.h -- the inside of a scope, for scope.c and taint.c.
 *
 * Threads: what stands above the lock never changes. */
#ifndef VLS_SCOPE_IMPL_H
#define VLS_SCOPE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "backpack/node_access.h"
#include "backpack/scope.h"
#include "base/vec.h"

typedef struct vls_scope_mark {
    valise_taint source; /* its tag is in texts */
    int64_t since;
} vls_scope_mark;

struct vls_scope {
    const valise_env *env;
    bool owner;
    valise_uuid home; /* the backpack whose permissions and rules hold */
    valise_str node_id, node_name, namespace_name;
    const valise_permissions *own; /* those that came with the node; NULL: the ledger's */
    _Atomic(uint64_t) generation;  /* that access is of; 0: of none yet. Set under the lock */

    _Atomic(int64_t) run; /* that was started for it; 0: none. Set under the lock */

    pthread_mutex_t lock; /* over everything below */
    vls_arena texts;      /* also of what stands above */
    vls_node_access access;
    int64_t run_start; /* of the run */
    vls_vec(vls_scope_mark) marks;
};

#endif
