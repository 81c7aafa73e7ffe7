/* index_move.c -- an index from one state of the log to another, forwards and back (index.h). */
#include "bus/index.h"

static int collect_image(vls_overlay *changed, vls_arena *keep, const vls_coll *coll,
                         const vls_image *image, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    valise_cell *copy = NULL;
    vls_overlay_row *row;
    int rc = 0;

    if (vls_overlay_get(changed, coll, image->key))
        return 0;
    if (image->from_seq > 0) {
        rc = vls_image_cells(cells, coll, image, err);
        if (rc == 0)
            rc = vls_cells_copy(&copy, cells, coll->field_count, keep, err);
    }
    if (rc == 0)
        rc = vls_overlay_add(&row, changed, keep, coll, image->key, err);
    if (rc == 0)
        row->before = copy;
    return rc;
}

/* Erasures rewrite images, also that of the erasing entry itself: what a row made before can then
 * not be told from the log any more. Each leaves a row in this collection. */
static bool is_erasure(const vls_image *image, const vls_store *store)
{
    const vls_coll *erasures = vls_store_coll_named(store, VLS_STR("erasure"));

    return erasures && image->coll == erasures->number;
}

static int lists_erasure(bool *out, const vls_entry *entry, const vls_store *store,
                         valise_error *err)
{
    vls_image image;
    size_t at = 0;
    int rc = 0;

    *out = false;
    while (!*out && (rc = vls_changes_next(&image, &at, entry->changes, err)) > 0)
        *out = is_erasure(&image, store);
    return *out ? 0 : rc;
}

int vls_index_erased(bool *out, vls_txn *txn, int64_t from, valise_error *err)
{
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    bool found = false;
    vls_entry entry;
    int rc = vls_log_scan_open(&scan, txn, from, false, err);

    vls_arena_init(&arena, vls_store_env(txn->store), VLS_VIEW_MAX_BYTES);
    while (rc >= 0 && !found && (rc = vls_log_scan_next(&entry, &scan, &arena, err)) > 0) {
        rc = lists_erasure(&found, &entry, txn->store, err);
        vls_arena_reset(&arena);
    }
    if (rc >= 0)
        *out = found;
    return rc < 0 ? rc : 0;
}

static int collect_entry(vls_overlay *changed, vls_arena *keep, const vls_index *index,
                         const vls_entry *entry, valise_error *err)
{
    vls_image image;
    size_t at = 0;
    int rc;

    while ((rc = vls_changes_next(&image, &at, entry->changes, err)) > 0) {
        const vls_coll *coll = vls_store_coll_at(index->store, image.coll);
        if (!coll || !vls_index_follows(index, coll))
            continue;
        rc = collect_image(changed, keep, coll, &image, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

/* The rows of our sources that entries (from, to] changed, each once, with the row as it was at
 * `from` (before). 1 when the log does not tell: an erasure went over it, or it has a hole. */
static int collect(vls_overlay *changed, vls_arena *keep, const vls_index *index, vls_txn *txn,
                   int64_t from, int64_t to, valise_error *err)
{
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    bool erased = false;
    vls_entry entry;
    int rc;

    if (from < txn->tip.base_seq)
        return 1;
    vls_arena_init(&arena, keep->env, VLS_VIEW_MAX_BYTES);
    rc = vls_log_scan_open(&scan, txn, from + 1, false, err);
    for (int64_t seq = from + 1; rc >= 0 && seq <= txn->tip.seq; seq++) {
        rc = vls_log_scan_next(&entry, &scan, &arena, err);
        if (rc == 0 || (rc > 0 && entry.seq != seq))
            return 1;
        if (rc > 0)
            rc = lists_erasure(&erased, &entry, txn->store, err);
        if (rc == 0 && erased)
            return 1;
        if (rc == 0 && seq <= to)
            rc = collect_entry(changed, keep, index, &entry, err);
        vls_arena_reset(&arena);
    }
    return rc < 0 ? rc : 0;
}

static int move_row(vls_pmap *map, const vls_index_move *m, const vls_overlay_row *changed,
                    valise_view *view, vls_arena *arena, valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS];
    const valise_cell *older = changed->before;
    vls_seen seen = {0};
    int rc = vls_key_read(key, changed->coll->key_count, changed->key, &view->arena, err);

    if (rc == 0)
        rc = vls_view_see(&seen, view, changed->coll, key, err);
    if (rc < 0)
        return rc;
    return vls_index_exchange(map, m->index, changed->coll, m->back ? seen.row : older,
                              m->back ? older : seen.row, changed->key, arena, err);
}

static int move_rows(vls_pmap *map, const vls_index_move *m, const vls_overlay *changed,
                     valise_error *err)
{
    VLS_AUTO(view) valise_view view = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    int rc;

    vls_view_init(&view, m->txn, map->env);
    vls_arena_init(&arena, map->env, VLS_VIEW_MAX_BYTES);
    rc = vls_view_go_to(&view, m->newer, err);
    for (size_t i = 0; rc == 0 && i < changed->rows.len; i++) {
        rc = move_row(map, m, changed->rows.ptr[i], &view, &arena, err);
        vls_arena_reset(&arena);
    }
    return rc;
}

int vls_index_move_map(vls_pmap *map, const vls_index_move *m, valise_error *err)
{
    VLS_AUTO(arena) vls_arena keep = {0};
    vls_overlay changed;
    int rc;

    vls_arena_init(&keep, map->env, VLS_VIEW_MAX_BYTES);
    vls_overlay_init(&changed, map->env);
    rc = collect(&changed, &keep, m->index, m->txn, m->older, m->newer, err);
    if (rc == 0)
        rc = move_rows(map, m, &changed, err);
    vls_overlay_release(&changed);
    return rc;
}
