/* config.h -- what the readers of a configuration share: objects, member by member.
 *
 *     config.c            levels: a flow, its subflows, lists of nodes and edges
 *     config_node.c       one node
 *     config_params.c     its params, against what its type says
 *     config_contract.c   what it takes and gives, and which services
 *     config_edge.c       one edge
 *     config_rule.c       which keys a rule names
 *     config_need.c       dependencies that the flow declares
 *
 * A reader is a table of members and the functions that take them. What is wrong becomes a finding
 * with its path, and reading goes on; a code below 0 is only for what nobody can say anything
 * about.
 *
 * Threads: single. */
#ifndef VLS_FLOW_CONFIG_H
#define VLS_FLOW_CONFIG_H

#include "flow/flow.h"

typedef struct vls_config_reading {
    valise_flow *flow; /* the level */
    vls_flow_node *node;
    vls_flow_edge *edge;
    vls_flow_dependency *dependency;
    vls_flow_findings *findings;
} vls_config_reading;

typedef int vls_config_fn(vls_config_reading *r, vls_json value, valise_str path,
                          valise_error *err);

typedef struct vls_config_member {
    const char *name;  /* NULL ends the table */
    vls_config_fn *fn; /* NULL: it is known, and somebody else's */
} vls_config_member;

/* Call each member's function; members that are not in the table are findings, and so is a value
 * that is no object. what: "a node". */
int vls_config_object(vls_config_reading *r, vls_json value, const vls_config_member *table,
                      const char *what, valise_str path, valise_error *err);

/* ---- places ---- */

#define VLS_PLACE_MAX 1024u
typedef struct vls_config_place {
    char s[VLS_PLACE_MAX];
} vls_config_place;

/* The path of a member ("nodes" and "id": "nodes.id"), or of an item ("nodes[3]"). */
valise_str vls_config_place_member(vls_config_place *room, valise_str path, valise_str name);
valise_str vls_config_place_item(vls_config_place *room, valise_str path, size_t index);

/* ---- values ---- */

/* 1: it is one, and *out has it; 0: it is not, and that was said. */
int vls_flow_config_text(valise_str *out, vls_config_reading *r, vls_json value, valise_str path,
                         valise_error *err);
int vls_config_truth(bool *out, vls_config_reading *r, vls_json value, valise_str path,
                     valise_error *err);
int vls_config_duration(int64_t *out, vls_config_reading *r, vls_json value, valise_str path,
                        valise_error *err);
int vls_config_int(int64_t *out, vls_config_reading *r, vls_json value, int64_t min, int64_t max,
                   valise_str path, valise_error *err);
/* A list of texts that are not empty and have no NUL. */
int vls_config_texts(const valise_str **out, size_t *count, vls_config_reading *r, vls_json value,
                     size_t max, valise_str path, valise_error *err);
int vls_config_any(vls_config_reading *r, vls_json value, valise_str path, valise_error *err);

/* [A-Za-z0-9_-]+, 64 at most: ids and segments. what: "an id". */
bool vls_flow_is_id(valise_str id);
int vls_config_id(valise_str *out, vls_config_reading *r, vls_json value, const char *what,
                  valise_str path, valise_error *err);
/* Segments with dots between. */
bool vls_flow_is_namespace(valise_str name);
bool vls_flow_is_action(valise_str action);

/* "did you mean 'search'?" in room, or "". */
typedef struct vls_nearby {
    char s[160];
} vls_nearby;
void vls_config_near(vls_nearby *room, const char *best);

/* ---- the readers ---- */

/* path: of the params. 1: they are as the type wants them; 0: they are not, and that was said. */
int vls_config_params(vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                      valise_error *err);
/* The same of any object against a table, all that is wrong at once. */
int vls_config_table(void *values, const valise_field *fields, size_t size, vls_json given,
                     vls_arena *arena, valise_str path, vls_flow_findings *findings,
                     valise_error *err);
/* Each reference in the texts of a value that is none, with its place. 0. */
int vls_config_references(vls_json value, valise_str path, vls_flow_findings *findings,
                          valise_error *err);
vls_config_fn vls_config_inputs, vls_config_outputs, vls_config_needs, vls_config_dependencies;

/* Which keys a rule names. In the arena; *out NULL: it cannot be said. */
int vls_rule_reads(const valise_str **out, size_t *count, vls_arena *arena, vls_json rule,
                   valise_error *err);

/* The node is in its level for good, or it is not any more (the newest one only). */
int vls_flow_keep_node(vls_flow_node *node, valise_error *err);
void vls_flow_drop_node(vls_flow_node *node);
int vls_flow_keep_edge(valise_flow *flow, vls_flow_edge *edge, valise_error *err);
/* The edge of this level with this action; NULL. */
vls_flow_edge *vls_flow_find_edge(const valise_flow *flow, valise_str from, valise_str action);
void vls_type_schemas_free(valise_flow *outermost);

/* The name at hand that is most like the id: up to so many are looked at. NULL: none. */
void vls_flow_near_node(vls_nearby *room, const valise_flow *flow, valise_str id);

#endif
