/* bundle_import.c -- a whole bundle into a fresh store, as it was.
 *
 * Everything happens in one transaction of the caller. Before it is committed, all objects that
 * rows name are there, the state hash is the one that the header has, every byte that was written
 * came from a bundle that hashed to the same id a second time, and areas have looked at their rows
 * (valise_coll.restored, and check): that a bundle is not damaged does not say who made it. */
#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "store/blob_care.h"
#include "store/bundle.h"
#include "store/chunks.h"
#include "store/own.h"
#include "store/refs.h"

#define CREATION "workspace:create" /* the one entry that a fresh log may have */

/* ---- collections ---- */

static int fail_unknown(valise_str name, valise_error *err)
{
    valise_str extension, rest;
    int rc;

    if (vls_str_cut(&extension, &rest, name, '.')) {
        rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                      "the bundle has rows of %s: the extension '%s' is not loaded",
                      vls_text_short(name).s, vls_text_short(extension).s);
        vls_hint(err, "load the extension and import again");
        return rc;
    }
    rc = vls_fail(err, VALISE_E_UNSUPPORTED, "the bundle has rows of %s, which are unknown here",
                  vls_text_short(name).s);
    vls_hint(err, "use a newer version of valise");
    return rc;
}

int vls_bundle_map_add(vls_bundle_map *map, const vls_bundle_record *record, vls_store *store,
                       valise_error *err)
{
    valise_str name = valise_str_of(record->coll->desc->name);
    const vls_coll *coll = vls_store_coll_named(store, name);
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_coll built;
    uint16_t have;
    bool grown;
    int rc;

    if (!coll || coll->own || coll->foreign || coll->missing)
        return fail_unknown(name, err);
    vls_arena_init(&arena, vls_store_env(store), VLS_VIEW_MAX_BYTES);
    rc = vls_coll_build_over(&built, &have, &grown, coll->desc, record->text, &arena, err);
    if (rc == 0)
        map->colls[record->number] = coll;
    return rc;
}

int vls_bundle_check_colls(vls_store *store, const vls_bundle_import *how, valise_error *err)
{
    VLS_AUTO(bundle_reader) vls_bundle_reader *reader = NULL;
    vls_bundle_record record;
    vls_bundle_map map;
    int rc = vls_bundle_open(&reader, how->env, how->source, err);

    while (rc >= 0 && (rc = vls_bundle_next(&record, reader, err)) > 0 && record.tag == 'C')
        rc = vls_bundle_map_add(&map, &record, store, err);
    return rc < 0 ? rc : 0;
}

/* ---- objects ---- */

static int put_erased(vls_txn *txn, const vls_bundle_record *record, int64_t time,
                      valise_error *err)
{
    vls_object_row row = {.h8 = vls_own_first8(record->id.bytes),
                          .hash = record->id,
                          .kind = valise_str_of(record->kind),
                          .size = (int64_t)record->size,
                          .time = time};
    vls_object_info info;
    int rc = vls_object_stat(&info, txn, &record->id, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    rc = vls_chunks_next_object(&row.number, txn, err);
    return rc < 0 ? rc : vls_own_put(txn, VLS_TABLE_OBJECT, &row, err);
}

int vls_bundle_put_object(vls_txn *txn, const vls_bundle_record *record, int64_t time,
                          valise_error *err)
{
    bool existed;

    if (record->tag == 'X')
        return put_erased(txn, record, time, err);
    return vls_object_put(txn, &record->id, record->kind, record->bytes, time, &existed, err);
}

/* ---- a fresh store ---- */

int vls_bundle_is_fresh(bool *out, vls_txn *txn, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry;
    int rc;

    if (txn->tip.seq != 1 || txn->tip.base_seq != 0) {
        *out = txn->tip.seq == 0;
        return 0;
    }
    vls_arena_init(&arena, vls_store_env(txn->store), VLS_VIEW_MAX_BYTES);
    rc = vls_log_get(&entry, txn, 1, &arena, err);
    if (rc < 0)
        return rc;
    *out = rc > 0 && vls_str_equal(entry.type, VLS_STR(CREATION));
    return 0;
}

static int clear_table(vls_txn *txn, const vls_coll *coll, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_open(&scan, txn, coll, (valise_range){.index = -1}, err);

    while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0) {
        rc = vls_txn_del(txn, coll, cells, err);
        rc = rc < 0 ? rc : 0;
    }
    return rc;
}

