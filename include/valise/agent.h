/* valise/agent.h -- the workspace as an agent sees it: read what is known, say something,
 * synthesize.
 *
 *     valise_agent_adapter *agent = NULL;
 *     valise_frames *known = NULL;
 *
 *     rc = valise_agent_open(&agent, v, "planner", err);            in this process, or
 *     rc = valise_agent_start(&agent, &options, err);               through another one
 *     rc = agent->read_context(&known, agent->self, "lib/date.c", NULL, NULL, err);
 *     rc = agent->write_context(NULL, agent->self, "lib/date.c", text, NULL, err);
 *     rc = agent->synthesize(NULL, agent->self, "lib", NULL, err);
 *     valise_agent_close(agent);
 *
 * An adapter is a table of functions. Code that implements an agent takes an adapter and need not
 * know where the workspace is. The host chooses one of the two adapters of this header, or fills in
 * a table of its own. Each adapter acts as one agent, which is fixed when the adapter is made; the
 * workspace determines what this agent may do (`valise agent show`). Both adapters give the same
 * answers.
 *
 * The other process is a program that the host names, such as `valise agent serve`. It receives
 * requests as lines of JSON and answers each with a line of JSON (docs/formats.md, "Agents over a
 * pipe"). valise_agent_serve is the other end: with it, a program in any language can use the
 * workspace over two descriptors.
 *
 * Threads: adapters are shared. The adapter for another process carries out one call at a time;
 * other callers wait. */
#ifndef VALISE_AGENT_H
#define VALISE_AGENT_H

#include <valise/context.h>
#include <valise/derive.h>

VALISE_BEGIN

struct valise_env;

typedef struct valise_agent_adapter {
    size_t size; /* sizeof(valise_agent_adapter) */
    void *self;  /* passed to all functions */

    /* Like valise_node_get, valise_frame_put and valise_synthesize (valise/context.h,
     * valise/derive.h), which also say what is returned and what may be NULL. */
    int (*read_context)(valise_frames **out, void *self, const char *node, const char *view,
                        const valise_node_options *options, valise_error *err);
    int (*write_context)(valise_placed *out, void *self, const char *node, valise_str content,
                         const valise_frame_options *options, valise_error *err);
    int (*synthesize)(valise_derived **out, void *self, const char *node,
                      const valise_synthesize_options *options, valise_error *err);

    /* Release the adapter, including this table. No call may be running. */
    void (*close)(void *self);
} valise_agent_adapter;

/* Close an adapter. NULL is fine. */
VALISE_API void valise_agent_close(valise_agent_adapter *adapter);

/* ---- in this process ---- */

/* Make an adapter that acts as this agent through a handle, which must outlive the adapter. Whether
 * the workspace knows the agent is checked at each call: VALISE_E_DENIED. */
VALISE_API int valise_agent_open(valise_agent_adapter **out, valise *v, const char *agent,
                                 valise_error *err);

/* ---- through another process ---- */

typedef struct valise_agent_process {
    size_t size;
    /* The program and its arguments, NULL-ended. The program is a path, or a name to be looked up
     * in PATH; no shell is involved. Naming it here is the permission to run it. */
    const char *const *argv;
    const char *folder;           /* where it starts; NULL: our current folder */
    int64_t timeout_ns;           /* for one call; 0: one minute */
    size_t max_bytes;             /* for one answer; 0: 64 MiB, the maximum */
    const struct valise_env *env; /* NULL: valise_env_default() */
} valise_agent_process;

#define VALISE_AGENT_PROCESS_INIT                                                                  \
    {                                                                                              \
        sizeof(valise_agent_process), NULL, NULL, 0, 0, NULL                                       \
    }

/* Start a program and make an adapter for it. The program inherits our environment but none of our
 * descriptors, and runs in a session of its own. Its arguments determine which agent it acts as:
 *
 *     const char *const argv[] = {"valise", "-C", dir, "agent", "serve", "--as", "planner", NULL};
 *
 * VALISE_E_IO: the program cannot be started.
 *
 * A call of the adapter fails with the error that the program answers, or with VALISE_E_LIMIT (no
 * answer in time), VALISE_E_TOO_LARGE (the answer exceeds max_bytes) or VALISE_E_IO (the program
 * ended, or what it wrote is not an answer to the request). After one of these three, the program
 * is terminated and all further calls fail with VALISE_E_IO; whether the failed call took effect is
 * unknown. */
VALISE_API int valise_agent_start(valise_agent_adapter **out, const valise_agent_process *process,
                                  valise_error *err);

/* ---- the far side ---- */

/* Serve requests as this agent: read them from `in`, write answers to `out`, and return 0 when `in`
 * ends. A line that cannot be understood is answered with an error, and serving continues. Both
 * descriptors remain the caller's. call->progress is called now and then and can stop the serving:
 * VALISE_E_CANCELLED. The other members of call are ignored; call may be NULL. VALISE_E_IO: `in`
 * cannot be read, or nobody reads the answers any more. */
VALISE_API int valise_agent_serve(valise *v, const char *agent, int in, int out,
                                  const valise_call *call, valise_error *err);

VALISE_END

#endif
