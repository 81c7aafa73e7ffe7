/* bundle_row.c -- what stands in the records of a bundle: rows, deletions, log entries. */
#include "base/str.h"
#include "store/bundle_reader.h"
#include "store/own.h"

/* ---- rows ---- */

/* The cells that stand in bytes, if a row of this collection can have them: of the right types, in
 * the one form in which they are written. *count: of those that stand there. */
static int read_row(valise_cell *cells, size_t *count, vls_bundle_reader *r, const vls_coll *coll,
                    valise_str bytes, valise_error *err)
{
    valise_cell again[VALISE_MAX_COLUMNS];
    void *row = NULL;
    int rc;

    memset(cells, 0, VALISE_MAX_COLUMNS * sizeof(*cells));
    rc = vls_cells_read(cells, count, coll->field_count, bytes, err);
    if (rc == 0)
        rc = vls_row_of_cells(&row, coll, cells, &r->record, err);
    if (rc == 0)
        rc = vls_row_to_cells(again, row, coll->desc->fields, &r->record, err);
    if (rc < 0)
        return vls_bundle_wrong_part(r, rc, "a row that does not fit its collection", err);
    if (!vls_cells_equal(cells, again, coll->field_count))
        return vls_bundle_wrong(r, "a row that is not canonical", err);
    return 0;
}

/* A key of that collection, in its one form. */
static int read_key(vls_bundle_reader *r, const vls_coll *coll, valise_str key, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = vls_key_read(cells, coll->key_count, key, &r->record, err);

    if (rc < 0)
        return vls_bundle_wrong_part(r, rc, "an invalid key", err);
    for (uint16_t i = 0; i < coll->key_count; i++) {
        if (cells[i].type != vls_field_cell_type(&coll->desc->fields[i]))
            return vls_bundle_wrong(r, "a key that does not fit its collection", err);
    }
    return 0;
}

/* Rows stand by collection and key. */
static int check_order(vls_bundle_reader *r, uint32_t number, valise_str key, valise_error *err)
{
    if (r->has_last &&
        (number < r->last_coll ||
         (number == r->last_coll && vls_str_compare(vls_buf_str(&r->last_key), key) >= 0)))
        return vls_bundle_wrong(r, "rows out of order", err);
    r->has_last = true;
    r->last_coll = number;
    vls_buf_clear(&r->last_key);
    vls_buf_add(&r->last_key, key);
    return vls_buf_check(&r->last_key, err);
}

int vls_bundle_read_row(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    vls_reader in = vls_reader_of(vls_buf_str(&r->body));
    uint64_t number = vls_reader_varint(&in), seq = vls_reader_varint(&in);
    const vls_coll *coll = vls_bundle_coll(r, number);
    valise_cell *cells = vls_arena_array(&r->record, VALISE_MAX_COLUMNS, sizeof(*cells));
    VLS_AUTO(buf) vls_buf key = {0};
    size_t count = 0;
    int rc;

    if (!cells)
        return vls_arena_fail(&r->record, err);
    if (in.failed || !coll || seq == 0 || seq > (uint64_t)r->header.tip_seq)
        return vls_bundle_wrong(r, "a row of no known collection", err);
    rc = read_row(cells, &count, r, coll, vls_reader_slice(&in, vls_reader_left(&in)), err);
    if (rc < 0)
        return rc;
    if (cells[count - 1].type == VALISE_CELL_NULL) /* there is a key, so there are cells */
        return vls_bundle_wrong(r, "a row that is not canonical", err);
    vls_buf_init(&key, r->env, VLS_BUNDLE_BODY_MAX);
    vls_key_write(&key, cells, coll->key_count);
    rc = vls_buf_check(&key, err);
    if (rc == 0)
        rc = check_order(r, (uint32_t)number, vls_buf_str(&key), err);
    out->number = (uint32_t)number;
    out->coll = coll;
    out->cells = cells;
    out->seq = (int64_t)seq;
    r->counts.rows++;
    return rc;
}

int vls_bundle_read_gone(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    vls_reader in = vls_reader_of(vls_buf_str(&r->body));
    uint64_t number = vls_reader_varint(&in), seq;
    const vls_coll *coll = vls_bundle_coll(r, number);
    int rc;

    out->key = vls_reader_string(&in);
    seq = vls_reader_varint(&in);
    if (!vls_reader_is_done(&in) || !coll || !r->header.whole ||
        seq <= (uint64_t)r->header.base_seq || seq > (uint64_t)r->header.tip_seq)
        return vls_bundle_wrong(r, "a deletion of a row that is not there", err);
    rc = read_key(r, coll, out->key, err);
    if (rc == 0)
        rc = check_order(r, (uint32_t)number, out->key, err);
    out->number = (uint32_t)number;
    out->coll = coll;
    out->seq = (int64_t)seq;
    r->counts.gone++;
    return rc;
}

