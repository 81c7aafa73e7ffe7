/* object.c -- objects: put, get, look up.
 *
 * A look-up goes by h8, the first 8 bytes of the id as a number that orders as the bytes do, and
 * compares the whole id in the row. The rows that a scan stands on stay valid whatever else is
 * read, so recipes are followed where they are. */
#include "store/object.h"

#include "base/chunk.h"
#include "base/hex.h"
#include "base/text.h"
#include "store/chunks.h"
#include "store/impl.h"
#include "store/objects.h"
#include "store/own.h"
#include "store/recipe.h"

/* ---- ids ---- */

static bool is_kind(valise_str kind)
{
    if (kind.len == 0 || kind.len > VLS_OBJECT_KIND_MAX || kind.ptr[0] < 'a' || kind.ptr[0] > 'z')
        return false;
    for (size_t i = 1; i < kind.len; i++) {
        char c = kind.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-'))
            return false;
    }
    return true;
}

int vls_object_id(valise_id *out, const char *kind, valise_str bytes, valise_error *err)
{
    vls_hasher hasher;
    char tag[sizeof("valise..1") + VLS_OBJECT_KIND_MAX] = "";
    vls_buf text = {.ptr = tag, .cap = sizeof(tag), .max = sizeof(tag) - 1};

    if (kind && strcmp(kind, "value") == 0) { /* by far the most */
        vls_hash_begin_tagged(&hasher, "valise.value.1");
        vls_hash_field(&hasher, bytes);
        vls_hash_end(out, &hasher);
        return 0;
    }
    if (!kind || !is_kind(valise_str_of(kind)))
        return vls_fail(err, VALISE_E_INVALID,
                        "'%s' is not a kind of object: it must be a letter and then letters, "
                        "digits, '.' and '-', at most %u bytes",
                        vls_text_short(valise_str_of(kind)).s, VLS_OBJECT_KIND_MAX);
    if (strcmp(kind, "blob") == 0) {
        vls_hash_bytes(out, bytes);
        return 0;
    }
    vls_buf_add_text(&text, "valise.");
    vls_buf_add_text(&text, kind);
    vls_buf_add_text(&text, ".1");
    vls_hash_begin_tagged(&hasher, tag);
    vls_hash_field(&hasher, bytes);
    vls_hash_end(out, &hasher);
    return 0;
}

/* ---- rows ---- */

static valise_cell blob_cell(valise_str bytes)
{
    return (valise_cell){.type = VALISE_CELL_BLOB, .as.bytes = bytes};
}

static bool is_blob_or_none(const valise_cell *cell)
{
    return cell->type == VALISE_CELL_BLOB || cell->type == VALISE_CELL_NULL;
}

/* The sum says that the row is as it was written; this, that it was not written by somebody who
 * wants to do harm. */
static bool is_sound(const valise_cell *row)
{
    const valise_cell *hash = &row[VLS_OBJECT_HASH], *kind = &row[VLS_OBJECT_KIND];
    const valise_cell *size = &row[VLS_OBJECT_SIZE];
    const valise_cell *recipe = &row[VLS_OBJECT_RECIPE], *body = &row[VLS_OBJECT_BODY];

    return row[VLS_OBJECT_NUMBER].type == VALISE_CELL_INT && hash->type == VALISE_CELL_BLOB &&
           hash->as.bytes.len == sizeof(valise_id) && kind->type == VALISE_CELL_TEXT &&
           is_kind(kind->as.bytes) && size->type == VALISE_CELL_INT && size->as.integer >= 0 &&
           size->as.integer <= (int64_t)VLS_OBJECT_MAX &&
           row[VLS_OBJECT_TIME].type == VALISE_CELL_INT && is_blob_or_none(recipe) &&
           is_blob_or_none(body) &&
           (recipe->type == VALISE_CELL_NULL || body->type == VALISE_CELL_NULL);
}

