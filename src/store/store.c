/* store.c -- opening and closing a store, and the collections in it.
 *
 * To open is: open the backend with the store's own tables, found the store if it is new, look at
 * its format, migrate it if it is older, attach its collections (schema.c). */
#include "store/chunks.h"
#include "store/impl.h"
#include "store/object.h"

#define ARENA_MAX ((size_t)64 << 20) /* of all descriptions */
#define ATTEMPTS 16u /* when other programs open the same store for the first time */

/* ---- parts of open ---- */

/* Copy what the table has, and see that nothing is missing. */
static int take_ops(valise_store_ops *out, const valise_store_ops *ops, valise_error *err)
{
    valise_store_ops copy = {0};

    if (ops->size < offsetof(valise_store_ops, maintain))
        return vls_fail(err, VALISE_E_INVALID, "a store backend whose table is too small");
    if (ops->abi != VALISE_STORE_ABI)
        return vls_fail(err, VALISE_E_UNSUPPORTED,
                        "store backend %s was made for version %u of the interface, this is %u",
                        ops->name ? ops->name : "without a name", ops->abi, VALISE_STORE_ABI);
    memcpy(&copy, ops, VLS_MIN(ops->size, sizeof(copy)));
    if (!copy.name || !copy.open || !copy.close || !copy.attach || !copy.begin || !copy.commit ||
        !copy.rollback || !copy.mark || !copy.changed || !copy.create || !copy.get || !copy.put ||
        !copy.del || !copy.scan_open || !copy.scan_next || !copy.scan_close)
        return vls_fail(err, VALISE_E_INVALID, "store backend %s lacks a function",
                        copy.name ? copy.name : "without a name");
    *out = copy;
    return 0;
}

static int open_backend(vls_store *store, const vls_store_options *options, unsigned flags,
                        valise_error *err)
{
    valise_table *tables = vls_arena_array(&store->arena, VLS_TABLE_OWN_COUNT, sizeof(*tables));
    valise_store_open how = {
        .size = sizeof(how),
        .where = options->where,
        .flags = flags,
        .full_sync = options->full_sync,
        .busy_timeout_ns = options->busy_timeout_ns,
        .env = store->env,
        .tables = tables,
        .table_count = VLS_TABLE_OWN_COUNT,
    };

    if (!tables)
        return vls_arena_fail(&store->arena, err);
    for (uint32_t i = 0; i < VLS_TABLE_OWN_COUNT; i++) {
        vls_coll *coll = vls_arena_zalloc(&store->arena, sizeof(*coll));
        if (!coll)
            return vls_arena_fail(&store->arena, err);
        int rc = vls_coll_build(coll, vls_own_colls[i], true, &store->arena, err);
        if (rc < 0)
            return rc;
        coll->number = i;
        tables[i] = coll->table;
        if (!vls_vec_push(&store->colls, store->env, coll))
            return vls_fail_memory(err);
    }
    return store->ops.open(&store->backend, &how, err);
}

static void close_backend(vls_store *store)
{
    if (store->backend)
        store->ops.close(store->backend);
    store->backend = NULL;
    store->colls.len = 0;
}

static int read_state(vls_meta_state *out, vls_store *store, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int rc = vls_txn_begin_bare(&txn, store, VALISE_TXN_READ, err);

    return rc < 0 ? rc : vls_meta_read_state(out, &txn, err);
}

static int refuse_format(const vls_store *store, int64_t format, valise_error *err)
{
    bool newer = format > store->format;
    int rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                      "the store has format %lld, this program writes format %lld%s",
                      (long long)format, (long long)store->format,
                      newer ? "" : ", and the store was opened for reading only");

    if (newer)
        vls_hint(err, "use a newer version of valise");
    else
        vls_hint(err, "'valise status' migrates it");
    return rc;
}

