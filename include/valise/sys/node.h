/* valise/sys/node.h -- node types: what the nodes of flows do.
 *
 *     static int post(void *node, valise_node_run *run, valise_error *err)
 *     {
 *         valise_backpack *bag = valise_node_backpack(run);
 *         int rc = valise_pack_text(NULL, bag, "greeting", "hello", NULL, err);
 *
 *         return rc < 0 ? rc : valise_node_act(run, "greeted", err);
 *     }
 *     static const valise_node_type greeter = {
 *         .size = sizeof(valise_node_type), .name = "GreetNode", .brief = "Says hello.",
 *         .segment = "greet", .post = post};
 *
 * A node runs in three phases. `prep` reads what is needed. `exec` does the work; if it fails, it
 * is tried again as often as the node's configuration says, and then `exec_fallback`, if there is
 * one, may provide a result instead. `post` packs the result and chooses the action, which
 * determines the next node. A phase leaves data for the next one in valise_node_data.
 *
 * A node reads and writes through its own view of the backpack: what it packs has its identity, and
 * its permissions apply. examples/flows/ has a program; docs/flow.md says how flows are made.
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
    valise_str params; /* a JSON object as written: references are not resolved */
    /* The struct of the type's table; NULL: the type has none. References in its texts are not
     * resolved. */
    const void *values;
} valise_node_setup;

/* One phase. 0, or a negative code with err filled: the node fails with it. */
typedef int valise_node_fn(void *node, valise_node_run *run, valise_error *err);

typedef struct valise_node_type {
    size_t size;
    const char *name;    /* [A-Za-z0-9_-]+; in an extension "extension.Name" */
    const char *brief;   /* one line with a period */
    const char *segment; /* of the namespace; NULL: that of the configuration, or else the id */
    /* What `params` may be: a table or a JSON Schema. With neither: any object. */
    const valise_field *params;
    size_t params_size;
    const char *params_schema;
    const char *const *actions;            /* that post may choose, NULL-ended; NULL: any */
    const valise_permissions *permissions; /* used if the configuration has none; NULL: none */
    void *self;

    /* All are optional. Without create, `node` is self. */
    int (*create)(void **node, void *self, const valise_node_setup *setup, valise_error *err);
    void (*destroy)(void *node);
    valise_node_fn *prep, *exec, *post;
    /* Called after the last attempt of exec failed, with its error in why. 0: go on to post. */
    int (*exec_fallback)(void *node, valise_node_run *run, const valise_error *why,
                         valise_error *err);
    /* Export the params that would make this node again: call write once, with a JSON object.
     * Without this function, they are exported as they were given. */
    int (*to_config)(void *node, int (*write)(void *arg, valise_str json, valise_error *err),
                     void *arg, valise_error *err);
} valise_node_type;

/* ---- what the phases can do ---- */

/* The node's view of the backpack, valid while the node runs. Do not close it. */
VALISE_API valise_backpack *valise_node_backpack(valise_node_run *run);
/* The workspace of the flow. */
VALISE_API valise *valise_node_workspace(valise_node_run *run);

VALISE_API valise_str valise_node_path(const valise_node_run *run); /* "agent/search" */
/* The namespace of what the node packs. */
VALISE_API valise_str valise_node_namespace(const valise_node_run *run);
VALISE_API valise_uuid valise_node_run_id(const valise_node_run *run); /* id of the flow's run */
VALISE_API int64_t valise_node_attempt(const valise_node_run *run);    /* of exec, from 1 */

/* The params of this run, with references resolved: as the struct of the type's table (NULL if
 * there is none), and as JSON. Secrets in them are for the node alone: do not pack or publish them.
 */
VALISE_API const void *valise_node_values(const valise_node_run *run);
VALISE_API int valise_node_params(valise_str *json, valise_node_run *run, valise_error *err);

/* A pointer for the node's own use, NULL at first; and memory that lives until the run of the node
 * ends. size must not be 0. */
VALISE_API void **valise_node_data(valise_node_run *run);
VALISE_API int valise_node_alloc(void **out, valise_node_run *run, size_t size, valise_error *err);

/* Choose the action; the last call counts. By default, and for "", it is "default". */
VALISE_API int valise_node_act(valise_node_run *run, const char *action, valise_error *err);

/* Whether to stop: not 0 if the run was cancelled or the node's time is up; then return soon.
 * valise_node_check says the same as an error: VALISE_E_CANCELLED, VALISE_E_LIMIT. */
VALISE_API int valise_node_cancelled(valise_node_run *run);
VALISE_API int valise_node_check(valise_node_run *run, valise_error *err);

/* The error of the previous node, if its `error` edge led here; else NULL. */
VALISE_API const valise_error *valise_node_failure(const valise_node_run *run);

/* Get a service that the host provides under this name, or under the name that the node's
 * `dependencies` map it to. VALISE_E_NOT_FOUND. Host and node must agree on what it is. */
VALISE_API int valise_node_service(const void **out, valise_node_run *run, const char *name,
                                   valise_error *err);

/* Publish a live event: a piece of what is being made (flow:STREAM_CHUNK; kind is "text",
 * "thinking" or "call"), or anything else (flow:CUSTOM, with a type of the node's own and a JSON
 * text). */
VALISE_API int valise_node_stream(valise_node_run *run, const char *kind, valise_str text,
                                  valise_error *err);
VALISE_API int valise_node_tell(valise_node_run *run, const char *type, valise_str json,
                                valise_error *err);

/* In exec: run a flow inside this node, on the same backpack. Its nodes are below this one: their
 * paths and namespaces begin with this node's. *action (may be NULL) is that of its last node,
 * valid while this node runs. */
VALISE_API int valise_node_run_flow(valise_str *action, valise_node_run *run, valise_flow *inner,
                                    valise_error *err);

VALISE_END

#endif
