/* area.c -- the operations that compare. */
#include "diff/diff.h"

const valise_extension vls_area_diff = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "diff",
    .version = VALISE_VERSION,
    .operations = vls_ops_diff,
};
