/* report.h -- how much is known about the files, and how much of it still holds. [C28]
 *
 * Heads alone count, and of these those that the actor may read. A file (or directory) is covered
 * when one of its heads is fresh. What needs its author is what somebody wrote and does not hold
 * any more (stale, or marked): nothing can make it again.
 *
 * In the newest state what nobody doubts is fresh (undoubted.h), and the rest is computed. Of what
 * is damaged nobody can tell: it is counted as corrupt, where it was looked at.
 *
 * The order is that of the bytes of paths, then of types; of lines that of their names.
 *
 * Threads: single, as the view is. */
#ifndef VLS_REPORT_H
#define VLS_REPORT_H

#include <valise/derive.h>
#include <valise/sys/operation.h>

#include "base/buf.h"
#include "context/place.h"

#define VLS_REPORT_LISTED 100u

/* What may be wrong with a head. */
enum {
    VLS_REPORT_STALE,
    VLS_REPORT_INVALIDATED,
    VLS_REPORT_ORPHANED,
    VLS_REPORT_NEEDS_AUTHOR,
    VLS_REPORT_CORRUPT,
    VLS_REPORT_KINDS,
};
extern const char *const vls_report_kinds[]; /* NULL-ended */

/* Of a type or an agent. */
typedef struct vls_report_line {
    valise_str name;
    int64_t heads, fresh, stale, invalidated, orphaned;
    int64_t files, dirs; /* that are covered */
    int64_t last;        /* number of the path that was counted last */
} vls_report_line;

typedef struct vls_report_item {
    valise_str path, type, agent;
    valise_id frame_id;
    int64_t state; /* VALISE_NONE: it is corrupt; then the agent may be "" */
} vls_report_item;

typedef struct vls_report_kind {
    int64_t count;
    valise_list first; /* of const vls_report_item *; VLS_REPORT_LISTED at most */
} vls_report_kind;

typedef struct vls_context_report {
    int64_t files, dirs; /* in the tree */
    int64_t heads, fresh;
    int64_t covered_files, covered_dirs;
    valise_list types, agents; /* of const vls_report_line * */
    const vls_report_kind *kinds[VLS_REPORT_KINDS];
} vls_context_report;

/* context:report */
typedef struct vls_report_args {
    valise_str path;
    int64_t format;      /* VALISE_REPORT_TEXT, ...; VALISE_NONE: that */
    valise_list fail_on; /* of int64_t, VLS_REPORT_... */
} vls_report_args;

typedef struct vls_report_result {
    vls_context_report report;
    bool failed;
    valise_str document;
    valise_id tree_root, context_root;
} vls_report_result;

extern const valise_op vls_op_context_context_report;

/* Everything at and under a path; "": everything. compute: do not ask for doubts. */
int vls_report_make(vls_context_report *out, valise_view *view, const vls_tree_row *tree,
                    valise_str under, bool compute, valise_error *err);

/* Append it as a document. fails: bits 1 << VLS_REPORT_...: these are failures. The buffer
 * remembers a failure. */
void vls_report_markdown(vls_buf *out, const vls_context_report *report);
void vls_report_junit(vls_buf *out, const vls_context_report *report, unsigned fails);

#endif
