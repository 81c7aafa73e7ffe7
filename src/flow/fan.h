/* fan.h -- what the files of MapNode share: elements, each on a fork of the backpack.
 *
 *     base  -----------+---- what the node found
 *       fork 0  item, index -> the flow inside -> result ----+
 *       fork 1  item, index -> the flow inside -> result ----+--- checked, merged in order, dropped
 *       fork 2  ...                                       ---+
 *
 * No element sees what another one does, so what comes of it does not depend on which was faster.
 * What each wrote is compared before anything is merged: of two that wrote one key nothing is
 * taken, unless `reduce` says how they come together.
 *
 * Threads: an element is on one thread at a time; the rest is read while elements run. */
#ifndef VLS_FLOW_FAN_H
#define VLS_FLOW_FAN_H

#include "flow/nodes.h"

#define VLS_FAN_MAX 10000u  /* elements */
#define VLS_FAN_FORK "map-" /* what the names of forks begin with; then the run */

enum { VLS_FAN_FAIL, VLS_FAN_NULL };

typedef struct vls_fan_params {
    valise_str over, as, index, collect, into, reduce; /* ptr NULL: not said */
    valise_str flow;
    int64_t parallel, on_error;
} vls_fan_params;

/* A key that an element wrote. */
typedef struct vls_fan_change {
    valise_str key;
    size_t element;
    vls_json value; /* of those that are reduced; deleted: null */
    bool deleted;
} vls_fan_change;

typedef struct vls_fan vls_fan;

typedef struct vls_fan_element {
    vls_fan *fan;
    size_t number;
    vls_json value, index; /* what it is about */
    valise_str path;       /* "map/3" */
    vls_arena arena;       /* of the rest */
    valise_str name;       /* of the fork */
    valise_backpack *fork; /* NULL: there is none */
    vls_json result;
    vls_vec(vls_fan_change) changes; /* in the arena; without those that do not come back */
    vls_vec(vls_fan_change) reduced;
    vls_vec(valise_taint) marks; /* of what the map's node took from it; whose backpack is said */
    bool left;                   /* it failed, and is null */
    int failed;                  /* the code of why, */
    valise_error *why;           /* which is in the arena; NULL: there was no room for it */
    char node[VLS_FLOW_PATH_MAX + 1]; /* who it was; "": not known */
} vls_fan_element;

struct vls_fan {
    valise_node_run *at;
    const vls_fan_params *params;
    vls_json reduce;
    valise_str as, index, collect;
    valise_backpack *base;  /* a snapshot */
    valise_list marks;      /* what the node had read by then: elements carry it */
    vls_flow_run group;     /* the elements' parent: to stop them, and nobody else */
    valise_node_run inside; /* `at`, as a node of the group */
    int64_t failed_ns;      /* ticks, when it was seen that one failed; VALISE_NONE */
    vls_fan_element *elements;
    size_t count;
    vls_json keys;             /* of an object: results become one again; else null */
    vls_json results, reduced; /* what came of all of them, in the arena of the node */
};

/* ---- one element (fan_element.c) ---- */

/* All of it, on any thread. A failure of the flow inside is in the element, with a code as it is.
 */
int vls_fan_run_element(vls_fan_element *element, valise_error *err);
/* The fork is gone, also where it is durable. NULL err is fine. */
int vls_fan_drop(vls_fan_element *element, valise_error *err);

/* ---- what comes back (fan_merge.c) ---- */

/* VALISE_E_CONFLICT names the key and both elements. */
int vls_fan_check(const vls_fan *fan, valise_error *err);
/* Into the backpack, one after the other. */
int vls_fan_merge(vls_fan *fan, valise_error *err);

/* ---- reducers (fan_reduce.c) ---- */

/* Is there one of this name? */
bool vls_fan_is_reducer(valise_str name);
#define VLS_FAN_REDUCERS "append, merge, sum, min, max, first, last"
/* {key: what comes of it} of all reduced keys that an element wrote. */
int vls_fan_reduce(vls_json *out, vls_fan *fan, valise_error *err);

#endif
