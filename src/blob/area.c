/* area.c -- the collections and operations of blobs. */
#include "blob/area.h"

#include "blob/hold.h"
#include "blob/index.h"
#include "kernel/kernel.h"

static int status(valise_status *status, valise_view *view, valise_error *err)
{
    (void)view;
    return vls_status_count(status, "blobs", &vls_blob_records, NULL, err);
}

static const valise_coll *const collections[] = {&vls_blob_records, &vls_blob_holds, NULL};

const valise_extension vls_area_blob = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "blob",
    .version = VALISE_VERSION,
    .collections = collections,
    .operations = vls_ops_blob,
    .indexers = vls_blob_indexers,
    .status = status,
};
