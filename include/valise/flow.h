/* valise/flow.h -- flows: nodes that work on a backpack, one after another.
 *
 *     valise_flow *flow = NULL;
 *     valise_flow_result result = VALISE_FLOW_RESULT_INIT;
 *
 *     rc = valise_flow_from_config(&flow, v, config, NULL, NULL, err);
 *     rc = valise_flow_run(&result, NULL, flow, bag, NULL, err);
 *     valise_flow_free(flow);
 *
 * or, built by hand:
 *
 *     rc = valise_flow_new(&flow, v, "sales", NULL, err);
 *     rc = valise_flow_add_node(flow, &chat, "{\"id\":\"chat\"}", err);
 *     rc = valise_flow_add_node(flow, &search, "{\"id\":\"search\"}", err);
 *     rc = valise_flow_on(flow, "chat", "needs_search", "search", err);
 *
 * A flow is a definition. It is loaded or built once, and can then run any number of times, also
 * several times at once, each run on its own backpack. docs/flow.md describes configurations, node
 * types and how failures are handled.
 *
 * Threads: a flow is single while it is being built, and shared once it has been checked or run.
 * Free it before its workspace is closed. */
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
    /* The host vouches for the flow: it may run the programs and MCP servers that it names, and its
     * references (${NAME}, @cred:NAME) are resolved. Without this flag, such a flow is
     * VALISE_E_DENIED. */
    VALISE_FLOW_PROGRAMS = 1,
};

enum { VALISE_SERVICE_OTHER, VALISE_SERVICE_CLIENT, VALISE_SERVICE_TOOL };

/* Something that the host provides to nodes under a name, which nodes ask for in `dependencies`. */
typedef struct valise_service {
    const char *name; /* NULL ends the list */
    int kind;         /* VALISE_SERVICE_... */
    /* A const struct valise_client * (valise/sys/client.h), a const struct valise_tool *
     * (valise/sys/tool.h), or anything else. It must outlive the flow. */
    const void *service;
} valise_service;

typedef struct valise_flow_options {
    size_t size;
    unsigned flags; /* VALISE_FLOW_... */
    /* Node types in addition to the built-in ones and those of extensions. NULL-ended, or NULL.
     * They must outlive the flow. */
    const struct valise_node_type *const *types;
    const valise_service *services; /* ended by a NULL name; or NULL. Must outlive the flow */
    /* The folder in which programs with a relative path are looked for; NULL: the current one. */
    const char *folder;
} valise_flow_options;

#define VALISE_FLOW_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_flow_options), 0, NULL, NULL, NULL                                           \
    }

/* Make an empty flow. namespace_name: "" or NULL for none. */
VALISE_API int valise_flow_new(valise_flow **out, valise *v, const char *namespace_name,
                               const valise_flow_options *options, valise_error *err);

/* Make a flow from a configuration in JSON. bag (may be NULL) is the backpack of runs that name
 * none. VALISE_E_INVALID: the configuration is wrong; the error says the first problem, with its
 * path in err->path. valise_flow_check lists all problems. */
VALISE_API int valise_flow_from_config(valise_flow **out, valise *v, valise_str config,
                                       valise_backpack *bag, const valise_flow_options *options,
                                       valise_error *err);
/* Free a flow; no run of it may be going on. NULL is fine. */
VALISE_API void valise_flow_free(valise_flow *flow);

/* Add a node. config is the node as it would be in a configuration; if type is given, config needs
 * no `type`, and any node type can be used. The first node is where the flow starts.
 * VALISE_E_EXISTS: the id is taken. */
VALISE_API int valise_flow_add_node(valise_flow *flow, const struct valise_node_type *type,
                                    const char *config, valise_error *err);
/* Add a flow as a node. config: as for valise_flow_from_config, with an `id` (by default its
 * namespace). *out (may be NULL) is the inner flow, for building it further; it belongs to the
 * outer flow. */
VALISE_API int valise_flow_add_subflow(valise_flow **out, valise_flow *flow, const char *config,
                                       valise_error *err);
/* Add an edge: when node `from` ends with this action, `to` runs next. VALISE_E_EXISTS: `from` has
 * an edge for this action. */
