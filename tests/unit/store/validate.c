/* validate.c -- damage of every kind is found and named. [K22 K9 Q19] */
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/str.h"
#include "stage.h"
#include "store/validate.h"

TEST_PARAMS(validate, "memory", "sqlite")

/* ---- something to look at ---- */

#define LARGE 20000

static int fill(valise_view *view, void *arg, valise_error *err)
{
    static char large[LARGE];
    thing a = {VLS_STR("bag"), VLS_STR("name"), 1, VLS_STR("label")};
    stone s = {1, VLS_STR("carved")};
    holder h = {VLS_STR("h"), {{0}}};

    (void)arg;
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)('a' + (i * i >> 7) % 26);
    CHECK_INT(0, valise_view_put(view, &stage_things, &a, err));
    CHECK_INT(0, valise_view_put(view, &stage_stones, &s, err));
    CHECK_INT(0, valise_view_put(view, &stage_grains, &s, err));
    CHECK_INT(0, valise_view_add(&h.object, view, "note", VLS_STR("a small object"), err));
    CHECK_INT(0, valise_view_put(view, &stage_holders, &h, err));
    h.name = VLS_STR("large");
    CHECK_INT(0, valise_view_add(&h.object, view, "note", vls_str(large, LARGE), err));
    return valise_view_put(view, &stage_holders, &h, err);
}

static int change(valise_view *view, void *arg, valise_error *err)
{
    thing a = {VLS_STR("bag"), VLS_STR("name"), *(int64_t *)arg, VLS_STR("other")};
    thing b = {VLS_STR("bag"), VLS_STR("gone"), 1, {NULL, 0}};

    CHECK_INT(0, valise_view_put(view, &stage_things, &a, err));
    if (*(int64_t *)arg == 2)
        return valise_view_put(view, &stage_things, &b, err);
    return valise_view_delete(view, &stage_things, &b, err) < 0 ? VALISE_E_INVALID : 0;
}

static void fill_all(stage *k)
{
    int64_t two = 2, three = 3;

    stage_do(k, fill, NULL);
    stage_do(k, change, &two);
    stage_do(k, change, &three);
}

/* ---- looking ---- */

typedef struct findings {
    int count;
    char places[4096]; /* one a line */
} findings;

static int note_finding(void *arg, const vls_finding *finding, valise_error *err)
{
    findings *f = arg;
    size_t used = strlen(f->places);

    (void)err;
    CHECK(finding->problem[0] != '\0' && finding->remedy[0] != '\0');
    f->count++;
    (void)snprintf(f->places + used, sizeof(f->places) - used, "%s: %s\n", finding->place,
                   finding->problem);
    return 0;
}

static findings look(stage *k, vls_validation *out)
{
    test *t = k->t;
    findings f = {0};
    vls_progress p;

    vls_progress_init(&p, t->env, NULL);
    CHECK_RC(0, vls_validate(out, k->store, &p, note_finding, &f, &t->err));
    CHECK_INT(f.count, out->problems);
    return f;
}

TEST(validate, finds_nothing_in_a_sound_store)
{
    vls_validation v;
    findings f;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    fill_all(&k);
    f = look(&k, &v);
    CHECK_TEXT("", f.places);
    CHECK_INT(3, v.entries);
    CHECK_INT(2, v.objects);
    CHECK_INT(5, v.rows);
    CHECK_INT(0, v.unverifiable);
    CHECK(!v.partial);
    stage_close(&k);
}

/* ---- every cell of every row ---- */

static bool flip_cell(valise_cell *cell, char *copy, size_t size, uint64_t bit)
{
    if (cell->type == VALISE_CELL_INT) {
        cell->as.integer ^= (int64_t)(UINT64_C(1) << bit % 64);
        return true;
    }
    if (cell->type == VALISE_CELL_NULL || cell->as.bytes.len == 0 || cell->as.bytes.len > size)
        return false;
    memcpy(copy, cell->as.bytes.ptr, cell->as.bytes.len);
    copy[bit / 8 % cell->as.bytes.len] ^= (char)(1 << bit % 7);
    cell->as.bytes.ptr = copy;
    return true;
}