/* The store is of this program's format afterwards. */
static int settle_format(vls_store *store, const vls_store_options *options, valise_error *err)
{
    vls_meta_state meta;
    int rc = read_state(&meta, store, err);

    if (rc == 0 && meta.format == 0) {
        if (vls_store_read_only(store))
            return vls_fail(err, VALISE_E_NOT_FOUND, "the store is empty");
        rc = vls_store_found(store, err);
        if (rc == 0)
            rc = read_state(&meta, store, err);
    }
    if (rc < 0 || meta.format == store->format)
        return rc;
    if (meta.format > store->format || vls_store_read_only(store))
        return refuse_format(store, meta.format, err);
    return vls_store_migrate(store, options->migrations ? options->migrations : vls_migrations,
                             err);
}

static int open_once(bool *again, vls_store *store, const vls_store_options *options,
                     unsigned flags, valise_error *err)
{
    int rc = open_backend(store, options, flags, err);

    if (rc == 0)
        rc = settle_format(store, options, err);
    if (rc == 0)
        rc = vls_store_attach(again, store, options->colls, err);
    return rc;
}

static int open_all(vls_store *store, const vls_store_options *options, valise_error *err)
{
    unsigned flags = options->flags;

    for (unsigned i = 0; i < ATTEMPTS; i++) {
        bool again = false;
        int rc = open_once(&again, store, options, flags, err);
        if (rc < 0 || !again)
            return rc;
        close_backend(store);
        vls_arena_reset(&store->arena);
        flags &= ~(unsigned)(VALISE_STORE_CREATE | VALISE_STORE_EXCLUSIVE);
    }
    return vls_fail(err, VALISE_E_BUSY, "other programs keep adding collections to the store");
}

/* ---- damage ---- */

static int note_damage(void *arg, const char *text, valise_error *err)
{
    valise_error *damage = arg;

    (void)err;
    if (damage->code == 0) {
        (void)vls_fail(damage, VALISE_E_CORRUPT, "%s", text);
        vls_hint(
            damage,
            "nothing is written until it is repaired: 'valise validate' lists all that is damaged");
    }
    return 0;
}

/* Tables that are no longer what they were would take in rows and give out others: such a store is
 * read, and not written, until it is opened again. */
static int look_at_tables(vls_store *store, valise_error *err)
{
    if (!store->ops.check_tables)
        return 0;
    return store->ops.check_tables(store->backend, note_damage, &store->damage, err);
}

/* It could not be opened: if its tables are damaged, that is why. */
static int explain(vls_store *store, int rc, valise_error *err)
{
    if (rc != VALISE_E_CORRUPT || !store->backend || look_at_tables(store, NULL) < 0)
        return rc;
    if (store->damage.code < 0 && err)
        *err = store->damage;
    return rc;
}

/* ---- look-ups ---- */

static bool has_name(const void *item, const void *key)
{
    const vls_coll *coll = item;

    return vls_str_equal(valise_str_of(coll->desc->name), *(const valise_str *)key);
}

static bool has_desc(const void *item, const void *key)
{
    return ((const vls_coll *)item)->desc == key;
}

/* Pointers are seldom far apart; the middle bits of the product depend on all of them. */
static uint64_t desc_hash(const valise_coll *desc)
{
    return ((uint64_t)(uintptr_t)desc * UINT64_C(0x9e3779b97f4a7c15)) >> 16;
}

static int fill_maps(vls_store *store, valise_error *err)
{
    for (size_t i = 0; i < store->colls.len; i++) {
        vls_coll *coll = store->colls.ptr[i];
        valise_str name = valise_str_of(coll->desc->name);
        int rc = vls_map_put(NULL, &store->by_name, vls_str_hash(name, 0), &name, coll);
        if (rc == 0)
            rc = vls_map_put(NULL, &store->by_desc, desc_hash(coll->desc), coll->desc, coll);
        if (rc < 0)
            return vls_fail_memory(err);
    }
    return 0;
}

