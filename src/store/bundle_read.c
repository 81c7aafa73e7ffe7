/* bundle_read.c -- a bundle, record by record, every one of them checked.
 *
 * Two layers: frames (bytes, lengths, the hash over everything), here, and what stands in them.
 * Whatever the bytes are, memory is taken only for what is there: a length is compared with what is
 * left of the source before anything is allocated. */
#include "base/mem.h"
#include "base/str.h"
#include "store/bundle_reader.h"

#define BUFFER_BYTES ((size_t)64 << 10)
#define ARENA_MAX ((size_t)512 << 20) /* of the header and all descriptions */
#define MAGIC_LEN (sizeof(VLS_BUNDLE_MAGIC "1\n") - 1)

int vls_bundle_wrong(const vls_bundle_reader *r, const char *what, valise_error *err)
{
    int rc = vls_fail_at(err, VALISE_E_CORRUPT, r->start, "the bundle is damaged: %s", what);

    vls_hint(err, "nothing was imported; get a new copy of the bundle");
    return rc;
}

int vls_bundle_wrong_part(const vls_bundle_reader *r, int rc, const char *what, valise_error *err)
{
    if (rc == VALISE_E_NO_MEMORY || rc == VALISE_E_IO || rc == VALISE_E_CANCELLED)
        return rc;
    return vls_bundle_wrong(r, what, err);
}

/* ---- bytes ---- */

static int refill(vls_bundle_reader *r, valise_error *err)
{
    uint64_t left = vls_bundle_left(r);
    size_t len = (size_t)VLS_MIN(left, BUFFER_BYTES);
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
    return vls_bundle_left(r) == 0 ? vls_bundle_wrong(r, "it was cut off", err)
                                   : take(out, r, 1, err);
}

/* ---- frames ---- */

static size_t limit_of(char tag)
{
    switch (tag) {
    case 'H':
        return VLS_BUNDLE_HEADER_MAX;
    case 'C':
        return VLS_BUNDLE_COLL_MAX;
    case 'X':
    case 'B':
        return 256;
    case 'P':
        return VLS_BUNDLE_PIECE_BYTES;
    case 'Z':
        return sizeof(valise_id);
    default:
        return VLS_BUNDLE_BODY_MAX;
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
    return vls_reader_is_done(&in) ? 0 : vls_bundle_wrong(r, "an invalid length", err);
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
        return vls_bundle_wrong(r, "a record that is too large", err);
    if (len > vls_bundle_left(r))
        return vls_bundle_wrong(r, "it was cut off", err);
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

/* ---- the end ---- */

static int read_end(vls_bundle_reader *r, valise_error *err)
{
    valise_id actual;

    vls_hash_end(&actual, &r->stream);
    if (r->body.len != sizeof(actual) || memcmp(r->body.ptr, &actual, sizeof(actual)) != 0)
        return vls_bundle_wrong(r, "its checksum does not match", err);
    if (vls_bundle_left(r) > 0)
        return vls_bundle_wrong(r, "something follows its end", err);
    if (r->header.whole &&
        (r->last_seq != r->header.tip_seq || !vls_id_equal(&r->last_hash, &r->header.tip_hash)))
        return vls_bundle_wrong(r, "its log does not reach its tip", err);
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
        return vls_bundle_wrong(r, "records out of order", err);
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
        rc = vls_bundle_read_coll(out, r, err);
        break;
    case 'O':
    case 'X':
        rc = vls_bundle_read_object(out, r, err);
        break;
    case 'R':
        rc = vls_bundle_read_row(out, r, err);
        break;
    case 'G':
        rc = vls_bundle_read_gone(out, r, err);
        break;
    case 'L':
        rc = vls_bundle_read_entry(out, r, err);
        break;
    case 'B':
        rc = vls_bundle_read_blob(out, r, err);
        break;
    case 'P':
        rc = vls_bundle_read_piece(out, r, err);
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

    if (vls_bundle_left(r) < sizeof(magic))
        return vls_bundle_wrong(r, "it is too short for a bundle", err);
    rc = take(magic, r, sizeof(magic), err);
    if (rc < 0)
        return rc;
    vls_hash_update(&r->stream, vls_str(magic, sizeof(magic)));
    if (memcmp(magic, VLS_BUNDLE_MAGIC, sizeof(VLS_BUNDLE_MAGIC) - 1) != 0)
        return vls_bundle_wrong(r, "it does not start like one", err);
    if (magic[MAGIC_LEN - 2] == '0' + VLS_BUNDLE_FORMAT && magic[MAGIC_LEN - 1] == '\n')
        return 0;
    rc =
        vls_fail(err, VALISE_E_UNSUPPORTED,
                 "the bundle does not have format %d, which this program reads", VLS_BUNDLE_FORMAT);
    vls_hint(err, "use a newer version of valise");
    return rc;
}

static int start(vls_bundle_reader *r, valise_error *err)
{
    char tag = 0;
    int rc;

    r->buffer = vls_mem_alloc(r->env, BUFFER_BYTES);
    if (!r->buffer)
        return vls_fail_memory(err);
    vls_hash_begin(&r->stream);
    rc = read_magic(r, err);
    if (rc == 0)
        rc = take_frame(&tag, r, err);
    if (rc < 0)
        return rc;
    return tag == 'H' ? vls_bundle_read_header(r, err)
                      : vls_bundle_wrong(r, "it has no header", err);
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
    vls_buf_init(&r->body, env, VLS_BUNDLE_BODY_MAX);
    vls_buf_init(&r->last_key, env, VLS_BUNDLE_BODY_MAX);
    vls_arena_init(&r->kept, env, ARENA_MAX);
    vls_arena_init(&r->record, env, 4 * VLS_BUNDLE_BODY_MAX);
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
