/* change.c -- what an entry changed, as rows (change.h). */
#include "bus/change.h"

#include "base/str.h"

int vls_changes_begin(vls_changes_walk *out, vls_txn *txn, const vls_entry *entry,
                      const vls_ahead *ahead, valise_error *err)
{
    int rc;

    *out = (vls_changes_walk){.entry = entry, .ahead = ahead};
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

/* The row as the next entry that changed it found it: 1; 0 when that is not known. */
static int see_ahead(const valise_cell **cells, vls_changes_walk *walk, const vls_change *change,
                     valise_error *err)
{
    int64_t seq = vls_ahead_next(walk->ahead, walk->entry->seq, change->index);
    valise_cell found[VALISE_MAX_COLUMNS];
    valise_cell *copy = NULL;
    vls_entry entry;
    vls_image image;
    size_t at = 0;
    int rc;

    if (seq == 0)
        return 0;
    rc = vls_log_get(&entry, walk->view.txn, seq, &walk->view.arena, err);
    while (rc > 0 && (rc = vls_changes_next(&image, &at, entry.changes, err)) > 0) {
        if (image.coll == change->image.coll && vls_str_equal(image.key, change->image.key))
            break;
    }
    if (rc <= 0 || (image.from_seq ? image.from_seq : image.gone_seq) != walk->entry->seq)
        return rc < 0 ? rc : 0;
    if (image.from_seq > 0) {
        rc = vls_image_cells(found, change->coll, &image, err);
        if (rc == 0)
            rc = vls_cells_copy(&copy, found, change->coll->field_count, &walk->view.arena, err);
        if (rc < 0)
            return rc;
    }
    *cells = copy;
    return 1;
}

int vls_change_after_cells(const valise_cell **cells, vls_changes_walk *walk,
                           const vls_change *change, valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS];
    vls_seen seen = {0};
    int rc = see_ahead(cells, walk, change, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    rc = vls_key_read(key, change->coll->key_count, change->image.key, &walk->view.arena, err);
    if (rc == 0)
        rc = vls_view_see(&seen, &walk->view, change->coll, key, err);
    if (rc == 0)
        *cells = seen.row;
    return rc;
}

int vls_change_after(const void **row, vls_changes_walk *walk, const vls_change *change,
                     valise_error *err)
{
    const valise_cell *cells = NULL;
    void *made = NULL;
    int rc;

    assert(change->coll && !change->coll->foreign);
    rc = vls_change_after_cells(&cells, walk, change, err);
    if (rc == 0 && cells)
        rc = vls_row_of_cells(&made, change->coll, cells, &walk->view.arena, err);
    if (rc == 0)
        *row = made;
    return rc;
}
