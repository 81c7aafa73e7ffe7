/* area.c -- the collections and operations of backpacks. */
#include "backpack/backpack.h"
#include "backpack/bag.h"
#include "kernel/kernel.h"

static bool is_dropped(const void *row, int64_t now)
{
    (void)now;
    return ((const vls_bag_row *)row)->dropped;
}

static int status(valise_status *status, valise_view *view, valise_error *err)
{
    static const vls_status_gone gone = {.is = is_dropped};

    (void)view;
    return vls_status_count(status, "backpacks", &vls_bags, &gone, err);
}

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
    .status = status,
};
