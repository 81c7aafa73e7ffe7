/* view.c -- what an operation sees and changes (valise/sys/view.h; the layers are in view.h).
 *
 * Start reading at vls_view_see. Scans are in scan.c, the past in past.c, what becomes of the
 * changes in apply.c. */
#include "store/view.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/uuid.h"

static bool has_id(const void *item, const void *id)
{
    return vls_id_equal(&((const vls_new_object *)item)->id, id);
}

void vls_view_init(valise_view *view, vls_txn *txn, const valise_env *env)
{
    *view = (valise_view){.txn = txn, .objects = VLS_VEC_INIT, .blobs = VLS_VEC_INIT};
    vls_arena_init(&view->arena, env, VLS_VIEW_MAX_BYTES);
    vls_map_init(&view->object_map, env, has_id);
    vls_overlay_init(&view->past, env);
    vls_overlay_init(&view->changes, env);
    if (txn)
        view->at = view->stamp.seq = txn->tip.seq;
}

void vls_view_release(valise_view *view)
{
    const valise_env *env = view->arena.env;

    if (!env)
        return;
    for (size_t i = 0; i < view->blobs.len; i++)
        (void)valise_blob_unref(view->blobs.ptr[i]);
    vls_vec_release(&view->blobs, env);
    vls_map_release(&view->object_map);
    vls_overlay_release(&view->changes);
    vls_overlay_release(&view->past);
    vls_arena_release(&view->arena);
    *view = (valise_view){0};
}

vls_view_mark vls_view_here(const valise_view *view)
{
    return (vls_view_mark){vls_arena_here(&view->arena), view->past.rows.len,
                           view->changes.rows.len};
}

void vls_view_rewind(valise_view *view, vls_view_mark mark)
{
    /* Overlays lie in the arena. */
    assert(view->past.rows.len == mark.past && view->changes.rows.len == mark.changes);
    view->last_coll = NULL;
    vls_arena_rewind(&view->arena, mark.arena);
}

void vls_view_forget_objects(valise_view *view)
{
    while (view->blobs.len > 0)
        (void)valise_blob_unref(view->blobs.ptr[--view->blobs.len]);
}

int vls_view_go_to(valise_view *view, int64_t at, valise_error *err)
{
    const vls_tip *tip = &view->txn->tip;

    assert(!view->changing);
    if (at < tip->base_seq) {
        (void)vls_fail(err, VALISE_E_LIMIT, "the log no longer reaches back to seq %lld",
                       (long long)at);
        vls_hint(err, "the oldest state that can be seen is that of seq %lld",
                 (long long)tip->base_seq);
        return VALISE_E_LIMIT;
    }
    if (at > tip->seq) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no seq %lld yet: the newest is %lld",
                       (long long)at, (long long)tip->seq);
        vls_hint(err, "'valise log' shows which there are");
        return VALISE_E_NOT_FOUND;
    }
    view->at = view->stamp.seq = at;
    view->last_coll = NULL;
    return 0;
}

const valise_stamp *valise_view_stamp(const valise_view *view)
{
    return &view->stamp;
}

/* ---- cells of keys ---- */