int vls_object_of_row(vls_object_info *out, const vls_txn *txn, const valise_cell *row,
                      valise_error *err)
{
    vls_object_info info = {0};

    if (!is_sound(row))
        return vls_fail(err, VALISE_E_CORRUPT, "%s is not an object",
                        vls_coll_place(vls_objects_of(txn), row).s);
    info.number = row[VLS_OBJECT_NUMBER].as.integer;
    memcpy(&info.id, row[VLS_OBJECT_HASH].as.bytes.ptr, sizeof(info.id));
    memcpy(info.kind, row[VLS_OBJECT_KIND].as.bytes.ptr, row[VLS_OBJECT_KIND].as.bytes.len);
    info.size = row[VLS_OBJECT_SIZE].as.integer;
    info.time = row[VLS_OBJECT_TIME].as.integer;
    info.chunked = row[VLS_OBJECT_RECIPE].type == VALISE_CELL_BLOB;
    info.erased = !info.chunked && row[VLS_OBJECT_BODY].type == VALISE_CELL_NULL;
    *out = info;
    return 0;
}

/* A row that was found, valid as long as the scan is open. */
typedef struct found {
    vls_txn_scan scan;
    valise_cell row[VALISE_MAX_COLUMNS];
    vls_object_info info;
} found;

static void vls_auto_found(found *f)
{
    vls_txn_scan_close(&f->scan);
}

/* 1 or 0. */
static int find_id(found *out, vls_txn *txn, const valise_id *id, valise_error *err)
{
    valise_cell equal = vls_int_cell(vls_own_first8(id->bytes));
    int rc = vls_txn_scan_open(&out->scan, txn, vls_objects_of(txn),
                               (valise_range){.index = 0, .equal = &equal, .equal_count = 1}, err);

    while (rc >= 0 && (rc = vls_txn_scan_next(out->row, &out->scan, err)) == 1) {
        rc = vls_object_of_row(&out->info, txn, out->row, err);
        if (rc == 0 && vls_id_equal(&out->info.id, id))
            return 1;
    }
    return rc;
}

/* The same for who has the bytes at hand, and need not keep what is damaged: 0 and *number is a row
 * whose sum is wrong. */
static int find_sound(found *out, int64_t *number, vls_txn *txn, const valise_id *id,
                      valise_error *err)
{
    valise_cell equal = vls_int_cell(vls_own_first8(id->bytes));
    valise_error why = VALISE_ERROR_INIT;
    int rc = vls_txn_scan_open(&out->scan, txn, vls_objects_of(txn),
                               (valise_range){.index = 0, .equal = &equal, .equal_count = 1}, err);

    *number = 0;
    out->scan.unchecked = true;
    while (rc >= 0 && (rc = vls_txn_scan_next(out->row, &out->scan, err)) == 1) {
        rc = vls_txn_check_row(txn, vls_objects_of(txn), out->row, &why);
        if (rc == VALISE_E_CORRUPT) {
            *number = out->row[VLS_OBJECT_NUMBER].as.integer;
            return 0;
        }
        if (rc < 0)
            return vls_fail_memory(err);
        rc = vls_object_of_row(&out->info, txn, out->row, err);
        if (rc == 0 && vls_id_equal(&out->info.id, id))
            return 1;
    }
    return rc;
}

static int fail_missing(const valise_id *id, valise_error *err)
{
    return vls_fail(err, VALISE_E_NOT_FOUND, "there is no object %s", vls_id_hex(id).s);
}

/* ---- putting ---- */

/* Cut the bytes and append the recipe of the chunks. */
static int put_chunks(vls_buf *recipe, vls_txn *txn, valise_str bytes, uint8_t depth,
                      valise_error *err)
{
    vls_recipe_writer writer;

    vls_recipe_begin(&writer, recipe, depth);
    for (size_t at = 0; at < bytes.len;) {
        valise_str chunk = vls_str_from(bytes, at);
        int64_t number;
        chunk.len = vls_chunk_next((const uint8_t *)chunk.ptr, chunk.len);
        int rc = vls_chunks_put(&number, txn, chunk, err);
        if (rc < 0)
            return rc;
        vls_recipe_add(&writer, number);
        at += chunk.len;
    }
    vls_recipe_end(&writer);
    return vls_buf_check(recipe, err);
}

