/* kit.c -- stores for tests. */
#include "store/kit.h"

#include "base/mem.h"
#include "store/impl.h"

const char *kit_backend;

const valise_store_ops *kit_ops(const char *backend)
{
    CHECK(backend);
    return strcmp(backend, "sqlite") == 0 ? valise_store_sqlite() : valise_store_memory();
}

bool kit_keeps(const test *t)
{
    return strcmp(t->param, "memory") != 0;
}

vls_store_options kit_options(const test *t, const valise_coll *const *colls)
{
    return (vls_store_options){
        .env = t->env,
        .ops = kit_ops(t->param),
        .where = test_tmpdir(),
        .flags = VALISE_STORE_CREATE,
        .busy_timeout_ns = INT64_C(1000000000),
        .colls = colls,
    };
}

vls_store *kit_open(test *t, const valise_coll *const *colls)
{
    vls_store_options options = kit_options(t, colls);
    vls_store *store = NULL;

    CHECK_OK(vls_store_open(&store, &options, &t->err));
    return store;
}

void kit_close(vls_store *store)
{
    vls_store_close(store);
}

void kit_remove(void)
{
    static const char *const names[] = {"valise.db", "valise.db-wal", "valise.db-shm"};

    for (size_t i = 0; i < VLS_COUNT(names); i++)
        test_remove(test_format("%s/%s", test_tmpdir(), names[i]));
}

void kit_begin(test *t, vls_txn *txn, vls_store *store, int mode)
{
    CHECK_OK(vls_txn_begin(txn, store, mode, &t->err));
}

void kit_commit(test *t, vls_txn *txn)
{
    CHECK_OK(vls_txn_commit(txn, &t->err));
}

static void flip(valise_cell *cell, size_t bit)
{
    static char copy[1 << 16];
    size_t byte = bit / 8 % VLS_MAX(cell->as.bytes.len, 1);

    if (cell->type == VALISE_CELL_INT) {
        cell->as.integer ^= (int64_t)(UINT64_C(1) << bit % 63);
        return;
    }
    CHECK(cell->type == VALISE_CELL_TEXT || cell->type == VALISE_CELL_BLOB);
    CHECK(cell->as.bytes.len > 0 && cell->as.bytes.len <= sizeof(copy));
    memcpy(copy, cell->as.bytes.ptr, cell->as.bytes.len);
    copy[byte] = (char)(copy[byte] ^ 1 << bit % 7); /* stays UTF-8 where it was ASCII */
    cell->as.bytes.ptr = copy;
}

void kit_damage(test *t, vls_store *store, uint32_t table, int64_t number, uint16_t column,
                size_t bit)
{
    valise_cell key = {.type = VALISE_CELL_INT, .as.integer = number};
    valise_cell row[VALISE_MAX_COLUMNS];
    void *self, *txn;
    const valise_store_ops *ops = vls_store_ops(store, &self);

    CHECK_OK(ops->begin(&txn, self, VALISE_TXN_WRITE, &t->err));
    CHECK_RC(1, ops->get(row, txn, table, &key, &t->err));
    flip(&row[column], bit);
    CHECK_OK(ops->put(txn, table, row, &t->err));
    CHECK_OK(ops->commit(txn, &t->err));
    vls_cache_clear(store->cache);
}
