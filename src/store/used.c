/* used.c -- see used.h. */
#include "store/used.h"

#include "base/hash.h"
#include "store/place.h"

#define SOURCE "source"

/* The number of the key field that tells the source; -1: there is none. */
static int source_field(const vls_coll *coll)
{
    if (coll->own || coll->foreign || !(coll->desc->flags & VALISE_COLL_WITNESS))
        return -1;
    for (uint16_t i = 0; i < coll->key_count; i++)
        if (strcmp(coll->desc->fields[i].name, SOURCE) == 0 &&
            coll->desc->fields[i].type == VALISE_T_ID && vls_coll_index(coll, SOURCE) >= 0)
            return i;
    return -1;
}

void vls_used_source(valise_id *out, valise_str text)
{
    vls_hasher hasher;

    vls_hash_begin_tagged(&hasher, "valise.source.1");
    vls_hash_field(&hasher, text);
    vls_hash_end(out, &hasher);
}

int vls_used_source_of(valise_id *out, const vls_coll *coll, const valise_cell *key,
                       vls_arena *arena, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, arena->env, VLS_VIEW_MAX_BYTES);
    vls_place_write(&text, coll, key);
    rc = vls_buf_check(&text, err);
    if (rc == 0)
        vls_used_source(out, vls_buf_str(&text));
    return rc;
}

/* ---- rows ---- */

static int scan_source(valise_scan **out, valise_view *view, const vls_coll *coll,
                       const valise_id *source, valise_error *err)
{
    const valise_cell first = {VALISE_CELL_BLOB,
                               {.bytes = vls_str(source->bytes, sizeof(source->bytes))}};
    const valise_range range = {
        .index = vls_coll_index(coll, SOURCE), .equal = &first, .equal_count = 1};

    return vls_view_scan(out, view, coll, &range, err);
}

int vls_used_has(valise_view *view, const valise_id *source, valise_error *err)
{
    const vls_store *store = view->txn->store;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < vls_store_coll_count(store); i++) {
        const vls_coll *coll = vls_store_coll_at(store, i);
        const valise_cell *row = NULL;
        valise_scan *scan = NULL;

        if (source_field(coll) < 0)
            continue;
        rc = scan_source(&scan, view, coll, source, err);
        if (rc == 0)
            rc = vls_scan_next_cells(&row, NULL, scan, err);
        valise_scan_close(scan);
    }
    return rc;
}

static int forget(valise_view *view, const valise_id *source, valise_error *err)
{
    const vls_store *store = view->txn->store;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < vls_store_coll_count(store); i++) {
        const vls_coll *coll = vls_store_coll_at(store, i);
        const valise_cell *row = NULL;
        valise_scan *scan = NULL;

        if (source_field(coll) < 0)
            continue;
        rc = scan_source(&scan, view, coll, source, err);
        while (rc == 0 && (rc = vls_scan_next_cells(&row, NULL, scan, err)) > 0)
            rc = vls_view_delete_cells(view, coll, row, err);
        valise_scan_close(scan);
    }
    return rc;
}

int vls_used_by_row(valise_id *out, valise_view *view, const valise_coll *desc, const void *row,
                    valise_error *err)
{
    const vls_coll *coll = vls_store_coll(view->txn->store, desc);
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = vls_row_to_cells(cells, row, desc->fields, &view->arena, err);

    return rc < 0 ? rc : vls_used_source_of(out, coll, cells, &view->arena, err);
}

int vls_used_forget_row(valise_view *view, const valise_coll *desc, const void *row,
                        valise_error *err)
{
    valise_id source;
    int rc = vls_used_by_row(&source, view, desc, row, err);

    return rc < 0 ? rc : forget(view, &source, err);
}

int vls_used_told(valise_id *out, const vls_coll *coll, valise_str key, vls_arena *arena,
                  valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    vls_arena_mark mark = vls_arena_here(arena);
    int at = source_field(coll), rc;

    if (at < 0)
        return 0;
    rc = vls_key_read(cells, coll->key_count, key, arena, err);
    if (rc == 0 && cells[at].type == VALISE_CELL_BLOB && cells[at].as.bytes.len == sizeof(*out)) {
        memcpy(out->bytes, cells[at].as.bytes.ptr, sizeof(*out));
        rc = 1;
    }
    vls_arena_rewind(arena, mark);
    return rc;
}
