/* area.c -- the collections and operations of backpacks. */
#include "backpack/backpack.h"
#include "backpack/bag.h"

static const valise_coll *const collections[] = {&vls_bags,
                                                 &vls_bag_commits,
                                                 &vls_bag_quarantines,
                                                 &vls_bag_checkpoints,
                                                 &vls_bag_runs,
                                                 &vls_bag_permissions,
                                                 &vls_bag_rules,
                                                 &vls_bag_taints,
                                                 &vls_bag_merges,
                                                 &vls_bag_reads,
                                                 NULL};

const valise_extension vls_area_backpack = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "backpack",
    .version = VALISE_VERSION,
    .collections = collections,
    .operations = vls_ops_backpack,
};
