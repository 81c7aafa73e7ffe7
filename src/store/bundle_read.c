/* bundle_read.c -- a bundle, record by record, every one of them checked.
 *
 * Two layers: frames (bytes, lengths, the hash over everything) and what stands in them. Whatever
 * the bytes are, memory is taken only for what is there: a length is compared with what is left of
 * the source before anything is allocated.
 *
 * All that is wrong with a bundle is VALISE_E_CORRUPT with the offset of the record. */
#include "base/bytes.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/text.h"
#include "store/bundle.h"
#include "store/own.h"

#define BUFFER_BYTES ((size_t)64 << 10)
#define HEADER_MAX ((size_t)64 << 20)
#define COLL_MAX ((size_t)4 << 20)       /* of a description */
#define LARGE_MAX (VLS_OBJECT_MAX + 256) /* of any other record */
#define ARENA_MAX ((size_t)512 << 20)    /* of the header and all descriptions */
#define MAGIC_LEN (sizeof(VLS_BUNDLE_MAGIC "1\n") - 1)

struct vls_bundle_reader {
    const valise_env *env;
    vls_bundle_source source;
    uint64_t at;    /* of the source: what was taken out of the buffer */
    uint64_t start; /* of the record */
    char *buffer;
    size_t buffer_at, buffer_len;
    vls_buf body;
    vls_arena kept;   /* header and collections */
    vls_arena record; /* of the record */

    vls_hasher stream, hasher, blob;
    vls_bundle_header header;
    vls_bundle_counts counts;
    vls_vec(vls_coll *) colls;
    valise_str last_name; /* of a collection */

    int rank; /* of the records that come now */
    bool over;
    valise_id end; /* the hash of the last record */

    vls_buf last_key; /* of rows or of deletions */
    uint32_t last_coll;
    bool has_last;
    valise_id last_id; /* of objects or blobs */
    valise_id last_hash;
    int64_t last_seq, last_time;

    valise_id blob_id; /* that comes now */
    uint64_t blob_left;
    bool in_blob;
};

static int wrong(const vls_bundle_reader *r, const char *what, valise_error *err)
{
    int rc = vls_fail_at(err, VALISE_E_CORRUPT, r->start, "the bundle is damaged: %s", what);

    vls_hint(err, "nothing was imported; get the bundle again");
    return rc;
}

/* What a function found wrong with a part of the bundle, as a fault of the bundle. */
static int wrong_part(const vls_bundle_reader *r, int rc, const char *what, valise_error *err)
{
    if (rc == VALISE_E_NO_MEMORY || rc == VALISE_E_IO || rc == VALISE_E_CANCELLED)
        return rc;
    return wrong(r, what, err);
}

/* ---- bytes ---- */

static uint64_t left_of(const vls_bundle_reader *r)
{
    return r->source.size_bytes - r->at;
}

static int refill(vls_bundle_reader *r, valise_error *err)
{
    size_t len = (size_t)VLS_MIN(left_of(r), BUFFER_BYTES);
    int rc = r->source.read(r->source.arg, r->at, r->buffer, len, err);

    if (rc < 0)
        return rc;
    r->buffer_at = 0;
    r->buffer_len = len;
    return 0;
}

/* Exactly len bytes, which are there. */
static int take(char *room, vls_bundle_reader *r, size_t len, valise_error *err)
{
    while (len > 0) {
        size_t part = r->buffer_len - r->buffer_at;
        if (part == 0) {
            int rc = refill(r, err);
            if (rc < 0)
                return rc;
            continue;
        }
        part = VLS_MIN(part, len);
        memcpy(room, r->buffer + r->buffer_at, part);
        r->buffer_at += part;
        r->at += part;
        room += part;
        len -= part;
    }
    return 0;
}

static int take_byte(char *out, vls_bundle_reader *r, valise_error *err)
{
    return left_of(r) == 0 ? wrong(r, "it was cut off", err) : take(out, r, 1, err);
}

