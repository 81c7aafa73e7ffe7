/* bundle_writer.h -- the inside of the bundle writer, for its files.
 *
 *     bundle_survey.c    what a bundle will have
 *     bundle_write.c     record by record
 *
 * Threads: single. */
#ifndef VLS_BUNDLE_WRITER_H
#define VLS_BUNDLE_WRITER_H

#include "store/bundle.h"
#include "store/own.h"

typedef struct vls_bundle_writer {
    const vls_bundle_export *how;
    vls_txn *txn;
    const valise_env *env;
    vls_hasher stream;
    vls_buf out;  /* not written yet */
    vls_buf body; /* of the record that is made */
    vls_buf list; /* of its changes */
    vls_arena arena;
    vls_bundle_header header;
    vls_bundle_counts counts;

    bool whole;
    vls_bundle_part part;
    vls_bits objects;                    /* whole: those that something refers to */
    vls_vec(valise_id) blobs;            /* whole */
    bool used[VLS_COLL_MAX];             /* by number in the store */
    uint32_t number[VLS_COLL_MAX];       /* in the bundle */
    const vls_coll *colls[VLS_COLL_MAX]; /* by number in the bundle */
    uint32_t coll_count;
} vls_bundle_writer;

/* Find what the bundle will have: `part`, or `objects`, `blobs` and `used`. */
int vls_bundle_survey(vls_bundle_writer *w, valise_error *err);

/* Deletions that a state which can be seen is before (the others are about to be forgotten), of one
 * collection or of all. */
typedef int vls_bundle_gone_fn(vls_bundle_writer *w, const vls_gone *gone, valise_error *err);
int vls_bundle_each_gone(vls_bundle_writer *w, vls_bundle_gone_fn *fn, const vls_coll *only,
                         valise_error *err);

#endif
