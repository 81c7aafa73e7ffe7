/* row_check.h -- what the tables of bag.c call: do rows of a backpack fit each other? [K22] [K36]
 *
 *     check    one row, for `validate` and for each that a bundle brought (valise_coll.check)
 *     arrive   two backpacks of one name
 *
 * Threads: single, as views are. */
#ifndef VLS_ROW_CHECK_H
#define VLS_ROW_CHECK_H

#include "backpack/bag.h"

int vls_bag_check_row(valise_check *check, valise_view *view, const void *row, valise_error *err);
int vls_commit_check_row(valise_check *check, valise_view *view, const void *row,
                         valise_error *err);
int vls_quarantine_check_row(valise_check *check, valise_view *view, const void *row,
                             valise_error *err);
int vls_point_check_row(valise_check *check, valise_view *view, const void *row, valise_error *err);
int vls_run_check_row(valise_check *check, valise_view *view, const void *row, valise_error *err);
int vls_merge_check_row(valise_check *check, valise_view *view, const void *row, valise_error *err);

/* valise_coll.leads: a fork is nothing without what it was forked from. */
int vls_bag_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                  valise_error *err);

/* valise_coll.expired: up to the edge of its backpack a commit may be gone. */
int vls_commit_expired(valise_view *view, const void *key_row, valise_error *err);

/* VALISE_E_CONFLICT: a name would stand for two. */
int vls_bags_arrive(valise_view *view, const void *const *rows, size_t count, valise_error *err);

#endif
