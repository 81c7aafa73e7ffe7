/* bundle_part.c -- what belongs to a part of a workspace: a closure over references.
 *
 * Of each row that belongs to it:
 *
 *     objects and blobs that it names
 *     rows that it needs        a field with `ref`: the rows of that collection whose key begins
 *                               with the field's value
 *     rows that belong to it    of collections whose first key field refers to its collection:
 * those whose key begins as its own
 *
 *     rows that it leads to     what the collection itself says, which knows what its rows hold
 *
 * Collections in the list `local` are never followed. */
#include "base/str.h"
#include "store/bundle.h"
#include "store/place.h"
#include "store/refs.h"

#define PART_BYTES_MAX VLS_VIEW_MAX_BYTES

static bool has_key(const void *item, const void *key)
{
    const vls_bundle_row *a = item, *b = key;

    return a->coll == b->coll && vls_str_equal(a->key, b->key);
}

void vls_bundle_part_init(vls_bundle_part *part, valise_view *view, const char *const *local)
{
    const valise_env *env = view->arena.env;

    *part = (vls_bundle_part){.view = view, .local = local};
    vls_arena_init(&part->arena, env, PART_BYTES_MAX);
    vls_arena_init(&part->row, env, PART_BYTES_MAX);
    vls_map_init(&part->seen, env, has_key);
    if (env->random(env->self, &part->seed, sizeof(part->seed)) < 0)
        part->seed = 0;
}

void vls_bundle_part_release(vls_bundle_part *part)
{
    const valise_env *env = part->arena.env;

    if (!env)
        return;
    vls_vec_release(&part->rows, env);
    vls_vec_release(&part->objects, env);
    vls_vec_release(&part->blobs, env);
    vls_vec_release(&part->roots, env);
    vls_map_release(&part->seen);
    vls_arena_release(&part->row);
    vls_arena_release(&part->arena);
    *part = (vls_bundle_part){0};
}

static bool is_carried(const vls_bundle_part *part, const vls_coll *coll)
{
    return coll && vls_coll_is_state(coll) && !vls_bundle_is_local(part->local, coll);
}

/* ---- rows ---- */

static int add_row(vls_bundle_part *part, const vls_coll *coll, const valise_cell *key,
                   valise_error *err)
{
    const valise_env *env = part->arena.env;
    vls_buf *scratch = &part->view->txn->scratch;
    vls_bundle_row wanted = {.coll = coll}, *row;
    uint64_t hash;
    int rc;

    vls_buf_clear(scratch);
    vls_key_write(scratch, key, coll->key_count);
    rc = vls_buf_check(scratch, err);
    if (rc < 0)
        return rc;
    wanted.key = vls_buf_str(scratch);
    hash = vls_str_hash(wanted.key, part->seed ^ coll->number);
    if (vls_map_get(&part->seen, hash, &wanted))
        return 0;
    row = vls_arena_alloc(&part->arena, sizeof(*row));
    if (!row)
        return vls_arena_fail(&part->arena, err);
    row->coll = coll;
    rc = vls_arena_dup(&row->key, &part->arena, wanted.key, err);
    if (rc < 0)
        return rc;
    if (!vls_vec_push(&part->rows, env, row) || vls_map_put(NULL, &part->seen, hash, row, row) < 0)
        return vls_fail_memory(err);
    return 0;
}

