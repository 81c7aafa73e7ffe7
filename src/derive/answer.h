/* answer.h -- what synthesize and regenerate answer: the report of a run.
 *
 * Threads: immutable tables. */
#ifndef VLS_DERIVE_ANSWER_H
#define VLS_DERIVE_ANSWER_H

#include "derive/run.h"

typedef struct vls_run_answer {
    valise_list slots; /* of const vls_derived_row * */
    int64_t made, unchanged, needs_author, needs_run, unknown, orphaned, out_of_scope, missing,
        stale, failed;
    bool dry_run;
    valise_id frame_id; /* zero: regenerate, or there is none */
    valise_id context_root;
    valise_str tree; /* see VLS_TREE_IS_FIELD */
} vls_run_answer;

extern const valise_field vls_run_answer_fields[];

void vls_run_answer_fill(vls_run_answer *out, const vls_run_report *report, bool dry_run);

/* Look at the files under a path first, as the engine's own; a workspace without a folder has none.
 */
int vls_run_scan(valise_job *job, valise_str path, valise_error *err);

/* The same for a dry run, which records nothing: the tree is "outdated" when the files under the
 * path are not as it has them, and a run would begin with them. Else ptr NULL. */
int vls_run_look(valise_str *tree, valise_job *job, valise_str path, valise_error *err);

/* The path that is meant, in the job's memory; "" is the root. Who may not do this there (type "":
 * with frames of some type) hears nothing of what lies there. */
int vls_run_path(valise_str *out, valise_job *job, valise_str given, const char *capability,
                 valise_str type, valise_error *err);

#endif
