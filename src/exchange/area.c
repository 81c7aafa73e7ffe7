/* area.c -- the operations of exchange. It has no rows of its own. */
#include "exchange/area.h"

const valise_extension vls_area_exchange = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "exchange",
    .version = VALISE_VERSION,
    .operations = vls_ops_exchange,
};
