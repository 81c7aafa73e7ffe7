/* read.h -- a reader: one consistent state, and where the rows of an answer go.
 *
 * Threads: single. */
#ifndef VLS_READ_H
#define VLS_READ_H

#include "bus/bus.h"

/* ---- rows of a list ---- */

/* Rows of an answer become one document, or go one by one to the caller as text or as structs. */
typedef struct vls_sink {
    const valise_op *op;
    valise_row_fn *fn;                                          /* as text; NULL: see rows */
    int (*rows)(void *arg, const void *row, valise_error *err); /* as structs; NULL: a document */
    void *arg;
    vls_buf text; /* of the document so far, or of one row */
    size_t count;
    bool stopped; /* nobody wants more */
} vls_sink;

void vls_sink_init(vls_sink *sink, const valise_op *op, const valise_env *env);
void vls_sink_release(vls_sink *sink);
int vls_sink_emit(vls_sink *sink, const void *row, valise_error *err);

/* The answer as a document: of a list what was emitted, else the result (NULL: {}). *out is
 * untouched when the rows went elsewhere. */
int vls_sink_finish(valise_blob **out, vls_sink *sink, const void *result, valise_error *err);

static inline void vls_auto_sink(vls_sink *sink)
{
    vls_sink_release(sink);
}

/* ---- a state ---- */

typedef struct vls_reading {
    valise *bus;
    vls_txn txn;
    valise_view view;
    valise_str actor;
    bool internal;
    vls_sink *sink; /* NULL: nothing can be emitted */
} vls_reading;

/* The state of call->at, or the newest; none without a workspace. It must stay where it is until
 * it is ended. VALISE_E_LIMIT, VALISE_E_NOT_FOUND, VALISE_E_INVALID for an `at` that is none. */
int vls_reading_begin(vls_reading *out, valise *v, const valise_call *call, bool workspace,
                      valise_error *err);
void vls_reading_end(vls_reading *reading); /* a zeroed one is fine */

/* The seq that a text stands for: a seq, a time, the id of a command or commit, or the end of one,
 * a root of the tree; as `at` of a call has it. VALISE_E_INVALID when it is none of these. */
int vls_reading_seq(int64_t *seq, vls_reading *reading, valise_str at, valise_error *err);

/* What the view of a query is part of. */
static inline vls_reading *vls_reading_of(valise_view *view)
{
    return (vls_reading *)((char *)view - offsetof(vls_reading, view));
}

static inline void vls_auto_reading(vls_reading *reading)
{
    vls_reading_end(reading);
}

#endif
