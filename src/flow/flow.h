/* flow.h -- a flow as a definition: nodes, edges, flows within flows.
 *
 *     flow.c         making one by hand: nodes, subflows, edges; what is freed with it
 *     find.c         nodes by their paths
 *     config*.c      ... from a configuration, with everything that is wrong with it; and back
 *     findings.c     what is wrong, and where
 *     link.c         edges find their nodes; what cannot be reached; names that meet
 *     graph.c        as a picture
 *     type.c         which node types there are
 *     reference.c    ${NAME} and @cred:NAME in params
 *
 * All levels of a flow are one tree: a subflow, and a node with an inner flow, is a node whose
 * `inner` is the level below. A node's *path* is its ids from the outermost flow down,
 * "agent/search", and its *namespace* the segments on that way, "sales.agent.search". Both are
 * fixed when the node is added; a flow that a host runs within a node of its own gets a prefix for
 * each when it runs.
 *
 * Nothing here runs anything: run.h does.
 *
 * What a definition takes is linear in its JSON: values point into the JSON it was read from.
 *
 * Threads: single while it is built; immutable once it is linked (who adds to it afterwards makes
 * it a thing that is built again). */
#ifndef VLS_FLOW_H
#define VLS_FLOW_H

#include <pthread.h>

#include <valise/flow.h>
#include <valise/sys/node.h>

#include "backpack/bag.h"
#include "base/map.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "json/schema.h"

#define VLS_FLOW_ID_MAX 64u                /* [A-Za-z0-9_-]+ */
#define VLS_FLOW_PATH_MAX VLS_BAG_NODE_MAX /* it is the id of a node in backpacks */
#define VLS_FLOW_ACTION_MAX 128u
#define VLS_FLOW_DEPTH_MAX 16u     /* of flows within flows */
#define VLS_FLOW_NODES_MAX 100000u /* of one flow with all below it */
#define VLS_FLOW_EDGES_MAX 1000000u
#define VLS_FLOW_CONFIG_MAX ((size_t)16 << 20)
#define VLS_FLOW_STEPS_MAX INT64_C(10000) /* when nobody says another number */
#define VLS_FLOW_RETRIES_MAX 1000
#define VLS_FLOW_THREADS_MAX 256u                 /* of all maps of one run */
#define VLS_FLOW_MAPPINGS_MAX 256u                /* of one edge */
#define VLS_FLOW_KEYS_MAX 1000u                   /* of the contracts and needs of one node */
#define VLS_FLOW_WAIT_MAX_NS INT64_C(60000000000) /* of one that doubles, when nobody says more */

typedef struct vls_flow_node vls_flow_node;

/* `target` gets the value of `source` when the edge is taken. */
typedef struct vls_flow_mapping {
    valise_str source, target; /* keys */
} vls_flow_mapping;

typedef struct vls_flow_edge {
    valise_str from, to;     /* ids of this level */
    valise_str action;       /* "default" when nothing is written; ptr NULL: there is a rule */
    vls_json rule;           /* JSON Logic */
    const valise_str *reads; /* the keys that the rule names; NULL: all, as it cannot be said */
    size_t read_count;
    const vls_flow_mapping *mappings;
    size_t mapping_count;
    vls_json json;         /* as it was written */
    valise_str place;      /* where: "edges[2]" */
    vls_flow_node *target; /* linked */
} vls_flow_edge;

/* What a node takes, or gives: a key and its JSON Schema. */
typedef struct vls_flow_contract {
    valise_str key;
    vls_schema *schema;
    vls_json json;     /* the schema as it was written */
    bool optional;     /* "optional": true beside the keywords of the schema */
    bool has_defaults; /* at the top, or of properties inside */
} vls_flow_contract;

/* A service under another name, for one node. */
typedef struct vls_flow_need {
    valise_str role, name;
} vls_flow_need;

