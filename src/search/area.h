/* area.h -- the area: search.
 *
 * Threads: immutable tables. */
#ifndef VLS_SEARCH_AREA_H
#define VLS_SEARCH_AREA_H

#include <valise/sys/extension.h>

extern const valise_op *const vls_ops_search[]; /* made from src/ops.txt */
extern const valise_extension vls_area_search;

/* care.c */
int vls_search_forget(valise *v, valise_error *err);
int vls_search_verify(valise_projection *out, valise *v, bool mend, valise_error *err);

#endif
