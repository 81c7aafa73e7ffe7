/* bundle.h -- what the operations on bundles share.
 *
 * People run `workspace:import`: a job that verifies a bundle and then either replaces an empty
 * workspace with it, or stages its objects and runs the command `bundle:import`, which adds its
 * rows.
 *
 * Threads: immutable. */
#ifndef VLS_KERNEL_BUNDLE_H
#define VLS_KERNEL_BUNDLE_H

#include "kernel/kernel.h"
#include "store/bundle.h"

/* Everything the command needs is an object that it names: so is it in the log, and a replay has
 * what it needs. */
typedef struct vls_bundle_merge_args {
    valise_id id; /* of the bundle */
    valise_uuid workspace;
    int64_t tip;
    valise_id tip_hash;  /* NULLABLE */
    valise_id rows;      /* object of kind "rows" */
    valise_id chain;     /* object of kind "chain"; NULLABLE */
    valise_list objects; /* of valise_id: what the rows name */
} vls_bundle_merge_args;

typedef struct vls_bundle_merge_result {
    int64_t rows; /* that were not there */
} vls_bundle_merge_result;

extern const valise_op vls_op_kernel_bundle_import;

#define VLS_KIND_ROWS "rows"
#define VLS_KIND_CHAIN "chain"

#endif