VALISE_API int valise_flow_on(valise_flow *flow, const char *from, const char *action,
                              const char *to, valise_error *err);
/* Add an edge for the action "default". */
VALISE_API int valise_flow_next(valise_flow *flow, const char *from, const char *to,
                                valise_error *err);
/* Add an edge as it would be in a configuration, with a rule or with mappings. */
VALISE_API int valise_flow_add_edge(valise_flow *flow, const char *config, valise_error *err);

/* ---- looking ---- */

/* Check a configuration. 1: it can be run; 0: it cannot. *report is a new blob with all problems as
 * JSON: {"errors":[{"path","message","hint"?}],"warnings":[...]}. */
VALISE_API int valise_flow_check(valise_blob **report, valise *v, valise_str config,
                                 const valise_flow_options *options, valise_error *err);

/* Export a flow as the configuration that makes it again, in JSON. It equals the configuration that
 * the flow was loaded from. */
VALISE_API int valise_flow_to_config(valise_blob **out, valise_flow *flow, valise_error *err);

enum { VALISE_GRAPH_MERMAID, VALISE_GRAPH_DOT };
/* Draw a flow as a text in the language of Mermaid or Graphviz. */
VALISE_API int valise_flow_graph(valise_blob **out, valise_flow *flow, int format,
                                 valise_error *err);

/* ---- running ---- */

typedef struct valise_flow_run_options {
    size_t size;
    const char *start; /* another first node; NULL: as the flow says */
    /* A JSON object whose members the node "system" packs before the flow starts; or NULL. */
    const char *items;
    int64_t max_steps;        /* 0: as the flow says, or else 10,000 */
    valise_progress progress; /* called while it runs, on the thread that runs it */
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
    int64_t steps;    /* how many nodes ran */
    char action[129]; /* of the last node; "default" if it chose none */
    char node[257];   /* the last node; after a failure, the one that failed */
    /* After a resume: the name of the backpack that was moved aside; "": none. */
    char aside[257];
} valise_flow_result;

#define VALISE_FLOW_RESULT_INIT                                                                    \
    {                                                                                              \
        sizeof(valise_flow_result), {{0}}, 0, "", "", ""                                           \
    }

/* Run a flow to its end. bag NULL: the flow's own backpack. If bag is a snapshot, the flow runs on
 * a fork of it, under a new name; *fork gets this backpack, which the caller closes. fork may be
 * NULL if bag is not a snapshot. The function returns only when nothing of the run is going on any
 * more.
 *
 * result (may be NULL) is filled in any case. A node that fails and has no `error` edge fails the
 * run, with the node's code. VALISE_E_LIMIT: more than max_steps nodes ran, or a node exceeded its
 * timeout; VALISE_E_CANCELLED. On a durable backpack the run is recorded, and can be resumed with
 * valise_flow_resume or `valise flow resume`. */
VALISE_API int valise_flow_run(valise_flow_result *result, valise_backpack **fork,
                               valise_flow *flow, valise_backpack *bag,
                               const valise_flow_run_options *options, valise_error *err);

typedef struct valise_flow_resume_options {
    size_t size;
    valise_str actor;  /* who runs it; "": the actor of the workspace */
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

/* Resume a run of this flow that was interrupted or that failed, beginning with the node that did
 * not end; finished nodes do not run again. `run` is the id of the run, the end of that id (four
 * digits or more), or the name of its backpack, meaning the newest run on it.
 *
 * If the interrupted node has packed anything, its backpack is moved aside (result->aside), which
 * keeps these commits in its history, and a fork of the state before them takes over the name. Open
 * the backpack by its name afterwards: an earlier handle belongs to the one moved aside.
 *
 * VALISE_E_NOT_FOUND; VALISE_E_INVALID: the run has ended; VALISE_E_BUSY: somebody is running it;
 * VALISE_E_CONFLICT: it was another flow, or somebody else has written to the backpack after that
 * node, and nothing was changed. Otherwise as valise_flow_run. */
VALISE_API int valise_flow_resume(valise_flow_result *result, valise_flow *flow, const char *run,
                                  const valise_flow_resume_options *options, valise_error *err);

VALISE_END

#endif
