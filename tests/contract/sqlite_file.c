/* sqlite_file.c -- the file of the SQLite backend: its settings, whose file it is, only reading.
 * docs/formats.md, "The SQLite file". [K19] [K33] [Q19] */
#include <sqlite3.h>

#include "kit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/fault_io.h"
#include "harness/process.h"

static const char *file_of(const kit *k, const char *ending)
{
    return test_format("%s/valise.db%s", k->how.where, ending);
}

/* Run a statement on the file with nothing of ours in between; the first cell as text. */
static const char *raw(const kit *k, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    const char *text = "";
    int rc;

    CHECK_INT(SQLITE_OK, sqlite3_open(file_of(k, ""), &db));
    do {
        CHECK_MSG(sqlite3_prepare_v2(db, sql, -1, &stmt, &sql) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
        while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
            const char *cell = (const char *)sqlite3_column_text(stmt, 0);
            text = test_format("%s%s%s", text, *text ? "\n" : "", cell ? cell : "-");
        }
        CHECK_MSG(rc == SQLITE_DONE, "%s", sqlite3_errmsg(db));
        sqlite3_finalize(stmt);
    } while (*sql);
    CHECK_INT(SQLITE_OK, sqlite3_close(db));
    return text;
}

static bool is_file(const kit *k, const char *ending)
{
    struct stat st;

    return stat(file_of(k, ending), &st) == 0;
}

/* ---- settings ---- */

TEST(sqlite_file, has_its_settings)
{
    kit *k = kit_open(t);
    struct stat st;

    CHECK_TEXT("4096", raw(k, "PRAGMA page_size"));
    CHECK_TEXT("2", raw(k, "PRAGMA auto_vacuum"));
    CHECK_TEXT("wal", raw(k, "PRAGMA journal_mode"));
    CHECK_TEXT("1449225321", raw(k, "PRAGMA application_id"));
    CHECK_TEXT("1", raw(k, "PRAGMA user_version"));
    CHECK_TEXT("UTF-8", raw(k, "PRAGMA encoding"));
    CHECK_TEXT("ok", raw(k, "PRAGMA integrity_check"));
    for (size_t i = 0; i < 3; i++) {
        CHECK(stat(file_of(k, (const char *[]){"", "-wal", "-shm"}[i]), &st) == 0);
        CHECK_INT(0600, st.st_mode & 0777);
    }
    kit_close(k);
    CHECK(stat(file_of(k, "-wal"), &st) == 0); /* kept, and empty: nothing to recover */
    CHECK_INT(0, st.st_size);
}

TEST(sqlite_file, has_readable_names)
{
    kit *k = kit_open(t);

    CHECK_TEXT("CREATE TABLE \"note\"(\"a\" TEXT NOT NULL, \"b\" INTEGER NOT NULL, \"c\" TEXT, "
               "\"d\" BLOB, \"e\" REAL, \"f\" INTEGER NOT NULL, PRIMARY KEY(\"a\",\"b\")) "
               "WITHOUT ROWID",
               raw(k, "SELECT sql FROM sqlite_schema WHERE name='note'"));
    CHECK_TEXT("CREATE TABLE \"number\"(\"id\" INTEGER PRIMARY KEY, \"body\" BLOB NOT NULL, "
               "\"tag\" INTEGER)",
               raw(k, "SELECT sql FROM sqlite_schema WHERE name='number'"));
    CHECK_TEXT("CREATE INDEX \"note_by_f\" ON \"note\"(\"f\",\"a\")",
               raw(k, "SELECT sql FROM sqlite_schema WHERE name='note_by_f'"));
    CHECK_TEXT(
        "blob_by_v\nnote_by_c\nnote_by_e\nnote_by_f\nnumber_by_tag\norder_by_yz\norder_by_zw\n"
        "order_group\nreal_by_v",
        raw(k, "SELECT name FROM sqlite_schema WHERE type='index' AND sql IS NOT NULL "
               "ORDER BY name"));
}

/* ---- whose file it is ---- */

