/* bundle_record.c -- what stands in the records of a bundle: header, collections, objects, blobs.
 */
#include "base/str.h"
#include "store/bundle_reader.h"

/* ---- header and collections ---- */

static bool is_sound(const vls_bundle_header *h)
{
    if (h->tip_seq < h->base_seq || h->base_seq < 0 ||
        (h->tip_seq == 0) != vls_id_is_none(&h->tip_hash))
        return false;
    if (!h->whole)
        return h->roots.count > 0 && h->base_seq == 0 && vls_id_is_none(&h->base_hash) &&
               vls_id_is_none(&h->state);
    return h->roots.count == 0 && !vls_id_is_none(&h->state) &&
           (h->base_seq == 0) == vls_id_is_none(&h->base_hash) &&
           (h->base_seq == 0 || h->base_seq < h->tip_seq);
}

int vls_bundle_read_header(vls_bundle_reader *r, valise_error *err)
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
    vls_buf_init(&again, r->env, VLS_BUNDLE_HEADER_MAX);
    if (rc == 0)
        rc = vls_fields_write(&again, &r->header, vls_bundle_header_fields, VLS_FIELD_LOGGED, 0,
                              err);
    if (rc < 0)
        return vls_bundle_wrong_part(r, rc, "its header is invalid", err);
    if (r->header.format > VLS_FORMAT) {
        rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                      "the bundle holds rows of format %lld, this program reads format %d",
                      (long long)r->header.format, VLS_FORMAT);
        vls_hint(err, "use a newer version of valise");
        return rc;
    }
    if (!vls_str_equal(vls_buf_str(&again), text) || !is_sound(&r->header))
        return vls_bundle_wrong(r, "its header is inconsistent", err);
    r->last_seq = r->header.base_seq;
    r->last_hash = r->header.base_hash;
    return 0;
}

int vls_bundle_read_coll(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
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
        return vls_bundle_wrong(r, "collections out of order", err);
    rc = vls_arena_dup(&r->last_name, &r->kept, name, err);
    if (rc == 0)
        rc = vls_coll_restore(coll, r->last_name, text, &r->kept, err);
    vls_buf_init(&again, r->env, VLS_BUNDLE_COLL_MAX);
    if (rc == 0)
        rc = vls_coll_describe(&again, coll, &r->kept, err);
    if (rc < 0)
        return vls_bundle_wrong_part(r, rc, "an invalid collection", err);
    if (!vls_str_equal(vls_buf_str(&again), text) || coll->first_count != coll->field_count ||
        (coll->desc->flags & VALISE_COLL_EXEMPT))
        return vls_bundle_wrong(r, "a collection whose description is not canonical", err);
    if (!vls_vec_push(&r->colls, r->env, coll))
        return vls_fail_memory(err);
    out->number = (uint32_t)(r->colls.len - 1);
    out->coll = coll;
    out->text = text;
    return 0;
}

/* ---- objects ---- */

int vls_bundle_read_object(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    vls_reader in = vls_reader_of(vls_buf_str(&r->body));
    valise_str kind = vls_reader_string(&in), id = vls_reader_slice(&in, sizeof(valise_id)), copy;
    valise_id actual;
    int rc;

    if (in.failed || kind.len > VLS_OBJECT_KIND_MAX || memchr(kind.ptr, 0, kind.len))
        return vls_bundle_wrong(r, "an invalid object", err);
    memcpy(&out->id, id.ptr, sizeof(out->id));
    rc = vls_arena_dup(&copy, &r->record, kind, err);
    if (rc < 0)
        return rc;
    out->kind = copy.ptr;
    if (r->has_last &&
        (memcmp(&r->last_id, &out->id, 8) > 0 || vls_id_equal(&r->last_id, &out->id)))
        return vls_bundle_wrong(r, "objects out of order", err);
    r->has_last = true;
    r->last_id = out->id;
    if (out->tag == 'X') {
        out->size = vls_reader_varint(&in);
        r->counts.erased++;
        rc = vls_object_id(&actual, out->kind, VLS_STR(""), err); /* is it a kind? */
        if (rc < 0 || !vls_reader_is_done(&in) || out->size > VLS_OBJECT_MAX)
            return vls_bundle_wrong_part(r, rc, "an invalid erased object", err);
        return 0;
    }
    out->bytes = vls_reader_slice(&in, vls_reader_left(&in));
    r->counts.objects++;
    rc = vls_object_id(&actual, out->kind, out->bytes, err);
    if (rc < 0)
        return vls_bundle_wrong_part(r, rc, "an invalid object", err);
    return vls_id_equal(&actual, &out->id)
               ? 0
               : vls_bundle_wrong(r, "an object that does not match its id", err);
}

/* ---- blobs ---- */

static int end_blob(vls_bundle_reader *r, valise_error *err)
{
    valise_id actual;

    vls_hash_end(&actual, &r->blob);
    r->in_blob = false;
    return vls_id_equal(&actual, &r->blob_id)
               ? 0
               : vls_bundle_wrong(r, "a blob that does not match its id", err);
}

int vls_bundle_read_blob(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    vls_reader in = vls_reader_of(vls_buf_str(&r->body));
    valise_str id = vls_reader_slice(&in, sizeof(valise_id));

    out->size = vls_reader_varint(&in);
    if (!vls_reader_is_done(&in) || out->size > vls_bundle_left(r))
        return vls_bundle_wrong(r, "an invalid blob", err);
    memcpy(&out->id, id.ptr, sizeof(out->id));
    if (r->has_last && vls_id_compare(&r->last_id, &out->id) >= 0)
        return vls_bundle_wrong(r, "blobs out of order", err);
    r->has_last = true;
    r->last_id = r->blob_id = out->id;
    r->blob_left = out->size;
    r->in_blob = true;
    r->counts.blobs++;
    vls_hash_begin(&r->blob);
    return out->size == 0 ? end_blob(r, err) : 0;
}

int vls_bundle_read_piece(vls_bundle_record *out, vls_bundle_reader *r, valise_error *err)
{
    out->bytes = vls_buf_str(&r->body);
    if (!r->in_blob || out->bytes.len != VLS_MIN(r->blob_left, VLS_BUNDLE_PIECE_BYTES))
        return vls_bundle_wrong(r, "a piece that belongs to no blob", err);
    vls_hash_update(&r->blob, out->bytes);
    r->blob_left -= out->bytes.len;
    return r->blob_left == 0 ? end_blob(r, err) : 0;
}
