/* scan_batch.h -- what a scan found, as commands: moves, lists of changes, the version.
 *
 * Threads: single. */
#ifndef VLS_SCAN_BATCH_H
#define VLS_SCAN_BATCH_H

#include "bus/bus.h"
#include "context/ops_tree.h"
#include "tree/scan.h"

typedef struct vls_scan_batch {
    vls_arena *arena; /* of all that follows */
    vls_vec(vls_run_item) items;
} vls_scan_batch;

/* One more command. The struct of its arguments is copied, what that points to is not. */
int vls_scan_batch_add(vls_scan_batch *batch, const valise_op *op, const void *args,
                       valise_error *err);

/* All of them, for a scan that has changes and was compared with version base. Nothing of the scan
 * is borrowed. result (may be NULL) is filled when they were run. */
int vls_scan_batch_fill(vls_scan_batch *batch, const vls_scan *scan, int64_t base,
                        vls_tree_commit_result *result, valise_error *err);

/* Commands for what moves along with files (scan_moves.c). They come first: what stays behind at a
 * path where there is another kind of thing now is closed with the changes. */
int vls_scan_moves(vls_scan_batch *batch, const vls_scan *scan, int64_t base, valise_error *err);

#endif
