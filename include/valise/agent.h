/* valise/agent.h -- the workspace as one agent has it: read what is known, say something,
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
 * An adapter is a table of functions: whoever writes an agent takes one and need not know where the
 * workspace is; whoever hosts it chooses one of the two here, or fills a table of its own. Both act
 * as the agent they were made for, and as nobody else: what it may do is what the workspace says
 * (`valise agent show`), and each answer is the same from both.
 *
 * The other process is a program that the host names, such as `valise agent serve`; it is asked a
 * line of JSON and answers a line of JSON (docs/formats.md, "Agents over a pipe").
 * valise_agent_serve is the far side of that: it lets a program in any language have the workspace
 * over two descriptors.
 *
 * Threads: adapters are shared; the one that talks with a process has one call at a time, and
 * others wait. */
#ifndef VALISE_AGENT_H
#define VALISE_AGENT_H

#include <valise/context.h>
#include <valise/derive.h>

VALISE_BEGIN

struct valise_env;

typedef struct valise_agent_adapter {
    size_t size; /* sizeof(valise_agent_adapter) */
    void *self;  /* passed to all */

    /* As valise_node_get, valise_frame_put and valise_synthesize, which say what they answer and
     * which may be NULL. */
    int (*read_context)(valise_frames **out, void *self, const char *node, const char *view,
                        const valise_node_options *options, valise_error *err);
    int (*write_context)(valise_placed *out, void *self, const char *node, valise_str content,
                         const valise_frame_options *options, valise_error *err);
    int (*synthesize)(valise_derived **out, void *self, const char *node,
                      const valise_synthesize_options *options, valise_error *err);

    /* The table goes with it. Nobody is in a call any more. */
    void (*close)(void *self);
} valise_agent_adapter;

/* NULL is fine. */
VALISE_API void valise_agent_close(valise_agent_adapter *adapter);

/* ---- in this process ---- */

/* Act as this agent through a handle, which must outlive the adapter. Whether the workspace knows
 * the agent turns out at each call: VALISE_E_DENIED. */
VALISE_API int valise_agent_open(valise_agent_adapter **out, valise *v, const char *agent,
                                 valise_error *err);

/* ---- through another process ---- */

typedef struct valise_agent_process {
    size_t size;
    /* NULL-ended; the first is the program: a path, or a name to be looked for in PATH. There is no
     * shell. Naming it here is the consent that it may run. */
    const char *const *argv;
    const char *folder;           /* it starts in; NULL: in ours */
    int64_t timeout_ns;           /* of one call; 0: a minute */
    size_t max_bytes;             /* of one answer; 0: 64 MiB, which is also the most */
    const struct valise_env *env; /* NULL: the usual */
} valise_agent_process;

#define VALISE_AGENT_PROCESS_INIT                                                                  \
    {                                                                                              \
        sizeof(valise_agent_process), NULL, NULL, 0, 0, NULL                                       \
    }

/* Start the program. It has our environment, a session of its own, and none of our descriptors. Who
 * it acts as is what its words say:
 *
 *     const char *const argv[] = {"valise", "-C", dir, "agent", "serve", "--as", "planner", NULL};
 *
 * VALISE_E_IO: it cannot be started. What may happen in a call: VALISE_E_LIMIT: no answer in time;
 * VALISE_E_TOO_LARGE: more than max_bytes; VALISE_E_IO: it ended, or what it wrote is no answer to
 * what it was asked. Then the program is ended, and further calls are VALISE_E_IO; a call that
 * failed so may have been done. What the far side answers as an error is that error. */
VALISE_API int valise_agent_start(valise_agent_adapter **out, const valise_agent_process *process,
                                  valise_error *err);

/* ---- the far side ---- */

/* Answer what comes over `in` as this agent, on `out`, until `in` ends: 0. A line that makes no
 * sense is answered with an error, and the next is read. Both descriptors stay the caller's.
 * call->progress (call may be NULL; the rest of it is not for this) is asked now and then and can
 * end it: VALISE_E_CANCELLED. VALISE_E_IO where nobody reads the answers any more, or nothing can
 * be read. */
VALISE_API int valise_agent_serve(valise *v, const char *agent, int in, int out,
                                  const valise_call *call, valise_error *err);

VALISE_END

#endif
