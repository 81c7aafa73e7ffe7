/* memory.c -- the store in memory: opening, transactions, marks.
 *
 * memory.h has the picture. One transaction writes at a time (vls_turn); readers take a reference
 * to the state of the last commit and are in nobody's way. What may be large is never released
 * under a lock. The store is gone when it is closed. */
#include "store/memory.h"

#include "base/mem.h"
#include "base/time.h"

typedef vls_memory_state state;
typedef vls_memory_txn txn;

/* ---- states ---- */

static size_t state_size(uint32_t count)
{
    return sizeof(state) + count * sizeof(vls_memory_table *);
}

/* A state of so many tables, the first of them those of `from` (NULL: none). */
static state *state_new(const valise_env *env, uint32_t count, const state *from)
{
    state *s = vls_mem_zalloc(env, state_size(count));

    if (!s)
        return NULL;
    vls_ref_init(&s->refs);
    s->env = env;
    s->count = count;
    for (uint32_t i = 0; from && i < from->count; i++) {
        if (from->tables[i])
            vls_ref_get(&from->tables[i]->refs);
        s->tables[i] = from->tables[i];
    }
    return s;
}

static void state_unref(state *s)
{
    if (!s || !vls_ref_put(&s->refs))
        return;
    for (uint32_t i = 0; i < s->count; i++)
        vls_memory_table_unref(s->tables[i]);
    vls_mem_free(s->env, s, state_size(s->count));
}

/* ---- opening ---- */

static int memory_attach(void *self, uint32_t number, const valise_table *table, valise_error *err)
{
    vls_memory_store *store = self;

    return vls_table_defs_attach(&store->defs, store->env, number, table, err);
}

static void memory_close(void *self)
{
    vls_memory_store *store = self;

    if (!store)
        return;
    assert(store->open_txns == 0);
    state_unref(store->state);
    vls_table_defs_release(&store->defs, store->env);
    (void)pthread_mutex_destroy(&store->lock);
    vls_turn_release(&store->turn);
    vls_mem_free(store->env, store, sizeof(*store));
}

static int make_tables(vls_memory_store *store, const valise_store_open *how, valise_error *err)
{
    store->state = state_new(store->env, how->table_count, NULL);
    if (!store->state)
        return vls_fail_memory(err);
    for (uint32_t i = 0; i < how->table_count; i++) {
        int rc = memory_attach(store, i, &how->tables[i], err);
        if (rc < 0)
            return rc;
        store->state->tables[i] =
            vls_memory_table_new(store->env, (uint16_t)(how->tables[i].index_count + 1));
        if (!store->state->tables[i])
            return vls_fail_memory(err);
    }
    return 0;
}

static int memory_open(void **self, const valise_store_open *how, valise_error *err)
{
    vls_memory_store *store;
    int rc = vls_store_check_open(how, err);

    if (rc < 0)
        return rc;
    if (!(how->flags & VALISE_STORE_CREATE)) {
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "there is no store in memory to open");
        vls_hint(err, "a store in memory is always new: create it");
        return rc;
    }
    store = vls_mem_zalloc(how->env, sizeof(*store));
    if (!store)
        return vls_fail_memory(err);
    store->env = how->env;
    store->busy_timeout_ns = how->busy_timeout_ns;
    vls_turn_init(&store->turn, how->env);
    (void)pthread_mutex_init(&store->lock, NULL);
    rc = make_tables(store, how, err);
    if (rc < 0) {
        memory_close(store);
        return rc;
    }
    *self = store;
    return 0;
}

/* ---- transactions ---- */

static txn *txn_new(vls_memory_store *store, bool writes)
{
    txn *x = vls_mem_zalloc(store->env, sizeof(*x));

    if (!x)
        return NULL;
    x->store = store;
    x->writes = writes;
    vls_buf_init(&x->key, store->env, SIZE_MAX / 2);
    (void)pthread_mutex_lock(&store->lock);
    x->state = store->state;
    vls_ref_get(&x->state->refs);
    store->open_txns++;
    (void)pthread_mutex_unlock(&store->lock);
    return x;
}

static int memory_begin(void **out, void *self, int mode, valise_error *err)
{
    vls_memory_store *store = self;
    bool writes = mode != VALISE_TXN_READ;
    int64_t timeout_ns = mode == VALISE_TXN_LAZY ? 0 : store->busy_timeout_ns;

    if (writes && !vls_turn_take(&store->turn, vls_deadline_ns(store->env, timeout_ns))) {
        int rc = vls_fail(err, VALISE_E_BUSY, "another transaction of this process is writing");
        vls_hint(err, "try again, or wait longer");
        return rc;
    }
    txn *x = txn_new(store, writes);
    if (!x) {
        if (writes)
            vls_turn_give(&store->turn);
        return vls_fail_memory(err);
    }
    *out = x;
    return 0;
}

