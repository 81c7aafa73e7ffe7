/* nodes_kit.h -- flows from configurations, run on backpacks, with models that answer from files.
 *
 * Configurations and answers are written with ' for ". */
#ifndef TEST_FLOW_NODES_KIT_H
#define TEST_FLOW_NODES_KIT_H

#include <valise/flow.h>
#include <valise/sys/client.h>
#include <valise/sys/node.h>
#include <valise/sys/tool.h>

#include "backpack/api_kit.h"

const char *quoted(const char *text); /* ' becomes " */

/* A new file of answers; its path. */
const char *answers_of(const char *lines);
/* {"answer":{"blocks":[{"type":"text","text":...}]}}, and one that calls a tool. */
const char *says(const char *text);
const char *calls(const char *id, const char *tool, const char *args);

/* A program in the folder of the test's flows. */
void put_program(const char *name, const char *script);

/* Loaded with the host's word for its programs; freed when the test ends. Must be right. */
valise_flow *flow_of(desk *d, const char *config);
valise_flow *flow_with(desk *d, const char *config, const valise_service *services);

/* Nodes alone: "'nodes':[...]" and what else stands in the flow. */
valise_flow *nodes_of(desk *d, const char *nodes, const char *edges);

/* "ACTION at NODE", or "CODE: message". */
const char *ran(desk *d, valise_flow *flow, valise_backpack *bag);

/* What `check` says is wrong with a node's params: "PATH: MESSAGE", the first; "" when nothing is.
 */
const char *wrong(desk *d, const char *node);

#endif
