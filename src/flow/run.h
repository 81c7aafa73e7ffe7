/* run.h -- a flow that runs: levels, nodes, phases.
 *
 *     run.c      one run from start to end; levels within it; what is cancelled
 *     visit.c    one run of one node: phases, retries, contracts, the end
 *     route.c    which node is next, and what its edge carries over
 *     attempt.c  what a failed attempt wrote, taken out of the state
 *     tell.c     events
 *
 * A run walks a level: from node to node, until there is no next one. A node with an inside walks
 * that in its exec. Everything about one run lies in vls_flow_run and below; the flow is not
 * changed.
 *
 *     vls_flow_run                           the backpack, the steps, who listens
 *       vls_flow_level  ""                   of the outermost flow: a slot for each node
 *         slot "chat"                        its view of the backpack, how often it ran
 *         slot "agent" -> vls_flow_level "agent/"
 *                           slot "search" ...
 *
 * Threads: a run has one thread. An element of a map is a run of its own, with a parent, perhaps on
 * another thread: what it shares with the parent (steps, cancelling) is atomic. */
#ifndef VLS_FLOW_RUN_H
#define VLS_FLOW_RUN_H

#include <stdatomic.h>

#include "backpack/handle.h"
#include "base/hex.h"
#include "base/progress.h"
#include "flow/flow.h"
#include "tool/tool.h"

typedef struct vls_flow_run vls_flow_run;
typedef struct vls_flow_level vls_flow_level;

enum {
    VLS_PHASE_INPUTS,
    VLS_PHASE_PREP,
    VLS_PHASE_EXEC,
    VLS_PHASE_POST,
    VLS_PHASE_ROUTE,
    VLS_PHASE_END
};
extern const char *const vls_phases[];

/* What one node did so far, for events. */
typedef struct vls_touch {
    valise_str key;
    int64_t action; /* VALISE_ACTION_... */
    int64_t outcome;
    bool inside; /* by a node inside of it */
} vls_touch;

/* One run of one node. What `prep` and the others are given. */
struct valise_node_run {
    vls_flow_run *run;
    vls_flow_level *level;
    const vls_flow_node *node;
    valise_backpack *view;
    valise_str path, namespace_name; /* with what stands in front of the flow */
    int64_t begun, start; /* with a record: its tick, and the seq of the state it found */
    int64_t visit;        /* the how manyth run of this node it is in this run, from 1 */
    vls_arena *arena;     /* until it is over */
    void *data;
    valise_str action; /* "": none was chosen */
    int phase;
    bool told;                   /* who listens knows of the failure */
    int64_t attempt;             /* of exec, from 1 */
    int64_t start_ns;            /* ticks */
    int64_t deadline_ns;         /* ticks: of this phase; VALISE_NONE */
    vls_json params;             /* resolved */
    const void *values;          /* so too */
    vls_secrets secrets;         /* that were resolved */
    const valise_error *failure; /* of the node before; or NULL */
    vls_vec(vls_touch) seen; /* in the arena; where somebody listens or attempts are taken back */
    bool unseen;             /* there was no room for all of them */
};

/* ---- a run ---- */

struct vls_flow_record; /* record.h: of a durable one */

struct vls_flow_run {
    valise *v;
    const valise_env *env;
    valise_flow *flow;
    valise_backpack *bag; /* the owner's handle */
    valise_str actor;
    valise_uuid id;
    vls_uuid_string id_text;
    vls_flow_run *parent; /* of an element; NULL */
    vls_arena arena;      /* of levels, paths: as long as the run */
    vls_progress progress;
    pthread_t thread;       /* that may ask progress */
    atomic_int stop;        /* 0, or why all of it is to end: VALISE_E_CANCELLED */
    int64_t number;         /* of an element, from 0; else -1 */
    _Atomic int64_t failed; /* of the elements below, the first that failed: those behind it end */
    _Atomic int64_t steps;  /* of the whole run: its elements count at the root */
    atomic_uint threads;    /* that its maps may still start; at the root, too */
    int64_t max_steps;
    bool programs; /* what the flow names may run */
    bool watches;  /* somebody listens, as it was when the run began */

    pthread_mutex_t lock; /* over what is made when it is needed first: */
    vls_toolbox *tools;
    vls_arena tools_arena;
    vls_secrets tools_secrets;      /* in the environments of tools */
    struct vls_flow_record *record; /* NULL: an ephemeral backpack */

