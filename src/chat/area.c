/* area.c -- the collections and operations of conversations. */
#include "chat/area.h"

#include "chat/index.h"
#include "chat/rows.h"
#include "chat/sweep.h"

static const valise_coll *const collections[] = {&vls_sessions, &vls_tips,  &vls_turns, &vls_edges,
                                                 &vls_nodes,    &vls_loose, NULL};

const valise_extension vls_area_chat = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "chat",
    .version = VALISE_VERSION,
    .collections = collections,
    .operations = vls_ops_chat,
    .indexers = vls_chat_indexers,
    .collect = vls_sweep_all,
};