/* ---- frames ---- */

static size_t limit_of(char tag)
{
    switch (tag) {
    case 'H':
        return HEADER_MAX;
    case 'C':
        return COLL_MAX;
    case 'X':
    case 'B':
        return 256;
    case 'P':
        return VLS_BUNDLE_PIECE_BYTES;
    case 'Z':
        return sizeof(valise_id);
    default:
        return LARGE_MAX;
    }
}

/* The length of a record, whose bytes go behind *head. */
static int take_length(uint64_t *out, vls_bundle_reader *r, char *head, size_t *head_len,
                       valise_error *err)
{
    vls_reader in;

    for (size_t i = 0; i < VLS_VARINT_MAX; i++) {
        int rc = take_byte(&head[*head_len], r, err);
        if (rc < 0)
            return rc;
        if (!(head[(*head_len)++] & 0x80))
            break;
    }
    in = vls_reader_of(vls_str(head + 1, *head_len - 1));
    *out = vls_reader_varint(&in);
    return vls_reader_is_done(&in) ? 0 : wrong(r, "a length that is none", err);
}

/* The next record into r->body. */
static int take_frame(char *tag, vls_bundle_reader *r, valise_error *err)
{
    char head[1 + VLS_VARINT_MAX];
    size_t head_len = 1;
    uint64_t len = 0;
    char *room;
    int rc;

    r->start = r->at;
    rc = take_byte(head, r, err);
    if (rc == 0)
        rc = take_length(&len, r, head, &head_len, err);
    if (rc < 0)
        return rc;
    if (len > limit_of(head[0]))
        return wrong(r, "a record that is larger than any may be", err);
    if (len > left_of(r))
        return wrong(r, "it was cut off", err);
    vls_buf_clear(&r->body);
    room = vls_buf_reserve(&r->body, (size_t)len);
    if (!room)
        return vls_buf_check(&r->body, err);
    rc = take(room, r, (size_t)len, err);
    if (rc < 0)
        return rc;
    vls_buf_advance(&r->body, (size_t)len);
    if (head[0] != 'Z') {
        vls_hash_update(&r->stream, vls_str(head, head_len));
        vls_hash_update(&r->stream, vls_buf_str(&r->body));
    }
    *tag = head[0];
    return 0;
}

/* ---- rows ---- */

/* The cells that stand in bytes, if a row of this collection can have them: of the right types, in
 * the one form in which they are written. *count: of those that stand there. */
static int read_row(valise_cell *cells, size_t *count, vls_bundle_reader *r, const vls_coll *coll,
                    valise_str bytes, valise_error *err)
{
    const valise_coll *desc = coll->desc;
    valise_cell again[VALISE_MAX_COLUMNS];
    void *row = vls_arena_zalloc(&r->record, desc->row_size);
    int rc;

    if (!row)
        return vls_arena_fail(&r->record, err);
    memset(cells, 0, VALISE_MAX_COLUMNS * sizeof(*cells));
    rc = vls_cells_read(cells, count, coll->field_count, bytes, err);
    if (rc == 0)
        rc = vls_row_from_cells(row, desc->fields, desc->row_size, cells, coll->field_count,
                                &r->record, err);
    if (rc == 0)
        rc = vls_row_to_cells(again, row, desc->fields, &r->record, err);
    if (rc < 0)
        return wrong_part(r, rc, "a row that its table does not fit", err);
    if (!vls_cells_equal(cells, again, coll->field_count))
        return wrong(r, "a row that is not in its one form", err);
    return 0;
}

/* A key of that collection, in its one form. */
static int read_key(vls_bundle_reader *r, const vls_coll *coll, valise_str key, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = vls_key_read(cells, coll->key_count, key, &r->record, err);

    if (rc < 0)
        return wrong_part(r, rc, "a key that is none", err);
    for (uint16_t i = 0; i < coll->key_count; i++) {
        if (cells[i].type != vls_field_cell_type(&coll->desc->fields[i]))
            return wrong(r, "a key that its table does not fit", err);
    }
    return 0;
}

