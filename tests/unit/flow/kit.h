/* kit.h -- for tests of flows as definitions: a handle, a few node types, configurations with '.
 *
 * Threads: single. */
#ifndef FLOW_KIT_H
#define FLOW_KIT_H

#include <valise/workspace.h>

#include "flow/flow.h"
#include "harness/test.h"

/* ChatNode (segment chat), SearchNode, SummaryNode and ReportNode (none), StrictNode (a table of
 * params, actions), SchemaNode (a schema), ResearchAgentNode (segment researchAgent), MadeNode
 * (create, destroy, to_config). */
extern const valise_node_type *const kit_types[];
extern int kit_made; /* MadeNodes that live now */

valise *kit_open(test *t); /* no workspace; closed when the test ends */
valise *kit_open_in(const valise_env *env, valise_error *err); /* NULL: that failed */
valise_flow_options kit_options(void);                         /* with the types */
const char *kit_quote(const char *text);                       /* ' becomes " */

/* The flow of a configuration, freed when the test ends; it must be right. */
valise_flow *kit_flow(test *t, valise *v, const char *config);
valise_flow *kit_new(test *t, valise *v, const char *namespace_name);

/* "PATH: MESSAGE (HINT)" for each error, then "warning PATH: ..." for each warning, a line each. */
const char *kit_check(test *t, valise *v, const char *config);

const char *kit_config_of(test *t, valise_flow *flow);  /* exported */
const char *kit_canonical(test *t, const char *config); /* as it would be exported */
const char *kit_draw(test *t, valise_flow *flow, int format);

/* "path namespace" of all nodes, a line each. */
const char *kit_names(const valise_flow *flow);

#endif