/* Drop what the transaction holds, last of all its turn. */
static void txn_end(txn *x)
{
    vls_memory_store *store = x->store;
    bool writes = x->writes;

    assert(x->scans == 0);
    while (x->marks.len > 0)
        state_unref(x->marks.ptr[--x->marks.len]);
    vls_vec_release(&x->marks, store->env);
    state_unref(x->state);
    vls_buf_release(&x->key);
    vls_mem_free(store->env, x, sizeof(*x));
    (void)pthread_mutex_lock(&store->lock);
    store->open_txns--;
    (void)pthread_mutex_unlock(&store->lock);
    if (writes)
        vls_turn_give(&store->turn);
}

static int fail_spoiled(const txn *x, valise_error *err)
{
    int code = x->spoiled;

    assert(code < 0);
    return vls_fail(err, code, "a change of this transaction failed before: %s",
                    valise_error_text(code));
}

static int memory_commit(void *arg, valise_error *err)
{
    txn *x = arg;
    vls_memory_store *store = x->store;
    int rc = x->spoiled ? fail_spoiled(x, err) : 0;

    if (rc == 0 && x->writes) {
        (void)pthread_mutex_lock(&store->lock);
        state *old = store->state;
        store->state = x->state;
        store->known = store->known || x->asked;
        (void)pthread_mutex_unlock(&store->lock);
        x->state = old;
    }
    txn_end(x);
    return rc;
}

static void memory_rollback(void *arg)
{
    if (arg)
        txn_end(arg);
}

static int check_writes(const txn *x, valise_error *err)
{
    if (!x->writes)
        return vls_fail(err, VALISE_E_INVALID, "a change in a read-only transaction");
    return x->spoiled ? fail_spoiled(x, err) : 0;
}

static int mark_set(txn *x, valise_error *err)
{
    int rc = check_writes(x, err);

    if (rc < 0)
        return rc;
    if (!vls_vec_push(&x->marks, x->store->env, x->state))
        return vls_fail_memory(err);
    vls_ref_get(&x->state->refs);
    return 0;
}

static int memory_mark(void *arg, int what, valise_error *err)
{
    txn *x = arg;

    if (what == VALISE_MARK_SET)
        return mark_set(x, err);
    if (x->marks.len == 0)
        return vls_fail(err, VALISE_E_INVALID, "no mark is set");
    if (what == VALISE_MARK_BACK) {
        state_unref(x->state);
        x->state = x->marks.ptr[--x->marks.len];
        x->spoiled = 0;
        return 0;
    }
    if (x->spoiled)
        return fail_spoiled(x, err);
    state_unref(x->marks.ptr[--x->marks.len]);
    return 0;
}

static int memory_changed(bool *out, void *arg, valise_error *err)
{
    txn *x = arg;
    int rc = check_writes(x, err);

    if (rc < 0)
        return rc;
    x->asked = true;
    *out = !x->store->known; /* only a write transaction sets it, and this is the one */
    return 0;
}

/* ---- tables ---- */

static int find_def(const vls_table_def **out, const txn *x, uint32_t number, valise_error *err)
{
    if (number >= x->store->defs.len)
        return vls_fail(err, VALISE_E_INVALID, "table %u is not attached", number);
    *out = x->store->defs.ptr[number];
    return 0;
}

/* The definition and the table as the transaction sees it. */
static int find_table(const vls_table_def **def, vls_memory_table **out, const txn *x,
                      uint32_t number, valise_error *err)
{
    int rc = x->spoiled ? fail_spoiled(x, err) : find_def(def, x, number, err);

    if (rc < 0)
        return rc;
    *out = number < x->state->count ? x->state->tables[number] : NULL;
    if (!*out)
        return vls_fail(err, VALISE_E_NOT_FOUND, "table %s is not in the store",
                        (*def)->table->name);
    return 0;
}

/* Make the state the transaction's own, with room for this table. */
static int own_state(txn *x, uint32_t number, valise_error *err)
{
    if (vls_ref_single(&x->state->refs) && number < x->state->count)
        return 0;
    state *copy = state_new(x->store->env, VLS_MAX(x->state->count, number + 1), x->state);
    if (!copy)
        return vls_fail_memory(err);
    state_unref(x->state);
    x->state = copy;
    return 0;
}

static int own_table(const vls_table_def **def, vls_memory_table **out, txn *x, uint32_t number,
                     valise_error *err)
{
    int rc = check_writes(x, err);

    if (rc == 0)
        rc = find_table(def, out, x, number, err);
    if (rc == 0)
        rc = own_state(x, number, err);
    if (rc != 0 || vls_ref_single(&(*out)->refs))
        return rc;
    vls_memory_table *copy = vls_memory_table_copy(*out);
    if (!copy)
        return vls_fail_memory(err);
    vls_memory_table_unref(*out);
    x->state->tables[number] = copy;
    *out = copy;
    return 0;
}