/* Rows stand by collection and key. */
static int check_order(vls_bundle_reader *r, uint32_t number, valise_str key, valise_error *err)
{
    if (r->has_last &&
        (number < r->last_coll ||
         (number == r->last_coll && vls_str_compare(vls_buf_str(&r->last_key), key) >= 0)))
        return wrong(r, "rows that are not in order", err);
    r->has_last = true;
    r->last_coll = number;
    vls_buf_clear(&r->last_key);
    vls_buf_add(&r->last_key, key);
    return vls_buf_check(&r->last_key, err);
}

static const vls_coll *coll_of(const vls_bundle_reader *r, uint64_t number)
{
    return number < r->colls.len ? r->colls.ptr[number] : NULL;
}

static int read_row_record(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    vls_reader in = vls_reader_of(vls_buf_str(&r->body));
    uint64_t number = vls_reader_varint(&in), seq = vls_reader_varint(&in);
    const vls_coll *coll = coll_of(r, number);
    valise_cell *cells = vls_arena_array(&r->record, VALISE_MAX_COLUMNS, sizeof(*cells));
    VLS_AUTO(buf) vls_buf key = {0};
    size_t count = 0;
    int rc;

    if (!cells)
        return vls_arena_fail(&r->record, err);
    if (in.failed || !coll || seq == 0 || seq > (uint64_t)r->header.tip_seq)
        return wrong(r, "a row of nowhere", err);
    rc = read_row(cells, &count, r, coll, vls_reader_slice(&in, vls_reader_left(&in)), err);
    if (rc < 0)
        return rc;
    if (cells[count - 1].type == VALISE_CELL_NULL) /* there is a key, so there are cells */
        return wrong(r, "a row that is not in its one form", err);
    vls_buf_init(&key, r->env, LARGE_MAX);
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

static int read_gone(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    vls_reader in = vls_reader_of(vls_buf_str(&r->body));
    uint64_t number = vls_reader_varint(&in), seq;
    const vls_coll *coll = coll_of(r, number);
    int rc;

    out->key = vls_reader_string(&in);
    seq = vls_reader_varint(&in);
    if (!vls_reader_is_done(&in) || !coll || !r->header.whole ||
        seq <= (uint64_t)r->header.base_seq || seq > (uint64_t)r->header.tip_seq)
        return wrong(r, "a deletion of nothing", err);
    rc = read_key(r, coll, out->key, err);
    if (rc == 0)
        rc = check_order(r, (uint32_t)number, out->key, err);
    out->number = (uint32_t)number;
    out->coll = coll;
    out->seq = (int64_t)seq;
    r->counts.gone++;
    return rc;
}

/* ---- header and collections ---- */

static bool is_zero_id(const valise_id *id)
{
    static const valise_id zero;

    return vls_id_equal(id, &zero);
}

static bool is_sound(const vls_bundle_header *h)
{
    if (h->tip_seq < h->base_seq || h->base_seq < 0 ||
        (h->tip_seq == 0) != is_zero_id(&h->tip_hash))
        return false;
    if (!h->whole)
        return h->roots.count > 0 && h->base_seq == 0 && is_zero_id(&h->base_hash) &&
               is_zero_id(&h->state);
    return h->roots.count == 0 && !is_zero_id(&h->state) &&
           (h->base_seq == 0) == is_zero_id(&h->base_hash) &&
           (h->base_seq == 0 || h->base_seq < h->tip_seq);
}

static int read_header(vls_bundle_reader *r, valise_error *err)
{
    VLS_AUTO(buf) vls_buf again = {0};
    valise_str text;
    vls_json v;
    int rc = vls_arena_dup(&text, &r->kept, vls_buf_str(&r->body), err);

    if (rc == 0)
        rc = vls_json_parse(&v, &r->kept, text, NULL, err);
    if (rc == 0)
        rc = vls_fields_decode(&r->header, vls_bundle_header_fields, sizeof(r->header), v,
                               VLS_FIELD_LOGGED, &r->kept, err);
    vls_buf_init(&again, r->env, HEADER_MAX);
    if (rc == 0)
        rc = vls_fields_write(&again, &r->header, vls_bundle_header_fields, VLS_FIELD_LOGGED, 0,
                              err);
    if (rc < 0)
        return wrong_part(r, rc, "its header is none", err);
    if (r->header.format > VLS_FORMAT) {
        rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                      "the bundle holds rows of format %lld, this program reads format %d",
                      (long long)r->header.format, VLS_FORMAT);
        vls_hint(err, "use a newer version of valise");
        return rc;
    }
    if (!vls_str_equal(vls_buf_str(&again), text) || !is_sound(&r->header))
        return wrong(r, "its header makes no sense", err);
    r->last_seq = r->header.base_seq;
    r->last_hash = r->header.base_hash;
    return 0;
}