/* Flip a bit in one column of the n-th row of a table, behind the store's back. False when there is
 * no such row or nothing to flip. `back` is the row as it was. */
static bool damage(stage *k, uint32_t table, int row_number, uint16_t column, uint64_t bit)
{
    static char copy[1 << 16];
    test *t = k->t;
    valise_cell row[VALISE_MAX_COLUMNS], changed[VALISE_MAX_COLUMNS];
    valise_cell *kept = NULL;
    VLS_AUTO(arena) vls_arena arena = {0};
    const vls_coll *coll = vls_store_coll_at(k->store, table);
    void *self, *txn = NULL, *scan = NULL;
    const valise_store_ops *ops = vls_store_ops(k->store, &self);
    valise_range range = {.table = table, .index = -1};
    int rc = 1;

    vls_arena_init(&arena, t->env, 1 << 20);
    CHECK_OK(ops->begin(&txn, self, VALISE_TXN_WRITE, &t->err));
    CHECK_OK(ops->scan_open(&scan, txn, &range, &t->err));
    for (int i = 0; i <= row_number && rc > 0; i++)
        rc = ops->scan_next(row, scan, &t->err);
    if (rc > 0)
        CHECK_OK(vls_cells_copy(&kept, row, coll->table.column_count, &arena, &t->err));
    ops->scan_close(scan);
    if (kept)
        memcpy(changed, kept, coll->table.column_count * sizeof(*kept));
    if (!kept || column >= coll->table.column_count ||
        !flip_cell(&changed[column], copy, sizeof(copy), bit)) {
        ops->rollback(txn);
        return false;
    }
    /* A damaged key is another row. */
    if (column < coll->key_count)
        CHECK_RC(1, ops->del(txn, table, kept, &t->err));
    CHECK_OK(ops->put(txn, table, changed, &t->err));
    CHECK_OK(ops->commit(txn, &t->err));
    return true;
}

static const char *place_word(uint32_t table)
{
    static const char *const words[] = {"meta", "collection", "log", "object", "chunk", "gone"};

    return table < VLS_COUNT(words) ? words[table] : "";
}

/* Damage in a fresh store is found, and what is said names the table. */
static int try_damage(test *t, uint32_t table, int row, uint16_t column, uint64_t bit)
{
    vls_validation v;
    findings f;
    stage k;

    stage_open(&k, t, "memory", NULL);
    fill_all(&k);
    if (!damage(&k, table, row, column, bit)) {
        stage_close(&k);
        return 0;
    }
    test_context("table %u row %d column %u bit %llu", (unsigned)table, row, (unsigned)column,
                 (unsigned long long)bit);
    f = look(&k, &v);
    CHECK(f.count > 0);
    CHECK_MSG(strstr(f.places, place_word(table)), "%s is not named in %s", place_word(table),
              f.places);
    test_context_end();
    stage_close(&k);
    return 1;
}

TEST(validate_cells, a_flipped_bit_in_any_cell_is_found)
{
    test_rng rng = test_rng_new(test_seed());
    int tried = 0;

    /* meta is read before anything else: damage there is an error of its own (unit-store). */
    for (uint32_t table = VLS_TABLE_LOG; table < VLS_TABLE_OWN_COUNT + 5; table++) {
        if (table == VLS_TABLE_READ_LOG || table == VLS_TABLE_CURSOR)
            continue;
        for (int row = 0; row < 3; row++) {
            for (uint16_t column = 0; column < 16; column++)
                tried += try_damage(t, table, row, column, test_random(&rng));
        }
    }
    test_note("%d cells", tried);
    CHECK(tried > 80);
}

/* ---- rows that are lost, and rows that nobody made ---- */

