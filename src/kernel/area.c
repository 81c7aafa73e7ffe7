/* area.c -- the kernel's own collections and operations, as a package for the registry. */
#include "kernel/kernel.h"

#include "bus/actor.h"

static const valise_coll *const collections[] = {
    &vls_workspaces, &vls_actor_coll, &vls_setting_coll, &vls_pins,
    &vls_erasures,   &vls_retentions, &vls_bundles,      NULL};

const valise_extension vls_area_kernel = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "kernel",
    .version = VALISE_VERSION,
    .collections = collections,
    .operations = vls_ops_kernel,
};
