/* object.c -- versions of a large value, against a loop that hashes, chunks and inserts the same
 * bytes by hand; and what a transaction of the store costs beside one of its backend. [Q12] */
#include <sqlite3.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include <time.h>

#include "base/bytes.h"
#include "base/chunk.h"
#include "base/mem.h"
#include "store/object.h"
#include "store/recipe.h"

#define SIZE 100000u
#define CHANGED 20u
#define VERSIONS 1000
#define KNOWN 65536u /* a power of two */

enum { BEGIN, COMMIT, PUT_CHUNK, PUT_OBJECT, STATEMENTS };

typedef struct state {
    vls_store *store;
    valise_id latest;
    char dir[256], raw_dir[256];
    char bytes[SIZE], raw_bytes[SIZE];
    uint64_t random;
    /* by hand */
    sqlite3 *db;
    sqlite3_stmt *stmt[STATEMENTS];
    int64_t chunk, object;
    struct {
        uint64_t hash;
        int64_t number;
    } known[KNOWN];
    vls_buf recipe;
} state;

static uint64_t next_random(state *s)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return s->random;
}

/* 20 bytes somewhere. */
static void change(state *s, char *bytes)
{
    size_t at = next_random(s) % (SIZE - CHANGED);

    for (size_t i = 0; i < CHANGED; i++)
        bytes[at + i] = (char)next_random(s);
}

/* ---- ours ---- */

static void put_version(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        vls_txn txn;
        valise_str bytes = {s->bytes, SIZE};
        bool existed;
        change(s, s->bytes);
        MUST(vls_object_id(&s->latest, "value", bytes, NULL) == 0);
        MUST(vls_txn_begin(&txn, s->store, VALISE_TXN_WRITE, NULL) == 0);
        MUST(vls_object_put(&txn, &s->latest, "value", bytes, 1, &existed, NULL) == 0);
        MUST(vls_txn_commit(&txn, NULL) == 0);
    }
}

static void get_latest(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        valise_blob *blob;
        vls_txn txn;
        MUST(vls_txn_begin(&txn, s->store, VALISE_TXN_READ, NULL) == 0);
        MUST(vls_object_get(&blob, &txn, &s->latest, NULL) == 0);
        vls_txn_rollback(&txn);
        bench_use(blob);
        valise_blob_unref(blob);
    }
}

/* ---- by hand ---- */

static void run(state *s, int which)
{
    MUST(sqlite3_step(s->stmt[which]) == SQLITE_DONE);
    sqlite3_reset(s->stmt[which]);
}

static int64_t raw_chunk(state *s, valise_str bytes)
{
    uint64_t hash = vls_str_hash(bytes, 1);
    size_t at = hash % KNOWN;

    while (s->known[at].number && s->known[at].hash != hash)
        at = (at + 1) % KNOWN;
    if (s->known[at].number)
        return s->known[at].number;
    s->known[at].hash = hash;
    s->known[at].number = ++s->chunk;
    MUST((size_t)s->chunk < KNOWN * 9 / 10);
    sqlite3_bind_int64(s->stmt[PUT_CHUNK], 1, s->chunk);
    sqlite3_bind_int64(s->stmt[PUT_CHUNK], 2, (int64_t)hash);
    sqlite3_bind_blob(s->stmt[PUT_CHUNK], 3, bytes.ptr, (int)bytes.len, SQLITE_STATIC);
    run(s, PUT_CHUNK);
    return s->chunk;
}

static void raw_version(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        sqlite3_stmt *put = s->stmt[PUT_OBJECT];
        vls_recipe_writer writer;
        valise_id id;
        if (s->chunk > (int64_t)KNOWN / 2) { /* ours forgets too */
            memset(s->known, 0, sizeof(s->known));
            s->chunk = 0;
            MUST(sqlite3_exec(s->db, "DELETE FROM chunk", NULL, NULL, NULL) == SQLITE_OK);
        }
        change(s, s->raw_bytes);
        vls_hash_bytes(&id, (valise_str){s->raw_bytes, SIZE});
        run(s, BEGIN);
        vls_buf_clear(&s->recipe);
        vls_recipe_begin(&writer, &s->recipe, 1);
        for (size_t at = 0; at < SIZE;) {
            size_t len = vls_chunk_next((const uint8_t *)s->raw_bytes + at, SIZE - at);
            vls_recipe_add(&writer, raw_chunk(s, (valise_str){s->raw_bytes + at, len}));
            at += len;
        }
        vls_recipe_end(&writer);
        sqlite3_bind_int64(put, 1, ++s->object);
        sqlite3_bind_int64(put, 2, (int64_t)vls_bytes_load_u64(id.bytes));
        sqlite3_bind_blob(put, 3, &id, sizeof(id), SQLITE_STATIC);
        sqlite3_bind_blob(put, 4, s->recipe.ptr, (int)s->recipe.len, SQLITE_STATIC);
        run(s, PUT_OBJECT);
        run(s, COMMIT);
    }
}

/* ---- setting up ---- */