/* [K19] */
TEST(sqlite_file, of_others_is_refused)
{
    kit *k = kit_new(t);

    test_write_file(file_of(k, ""), VLS_STR("this is a text file and no database at all, "
                                            "and it is longer than the header of one would be"
                                            "......................................."));
    CHECK_RC(VALISE_E_CORRUPT, kit_try_open(k));
    CHECK(strstr(t->err.message, "valise.db"));
    test_remove(file_of(k, ""));
    raw(k, "CREATE TABLE t(a); INSERT INTO t VALUES(7)");
    for (unsigned flags = 0; flags <= VALISE_STORE_CREATE; flags++) {
        k->how.flags = flags; /* 0, READ_ONLY, CREATE */
        CHECK_RC(VALISE_E_UNSUPPORTED, kit_try_open(k));
        CHECK(strstr(t->err.message, "another program"));
    }
    CHECK_TEXT("7", raw(k, "SELECT a FROM t"));
    CHECK_TEXT("delete", raw(k, "PRAGMA journal_mode"));
    raw(k, "PRAGMA application_id=1234");
    CHECK_RC(VALISE_E_UNSUPPORTED, kit_try_open(k));
    CHECK(strstr(t->err.hint, "1234"));
}

/* [K19] */
TEST(sqlite_file, of_a_newer_format_is_refused)
{
    kit *k = kit_open(t), *other = kit_new(t);
    void *txn;

    other->how.where = k->how.where;
    raw(k, "PRAGMA user_version=2");
    CHECK_RC(VALISE_E_UNSUPPORTED, kit_try_open(other));
    CHECK(strstr(t->err.message, "format 2"));
    /* A handle that is open notices at its next transaction. */
    CHECK_RC(VALISE_E_UNSUPPORTED, k->ops->begin(&txn, k->self, VALISE_TXN_READ, &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED, k->ops->begin(&txn, k->self, VALISE_TXN_WRITE, &t->err));
    raw(k, "PRAGMA user_version=1");
    txn = kit_begin(k, VALISE_TXN_WRITE);
    kit_commit(k, txn);
}

TEST(sqlite_file, that_is_empty_counts_as_none)
{
    kit *k = kit_new(t);

    test_write_file(file_of(k, ""), VLS_STR(""));
    k->how.flags = 0;
    CHECK_RC(VALISE_E_NOT_FOUND, kit_try_open(k));
    k->how.flags = VALISE_STORE_READ_ONLY;
    CHECK_RC(VALISE_E_NOT_FOUND, kit_try_open(k));
    k->how.flags = VALISE_STORE_CREATE | VALISE_STORE_EXCLUSIVE;
    CHECK_OK(kit_try_open(k));
    kit_close(k);
    CHECK_RC(VALISE_E_EXISTS, kit_try_open(k));
    k->how.flags = VALISE_STORE_CREATE;
    CHECK_OK(kit_try_open(k));
}

TEST(sqlite_file, the_folder_must_be_one)
{
    kit *k = kit_new(t);
    const char *folder = k->how.where;

    k->how.where = test_format("%s/none", folder);
    CHECK_RC(VALISE_E_NOT_FOUND, kit_try_open(k));
    CHECK(strstr(t->err.message, "none"));
    CHECK(t->err.hint[0]);
    test_write_file(test_format("%s/file", folder), VLS_STR("x"));
    k->how.where = test_format("%s/file", folder);
    CHECK_RC(VALISE_E_INVALID, kit_try_open(k));
    k->how.where = NULL;
    CHECK_RC(VALISE_E_INVALID, kit_try_open(k));
    k->how.where = "";
    CHECK_RC(VALISE_E_INVALID, kit_try_open(k));
    k->how.where = folder;
    CHECK(mkdir(file_of(k, ""), 0700) == 0);
    CHECK_RC(VALISE_E_UNSUPPORTED, kit_try_open(k));
    CHECK(rmdir(file_of(k, "")) == 0);
    CHECK(symlink("elsewhere", file_of(k, "")) == 0);
    CHECK_RC(VALISE_E_UNSUPPORTED, kit_try_open(k));
    CHECK(!is_file(k, "-wal"));
}

/* The folder is remembered as it was, wherever the process goes; odd names are only names. */
TEST(sqlite_file, in_a_folder_with_an_odd_name)
{
    kit *k = kit_new(t);
    char before[4096];
    const char *folder = test_format("%s/a?b#c%%20 %%d", k->how.where);

    CHECK(mkdir(folder, 0700) == 0);
    CHECK(getcwd(before, sizeof(before)) != NULL);
    CHECK(chdir(k->how.where) == 0);
    k->how.where = "a?b#c%20 %d";
    int rc = kit_try_open(k);
    CHECK(chdir(before) == 0);
    CHECK_OK(rc);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    kit_put_number(k, txn, 1, "a", 1);
    kit_commit(k, txn);
    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK(kit_has_number(k, txn, 1));
    kit_commit(k, txn);
    kit_close(k);
    k->how.where = folder;
    k->how.flags = VALISE_STORE_READ_ONLY;
    CHECK_OK(kit_try_open(k));
    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK(kit_has_number(k, txn, 1));
    kit_commit(k, txn);
    unlink(file_of(k, "-shm"));
    kit_close(k);
    CHECK_OK(kit_try_open(k)); /* immutable */
}

/* ---- what others did to it ---- */

/* [Q19] */
TEST(sqlite_file, cells_of_another_type_are_damage)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE), *scan = NULL;
    valise_cell row[6];
    const valise_cell key = cell_int(1);

    kit_put_number(k, txn, 1, "a", 1);
    kit_put_note(k, txn, "a", 1, "c", 2);
    kit_commit(k, txn);
    raw(k, "UPDATE number SET body='text' WHERE id=1; UPDATE note SET f='many'");
    txn = kit_begin(k, VALISE_TXN_WRITE);
    kit_put_note(k, txn, "b", 1, "c", 2);
    kit_commit(k, txn);
    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK_RC(VALISE_E_CORRUPT, k->ops->get(row, txn, KIT_NUMBER, &key, &t->err));
    CHECK(strstr(t->err.message, "row 1, number.body is TEXT"));
    CHECK_OK(
        k->ops->scan_open(&scan, txn, &(valise_range){.table = KIT_NOTE, .index = 0}, &t->err));
    CHECK_RC(VALISE_E_CORRUPT, k->ops->scan_next(row, scan, &t->err));
    CHECK(strstr(t->err.message, "row a"));
    CHECK_INT(1, k->ops->scan_next(row, scan, &t->err)); /* it goes on behind that row */
    CHECK_INT(0, k->ops->scan_next(row, scan, &t->err));
    k->ops->scan_close(scan);
    kit_commit(k, txn);
}