static void remove_row(stage *k, uint32_t table, int row_number)
{
    test *t = k->t;
    valise_cell row[VALISE_MAX_COLUMNS];
    void *self, *txn = NULL, *scan = NULL;
    const valise_store_ops *ops = vls_store_ops(k->store, &self);
    valise_range range = {.table = table, .index = -1};

    CHECK_OK(ops->begin(&txn, self, VALISE_TXN_WRITE, &t->err));
    CHECK_OK(ops->scan_open(&scan, txn, &range, &t->err));
    for (int i = 0; i <= row_number; i++)
        CHECK_RC(1, ops->scan_next(row, scan, &t->err));
    CHECK_RC(1, ops->del(txn, table, row, &t->err));
    ops->scan_close(scan);
    CHECK_OK(ops->commit(txn, &t->err));
}

static uint32_t number_of(stage *k, const valise_coll *coll)
{
    return vls_store_coll(k->store, coll)->number;
}

static void check_removed(test *t, const valise_coll *coll, uint32_t table, int row)
{
    vls_validation v;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    fill_all(&k);
    CHECK_INT(0, look(&k, &v).count);
    remove_row(&k, coll ? number_of(&k, coll) : table, row);
    CHECK(look(&k, &v).count > 0);
    stage_close(&k);
    test_remove(test_format("%s/valise.db", test_tmpdir()));
    test_remove(test_format("%s/valise.db-wal", test_tmpdir()));
    test_remove(test_format("%s/valise.db-shm", test_tmpdir()));
}

TEST(validate, a_lost_row_is_found)
{
    check_removed(t, &stage_things, 0, 0);
    check_removed(t, &stage_holders, 0, 1);
    check_removed(t, NULL, VLS_TABLE_LOG, 1);
    check_removed(t, NULL, VLS_TABLE_OBJECT, 0);
    check_removed(t, NULL, VLS_TABLE_CHUNK, 0);
    check_removed(t, NULL, VLS_TABLE_GONE, 0);
}

static int stop_at_first(void *arg, const vls_finding *finding, valise_error *err)
{
    (void)arg;
    (void)finding;
    return vls_fail(err, VALISE_E_CANCELLED, "enough");
}

TEST(validate, can_be_stopped) /* [K28] */
{
    vls_validation v;
    vls_progress p;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    fill_all(&k);
    remove_row(&k, VLS_TABLE_CHUNK, 0);
    vls_progress_init(&p, t->env, NULL);
    CHECK_RC(VALISE_E_CANCELLED, vls_validate(&v, k.store, &p, stop_at_first, NULL, &t->err));
    CHECK_INT(1, v.problems);
    stage_close(&k);
}

/* ---- sums that are right, and contents that cannot be ---- */

/* Put an entry behind the newest one whose time differs from that one's by so much. */
static void append_later(stage *k, int64_t ns)
{
    test *t = k->t;
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_entry entry = {.actor = VLS_STR("tester"),
                       .type = VLS_STR("stage:command"),
                       .nonce = VLS_STR("0123456789abcdef"),
                       .payload = VLS_STR("{}"),
                       .result = VLS_STR("{}"),
                       .changes = VLS_STR("")};

    CHECK_OK(vls_txn_begin(&txn, k->store, VALISE_TXN_WRITE, &t->err));
    entry.seq = txn.tip.seq + 1;
    entry.id.bytes[0] = (uint8_t)(entry.seq + 100);
    entry.time = txn.tip.time + ns;
    txn.tip.time = INT64_MIN; /* or it would not be taken */
    CHECK_OK(vls_log_append(&txn, &entry, &t->err));
    CHECK_OK(vls_txn_commit(&txn, &t->err));
}

