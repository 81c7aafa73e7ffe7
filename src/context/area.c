/* area.c -- the collections and operations of the tree and of what is known about it. */
#include "context/context.h"

#include "context/doubt.h"
#include "context/frame.h"
#include "context/merkle.h"
#include "context/slot.h"
#include "tree/rows.h"

static const valise_coll *const collections[] = {&vls_tree_heres,
                                                 &vls_trees,
                                                 &vls_tree_versions,
                                                 &vls_tree_nodes,
                                                 &vls_merkles,
                                                 &vls_frames,
                                                 &vls_contexts,
                                                 &vls_slots,
                                                 &vls_slot_entries,
                                                 &vls_slots_closed,
                                                 &vls_slot_doubts,
                                                 &vls_doubt_bases,
                                                 NULL};

const valise_extension vls_area_context = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "context",
    .version = VALISE_VERSION,
    .collections = collections,
    .operations = vls_ops_context,
    .status = vls_context_status,
};