/* The key cells of a struct of which only the key members need to be set. */
static int cells_of_key(valise_cell *cells, valise_view *view, const vls_coll *coll,
                        const void *row, valise_error *err)
{
    for (uint16_t i = 0; i < coll->key_count; i++) {
        int rc = vls_field_to_cell(&cells[i], row, &coll->desc->fields[i], &view->arena, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The ordered encoding of a key, in the view's arena. */
static int key_bytes(valise_str *out, valise_view *view, const vls_coll *coll,
                     const valise_cell *key, valise_error *err)
{
    vls_buf *scratch = &view->txn->scratch;
    int rc;

    vls_buf_clear(scratch);
    vls_key_write(scratch, key, coll->key_count);
    rc = vls_buf_check(scratch, err);
    return rc < 0 ? rc : vls_arena_dup(out, &view->arena, vls_buf_str(scratch), err);
}

/* ---- reading ---- */

int vls_view_see_now(vls_seen *out, valise_view *view, const vls_coll *coll, const valise_cell *key,
                     valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    valise_cell *copy;
    int rc = vls_txn_get(cells, view->txn, coll, key, err);

    *out = (vls_seen){0};
    if (rc <= 0)
        return rc;
    rc = vls_cells_copy(&copy, cells, coll->field_count, &view->arena, err);
    if (rc < 0)
        return rc;
    out->row = copy;
    out->from_seq = cells[vls_coll_seq_column(coll)].as.integer;
    return 0;
}

static void see_overlay(vls_seen *out, const vls_overlay_row *row)
{
    *out = (vls_seen){row->row, row->from_seq, row->gone_seq};
}

static int see_below_changes(vls_seen *out, valise_view *view, const vls_coll *coll,
                             const valise_cell *cells, valise_str key, valise_error *err)
{
    int rc;

    if (view->last_coll == coll && vls_str_equal(view->last_key, key)) {
        *out = view->last_seen;
        return 0;
    }
    if (view->at < view->txn->tip.seq && !(coll->desc->flags & VALISE_COLL_EXEMPT))
        rc = vls_past_see(out, view, coll, cells, key, err);
    else
        rc = vls_view_see_now(out, view, coll, cells, err);
    if (rc < 0)
        return rc;
    view->last_coll = coll;
    view->last_key = key;
    view->last_seen = *out;
    return 0;
}

int vls_view_see(vls_seen *out, valise_view *view, const vls_coll *coll, const valise_cell *cells,
                 valise_error *err)
{
    const vls_overlay_row *changed;
    valise_str key;
    int rc = key_bytes(&key, view, coll, cells, err);

    if (rc < 0)
        return rc;
    changed = vls_overlay_get(&view->changes, coll, key);
    if (changed) {
        see_overlay(out, changed);
        return 0;
    }
    return see_below_changes(out, view, coll, cells, key, err);
}

/* The same for a struct. *coll is NULL when there is no workspace and so no row. */
static int see_struct(vls_seen *out, const vls_coll **coll, valise_view *view,
                      const valise_coll *desc, const void *row, valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS];
    int rc;

    *out = (vls_seen){0};
    *coll = NULL;
    if (!view->txn)
        return 0;
    *coll = vls_store_coll(view->txn->store, desc);
    rc = cells_of_key(key, view, *coll, row, err);
    return rc < 0 ? rc : vls_view_see(out, view, *coll, key, err);
}

int valise_view_get(void *row, valise_view *view, const valise_coll *desc, valise_error *err)
{
    const vls_coll *coll;
    vls_seen seen;
    int rc;

    VLS_ARG(row && view && desc, err);
    rc = see_struct(&seen, &coll, view, desc, row, err);
    if (rc < 0 || !seen.row)
        return rc;
    rc = vls_row_from_cells(row, desc->fields, desc->row_size, seen.row, coll->field_count,
                            &view->arena, err);
    return rc < 0 ? rc : 1;
}

int valise_view_version(int64_t *seq, valise_view *view, const valise_coll *desc,
                        const void *key_row, valise_error *err)
{
    const vls_coll *coll;
    vls_seen seen;
    int rc;

    VLS_ARG(seq && view && desc && key_row, err);
    rc = see_struct(&seen, &coll, view, desc, key_row, err);
    if (rc < 0)
        return rc;
    /* A row that this very command put is made by it. */
    *seq = !seen.row ? 0 : seen.from_seq ? seen.from_seq : view->stamp.seq;
    return 0;
}

/* ---- objects ---- */

/* Ids are hashes already. */
static uint64_t hash_id(const valise_id *id)
{
    uint64_t hash;

    memcpy(&hash, id->bytes, sizeof(hash));
    return hash;
}

const vls_new_object *vls_view_find_new(const valise_view *view, const valise_id *id)
{
    if (view->object_map.len > 0)
        return vls_map_get(&view->object_map, hash_id(id), id);
    for (size_t i = 0; i < view->objects.len; i++) {
        if (has_id(view->objects.ptr[i], id))
            return view->objects.ptr[i];
    }
    return NULL;
}

int vls_view_lend(valise_view *view, const vls_new_object *object, valise_error *err)
{
    size_t count = view->objects.len + 1;
    vls_new_object *copy;

    if (vls_view_find_new(view, &object->id))
        return 0;
    if (count > VLS_VIEW_FEW && vls_map_reserve(&view->object_map, count) < 0)
        return vls_fail_memory(err);
    copy = vls_arena_alloc(&view->arena, sizeof(*copy));
    if (!copy)
        return vls_arena_fail(&view->arena, err);
    *copy = *object;
    if (!vls_vec_push_in(&view->objects, &view->arena, copy))
        return vls_arena_fail(&view->arena, err);
    for (size_t i = view->object_map.len; count > VLS_VIEW_FEW && i < count; i++) {
        vls_new_object *o = view->objects.ptr[i];
        int rc = vls_map_put(NULL, &view->object_map, hash_id(&o->id), &o->id, o);
        assert(rc == 0); /* there is room */
        (void)rc;
    }
    return 0;
}

int valise_view_object(valise_str *out, valise_view *view, const valise_id *id, valise_error *err)
{
    const valise_env *env = view->arena.env;
    const vls_new_object *added;
    VLS_AUTO(blob) valise_blob *blob = NULL;
    int rc;

    VLS_ARG(out && view && id && view->txn, err);
    added = vls_view_find_new(view, id);
    if (added) {
        *out = added->bytes;
        return 0;
    }
    if (!vls_vec_reserve(&view->blobs, env, view->blobs.len + 1))
        return vls_fail_memory(err);
    rc = vls_object_get(&blob, view->txn, id, err);
    if (rc < 0)
        return rc;
    *out = vls_blob_bytes(blob);
    view->blobs.ptr[view->blobs.len++] = VLS_TAKE(blob);
    return 0;
}

int vls_view_blob(valise_blob **out, valise_view *view, const valise_id *id, valise_error *err)
{
    const vls_new_object *added = vls_view_find_new(view, id);

    return added ? vls_blob_new(out, view->arena.env, added->bytes, err)
                 : vls_object_get(out, view->txn, id, err);
}

int vls_view_has_object(valise_view *view, const valise_id *id, valise_error *err)
{
    vls_object_info info;
    int rc;

    if (vls_view_find_new(view, id))
        return 1;
    rc = vls_object_stat(&info, view->txn, id, err);
    return rc > 0 ? !info.erased : rc;
}

int valise_view_allows(valise_view *view, const char *capability, const char *const *attrs,
                       valise_error *err)
{
    VLS_ARG(view && capability, err);
    return view->hooks.allows ? view->hooks.allows(view->hooks.self, capability, attrs, err) : 0;
}

int valise_view_alloc(void **out, valise_view *view, size_t size, valise_error *err)
{
    void *memory;

    VLS_ARG(out && view && size > 0, err);
    memory = vls_arena_alloc(&view->arena, size);
    if (!memory)
        return vls_arena_fail(&view->arena, err);
    *out = memory;
    return 0;
}

int valise_view_emit(valise_view *view, const void *row, valise_error *err)
{
    VLS_ARG(view && row && view->hooks.emit, err);
    return view->hooks.emit(view->hooks.self, row, err);
}

/* ---- changing ---- */

/* The overlay row of a key that is about to change, with what was there before. */
static int change_of(vls_overlay_row **out, valise_view *view, const vls_coll *coll,
                     const valise_cell *cells, valise_error *err)
{
    vls_overlay_row *change = NULL;
    vls_seen seen = {0};
    valise_str key;
    int rc = key_bytes(&key, view, coll, cells, err);

    if (rc < 0)
        return rc;
    *out = vls_overlay_get(&view->changes, coll, key);
    if (*out)
        return 0;
    rc = see_below_changes(&seen, view, coll, cells, key, err);
    if (rc == 0)
        rc = vls_overlay_add(&change, &view->changes, &view->arena, coll, key, err);
    if (rc < 0)
        return rc;
    assert(change);
    change->row = change->before = seen.row;
    change->from_seq = change->before_seq = seen.from_seq;
    *out = change;
    return 0;
}

static int check_writable(const vls_coll **coll, const valise_view *view, const valise_coll *desc,
                          valise_error *err)
{
    if (!view->changing)
        return vls_fail(err, VALISE_E_INVALID, "only a command can change %s", desc->name);
    *coll = vls_store_coll(view->txn->store, desc);
    assert(!(*coll)->own && !(*coll)->foreign);
    return 0;
}

int valise_view_put(valise_view *view, const valise_coll *desc, const void *row, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    valise_cell *copy = NULL;
    vls_overlay_row *change = NULL;
    const vls_coll *coll;
    int rc;

    VLS_ARG(view && desc && row, err);
    rc = check_writable(&coll, view, desc, err);
    if (rc == 0)
        rc = view->replaying ? vls_fields_validate_accepted(row, desc->fields, &view->arena, err)
                             : vls_fields_validate(row, desc->fields, &view->arena, err);
    if (rc == 0)
        rc = vls_row_to_cells(cells, row, desc->fields, &view->arena, err);
    if (rc == 0)
        rc = vls_coll_check_key(coll, cells, err);
    if (rc == 0)
        rc = vls_cells_copy(&copy, cells, coll->field_count, &view->arena, err);
    if (rc == 0)
        rc = change_of(&change, view, coll, copy, err);
    if (rc < 0)
        return rc;
    assert(change);
    change->row = copy;
    change->from_seq = 0;
    return 0;
}

int vls_view_put_cells(valise_view *view, const vls_coll *coll, const valise_cell *row,
                       bool erasing, valise_error *err)
{
    vls_overlay_row *change = NULL;
    int rc = erasing ? 0 : vls_coll_check_key(coll, row, err);

    if (rc == 0)
        rc = change_of(&change, view, coll, row, err);
    if (rc < 0)
        return rc;
    assert(change);
    change->row = row;
    change->from_seq = 0;
    change->erasing = erasing;
    return 0;
}

int vls_view_refill(valise_view *view, const valise_coll *desc, const void *row, valise_error *err)
{
    const vls_coll *coll = vls_store_coll(view->txn->store, desc);
    valise_cell cells[VALISE_MAX_COLUMNS], *copy = NULL;
    int rc = vls_row_to_cells(cells, row, desc->fields, &view->arena, err);

    if (rc == 0)
        rc = vls_cells_copy(&copy, cells, coll->field_count, &view->arena, err);
    return rc < 0 ? rc : vls_view_put_cells(view, coll, copy, true, err);
}

/* 1 when there was such a row. key: the cells of the key at least. */
static int delete_key(valise_view *view, const vls_coll *coll, const valise_cell *key,
                      valise_error *err)
{
    vls_overlay_row *change = NULL;
    bool was_there;
    int rc = change_of(&change, view, coll, key, err);

    if (rc < 0)
        return rc;
    assert(change);
    was_there = change->row != NULL;
    change->row = NULL;
    change->from_seq = 0;
    return was_there;
}

int valise_view_delete(valise_view *view, const valise_coll *desc, const void *key_row,
                       valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS];
    const vls_coll *coll;
    int rc;

    VLS_ARG(view && desc && key_row, err);
    rc = check_writable(&coll, view, desc, err);
    if (rc == 0)
        rc = cells_of_key(key, view, coll, key_row, err);
    return rc < 0 ? rc : delete_key(view, coll, key, err);
}

int vls_view_delete_cells(valise_view *view, const vls_coll *coll, const valise_cell *cells,
                          valise_error *err)
{
    int rc = check_writable(&coll, view, coll->desc, err);

    if (rc == 0)
        rc = delete_key(view, coll, cells, err);
    return vls_settle(rc);
}

int valise_view_add(valise_id *out, valise_view *view, const char *kind, valise_str bytes,
                    valise_error *err)
{
    vls_new_object object = {.kind = kind};
    int rc;

    VLS_ARG(out && view && kind && view->changing, err);
    rc = vls_object_id(&object.id, kind, bytes, err);
    if (rc == 0 && !vls_view_find_new(view, &object.id)) {
        rc = vls_arena_dup(&object.bytes, &view->arena, bytes, err);
        if (rc == 0)
            rc = vls_view_lend(view, &object, err);
    }
    if (rc == 0)
        *out = object.id;
    return rc;
}

int valise_view_uuid(valise_uuid *out, valise_view *view, valise_error *err)
{
    VLS_ARG(out && view && (view->changing || view->apart), err);
    vls_uuid_derive(out, &view->stamp.command, view->uuid_count);
    view->uuid_count++;
    return 0;
}

/* ---- blobs ---- */

int vls_view_let_go(valise_view *view, const valise_id *id, valise_error *err)
{
    if (!view->let_go)
        return 0;
    return vls_vec_push(view->let_go, view->arena.env, *id) ? 0 : vls_fail_memory(err);
}