const vls_coll *vls_store_coll(const vls_store *store, const valise_coll *desc)
{
    const vls_coll *coll = vls_map_get(&store->by_desc, desc_hash(desc), desc);

    if (!coll) /* a short table of an extension, which the registry has copied */
        coll = vls_store_coll_named(store, valise_str_of(desc->name));
    assert(coll);
    return coll;
}

const vls_coll *vls_store_coll_named(const vls_store *store, valise_str name)
{
    return vls_map_get(&store->by_name, vls_str_hash(name, 0), &name);
}

const vls_coll *vls_store_coll_at(const vls_store *store, uint32_t number)
{
    return number < store->colls.len ? store->colls.ptr[number] : NULL;
}

uint32_t vls_store_coll_count(const vls_store *store)
{
    return (uint32_t)store->colls.len;
}

/* ---- open and close ---- */

/* All but the backend. */
static int new_store(vls_store **out, const vls_store_options *options, valise_error *err)
{
    valise_store_ops ops;
    vls_store *store;
    int rc = take_ops(&ops, options->ops, err);

    if (rc < 0)
        return rc;
    store = vls_mem_zalloc(options->env, sizeof(*store));
    if (!store)
        return vls_fail_memory(err);
    store->env = options->env;
    store->ops = ops;
    store->flags = options->flags;
    store->busy_timeout_ns = options->busy_timeout_ns;
    store->format = options->format ? options->format : VLS_FORMAT;
    pthread_mutex_init(&store->lock, NULL);
    pthread_mutex_init(&store->settle, NULL);
    vls_arena_init(&store->arena, store->env, ARENA_MAX);
    vls_map_init(&store->by_desc, store->env, has_desc);
    vls_map_init(&store->by_name, store->env, has_name);
    rc = vls_chunks_new(&store->chunks, store->env, err);
    if (rc == 0)
        rc = vls_cache_new(&store->cache, store->env, err);
    if (rc < 0)
        vls_store_close(store);
    else
        *out = store;
    return rc;
}

int vls_store_open_bare(vls_store **out, const vls_store_options *options, valise_error *err)
{
    vls_store *store = NULL;
    int rc = new_store(&store, options, err);

    if (rc < 0)
        return rc;
    store->bare = true;
    rc = open_backend(store, options, options->flags & ~(unsigned)VALISE_STORE_CREATE, err);
    if (rc == 0)
        rc = fill_maps(store, err);
    if (rc < 0)
        vls_store_close(store);
    else
        *out = store;
    return rc;
}

int vls_store_open(vls_store **out, const vls_store_options *options, valise_error *err)
{
    vls_store *store = NULL;
    int rc = new_store(&store, options, err);

    if (rc < 0)
        return rc;
    rc = open_all(store, options, err);
    if (rc == 0)
        rc = fill_maps(store, err);
    if (rc == 0)
        rc = look_at_tables(store, err);
    if (rc < 0) {
        rc = explain(store, rc, err);
        vls_store_close(store);
        return rc;
    }
    *out = store;
    return 0;
}

void vls_store_close(vls_store *store)
{
    if (!store)
        return;
    close_backend(store);
    vls_chunks_free(store->chunks);
    vls_cache_free(store->cache);
    vls_map_release(&store->by_name);
    vls_map_release(&store->by_desc);
    vls_vec_release(&store->colls, store->env);
    vls_arena_release(&store->arena);
    pthread_mutex_destroy(&store->settle);
    pthread_mutex_destroy(&store->lock);
    vls_mem_free(store->env, store, sizeof(*store));
}

const valise_env *vls_store_env(const vls_store *store)
{
    return store->env;
}

const valise_store_ops *vls_store_ops(const vls_store *store, void **self)
{
    if (self)
        *self = store->backend;
    return &store->ops;
}

int64_t vls_store_timeout_ns(const vls_store *store)
{
    return store->busy_timeout_ns;
}

bool vls_store_read_only(const vls_store *store)
{
    return (store->flags & VALISE_STORE_READ_ONLY) != 0;
}

vls_chunks *vls_store_chunks(vls_store *store)
{
    return store->chunks;
}