struct vls_flow_node {
    valise_flow *flow; /* its level */
    valise_str id, path;
    valise_str segment;        /* "": a subflow whose namespace is empty */
    valise_str namespace_name; /* ptr NULL: none */
    const valise_node_type *type;
    vls_json json;       /* as it was written, with `type`; of a subflow without what is in it */
    valise_str place;    /* where: "nodes[3]" */
    vls_json params;     /* an object; {} when none are written */
    const void *values;  /* the struct of type->params, as written; NULL: no table */
    void *self;          /* what create gave */
    valise_flow *inner;  /* NULL: none */
    uint32_t number;     /* among the nodes of its level */
    bool has_references; /* ${NAME} or @cred:NAME is in the params */
    bool created;        /* destroy is to be called */
    bool is_subflow;     /* a member of `subflows` */
    bool exponential;    /* the wait doubles, up to max_wait_ns, with jitter */
    bool quarantine;     /* what a failed attempt wrote */

    const valise_permissions *permissions; /* NULL: none of its own */
    int64_t retries, wait_ns, max_wait_ns;
    int64_t timeout_ns; /* of a phase; VALISE_NONE: none */

    const vls_flow_contract *inputs, *outputs;
    size_t input_count, output_count;
    const vls_flow_need *needs;
    size_t need_count;

    /* Linked: */
    vls_flow_edge *const *edges; /* that leave it, in the order in which they were written */
    size_t edge_count;
};

/* ---- what a configuration declares for its nodes ---- */

enum { VLS_NEED_CLIENT, VLS_NEED_TOOL, VLS_NEED_MCP, VLS_NEED_HOST };

/* "dependencies" of the outermost flow:
 *
 *     "llm":     {"client": {"provider": "anthropic", "model": "...", "replay": "answers.json"}}
 *     "weather": {"tool": {"description", "parameters", "command": [...], "env": {...}, "timeout"}}
 *     "files":   {"mcp": {"command": [...], "env": {...}, "prefix": "", "only": [...], "timeout"}}
 *     "db":      {"host": true}                  the host must give it:
 * valise_flow_options.services
 */
typedef struct vls_flow_dependency {
    valise_str name;
    int kind;
    vls_json json;          /* the object in it: {"provider": ...}; of HOST null */
    valise_str description; /* TOOL */
    vls_json parameters;    /* TOOL; type NULL: none */
    const valise_str *argv; /* TOOL, MCP */
    size_t argc;
    int64_t timeout_ns;     /* VALISE_NONE: the usual */
    valise_str prefix;      /* MCP */
    const valise_str *only; /* MCP */
    size_t only_count;
    vls_json env;                       /* an object of texts, with references; or null */
    valise_str provider, model, replay; /* CLIENT; ptr NULL: not said */
} vls_flow_dependency;

struct valise_flow {
    valise *v;
    const valise_env *env;
    vls_arena arena;           /* of the outermost: all levels live there; inner ones use theirs */
    valise_flow *outer;        /* NULL: this is the outermost */
    vls_flow_node *owner;      /* the node that it is the inside of; NULL: the outermost */
    uint32_t depth;            /* 0: the outermost */
    valise_str id;             /* of a subflow; "" */
    valise_str path;           /* in front of its nodes' ids; "": none */
    valise_str namespace_name; /* of all it holds; ptr NULL: none */
    valise_str start;          /* id; "": the first node */
    int64_t max_steps;         /* 0: nothing is said */
    vls_json json;             /* as it was written, without nodes, edges and subflows */
    valise_str place;          /* where: "subflows[0]"; "": the outermost */
    bool has_nodes, has_edges, has_subflows; /* the member is there though it may be empty */

    vls_vec(vls_flow_node *) nodes; /* subflows too */
    vls_vec(vls_flow_edge *) edges;
    vls_map ids;     /* of nodes */
    vls_map actions; /* edges by from and action */
    size_t subflow_count;
    bool broken;          /* a node could not be kept, which was said */
    vls_flow_node *first; /* linked: where it starts */

