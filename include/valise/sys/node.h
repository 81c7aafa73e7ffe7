/* valise/sys/node.h -- node types: what the nodes of flows do.
 *
 *     static int post(void *node, valise_node_run *run, valise_error *err)
 *     {
 *         int rc = valise_pack(NULL, valise_node_backpack(run), "greeting", "\"hello\"", NULL,
 * err);
 *
 *         return rc < 0 ? rc : valise_node_act(run, "greeted", err);
 *     }
 *     static const valise_node_type greeter = {
 *         .size = sizeof(valise_node_type), .name = "GreetNode", .brief = "Says hello.",
 *         .segment = "greet", .post = post};
 *
 * A node runs in three phases. `prep` reads what is needed; `exec` does the work, and is tried
 * again when it fails, as the node's configuration says; then `exec_fallback`, if there is one, may
 * give what exec could not; `post` packs what came of it and chooses the action, which chooses the
 * next node. What one phase leaves for the next hangs at valise_node_data.
 *
 * A node reads and writes through its own view of the backpack: what it packs carries its identity,
 * and its permissions hold. examples/flows/ has a program; docs/flow.md says how flows are made.
 *
 * Threads: types are immutable. A node may run in several threads at once, for several runs of its
 * flow; a run of a node is single. */
#ifndef VALISE_SYS_NODE_H
#define VALISE_SYS_NODE_H

#include <stdbool.h>

#include <valise/backpack.h>
#include <valise/error.h>
#include <valise/sys/field.h>

VALISE_BEGIN

typedef struct valise valise;
typedef struct valise_flow valise_flow;
typedef struct valise_node_run valise_node_run;

/* What a node is made from. Texts live as long as the flow. */
typedef struct valise_node_setup {
    size_t size;
    valise_str id, type;
    valise_str params;  /* JSON, an object, as it is written: references are not resolved */
    const void *values; /* the struct of the type's table; NULL: it has none. Texts with references
                           are as they are written */
} valise_node_setup;

/* One phase: 0, or a negative code with err filled, which is the node's failure. */
typedef int valise_node_fn(void *node, valise_node_run *run, valise_error *err);

typedef struct valise_node_type {
    size_t size;
    const char *name;    /* [A-Za-z0-9_-]+; of an extension "extension.Name" */
    const char *brief;   /* one line with a period */
    const char *segment; /* of the namespace; NULL: that of the configuration, else the id */
    /* What `params` may be: a table, or a JSON Schema. Neither: any object. */
    const valise_field *params;
    size_t params_size;
    const char *params_schema;
    const char *const *actions;            /* that post may choose, NULL-ended; NULL: any */
    const valise_permissions *permissions; /* where the configuration has none; NULL: none */
    void *self;

    /* All optional. Without create, node is self. */
    int (*create)(void **node, void *self, const valise_node_setup *setup, valise_error *err);
    void (*destroy)(void *node);
    valise_node_fn *prep, *exec, *post;
    /* exec failed for good: why. 0: go on to post. */
    int (*exec_fallback)(void *node, valise_node_run *run, const valise_error *why,
                         valise_error *err);
    /* The params that would make this node again: write is called once with a JSON object. Without
     * it they are exported as they were given. */
    int (*to_config)(void *node, int (*write)(void *arg, valise_str json, valise_error *err),
                     void *arg, valise_error *err);
} valise_node_type;

/* ---- what the phases can do ---- */

/* The node's view; valid while the node runs. Not to be closed. */
VALISE_API valise_backpack *valise_node_backpack(valise_node_run *run);
VALISE_API valise *valise_node_workspace(valise_node_run *run);

VALISE_API valise_str valise_node_path(const valise_node_run *run); /* "agent/search" */
VALISE_API valise_str valise_node_namespace(const valise_node_run *run);
VALISE_API valise_uuid valise_node_run_id(const valise_node_run *run); /* of the flow's run */
VALISE_API int64_t valise_node_attempt(const valise_node_run *run);    /* of exec, from 1 on */

/* The params of this run, with references resolved: the struct of the type's table (NULL without
 * one), and JSON. Resolved secrets are the node's business alone: do not pack or tell them. */
VALISE_API const void *valise_node_values(const valise_node_run *run);
VALISE_API int valise_node_params(valise_str *json, valise_node_run *run, valise_error *err);

/* A pointer of the node's own, NULL at first, and memory until its run is over. size is not 0. */
VALISE_API void **valise_node_data(valise_node_run *run);
VALISE_API int valise_node_alloc(void **out, valise_node_run *run, size_t size, valise_error *err);

/* Choose the action; the last one counts. None, or "": "default". */
VALISE_API int valise_node_act(valise_node_run *run, const char *action, valise_error *err);

/* Not 0: the run is cancelled, or the node's time is over: return soon. And as an error:
 * VALISE_E_CANCELLED, VALISE_E_LIMIT. */
VALISE_API int valise_node_cancelled(valise_node_run *run);
VALISE_API int valise_node_check(valise_node_run *run, valise_error *err);

/* Why the node before this one failed, where its `error` edge led here; NULL. */
VALISE_API const valise_error *valise_node_failure(const valise_node_run *run);

/* A service that the host gave under this name (or under the name that the node's `dependencies`
 * give to it): VALISE_E_NOT_FOUND. What it is is between host and node. */
VALISE_API int valise_node_service(const void **out, valise_node_run *run, const char *name,
                                   valise_error *err);

/* Tell who listens: a piece of what is being made (flow:STREAM_CHUNK; kind is "text", "thinking" or
 * "call"), or anything else (flow:CUSTOM, with a type of the node's own and a JSON text). */
VALISE_API int valise_node_stream(valise_node_run *run, const char *kind, valise_str text,
                                  valise_error *err);
VALISE_API int valise_node_tell(valise_node_run *run, const char *type, valise_str json,
                                valise_error *err);

/* In exec: run a flow inside of this node, on the same backpack. Its nodes lie below this one:
 * paths and namespaces go on from here. *action: of its last node, valid while this node runs; may
 * be NULL. */
VALISE_API int valise_node_run_flow(valise_str *action, valise_node_run *run, valise_flow *inner,
                                    valise_error *err);

VALISE_END

#endif
