/* valise/flow.h -- flows: nodes that carry a backpack.
 *
 *     valise_flow *flow = NULL;
 *     valise_flow_result result = VALISE_FLOW_RESULT_INIT;
 *
 *     rc = valise_flow_from_config(&flow, v, config, NULL, NULL, err);
 *     rc = valise_flow_run(&result, flow, bag, NULL, err);
 *     valise_flow_free(flow);
 *
 * or, made by hand:
 *
 *     rc = valise_flow_new(&flow, v, "sales", NULL, err);
 *     rc = valise_flow_add_node(flow, &chat, "{\"id\":\"chat\"}", err);
 *     rc = valise_flow_add_node(flow, &search, "{\"id\":\"search\"}", err);
 *     rc = valise_flow_on(flow, "chat", "needs_search", "search", err);
 *
 * A flow is a definition: it is loaded or built once and runs any number of times, also at the same
 * time, each run on a backpack of its own. Configuration, node types and what becomes of failures:
 * docs/flow.md.
 *
 * Threads: a flow is single while it is built, and shared once it was checked or run. Close it
 * before its workspace. */
#ifndef VALISE_FLOW_H
#define VALISE_FLOW_H

#include <stdbool.h>

#include <valise/backpack.h>
#include <valise/error.h>
#include <valise/progress.h>

VALISE_BEGIN

struct valise_node_type;
struct valise_client;
struct valise_tool;
typedef struct valise_flow valise_flow;

#define VALISE_FLOW_VERSION "2.0.0" /* of configurations */

/* ---- making ---- */

enum {
    /* The host vouches for the flow: the programs and MCP servers that it names may run, and its
     * references (${NAME}, @cred:NAME) are resolved. Without it: VALISE_E_DENIED. */
    VALISE_FLOW_PROGRAMS = 1,
};

enum { VALISE_SERVICE_OTHER, VALISE_SERVICE_CLIENT, VALISE_SERVICE_TOOL };

/* Something that the host gives to nodes, by name: what `dependencies` ask for. */
typedef struct valise_service {
    const char *name;    /* NULL ends the list */
    int kind;            /* VALISE_SERVICE_... */
    const void *service; /* const struct valise_client * (valise/sys/client.h), const struct
                            valise_tool * (valise/sys/tool.h), or anything; must outlive the flow */
} valise_service;

typedef struct valise_flow_options {
    size_t size;
    unsigned flags; /* VALISE_FLOW_... */
    /* Besides the built-in ones and those of extensions. NULL-ended, or NULL. They must outlive the
     * flow. */
    const struct valise_node_type *const *types;
    const valise_service *services; /* ended by a NULL name; or NULL. Must outlive the flow */
    const char *folder; /* programs with a relative path are looked for here; NULL: where we are */
} valise_flow_options;

#define VALISE_FLOW_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_flow_options), 0, NULL, NULL, NULL                                           \
    }

/* An empty one. namespace_name: "" or NULL for none. */
VALISE_API int valise_flow_new(valise_flow **out, valise *v, const char *namespace_name,
                               const valise_flow_options *options, valise_error *err);

/* From a configuration, JSON. bag (may be NULL) is what it runs on when the run does not say. What
 * is wrong with it is VALISE_E_INVALID with the first problem, its path in err->path;
 * valise_flow_check tells all of them. */
VALISE_API int valise_flow_from_config(valise_flow **out, valise *v, valise_str config,
                                       valise_backpack *bag, const valise_flow_options *options,
                                       valise_error *err);
VALISE_API void valise_flow_free(valise_flow *flow); /* NULL is fine; nobody runs it any more */

/* config: the node as it would stand in a configuration; with a type (which may be any) its `type`
 * is not needed. VALISE_E_EXISTS: the id is taken. The first node is where the flow starts. */
VALISE_API int valise_flow_add_node(valise_flow *flow, const struct valise_node_type *type,
                                    const char *config, valise_error *err);
/* A flow that stands where a node can; config as for valise_flow_from_config, with an `id` (else
 * its namespace is that). *out (may be NULL) is the inner flow, to be built further; it belongs to
 * the outer one. */
VALISE_API int valise_flow_add_subflow(valise_flow **out, valise_flow *flow, const char *config,
                                       valise_error *err);
/* When `from` ends with this action, `to` is next. The same action again: VALISE_E_EXISTS. */
VALISE_API int valise_flow_on(valise_flow *flow, const char *from, const char *action,
                              const char *to, valise_error *err);
