/* schema.c -- which collections are in a store, and which are to be.
 *
 * The table `collection` says what the tables behind the store's own are, by number. Opening a
 * store goes through that list: a collection the program knows is built from the program's
 * descriptor over the stored description, another one from the description alone (`foreign`). What
 * the program knows and the store does not is added behind.
 *
 * Tables are attached while no transaction is open, but may be created only in one, when another
 * program may have done the same in between. So the plan is made in a read transaction, and carried
 * out only if `meta` still has the generation it had then; else everything starts over. */
#include "base/hex.h"
#include "base/uuid.h"
#include "store/impl.h"

#define DESCRIPTION_MAX ((size_t)1 << 20)

typedef struct plan_item {
    vls_coll *coll;
    uint16_t have; /* columns that are there */
    bool grown;    /* needs columns or indexes */
} plan_item;

typedef struct plan {
    vls_meta_state meta;
    uint32_t stored; /* items that are in the store; the others are new */
    vls_vec(plan_item) items;
} plan;

/* ---- the list of the store ---- */

static const valise_coll *find_desc(const valise_coll *const *descs, valise_str name)
{
    for (; descs && *descs; descs++) {
        if (vls_str_equal(valise_str_of((*descs)->name), name))
            return *descs;
    }
    return NULL;
}

static int new_item(plan_item **out, plan *p, vls_store *store, valise_error *err)
{
    plan_item item = {.coll = vls_arena_zalloc(&store->arena, sizeof(*item.coll))};

    if (!item.coll)
        return vls_arena_fail(&store->arena, err);
    if (p->items.len + VLS_TABLE_OWN_COUNT >= VLS_COLL_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "a store has at most %u collections", VLS_COLL_MAX);
    if (!vls_vec_push(&p->items, store->env, item))
        return vls_fail_memory(err);
    *out = &p->items.ptr[p->items.len - 1];
    return 0;
}

static int read_row(plan *p, vls_store *store, const vls_coll_row *row,
                    const valise_coll *const *descs, valise_error *err)
{
    const valise_coll *desc = find_desc(descs, row->name);
    int64_t number = (int64_t)(VLS_TABLE_OWN_COUNT + p->items.len);
    plan_item *item = NULL;
    int rc;

    if (row->number != number)
        return vls_fail(err, VALISE_E_CORRUPT, "collection %lld is missing", (long long)number);
    rc = new_item(&item, p, store, err);
    if (rc != 0)
        return rc;
    assert(item);
    if (desc)
        rc = vls_coll_build_over(item->coll, &item->have, &item->grown, desc, row->description,
                                 &store->arena, err);
    else
        rc = vls_coll_restore(item->coll, row->name, row->description, &store->arena, err);
    item->coll->number = (uint32_t)number;
    return rc;
}

static int read_rows(plan *p, vls_txn *txn, const valise_coll *const *descs, valise_error *err)
{
    vls_store *store = txn->store;
    const vls_coll *coll = vls_store_coll_at(store, VLS_TABLE_COLLECTION);
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell cells[VALISE_MAX_COLUMNS];
    vls_coll_row row;
    int rc = vls_txn_scan_open(&scan, txn, coll, (valise_range){.index = -1}, err);

    while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) == 1) {
        rc = vls_row_from_cells(&row, coll->desc->fields, coll->desc->row_size, cells,
                                coll->field_count, &store->arena, err);
        if (rc == 0)
            rc = read_row(p, store, &row, descs, err);
    }
    p->stored = (uint32_t)p->items.len;
    return rc;
}

/* ---- the list of the program ---- */

static bool is_planned(const plan *p, const valise_coll *desc)
{
    for (size_t i = 0; i < p->items.len; i++) {
        if (p->items.ptr[i].coll->desc == desc)
            return true;
    }
    return false;
}