static void open_by_hand(state *s)
{
    static const char *const sql[STATEMENTS] = {
        [BEGIN] = "BEGIN IMMEDIATE",
        [COMMIT] = "COMMIT",
        [PUT_CHUNK] = "REPLACE INTO chunk VALUES(?,?,?)",
        [PUT_OBJECT] = "REPLACE INTO object VALUES(?,?,?,'value',100000,1,?,NULL,0)"};
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/raw.db", s->raw_dir);
    MUST(sqlite3_open_v2(path, &s->db,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                         NULL) == SQLITE_OK);
    MUST(
        sqlite3_exec(s->db,
                     "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;"
                     "PRAGMA secure_delete=ON; PRAGMA cache_size=-32768;"
                     "PRAGMA wal_autocheckpoint=16000; PRAGMA synchronous=NORMAL;"
                     "CREATE TABLE chunk(number INTEGER PRIMARY KEY, h8 INTEGER, body BLOB);"
                     "CREATE INDEX chunk_h8 ON chunk(h8);"
                     "CREATE TABLE object(number INTEGER PRIMARY KEY, h8 INTEGER, hash BLOB,"
                     " kind TEXT, size INTEGER, time INTEGER, recipe BLOB, body BLOB, sum INTEGER);"
                     "CREATE INDEX object_h8 ON object(h8)",
                     NULL, NULL, NULL) == SQLITE_OK);
    for (int i = 0; i < STATEMENTS; i++)
        MUST(sqlite3_prepare_v3(s->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &s->stmt[i], NULL) ==
             SQLITE_OK);
}

static state *set_up(void)
{
    const valise_env *env = valise_env_default();
    state *s = vls_mem_zalloc(env, sizeof(*s));

    MUST(s != NULL);
    s->random = UINT64_C(88172645463325252);
    for (size_t i = 0; i < SIZE; i++)
        s->bytes[i] = s->raw_bytes[i] = (char)next_random(s);
    raw_make_dir(s->dir, "ours");
    raw_make_dir(s->raw_dir, "raw");
    MUST(vls_store_open(&s->store,
                        &(vls_store_options){.env = env,
                                             .ops = valise_store_sqlite(),
                                             .where = s->dir,
                                             .flags = VALISE_STORE_CREATE},
                        NULL) == 0);
    vls_buf_init(&s->recipe, env, SIZE);
    open_by_hand(s);
    return s;
}

static void tear_down(state *s)
{
    vls_store_close(s->store);
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(s->stmt[i]);
    sqlite3_close(s->db);
    vls_buf_release(&s->recipe);
    raw_remove_dir(s->dir);
    raw_remove_dir(s->raw_dir);
    vls_mem_free(valise_env_default(), s, sizeof(*s));
}

/* ---- transactions alone ---- */

static void begin_ours(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        vls_txn txn;
        MUST(vls_txn_begin(&txn, s->store, VALISE_TXN_READ, NULL) == 0);
        vls_txn_rollback(&txn);
    }
}

static void begin_backend(void *arg, size_t times)
{
    state *s = arg;
    void *self, *txn;
    const valise_store_ops *ops = vls_store_ops(s->store, &self);

    while (times--) {
        MUST(ops->begin(&txn, self, VALISE_TXN_READ, NULL) == 0);
        ops->rollback(txn);
    }
}

static void write_ours(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        vls_txn txn;
        MUST(vls_txn_begin(&txn, s->store, VALISE_TXN_WRITE, NULL) == 0);
        vls_txn_rollback(&txn);
    }
}

static void write_backend(void *arg, size_t times)
{
    state *s = arg;
    void *self, *txn;
    const valise_store_ops *ops = vls_store_ops(s->store, &self);

    while (times--) {
        MUST(ops->begin(&txn, self, VALISE_TXN_WRITE, NULL) == 0);
        ops->rollback(txn);
    }
}

/* ---- the table ---- */

static double seconds(bench_fn *fn, void *arg, size_t times)
{
    struct timespec from, to;

    clock_gettime(CLOCK_MONOTONIC, &from);
    fn(arg, times);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

static double size_on_disk(state *s)
{
    void *self;
    const valise_store_ops *ops = vls_store_ops(s->store, &self);
    int64_t bytes;

    MUST(ops->maintain(&bytes, self, VALISE_MAINTAIN_TRUNCATE, NULL) == 0);
    MUST(ops->maintain(&bytes, self, VALISE_MAINTAIN_SIZE, NULL) == 0);
    return (double)bytes;
}

BENCH(object)
{
    state *s = set_up();
    double spent;

    spent = seconds(put_version, s, VERSIONS);
    bench_fact(b, "1,000 versions of 100 KB, on disk", size_on_disk(s) / 1e6, "MB", 4);
    bench_fact(b, "writing one of them", spent * 1e3 / VERSIONS, "ms", 1e3 / (2 * 728));
    (void)seconds(get_latest, s, 100);
    bench_fact(b, "reading the latest", seconds(get_latest, s, 1000), "ms", 0.3);
    bench_compare(b, &(bench_row){.name = "another version of 100 KB",
                                  .against = "hash, chunk, insert by hand",
                                  .requires = "Q12",
                                  .arg = s,
                                  .ours = put_version,
                                  .baseline = raw_version,
                                  .at_most = 1 / 0.6,
                                  .bytes = SIZE});
    bench_compare(b, &(bench_row){.name = "begin to read",
                                  .against = "the backend's",
                                  .arg = s,
                                  .ours = begin_ours,
                                  .baseline = begin_backend});
    bench_compare(b, &(bench_row){.name = "begin to write",
                                  .against = "the backend's",
                                  .arg = s,
                                  .ours = write_ours,
                                  .baseline = write_backend});
    tear_down(s);
}