/* Creation made an actor and an entry. Objects stay: what nobody refers to is for gc. */
static int clear(vls_txn *txn, valise_error *err)
{
    int rc = clear_table(txn, vls_store_coll_at(txn->store, VLS_TABLE_LOG), err);

    if (rc == 0)
        rc = clear_table(txn, vls_store_coll_at(txn->store, VLS_TABLE_GONE), err);
    for (uint32_t i = VLS_TABLE_OWN_COUNT; rc == 0 && i < vls_store_coll_count(txn->store); i++) {
        const vls_coll *coll = vls_store_coll_at(txn->store, i);
        if (!coll->foreign)
            rc = clear_table(txn, coll, err);
    }
    return rc;
}

/* Followers that were here before begin behind what is imported: it has happened elsewhere. */
static int move_cursors(vls_txn *txn, int64_t seq, valise_error *err)
{
    const vls_coll *table = vls_store_coll_at(txn->store, VLS_TABLE_CURSOR);
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_open(&scan, txn, table, (valise_range){.index = -1}, err);

    while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0) {
        cells[1].as.integer = seq;
        cells[2].as.integer = 0;
        rc = vls_txn_put(txn, table, cells, 0, err);
    }
    return rc;
}

/* ---- records ---- */

typedef struct restoring {
    vls_txn *txn;
    const vls_bundle_import *how;
    vls_bundle_map map;
    vls_buf list;
    vls_arena arena;
    int64_t tip_time;
} restoring;

