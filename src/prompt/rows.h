/* rows.h -- prompts that were made, and what they need. [P8]
 *
 *     prompt        manifest -> which session, for which model; the manifest itself is an object
 *     prompt_hold   (object, source): what manifests need and nothing else may keep (contents of
 *                   preferences, entries, frames and items, values that came with a request), and
 *                   whose it was. A WITNESS: gc keeps it, an erasure takes it, and finds by the
 *                   source what was kept for prompts alone (store/used.h). One row, however many
 *                   need it; gc finds those that nobody needs any more (sweep.h)
 *
 * Blobs of entries have a hold of the kind `prompt` (blob/hold.h). Turns and versions of roles have
 * rows of their own: automatic retention passes over sessions that have prompts.
 *
 * Threads: immutable tables. */
#ifndef VLS_PROMPT_ROWS_H
#define VLS_PROMPT_ROWS_H

#include <valise/sys/view.h>

#define VLS_ADAPTER_NAME_MAX 64
#define VLS_MODEL_MAX 256
#define VLS_REF_PROMPT "prompt:list.id"

typedef struct vls_prompt_row {
    valise_id id;        /* of the manifest */
    valise_uuid session; /* it may be gone since */
    valise_str head;     /* TurnRef; ptr NULL: nothing was said */
    valise_str adapter;  /* its name */
    valise_str model;    /* ptr NULL: none */
    int64_t time, seq;   /* of the build: its clock, and the state it saw */
    int64_t recorded;    /* the seq of the command that put this row */
    int64_t tokens;      /* as the budget counts them */
    valise_str actor;    /* who built it */
    valise_id neutral;   /* SHA-256 of the neutral prompt */
    valise_id wire;      /* of the request; a hole counts as the id of its blob */
    valise_id manifest;  /* the object; NULLABLE CONTENT: zero once it was erased */
} vls_prompt_row;

typedef struct vls_prompt_hold_row {
    valise_id object;
    valise_id source; /* nobody's: the object itself */
} vls_prompt_hold_row;

/*     prompt        index session (session, recorded), recorded (recorded)
 *     prompt_hold   index source (source) */
extern const valise_coll vls_prompts, vls_prompt_holds;

/* valise_coll.leads: what is kept for it. (lead.c) */
int vls_prompt_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                     valise_error *err);

#endif