    /* Of the outermost: */
    unsigned flags;
    bool by_bytes; /* programs may run because its file is trusted: so must they be */
    const valise_node_type *const *types; /* of the host */
    const valise_service *services;
    valise_str folder;
    valise_backpack *bag; /* NULL: none */
    const vls_flow_dependency *dependencies;
    size_t dependency_count, node_count, edge_count;
    struct vls_type_schema *schemas; /* of types, compiled once (config_params.c) */
    uint64_t seed;                   /* of the maps */
    pthread_mutex_t lock;
    bool linked;
};

static inline valise_flow *vls_flow_outermost(valise_flow *flow)
{
    while (flow->outer)
        flow = flow->outer;
    return flow;
}

static inline vls_arena *vls_flow_arena(valise_flow *flow)
{
    return &vls_flow_outermost(flow)->arena;
}

/* ---- what is wrong (findings.c) ---- */

typedef struct vls_flow_finding {
    valise_str path;          /* JSON path: "nodes[3].params.temperature" */
    valise_str message, hint; /* hint "": none */
    int code;                 /* VALISE_E_INVALID mostly */
    bool warning;
} vls_flow_finding;

#define VLS_FLOW_FINDINGS_MAX 1000u /* then it is said that there are more */

typedef struct vls_flow_findings {
    vls_arena *arena;
    vls_vec(vls_flow_finding) all; /* in the arena */
    size_t errors;
    size_t said; /* of a place that is among those from here on, or below one, enough was said */
    bool more;   /* than fit */
} vls_flow_findings;

void vls_flow_findings_init(vls_flow_findings *findings, vls_arena *arena);
/* Note it, and go on. 0, or VALISE_E_NO_MEMORY. hint NULL or "": none. path and hint are copied. */
int vls_flow_findings_add(vls_flow_findings *findings, bool warning, valise_str path,
                          const char *hint, valise_error *err, const char *format, ...)
    VALISE_PRINTF(6, 7);
/* The same of an error that some function gave; its path goes behind this one. */
int vls_flow_findings_take(vls_flow_findings *findings, valise_str path, const valise_error *why,
                           valise_error *err);
/* 0, or the first error as an error, with its path. */
int vls_flow_findings_fail(const vls_flow_findings *findings, valise_error *err);
/* {"errors":[...],"warnings":[...]} */
int vls_flow_findings_json(vls_json *out, vls_arena *arena, const vls_flow_findings *findings,
                           valise_error *err);

/* ---- making (flow.c, config.c) ---- */

int vls_flow_make(valise_flow **out, valise *v, const valise_flow_options *options,
                  valise_error *err);

/* A JSON text, copied to the flow's arena. VALISE_E_INVALID says at which line. */
int vls_flow_parse(vls_json *out, valise_flow *flow, valise_str text, valise_error *err);

/* Read a configuration, which must live as long as the flow, into an empty flow: as much of it as
 * makes sense, and what is wrong. Of an inner one only the inside is read: what its `namespace`
 * means is its node's business. Below 0 only where nothing can be said (memory, limits). */
int vls_flow_read(valise_flow *flow, vls_json config, valise_str path, vls_flow_findings *findings,
                  valise_error *err);
/* One node, or one edge, of a level. type NULL: as the configuration says. *out may be NULL. */
int vls_flow_read_node(vls_flow_node **out, valise_flow *flow, const valise_node_type *type,
                       vls_json config, valise_str path, vls_flow_findings *findings,
                       valise_error *err);
int vls_flow_read_edge(valise_flow *flow, vls_json config, valise_str path,
                       vls_flow_findings *findings, valise_error *err);

/* A member of `subflows`, which becomes a node. */
int vls_flow_read_subflow(vls_flow_node **out, valise_flow *flow, vls_json config, valise_str path,
                          vls_flow_findings *findings, valise_error *err);

