/* refs.c -- see refs.h. */
#include "store/refs.h"

#include "base/hex.h"
#include "base/str.h"
#include "json/json.h"

/* ---- one row ---- */

static bool is_wanted(const valise_field *field, unsigned what)
{
    return ((what & VLS_REFS_OBJECTS) && vls_names_object(field)) ||
           ((what & VLS_REFS_BLOBS) && vls_names_blob(field));
}

typedef struct row_walk {
    const vls_ref_site *site;
    unsigned what;
    vls_ref_fn *fn;
    void *arg;
    valise_error *err;
} row_walk;

static int tell(const row_walk *walk, const valise_field *field, const valise_id *id)
{
    vls_ref_site site = *walk->site;

    site.blob = vls_names_blob(field);
    return walk->fn(walk->arg, &site, id, walk->err);
}

static int nested_ref(void *arg, const valise_field *field, void *member)
{
    const row_walk *walk = arg;

    /* An id is the first member of a content. */
    return is_wanted(field, walk->what) ? tell(walk, field, member) : 0;
}

/* A list, struct or union is text in a row. The other fields are none: they are not asked for. */
static int walk_nested(vls_arena *arena, row_walk *walk, uint16_t at, const valise_cell *cell)
{
    const valise_coll *desc = walk->site->coll->desc;
    valise_field alone[] = {desc->fields[at], VALISE_FIELD_END};
    void *decoded = vls_arena_zalloc(arena, desc->row_size);
    int rc;

    if (!decoded)
        return vls_arena_fail(arena, walk->err);
    rc = vls_row_from_cells(decoded, alone, desc->row_size, cell, 1, arena, walk->err);
    return rc < 0 ? rc : vls_fields_each_ref(decoded, alone, nested_ref, walk);
}

static int walk_field(vls_arena *arena, row_walk *walk, uint16_t at, const valise_cell *cell)
{
    const valise_field *field = &walk->site->coll->desc->fields[at];
    vls_arena_mark mark;
    int rc;

    if ((walk->what & VLS_REFS_CONTENT) && !(field->flags & VALISE_CONTENT))
        return 0;
    if (!vls_field_has_parts(field)) {
        bool named = is_wanted(field, walk->what) && cell->type == VALISE_CELL_BLOB &&
                     cell->as.bytes.len == sizeof(valise_id);
        return named ? tell(walk, field, (const valise_id *)cell->as.bytes.ptr) : 0;
    }
    if (!vls_field_refers(field))
        return 0;
    mark = vls_arena_here(arena);
    rc = walk_nested(arena, walk, at, cell);
    vls_arena_rewind(arena, mark);
    return rc;
}

int vls_refs_of_row(vls_arena *arena, const vls_ref_site *site, const valise_cell *row,
                    unsigned what, vls_ref_fn *fn, void *arg, valise_error *err)
{
    row_walk walk = {site, what, fn, arg, err};
    int rc = 0;

    for (uint16_t i = 0; rc == 0 && i < site->coll->field_count; i++)
        rc = walk_field(arena, &walk, i, &row[i]);
    return rc;
}

int vls_refs_row(vls_arena *arena, const vls_ref_site *site, const valise_cell *row, vls_ref_fn *fn,
                 void *arg, valise_error *err)
{
    return vls_refs_of_row(arena, site, row, VLS_REFS_OBJECTS, fn, arg, err);
}

/* ---- rows ---- */

static int walk_coll(vls_txn *txn, unsigned what, vls_progress *progress, const vls_coll *coll,
                     vls_ref_fn *fn, void *arg, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf key = {0};
    int rc = vls_txn_scan_open(&scan, txn, coll, (valise_range){.index = -1}, err);

    vls_arena_init(&arena, vls_store_env(txn->store), VLS_VIEW_MAX_BYTES);
    vls_buf_init(&key, vls_store_env(txn->store), VLS_VIEW_MAX_BYTES);
    while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0) {
        vls_ref_site site = {.coll = coll};
        vls_buf_clear(&key);
        vls_key_write(&key, cells, coll->key_count);
        rc = vls_buf_check(&key, err);
        site.key = vls_buf_str(&key);
        if (rc == 0)
            rc = vls_refs_of_row(&arena, &site, cells, what, fn, arg, err);
        if (rc == 0 && progress)
            rc = vls_progress_step(progress, 1, err);
        if (rc != 0)
            return rc;
    }
    return rc;
}

