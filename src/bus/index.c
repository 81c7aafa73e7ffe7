/* index.c -- memory indexes: opening, loading, and the state that a reader sees (index.h).
 *
 * Start reading at vls_index_read. */
#include "bus/index.h"

#include "base/mem.h"
#include "base/text.h"

/* ---- from scratch ---- */

static int build_source(vls_pmap *map, vls_index *index, size_t source, valise_view *view,
                        _Atomic uint64_t *rows, const atomic_bool *stop, valise_error *err)
{
    const vls_coll *coll = index->colls[source];
    const valise_range all = {.index = -1};
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf key = {0};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    const valise_cell *cells;
    int rc = vls_view_scan(&scan, view, coll, &all, err);

    vls_arena_init(&arena, map->env, VLS_VIEW_MAX_BYTES);
    vls_buf_init(&key, map->env, VLS_VIEW_MAX_BYTES);
    while (rc >= 0 && (rc = vls_scan_next_cells(&cells, NULL, scan, err)) > 0) {
        vls_buf_clear(&key);
        vls_key_write(&key, cells, coll->key_count);
        rc = vls_buf_check(&key, err);
        if (rc == 0)
            rc = vls_index_exchange_source(map, index, source, NULL, cells, vls_buf_str(&key),
                                           &arena, err);
        vls_arena_reset(&arena);
        if (rows)
            atomic_fetch_add_explicit(rows, 1, memory_order_relaxed);
        if (rc == 0 && stop && atomic_load_explicit(stop, memory_order_relaxed))
            rc = vls_fail(err, VALISE_E_CANCELLED, "cancelled");
    }
    return rc;
}

int vls_index_build(vls_pmap *map, vls_index *index, valise_view *view, _Atomic uint64_t *rows,
                    const atomic_bool *stop, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < index->source_count; i++)
        rc = build_source(map, index, i, view, rows, stop, err);
    return rc;
}

/* What view sees, into a new map. */
int vls_index_load(vls_pmap *out, vls_index *index, valise_view *view, valise_error *err)
{
    VLS_AUTO(pmap) vls_pmap map = {0};
    int rc;

    vls_pmap_init(&map, vls_store_env(index->store), &vls_index_items);
    rc = vls_index_build(&map, index, view, NULL, NULL, err);
    if (rc < 0)
        return rc;
    *out = map;
    map = (vls_pmap){0};
    return 0;
}

/* ---- moving on ---- */

void vls_index_set(vls_index *index, vls_pmap *map, int64_t seq)
{
    vls_pmap_release(&index->map);
    index->map = *map;
    index->seq = seq;
    index->loaded = true;
    *map = (vls_pmap){0};
}

static int reload(vls_index *index, vls_txn *txn, valise_error *err)
{
    VLS_AUTO(view) valise_view view = {0};
    vls_pmap map;
    int rc;

    vls_view_init(&view, txn, vls_store_env(index->store));
    rc = vls_index_load(&map, index, &view, err);
    if (rc == 0)
        vls_index_set(index, &map, txn->tip.seq);
    return rc;
}

/* Bring the index to the state of txn; lock held. */
static int advance(vls_index *index, vls_txn *txn, valise_error *err)
{
    const vls_index_move m = {index, txn, index->seq, txn->tip.seq, false};
    VLS_AUTO(pmap) vls_pmap map = {0};
    int rc;

    if (!index->loaded)
        return reload(index, txn, err);
    if (index->seq >= txn->tip.seq)
        return 0;
    vls_pmap_snapshot(&map, &index->map);
    rc = vls_index_move_map(&map, &m, err);
    if (rc == 0)
        vls_index_set(index, &map, txn->tip.seq);
    return rc > 0 ? reload(index, txn, err) : rc;
}

void vls_indexes_forget(vls_indexes *indexes)
{
    for (size_t i = 0; i < indexes->count; i++) {
        vls_index *index = &indexes->items[i];
        pthread_mutex_lock(&index->lock);
        vls_pmap_release(&index->map);
        index->map = (vls_pmap){0};
        index->loaded = false;
        pthread_mutex_unlock(&index->lock);
    }
}

/* ---- as a view sees it ---- */

/* What it was like at an earlier state than map has, which is of seq. */
static int go_back(vls_pmap *map, int64_t seq, vls_index *index, valise_view *view,
                   valise_error *err)
{
    VLS_AUTO(txn) vls_txn later = {0};
    vls_index_move m = {index, view->txn, view->at, seq, true};
    vls_pmap loaded;
    int rc = 0;

    if (view->txn->tip.seq < seq) { /* somebody has committed since the view was made */
        rc = vls_txn_begin(&later, index->store, VALISE_TXN_READ, err);
        m.txn = &later;
    }
    if (rc == 0)
        rc = vls_index_move_map(map, &m, err);
    if (rc <= 0)
        return rc;
    rc = vls_index_load(&loaded, index, view, err);
    if (rc < 0)
        return rc;
    vls_pmap_release(map);
    *map = loaded;
    return 0;
}

