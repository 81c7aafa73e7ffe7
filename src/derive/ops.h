/* ops.h -- arguments of the operations; answer.h has what they answer.
 *
 * Threads: plain data. */
#ifndef VLS_DERIVE_OPS_H
#define VLS_DERIVE_OPS_H

#include <valise/sys/operation.h>

typedef struct vls_synthesize_args {
    valise_str node, type, input, output, policy, program, params;
    valise_str name, by_agent; /* globs */
    int64_t max_size, limit;
    bool fresh, recursive, strict, replace, verify, dry_run, no_scan;
} vls_synthesize_args;

typedef struct vls_regenerate_args {
    valise_str node;
    bool recursive;
    int64_t up;
    bool run, only_new, dry_run, no_scan;
} vls_regenerate_args;

extern const valise_op vls_op_derive_synthesize, vls_op_derive_regenerate;

#endif
