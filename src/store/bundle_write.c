/* bundle_write.c -- a store as a bundle, record by record, once it is known what will be in it. */
#include "base/bytes.h"
#include "base/hex.h"
#include "base/str.h"
#include "store/blob_care.h"
#include "store/bundle_writer.h"
#include "store/objects.h"

#define OUT_BYTES ((size_t)64 << 10) /* that go to the sink at once */
#define NO_NUMBER UINT32_MAX

/* ---- records ---- */

static int flush(vls_bundle_writer *w, valise_error *err)
{
    int rc = vls_buf_check(&w->out, err);

    if (rc == 0 && w->out.len > 0) {
        vls_hash_update(&w->stream, vls_buf_str(&w->out));
        w->counts.bytes += w->out.len;
        rc = w->how->sink(w->how->arg, vls_buf_str(&w->out), err);
    }
    vls_buf_clear(&w->out);
    return rc;
}

/* Large bytes go past the buffer. */
static int put_bytes(vls_bundle_writer *w, valise_str bytes, valise_error *err)
{
    int rc = w->out.len + bytes.len > OUT_BYTES ? flush(w, err) : 0;

    if (rc < 0)
        return rc;
    if (bytes.len <= OUT_BYTES) {
        vls_buf_add(&w->out, bytes);
        return 0;
    }
    vls_hash_update(&w->stream, bytes);
    w->counts.bytes += bytes.len;
    return w->how->sink(w->how->arg, bytes, err);
}

/* A record whose body is w->body and then rest. */
static int put_record(vls_bundle_writer *w, char tag, valise_str rest, valise_error *err)
{
    char room[1 + VLS_VARINT_MAX + 1];
    vls_buf head = {.ptr = room, .cap = sizeof(room), .max = sizeof(room) - 1};
    int rc = vls_buf_check(&w->body, err);

    if (rc < 0)
        return rc;
    vls_buf_add_byte(&head, tag);
    vls_bytes_add_varint(&head, (uint64_t)w->body.len + rest.len);
    rc = put_bytes(w, vls_buf_str(&head), err);
    if (rc == 0)
        rc = put_bytes(w, vls_buf_str(&w->body), err);
    if (rc == 0)
        rc = put_bytes(w, rest, err);
    vls_buf_clear(&w->body);
    return rc < 0 ? rc : vls_progress_step(w->how->progress, 1, err);
}

/* ---- header and collections ---- */

static int put_header(vls_bundle_writer *w, valise_error *err)
{
    vls_bundle_header *h = &w->header;
    int rc = 0;

    *h = (vls_bundle_header){
        .format = VLS_FORMAT,
        .workspace = w->txn->meta.workspace,
        .whole = w->whole,
        .tip_seq = w->txn->tip.seq,
        .tip_hash = w->txn->tip.hash,
    };
    if (w->whole) {
        h->base_seq = w->txn->tip.base_seq;
        h->base_hash = w->txn->meta.base_hash;
        rc = vls_state_hash(&h->state, w->how->view, err);
    } else {
        h->roots = (valise_list){w->part.roots.ptr, w->part.roots.len};
    }
    if (rc == 0)
        rc = vls_fields_write(&w->body, h, vls_bundle_header_fields, VLS_FIELD_LOGGED, 0, err);
    return rc < 0 ? rc : put_record(w, 'H', VLS_STR(""), err);
}

static int compare_names(const void *a, const void *b)
{
    const vls_coll *const *x = a, *const *y = b;

    return strcmp((*x)->desc->name, (*y)->desc->name);
}

static void number_colls(vls_bundle_writer *w)
{
    for (uint32_t i = 0; i < vls_store_coll_count(w->txn->store); i++) {
        w->number[i] = NO_NUMBER;
        if (w->used[i])
            w->colls[w->coll_count++] = vls_store_coll_at(w->txn->store, i);
    }
    qsort(w->colls, w->coll_count, sizeof(w->colls[0]), compare_names);
    for (uint32_t i = 0; i < w->coll_count; i++)
        w->number[w->colls[i]->number] = i;
}

