/* document.h -- a backpack as JSON: what export writes and import reads. docs/formats.md, "A
 * backpack as JSON", has the picture.
 *
 * Threads: immutable tables. */
#ifndef VLS_DOCUMENT_H
#define VLS_DOCUMENT_H

#include "backpack/bag.h"

#define VLS_DOCUMENT_FORMAT "valise.backpack.1"
#define VLS_DOCUMENT_ITEMS_MAX 500000 /* items, and commits of the history */
#define VLS_DOCUMENT_ROWS_MAX 100000  /* of each other list */

typedef struct vls_document_options {
    bool lenient, taint;
    valise_list sticky;
    int64_t max_commits, max_bytes;
} vls_document_options;

typedef struct vls_document_origin {
    valise_uuid id;
    int64_t seq;
} vls_document_origin;

/* Without `values`, an object of its own: id to value. */
typedef struct vls_document {
    valise_list checkpoints; /* of const vls_bag_checkpoint_row * */
    int64_t edge;            /* what stands in items is the state after it */
    valise_str format;
    valise_list history; /* of const valise_commit *: edge + 1 and on, all */
    valise_uuid id;
    valise_list items;  /* of const valise_commit *, in the order of seq */
    valise_list merges; /* of const vls_merge_row * */
    valise_str name;
    const vls_document_options *options;
    const vls_document_origin *origin; /* NULL: none */
    bool partial;                      /* what one node may see: cannot be restored */
    valise_list permissions;           /* of const vls_permission_row * */
    valise_list quarantine;            /* of const vls_quarantine_row * */
    valise_list rules;                 /* of const vls_rule_row * */
    valise_list runs;                  /* of const vls_run_row * */
} vls_document;

extern const valise_field vls_document_fields[];

#endif