static bool has_refs(const vls_coll *coll, unsigned what)
{
    for (uint16_t i = 0; i < coll->field_count; i++) {
        const valise_field *field = &coll->desc->fields[i];
        if (is_wanted(field, what) || (vls_field_has_parts(field) && vls_field_refers(field)))
            return true;
    }
    return false;
}

int vls_refs_rows(vls_txn *txn, unsigned what, vls_progress *progress, vls_ref_fn *fn, void *arg,
                  valise_error *err)
{
    int rc = 0;

    for (uint32_t i = VLS_TABLE_OWN_COUNT; rc == 0 && i < vls_store_coll_count(txn->store); i++) {
        const vls_coll *coll = vls_store_coll_at(txn->store, i);
        if (has_refs(coll, what))
            rc = walk_coll(txn, what, progress, coll, fn, arg, err);
    }
    return rc;
}

int vls_refs_count(uint64_t *rows, vls_txn *txn, unsigned what, valise_error *err)
{
    int rc = 0;

    *rows = 0;
    for (uint32_t i = VLS_TABLE_OWN_COUNT; rc == 0 && i < vls_store_coll_count(txn->store); i++) {
        const vls_coll *coll = vls_store_coll_at(txn->store, i);
        if (has_refs(coll, what))
            rc = vls_txn_count(rows, txn, coll, err);
    }
    return rc;
}

/* ---- the log ---- */

static int walk_images(vls_txn *txn, vls_arena *arena, const vls_entry *entry, unsigned what,
                       vls_ref_fn *fn, void *arg, valise_error *err)
{
    vls_image image;
    size_t at = 0;
    int rc;

    while ((rc = vls_changes_next(&image, &at, entry->changes, err)) > 0) {
        const vls_coll *coll = vls_store_coll_at(txn->store, image.coll);
        valise_cell cells[VALISE_MAX_COLUMNS];
        vls_ref_site site = {.coll = coll, .key = image.key, .seq = entry->seq};
        if (image.from_seq == 0)
            continue;
        if (!coll || coll->own)
            return vls_fail(err, VALISE_E_CORRUPT, "the log speaks of a collection number %u",
                            (unsigned)image.coll);
        rc = vls_image_cells(cells, coll, &image, err);
        if (rc == 0)
            rc = vls_refs_of_row(arena, &site, cells, what, fn, arg, err);
        if (rc != 0)
            return rc;
    }
    return rc;
}

static bool is_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Every string of exactly 64 digits. Ids need no escapes, so the text can be searched as it is. */
int vls_refs_payload(const vls_entry *entry, vls_ref_fn *fn, void *arg, valise_error *err)
{
    vls_ref_site site = {.seq = entry->seq};
    valise_str text = entry->payload;

    if (vls_str_equal(entry->type, VLS_STR(VLS_ERASURE_TYPE)))
        return 0;
    for (size_t i = 0; i + 66 <= text.len; i++) {
        valise_id id;
        size_t digits = 0;
        int rc;
        if (text.ptr[i] != '"')
            continue;
        while (digits < 64 && is_digit(text.ptr[i + 1 + digits]))
            digits++;
        if (digits < 64 || text.ptr[i + 65] != '"' ||
            vls_id_parse(&id, vls_str(text.ptr + i + 1, 64), NULL) < 0)
            continue;
        rc = fn(arg, &site, &id, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int walk_entry(vls_txn *txn, vls_arena *arena, const vls_entry *entry, unsigned what,
                      vls_ref_fn *fn, void *arg, valise_error *err)
{
    int rc = walk_images(txn, arena, entry, what, fn, arg, err);

    return rc != 0 ? rc : vls_refs_payload(entry, fn, arg, err);
}

int vls_refs_entry(vls_txn *txn, vls_arena *arena, const vls_entry *entry, vls_ref_fn *fn,
                   void *arg, valise_error *err)
{
    return walk_entry(txn, arena, entry, VLS_REFS_OBJECTS, fn, arg, err);
}

int vls_refs_log(vls_txn *txn, unsigned what, vls_progress *progress, vls_ref_fn *fn, void *arg,
                 valise_error *err)
{
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry;
    int rc;

    vls_arena_init(&arena, vls_store_env(txn->store), VLS_VIEW_MAX_BYTES);
    rc = vls_log_scan_open(&scan, txn, 0, false, err);
    while (rc >= 0 && (rc = vls_log_scan_next(&entry, &scan, &arena, err)) > 0) {
        rc = walk_entry(txn, &arena, &entry, what, fn, arg, err);
        if (rc == 0 && progress)
            rc = vls_progress_step(progress, 1, err);
        if (rc != 0)
            return rc;
        vls_arena_reset(&arena);
    }
    return rc;
}