/* A change that fails spoils its transaction, until it goes back to a mark. */
TEST(sqlite_file, what_it_refuses_spoils_the_transaction)
{
    kit *k = kit_open(t);
    const valise_cell bad[] = {cell_int(200), cell_blob(VLS_STR("")), CELL_NULL};
    valise_cell row[3];
    bool changed;
    void *scan;

    raw(k, "ALTER TABLE number ADD COLUMN z CHECK(id < 100)");
    for (int back = 0; back < 2; back++) {
        void *txn = kit_begin(k, VALISE_TXN_WRITE);
        CHECK_OK(k->ops->changed(&changed, txn, &t->err));
        CHECK(changed); /* the second time too: the first was not committed */
        kit_put_number(k, txn, back, "a", 1);
        CHECK_OK(k->ops->mark(txn, VALISE_MARK_SET, &t->err));
        kit_put_number(k, txn, 2, "b", 1);
        CHECK_RC(VALISE_E_CORRUPT, k->ops->put(txn, KIT_NUMBER, bad, &t->err));
        CHECK_RC(VALISE_E_CORRUPT, k->ops->get(row, txn, KIT_NUMBER, bad, &t->err));
        CHECK_RC(VALISE_E_CORRUPT, k->ops->del(txn, KIT_NUMBER, bad, &t->err));
        CHECK_RC(VALISE_E_CORRUPT, k->ops->mark(txn, VALISE_MARK_SET, &t->err));
        CHECK_RC(VALISE_E_CORRUPT, k->ops->mark(txn, VALISE_MARK_RELEASE, &t->err));
        CHECK_RC(VALISE_E_CORRUPT,
                 k->ops->scan_open(&scan, txn, &(valise_range){.index = -1}, &t->err));
        if (!back) {
            CHECK_RC(VALISE_E_CORRUPT, k->ops->commit(txn, &t->err));
            continue;
        }
        CHECK_OK(k->ops->mark(txn, VALISE_MARK_BACK, &t->err));
        CHECK_TEXT("(1)", kit_all(k, txn, KIT_NUMBER, 1)); /* nothing of the first is there */
        kit_commit(k, txn);
    }
}

