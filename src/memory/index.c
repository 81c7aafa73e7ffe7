/* index.c -- memory indexes of roles, preferences and entries. [W16] [K16]
 *
 *     roles         name              -> {name, version, topics, ...}
 *     preferences   id                -> {id, scope, of, slot, ...}
 *     context       key               -> {key, type, topics, expires, ...}
 *
 * An entry says what its row does, with ids where the row has contents. */
#include "memory/index.h"

#include "base/hex.h"
#include "bus/index.h"
#include "memory/rows.h"

static int map_role(valise_index_out *out, const void *row, valise_error *err)
{
    return vls_index_add_row(out, ((const vls_role_row *)row)->name, row, vls_roles.fields, err);
}

static int map_preference(valise_index_out *out, const void *row, valise_error *err)
{
    vls_uuid_string id = vls_uuid_text(&((const vls_preference_row *)row)->id);

    return vls_index_add_row(out, valise_str_of(id.s), row, vls_preferences.fields, err);
}

static int map_entry(valise_index_out *out, const void *row, valise_error *err)
{
    return vls_index_add_row(out, ((const vls_context_entry_row *)row)->key, row,
                             vls_context_entries.fields, err);
}

static const valise_index_source role_sources[] = {{&vls_roles, map_role}, {NULL, NULL}};
static const valise_index_source preference_sources[] = {{&vls_preferences, map_preference},
                                                         {NULL, NULL}};
static const valise_index_source entry_sources[] = {{&vls_context_entries, map_entry},
                                                    {NULL, NULL}};

static const valise_indexer roles = {sizeof(valise_indexer), "roles", "Roles by name.",
                                     role_sources};
static const valise_indexer preferences = {sizeof(valise_indexer), "preferences",
                                           "Preferences by id.", preference_sources};
static const valise_indexer entries = {sizeof(valise_indexer), "context", "Context entries by key.",
                                       entry_sources};

const valise_indexer *const vls_memory_indexers[] = {&roles, &preferences, &entries, NULL};