static int read_coll(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    vls_reader in = vls_reader_of(vls_buf_str(&r->body));
    valise_str name = vls_reader_string(&in);
    valise_str text = vls_reader_slice(&in, vls_reader_left(&in));
    vls_coll *coll = vls_arena_zalloc(&r->kept, sizeof(*coll));
    VLS_AUTO(buf) vls_buf again = {0};
    int rc;

    if (!coll)
        return vls_arena_fail(&r->kept, err);
    if (in.failed || (r->colls.len > 0 && vls_str_compare(r->last_name, name) >= 0) ||
        r->colls.len >= VLS_COLL_MAX)
        return wrong(r, "collections that are not in order", err);
    rc = vls_arena_dup(&r->last_name, &r->kept, name, err);
    if (rc == 0)
        rc = vls_coll_restore(coll, r->last_name, text, &r->kept, err);
    vls_buf_init(&again, r->env, COLL_MAX);
    if (rc == 0)
        rc = vls_coll_describe(&again, coll, &r->kept, err);
    if (rc < 0)
        return wrong_part(r, rc, "a collection that makes no sense", err);
    if (!vls_str_equal(vls_buf_str(&again), text) || coll->first_count != coll->field_count ||
        (coll->desc->flags & VALISE_COLL_EXEMPT))
        return wrong(r, "a collection that is not described in its one form", err);
    if (!vls_vec_push(&r->colls, r->env, coll))
        return vls_fail_memory(err);
    out->number = (uint32_t)(r->colls.len - 1);
    out->coll = coll;
    out->text = text;
    return 0;
}

/* ---- objects ---- */

static int read_object(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    vls_reader in = vls_reader_of(vls_buf_str(&r->body));
    valise_str kind = vls_reader_string(&in), id = vls_reader_slice(&in, sizeof(valise_id)), copy;
    valise_id actual;
    int rc;

    if (in.failed || kind.len > VLS_OBJECT_KIND_MAX || memchr(kind.ptr, 0, kind.len))
        return wrong(r, "an object that is none", err);
    memcpy(&out->id, id.ptr, sizeof(out->id));
    rc = vls_arena_dup(&copy, &r->record, kind, err);
    if (rc < 0)
        return rc;
    out->kind = copy.ptr;
    if (r->has_last &&
        (memcmp(&r->last_id, &out->id, 8) > 0 || vls_id_equal(&r->last_id, &out->id)))
        return wrong(r, "objects that are not in order", err);
    r->has_last = true;
    r->last_id = out->id;
    if (out->tag == 'X') {
        out->size = vls_reader_varint(&in);
        r->counts.erased++;
        rc = vls_object_id(&actual, &r->hasher, out->kind, VLS_STR(""), err); /* is it a kind? */
        if (rc < 0 || !vls_reader_is_done(&in) || out->size > VLS_OBJECT_MAX)
            return wrong_part(r, rc, "an erased object that is none", err);
        return 0;
    }
    out->bytes = vls_reader_slice(&in, vls_reader_left(&in));
    r->counts.objects++;
    rc = vls_object_id(&actual, &r->hasher, out->kind, out->bytes, err);
    if (rc < 0)
        return wrong_part(r, rc, "an object that is none", err);
    return vls_id_equal(&actual, &out->id) ? 0 : wrong(r, "an object with another's id", err);
}