TEST(sqlite_file, code_in_it_does_not_run)
{
    kit *k = kit_open(t);
    void *txn;

    raw(k, "CREATE TRIGGER t AFTER INSERT ON number BEGIN DELETE FROM number; END");
    txn = kit_begin(k, VALISE_TXN_WRITE);
    kit_put_number(k, txn, 1, "a", 1);
    CHECK(kit_has_number(k, txn, 1));
    kit_commit(k, txn);
}

TEST(sqlite_file, tables_and_indexes_that_others_dropped_are_not_found)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE), *scan = NULL;
    valise_cell row[6];
    const valise_cell key = cell_int(1);

    kit_put_number(k, txn, 1, "a", 1);
    CHECK_INT(1, kit_count(k, txn, KIT_NUMBER, 0));
    kit_commit(k, txn);
    raw(k, "DROP INDEX number_by_tag; DROP TABLE note");
    txn = kit_begin(k, VALISE_TXN_WRITE);
    CHECK_RC(1, k->ops->get(row, txn, KIT_NUMBER, &key, &t->err));
    int rc =
        k->ops->scan_open(&scan, txn, &(valise_range){.table = KIT_NUMBER, .index = 0}, &t->err);
    if (rc == 0) { /* a statement that was kept notices when it steps */
        rc = k->ops->scan_next(row, scan, &t->err);
        k->ops->scan_close(scan);
    }
    CHECK_RC(VALISE_E_NOT_FOUND, rc);
    CHECK(strstr(t->err.message, "by_tag"));
    CHECK_RC(VALISE_E_NOT_FOUND,
             k->ops->get(row, txn, KIT_NOTE, (valise_cell[]){cell_text("a"), key}, &t->err));
    kit_put_number(k, txn, 2, "a", 1); /* this did not spoil it */
    kit_commit(k, txn);
}

/* [Q19] Bytes changed anywhere: never a crash, and no answer but rows or an error. */
TEST(sqlite_file, damage_is_an_error_or_not_seen)
{
    enum { ROUNDS = 60 };
    kit *k = kit_open(t);
    test_rng rng = test_rng_new(test_seed());
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    size_t refused = 0;

    for (int i = 0; i < 300; i++) {
        kit_put_number(k, txn, i, test_format("%0200d", i), i % 7);
        kit_put_note(k, txn, test_format("note %d", i), i, "text", i % 5);
    }
    kit_commit(k, txn);
    kit_close(k);
    valise_str good = test_read_file(file_of(k, ""));
    char *bad = test_alloc(good.len);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(bad, good.ptr, good.len);
        for (int i = 0; i < 1 + round % 20; i++)
            bad[test_random_below(&rng, good.len)] ^= (char)(1 + test_random_below(&rng, 255));
        test_write_file(file_of(k, ""), vls_str(bad, good.len));
        k->how.flags = round % 2 ? VALISE_STORE_READ_ONLY : 0;
        int rc = kit_try_open(k);
        if (rc == 0) {
            valise_cell row[6];
            void *scan;
            txn = NULL;
            rc = k->ops->begin(&txn, k->self, VALISE_TXN_READ, &t->err);
            for (uint32_t i = 0; rc == 0 && i < 4; i++) {
                rc = k->ops->scan_open(&scan, txn,
                                       &(valise_range){.table = i % 2, .index = (int32_t)i / 2 - 1},
                                       &t->err);
                if (rc < 0)
                    break;
                while ((rc = k->ops->scan_next(row, scan, &t->err)) == 1)
                    continue;
                k->ops->scan_close(scan);
            }
            k->ops->rollback(txn);
            kit_close(k);
        }
        refused += rc < 0;
        CHECK_MSG(rc == 0 || rc == VALISE_E_CORRUPT || rc == VALISE_E_UNSUPPORTED ||
                      rc == VALISE_E_NOT_FOUND || rc == VALISE_E_IO,
                  "round %d: %d %s", round, rc, t->err.message);
        test_remove(file_of(k, "-wal"));
        test_remove(file_of(k, "-shm"));
        test_remove(file_of(k, "-journal"));
    }
    CHECK(refused > 5);
}

