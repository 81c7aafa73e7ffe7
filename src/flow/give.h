/* give.h -- what the operations that run flows share: what they are given, and what they answer.
 *
 * Threads: single, as jobs are. */
#ifndef VLS_FLOW_GIVE_H
#define VLS_FLOW_GIVE_H

#include "bus/job.h"
#include "flow/begin.h"
#include "flow/load.h"
#include "flow/rows.h"

#define VLS_REF_FLOW_FILE "host.program" /* the command line makes it absolute, and consents */

extern const valise_field vls_flow_set_item; /* "KEY=JSON" */

/* What a run answers. */
typedef struct vls_flow_ran {
    valise_uuid run;
    valise_str backpack, action, node, aside;
    int64_t steps;
} vls_flow_ran;
extern const valise_field vls_flow_ran_fields[];

/* One object of all: items (JSON; ptr NULL: none), and KEY=JSON each. "" when there are none. */
int vls_flow_give_items(valise_str *out, vls_arena *arena, valise_str items, valise_list set,
                        valise_error *err);

/* A name for a backpack that nobody has: stem, and a few digits. */
int vls_flow_new_name(valise_str *out, vls_arena *arena, valise *v, valise_str stem,
                      valise_error *err);

/* Run it within a job, and answer. A failure says how to go on. text: NULL where the flow is not of
 * a file. */
int vls_flow_run_job(vls_flow_ran *out, valise_job *job, vls_flow_begin *begin,
                     const vls_flow_text *text, valise_error *err);

/* The run that a text names: its id, or four digits or more of its end, or the name of a backpack,
 * whose newest run it is then. VALISE_E_NOT_FOUND, VALISE_E_CONFLICT. */
int vls_flow_find_run(vls_flow_run_row *out, valise_view *view, valise_str text, valise_error *err);

#endif