static int put_colls(vls_bundle_writer *w, valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < w->coll_count; i++) {
        vls_coll coll = *w->colls[i];
        coll.first_count = coll.field_count; /* when its columns came is the store's own affair */
        vls_bytes_add_string(&w->body, valise_str_of(coll.desc->name));
        rc = vls_coll_describe(&w->body, &coll, &w->arena, err);
        if (rc == 0)
            rc = put_record(w, 'C', VLS_STR(""), err);
        vls_arena_reset(&w->arena);
    }
    return rc;
}

/* ---- objects ---- */

static int put_object(vls_bundle_writer *w, const vls_object_info *info, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    int rc;

    vls_bytes_add_string(&w->body, valise_str_of(info->kind));
    vls_buf_add(&w->body, vls_str(info->id.bytes, sizeof(info->id.bytes)));
    if (info->erased) {
        w->counts.erased++;
        vls_bytes_add_varint(&w->body, (uint64_t)info->size);
        return put_record(w, 'X', VLS_STR(""), err);
    }
    rc = vls_object_get(&blob, w->txn, &info->id, err);
    if (rc < 0)
        return rc;
    w->counts.objects++;
    return put_record(w, 'O', vls_blob_bytes(blob), err);
}

/* All that are marked, in the order of the index: by the first 8 bytes of the id. */
static int put_marked_objects(vls_bundle_writer *w, valise_error *err)
{
    const vls_coll *table = vls_store_coll_at(w->txn->store, VLS_TABLE_OBJECT);
    valise_range range = {.index = vls_coll_index(table, "h8")};
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell cells[VALISE_MAX_COLUMNS];
    vls_object_info info;
    int rc = vls_txn_scan_open(&scan, w->txn, table, range, err);

    while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0) {
        rc = vls_object_of_row(&info, w->txn, cells, err);
        if (rc == 0 && vls_bits_get(&w->objects, info.number))
            rc = put_object(w, &info, err);
    }
    return rc;
}

static int put_objects(vls_bundle_writer *w, valise_error *err)
{
    int rc = 0;

    if (w->whole)
        return put_marked_objects(w, err);
    for (size_t i = 0; rc == 0 && i < w->part.objects.len; i++) {
        const valise_id *id = &w->part.objects.ptr[i];
        vls_object_info info;
        rc = vls_object_stat(&info, w->txn, id, err);
        if (rc == 0)
            return vls_fail(err, VALISE_E_CORRUPT, "object %s is missing", vls_id_hex(id).s);
        if (rc > 0)
            rc = put_object(w, &info, err);
    }
    return rc;
}

/* ---- rows ---- */

/* cells: all columns. */
static int put_row(vls_bundle_writer *w, const vls_coll *coll, const valise_cell *cells,
                   valise_error *err)
{
    size_t count = coll->field_count;

    while (count > 0 && cells[count - 1].type == VALISE_CELL_NULL)
        count--;
    vls_bytes_add_varint(&w->body, w->number[coll->number]);
    vls_bytes_add_varint(&w->body, (uint64_t)cells[vls_coll_seq_column(coll)].as.integer);
    vls_cells_write(&w->body, cells, count);
    w->counts.rows++;
    return put_record(w, 'R', VLS_STR(""), err);
}

static int put_all_rows(vls_bundle_writer *w, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < w->coll_count; i++) {
        VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
        rc = vls_txn_scan_open(&scan, w->txn, w->colls[i], (valise_range){.index = -1}, err);
        while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0)
            rc = put_row(w, w->colls[i], cells, err);
    }
    return rc;
}

static int put_rows(vls_bundle_writer *w, valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS], cells[VALISE_MAX_COLUMNS];
    int rc = 0;

    if (w->whole)
        return put_all_rows(w, err);
    for (size_t i = 0; rc == 0 && i < w->part.rows.len; i++) {
        const vls_bundle_row *row = w->part.rows.ptr[i];
        rc = vls_key_read(key, row->coll->key_count, row->key, &w->arena, err);
        if (rc == 0)
            rc = vls_txn_get(cells, w->txn, row->coll, key, err);
        if (rc > 0)
            rc = put_row(w, row->coll, cells, err);
        vls_arena_reset(&w->arena);
    }
    return rc;
}

static int put_gone(vls_bundle_writer *w, const vls_gone *gone, valise_error *err)
{
    vls_bytes_add_varint(&w->body, w->number[gone->coll]);
    vls_bytes_add_string(&w->body, gone->key);
    vls_bytes_add_varint(&w->body, (uint64_t)gone->seq);
    w->counts.gone++;
    return put_record(w, 'G', VLS_STR(""), err);
}