static int count_problem(void *arg, const char *text, valise_error *err)
{
    (void)err;
    CHECK(*text);
    return ++*(int *)arg < 3 ? 0 : VALISE_E_CANCELLED;
}

/* [Q19] */
TEST(sqlite_file, check_finds_damage)
{
    kit *k = kit_open(t);
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    int problems = 0;

    for (int i = 0; i < 2000; i++)
        kit_put_number(k, txn, i, "some bytes", i);
    kit_commit(k, txn);
    CHECK_OK(k->ops->check(k->self, count_problem, &problems, &t->err));
    CHECK_INT(0, problems);
    kit_close(k);
    raw(k, "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage=(SELECT rootpage FROM "
           "sqlite_schema WHERE name='number') WHERE name='number_by_tag'");
    k->how.flags = 0;
    CHECK_OK(kit_try_open(k));
    int rc = k->ops->check(k->self, count_problem, &problems, &t->err);
    CHECK(problems > 0);
    CHECK(rc == 0 || rc == VALISE_E_CANCELLED);
}

/* ---- only reading ---- */

/* The names and contents of all files in the folder. */
static const char *folder_of(const kit *k)
{
    process_result r;

    process_run(
        &r, (const char *[]){"sh", "-c", "cd \"$1\" && sha256sum -- *", "sh", k->how.where, NULL},
        NULL);
    CHECK_INT(0, r.exit_code);
    return test_format("%s", r.out.ptr);
}

static void read_one(kit *k, bool expected)
{
    void *txn = kit_begin(k, VALISE_TXN_READ);
    CHECK(kit_has_number(k, txn, 1) == expected);
    kit_commit(k, txn);
}

static void write_one(kit *k, int64_t id)
{
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    kit_put_number(k, txn, id, "a", 1);
    kit_commit(k, txn);
}

TEST(sqlite_file, reading_writes_nothing)
{
    static const char *const without[] = {"", "-shm", "-wal"};
    kit *k = kit_open(t);
    void *txn;
    int64_t size;

    write_one(k, 1);
    kit_close(k);
    k->how.flags = VALISE_STORE_READ_ONLY;
    for (size_t i = 0; i < VLS_COUNT(without); i++) {
        if (*without[i])
            unlink(file_of(k, without[i]));
        const char *before = folder_of(k);
        CHECK_OK(kit_try_open(k));
        read_one(k, true);
        read_one(k, true);
        CHECK_RC(VALISE_E_DENIED, k->ops->begin(&txn, k->self, VALISE_TXN_WRITE, &t->err));
        CHECK_RC(VALISE_E_DENIED,
                 k->ops->maintain(&size, k->self, VALISE_MAINTAIN_CHECKPOINT, &t->err));
        CHECK_OK(k->ops->maintain(&size, k->self, VALISE_MAINTAIN_SIZE, &t->err));
        CHECK(size > 4096);
        kit_close(k);
        CHECK_TEXT(before, folder_of(k));
    }
}

/* ---- one that is there is opened by a reader ---- */