/* ---- the log ---- */

static int check_image(vls_bundle_reader *r, const vls_image *image, int64_t seq, valise_error *err)
{
    const vls_coll *coll = coll_of(r, image->coll);
    valise_cell cells[VALISE_MAX_COLUMNS];
    VLS_AUTO(buf) vls_buf key = {0};
    size_t count = 0;
    int rc;

    if (!coll || (coll->desc->flags & VALISE_COLL_QUIET) || image->from_seq >= seq ||
        image->gone_seq >= seq)
        return wrong(r, "an entry that changes what is not there", err);
    rc = read_key(r, coll, image->key, err);
    if (rc < 0 || image->from_seq == 0)
        return rc;
    rc = read_row(cells, &count, r, coll, image->cells, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&key, r->env, LARGE_MAX);
    vls_key_write(&key, cells, coll->key_count);
    rc = vls_buf_check(&key, err);
    if (rc == 0 && !vls_str_equal(vls_buf_str(&key), image->key))
        rc = wrong(r, "an entry that changes another row", err);
    return rc;
}

static int check_changes(vls_bundle_reader *r, const vls_entry *entry, valise_error *err)
{
    VLS_AUTO(buf) vls_buf again = {0};
    vls_image image;
    size_t at = 0;
    int rc;

    if (entry->changes.len > VLS_CHANGES_MAX)
        return wrong(r, "an entry that changes too much", err);
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
        return wrong_part(r, rc, "an entry whose list makes no sense", err);
    rc = vls_buf_check(&again, err);
    if (rc == 0 && !vls_str_equal(vls_buf_str(&again), entry->changes))
        rc = wrong(r, "an entry whose list is not in its one form", err);
    return rc;
}

static int64_t id8_of(const valise_uuid *id)
{
    return (int64_t)(vls_bytes_load_u64(id->bytes) ^ (UINT64_C(1) << 63));
}

static int read_entry(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
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
        return wrong_part(r, rc, "an entry that is none", err);
    if (count != field_count || !vls_cells_equal(cells, again, count) ||
        entry->seq != r->last_seq + 1 || entry->seq > r->header.tip_seq ||
        entry->time < r->last_time || entry->id8 != id8_of(&entry->id) || !r->header.whole)
        return wrong(r, "an entry that does not follow the one before", err);
    rc = vls_log_verify(&unverifiable, entry, r->last_seq > 0 ? &r->last_hash : NULL, &r->hasher,
                        err);
    if (rc < 0)
        return wrong_part(r, rc, "its log does not hang together", err);
    r->last_seq = entry->seq;
    r->last_time = entry->time;
    r->last_hash = entry->hash;
    r->counts.entries++;
    return check_changes(r, entry, err);
}

/* ---- blobs ---- */

static int end_blob(vls_bundle_reader *r, valise_error *err)
{
    valise_id actual;
    int rc = vls_hash_end(&actual, &r->blob, err);

    if (rc < 0)
        return rc;
    r->in_blob = false;
    return vls_id_equal(&actual, &r->blob_id) ? 0 : wrong(r, "a blob with another's id", err);
}

static int read_blob(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    vls_reader in = vls_reader_of(vls_buf_str(&r->body));
    valise_str id = vls_reader_slice(&in, sizeof(valise_id));

    out->size = vls_reader_varint(&in);
    if (!vls_reader_is_done(&in) || r->in_blob || out->size > left_of(r))
        return wrong(r, "a blob that is none", err);
    memcpy(&out->id, id.ptr, sizeof(out->id));
    if (r->has_last && vls_id_compare(&r->last_id, &out->id) >= 0)
        return wrong(r, "blobs that are not in order", err);
    r->has_last = true;
    r->last_id = r->blob_id = out->id;
    r->blob_left = out->size;
    r->in_blob = true;
    r->counts.blobs++;
    vls_hash_begin(&r->blob);
    return out->size == 0 ? end_blob(r, err) : 0;
}