TEST(validate, finds_a_log_whose_time_goes_back) /* [K3] */
{
    vls_validation v;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    fill_all(&k);
    append_later(&k, 0);
    append_later(&k, 1);
    CHECK_TEXT("", look(&k, &v).places); /* chain and sums are right, and the same time may be */
    append_later(&k, -1);
    CHECK_TEXT("log 6: its time is before that of the previous entry\n", look(&k, &v).places);
    append_later(&k, 0); /* still before the newest that there was */
    CHECK_INT(2, look(&k, &v).count);
    append_later(&k, 1);
    CHECK_INT(2, look(&k, &v).count);
    stage_close(&k);
}

/* Rewrite the last image of an entry so that it names other entries. */
static void rewrite_image(stage *k, int64_t seq, int64_t from_seq, int64_t gone_seq)
{
    test *t = k->t;
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf changes = {0};
    vls_entry entry = {0};
    vls_image image, last = {0};
    size_t at = 0, before = 0, start = 0;

    vls_arena_init(&arena, t->env, 1 << 20);
    vls_buf_init(&changes, t->env, 1 << 20);
    CHECK_OK(vls_txn_begin(&txn, k->store, VALISE_TXN_WRITE, &t->err));
    CHECK_RC(1, vls_log_get(&entry, &txn, seq, &arena, &t->err));
    for (; vls_changes_next(&image, &at, entry.changes, &t->err) > 0; before = at) {
        last = image;
        start = before;
    }
    CHECK((from_seq > 0) == (last.from_seq > 0));
    last.from_seq = from_seq;
    last.gone_seq = gone_seq;
    vls_buf_add(&changes, vls_str(entry.changes.ptr, start));
    vls_changes_write(&changes, &last);
    CHECK_OK(vls_buf_check(&changes, &t->err));
    entry.changes = vls_buf_str(&changes);
    CHECK_OK(vls_log_rewrite(&txn, &entry, &t->err));
    CHECK_OK(vls_txn_commit(&txn, &t->err));
}

TEST(validate, finds_an_image_that_names_a_later_entry)
{
    const char *problem = "it names an entry that came later\n";
    vls_validation v;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    fill_all(&k);
    rewrite_image(&k, 2, 0, 1); /* the row that entry 2 makes was deleted before */
    rewrite_image(&k, 3, 2, 0);
    CHECK_TEXT("", look(&k, &v).places);
    rewrite_image(&k, 2, 0, 2);
    CHECK_TEXT(test_format("log 2: %s", problem), look(&k, &v).places);
    rewrite_image(&k, 2, 0, 3);
    CHECK_TEXT(test_format("log 2: %s", problem), look(&k, &v).places);
    rewrite_image(&k, 2, 0, 0);
    rewrite_image(&k, 3, 3, 0);
    CHECK_TEXT(test_format("log 3: %s", problem), look(&k, &v).places);
    rewrite_image(&k, 3, 4, 0);
    CHECK_TEXT(test_format("log 3: %s", problem), look(&k, &v).places);
    stage_close(&k);
}

/* Say that the first row of a collection was made by another entry. */
static void remake_row(stage *k, const valise_coll *desc, int64_t seq)
{
    test *t = k->t;
    const vls_coll *coll = vls_store_coll(k->store, desc);
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_cell row[VALISE_MAX_COLUMNS];
    valise_cell *copy;
    vls_txn_scan scan = {0};

    vls_arena_init(&arena, t->env, 1 << 20);
    CHECK_OK(vls_txn_begin(&txn, k->store, VALISE_TXN_WRITE, &t->err));
    CHECK_OK(vls_txn_scan_open(&scan, &txn, coll, (valise_range){.index = -1}, &t->err));
    CHECK_RC(1, vls_txn_scan_next(row, &scan, &t->err));
    CHECK_OK(vls_cells_copy(&copy, row, coll->table.column_count, &arena, &t->err));
    vls_txn_scan_close(&scan);
    CHECK_OK(vls_txn_put(&txn, coll, copy, seq, &t->err));
    CHECK_OK(vls_txn_commit(&txn, &t->err));
}

