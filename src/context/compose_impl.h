/* compose_impl.h -- what the files behind compose.h share.
 *
 * Threads: single. */
#ifndef VLS_COMPOSE_IMPL_H
#define VLS_COMPOSE_IMPL_H

#include "context/compose.h"

/* A slot with a head that may become an entry. */
typedef struct vls_candidate {
    const vls_compose_request *request;
    valise_str path, type;
    valise_id head;
    int64_t relation, steps; /* steps: of an ancestor: how far up */
    valise_str agent;        /* "": nobody needs it yet */
    int64_t seq;             /* 0: nobody needs it yet */
    size_t type_rank, agent_rank;
    valise_score score;

    /* Once it is loaded. */
    vls_composed *entry;
    vls_frame_row frame;
    const valise_composed *seen; /* by a comparator of the host's */
} vls_candidate;

/* ---- sources (compose_source.c) ---- */

typedef int vls_source_fn(void *arg, const vls_slot_row *slot, int64_t relation, int64_t steps,
                          valise_error *err);

/* Every slot of the sources, each once. What fn gets is valid until it returns. */
int vls_compose_each(valise_view *view, const vls_compose_request *request, vls_source_fn *fn,
                     void *arg, valise_error *err);

/* ---- scores and orders (compose_score.c) ---- */

int64_t vls_compose_weight(int64_t relation, int64_t steps);

/* Ranks, and what of the score needs neither state nor content. */
void vls_compose_score_cheap(vls_candidate *c);

/* The rest. content: ptr NULL: there is no query. */
void vls_compose_score(vls_candidate *c, int64_t state, valise_str content);

/* For qsort: pointers to candidates, or candidates, as the policy orders them. */
int vls_compose_compare(const vls_candidate *a, const vls_candidate *b);

#endif
