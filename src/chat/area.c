/* area.c -- the collections and operations of conversations. */
#include "chat/area.h"

#include "chat/index.h"
#include "chat/rows.h"
#include "chat/sweep.h"
#include "kernel/kernel.h"

static int status(valise_status *status, valise_view *view, valise_error *err)
{
    (void)view;
    return vls_status_count(status, "sessions", &vls_sessions, NULL, err);
}

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
    .status = status,
    .collect = vls_sweep_all,
};