static int put_all_gone(vls_bundle_writer *w, valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; w->whole && rc == 0 && i < w->coll_count; i++)
        rc = vls_bundle_each_gone(w, put_gone, w->colls[i], err);
    return rc;
}

/* ---- the log ---- */

/* The list of an entry with the numbers of the bundle. */
static int renumber(vls_bundle_writer *w, vls_entry *entry, valise_error *err)
{
    vls_image image;
    size_t at = 0;
    int rc;

    if (entry->changes.len == 0)
        return 0;
    vls_buf_clear(&w->list);
    while ((rc = vls_changes_next(&image, &at, entry->changes, err)) > 0) {
        image.coll = w->number[image.coll];
        vls_changes_write(&w->list, &image);
    }
    entry->changes = vls_buf_str(&w->list);
    return rc < 0 ? rc : vls_buf_check(&w->list, err);
}

static int put_entry(vls_bundle_writer *w, vls_entry *entry, valise_error *err)
{
    const vls_coll *log = vls_store_coll_at(w->txn->store, VLS_TABLE_LOG);
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = renumber(w, entry, err);

    if (rc == 0)
        rc = vls_row_to_cells(cells, entry, log->desc->fields, &w->arena, err);
    if (rc < 0)
        return rc;
    vls_cells_write(&w->body, cells, log->field_count);
    w->counts.entries++;
    return put_record(w, 'L', VLS_STR(""), err);
}

static int put_log(vls_bundle_writer *w, valise_error *err)
{
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    vls_entry entry;
    int rc;

    if (!w->whole)
        return 0;
    rc = vls_log_scan_open(&scan, w->txn, 0, false, err);
    while (rc >= 0 && (rc = vls_log_scan_next(&entry, &scan, &w->arena, err)) > 0) {
        rc = put_entry(w, &entry, err);
        vls_arena_reset(&w->arena);
    }
    return rc;
}

/* ---- blobs ---- */

/* Exactly len bytes of a blob into room. */
static int fill(vls_blob_reader *reader, char *room, size_t len, valise_error *err)
{
    for (size_t have = 0; have < len;) {
        size_t got = 0;
        int rc = vls_blob_reader_read(&got, reader, room + have, len - have, err);
        if (rc < 0)
            return rc;
        have += got; /* it fails itself when it is shorter than it says */
    }
    return 0;
}

static int put_pieces(vls_bundle_writer *w, vls_blob_reader *reader, valise_error *err)
{
    uint64_t left = vls_blob_reader_size(reader);
    char *room = vls_arena_alloc(&w->arena, VLS_BUNDLE_PIECE_BYTES);
    int rc = 0;

    if (!room)
        return vls_arena_fail(&w->arena, err);
    while (rc == 0 && left > 0) {
        size_t len = (size_t)VLS_MIN(left, VLS_BUNDLE_PIECE_BYTES);
        rc = fill(reader, room, len, err);
        if (rc == 0)
            rc = put_record(w, 'P', vls_str(room, len), err);
        left -= len;
    }
    return rc;
}

/* Rows name a blob that was erased by its id for as long as they are there. */
static int miss_blob(const vls_bundle_writer *w, const valise_id *id, const valise_error *failure,
                     valise_error *err)
{
    bool erased = false, named = true;
    int rc = vls_blob_was_erased(&erased, w->txn, id, err);

    if (rc < 0 || erased)
        return rc;
    rc = vls_blob_is_named(&named, w->txn->store, id, err);
    if (rc < 0)
        return rc;
    if (!named) {
        (void)vls_fail(err, VALISE_E_CONFLICT, "blob %s was released while the bundle was written",
                       vls_id_hex(id).s);
        vls_hint(err, "export again");
        return VALISE_E_CONFLICT;
    }
    if (err)
        *err = *failure;
    return VALISE_E_NOT_FOUND;
}