/* A recipe that is large itself is kept as chunks: versions of a large object share that too. */
static int put_recipe(vls_buf *recipe, vls_txn *txn, valise_str bytes, valise_error *err)
{
    VLS_AUTO(buf) vls_buf inner = {0};
    int rc = put_chunks(recipe, txn, bytes, 1, err);

    if (rc < 0 || recipe->len <= VLS_OBJECT_INLINE_MAX)
        return rc;
    inner = *recipe;
    vls_buf_init(recipe, inner.env, inner.max);
    return put_chunks(recipe, txn, vls_buf_str(&inner), VLS_RECIPE_MAX_DEPTH, err);
}

static int insert(vls_txn *txn, const valise_id *id, const char *kind, valise_str bytes,
                  int64_t time, valise_error *err)
{
    VLS_AUTO(buf) vls_buf recipe = {0};
    valise_cell row[VLS_OBJECT_COLUMNS] = {
        [VLS_OBJECT_H8] = vls_int_cell(vls_own_first8(id->bytes)),
        [VLS_OBJECT_HASH] = blob_cell(vls_str(id, sizeof(*id))),
        [VLS_OBJECT_KIND] = {.type = VALISE_CELL_TEXT, .as.bytes = valise_str_of(kind)},
        [VLS_OBJECT_SIZE] = vls_int_cell((int64_t)bytes.len),
        [VLS_OBJECT_TIME] = vls_int_cell(time),
    };
    int64_t number = 0;
    int rc = 0;

    if (bytes.len <= VLS_OBJECT_INLINE_MAX) {
        row[VLS_OBJECT_BODY] = blob_cell(bytes.len ? bytes : VLS_STR(""));
    } else {
        vls_buf_init(&recipe, vls_store_env(txn->store), VLS_OBJECT_MAX);
        rc = put_recipe(&recipe, txn, bytes, err);
        row[VLS_OBJECT_RECIPE] = blob_cell(vls_buf_str(&recipe));
    }
    if (rc == 0)
        rc = vls_chunks_next_object(&number, txn, err);
    if (rc < 0)
        return rc;
    row[VLS_OBJECT_NUMBER] = vls_int_cell(number);
    return vls_txn_put(txn, vls_objects_of(txn), row, 0, err);
}

/* Only when it is old enough to matter to gc: to write the row costs as much as to insert it. */
static int renew(found *f, vls_txn *txn, int64_t time, int64_t older_than, valise_error *err)
{
    if (f->info.time >= older_than || f->info.time >= time)
        return 0;
    f->row[VLS_OBJECT_TIME].as.integer = time;
    return vls_txn_put(txn, vls_objects_of(txn), f->row, 0, err);
}

int vls_object_touch(vls_txn *txn, const valise_id *id, int64_t now, int64_t older_than,
                     valise_error *err)
{
    VLS_AUTO(found) found f = {0};
    int rc = find_id(&f, txn, id, err);

    if (rc == 0)
        return fail_missing(id, err);
    return rc < 0 ? rc : renew(&f, txn, now, older_than, err);
}

/* ---- getting ---- */

static const vls_coll *chunks_of(const vls_txn *txn)
{
    return vls_store_coll_at(txn->store, VLS_TABLE_CHUNK);
}

static int fail_chunk(int64_t number, valise_error *err)
{
    return vls_fail(err, VALISE_E_CORRUPT, "chunk %lld is missing", (long long)number);
}

static int add_chunk(vls_buf *out, const valise_cell *row, int64_t number, valise_error *err)
{
    if (row[VLS_CHUNK_NUMBER].as.integer != number)
        return fail_chunk(number, err);
    if (row[VLS_CHUNK_BODY].type != VALISE_CELL_BLOB || row[VLS_CHUNK_BODY].as.bytes.len == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "chunk %lld is empty", (long long)number);
    vls_buf_add(out, row[VLS_CHUNK_BODY].as.bytes);
    if (out->failed == VALISE_E_NO_MEMORY)
        return vls_buf_check(out, err);
    if (out->failed)
        return vls_fail(err, VALISE_E_CORRUPT, "its chunks are larger than it is");
    return 0;
}