static size_t connections(const kit *k)
{
    char name[64], target[4096];
    size_t count = 0;

    for (int fd = 0; fd < 256; fd++) {
        (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        ssize_t len = readlink(name, target, sizeof(target) - 1);
        if (len < 0)
            continue;
        target[len] = '\0';
        count += strcmp(target, file_of(k, "")) == 0;
    }
    return count;
}

/* [Q13] */
TEST(sqlite_file, the_writer_waits_for_who_writes)
{
    kit *k = kit_open(t);

    write_one(k, 1);
    kit_close(k);
    k->how.flags = 0;
    CHECK_OK(kit_try_open(k));
    read_one(k, true);
    CHECK_INT(1, connections(k));
    write_one(k, 2);
    CHECK_INT(2, connections(k));
}

TEST(sqlite_file, that_lost_its_log_gets_one)
{
    kit *k = kit_open(t);

    write_one(k, 1);
    kit_close(k);
    CHECK_TEXT("delete", raw(k, "PRAGMA journal_mode=DELETE"));
    k->how.flags = 0;
    CHECK_OK(kit_try_open(k));
    read_one(k, true);
    CHECK_TEXT("wal", raw(k, "PRAGMA journal_mode"));
}

/* Who only read is the last to close, and the log is long. */
TEST(sqlite_file, a_reader_that_is_last_empties_the_log)
{
    kit *k = kit_open(t), *reader = kit_new(t);
    struct stat wal;
    char body[2001];

    memset(body, 'x', sizeof(body) - 1);
    body[sizeof(body) - 1] = '\0';
    reader->how.where = k->how.where;
    reader->how.flags = 0;
    CHECK_OK(kit_try_open(reader));
    void *txn = kit_begin(k, VALISE_TXN_WRITE);
    for (int64_t i = 1; i <= 1000; i++)
        kit_put_number(k, txn, i, body, i);
    kit_commit(k, txn);
    kit_close(k);
    CHECK(stat(file_of(k, "-wal"), &wal) == 0 && wal.st_size > 1000 * 1000);
    kit_close(reader);
    CHECK(stat(file_of(k, "-wal"), &wal) == 0);
    CHECK_INT(0, wal.st_size);
}

TEST(sqlite_file, reading_does_not_recover_a_log)
{
    kit *k = kit_open(t), *copy = kit_new(t);

    write_one(k, 1);
    test_write_file(file_of(copy, ""), test_read_file(file_of(k, "")));
    test_write_file(file_of(copy, "-wal"), test_read_file(file_of(k, "-wal")));
    copy->how.flags = VALISE_STORE_READ_ONLY;
    CHECK_RC(VALISE_E_IO, kit_try_open(copy));
    CHECK(strstr(t->err.hint, "for writing"));
    copy->how.flags = 0;
    CHECK_OK(kit_try_open(copy));
    read_one(copy, true);
}

/* The log is there, as after a kill, and so is a -shm file that nobody looks after. */
TEST(sqlite_file, reading_sees_what_is_in_the_log)
{
    kit *k = kit_open(t), *copy = kit_new(t);

    write_one(k, 1);
    test_write_file(file_of(copy, ""), test_read_file(file_of(k, "")));
    test_write_file(file_of(copy, "-wal"), test_read_file(file_of(k, "-wal")));
    test_write_file(file_of(copy, "-shm"), test_read_file(file_of(k, "-shm")));
    copy->how.flags = VALISE_STORE_READ_ONLY;
    const char *before = folder_of(copy);
    CHECK_OK(kit_try_open(copy));
    read_one(copy, true);
    kit_close(copy);
    CHECK_TEXT(before, folder_of(copy));
}

static int write_in_a_process(size_t index, void *arg)
{
    kit *k = arg;

    (void)index;
    k->how.flags = 0;
    CHECK(kit_try_open(k) == 0);
    write_one(k, 1);
    kit_close(k);
    return 0;
}

static int hold_and_write(size_t index, void *arg)
{
    kit *k = ((void **)arg)[0];
    atomic_int *stage = ((void **)arg)[1];

    (void)index;
    k->how.flags = 0;
    CHECK(kit_try_open(k) == 0);
    write_one(k, 2);
    atomic_store(stage, 1);
    while (atomic_load(stage) < 2)
        process_sleep_us(200);
    write_one(k, 1);
    atomic_store(stage, 3);
    while (atomic_load(stage) < 4)
        process_sleep_us(200);
    kit_close(k);
    return 0;
}

/* [K11] One that only reads sees at its next transaction what another process has committed;
 * first while that process is there, then when it was there and has gone. */
TEST(sqlite_file, reading_beside_a_process_that_writes)
{
    kit *k = kit_open(t), *reader = kit_new(t);
    atomic_int *stage = process_share(sizeof(*stage));
    process p;
    process_result r;

    kit_close(k);
    reader->how.where = k->how.where;
    reader->how.flags = VALISE_STORE_READ_ONLY;
    process_start(&p, hold_and_write, 0, (void *[]){k, stage});
    while (atomic_load(stage) < 1)
        process_sleep_us(200);
    CHECK_OK(kit_try_open(reader));
    read_one(reader, false);
    void *txn = kit_begin(reader, VALISE_TXN_READ);
    atomic_store(stage, 2);
    while (atomic_load(stage) < 3)
        process_sleep_us(200);
    CHECK(!kit_has_number(reader, txn, 1));
    kit_commit(reader, txn);
    read_one(reader, true);
    atomic_store(stage, 4);
    process_wait(&r, &p, process_timeout_ms());
    CHECK_MSG(r.exit_code == 0, "%s", process_describe(&r));
    read_one(reader, true);
}

TEST(sqlite_file, reading_what_was_immutable)
{
    kit *k = kit_open(t), *reader = kit_new(t);

    kit_close(k);
    unlink(file_of(k, "-shm"));
    unlink(file_of(k, "-wal"));
    reader->how.where = k->how.where;
    reader->how.flags = VALISE_STORE_READ_ONLY;
    CHECK_OK(kit_try_open(reader));
    read_one(reader, false);
    raw(k, "INSERT INTO number VALUES(1, x'', 1)"); /* a program that leaves no log behind */
    CHECK(!is_file(k, "-wal") && !is_file(k, "-shm"));
    read_one(reader, true);
    raw(k, "DELETE FROM number");
    read_one(reader, false);
    process_all(NULL, 1, write_in_a_process, k);
    read_one(reader, true);
    CHECK(!unlink(file_of(k, "")));
    kit_close(reader);
    CHECK_RC(VALISE_E_NOT_FOUND, kit_try_open(reader));
}

static int read_as_nobody(size_t index, void *arg)
{
    kit *k = arg;
    void *txn;

    (void)index;
    CHECK(geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
    k->how.flags = 0;
    CHECK_INT(VALISE_E_DENIED, kit_try_open(k));
    k->how.flags = VALISE_STORE_READ_ONLY;
    CHECK_INT(0, kit_try_open(k));
    txn = kit_begin(k, VALISE_TXN_READ);
    CHECK(kit_has_number(k, txn, 1));
    kit_commit(k, txn);
    kit_close(k);
    return 0;
}

/* [Q19] Where neither the folder nor a file in it may be written. */
TEST(sqlite_file, reading_where_nothing_may_be_written)
{
    static const char *const without[] = {"", "-shm", "-wal"};
    kit *k = kit_open(t);

    write_one(k, 1);
    kit_close(k);
    CHECK(chmod(test_tmpdir(), 0755) == 0 && chmod(file_of(k, ""), 0444) == 0);
    CHECK(chmod(file_of(k, "-wal"), 0444) == 0 && chmod(file_of(k, "-shm"), 0444) == 0);
    for (size_t i = 0; i < VLS_COUNT(without); i++) {
        if (*without[i])
            unlink(file_of(k, without[i]));
        CHECK(chmod(k->how.where, 0555) == 0);
        process_all(NULL, 1, read_as_nobody, k);
        CHECK(chmod(k->how.where, 0755) == 0);
    }
}

TEST(sqlite_file, writing_where_nothing_can_be_written_is_denied)
{
    kit *k = kit_new(t);

    fault_io_begin(&(fault_io_plan){
        .dir = k->how.where, .kinds = FAULT_OPEN, .nth = 2, .onward = true, .error = EACCES});
    CHECK_RC(VALISE_E_DENIED, kit_try_open(k));
    fault_io_end();
    CHECK_OK(kit_try_open(k));
    kit_close(k);
    fault_io_begin(&(fault_io_plan){
        .dir = k->how.where, .kinds = FAULT_OPEN, .nth = 2, .onward = true, .error = EROFS});
    CHECK_RC(VALISE_E_DENIED, kit_try_open(k));
    CHECK(strstr(t->err.message, "valise.db"));
    CHECK(t->err.hint[0]);
    fault_io_end();
}
