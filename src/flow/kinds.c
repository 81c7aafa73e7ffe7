/* kinds.c -- the built-in node types. [F9] */
#include "flow/nodes.h"

const vls_flow_node_kind vls_flow_kinds[] = {
    {&vls_node_agent, vls_flow_agent_compose, vls_flow_agent_check},
    {&vls_node_chat, NULL, vls_chat_check},
    {&vls_node_decision, NULL, vls_decision_check},
    {&vls_node_exec, NULL, vls_exec_check},
    {&vls_node_final, NULL, vls_final_check},
    {&vls_node_map, vls_map_compose, vls_map_check},
    {&vls_node_set, NULL, vls_set_check},
    {&vls_node_subflow, vls_subflow_compose, NULL},
    {&vls_node_tool, NULL, vls_tool_check},
    {&vls_node_params, NULL, vls_params_check},
    {NULL, NULL, NULL},
};
