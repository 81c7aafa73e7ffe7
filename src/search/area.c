/* area.c -- the operations of search, and what becomes of its file. */
#include "search/area.h"

const valise_extension vls_area_search = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "search",
    .version = VALISE_VERSION,
    .operations = vls_ops_search,
    .forget = vls_search_forget,
    .verify = vls_search_verify,
};
