/* area.c -- the collections and operations of roles, preferences and context entries. */
#include "memory/area.h"

#include "memory/entry.h"
#include "memory/index.h"
#include "memory/rows.h"

static const valise_coll *const collections[] = {&vls_roles, &vls_role_versions, &vls_preferences,
                                                 &vls_context_entries, NULL};

const valise_extension vls_area_memory = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "memory",
    .version = VALISE_VERSION,
    .collections = collections,
    .operations = vls_ops_memory,
    .indexers = vls_memory_indexers,
    .collect = vls_entries_collect,
};