    vls_map places;                       /* visits of nodes in flows of a host, by path (run.c) */
    vls_flow_level *top;                  /* of the flow itself */
    vls_flow_level *levels;               /* all of them, to be released */
    int64_t walked;                       /* nodes that it went to itself */
    bool blamed;                          /* the error says which node it was */
    bool noted;                           /* ... and so does the record */
    char last[VLS_FLOW_PATH_MAX + 1];     /* the last node */
    char action[VLS_FLOW_ACTION_MAX + 1]; /* its action */
    char visited[8][VLS_FLOW_PATH_MAX + 1]; /* the last ones, a ring, for who runs away */
};

static inline vls_flow_run *vls_flow_root(vls_flow_run *run)
{
    while (run->parent)
        run = run->parent;
    return run;
}

/* Walk a level of the run from `start` (NULL: where it starts) until there is no next node.
 * *action: of the last one, in the arena. failure: why an error edge led here; NULL. */
int vls_flow_walk(valise_str *action, vls_flow_level *level, const vls_flow_node *start,
                  vls_arena *arena, valise_error *err);

/* The level of a flow below a node that runs: made once, and found again. inner: node->inner, or a
 * flow of the host. */
int vls_flow_enter(vls_flow_level **out, valise_node_run *at, valise_flow *inner,
                   valise_error *err);

/* Element `number` of a map: a run of node->inner on another backpack, whose nodes have this path
 * and the namespace of the node. It is a child of the run. Any thread. *action (may be NULL) in the
 * arena. node (VLS_FLOW_PATH_MAX + 1 bytes): of a failure the path of who failed. */
int vls_flow_run_element(valise_str *action, char *node, valise_node_run *at, int64_t number,
                         valise_backpack *bag, valise_str path, vls_arena *arena,
                         valise_error *err);

/* Whoever gave up, or has no memory, is not asked again: no attempt, no edge. */
static inline bool vls_flow_is_final(int rc)
{
    return rc == VALISE_E_CANCELLED || rc == VALISE_E_NO_MEMORY;
}

/* ---- one run (run.c) ---- */

/* The flow is linked. The caller fills actor, id, max_steps, programs and what else it wants. */
void vls_flow_run_init(vls_flow_run *run, valise_flow *flow, valise_backpack *bag);
void vls_flow_run_release(vls_flow_run *run);
/* A run within a run, as its actor. */
void vls_flow_run_init_within(vls_flow_run *run, vls_flow_run *parent, valise_backpack *bag);

/* From its first node (start NULL: that of the flow) to its last, and tell who listens. */
int vls_flow_run_all(vls_flow_run *run, const vls_flow_node *start, valise_error *err);

/* VALISE_E_CANCELLED once the run, or one that it is an element of, is to end. Whoever asks on the
 * thread that began the run lets its progress be told. */
int vls_flow_run_look(vls_flow_run *run, valise_error *err);

/* Pack an item of another state as it was: as by who had packed it, with its tags and lists. A
 * valise_item_fn: bag is the owner's handle. (attempt.c) */
int vls_flow_pack_again(void *bag, const valise_item *item, valise_error *err);

/* ---- for the built-in nodes ---- */

/* Is it over? VALISE_E_CANCELLED, VALISE_E_LIMIT for the node's time. For `look` callbacks too:
 * self is a valise_node_run. */
int vls_node_look(void *self, valise_error *err);

/* May programs that this flow names (any of its levels) run? VALISE_E_DENIED with what the user can
 * do. *may: what else is to be asked each time that one is started (consent.c). what: the program,
 * for the message. */
int vls_node_may_start(vls_tool_may *may, const valise_node_run *at, valise_flow *flow,
                       valise_str what, valise_error *err);

/* May what its params refer to be resolved? A stranger's flow is not to read our environment. [K34]
 */
int vls_node_may_resolve(const valise_node_run *at, valise_error *err);

/* The name under which a node knows a service: its `dependencies` may say so. */
valise_str vls_node_need(const valise_node_run *at, valise_str role);
/* What the host gave under a name; NULL: nothing. */
const valise_service *vls_node_find_service(const valise_node_run *at, valise_str name);

/* The tools that the flow declares and the host gave, made when they are asked for first: servers
 * are started then. Shared by all nodes of the run. */
int vls_node_tools(vls_toolbox **out, valise_node_run *at, valise_error *err);

/* ---- events (tell.c) ---- */

bool vls_flow_listens(const vls_flow_run *run);

/* flow:NAME with this payload (JSON, an object). at NULL: of the run itself. What cannot be told is
 * not: nobody's work fails for it. */
void vls_flow_tell(const vls_flow_run *run, const valise_node_run *at, const char *name,
                   valise_str payload);
/* A warning: a line of text. */
void vls_flow_warn(const vls_flow_run *run, const valise_node_run *at, const char *format, ...)
    VALISE_PRINTF(3, 4);

#endif
