/* making.h -- what a policy is given while it makes a frame: valise/sys/policy.h, from inside.
 *
 * Threads: single. */
#ifndef VLS_MAKING_H
#define VLS_MAKING_H

#include <valise/sys/policy.h>

#include "base/arena.h"
#include "base/buf.h"

struct valise_making {
    const valise_policy_input *inputs;
    size_t count;
    bool is_empty;
    /* Content of an input: stays until the next call. */
    int (*content)(valise_str *out, void *self, size_t i, valise_error *err);
    void *self;
    vls_arena *arena; /* of valise_making_alloc */
    vls_buf *out;     /* its maximum is that of the frame */
};

#endif