static int check_create(const txn *x, const vls_table_def *def, uint16_t have, bool exists,
                        valise_error *err)
{
    int rc = check_writes(x, err);

    if (rc < 0)
        return rc;
    if (have > def->table->column_count)
        return vls_fail(err, VALISE_E_INVALID, "table %s has %d columns, and %d already",
                        def->table->name, def->table->column_count, have);
    if (have == 0 && exists)
        return vls_fail(err, VALISE_E_EXISTS, "table %s is in the store already", def->table->name);
    if (have > 0 && !exists)
        return vls_fail(err, VALISE_E_NOT_FOUND, "table %s is not in the store", def->table->name);
    return 0;
}

static int memory_create(void *arg, uint32_t number, uint16_t have, valise_error *err)
{
    txn *x = arg;
    const vls_table_def *def;
    vls_memory_table *made = NULL;
    int rc = find_def(&def, x, number, err);

    if (rc < 0)
        return rc;
    vls_memory_table *old = number < x->state->count ? x->state->tables[number] : NULL;
    rc = check_create(x, def, have, old != NULL, err);
    if (rc == 0)
        rc = own_state(x, number, err);
    if (rc < 0)
        return rc;
    if (old)
        rc = vls_memory_table_widen(&made, old, def, &x->key, err);
    else if (!(made = vls_memory_table_new(x->store->env, (uint16_t)(def->table->index_count + 1))))
        rc = vls_fail_memory(err);
    if (rc < 0)
        return rc;
    vls_memory_table_unref(old);
    x->state->tables[number] = made;
    return 0;
}

/* ---- rows ---- */

static int memory_get(valise_cell *row, void *arg, uint32_t number, const valise_cell *key,
                      valise_error *err)
{
    txn *x = arg;
    const vls_table_def *def;
    vls_memory_table *table;
    int rc = find_table(&def, &table, x, number, err);

    if (rc == 0)
        rc = vls_table_check_key(def, key, err);
    return rc != 0 ? rc : vls_memory_table_get(row, table, def, &x->key, key, err);
}

static int memory_put(void *arg, uint32_t number, const valise_cell *row, valise_error *err)
{
    txn *x = arg;
    const vls_table_def *def;
    vls_memory_table *table;
    bool half = false;
    int rc = own_table(&def, &table, x, number, err);

    if (rc == 0)
        rc = vls_table_check_row(def, row, err);
    if (rc == 0)
        rc = vls_memory_table_put(&half, table, def, &x->key, row, err);
    if (half)
        x->spoiled = rc;
    return rc;
}

static int memory_del(void *arg, uint32_t number, const valise_cell *key, valise_error *err)
{
    txn *x = arg;
    const vls_table_def *def;
    vls_memory_table *table;
    bool half = false;
    int rc = own_table(&def, &table, x, number, err);

    if (rc == 0)
        rc = vls_table_check_key(def, key, err);
    if (rc == 0)
        rc = vls_memory_table_del(&half, table, def, &x->key, key, err);
    if (half)
        x->spoiled = rc;
    return rc;
}

static int memory_scan_open(void **out, void *arg, const valise_range *range, valise_error *err)
{
    txn *x = arg;
    const vls_table_def *def;
    vls_memory_table *table;
    int rc = find_table(&def, &table, x, range->table, err);

    if (rc == 0)
        rc = vls_table_check_range(def, range, err);
    if (rc == 0 && range->index + 1 >= table->map_count)
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "table %s: index %s is not in the store",
                      def->table->name, def->table->indexes[range->index].name);
    return rc != 0 ? rc : vls_memory_scan_open(out, x, def, table, range, err);
}

/* ---- upkeep ---- */

static int memory_maintain(int64_t *result, void *self, int what, valise_error *err)
{
    (void)self;
    (void)what;
    (void)err;
    *result = 0;
    return 0;
}

const valise_store_ops *valise_store_memory(void)
{
    static const valise_store_ops ops = {
        .size = sizeof(valise_store_ops),
        .abi = VALISE_STORE_ABI,
        .name = "memory",
        .open = memory_open,
        .close = memory_close,
        .attach = memory_attach,
        .begin = memory_begin,
        .commit = memory_commit,
        .rollback = memory_rollback,
        .mark = memory_mark,
        .changed = memory_changed,
        .create = memory_create,
        .get = memory_get,
        .put = memory_put,
        .del = memory_del,
        .scan_open = memory_scan_open,
        .scan_next = vls_memory_scan_next,
        .scan_close = vls_memory_scan_close,
        .maintain = memory_maintain,
    };
    return &ops;
}
