/* erase.c -- see erase.h. */
#include "store/erase.h"

#include "base/str.h"
#include "base/vec.h"
#include "store/own.h"

static bool is_content(const valise_field *field)
{
    return field->flags & VALISE_CONTENT;
}

static bool names(const valise_cell *cell, const valise_id *id)
{
    return cell->type == VALISE_CELL_BLOB && cell->as.bytes.len == sizeof(*id) &&
           memcmp(cell->as.bytes.ptr, id, sizeof(*id)) == 0;
}

/* Take the contents out of a version: all of them, or those that name one object. True when there
 * were any. */
static bool empty(valise_cell *row, size_t count, const vls_coll *coll, const valise_id *only)
{
    bool any = false;

    for (size_t i = 0; i < count; i++) {
        if (!is_content(&coll->desc->fields[i]) || row[i].type == VALISE_CELL_NULL ||
            (only && !names(&row[i], only)))
            continue;
        row[i] = (valise_cell){.type = VALISE_CELL_NULL};
        any = true;
    }
    return any;
}

/* ---- deciding ---- */

int vls_erase_decide(vls_erase_place *out, valise_view *view, const vls_coll *coll,
                     const valise_cell *key, const valise_id *only, valise_error *err)
{
    VLS_AUTO(buf) vls_buf bytes = {0};
    vls_gone gone = {.coll = coll->number};
    valise_cell *row;
    vls_seen seen = {0};
    int rc;

    vls_buf_init(&bytes, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_key_write(&bytes, key, coll->key_count);
    rc = vls_buf_check(&bytes, err);
    if (rc == 0)
        rc = vls_arena_dup(&gone.key, &view->arena, vls_buf_str(&bytes), err);
    if (rc == 0)
        rc = vls_view_see(&seen, view, coll, key, err);
    if (rc < 0)
        return rc;
    *out =
        (vls_erase_place){.coll = coll, .key = gone.key, .before_seq = seen.from_seq, .only = only};
    if (!seen.row) {
        rc = vls_own_get(&gone, view->txn, VLS_TABLE_GONE, &view->arena, err);
        if (rc == 0)
            return vls_fail(err, VALISE_E_NOT_FOUND, "there is no %s, nor was there",
                            vls_coll_place(coll, key).s);
        out->before_seq = gone.seq;
        return rc < 0 ? rc : 0;
    }
    rc = vls_cells_copy(&row, seen.row, coll->field_count, &view->arena, err);
    if (rc < 0)
        return rc;
    (void)empty(row, coll->field_count, coll, only);
    return vls_view_put_cells(view, coll, row, true, err);
}

/* ---- versions of a row ---- */

typedef vls_vec(valise_id) id_list;

static bool has_id(const id_list *ids, const valise_id *id)
{
    for (size_t i = 0; i < ids->len; i++) {
        if (vls_id_equal(&ids->ptr[i], id))
            return true;
    }
    return false;
}

static int add_id(id_list *ids, const valise_env *env, const valise_id *id, valise_error *err)
{
    if (has_id(ids, id) || vls_vec_push(ids, env, *id))
        return 0;
    return vls_fail_memory(err);
}

/* The objects that the contents of a version name. */
static int add_contents(id_list *ids, const valise_env *env, const vls_erase_place *place,
                        const valise_cell *row, valise_error *err)
{
    const vls_coll *coll = place->coll;

    for (uint16_t i = 0; i < coll->field_count; i++) {
        int rc;
        if (!is_content(&coll->desc->fields[i]) || coll->desc->fields[i].type != VALISE_T_ID ||
            row[i].type != VALISE_CELL_BLOB || row[i].as.bytes.len != sizeof(valise_id) ||
            (place->only && !names(&row[i], place->only)))
            continue;
        rc = add_id(ids, env, (const valise_id *)row[i].as.bytes.ptr, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- entries ---- */

typedef struct scrubbing {
    vls_txn *txn;
    const vls_erase_place *place;
    id_list *ids; /* gathers what the versions named */
    vls_erased *out;
    vls_arena arena; /* of one entry */
    vls_buf changes, cells;
    int64_t next; /* the entry before, in the place's chain; 0: none */
    bool had;     /* the version that entry made had what is erased */
    bool rewrite; /* false: only look */
} scrubbing;

/* Write the image again without its contents. */
static int scrub_image(scrubbing *s, vls_image image, valise_error *err)
{
    const vls_coll *coll = s->place->coll;
    valise_cell cells[VALISE_MAX_COLUMNS] = {{0}};
    size_t count = 0;
    int rc = 0;

    s->next = image.from_seq ? image.from_seq : image.gone_seq;
    s->had = false;
    if (image.from_seq == 0) {
        vls_changes_write(&s->changes, &image);
        return 0;
    }
    rc = vls_cells_read(cells, &count, coll->field_count, image.cells, err);
    if (rc == 0)
        rc = add_contents(s->ids, vls_store_env(s->txn->store), s->place, cells, err);
    if (rc < 0)
        return rc;
    s->had = empty(cells, count, coll, s->place->only);
    vls_buf_clear(&s->cells);
    vls_cells_write(&s->cells, cells, count);
    image.cells = vls_buf_str(&s->cells);
    vls_changes_write(&s->changes, &image);
    s->out->images++;
    return vls_buf_check(&s->cells, err);
}

static int scrub_changes(scrubbing *s, valise_str changes, valise_error *err)
{
    vls_image image;
    size_t at = 0;
    int rc;

    vls_buf_clear(&s->changes);
    while ((rc = vls_changes_next(&image, &at, changes, err)) > 0) {
        if (image.coll == s->place->coll->number && vls_str_equal(image.key, s->place->key))
            rc = scrub_image(s, image, err);
        else
            vls_changes_write(&s->changes, &image);
        if (rc < 0)
            return rc;
    }
    return rc < 0 ? rc : vls_buf_check(&s->changes, err);
}

/* One entry of the chain. own: it is the erase command's, whose payload says only where and why. */
static int scrub_entry(scrubbing *s, int64_t seq, bool own, valise_error *err)
{
    bool brought = !own && (s->had || !s->place->only);
    vls_entry entry;
    int rc;

    vls_arena_reset(&s->arena);
    s->next = 0;
    rc = vls_log_get(&entry, s->txn, seq, &s->arena, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "log entry %lld is missing", (long long)seq);
    if (rc > 0)
        rc = scrub_changes(s, entry.changes, err);
    if (rc < 0 || !s->rewrite)
        return rc;
    entry.changes = vls_buf_str(&s->changes);
    if (brought && entry.payload.ptr) {
        entry.payload = entry.nonce = entry.result = (valise_str){NULL, 0};
        entry.sent = (valise_id){{0}};
        s->out->entries++;
    }
    return vls_log_rewrite(s->txn, &entry, err);
}

/* Follow the versions back as far as the log goes. */
static int scrub_chain(scrubbing *s, int64_t seq, valise_error *err)
{
    while (seq > s->txn->tip.base_seq) {
        int rc = scrub_entry(s, seq, false, err);
        if (rc < 0)
            return rc;
        if (s->next >= seq)
            return vls_fail(err, VALISE_E_CORRUPT, "the history of %s does not go back",
                            s->place->coll->desc->name);
        seq = s->next;
    }
    return 0;
}

static void scrub_begin(scrubbing *s, vls_txn *txn, const vls_erase_place *place, id_list *ids,
                        vls_erased *out, bool rewrite)
{
    const valise_env *env = vls_store_env(txn->store);

    *s = (scrubbing){.txn = txn, .place = place, .ids = ids, .out = out, .rewrite = rewrite};
    vls_arena_init(&s->arena, env, VLS_VIEW_MAX_BYTES);
    vls_buf_init(&s->changes, env, VLS_CHANGES_MAX * 2);
    vls_buf_init(&s->cells, env, VLS_VIEW_MAX_BYTES);
}

static void scrub_end(scrubbing *s)
{
    vls_buf_release(&s->changes);
    vls_buf_release(&s->cells);
    vls_arena_release(&s->arena);
}

/* ---- objects ---- */

/* Strike out what somebody else holds. Payloads hold nothing: they are of commands, not places. */
static int keep_held(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    id_list *ids = arg;

    (void)err;
    if (!site->coll)
        return 0;
    for (size_t i = 0; i < ids->len; i++) {
        if (vls_id_equal(&ids->ptr[i], id)) {
            ids->ptr[i] = ids->ptr[--ids->len];
            break;
        }
    }
    return 0;
}

static int mark_all_chunks(void *arg, const vls_object_info *info, valise_error *err)
{
    void **pair = arg;

    return info->chunked && !info->erased
               ? vls_object_mark_chunks(pair[0], pair[1], info->number, err)
               : 0;
}

static int sweep_chunks(vls_erased *out, vls_txn *txn, valise_error *err)
{
    vls_bits keep = {.env = vls_store_env(txn->store)};
    void *pair[] = {&keep, txn};
    int64_t last = 0, bytes = 0;
    int rc = vls_object_each(txn, 0, mark_all_chunks, pair, err);

    if (rc == 0)
        rc = vls_chunk_last(&last, txn, err);
    if (rc == 0)
        rc = vls_chunk_sweep(&out->chunks, &bytes, txn, &keep, 0, last + 1, err);
    vls_bits_release(&keep);
    return rc;
}

static int erase_objects(vls_erased *out, vls_txn *txn, id_list *ids, valise_error *err)
{
    int rc;

    if (ids->len == 0)
        return 0;
    rc = vls_refs_rows(txn, NULL, keep_held, ids, err);
    if (rc == 0)
        rc = vls_refs_log(txn, NULL, keep_held, ids, err);
    for (size_t i = 0; rc == 0 && i < ids->len; i++) {
        vls_object_info info;
        rc = vls_object_stat(&info, txn, &ids->ptr[i], err);
        if (rc > 0 && !info.erased) {
            rc = vls_object_erase(txn, &ids->ptr[i], err);
            out->objects++;
        }
        if (rc > 0)
            rc = 0;
    }
    return rc < 0 ? rc : sweep_chunks(out, txn, err);
}

/* ---- all of it ---- */

static int scrub_place(vls_erased *out, vls_txn *txn, int64_t seq, const vls_erase_place *place,
                       id_list *ids, valise_error *err)
{
    scrubbing s;
    int rc;

    scrub_begin(&s, txn, place, ids, out, true);
    /* The erase command's own image is that of the newest version. Of a QUIET row there is none. */
    s.had = place->coll->desc->flags & VALISE_COLL_QUIET;
    rc = scrub_entry(&s, seq, true, err);
    if (rc == 0)
        rc = scrub_chain(&s, place->before_seq, err);
    scrub_end(&s);
    return rc;
}

int vls_erase_apply(vls_erased *out, vls_txn *txn, int64_t seq, const vls_erase_place *places,
                    size_t count, valise_error *err)
{
    const valise_env *env = vls_store_env(txn->store);
    id_list ids = VLS_VEC_INIT;
    int rc = 0;

    *out = (vls_erased){0};
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = scrub_place(out, txn, seq, &places[i], &ids, err);
    if (rc == 0)
        rc = erase_objects(out, txn, &ids, err);
    vls_vec_release(&ids, env);
    return rc;
}

/* ---- other places ---- */

typedef struct other_walk {
    const vls_erase_place *place;
    const id_list *ids;
    vls_ref_fn *fn;
    void *arg;
} other_walk;

static int other_site(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    const other_walk *walk = arg;

    if (!site->coll || !has_id(walk->ids, id) ||
        (site->coll == walk->place->coll && vls_str_equal(site->key, walk->place->key)))
        return 0;
    return walk->fn(walk->arg, site, id, err);
}

/* The contents of the row before the command took them away, and of all its versions. */
static int all_contents(id_list *ids, valise_view *view, const vls_erase_place *place,
                        valise_error *err)
{
    const vls_overlay_row *change = vls_overlay_get(&view->changes, place->coll, place->key);
    vls_erased nothing = {0};
    scrubbing s;
    int rc = 0;

    if (change && change->before)
        rc = add_contents(ids, view->arena.env, place, change->before, err);
    if (rc < 0)
        return rc;
    scrub_begin(&s, view->txn, place, ids, &nothing, false);
    rc = scrub_chain(&s, place->before_seq, err);
    scrub_end(&s);
    return rc;
}

int vls_erase_others(valise_view *view, const vls_erase_place *place, vls_ref_fn *fn, void *arg,
                     valise_error *err)
{
    id_list ids = VLS_VEC_INIT;
    other_walk walk = {place, &ids, fn, arg};
    int rc = all_contents(&ids, view, place, err);

    if (rc == 0 && ids.len > 0)
        rc = vls_refs_rows(view->txn, NULL, other_site, &walk, err);
    if (rc == 0 && ids.len > 0)
        rc = vls_refs_log(view->txn, NULL, other_site, &walk, err);
    vls_vec_release(&ids, view->arena.env);
    return rc;
}