static int put_blob(vls_bundle_writer *w, const valise_id *id, valise_error *err)
{
    VLS_AUTO(blob_reader) vls_blob_reader *reader = NULL;
    valise_error failure = VALISE_ERROR_INIT;
    int rc;

    if (!w->how->blobs)
        return vls_fail(err, VALISE_E_UNSUPPORTED,
                        "a row names blob %s, and this workspace has no blob storage",
                        vls_id_hex(id).s);
    rc = vls_blob_reader_open(&reader, w->how->blobs, id, &failure);
    if (rc == VALISE_E_NOT_FOUND)
        return miss_blob(w, id, &failure, err);
    if (rc < 0) {
        if (err)
            *err = failure;
        return rc;
    }
    vls_buf_add(&w->body, vls_str(id->bytes, sizeof(id->bytes)));
    vls_bytes_add_varint(&w->body, vls_blob_reader_size(reader));
    w->counts.blobs++;
    rc = put_record(w, 'B', VLS_STR(""), err);
    if (rc == 0)
        rc = put_pieces(w, reader, err);
    vls_arena_reset(&w->arena);
    return rc;
}

static int put_blobs(vls_bundle_writer *w, valise_error *err)
{
    const valise_id *ids = w->whole ? w->blobs.ptr : w->part.blobs.ptr;
    size_t count = w->whole ? w->blobs.len : w->part.blobs.len;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = put_blob(w, &ids[i], err);
    return rc;
}

/* ---- all of it ---- */

static int put_end(vls_bundle_writer *w, valise_error *err)
{
    valise_id id;
    int rc = flush(w, err);

    if (rc < 0)
        return rc;
    vls_hash_end(&id, &w->stream);
    vls_hash_begin(&w->stream); /* nobody asks for what follows */
    vls_buf_add(&w->body, vls_str(id.bytes, sizeof(id.bytes)));
    rc = put_record(w, 'Z', VLS_STR(""), err);
    return rc < 0 ? rc : flush(w, err);
}

static int write_all(vls_bundle_writer *w, valise_error *err)
{
    int (*const steps[])(vls_bundle_writer * w, valise_error * err) = {
        put_header, put_colls, put_objects, put_rows, put_all_gone, put_log, put_blobs, put_end};
    int rc;

    number_colls(w);
    vls_hash_begin(&w->stream);
    vls_progress_begin(w->how->progress, "write the bundle", "records", 0);
    rc = put_bytes(w, VLS_STR(VLS_BUNDLE_MAGIC "1\n"), err);
    for (size_t i = 0; rc == 0 && i < VLS_COUNT(steps); i++)
        rc = steps[i](w, err);
    return rc < 0 ? rc : vls_progress_end(w->how->progress, err);
}

static int start(vls_bundle_writer *w, valise_error *err)
{
    int rc = vls_txn_check_complete(w->txn, err);

    for (size_t i = 0; rc == 0 && i < w->how->root_count; i++)
        rc = vls_bundle_part_add(&w->part, w->how->roots[i], err);
    return rc;
}

int vls_bundle_write(vls_bundle_counts *out, vls_bundle_header *header,
                     const vls_bundle_export *how, valise_error *err)
{
    const valise_env *env = how->view->arena.env;
    vls_bundle_writer *w = vls_arena_zalloc(&how->view->arena, sizeof(*w));
    int rc;

    if (!w)
        return vls_arena_fail(&how->view->arena, err);
    w->how = how;
    w->txn = how->view->txn;
    w->env = env;
    w->whole = how->root_count == 0;
    w->objects.env = env;
    vls_buf_init(&w->out, env, 2 * OUT_BYTES);
    vls_buf_init(&w->body, env, VLS_VIEW_MAX_BYTES);
    vls_buf_init(&w->list, env, VLS_CHANGES_MAX);
    vls_arena_init(&w->arena, env, VLS_VIEW_MAX_BYTES);
    vls_bundle_part_init(&w->part, how->view, how->local);
    rc = start(w, err);
    if (rc == 0)
        rc = vls_bundle_survey(w, err);
    if (rc == 0)
        rc = write_all(w, err);
    if (rc == 0) {
        *out = w->counts;
        *header = w->header;
        header->roots = (valise_list){NULL, 0}; /* its memory goes */
    }
    vls_bundle_part_release(&w->part);
    vls_vec_release(&w->blobs, env);
    vls_bits_release(&w->objects);
    vls_arena_release(&w->arena);
    vls_buf_release(&w->list);
    vls_buf_release(&w->body);
    vls_buf_release(&w->out);
    return rc;
}