static int add_new(plan *p, vls_store *store, const valise_coll *const *descs, valise_error *err)
{
    for (; descs && *descs; descs++) {
        plan_item *item = NULL;
        if (is_planned(p, *descs))
            continue;
        int rc = new_item(&item, p, store, err);
        if (rc == 0)
            rc = vls_coll_build(item->coll, *descs, false, &store->arena, err);
        if (rc < 0)
            return rc;
        item->coll->number = (uint32_t)(VLS_TABLE_OWN_COUNT + p->items.len - 1);
    }
    return 0;
}

/* Two collections of one name, or of names that differ only in '.' and '_'. */
static int check_names(const plan *p, const vls_store *store, valise_error *err)
{
    for (size_t i = 0; i < store->colls.len + p->items.len; i++) {
        const vls_coll *a =
            i < store->colls.len ? store->colls.ptr[i] : p->items.ptr[i - store->colls.len].coll;
        for (size_t k = 0; k < p->items.len; k++) {
            const vls_coll *b = p->items.ptr[k].coll;
            if (a != b && strcmp(a->table.name, b->table.name) == 0)
                return vls_fail(err, VALISE_E_EXISTS,
                                "the collections %s and %s would both be the table %s",
                                a->desc->name, b->desc->name, a->table.name);
        }
    }
    return 0;
}

static int make_plan(plan *p, vls_store *store, const valise_coll *const *descs, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int rc = vls_txn_begin_bare(&txn, store, VALISE_TXN_READ, err);

    if (rc == 0)
        rc = vls_meta_read_state(&p->meta, &txn, err);
    if (rc == 0)
        rc = read_rows(p, &txn, descs, err);
    if (rc == 0)
        rc = add_new(p, store, descs, err);
    return rc < 0 ? rc : check_names(p, store, err);
}

/* ---- carrying it out ---- */

static bool has_grown(const plan *p)
{
    bool grown = false;

    for (size_t i = 0; i < p->items.len; i++)
        grown = grown || p->items.ptr[i].grown;
    return grown;
}

static bool must_change(const plan *p)
{
    return p->items.len > p->stored || has_grown(p);
}

/* What is not there reads as empty; what is there in an older shape cannot be read. */
static int plan_read_only(plan *p, valise_error *err)
{
    for (size_t i = 0; i < p->items.len; i++) {
        vls_coll *coll = p->items.ptr[i].coll;
        coll->missing = i >= p->stored;
        if (!p->items.ptr[i].grown)
            continue;
        int rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                          "collection %s of this store lacks fields or indexes that this program "
                          "wants, and the store was opened for reading only",
                          coll->desc->name);
        vls_hint(err, "open it for writing once: run 'valise status'");
        return rc;
    }
    return 0;
}

static int attach_all(const plan *p, vls_store *store, valise_error *err)
{
    for (size_t i = 0; i < p->items.len; i++) {
        vls_coll *coll = p->items.ptr[i].coll;
        int rc = store->ops.attach(store->backend, coll->number, &coll->table, err);
        if (rc < 0)
            return rc;
        if (!vls_vec_push(&store->colls, store->env, coll))
            return vls_fail_memory(err);
    }
    return 0;
}

static int write_item(vls_txn *txn, const plan_item *item, valise_error *err)
{
    vls_store *store = txn->store;
    VLS_AUTO(buf) vls_buf text = {0};
    vls_coll_row row = {.number = item->coll->number,
                        .name = valise_str_of(item->coll->desc->name)};
    int rc;

    vls_buf_init(&text, store->env, DESCRIPTION_MAX);
    rc = vls_coll_describe(&text, item->coll, &store->arena, err);
    if (rc == 0)
        rc = store->ops.create(txn->backend, item->coll->number, item->have, err);
    row.description = vls_buf_str(&text);
    return rc < 0 ? rc : vls_own_put(txn, VLS_TABLE_COLLECTION, &row, err);
}

