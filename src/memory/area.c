/* area.c -- the collections and operations of roles, preferences and context entries. */
#include "memory/area.h"

#include "memory/entry.h"
#include "memory/index.h"
#include "memory/rows.h"
#include "kernel/kernel.h"

static bool is_over(const void *row, int64_t now)
{
    return vls_entry_is_over(row, now);
}

static int status(valise_status *status, valise_view *view, valise_error *err)
{
    vls_status_gone gone = {.is = is_over};
    int rc = vls_memory_now(&gone.now, view, err);

    return rc < 0 ? rc
                  : vls_status_count(status, "memory entries", &vls_context_entries, &gone, err);
}

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
    .status = status,
    .collect = vls_entries_collect,
};
