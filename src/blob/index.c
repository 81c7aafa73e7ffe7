/* index.c -- the memory index of blobs: what is known of them, and who holds them. [W16] [K16]
 *
 *     HASH                -> {sha256, size, mediaType, ...}
 *     HASH/KIND/HOLDER    -> {blob, kind, holder}
 *
 * How many hold one is how many keys begin with HASH/ (vls_pmap_count_in). */
#include "blob/index.h"

#include "base/hex.h"
#include "blob/hold.h"
#include "bus/index.h"

static int map_record(valise_index_out *out, const void *row, valise_error *err)
{
    vls_id_text key = vls_id_hex(&((const vls_blob_record *)row)->sha256);

    return vls_index_add_row(out, valise_str_of(key.s), row, vls_blob_records.fields, err);
}

static int map_hold(valise_index_out *out, const void *p, valise_error *err)
{
    const vls_blob_hold *row = p;
    VLS_AUTO(buf) vls_buf key = {0};
    int rc;

    vls_buf_init(&key, out->env, VLS_INDEX_KEY_MAX);
    vls_buf_printf(&key, "%s/%s/%.*s", vls_id_hex(&row->blob).s, vls_hold_kinds[row->kind],
                   VALISE_STR_ARG(row->holder));
    rc = vls_buf_check(&key, err);
    return rc < 0 ? rc : vls_index_add_row(out, vls_buf_str(&key), row, vls_blob_holds.fields, err);
}

static const valise_index_source sources[] = {
    {&vls_blob_records, map_record}, {&vls_blob_holds, map_hold}, {NULL, NULL}};
static const valise_indexer blobs = {sizeof(valise_indexer), "blobs",
                                     "Blobs by hash, and behind each who holds it.", sources};

const valise_indexer *const vls_blob_indexers[] = {&blobs, NULL};
