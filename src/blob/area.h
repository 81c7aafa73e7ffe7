/* area.h -- the blob area: who holds which blob.
 *
 * Threads: immutable tables. */
#ifndef VLS_BLOB_AREA_H
#define VLS_BLOB_AREA_H

#include <valise/sys/extension.h>

extern const valise_op *const vls_ops_blob[]; /* made from src/ops.txt */
extern const valise_extension vls_area_blob;

#endif