static int read_piece(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    out->bytes = vls_buf_str(&r->body);
    if (!r->in_blob || out->bytes.len != VLS_MIN(r->blob_left, VLS_BUNDLE_PIECE_BYTES))
        return wrong(r, "a piece of no blob", err);
    vls_hash_update(&r->blob, out->bytes);
    r->blob_left -= out->bytes.len;
    return r->blob_left == 0 ? end_blob(r, err) : 0;
}

/* ---- the end ---- */

static int read_end(vls_bundle_reader *r, valise_error *err)
{
    valise_id actual;
    int rc = vls_hash_end(&actual, &r->stream, err);

    if (rc < 0)
        return rc;
    if (r->body.len != sizeof(actual) || memcmp(r->body.ptr, &actual, sizeof(actual)) != 0)
        return wrong(r, "it is not what was written", err);
    if (left_of(r) > 0)
        return wrong(r, "something stands behind its end", err);
    if (r->in_blob || (r->header.whole && (r->last_seq != r->header.tip_seq ||
                                           !vls_id_equal(&r->last_hash, &r->header.tip_hash))))
        return wrong(r, "its log does not reach its tip", err);
    r->end = actual;
    r->over = true;
    r->counts.bytes = r->source.size_bytes;
    return 0;
}

/* ---- reading ---- */

/* Where a record may stand. */
static int rank_of(char tag)
{
    static const char order[] = "HCORGLBZ";
    const char *at = strchr(order, tag == 'X' ? 'O' : tag == 'P' ? 'B' : tag);

    return tag && at ? (int)(at - order) : -1;
}

static int check_rank(vls_bundle_reader *r, char tag, valise_error *err)
{
    int rank = rank_of(tag);

    if (rank < r->rank || rank <= 0 || (r->in_blob && tag != 'P'))
        return wrong(r, "records that are not in order", err);
    if (rank > r->rank)
        r->has_last = false;
    r->rank = rank;
    return 0;
}

int vls_bundle_next(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    char tag = 0;
    int rc;

    if (r->over)
        return 0;
    vls_arena_reset(&r->record);
    rc = take_frame(&tag, r, err);
    if (rc == 0)
        rc = check_rank(r, tag, err);
    if (rc < 0)
        return rc;
    *out = (vls_bundle_record){.tag = tag};
    switch (tag) {
    case 'C':
        rc = read_coll(out, r, err);
        break;
    case 'O':
    case 'X':
        rc = read_object(out, r, err);
        break;
    case 'R':
        rc = read_row_record(out, r, err);
        break;
    case 'G':
        rc = read_gone(out, r, err);
        break;
    case 'L':
        rc = read_entry(out, r, err);
        break;
    case 'B':
        rc = read_blob(out, r, err);
        break;
    case 'P':
        rc = read_piece(out, r, err);
        break;
    default:
        rc = read_end(r, err);
        return rc < 0 ? rc : 0;
    }
    return rc < 0 ? rc : 1;
}

/* ---- opening and closing ---- */

static int read_magic(vls_bundle_reader *r, valise_error *err)
{
    char magic[MAGIC_LEN];
    int rc;

    if (left_of(r) < sizeof(magic))
        return wrong(r, "it is too short to be one", err);
    rc = take(magic, r, sizeof(magic), err);
    if (rc < 0)
        return rc;
    vls_hash_update(&r->stream, vls_str(magic, sizeof(magic)));
    if (memcmp(magic, VLS_BUNDLE_MAGIC, sizeof(VLS_BUNDLE_MAGIC) - 1) != 0)
        return wrong(r, "it does not begin like one", err);
    if (magic[MAGIC_LEN - 2] == '0' + VLS_BUNDLE_FORMAT && magic[MAGIC_LEN - 1] == '\n')
        return 0;
    rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                  "the bundle has another format than %d, which this program reads",
                  VLS_BUNDLE_FORMAT);
    vls_hint(err, "use a newer version of valise");
    return rc;
}

