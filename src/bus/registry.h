/* registry.h -- the registry of all operations, collections, middleware, indexers, processors,
 * policies, orders and node types.
 *
 * Areas of the library and extensions come in the same package, valise_extension. Errors in an
 * entry are found when it is registered, not when it is used: names that are taken, tables that
 * make no sense, an example that does not decode, a command without a capability, a command whose
 * answer would put contents into the log.
 *
 * Threads: single while it is filled, immutable afterwards. */
#ifndef VLS_REGISTRY_H
#define VLS_REGISTRY_H

#include <valise/sys/extension.h>
#include <valise/sys/node.h>

#include "base/arena.h"

typedef struct vls_registry vls_registry;

int vls_registry_new(vls_registry **out, const valise_env *env, valise_error *err);
void vls_registry_free(vls_registry *registry); /* NULL is fine */

/* Add a package. builtin: an area of the library; its names need no prefix. Members beyond the
 * package's `size` are not read. VALISE_E_UNSUPPORTED (both ABI numbers in the message),
 * VALISE_E_EXISTS, VALISE_E_INVALID: nothing of it was added. */
int vls_registry_add(vls_registry *registry, const valise_extension *package, bool builtin,
                     valise_error *err);

/* "pin:add"; NULL when there is none. near: the most similar name for a message, or NULL. */
const valise_op *vls_registry_op(const vls_registry *registry, valise_str name);
const valise_op *vls_registry_near(const vls_registry *registry, valise_str name);

/* By name; NULL when there is none. */
const valise_policy *vls_registry_policy(const vls_registry *registry, valise_str name);

/* All of them, NULL-ended; operations sorted by name, the rest in the order of registration. */
const valise_op *const *vls_registry_ops(const vls_registry *registry);

/* What a function of an operation returned. That of an extension may have failed without filling
 * err: then this says so. */
int vls_op_judge(const valise_op *op, int rc, valise_error *err);
const valise_coll *const *vls_registry_colls(const vls_registry *registry);
const valise_middleware *const *vls_registry_middleware(const vls_registry *registry);
const valise_indexer *const *vls_registry_indexers(const vls_registry *registry);
const valise_processor *const *vls_registry_processors(const vls_registry *registry);
const valise_order *const *vls_registry_orders(const vls_registry *registry);
const valise_retriever *const *vls_registry_retrievers(const vls_registry *registry);
const valise_node_type *const *vls_registry_node_types(const vls_registry *registry);
const valise_extension *const *vls_registry_packages(const vls_registry *registry);

#endif
