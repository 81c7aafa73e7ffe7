/* refs.c -- see refs.h. */
#include "store/refs.h"

#include "base/hex.h"
#include "base/str.h"
#include "json/json.h"

/* ---- one row ---- */

static bool is_object(const valise_field *field)
{
    return (field->type == VALISE_T_ID && field->ref && strcmp(field->ref, "object") == 0) ||
           (field->type >= VALISE_T_VALUE && field->type <= VALISE_T_DATA);
}

static bool is_nested(const valise_field *field)
{
    return field->type == VALISE_T_LIST || field->type == VALISE_T_STRUCT ||
           field->type == VALISE_T_UNION;
}

typedef struct row_walk {
    const vls_ref_site *site;
    vls_ref_fn *fn;
    void *arg;
    valise_error *err;
} row_walk;

static int nested_ref(void *arg, const valise_field *field, void *member)
{
    const row_walk *walk = arg;

    /* An id is the first member of a content. */
    return is_object(field) ? walk->fn(walk->arg, walk->site, member, walk->err) : 0;
}

/* Lists, structs and unions are text in a row: decode it. */
static int walk_nested(vls_arena *arena, const row_walk *walk, const valise_cell *row)
{
    const valise_coll *desc = walk->site->coll->desc;
    void *decoded = vls_arena_zalloc(arena, desc->row_size);
    row_walk copy = *walk;
    int rc;

    if (!decoded)
        return vls_arena_fail(arena, walk->err);
    rc = vls_row_from_cells(decoded, desc->fields, desc->row_size, row,
                            walk->site->coll->field_count, arena, walk->err);
    return rc < 0 ? rc : vls_fields_each_ref(decoded, desc->fields, nested_ref, &copy);
}

int vls_refs_row(vls_arena *arena, const vls_ref_site *site, const valise_cell *row, vls_ref_fn *fn,
                 void *arg, valise_error *err)
{
    row_walk walk = {site, fn, arg, err};
    bool nested = false;

    for (uint16_t i = 0; i < site->coll->field_count; i++)
        nested = nested || is_nested(&site->coll->desc->fields[i]);
    if (nested) {
        vls_arena_mark mark = vls_arena_here(arena);
        int rc = walk_nested(arena, &walk, row);
        vls_arena_rewind(arena, mark);
        return rc;
    }
    for (uint16_t i = 0; i < site->coll->field_count; i++) {
        int rc;
        if (!is_object(&site->coll->desc->fields[i]) || row[i].type != VALISE_CELL_BLOB ||
            row[i].as.bytes.len != sizeof(valise_id))
            continue;
        rc = fn(arg, site, (const valise_id *)row[i].as.bytes.ptr, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* ---- rows ---- */

static int walk_coll(vls_txn *txn, vls_progress *progress, const vls_coll *coll, vls_ref_fn *fn,
                     void *arg, valise_error *err)
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
            rc = vls_refs_row(&arena, &site, cells, fn, arg, err);
        if (rc == 0 && progress)
            rc = vls_progress_step(progress, 1, err);
        if (rc != 0)
            return rc;
    }
    return rc;
}

static bool has_objects(const vls_coll *coll)
{
    for (uint16_t i = 0; i < coll->field_count; i++) {
        const valise_field *field = &coll->desc->fields[i];
        if (is_object(field) || is_nested(field))
            return true;
    }
    return false;
}

int vls_refs_rows(vls_txn *txn, vls_progress *progress, vls_ref_fn *fn, void *arg,
                  valise_error *err)
{
    int rc = 0;

    for (uint32_t i = VLS_TABLE_OWN_COUNT; rc == 0 && i < vls_store_coll_count(txn->store); i++) {
        const vls_coll *coll = vls_store_coll_at(txn->store, i);
        if (has_objects(coll))
            rc = walk_coll(txn, progress, coll, fn, arg, err);
    }
    return rc;
}

/* ---- the log ---- */

static int walk_images(vls_txn *txn, vls_arena *arena, const vls_entry *entry, vls_ref_fn *fn,
                       void *arg, valise_error *err)
{
    vls_image image;
    size_t at = 0;
    int rc;

    while ((rc = vls_changes_next(&image, &at, entry->changes, err)) > 0) {
        const vls_coll *coll = vls_store_coll_at(txn->store, image.coll);
        valise_cell cells[VALISE_MAX_COLUMNS] = {{0}};
        vls_ref_site site = {coll, image.key, entry->seq};
        size_t count;
        if (image.from_seq == 0)
            continue;
        if (!coll || coll->own)
            return vls_fail(err, VALISE_E_CORRUPT, "the log speaks of a collection number %u",
                            (unsigned)image.coll);
        rc = vls_cells_read(cells, &count, coll->field_count, image.cells, err);
        if (rc == 0)
            rc = vls_refs_row(arena, &site, cells, fn, arg, err);
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
static int walk_payload(const vls_entry *entry, vls_ref_fn *fn, void *arg, valise_error *err)
{
    vls_ref_site site = {.seq = entry->seq};
    valise_str text = entry->payload;

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

int vls_refs_entry(vls_txn *txn, vls_arena *arena, const vls_entry *entry, vls_ref_fn *fn,
                   void *arg, valise_error *err)
{
    int rc = walk_images(txn, arena, entry, fn, arg, err);

    return rc != 0 ? rc : walk_payload(entry, fn, arg, err);
}

int vls_refs_log(vls_txn *txn, vls_progress *progress, vls_ref_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry;
    int rc;

    vls_arena_init(&arena, vls_store_env(txn->store), VLS_VIEW_MAX_BYTES);
    rc = vls_log_scan_open(&scan, txn, 0, false, err);
    while (rc >= 0 && (rc = vls_log_scan_next(&entry, &scan, &arena, err)) > 0) {
        rc = vls_refs_entry(txn, &arena, &entry, fn, arg, err);
        if (rc == 0 && progress)
            rc = vls_progress_step(progress, 1, err);
        if (rc != 0)
            return rc;
        vls_arena_reset(&arena);
    }
    return rc;
}