static int check_object(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    vls_object_info info;
    int rc = vls_object_stat(&info, arg, id, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    return vls_fail(err, VALISE_E_CORRUPT,
                    "the bundle is damaged: a row of %s names object %s, which is not in it",
                    site->coll->desc->name, vls_id_hex(id).s);
}

static int restore_row(restoring *r, const vls_bundle_record *record, valise_error *err)
{
    const vls_coll *coll = r->map.colls[record->number];
    vls_ref_site site = {.coll = coll};
    int rc = vls_refs_row(&r->arena, &site, record->cells, check_object, r->txn, err);

    vls_arena_reset(&r->arena);
    /* Fields that the bundle does not have yet are NULL: there is room for all columns. */
    if (rc == 0)
        rc = vls_coll_check_key(coll, record->cells, err);
    return rc < 0 ? rc : vls_txn_put(r->txn, coll, record->cells, record->seq, err);
}

static int restore_gone(restoring *r, const vls_bundle_record *record, valise_error *err)
{
    vls_gone gone = {
        .coll = r->map.colls[record->number]->number, .key = record->key, .seq = record->seq};

    return vls_own_put(r->txn, VLS_TABLE_GONE, &gone, err);
}

/* The entry as it was, but for the numbers of collections, which are the store's own. */
static int restore_entry(restoring *r, const vls_bundle_record *record, valise_error *err)
{
    vls_entry entry = record->entry;
    vls_image image;
    size_t at = 0;
    int rc = 0;

    vls_buf_clear(&r->list);
    while (entry.changes.len > 0 &&
           (rc = vls_changes_next(&image, &at, record->entry.changes, err)) > 0) {
        image.coll = r->map.colls[image.coll]->number;
        vls_changes_write(&r->list, &image);
    }
    if (rc == 0)
        rc = vls_buf_check(&r->list, err);
    if (rc < 0)
        return rc;
    if (entry.changes.len > 0)
        entry.changes = vls_buf_str(&r->list);
    r->tip_time = entry.time;
    return vls_log_rewrite(r->txn, &entry, err);
}

static int restore_record(restoring *r, const vls_bundle_record *record, valise_error *err)
{
    switch (record->tag) {
    case 'C':
        return vls_bundle_map_add(&r->map, record, r->txn->store, err);
    case 'O':
    case 'X':
        return vls_bundle_put_object(r->txn, record, r->how->now, err);
    case 'R':
        return restore_row(r, record, err);
    case 'G':
        return restore_gone(r, record, err);
    case 'L':
        return restore_entry(r, record, err);
    default:
        return 0; /* blobs were put before */
    }
}

/* ---- the end ---- */

static int fail_changed(valise_error *err)
{
    return vls_fail(err, VALISE_E_CORRUPT, "the bundle was changed while it was read");
}

static int check_state(vls_txn *txn, const vls_bundle_header *header, valise_error *err)
{
    VLS_AUTO(view) valise_view view = {0};
    valise_id state;
    int rc;

    vls_view_init(&view, txn, vls_store_env(txn->store));
    rc = vls_state_hash(&state, &view, err);
    if (rc == 0 && !vls_id_equal(&state, &header->state))
        rc = vls_fail(err, VALISE_E_CORRUPT,
                      "the bundle is damaged: its rows do not match its state hash");
    return rc;
}

static int check_areas(vls_txn *txn, valise_error *err)
{
    VLS_AUTO(view) valise_view view = {0};
    int rc = 0;

    vls_view_init(&view, txn, vls_store_env(txn->store));
    for (uint32_t i = VLS_TABLE_OWN_COUNT; rc == 0 && i < vls_store_coll_count(txn->store); i++) {
        const vls_coll *coll = vls_store_coll_at(txn->store, i);
        const valise_coll *desc = coll->desc;
        bool has = !coll->foreign &&
                   desc->size >= offsetof(valise_coll, restored) + sizeof(desc->restored);
        if (has && desc->restored)
            rc = desc->restored(&view, err);
    }
    return rc;
}

static int finish(restoring *r, const vls_bundle_header *h, valise_error *err)
{
    vls_txn *txn = r->txn;
    int rc = vls_meta_put_str(txn, "workspace", valise_str_of(vls_uuid_text(&h->workspace).s), err);

    if (rc == 0 && h->base_seq > 0)
        rc = vls_meta_put_int(txn, "base_seq", h->base_seq, err);
    if (rc == 0 && h->base_seq > 0)
        rc = vls_meta_put_str(txn, "base_hash", valise_str_of(vls_id_hex(&h->base_hash).s), err);
    if (rc == 0)
        rc = move_cursors(txn, h->tip_seq + 1, err);
    if (rc < 0)
        return rc;
    txn->tip = (vls_tip){
        .seq = h->tip_seq, .time = r->tip_time, .hash = h->tip_hash, .base_seq = h->base_seq};
    rc = check_state(txn, h, err);
    if (rc == 0)
        rc = check_areas(txn, err);
    return rc < 0 || r->how->force ? rc : vls_bundle_prove_all(txn, r->how->progress, err);
}

static int restore(restoring *r, vls_bundle_reader *reader, valise_error *err)
{
    vls_bundle_record record;
    uint64_t at = 0;
    int rc = clear(r->txn, err);

    vls_progress_begin(r->how->progress, "import", "bytes", r->how->source->size_bytes);
    while (rc >= 0 && (rc = vls_bundle_next(&record, reader, err)) > 0) {
        rc = restore_record(r, &record, err);
        if (rc == 0)
            rc = vls_progress_step(r->how->progress, vls_bundle_offset(reader) - at, err);
        at = vls_bundle_offset(reader);
    }
    if (rc == 0 && !vls_id_equal(vls_bundle_id(reader), &r->how->id))
        rc = fail_changed(err);
    if (rc == 0)
        rc = finish(r, vls_bundle_header_of(reader), err);
    return rc < 0 ? rc : vls_progress_end(r->how->progress, err);
}

int vls_bundle_restore(vls_txn *txn, const vls_bundle_import *how, valise_error *err)
{
    VLS_AUTO(bundle_reader) vls_bundle_reader *reader = NULL;
    restoring r = {.txn = txn, .how = how};
    bool fresh = false;
    int rc = vls_bundle_is_fresh(&fresh, txn, err);

    if (rc < 0)
        return rc;
    if (!fresh)
        return vls_fail(err, VALISE_E_EXISTS, "the workspace has a log of its own");
    rc = vls_txn_check_complete(txn, err);
    if (rc == 0)
        rc = vls_bundle_open(&reader, how->env, how->source, err);
    if (rc < 0)
        return rc;
    if (!vls_bundle_header_of(reader)->whole)
        return vls_fail(err, VALISE_E_INVALID, "the bundle holds only a part of a workspace");
    vls_buf_init(&r.list, how->env, VLS_CHANGES_MAX + 4096);
    vls_arena_init(&r.arena, how->env, VLS_VIEW_MAX_BYTES);
    rc = restore(&r, reader, err);
    vls_arena_release(&r.arena);
    vls_buf_release(&r.list);
    return rc;
}

/* ---- blobs ---- */

typedef struct blob_feed {
    vls_bundle_reader *reader;
    vls_progress *progress;
    uint64_t left; /* of the blob */
    vls_bundle_record piece;
    size_t used; /* of the piece */
} blob_feed;

static int feed_blob(size_t *len, void *arg, void *room, size_t room_bytes, valise_error *err)
{
    blob_feed *f = arg;
    size_t part;
    int rc;

    *len = 0;
    if (f->left == 0)
        return 0;
    if (f->used == f->piece.bytes.len) {
        rc = vls_bundle_next(&f->piece, f->reader, err);
        if (rc >= 0)
            rc = vls_progress_step(f->progress, f->piece.bytes.len, err);
        if (rc < 0)
            return rc;
        f->used = 0;
    }
    part = VLS_MIN(f->piece.bytes.len - f->used, room_bytes);
    memcpy(room, f->piece.bytes.ptr + f->used, part);
    f->used += part;
    f->left -= part;
    *len = part;
    return 0;
}

static int put_blob(vls_blobs *blobs, vls_bundle_reader *reader, const vls_bundle_record *record,
                    const vls_bundle_import *how, valise_error *err)
{
    blob_feed feed = {.reader = reader, .progress = how->progress, .left = record->size};
    valise_id id;

    if (!blobs)
        return vls_fail(err, VALISE_E_UNSUPPORTED,
                        "the bundle has blobs, and this workspace has no blob storage");
    return vls_blobs_put(&id, NULL, blobs, feed_blob, &feed, record->size, err);
}

/* What was erased by its id here is not brought back. */
static int is_unwanted(bool *out, const vls_bundle_import *how, const valise_id *id,
                       valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int rc;

    *out = false;
    if (!how->store)
        return 0;
    rc = vls_txn_begin(&txn, how->store, VALISE_TXN_READ, err);
    return rc < 0 ? rc : vls_blob_was_erased(out, &txn, id, err);
}

int vls_bundle_put_blobs(vls_blobs *blobs, const vls_bundle_import *how, valise_error *err)
{
    VLS_AUTO(bundle_reader) vls_bundle_reader *reader = NULL;
    vls_bundle_record record;
    int rc = vls_bundle_open(&reader, how->env, how->source, err);

    vls_progress_begin(how->progress, "put blobs", "bytes", 0);
    while (rc >= 0 && (rc = vls_bundle_next(&record, reader, err)) > 0) {
        bool unwanted = false;
        if (record.tag == 'B')
            rc = is_unwanted(&unwanted, how, &record.id, err);
        if (rc >= 0 && record.tag == 'B' && !unwanted)
            rc = put_blob(blobs, reader, &record, how, err);
        else if (rc >= 0)
            rc = vls_progress_step(how->progress, 0, err);
    }
    if (rc == 0 && !vls_id_equal(vls_bundle_id(reader), &how->id))
        rc = fail_changed(err);
    return rc < 0 ? rc : vls_progress_end(how->progress, err);
}