/* For node types with an inside, in `compose`: the level below a node, which then has it.
 * VALISE_E_LIMIT: too deep. */
int vls_flow_make_inner(valise_flow **out, vls_flow_node *node, valise_error *err);

/* Segment behind namespace, either may be empty: the seed's composeNamespace. *out ptr NULL: none.
 */
int vls_flow_join_namespace(valise_str *out, vls_arena *arena, valise_str outer, valise_str segment,
                            valise_error *err);

/* NULL: there is none of that id. */
vls_flow_node *vls_flow_find(const valise_flow *flow, valise_str id);
/* By its path from this flow down; a bare id, or the end of a path, where there is one only.
 * VALISE_E_NOT_FOUND, VALISE_E_CONFLICT with those it may be. */
int vls_flow_find_path(vls_flow_node **out, const valise_flow *flow, valise_str path,
                       valise_error *err);
const vls_flow_dependency *vls_flow_dependency_find(const valise_flow *flow, valise_str name);

/* ---- linking (link.c) ---- */

/* Edges find their nodes, on all levels: dangling ones, a start that is not there, a flow without
 * nodes are errors; what cannot be reached, actions that the type does not know, two nodes with one
 * namespace are warnings. Once; findings may be NULL (then the first error is the failure). */
int vls_flow_link(valise_flow *flow, vls_flow_findings *findings, valise_error *err);

/* ---- types (type.c) ---- */

/* A built-in type, with what only the library knows. */
typedef struct vls_flow_node_kind {
    const valise_node_type *type;
    /* Makes the inside of a node, which then has it as node->inner: adds to findings what is wrong
     * with its params, below `path`. NULL: nodes of this type have no inside. */
    int (*compose)(vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                   valise_error *err);
    /* What is wrong with this node and cannot be said by a schema. NULL: nothing. */
    int (*check)(const vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                 valise_error *err);
} vls_flow_node_kind;

extern const vls_flow_node_kind vls_flow_kinds[]; /* ended by a NULL type */
const vls_flow_node_kind *
vls_node_kind_of(const valise_node_type *type); /* NULL: it is not built in */

/* Of the host, of the library, of an extension. NULL; *near (may be NULL) is then the most similar
 * name, or NULL. */
const valise_node_type *vls_flow_type(const valise_flow *flow, valise_str name, const char **near);
int vls_node_type_check(const valise_node_type *type, valise_error *err);

/* A subflow of a configuration is a node of this type (node_subflow.c). Its name is that of
 * vls_node_subflow, which one finds by name: both do the same. */
extern const valise_node_type vls_node_subflow_level, vls_node_subflow;
int vls_subflow_compose(vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                        valise_error *err);

/* ---- references (reference.c) ---- */

/* Is there any in the value? */
bool vls_references_in(vls_json value);
/* Are those of a text well-formed? */
int vls_reference_check(valise_str text, valise_error *err);

/* The value with all references in its texts resolved, in the arena: "${NAME}" from the
 * environment, "@cred:NAME" (a whole text) from the user's credentials (settings
 * credential.NAME.env, credential.NAME.file); "$${" is "${". found gets each secret that came in,
 * so that it can be kept out of what is told. VALISE_E_NOT_FOUND names what is not set. */
typedef struct vls_secrets {
    vls_arena *arena;
    vls_vec(valise_str) all; /* in the arena */
} vls_secrets;
int vls_references_resolve(vls_json *out, vls_arena *arena, vls_json value, const valise *v,
                           vls_secrets *found, valise_error *err);
/* Take them out of an error's texts: "[redacted]" stands there then. */
void vls_secrets_hide(const vls_secrets *secrets, valise_error *err);
/* The same of any text: *text is another one then, in the arena. */
int vls_secrets_hide_text(valise_str *text, vls_arena *arena, const vls_secrets *secrets,
                          valise_error *err);

static inline void vls_auto_flow(valise_flow **flow)
{
    valise_flow_free(*flow);
}

#endif