/* valise_flow_on with "default". */
VALISE_API int valise_flow_next(valise_flow *flow, const char *from, const char *to,
                                valise_error *err);
/* An edge as it would stand in a configuration, with a rule or with mappings. */
VALISE_API int valise_flow_add_edge(valise_flow *flow, const char *config, valise_error *err);

/* ---- looking ---- */

/* All that is wrong with a configuration: 1, it can be run; 0, it cannot. *report is JSON:
 * {"errors":[{"path","message","hint"?}],"warnings":[...]}. */
VALISE_API int valise_flow_check(valise_blob **report, valise *v, valise_str config,
                                 const valise_flow_options *options, valise_error *err);

/* The configuration that makes this flow again, as JSON: equal to the one it was loaded from. */
VALISE_API int valise_flow_to_config(valise_blob **out, valise_flow *flow, valise_error *err);

enum { VALISE_GRAPH_MERMAID, VALISE_GRAPH_DOT };
VALISE_API int valise_flow_graph(valise_blob **out, valise_flow *flow, int format,
                                 valise_error *err);

/* ---- running ---- */

typedef struct valise_flow_run_options {
    size_t size;
    const char *start;        /* another first node; NULL: as the flow says */
    const char *items;        /* JSON object: packed by the node "system" before it starts; NULL */
    int64_t max_steps;        /* 0: as the flow says, else 10,000 */
    valise_progress progress; /* asked while it runs, on the thread that runs it */
} valise_flow_run_options;

#define VALISE_FLOW_RUN_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(valise_flow_run_options), NULL, NULL, 0,                                            \
        {                                                                                          \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

typedef struct valise_flow_result {
    size_t size;
    valise_uuid run;
    int64_t steps;    /* nodes that ran */
    char action[129]; /* of the last node: "default" when it chose none */
    char node[257];   /* the last node; of a failure the one that failed */
    char aside[257];  /* of a resumed run: the backpack that was moved aside for it; "": none */
} valise_flow_result;

#define VALISE_FLOW_RESULT_INIT                                                                    \
    {                                                                                              \
        sizeof(valise_flow_result), {{0}}, 0, "", "", ""                                           \
    }

/* Run it to its end. bag: NULL for that of the flow; a snapshot is forked, under a name of its own,
 * and *fork gets that backpack. It returns when nothing of the run goes on any more. A node that
 * fails, and has no `error` edge, is the failure of the run, with the node's code; VALISE_E_LIMIT:
 * more than max_steps, or a node took longer than its timeout; VALISE_E_CANCELLED. result (may be
 * NULL) is filled in any case; fork may be NULL where bag is no snapshot. On a durable backpack the
 * run is recorded, and can be resumed: valise_flow_resume, `valise flow resume`. */
VALISE_API int valise_flow_run(valise_flow_result *result, valise_backpack **fork,
                               valise_flow *flow, valise_backpack *bag,
                               const valise_flow_run_options *options, valise_error *err);

typedef struct valise_flow_resume_options {
    size_t size;
    valise_str actor;  /* who runs it; "": that of the workspace */
    int64_t max_steps; /* 0: as when it was started */
    valise_progress progress;
} valise_flow_resume_options;

#define VALISE_FLOW_RESUME_OPTIONS_INIT                                                            \
    {                                                                                              \
        sizeof(valise_flow_resume_options), {NULL, 0}, 0,                                          \
        {                                                                                          \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

/* Go on with a run of this flow that was interrupted, or that failed, from the node on that did not
 * end; `run` is its id, four digits or more of the end of that, or the name of its backpack, of
 * which the newest run is meant. Nodes that were done do not run again. What the interrupted one
 * had written stays in the history of a backpack that is moved aside (result->aside), and a fork of
 * the state before takes over the name: open it by its name, a handle from before is that of the
 * other one. VALISE_E_NOT_FOUND; VALISE_E_INVALID: it is over; VALISE_E_BUSY: somebody runs it;
 * VALISE_E_CONFLICT: it was another flow, or somebody else wrote to the backpack meanwhile, and
 * nothing was changed. Else as valise_flow_run. */
VALISE_API int valise_flow_resume(valise_flow_result *result, valise_flow *flow, const char *run,
                                  const valise_flow_resume_options *options, valise_error *err);

VALISE_END

#endif