static int add_run(vls_buf *out, vls_txn *txn, int64_t first, int64_t count, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell from = vls_int_cell(first), row[VALISE_MAX_COLUMNS];
    int rc;

    if (count == 1) {
        rc = vls_txn_get(row, txn, chunks_of(txn), &from, err);
        if (rc == 0)
            return fail_chunk(first, err);
        return rc < 0 ? rc : add_chunk(out, row, first, err);
    }
    rc = vls_txn_scan_open(&scan, txn, chunks_of(txn),
                           (valise_range){.index = -1, .from = &from, .from_count = 1}, err);
    for (int64_t number = first; rc == 0 && number < first + count; number++) {
        rc = vls_txn_scan_next(row, &scan, err);
        if (rc == 0)
            return fail_chunk(number, err);
        if (rc == 1)
            rc = add_chunk(out, row, number, err);
    }
    return rc;
}

static int add_chunks(vls_buf *out, vls_txn *txn, vls_recipe_reader *recipe, valise_error *err)
{
    int64_t first, count;
    int rc;

    while ((rc = vls_recipe_next(&first, &count, recipe, err)) == 1) {
        rc = add_run(out, txn, first, count, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

int vls_object_inner_recipe(vls_recipe_reader *out, vls_buf *room, vls_txn *txn,
                            vls_recipe_reader *outer, valise_error *err)
{
    int rc = 0;

    if (outer->depth == 1) {
        *out = *outer;
        return 0;
    }
    rc = add_chunks(room, txn, outer, err);
    if (rc == 0)
        rc = vls_recipe_open(out, vls_buf_str(room), err);
    if (rc == 0 && out->depth != 1)
        rc = vls_fail(err, VALISE_E_CORRUPT, "a recipe of depth %u in another", out->depth);
    return rc;
}

/* Append the contents of the row. */
static int read_contents(vls_buf *out, vls_txn *txn, const valise_cell *row, valise_error *err)
{
    VLS_AUTO(buf) vls_buf room = {0};
    vls_recipe_reader outer, recipe;
    int rc;

    if (row[VLS_OBJECT_BODY].type == VALISE_CELL_BLOB) {
        vls_buf_add(out, row[VLS_OBJECT_BODY].as.bytes);
        return out->failed ? vls_fail(err, VALISE_E_CORRUPT, "it is larger than it says") : 0;
    }
    vls_buf_init(&room, vls_store_env(txn->store), VLS_OBJECT_MAX);
    rc = vls_recipe_open(&outer, row[VLS_OBJECT_RECIPE].as.bytes, err);
    if (rc == 0)
        rc = vls_object_inner_recipe(&recipe, &room, txn, &outer, err);
    return rc < 0 ? rc : add_chunks(out, txn, &recipe, err);
}

/* Which object it is, in front of what is wrong with it. */
static int fail_object(const valise_id *id, valise_error *err)
{
    valise_error why = err ? *err : (valise_error)VALISE_ERROR_INIT;
    int rc =
        vls_fail(err, VALISE_E_CORRUPT, "object %s is damaged: %s", vls_id_hex(id).s, why.message);

    vls_hint(err, "'valise validate' looks for further damage");
    return rc;
}

static int check_contents(const vls_object_info *info, valise_str bytes, valise_error *err)
{
    valise_id actual;
    int rc = vls_object_id(&actual, info->kind, bytes, err);

    if (rc == 0 && (bytes.len != (size_t)info->size || !vls_id_equal(&actual, &info->id)))
        rc = vls_fail(err, VALISE_E_CORRUPT, "its contents do not match its id");
    return rc;
}

int vls_object_get(valise_blob **out, vls_txn *txn, const valise_id *id, valise_error *err)
{
    VLS_AUTO(found) found f = {0};
    VLS_AUTO(blob) valise_blob *blob = NULL;
    vls_buf fixed;
    int rc = find_id(&f, txn, id, err);

    if (rc == 0)
        return fail_missing(id, err);
    if (rc < 0)
        return rc;
    if (f.info.erased)
        return vls_fail(err, VALISE_E_NOT_FOUND, "the contents of object %s were erased",
                        vls_id_hex(id).s);
    rc = vls_blob_new_draft(&blob, vls_store_env(txn->store), (size_t)f.info.size, err);
    if (rc < 0)
        return rc;
    /* A buffer over the draft: it never grows. */
    fixed = (vls_buf){.ptr = vls_blob_draft(blob), .cap = blob->len, .max = blob->len};
    rc = read_contents(&fixed, txn, f.row, err);
    if (rc == 0)
        rc = check_contents(&f.info, vls_buf_str(&fixed), err);
    if (rc == VALISE_E_CORRUPT)
        return fail_object(id, err);
    if (rc < 0)
        return rc;
    vls_blob_seal(blob);
    *out = VLS_TAKE(blob);
    return 0;
}

/* ---- putting again ---- */

#define DAMAGED_MAX 8u /* rows of one id that go; there is never more than one */

/* What is left to compare of the bytes; 1: the chunk is their beginning, which goes; or 0. */
static int same_chunk(valise_str *left, const valise_cell *row, int64_t number)
{
    valise_str body = row[VLS_CHUNK_BODY].as.bytes;

    if (row[VLS_CHUNK_NUMBER].as.integer != number ||
        row[VLS_CHUNK_BODY].type != VALISE_CELL_BLOB || !left->ptr || !vls_str_starts(*left, body))
        return 0;
    *left = vls_str_from(*left, body.len);
    return 1;
}

static int same_run(valise_str *left, vls_txn *txn, int64_t first, int64_t count, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell from = vls_int_cell(first), row[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_open(&scan, txn, chunks_of(txn),
                               (valise_range){.index = -1, .from = &from, .from_count = 1}, err);

    for (int64_t number = first; rc >= 0 && number < first + count; number++) {
        rc = vls_txn_scan_next(row, &scan, err);
        if (rc == 1)
            rc = same_chunk(left, row, number);
        if (rc <= 0)
            return rc;
    }
    return rc < 0 ? rc : 1;
}

/* Are the chunks what they were? 1, 0. The bytes are at hand: nothing need be hashed again. */
static int has_contents(vls_txn *txn, const valise_cell *row, valise_str bytes, valise_error *err)
{
    VLS_AUTO(buf) vls_buf room = {0};
    vls_recipe_reader outer, recipe;
    int64_t first, count;
    int rc;

    vls_buf_init(&room, vls_store_env(txn->store), VLS_OBJECT_MAX);
    rc = vls_recipe_open(&outer, row[VLS_OBJECT_RECIPE].as.bytes, err);
    if (rc == 0)
        rc = vls_object_inner_recipe(&recipe, &room, txn, &outer, err);
    while (rc == 0 && (rc = vls_recipe_next(&first, &count, &recipe, err)) == 1) {
        rc = same_run(&bytes, txn, first, count, err);
        if (rc <= 0)
            return rc;
        rc = 0;
    }
    return rc < 0 ? rc : bytes.len == 0;
}

/* 1: it is there, whole. 0: it is not, or not any more, and *number (0: none) is the row that takes
 * its place. Who puts again what is damaged has what would heal it. */
static int find_whole(found *f, int64_t *number, vls_txn *txn, const valise_id *id,
                      valise_str bytes, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = find_sound(f, number, txn, id, err);

    if (rc <= 0)
        return rc;
    *number = f->info.number;
    if (f->info.erased)
        return 0;
    rc = f->info.chunked ? has_contents(txn, f->row, bytes, &why) : 1;
    if (rc > 0)
        return 1;
    if (rc < 0 && rc != VALISE_E_CORRUPT) {
        if (err)
            *err = why;
        return rc;
    }
    vls_chunks_forget(txn->store->chunks); /* it may remember damaged ones */
    return 0;
}

int vls_object_put(vls_txn *txn, const valise_id *id, const char *kind, valise_str bytes,
                   int64_t time, bool *existed, valise_error *err)
{
    VLS_AUTO(found) found f = {0};
    int64_t number = 0;
    int rc;

    if (bytes.len > VLS_OBJECT_MAX)
        return vls_fail(err, VALISE_E_TOO_LARGE, "an object of %zu bytes: at most %zu are allowed",
                        bytes.len, VLS_OBJECT_MAX);
    /* Filled again: under a new number, so that a gc that is under way sees new chunks in it. */
    rc = find_whole(&f, &number, txn, id, bytes, err);
    for (unsigned i = 0; rc == 0 && number > 0 && i < DAMAGED_MAX; i++) {
        vls_txn_scan_close(&f.scan);
        rc = vls_object_delete(txn, number, err);
        if (rc == 0)
            rc = find_whole(&f, &number, txn, id, bytes, err);
    }
    if (rc == 1) {
        rc = renew(&f, txn, time, time - VLS_OBJECT_RENEW_NS, err);
        if (rc == 0)
            *existed = true;
        return rc;
    }
    vls_txn_scan_close(&f.scan);
    if (rc == 0)
        rc = insert(txn, id, kind, bytes, time, err);
    if (rc == 0)
        *existed = false;
    return rc;
}

int vls_object_add(valise_id *id, vls_txn *txn, const char *kind, valise_str bytes, int64_t time,
                   valise_error *err)
{
    bool existed;
    int rc = vls_object_id(id, kind, bytes, err);

    return rc < 0 ? rc : vls_object_put(txn, id, kind, bytes, time, &existed, err);
}

int vls_object_stat(vls_object_info *out, vls_txn *txn, const valise_id *id, valise_error *err)
{
    VLS_AUTO(found) found f = {0};
    int rc = find_id(&f, txn, id, err);

    if (rc == 1)
        *out = f.info;
    return rc;
}

/* ---- prefixes ---- */

/* Ids from low on, of which the first count digits matter. */
static int parse_digits(uint8_t *low, valise_str digits, valise_error *err)
{
    if (digits.len == 0 || digits.len > 2 * sizeof(valise_id))
        return vls_fail(err, VALISE_E_INVALID, "an id has 1 to 64 digits, this has %zu",
                        digits.len);
    memset(low, 0, sizeof(valise_id));
    for (size_t i = 0; i < digits.len; i++) {
        char c = digits.ptr[i];
        int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (value < 0)
            return vls_fail_at(err, VALISE_E_INVALID, i, "%s is not a digit of an id",
                               vls_byte_text(c).s);
        low[i / 2] = (uint8_t)(low[i / 2] | value << (i % 2 ? 0 : 4));
    }
    return 0;
}

static bool has_prefix(const valise_id *id, const uint8_t *low, size_t digits)
{
    return memcmp(id->bytes, low, digits / 2) == 0 &&
           (digits % 2 == 0 || id->bytes[digits / 2] >> 4 == low[digits / 2] >> 4);
}

int vls_object_find(vls_object_info *out, size_t *count, size_t max, vls_txn *txn,
                    valise_str digits, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell from, row[VALISE_MAX_COLUMNS];
    uint8_t low[sizeof(valise_id)];
    size_t h8_digits = VLS_MIN(digits.len, 16);
    size_t n = 0;
    int rc = parse_digits(low, digits, err);

    if (rc < 0)
        return rc;
    from = vls_int_cell(vls_own_first8(low));
    rc = vls_txn_scan_open(&scan, txn, vls_objects_of(txn),
                           (valise_range){.index = 0, .from = &from, .from_count = 1}, err);
    while (rc >= 0 && n < max && (rc = vls_txn_scan_next(row, &scan, err)) == 1) {
        vls_object_info info;
        rc = vls_object_of_row(&info, txn, row, err);
        if (rc == 0 && !has_prefix(&info.id, low, h8_digits))
            break;
        if (rc == 0 && has_prefix(&info.id, low, digits.len))
            out[n++] = info;
    }
    if (rc < 0)
        return rc;
    *count = n;
    return 0;
}
