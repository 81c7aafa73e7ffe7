/* change.c -- what an entry changed, as rows (change.h). */
#include "bus/change.h"

int vls_changes_begin(vls_changes_walk *out, vls_txn *txn, const vls_entry *entry,
                      valise_error *err)
{
    int rc;

    *out = (vls_changes_walk){.entry = entry};
    vls_view_init(&out->view, txn, vls_store_env(txn->store));
    rc = vls_view_go_to(&out->view, entry->seq, err);
    if (rc < 0)
        vls_changes_end(out);
    return rc;
}

void vls_changes_end(vls_changes_walk *walk)
{
    vls_view_release(&walk->view);
}

int vls_changes_step(vls_change *out, vls_changes_walk *walk, valise_error *err)
{
    vls_image image;
    int rc = vls_changes_next(&image, &walk->at, walk->entry->changes, err);

    if (rc <= 0)
        return rc;
    *out = (vls_change){
        .coll = vls_store_coll_at(walk->view.txn->store, image.coll),
        .index = ++walk->index,
        .image = image,
    };
    return 1;
}

int vls_image_cells(valise_cell *cells, const vls_coll *coll, const vls_image *image,
                    valise_error *err)
{
    size_t count;

    for (uint16_t i = 0; i < coll->field_count; i++)
        cells[i] = (valise_cell){.type = VALISE_CELL_NULL};
    return vls_cells_read(cells, &count, coll->field_count, image->cells, err);
}

int vls_row_of_cells(void **row, const vls_coll *coll, const valise_cell *cells, vls_arena *arena,
                     valise_error *err)
{
    const valise_coll *desc = coll->desc;
    void *made = vls_arena_zalloc(arena, desc->row_size);
    int rc;

    if (!made)
        return vls_arena_fail(arena, err);
    rc = vls_row_from_cells(made, desc->fields, desc->row_size, cells, coll->field_count, arena,
                            err);
    if (rc == 0)
        *row = made;
    return rc;
}

int vls_change_before(const void **row, vls_changes_walk *walk, const vls_change *change,
                      valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    void *made;
    int rc;

    assert(change->coll && !change->coll->foreign);
    if (change->image.from_seq == 0) {
        *row = NULL;
        return 0;
    }
    rc = vls_image_cells(cells, change->coll, &change->image, err);
    if (rc == 0)
        rc = vls_row_of_cells(&made, change->coll, cells, &walk->view.arena, err);
    if (rc == 0)
        *row = made;
    return rc;
}

int vls_change_after(const void **row, vls_changes_walk *walk, const vls_change *change,
                     valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS];
    vls_seen seen = {0};
    void *made = NULL;
    int rc;

    assert(change->coll && !change->coll->foreign);
    rc = vls_key_read(key, change->coll->key_count, change->image.key, &walk->view.arena, err);
    if (rc == 0)
        rc = vls_view_see(&seen, &walk->view, change->coll, key, err);
    if (rc == 0 && seen.row)
        rc = vls_row_of_cells(&made, change->coll, seen.row, &walk->view.arena, err);
    if (rc == 0)
        *row = made;
    return rc;
}
