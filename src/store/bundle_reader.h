/* bundle_reader.h -- the inside of the bundle reader, for its files.
 *
 *     bundle_read.c      frames: bytes, lengths, the order of records, the hash over everything
 *     bundle_record.c    header, collections, objects, blobs
 *     bundle_row.c       rows, deletions, log entries
 *
 * Threads: single. */
#ifndef VLS_BUNDLE_READER_H
#define VLS_BUNDLE_READER_H

#include "base/bytes.h"
#include "store/bundle.h"

#define VLS_BUNDLE_HEADER_MAX ((size_t)64 << 20)
#define VLS_BUNDLE_COLL_MAX ((size_t)4 << 20)      /* of a description */
#define VLS_BUNDLE_BODY_MAX (VLS_OBJECT_MAX + 256) /* of any record */

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

    vls_hasher stream, blob;
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

/* All that is wrong with a bundle is VALISE_E_CORRUPT with the offset of the record. */
int vls_bundle_wrong(const vls_bundle_reader *r, const char *what, valise_error *err);

/* What a function found wrong with a part of the bundle, as a fault of the bundle. */
int vls_bundle_wrong_part(const vls_bundle_reader *r, int rc, const char *what, valise_error *err);

static inline uint64_t vls_bundle_left(const vls_bundle_reader *r)
{
    return r->source.size_bytes - r->at;
}

static inline const vls_coll *vls_bundle_coll(const vls_bundle_reader *r, uint64_t number)
{
    return number < r->colls.len ? r->colls.ptr[number] : NULL;
}

/* What stands in r->body, as a record of that kind. */
int vls_bundle_read_header(vls_bundle_reader *r, valise_error *err);
int vls_bundle_read_coll(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err);
int vls_bundle_read_object(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err);
int vls_bundle_read_blob(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err);
int vls_bundle_read_piece(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err);
int vls_bundle_read_row(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err);
int vls_bundle_read_gone(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err);
int vls_bundle_read_entry(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err);

#endif
