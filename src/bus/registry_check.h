/* registry_check.h -- check one entry of a package by itself.
 *
 * Checks that involve other entries (names that are taken, collections that do not exist) are in
 * registry.c.
 *
 * Threads: pure functions; arenas are single. */
#ifndef VLS_REGISTRY_CHECK_H
#define VLS_REGISTRY_CHECK_H

#include <valise/sys/extension.h>

#include "base/arena.h"

#define VLS_NAME_MAX 64u /* bytes of the name of an operation, collection, middleware, ... */

/* [a-z][a-z0-9]* and any of the bytes in `more` behind the first letter; not empty, not too long.
 */
bool vls_name_is_word(valise_str name, const char *more);

/* An operation: name, alias, texts, kind, flags, functions, tables, example. What the example
 * decodes to is made in arena. VALISE_E_INVALID names the operation; err->path has the field. */
int vls_op_check(const valise_op *op, vls_arena *arena, valise_error *err);

/* A collection, but for the beginning of its name: texts, flags, table, indexes. */
int vls_coll_check(const valise_coll *coll, valise_error *err);

#endif
