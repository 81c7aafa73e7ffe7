/* area.c -- the collections and operations of checkpoints. */
#include "checkpoint/checkpoint.h"

#include "checkpoint/rows.h"

static const valise_coll *const collections[] = {&vls_checkpoints, &vls_tree_contents, NULL};

const valise_extension vls_area_checkpoint = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "checkpoint",
    .version = VALISE_VERSION,
    .collections = collections,
    .operations = vls_ops_checkpoint,
};
