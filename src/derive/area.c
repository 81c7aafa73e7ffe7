/* area.c -- what is made of what is known: operations and policies, as a package. */
#include "derive/derive.h"

#include "derive/policy.h"

const valise_extension vls_area_derive = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "derive",
    .version = VALISE_VERSION,
    .operations = vls_ops_derive,
    .policies = vls_policies,
};
