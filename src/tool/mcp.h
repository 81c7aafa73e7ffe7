/* mcp.h -- the Model Context Protocol as a client speaks it: JSON-RPC 2.0, a line each.
 *
 *     we                                        the server
 *     initialize                 ----------->
 *                                <-----------   its version, which must be one of ours
 *     notifications/initialized  ----------->
 *     tools/list                 ----------->   ... page by page
 *     tools/call                 ----------->
 *     {}, or "not found"         <-----------   ping; anything else it asks for
 *     notifications/cancelled    ----------->   when nobody waits for the answer any more
 *
 * Its notifications, and answers that nobody waits for, are passed over; so are lines that are no
 * messages, up to a number: what prints to its standard output by mistake is common. That its tools
 * changed is passed over too: a box has the tools it was made with.
 *
 * One call at a time: the next one waits, which its timeout does not count. A server that ended is
 * started again by the next call, once a call; what was being asked when it ended is not asked
 * again, since it may have been done. One that is late twice in a row is ended: it hangs. Between
 * calls nobody listens. */
#ifndef VLS_MCP_H
#define VLS_MCP_H

#include "tool/inside.h"

#define VLS_MCP_VERSION "2025-11-25"
#define VLS_MCP_AROUND                                                                             \
    3u /* containers around what a tool answers, which is a value like any other */

/* ---- messages (mcp_read.c): pure ---- */

typedef enum vls_mcp_kind {
    VLS_MCP_STRANGE, /* no message */
    VLS_MCP_PASSED,  /* a notification, or an answer that cannot be one for us */
    VLS_MCP_RESULT,
    VLS_MCP_ERROR,
    VLS_MCP_REQUEST,
} vls_mcp_kind;

typedef struct vls_mcp_message {
    vls_mcp_kind kind;
    int64_t id;        /* RESULT, ERROR: what we called it; 0 of an ERROR: it did not understand */
    vls_json asked_id; /* REQUEST: a string or an integer */
    valise_str method; /* REQUEST */
    vls_json body;     /* RESULT; ERROR, an object */
} vls_mcp_message;

vls_mcp_message vls_mcp_message_of(vls_json value);

/* What initialize answered. VALISE_E_IO: not a version of ours. */
int vls_mcp_take_hello(vls_json result, valise_error *err);

typedef struct vls_mcp_page {
    vls_json tools;    /* an array */
    valise_str cursor; /* of the next page; ptr NULL: there is none */
} vls_mcp_page;
int vls_mcp_take_page(vls_mcp_page *out, vls_json result, valise_error *err);

/* One of them, by its own name. */
int vls_mcp_take_tool(vls_tool *out, vls_json tool, valise_error *err);

/* A name as tools of ours have it: other characters become '_'. In memory of the arena. */
int vls_mcp_name(valise_str *out, vls_arena *arena, valise_str prefix, valise_str own,
                 valise_error *err);
static inline bool vls_tool_name_has(char c)
{
    return vls_is_alnum(c) || c == '_' || c == '-';
}

/* What tools/call answered, and its error. */
int vls_mcp_take_answer(vls_tool_answer *out, vls_arena *arena, vls_json result, valise_error *err);
int vls_mcp_fail_remote(vls_json error, valise_str server, valise_error *err);

/* ---- a server (mcp.c) ---- */

/* How long somebody waits: until end_ns at most, and for as long as look likes it. */
typedef struct vls_mcp_wait {
    int (*look)(void *arg, valise_error *err);
    void *arg;
    int64_t end_ns, looked_ns;
    bool given_up; /* the failure is what look said */
} vls_mcp_wait;

/* start lives as long as the server. Nothing runs yet. Threads: shared. */
int vls_mcp_new(vls_mcp **out, const valise_env *env, valise_str name, const vls_tool_start *start,
                valise_error *err);
void vls_mcp_free(vls_mcp *mcp);    /* it is ended and reaped */
void vls_mcp_hang_up(vls_mcp *mcp); /* before that: close its input, so that it ends by itself */
valise_str vls_mcp_called(const vls_mcp *mcp); /* its name in messages */

/* Have it for oneself, and running. release in any case once acquire succeeded. */
int vls_mcp_acquire(vls_mcp *mcp, vls_mcp_wait *wait, valise_error *err);
void vls_mcp_release(vls_mcp *mcp);

/* Ask; params: type NULL, none. The result is in memory of the arena. VALISE_E_REMOTE: it said no;
 * VALISE_E_LIMIT, VALISE_E_IO, VALISE_E_TOO_LARGE; VALISE_E_NO_MEMORY; what look said. */
int vls_mcp_ask(vls_json *out, vls_arena *arena, vls_mcp *mcp, const char *method, vls_json params,
                vls_mcp_wait *wait, valise_error *err);

#endif
