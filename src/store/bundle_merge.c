/* bundle_merge.c -- a bundle into a store that has something already: what one command needs of it.
 *
 * The command is decided (bundle_put.c) from a *pack*, which is an object and named by its payload,
 * so that a replay has it too. The objects that its rows name are put before, in transactions of
 * their own: they are not state, and if the command does not come they are garbage. */
#include "base/bytes.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/bundle.h"
#include "store/own.h"

#define STAGE_BYTES ((size_t)16 << 20) /* of objects in one transaction */
#define STAGE_COUNT 10000u

/* ---- the pack ---- */

void vls_bundle_pack_release(vls_bundle_pack *pack)
{
    if (!pack->env)
        return;
    vls_vec_release(&pack->objects, pack->env);
    vls_buf_release(&pack->chain);
    vls_buf_release(&pack->rows);
    *pack = (vls_bundle_pack){0};
}

typedef struct packing {
    vls_bundle_pack *pack;
    vls_store *store;
    const char *const *local;
    vls_bundle_map map;
    vls_buf scratch;
    const vls_coll *coll; /* whose rows come */
} packing;

static int pack_row(packing *p, const vls_bundle_record *record, valise_error *err)
{
    const vls_coll *coll = p->map.colls[record->number];
    vls_buf *out = &p->pack->rows;
    int rc;

    if (!coll)
        return 0;
    if (coll != p->coll) {
        vls_buf_add_byte(out, VLS_PACK_COLL);
        vls_bytes_add_string(out, valise_str_of(coll->desc->name));
        p->coll = coll;
    }
    vls_buf_clear(&p->scratch);
    vls_cells_write(&p->scratch, record->cells, coll->field_count);
    rc = vls_buf_check(&p->scratch, err);
    if (rc < 0)
        return rc;
    vls_buf_add_byte(out, VLS_PACK_ROW);
    vls_bytes_add_string(out, vls_buf_str(&p->scratch));
    return 0;
}

static valise_cell bytes_cell(uint8_t type, const void *bytes, size_t len)
{
    return (valise_cell){.type = type, .as.bytes = {bytes, len}};
}

/* What the chain covers, and nothing else. */
static int pack_entry(packing *p, const vls_bundle_record *record, valise_error *err)
{
    const vls_entry *e = &record->entry;
    bool caused = !vls_uuid_is_none(&e->cause);
    valise_cell cells[] = {
        vls_int_cell(e->seq),
        bytes_cell(VALISE_CELL_BLOB, &e->id, sizeof(e->id)),
        vls_int_cell(e->time),
        bytes_cell(VALISE_CELL_TEXT, e->actor.ptr, e->actor.len),
        caused ? bytes_cell(VALISE_CELL_BLOB, &e->cause, sizeof(e->cause)) : (valise_cell){0},
        bytes_cell(VALISE_CELL_TEXT, e->type.ptr, e->type.len),
        bytes_cell(VALISE_CELL_BLOB, &e->commitment, sizeof(e->commitment)),
        bytes_cell(VALISE_CELL_BLOB, &e->hash, sizeof(e->hash)),
    };

    vls_buf_clear(&p->scratch);
    vls_cells_write(&p->scratch, cells, VLS_COUNT(cells));
    vls_bytes_add_string(&p->pack->chain, vls_buf_str(&p->scratch));
    return vls_buf_check(&p->scratch, err);
}

static int pack_header(packing *p, const vls_bundle_header *header, valise_error *err)
{
    int rc;

    if (!header->whole)
        return 0;
    vls_buf_clear(&p->scratch);
    rc = vls_fields_write(&p->scratch, header, vls_bundle_header_fields, VLS_FIELD_LOGGED, 0, err);
    vls_bytes_add_string(&p->pack->chain, vls_buf_str(&p->scratch));
    return rc;
}

static int pack_record(packing *p, const vls_bundle_record *record, valise_error *err)
{
    switch (record->tag) {
    case 'C':
        return vls_bundle_is_local(p->local, record->coll)
                   ? 0
                   : vls_bundle_map_add(&p->map, record, p->store, err);
    case 'R':
        return pack_row(p, record, err);
    case 'L':
        return pack_entry(p, record, err);
    default:
        return 0;
    }
}

static int check_size(const vls_buf *buf, valise_error *err)
{
    if (buf->failed != VALISE_E_TOO_LARGE)
        return vls_buf_check(buf, err);
    (void)vls_fail(err, VALISE_E_LIMIT, "the bundle is too large for one command");
    vls_hint(err, "import it into an empty workspace, or export less");
    return VALISE_E_LIMIT;
}

static int pack_all(packing *p, const vls_bundle_import *how, valise_error *err)
{
    VLS_AUTO(bundle_reader) vls_bundle_reader *reader = NULL;
    vls_bundle_record record;
    uint64_t at = 0;
    int rc = vls_bundle_open(&reader, how->env, how->source, err);

    if (rc == 0)
        rc = pack_header(p, vls_bundle_header_of(reader), err);
    vls_progress_begin(how->progress, "read rows", "bytes", how->source->size_bytes);
    while (rc >= 0 && (rc = vls_bundle_next(&record, reader, err)) > 0) {
        rc = pack_record(p, &record, err);
        if (rc == 0)
            rc = vls_progress_step(how->progress, vls_bundle_offset(reader) - at, err);
        at = vls_bundle_offset(reader);
    }
    if (rc == 0 && !vls_id_equal(vls_bundle_id(reader), &how->id))
        rc = vls_fail(err, VALISE_E_CORRUPT, "the bundle was changed while it was read");
    if (rc == 0)
        rc = check_size(&p->pack->rows, err);
    if (rc == 0)
        rc = check_size(&p->pack->chain, err);
    return rc < 0 ? rc : vls_progress_end(how->progress, err);
}

int vls_bundle_pack_read(vls_bundle_pack *out, vls_store *store, const char *const *local,
                         const vls_bundle_import *how, valise_error *err)
{
    packing p = {.pack = out, .store = store, .local = local};
    int rc;

    *out = (vls_bundle_pack){.env = how->env};
    vls_buf_init(&out->rows, how->env, VLS_OBJECT_MAX);
    vls_buf_init(&out->chain, how->env, VLS_OBJECT_MAX);
    vls_buf_init(&p.scratch, how->env, VLS_OBJECT_MAX);
    rc = pack_all(&p, how, err);
    vls_buf_release(&p.scratch);
    if (rc < 0)
        vls_bundle_pack_release(out);
    return rc;
}

/* ---- objects ---- */

int vls_bundle_stage(vls_txn *txn, vls_bundle_staging *s, valise_error *err)
{
    vls_bundle_record record;
    size_t bytes = 0;
    int rc = 0;

    for (unsigned i = 0; i < STAGE_COUNT && bytes < STAGE_BYTES; i++) {
        rc = vls_bundle_next(&record, s->reader, err);
        if (rc <= 0 || (record.tag != 'C' && record.tag != 'O' && record.tag != 'X')) {
            s->more = false;
            return rc < 0 ? rc : 0;
        }
        if (record.tag == 'C' ||
            !vls_bundle_has_id(s->pack->objects.ptr, s->pack->objects.len, &record.id))
            continue;
        rc = vls_bundle_put_object(txn, &record, s->now, err);
        if (rc < 0)
            return rc;
        bytes += record.bytes.len;
        s->count++;
    }
    return 0;
}
