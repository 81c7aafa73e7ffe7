/* compose.h -- what is known about a node and about those around it, for who works on it. [C25]
 *
 *     sources      slots of the node, its ancestors, siblings, children, related nodes; each path
 *        |         once, as what it is that weighs most
 *     cheap        has a head, may be read, passes the filters; rank and score without its state.
 *        |         The best 4,096 are kept: a directory with 100,000 entries costs a scan of its
 *        |         slots and nothing else
 *     load         frame, entry, state, words of the query; filter by state; the final order
 *        |
 *     take         contents, as long as the limits allow
 *
 * A score is a sum of integers, and no clock is in it:
 *
 *     relation     node 1000, related 800, parent 600, child 500, sibling 400,
 *                  ancestor 300 less 20 for each step beyond the second, but 100 at least
 *     type         200 for the first of the policy's n types, 200 * (n - 1) / n for the second, ...
 *     agent        100 for the first of its agents, and so on
 *     freshness    fresh 150, stale 50
 *     query        for each word that is in the first 64 KiB: 40, and 10 for each of its next
 *                  three; 400 at most
 *
 * Who may not read a slot sees nothing of it, neither in counts nor in lists.
 *
 * Threads: single, as the view is. */
#ifndef VLS_COMPOSE_H
#define VLS_COMPOSE_H

#include <valise/sys/extension.h>

#include "context/compose_policy.h"
#include "context/shown.h"

#define VLS_COMPOSE_KEPT 4096u
#define VLS_COMPOSE_LISTED 100u /* of what is left out */
#define VLS_COMPOSE_RELATED_MAX 1000u

/* An entry of the answer. */
typedef struct vls_composed {
    vls_shown shown;
    int64_t relation, tokens;
    const valise_score *score; /* NULL: not asked for */
} vls_composed;

typedef struct vls_compose_left {
    valise_list list; /* of const valise_left_out *; the first VLS_COMPOSE_LISTED */
    int64_t count;
} vls_compose_left;

typedef struct vls_composition {
    valise_list entries; /* of const vls_composed * */
    int64_t bytes, tokens;
    int64_t candidates, considered;
    vls_compose_left cut, missing, corrupt;
} vls_composition;

typedef struct vls_compose_request {
    const vls_place *place;
    const vls_compose_policy *policy;
    const valise_order *order; /* BY_CUSTOM */
    const valise_str *related; /* paths, which the actor may read; they stay */
    size_t related_count;
    bool explain;
} vls_compose_request;

/* Reads and writes nothing else. */
int vls_compose(vls_composition *out, valise_view *view, const vls_compose_request *request,
                valise_error *err);

#endif
