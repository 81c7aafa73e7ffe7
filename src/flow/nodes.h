/* nodes.h -- what the built-in node types share.
 *
 *     node_set.c        SetNode                  node_agent.c    AgentNode: what its inside is
 *     node_decision.c   DecisionNode             agent_turn.c    ... and what the nodes in it do
 *     node_chat.c       ChatNode                 node_map.c      MapNode
 *     chat_session.c    ... in a session         fan_*.c         ... its elements, their changes
 *     node_params.c     ToolParamGenerationNode  toolset.c       the tools of a run
 *     node_tool.c       ToolExecutionNode        choose.c        a model chooses one of several
 *     node_final.c      FinalAnswerNode          gather.c        items for a prompt
 *     node_exec.c       ExecNode                 ask.c           a model is asked
 *
 * Each has a table of its params and looks at them once more when it is loaded (`check`):
 * templates, keys, actions. Templates are read as they are written, and rendered in prep, so that
 * what a node reads is read once, however often exec is tried.
 *
 * Threads: as run.h says. */
#ifndef VLS_FLOW_NODES_H
#define VLS_FLOW_NODES_H

#include "flow/ask.h"
#include "flow/template.h"
#include "json/make.h"

extern const valise_node_type vls_node_set, vls_node_decision, vls_node_chat, vls_node_params,
    vls_node_tool, vls_node_final, vls_node_exec, vls_node_agent, vls_node_map;

typedef int vls_node_check_fn(const vls_flow_node *node, valise_str path,
                              vls_flow_findings *findings, valise_error *err);
typedef int vls_node_compose_fn(vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                                valise_error *err);
extern vls_node_check_fn vls_set_check, vls_decision_check, vls_chat_check, vls_params_check,
    vls_tool_check, vls_final_check, vls_exec_check, vls_flow_agent_check, vls_map_check;
extern vls_node_compose_fn vls_flow_agent_compose, vls_map_compose;

/* ---- while they run ---- */

/* A param as it is written; null: it is not. */
static inline vls_json vls_node_written(const valise_node_run *at, const char *name)
{
    return vls_member_of(at->node->params, name);
}

/* A param that is a template, rendered: as a text ("" when it is not written), as a value (null).
 */
int vls_node_text(valise_str *out, valise_node_run *at, const char *name, valise_error *err);
int vls_node_value(vls_json *out, valise_node_run *at, const char *name, valise_error *err);

/* Memory for what prep leaves for exec and post, zeroed. */
int vls_node_data_new(void *slot, valise_node_run *at, size_t size, valise_error *err);

/* Pack as the node. A key with ptr NULL: nothing is wanted. */
int vls_node_pack(valise_node_run *at, valise_str key, vls_json value, valise_error *err);
int vls_node_choose(valise_node_run *at, valise_str action, valise_error *err);

/* What a model said, for an error: the first words of it, harmless. */
typedef struct vls_flow_said {
    char s[96];
} vls_flow_said;
vls_flow_said vls_flow_said_of(const vls_asked *asked);

/* ---- tools (toolset.c) ---- */

/* [{"name","description","inputSchema"}] of these (a JSON array of names). VALISE_E_NOT_FOUND: one
 * that nobody has. */
int vls_tools_describe(vls_json *out, vls_arena *arena, const vls_toolbox *box, vls_json names,
                       valise_error *err);
/* NULL and VALISE_E_NOT_FOUND with those there are. */
int vls_tools_find(const vls_tool **out, const vls_toolbox *box, valise_str name,
                   valise_error *err);
/* Call it, and tell who listens. As vls_toolbox_call. */
int vls_node_call_tool(vls_tool_answer *out, valise_node_run *at, vls_toolbox *box, valise_str name,
                       valise_str call_id, vls_json arguments, valise_error *err);
/* Tell who listens of a call that took so long. Of one that was refused, too. */
void vls_node_tell_call(const valise_node_run *at, valise_str name, valise_str call_id, bool failed,
                        int64_t ns);
/* {"success":false,"error":CODE,"message":...}: a tool's error as it is packed. */
int vls_tool_failure(vls_json *out, vls_arena *arena, const vls_tool_answer *answer,
                     valise_error *err);

/* ---- choosing (choose.c) ---- */

/* Have a model choose a member of `choices` (action: when to take it). VALISE_E_INVALID: what it
 * said is none of them, or more than one. */
int vls_flow_choose(valise_str *action, valise_node_run *at, const vls_ask_from *from,
                    valise_str system, valise_str prompt, vls_json choices, valise_error *err);

/* ---- items (gather.c) ---- */

/* Text blocks with items of the backpack, in the order of keys, each once: of each pattern
 * ("fact*", "ns:sales.**") what the node may read; a key must be there and be readable. An array.
 */
int vls_gather_items(vls_json *out, valise_node_run *at, vls_json patterns, valise_error *err);

/* ---- when they are loaded ---- */

typedef struct vls_checking {
    const vls_flow_node *node;
    valise_str path; /* of the params */
    vls_flow_findings *findings;
    valise_error *err;
} vls_checking;

/* What is wrong with a param, or with what lies below it ("rules[2]"); "": with all of them. */
int vls_check_fail(const vls_checking *c, const char *param, const char *hint, const char *format,
                   ...) VALISE_PRINTF(4, 5);
/* Nothing is said of a param that is not written. packed: see vls_template_check. */
int vls_check_template(const vls_checking *c, const char *param, bool packed);
int vls_check_key(const vls_checking *c, const char *param);
/* "key#/pointer". */
int vls_check_pick(const vls_checking *c, const char *param);
int vls_check_action(const vls_checking *c, const char *param);
/* Each of these: `client` and the others say one thing only, the prompt is a template. kept: it is
 * written down, so that no reference may be in it. */
int vls_check_ask(const vls_checking *c, bool kept);
bool vls_check_has(const vls_checking *c, const char *param);

#endif