int vls_index_read(vls_pmap *out, vls_index *index, valise_view *view, valise_error *err)
{
    VLS_AUTO(pmap) vls_pmap map = {0};
    int64_t seq;
    int rc;

    (void)pthread_mutex_lock(&index->lock);
    rc = advance(index, view->txn, err);
    if (rc == 0)
        vls_pmap_snapshot(&map, &index->map);
    seq = index->seq;
    (void)pthread_mutex_unlock(&index->lock);
    if (rc == 0 && seq > view->at)
        rc = go_back(&map, seq, index, view, err);
    if (rc < 0)
        return rc;
    *out = map;
    map = (vls_pmap){0};
    return 0;
}

/* ---- what this handle commits ---- */

static int patch_commit(vls_pmap *map, vls_index *index, const vls_commit *commit, vls_arena *arena)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < commit->changes->rows.len; i++) {
        const vls_overlay_row *row = commit->changes->rows.ptr[i];
        if (!vls_index_follows(index, row->coll) || vls_overlay_row_is_same(row))
            continue;
        rc =
            vls_index_exchange(map, index, row->coll, row->before, row->row, row->key, arena, NULL);
        vls_arena_reset(arena);
    }
    return rc;
}

/* As far as it goes: who fails here catches up from the log. */
static void patch_index(vls_index *index, const vls_commit *commits, size_t count, vls_arena *arena)
{
    VLS_AUTO(pmap) vls_pmap map = {0};
    int64_t seq = index->seq;

    if (!index->loaded)
        return;
    vls_pmap_snapshot(&map, &index->map);
    for (size_t i = 0; i < count; i++) {
        if (commits[i].entry->seq <= seq)
            continue; /* a reader was faster */
        if (commits[i].entry->seq != seq + 1 || patch_commit(&map, index, &commits[i], arena) < 0)
            return;
        seq++;
    }
    if (seq > index->seq)
        vls_index_set(index, &map, seq);
}

void vls_indexes_committed(vls_indexes *indexes, const vls_commit *commits, size_t count)
{
    VLS_AUTO(arena) vls_arena arena = {0};

    vls_arena_init(&arena, indexes->env, VLS_VIEW_MAX_BYTES);
    for (size_t i = 0; i < indexes->count; i++) {
        vls_index *index = &indexes->items[i];
        if (pthread_mutex_trylock(&index->lock) != 0)
            continue; /* it is being loaded or moved; it follows later */
        patch_index(index, commits, count, &arena);
        (void)pthread_mutex_unlock(&index->lock);
    }
}

/* ---- opening ---- */

static int open_sources(vls_index *index, valise_error *err)
{
    const valise_index_source *sources = index->indexer->sources;
    size_t count = 0;

    while (count <= VLS_INDEX_SOURCES_MAX && sources[count].coll)
        count++;
    if (count > VLS_INDEX_SOURCES_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "index %s has more than %u sources",
                        index->indexer->name, VLS_INDEX_SOURCES_MAX);
    if (count == 0)
        return 0;
    index->colls = vls_mem_alloc(vls_store_env(index->store), count * sizeof(vls_coll *));
    if (!index->colls)
        return vls_fail_memory(err);
    index->source_count = count;
    for (size_t i = 0; i < count; i++) {
        index->colls[i] = vls_store_coll(index->store, sources[i].coll);
        if (sources[i].coll->flags & (VALISE_COLL_EXEMPT | VALISE_COLL_QUIET))
            return vls_fail(err, VALISE_E_INVALID,
                            "index %s cannot follow %s: its changes are not in the log",
                            index->indexer->name, sources[i].coll->name);
    }
    return 0;
}

int vls_indexes_open(vls_indexes *out, vls_store *store, const valise_indexer *const *list,
                     valise_error *err)
{
    vls_indexes indexes = {.env = vls_store_env(store)};
    size_t count = 0;
    int rc = 0;

    while (list && list[count])
        count++;
    if (count > 0) {
        indexes.items = vls_mem_zalloc(indexes.env, count * sizeof(vls_index));
        if (!indexes.items)
            return vls_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        vls_index *index = &indexes.items[i];
        index->indexer = list[i];
        index->store = store;
        (void)pthread_mutex_init(&index->lock, NULL);
        vls_pmap_init(&index->map, indexes.env, &vls_index_items);
    }
    indexes.count = count;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = open_sources(&indexes.items[i], err);
    if (rc < 0)
        vls_indexes_close(&indexes);
    else
        *out = indexes;
    return rc;
}

void vls_indexes_close(vls_indexes *indexes)
{
    for (size_t i = 0; i < indexes->count; i++) {
        vls_index *index = &indexes->items[i];
        vls_pmap_release(&index->map);
        vls_mem_free(indexes->env, index->colls, index->source_count * sizeof(vls_coll *));
        (void)pthread_mutex_destroy(&index->lock);
    }
    if (indexes->count > 0)
        vls_mem_free(indexes->env, indexes->items, indexes->count * sizeof(vls_index));
    *indexes = (vls_indexes){0};
}

int vls_indexes_find(vls_index **out, vls_indexes *indexes, valise_str name, valise_error *err)
{
    for (size_t i = 0; i < indexes->count; i++) {
        if (vls_str_equal(valise_str_of(indexes->items[i].indexer->name), name)) {
            *out = &indexes->items[i];
            return 0;
        }
    }
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no index \"%s\"", vls_text_short(name).s);
    vls_hint(err, "'valise index list' lists them");
    return VALISE_E_NOT_FOUND;
}
