/* export.h -- a session as text for others: what is written, and what could not be. [W20]
 *
 * Threads: single. */
#ifndef VLS_EXCHANGE_EXPORT_H
#define VLS_EXCHANGE_EXPORT_H

#include "chat/graph.h"
#include "exchange/foreign.h"
#include "store/blob.h"

#define VLS_EXPORT_FLUSH ((size_t)1 << 20)

/* What is left out, by kind. */
typedef struct vls_export_dropped {
    int64_t branches; /* tips beside the head */
    int64_t thinking, hidden, noprompt, erased, blocks;
} vls_export_dropped;

typedef struct vls_exporting {
    valise_view *view;
    vls_blobs *blobs; /* NULL: there are none */
    vls_arena *arena; /* of one turn */
    bool everything;  /* hidden turns and thinking too, where the format has a way to say it */
    vls_export_dropped dropped;
    int64_t turns;
    vls_buf *out;
    /* Called when much is in out; may empty it. NULL: it stays. */
    int (*flush)(void *self, valise_error *err);
    void *self;
} vls_exporting;

typedef int vls_export_fn(vls_exporting *e, const vls_session_row *session, const vls_trail *trail,
                          valise_error *err);
vls_export_fn vls_export_openai, vls_export_markdown;

/* The blocks of a turn: 1, or 0 when they were erased. In e->arena. */
int vls_export_blocks(vls_json *out, vls_exporting *e, const vls_turn_row *turn, valise_error *err);

/* An object as JSON: 1; 0 for none, or no JSON. */
int vls_export_object(vls_json *out, vls_exporting *e, const valise_id *id, valise_error *err);

int vls_export_flush(vls_exporting *e, valise_error *err);

/* What was said, for Markdown (export_said.c); not tame: it goes into a fence, as it is. */
int vls_export_said(valise_str *out, bool *tame, vls_arena *arena, valise_str text,
                    valise_error *err);

#endif
