/* agent.h -- what node_agent.c and agent_turn.c share.
 *
 *     start -> decide -> tools -> decide ... -> answer
 *
 * All four are nodes of a flow inside, with the params of the agent. What they know lies in the
 * backpack, under a key of the agent's own: the messages so far. A run that was killed goes on with
 * the turn that it was in.
 *
 * Threads: immutable tables. */
#ifndef VLS_FLOW_AGENT_H
#define VLS_FLOW_AGENT_H

#include "flow/nodes.h"

#define VLS_AGENT_TURNS 10 /* when nobody says another number */
#define VLS_AGENT_TURNS_MAX 1000

typedef struct vls_flow_agent_params {
    valise_str prompt, system, into; /* ptr NULL: not said */
    valise_list tools;               /* of valise_str */
    int64_t max_turns;               /* VALISE_NONE */
    vls_ask_from from;
} vls_flow_agent_params;

extern const valise_field vls_flow_agent_fields[];
extern const valise_node_type vls_flow_agent_start, vls_flow_agent_decide, vls_flow_agent_tools,
    vls_flow_agent_answer;

/* "PATH.messages", with dots for slashes: no id has one, so no two agents share a key. */
int vls_flow_agent_key(valise_str *out, vls_arena *arena, const vls_flow_node *agent,
                       valise_error *err);

#endif