/* Handles that do not know the new fields would take rows with them for damaged. */
static int64_t schema_of(const plan *p)
{
    return p->meta.schema + (has_grown(p) ? 1 : 0);
}

static int write_plan(vls_txn *txn, const plan *p, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < p->items.len; i++) {
        const plan_item *item = &p->items.ptr[i];
        if (item->grown || i >= p->stored)
            rc = write_item(txn, item, err);
    }
    if (rc == 0)
        rc = vls_meta_put_int(txn, "collections", (int64_t)(VLS_TABLE_OWN_COUNT + p->items.len),
                              err);
    return rc < 0 ? rc : vls_meta_put_int(txn, "schema", schema_of(p), err);
}

static int carry_out(bool *again, const plan *p, vls_store *store, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int64_t generation = 0;
    int rc = vls_txn_begin_bare(&txn, store, VALISE_TXN_WRITE, err);

    if (rc == 0)
        rc = vls_meta_generation(&generation, &txn, err);
    if (rc < 0)
        return rc;
    if (generation != p->meta.generation) {
        *again = true;
        return 0;
    }
    rc = write_plan(&txn, p, err);
    return rc < 0 ? rc : vls_txn_commit(&txn, err);
}

int vls_store_attach(bool *again, vls_store *store, const valise_coll *const *descs,
                     valise_error *err)
{
    plan p = {.items = VLS_VEC_INIT};
    int rc = make_plan(&p, store, descs, err);

    *again = false;
    if (rc == 0 && vls_store_read_only(store))
        rc = plan_read_only(&p, err);
    if (rc == 0)
        rc = attach_all(&p, store, err);
    if (rc == 0 && !vls_store_read_only(store) && must_change(&p))
        rc = carry_out(again, &p, store, err);
    store->schema = schema_of(&p);
    vls_vec_release(&p.items, store->env);
    return rc;
}

/* ---- a new store ---- */

static int is_empty(bool *out, vls_txn *txn, uint32_t table, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell row[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_open(&scan, txn, vls_store_coll_at(txn->store, table),
                               (valise_range){.index = -1}, err);

    if (rc == 0)
        rc = vls_txn_scan_next(row, &scan, err);
    if (rc < 0)
        return rc;
    *out = rc == 0;
    return 0;
}

static int write_new(vls_txn *txn, valise_error *err)
{
    valise_uuid workspace;
    vls_uuid_gen gen;
    int rc;

    vls_uuid_gen_init(&gen, txn->store->env);
    rc = vls_uuid_new(&workspace, &gen, err);
    vls_uuid_gen_release(&gen);
    if (rc == 0)
        rc = vls_meta_put_str(txn, "workspace", valise_str_of(vls_uuid_text(&workspace).s), err);
    if (rc == 0)
        rc = vls_meta_put_int(txn, "format", txn->store->format, err);
    if (rc == 0)
        rc = vls_meta_put_int(txn, "collections", VLS_TABLE_OWN_COUNT, err);
    return rc;
}

/* A store is founded in its first transaction, so one without a format is new, or was left by a
 * program that died before that transaction; or somebody has emptied `meta`. */
int vls_store_found(vls_store *store, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    bool empty = true;
    int64_t generation = 0;
    int rc = vls_txn_begin_bare(&txn, store, VALISE_TXN_WRITE, err);

    if (rc == 0)
        rc = vls_meta_generation(&generation, &txn, err);
    if (rc < 0 || generation > 0)
        return rc; /* another program was faster */
    for (uint32_t table = 0; rc == 0 && empty && table < VLS_TABLE_OWN_COUNT; table++)
        rc = is_empty(&empty, &txn, table, err);
    if (rc == 0 && !empty)
        rc = vls_fail(err, VALISE_E_CORRUPT, "the store does not record its format");
    if (rc == 0)
        rc = write_new(&txn, err);
    return rc < 0 ? rc : vls_txn_commit(&txn, err);
}