/* Every row whose key begins with this cell. */
static int add_rows(vls_bundle_part *part, const vls_coll *coll, const valise_cell *first,
                    valise_error *err)
{
    valise_range range = {.index = -1, .equal = first, .equal_count = 1};
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell row[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_open(&scan, part->view->txn, coll, range, err);

    while (rc >= 0 && (rc = vls_txn_scan_next(row, &scan, err)) > 0)
        rc = add_row(part, coll, row, err);
    return rc;
}

int vls_bundle_part_add(vls_bundle_part *part, valise_str place, valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS], row[VALISE_MAX_COLUMNS];
    VLS_AUTO(buf) vls_buf text = {0};
    const vls_coll *coll = NULL;
    valise_str whole;
    int rc = vls_place_parse(&coll, key, part->view, place, err);

    if (rc < 0)
        return rc;
    if (!is_carried(part, coll))
        return vls_fail(err, VALISE_E_INVALID, "rows of %s cannot leave their workspace",
                        coll->desc->name);
    rc = vls_txn_get(row, part->view->txn, coll, key, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no %s", vls_coll_place(coll, key).s);
    vls_buf_init(&text, part->arena.env, PART_BYTES_MAX);
    vls_place_write(&text, coll, key);
    if (rc > 0)
        rc = vls_buf_check(&text, err);
    if (rc == 0)
        rc = vls_arena_dup(&whole, &part->arena, vls_buf_str(&text), err);
    if (rc == 0 && !vls_vec_push(&part->roots, part->arena.env, whole))
        rc = vls_fail_memory(err);
    return rc < 0 ? rc : add_row(part, coll, key, err);
}

/* ---- what a row leads to ---- */

typedef struct following {
    vls_bundle_part *part;
    valise_error *err;
} following;

static int follow(void *arg, const valise_field *field, void *member)
{
    const following *f = arg;
    vls_bundle_part *part = f->part;
    valise_field alone = *field;
    const vls_coll *coll;
    valise_cell first;
    int rc;

    if (vls_names_object(field)) /* an id is the first member of a content */
        return vls_vec_push(&part->objects, part->arena.env, *(const valise_id *)member)
                   ? 0
                   : vls_fail_memory(f->err);
    if (!field->ref)
        return 0;
    if (field->type == VALISE_T_ID && strcmp(field->ref, "blob") == 0 &&
        !vls_vec_push(&part->blobs, part->arena.env, *(const valise_id *)member))
        return vls_fail_memory(f->err);
    coll = vls_store_coll_named(part->view->txn->store, valise_str_of(field->ref));
    if (!is_carried(part, coll))
        return 0;
    alone.offset = 0;
    rc = vls_field_to_cell(&first, member, &alone, &part->arena, f->err);
    return rc < 0 || first.type == VALISE_CELL_NULL ? rc : add_rows(part, coll, &first, f->err);
}

/* Rows of other collections that say with the front of their key that they belong to this one. */
static int follow_owned(vls_bundle_part *part, const vls_coll *coll, const valise_cell *row,
                        valise_error *err)
{
    const vls_store *store = part->view->txn->store;

    for (uint32_t i = VLS_TABLE_OWN_COUNT; i < vls_store_coll_count(store); i++) {
        const vls_coll *other = vls_store_coll_at(store, i);
        const char *ref = other->desc->fields[0].ref;
        int rc;
        if (other == coll || !ref || strcmp(ref, coll->desc->name) != 0 || !is_carried(part, other))
            continue;
        rc = add_rows(part, other, &row[0], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* One that is not there is not missed here: `validate` does. */
static int follow_lead(void *arg, const valise_coll *desc, const void *key_row, valise_error *err)
{
    vls_bundle_part *part = ((const following *)arg)->part;
    const vls_coll *coll = vls_store_coll(part->view->txn->store, desc);
    valise_cell key[VALISE_MAX_COLUMNS], found[VALISE_MAX_COLUMNS];
    int rc;

    if (!is_carried(part, coll))
        return 0;
    rc = vls_row_to_cells(key, key_row, desc->fields, &part->row, err);
    if (rc == 0)
        rc = vls_txn_get(found, part->view->txn, coll, key, err);
    return rc > 0 ? add_row(part, coll, key, err) : rc;
}

static int follow_leads(following *f, const vls_coll *coll, const void *row, valise_error *err)
{
    const valise_coll *desc = coll->desc;
    bool has = !coll->foreign && desc->size >= offsetof(valise_coll, leads) + sizeof(desc->leads);

    return has && desc->leads ? desc->leads(f->part->view, row, follow_lead, f, err) : 0;
}

static int follow_row(vls_bundle_part *part, const vls_bundle_row *row, valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS], found[VALISE_MAX_COLUMNS];
    vls_arena *arena = &part->row;
    following f = {part, err};
    valise_cell *cells = NULL;
    void *decoded = NULL;
    int rc = vls_key_read(key, row->coll->key_count, row->key, arena, err);

    if (rc == 0)
        rc = vls_txn_get(found, part->view->txn, row->coll, key, err);
    if (rc > 0)
        rc = vls_cells_copy(&cells, found, row->coll->field_count, arena, err);
    if (rc == 0)
        rc = vls_row_of_cells(&decoded, row->coll, cells, arena, err);
    if (rc == 0)
        rc = vls_fields_each_ref(decoded, row->coll->desc->fields, follow, &f);
    if (rc == 0)
        rc = follow_owned(part, row->coll, cells, err);
    if (rc == 0)
        rc = follow_leads(&f, row->coll, decoded, err);
    vls_arena_reset(arena);
    return rc;
}

/* ---- order ---- */

size_t vls_bundle_sort_ids(valise_id *ids, size_t count)
{
    size_t kept = 0;

    if (count > 1)
        qsort(ids, count, sizeof(*ids), vls_id_order);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !vls_id_equal(&ids[kept - 1], &ids[i]))
            ids[kept++] = ids[i];
    }
    return kept;
}

bool vls_bundle_has_id(const valise_id *ids, size_t count, const valise_id *id)
{
    return count > 0 && bsearch(id, ids, count, sizeof(*ids), vls_id_order);
}

static int compare_rows(const void *a, const void *b)
{
    const vls_bundle_row *x = *(vls_bundle_row *const *)a, *y = *(vls_bundle_row *const *)b;
    int names = strcmp(x->coll->desc->name, y->coll->desc->name);

    return names ? names : vls_str_compare(x->key, y->key);
}

static void sort_roots(vls_bundle_part *part)
{
    size_t kept = 0;

    qsort(part->roots.ptr, part->roots.len, sizeof(*part->roots.ptr), vls_str_order);
    for (size_t i = 0; i < part->roots.len; i++) {
        if (kept == 0 || !vls_str_equal(part->roots.ptr[kept - 1], part->roots.ptr[i]))
            part->roots.ptr[kept++] = part->roots.ptr[i];
    }
    part->roots.len = kept;
}

int vls_bundle_part_close(vls_bundle_part *part, vls_progress *progress, valise_error *err)
{
    /* The list grows behind. */
    for (size_t i = 0; i < part->rows.len; i++) {
        int rc = follow_row(part, part->rows.ptr[i], err);
        if (rc == 0)
            rc = vls_progress_step(progress, 1, err);
        if (rc < 0)
            return rc;
    }
    sort_roots(part);
    qsort(part->rows.ptr, part->rows.len, sizeof(*part->rows.ptr), compare_rows);
    part->objects.len = vls_bundle_sort_ids(part->objects.ptr, part->objects.len);
    part->blobs.len = vls_bundle_sort_ids(part->blobs.ptr, part->blobs.len);
    return 0;
}