/* ---- the log ---- */

static int check_image(vls_bundle_reader *r, const vls_image *image, int64_t seq, valise_error *err)
{
    const vls_coll *coll = vls_bundle_coll(r, image->coll);
    valise_cell cells[VALISE_MAX_COLUMNS];
    VLS_AUTO(buf) vls_buf key = {0};
    size_t count = 0;
    int rc;

    if (!coll || image->from_seq >= seq || image->gone_seq >= seq ||
        (vls_coll_is_quiet(coll) && (image->from_seq > 0 || image->gone_seq > 0)))
        return vls_bundle_wrong(r, "a log entry that changes a row that is not there", err);
    rc = read_key(r, coll, image->key, err);
    if (rc < 0 || image->from_seq == 0)
        return rc;
    rc = read_row(cells, &count, r, coll, image->cells, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&key, r->env, VLS_BUNDLE_BODY_MAX);
    vls_key_write(&key, cells, coll->key_count);
    rc = vls_buf_check(&key, err);
    if (rc == 0 && !vls_str_equal(vls_buf_str(&key), image->key))
        rc = vls_bundle_wrong(r, "a log entry whose change does not match its row", err);
    return rc;
}

static int check_changes(vls_bundle_reader *r, const vls_entry *entry, valise_error *err)
{
    VLS_AUTO(buf) vls_buf again = {0};
    vls_image image;
    size_t at = 0;
    int rc;

    if (entry->changes.len > VLS_CHANGES_MAX)
        return vls_bundle_wrong(r, "a log entry that changes too much", err);
    vls_buf_init(&again, r->env, VLS_CHANGES_MAX);
    while ((rc = vls_changes_next(&image, &at, entry->changes, err)) > 0) {
        vls_arena_mark mark = vls_arena_here(&r->record);
        rc = check_image(r, &image, entry->seq, err);
        vls_arena_rewind(&r->record, mark);
        if (rc < 0)
            return rc;
        vls_changes_write(&again, &image);
    }
    if (rc < 0)
        return vls_bundle_wrong_part(r, rc, "a log entry with an invalid list of changes", err);
    rc = vls_buf_check(&again, err);
    if (rc == 0 && !vls_str_equal(vls_buf_str(&again), entry->changes))
        rc = vls_bundle_wrong(r, "a log entry whose list of changes is not canonical", err);
    return rc;
}

int vls_bundle_read_entry(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    const valise_coll *log = vls_own_colls[VLS_TABLE_LOG];
    size_t field_count = vls_fields_count(log->fields), count = 0;
    valise_cell cells[VALISE_MAX_COLUMNS], again[VALISE_MAX_COLUMNS];
    vls_entry *entry = &out->entry;
    bool unverifiable;
    int rc = vls_cells_read(cells, &count, field_count, vls_buf_str(&r->body), err);

    if (rc == 0 && count == field_count)
        rc = vls_row_from_cells(entry, log->fields, sizeof(*entry), cells, count, &r->record, err);
    if (rc == 0 && count == field_count)
        rc = vls_row_to_cells(again, entry, log->fields, &r->record, err);
    if (rc < 0)
        return vls_bundle_wrong_part(r, rc, "an invalid log entry", err);
    if (count != field_count || !vls_cells_equal(cells, again, count) ||
        entry->seq != r->last_seq + 1 || entry->seq > r->header.tip_seq ||
        entry->time < r->last_time || entry->id8 != vls_own_first8(entry->id.bytes) ||
        !r->header.whole)
        return vls_bundle_wrong(r, "a log entry that does not follow the one before", err);
    rc = vls_log_verify(&unverifiable, entry, r->last_seq > 0 ? &r->last_hash : NULL, err);
    if (rc < 0)
        return vls_bundle_wrong_part(r, rc, "its log is not one chain", err);
    r->last_seq = entry->seq;
    r->last_time = entry->time;
    r->last_hash = entry->hash;
    r->counts.entries++;
    return check_changes(r, entry, err);
}
