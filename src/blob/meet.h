/* meet.h -- blobs in bundles: the functions that the tables of rows.c name.
 *
 * Threads: single. */
#ifndef VLS_BLOB_MEET_H
#define VLS_BLOB_MEET_H

#include <valise/sys/view.h>

/* A hold needs the record of its blob. */
int vls_blob_hold_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                        valise_error *err);

/* The same blob was registered in two places: what is known here holds, what only they know is
 * added. */
int vls_blob_record_meet(valise_view *view, const void *here, const void *there, valise_error *err);

/* A hold whose turn or entry is not here, or was erased here, is let go of again, and the blob with
 * it; so is one whose blob was erased here. */
int vls_blob_holds_arrive(valise_view *view, const void *const *rows, size_t count,
                          valise_error *err);

#endif