TEST(validate, finds_a_row_of_an_entry_that_never_was)
{
    /* The log lists no rows of the quiet ones: this check is the only one. */
    const valise_coll *const colls[] = {&stage_grains, &stage_things};
    vls_validation v;
    findings f;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    fill_all(&k);
    for (size_t i = 0; i < VLS_COUNT(colls); i++) {
        remake_row(&k, colls[i], 4);
        f = look(&k, &v);
        CHECK_INT(1, f.count);
        CHECK(strstr(f.places, "it was made by entry 4, which never existed"));
        remake_row(&k, colls[i], -1);
        f = look(&k, &v);
        CHECK_INT(1, f.count);
        CHECK(strstr(f.places, "it was made by entry -1, which never existed"));
        remake_row(&k, colls[i], 3);
        CHECK_TEXT("", look(&k, &v).places);
    }
    stage_close(&k);
}

/* ---- every byte of the file ---- */

/* All cells of all tables, as one hash: what somebody could read. */
static int hash_everything(valise_view *view, void *arg, valise_error *err)
{
    const vls_store *store = view->txn->store;
    VLS_AUTO(buf) vls_buf bytes = {0};
    int rc = 0;

    vls_buf_init(&bytes, view->arena.env, 1 << 24);
    for (uint32_t i = 0; rc >= 0 && i < vls_store_coll_count(store); i++) {
        const vls_coll *coll = vls_store_coll_at(store, i);
        VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
        valise_cell row[VALISE_MAX_COLUMNS];
        rc = vls_txn_scan_open(&scan, view->txn, coll, (valise_range){.index = -1}, err);
        while (rc >= 0 && (rc = vls_txn_scan_next(row, &scan, err)) > 0)
            vls_cells_write(&bytes, row, coll->table.column_count);
    }
    if (rc == 0)
        vls_hash_bytes(arg, vls_buf_str(&bytes));
    return rc;
}

static void write_byte(const char *path, off_t at, uint8_t byte)
{
    int fd = open(path, O_WRONLY);

    CHECK(fd >= 0);
    CHECK_INT(1, pwrite(fd, &byte, 1, at));
    CHECK_INT(0, close(fd));
}

static int try_open(stage *k, test *t, const char *dir)
{
    vls_store_options options = stage_options(t, "sqlite", dir);

    *k = (stage){.t = t, .now = 5000};
    return vls_store_open(&k->store, &options, &t->err);
}

/* The store says that it is damaged, or the flip was in bytes that mean nothing. */
static void check_flip(test *t, const char *dir, const valise_id *sound, int *found)
{
    vls_validation v;
    valise_id now = {{0}};
    vls_progress p;
    stage k;
    int rc = try_open(&k, t, dir);

    if (rc < 0) {
        CHECK(t->err.message[0] != '\0');
        ++*found;
        return;
    }
    vls_progress_init(&p, t->env, NULL);
    rc = vls_validate(&v, k.store, &p, NULL, NULL, &t->err);
    if (rc < 0 || v.problems > 0) {
        ++*found;
    } else {
        CHECK_RC(0, stage_read(&k, -1, hash_everything, &now, &t->err));
        CHECK(vls_id_equal(sound, &now));
    }
    stage_close(&k);
}

TEST(validate_file, a_flipped_bit_in_any_live_byte_is_found)
{
    const char *dir = test_tmpdir(), *path = test_format("%s/valise.db", dir);
    test_rng rng = test_rng_new(test_seed());
    int rounds = getenv("VALISE_TEST_LONG") ? 20000 : 400, found = 0;
    valise_id sound = {{0}};
    valise_str file;
    stage k;

    stage_open(&k, t, "sqlite", dir);
    fill_all(&k);
    CHECK_RC(0, stage_read(&k, -1, hash_everything, &sound, &t->err));
    {
        int64_t left = 0;
        void *self;
        const valise_store_ops *ops = vls_store_ops(k.store, &self);
        CHECK_OK(ops->maintain(&left, self, VALISE_MAINTAIN_TRUNCATE, &t->err));
        CHECK_INT(0, left);
    }
    stage_close(&k);
    file = test_read_file(path);
    for (int i = 0; i < rounds; i++) {
        off_t at = (off_t)test_random_below(&rng, file.len);
        uint8_t byte = (uint8_t)file.ptr[at];
        test_context("byte %lld", (long long)at);
        write_byte(path, at, (uint8_t)(byte ^ 1 << test_random_below(&rng, 8)));
        check_flip(t, dir, &sound, &found);
        test_write_file(path, file);
        test_remove(test_format("%s-wal", path));
        test_remove(test_format("%s-shm", path));
    }
    test_context_end();
    test_note("%d of %d flips were in live bytes, all found", found, rounds);
    CHECK(found > rounds / 20);
}