static int start(vls_bundle_reader *r, valise_error *err)
{
    char tag = 0;
    int rc = vls_hasher_init(&r->stream, err);

    if (rc == 0)
        rc = vls_hasher_init_like(&r->hasher, &r->stream, err);
    if (rc == 0)
        rc = vls_hasher_init_like(&r->blob, &r->stream, err);
    if (rc < 0)
        return rc;
    r->buffer = vls_mem_alloc(r->env, BUFFER_BYTES);
    if (!r->buffer)
        return vls_fail_memory(err);
    vls_hash_begin(&r->stream);
    rc = read_magic(r, err);
    if (rc == 0)
        rc = take_frame(&tag, r, err);
    if (rc < 0)
        return rc;
    return tag == 'H' ? read_header(r, err) : wrong(r, "it has no header", err);
}

int vls_bundle_open(vls_bundle_reader **out, const valise_env *env, const vls_bundle_source *source,
                    valise_error *err)
{
    vls_bundle_reader *r = vls_mem_zalloc(env, sizeof(*r));
    int rc;

    if (!r)
        return vls_fail_memory(err);
    r->env = env;
    r->source = *source;
    r->last_time = INT64_MIN;
    vls_buf_init(&r->body, env, LARGE_MAX);
    vls_buf_init(&r->last_key, env, LARGE_MAX);
    vls_arena_init(&r->kept, env, ARENA_MAX);
    vls_arena_init(&r->record, env, 4 * LARGE_MAX);
    rc = start(r, err);
    if (rc < 0)
        vls_bundle_close(r);
    else
        *out = r;
    return rc;
}

void vls_bundle_close(vls_bundle_reader *r)
{
    const valise_env *env;

    if (!r)
        return;
    env = r->env;
    vls_hasher_release(&r->blob);
    vls_hasher_release(&r->hasher);
    vls_hasher_release(&r->stream);
    vls_vec_release(&r->colls, env);
    vls_arena_release(&r->record);
    vls_arena_release(&r->kept);
    vls_buf_release(&r->last_key);
    vls_buf_release(&r->body);
    vls_mem_free(env, r->buffer, BUFFER_BYTES);
    vls_mem_free(env, r, sizeof(*r));
}

const vls_bundle_header *vls_bundle_header_of(const vls_bundle_reader *r)
{
    return &r->header;
}

const vls_bundle_counts *vls_bundle_counts_of(const vls_bundle_reader *r)
{
    return &r->counts;
}

uint64_t vls_bundle_offset(const vls_bundle_reader *r)
{
    return r->at;
}

const valise_id *vls_bundle_id(const vls_bundle_reader *r)
{
    assert(r->over);
    return &r->end;
}

int vls_bundle_verify(valise_id *id, vls_bundle_counts *counts, const valise_env *env,
                      const vls_bundle_source *source, vls_progress *progress, valise_error *err)
{
    VLS_AUTO(bundle_reader) vls_bundle_reader *r = NULL;
    vls_bundle_record record;
    uint64_t at = 0;
    int rc = vls_bundle_open(&r, env, source, err);

    vls_progress_begin(progress, "verify the bundle", "bytes", source->size_bytes);
    while (rc >= 0 && (rc = vls_bundle_next(&record, r, err)) > 0) {
        rc = vls_progress_step(progress, r->at - at, err);
        at = r->at;
    }
    if (rc == 0)
        rc = vls_progress_end(progress, err);
    if (rc < 0)
        return rc;
    *id = r->end;
    *counts = r->counts;
    return 0;
}
