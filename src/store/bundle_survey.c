/* bundle_survey.c -- what a bundle will have, before the first byte of it is written.
 *
 * The survey of a whole store reads every row and every entry once, to find the objects, blobs and
 * collections that something refers to; a bit for each object is all it remembers. A part is a list
 * of rows (bundle_part.c). */
#include "base/hex.h"
#include "store/bundle_writer.h"
#include "store/refs.h"

typedef struct marking {
    vls_bundle_writer *w;
    bool needed; /* what is named must be there */
} marking;

static int mark_object(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    const marking *m = arg;
    vls_object_info info;
    int rc = vls_object_stat(&info, m->w->txn, id, err);

    if (rc > 0)
        return vls_bits_set(&m->w->objects, info.number, err);
    if (rc == 0 && m->needed) {
        rc = vls_fail(err, VALISE_E_CORRUPT, "a row of %s names object %s, which is missing",
                      site->coll->desc->name, vls_id_hex(id).s);
        vls_hint(err, "'valise validate' looks for further damage");
    }
    return rc;
}

static int mark_blob(void *arg, const valise_id *id, valise_error *err)
{
    const marking *m = arg;
    vls_bundle_writer *w = m->w;
    bool there = m->needed;
    int rc = 0;

    if (!m->needed && w->how->blobs)
        rc = vls_blobs_exists(&there, w->how->blobs, id, err);
    if (rc == 0 && there && !vls_vec_push(&w->blobs, w->env, *id))
        rc = vls_fail_memory(err);
    return rc;
}

static int survey_row(vls_bundle_writer *w, const vls_coll *coll, const valise_cell *row,
                      int64_t seq, valise_error *err)
{
    vls_ref_site site = {.coll = coll, .seq = seq};
    marking m = {w, seq == 0};
    int rc = vls_refs_row(&w->arena, &site, row, mark_object, &m, err);

    w->used[coll->number] = true;
    return rc != 0 ? rc : vls_bundle_row_blobs(&w->arena, coll, row, mark_blob, &m, err);
}

static int survey_rows(vls_bundle_writer *w, valise_error *err)
{
    const vls_store *store = w->txn->store;
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < vls_store_coll_count(store); i++) {
        const vls_coll *coll = vls_store_coll_at(store, i);
        VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
        if (!vls_coll_is_state(coll))
            continue;
        rc = vls_txn_scan_open(&scan, w->txn, coll, (valise_range){.index = -1}, err);
        while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0) {
            rc = survey_row(w, coll, cells, 0, err);
            vls_arena_reset(&w->arena);
            if (rc == 0)
                rc = vls_progress_step(w->how->progress, 1, err);
        }
    }
    return rc;
}

static int fail_collection(int64_t number, valise_error *err)
{
    return vls_fail(err, VALISE_E_CORRUPT, "the log speaks of a collection number %lld",
                    (long long)number);
}

/* The collection of an image or a deletion. */
static const vls_coll *coll_at(const vls_bundle_writer *w, int64_t number)
{
    const vls_coll *coll = number < 0 || number >= VLS_COLL_MAX
                               ? NULL
                               : vls_store_coll_at(w->txn->store, (uint32_t)number);

    return coll && vls_coll_is_state(coll) ? coll : NULL;
}

static int survey_images(vls_bundle_writer *w, const vls_entry *entry, valise_error *err)
{
    marking m = {w, false};
    vls_image image;
    size_t at = 0;
    int rc;

    while ((rc = vls_changes_next(&image, &at, entry->changes, err)) > 0) {
        const vls_coll *coll = coll_at(w, image.coll);
        valise_cell cells[VALISE_MAX_COLUMNS];
        if (!coll)
            return fail_collection(image.coll, err);
        w->used[coll->number] = true;
        if (image.from_seq == 0)
            continue;
        rc = vls_image_cells(cells, coll, &image, err);
        if (rc == 0)
            rc = vls_bundle_row_blobs(&w->arena, coll, cells, mark_blob, &m, err);
        if (rc != 0)
            return rc;
    }
    return rc;
}

static int survey_log(vls_bundle_writer *w, valise_error *err)
{
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    marking m = {w, false};
    vls_entry entry;
    int rc = vls_log_scan_open(&scan, w->txn, 0, false, err);

    while (rc >= 0 && (rc = vls_log_scan_next(&entry, &scan, &w->arena, err)) > 0) {
        rc = survey_images(w, &entry, err);
        if (rc == 0)
            rc = vls_refs_entry(w->txn, &w->arena, &entry, mark_object, &m, err);
        vls_arena_reset(&w->arena);
        if (rc == 0)
            rc = vls_progress_step(w->how->progress, 1, err);
    }
    return rc;
}

int vls_bundle_each_gone(vls_bundle_writer *w, vls_bundle_gone_fn *fn, const vls_coll *only,
                         valise_error *err)
{
    const vls_coll *table = vls_store_coll_at(w->txn->store, VLS_TABLE_GONE);
    valise_cell equal = {.type = VALISE_CELL_INT, .as.integer = only ? only->number : 0};
    valise_range range = {.index = -1, .equal = &equal, .equal_count = only ? 1 : 0};
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell cells[VALISE_MAX_COLUMNS];
    vls_gone gone;
    int rc = vls_txn_scan_open(&scan, w->txn, table, range, err);

    while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0) {
        rc = vls_row_from_cells(&gone, table->desc->fields, sizeof(gone), cells, table->field_count,
                                &w->arena, err);
        if (rc == 0 && gone.seq > w->txn->tip.base_seq)
            rc = fn(w, &gone, err);
        vls_arena_reset(&w->arena);
    }
    return rc;
}

static int survey_gone(vls_bundle_writer *w, const vls_gone *gone, valise_error *err)
{
    const vls_coll *coll = coll_at(w, gone->coll);

    if (!coll)
        return fail_collection(gone->coll, err);
    w->used[coll->number] = true;
    return 0;
}

int vls_bundle_survey(vls_bundle_writer *w, valise_error *err)
{
    int rc;

    vls_progress_begin(w->how->progress, "look for what is needed", "rows", 0);
    if (w->whole) {
        rc = survey_rows(w, err);
        if (rc == 0)
            rc = vls_bundle_each_gone(w, survey_gone, NULL, err);
        if (rc == 0)
            rc = survey_log(w, err);
        w->blobs.len = vls_bundle_sort_ids(w->blobs.ptr, w->blobs.len);
    } else {
        rc = vls_bundle_part_close(&w->part, w->how->progress, err);
        for (size_t i = 0; i < w->part.rows.len; i++)
            w->used[w->part.rows.ptr[i]->coll->number] = true;
    }
    return rc < 0 ? rc : vls_progress_end(w->how->progress, err);
}