/* ---- rows and tables that cannot be read ---- */

static void run_sql(stage *k, const char *sql)
{
    const char *path = test_format("%s/valise.db", test_tmpdir());
    sqlite3 *db = NULL;

    (void)k;
    CHECK_INT(SQLITE_OK, sqlite3_open(path, &db));
    CHECK_INT(SQLITE_OK, sqlite3_exec(db, sql, NULL, NULL, NULL));
    CHECK_INT(SQLITE_OK, sqlite3_close(db));
}

/* Each is a problem, and nothing keeps the rest from being looked at. */
TEST(validate, goes_on_behind_rows_and_tables_that_cannot_be_read)
{
    vls_validation v;
    findings f;
    stage k;

    if (strcmp(t->param, "memory") == 0)
        SKIP("nobody can write behind its back");
    stage_open(&k, t, t->param, test_tmpdir());
    fill_all(&k);
    run_sql(&k,
            "UPDATE holder SET name = CAST(name AS BLOB); UPDATE log SET time = 'x' WHERE seq = 2");
    f = look(&k, &v);
    CHECK_MSG(strstr(f.places, "holder: ") && strstr(f.places, "holder.name is BLOB"), "%s",
              f.places);
    CHECK_MSG(strstr(f.places, "row 2, log.time is TEXT"), "%s", f.places);
    CHECK_INT(2, v.objects); /* they come behind the log */
    stage_close(&k);
}

TEST(validate, names_what_is_damaged_in_the_definition_of_a_table)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_validation v;
    vls_txn txn = {0};
    findings f;
    stage k;

    if (strcmp(t->param, "memory") == 0)
        SKIP("its tables are no text");
    stage_open(&k, t, t->param, test_tmpdir());
    fill_all(&k);
    stage_close(&k);
    run_sql(&k, "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET"
                " sql = replace(sql, 'INTEGER', 'INTEGFR') WHERE name = 'thing'");
    stage_open(&k, t, t->param, test_tmpdir());
    CHECK_RC(VALISE_E_CORRUPT, vls_txn_begin(&txn, k.store, VALISE_TXN_WRITE, &err));
    CHECK_MSG(strstr(err.message, "table thing") && strstr(err.message, "INTEGFR"), "%s",
              err.message);
    CHECK_OK(vls_txn_begin(&txn, k.store, VALISE_TXN_READ, &t->err));
    vls_txn_rollback(&txn);
    f = look(&k, &v);
    CHECK_INT(1, f.count);
    CHECK(strstr(f.places, "store: the definition of table thing is damaged at byte"));
    stage_close(&k);
    run_sql(&k, "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET"
                " sql = replace(sql, 'INTEGFR', 'INTEGER') WHERE name = 'thing';"
                "CREATE TRIGGER loss AFTER INSERT ON thing BEGIN DELETE FROM thing; END;"
                "DROP INDEX log_id8");
    stage_open(&k, t, t->param, test_tmpdir());
    f = look(&k, &v);
    CHECK_MSG(strstr(f.places, "a trigger loss of thing that nobody knows"), "%s", f.places);
    CHECK_MSG(strstr(f.places, "the index log_id8 is missing"), "%s", f.places);
    stage_close(&k);
}
