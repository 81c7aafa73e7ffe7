/* record.h -- a run on a durable backpack leaves a trace, from which it can be resumed. [F13]
 *
 * rows.h says what the trace is. A run that is resumed, or that repeats another one from some node
 * on, walks again from its start: a visit that has a step is not made, and what the step says came
 * of it.
 *
 * While it runs it holds a lock, so that nobody else takes it for one that was interrupted: a byte
 * of a file, which the kernel lets go of when the process dies.
 *
 * Threads: a record is shared once it is open. */
#ifndef VLS_FLOW_RECORD_H
#define VLS_FLOW_RECORD_H

#include "flow/begin.h"
#include "flow/level.h"

/* May who runs it run flows on this backpack? VALISE_E_DENIED. On an ephemeral one everybody may.
 */
int vls_flow_record_may(const vls_flow_run *run, valise_error *err);

/* Begin or continue the record, as `begin` says; a run on an ephemeral backpack has none.
 * VALISE_E_BUSY: somebody runs it. */
int vls_flow_record_open(vls_flow_run *run, const vls_flow_begin *begin, valise_error *err);

/* It is over, with this code and error; the record is freed. */
int vls_flow_record_close(vls_flow_run *run, int code, const valise_error *why, valise_error *err);

/* 1: this visit was made before, and *step is what came of it; 0: it was not. Of a run without a
 * record 0. */
int vls_flow_record_find(vls_flow_step *step, const vls_flow_level *level,
                         const vls_flow_node *node, valise_str path, int64_t visit,
                         valise_error *err);

/* How often the node with this path ran in visits of the nodes around it that are done, and so are
 * not made again: its next visit is the one after them. */
int64_t vls_flow_record_visits(const vls_flow_run *run, valise_str path);

/* A visit begins, or an attempt: its tick. 0 without a record. */
int64_t vls_flow_record_tick(const vls_flow_run *run);

/* A visit begins, as this run of the node in the backpack: noted where another run on the backpack
 * is not over. */
int vls_flow_record_begin(const valise_node_run *at, valise_error *err);

/* An attempt that began at this tick failed, and there is another one: what ran inside of it has to
 * run again, also when the run is resumed. */
int vls_flow_record_void(const valise_node_run *at, int64_t tick, valise_error *err);

/* The command that notes what came of a visit, to be run with the end of the node's run: 1. 0: the
 * run has no record. args live in the arena of the visit. */
int vls_flow_record_step(vls_run_item *out, const valise_node_run *at, const vls_flow_step *step,
                         valise_error *err);

/* The same for a visit that failed, where it is the one that failed first: should there be no time
 * to say how the run ended, that is what it ended with. */
int vls_flow_record_failure(vls_run_item *out, const valise_node_run *at, const valise_error *why,
                            valise_error *err);

/* ---- the lock (lock.c) ---- */

/* *out: a descriptor to be closed. VALISE_E_BUSY. */
int vls_flow_lock(int *out, valise *v, const valise_uuid *run, valise_error *err);
/* Does somebody hold it? 1, 0. */
int vls_flow_is_locked(valise *v, const valise_uuid *run, valise_error *err);

#endif
