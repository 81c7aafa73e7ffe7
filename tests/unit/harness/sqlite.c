/* sqlite.c -- faults reach the calls that libsqlite3.so makes. */
#include "sqlite.h"
#include "victim.h"

#include <errno.h>

#include "harness/fault.h"

static int code_of(int rc, fault *f)
{
    int primary = rc & 0xff;

    return primary == SQLITE_OK      ? 0
           : primary == SQLITE_NOMEM ? vls_fail_memory(&f->err)
                                     : vls_fail(&f->err, VALISE_E_IO, "%s", sqlite3_errstr(rc));
}

/* One update under faults; the row must then be 1 or 2. SQLite does without some calls. */
static int update_once(fault *f, void *arg)
{
    int rc, value;

    fault_off(f);
    sqlite3 *db = sqlite_open(f->dir);
    CHECK_INT(SQLITE_OK, sqlite_do(db, "PRAGMA journal_mode=WAL; CREATE TABLE t(v);"
                                       "INSERT INTO t VALUES(1)"));
    sqlite3_close(db);
    fault_on(f);
    db = sqlite_open(f->dir);
    rc = db ? sqlite_do(db, "UPDATE t SET v = 2") : arg ? SQLITE_NOMEM : SQLITE_CANTOPEN;
    sqlite3_close(db);
    fault_off(f);

    db = sqlite_open(f->dir);
    value = sqlite_value(db);
    sqlite3_close(db);
    CHECK_MSG(value == 2 || (rc != SQLITE_OK && value == 1), "%s, the row is %d",
              sqlite3_errstr(rc), value);
    f->recovered = rc == SQLITE_OK;
    return code_of(rc, f);
}

TEST(sqlite, every_file_call_of_the_library_can_fail)
{
    /* Locks are seen too, but when one fails for good SQLite tries again for ten seconds. */
    long long calls = fault_each_io(t, FAULT_ALL & ~FAULT_LOCK, EIO, update_once, NULL);

    CHECK_MSG(calls > 30, "only %lld calls were seen", calls);
    CHECK(fault_io_count(FAULT_OPEN) > 0 && fault_io_count(FAULT_WRITE) > 0 &&
          fault_io_count(FAULT_READ) > 0 && fault_io_count(FAULT_SYNC) > 0 &&
          fault_io_count(FAULT_LOCK) > 0 && fault_io_count(FAULT_STAT) > 0 &&
          fault_io_count(FAULT_MMAP) > 0 && fault_io_count(FAULT_UNLINK) > 0 &&
          fault_io_count(FAULT_CLOSE) > 0);
}

TEST(sqlite, a_write_error_and_a_full_disk_have_their_codes)
{
    static const struct {
        int error, code;
    } cases[] = {{EIO, SQLITE_IOERR}, {ENOSPC, SQLITE_FULL}};

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        sqlite3 *db = sqlite_open(test_tmpdir());
        CHECK_INT(SQLITE_OK, sqlite_do(db, "CREATE TABLE IF NOT EXISTS t(v)"));
        fault_io_begin(&(fault_io_plan){.dir = test_tmpdir(),
                                        .kinds = FAULT_WRITE,
                                        .nth = 1,
                                        .onward = true,
                                        .error = cases[i].error});
        CHECK_INT(cases[i].code, sqlite_do(db, "INSERT INTO t VALUES(1)"));
        fault_io_end();
        sqlite3_close(db);
    }
}

/* [Q16] in small: what SQLite acknowledged at FULL survives, at OFF it need not. */
TEST(sqlite, commits_survive_kills_and_power_cuts)
{
    char full[] = "FULL";

    kill_each_io(t, FAULT_CHANGES, sqlite_count, sqlite_verify, full);
    kill_each_power_cut(t, FAULT_CHANGES, sqlite_count, sqlite_verify, full);
    victim_must_fail("sqlite.without_sync", "commits were acknowledged");
}

/* ---- the hook for SQLite's allocator ---- */

static sqlite3_mem_methods plain;

static void *faulty_malloc(int size)
{
    return fault_alloc_fails() ? NULL : plain.xMalloc(size);
}

static void *faulty_realloc(void *ptr, int size)
{
    return fault_alloc_fails() ? NULL : plain.xRealloc(ptr, size);
}

static void restore(void *arg)
{
    (void)arg;
    (void)sqlite3_shutdown();
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &plain);
}

TEST(sqlite, every_allocation_of_the_library_can_fail)
{
    sqlite3_mem_methods faulty;
    int any;

    (void)sqlite3_shutdown();
    CHECK_INT(SQLITE_OK, sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain));
    faulty = plain;
    faulty.xMalloc = faulty_malloc;
    faulty.xRealloc = faulty_realloc;
    CHECK_INT(SQLITE_OK, sqlite3_config(SQLITE_CONFIG_MALLOC, &faulty));
    test_defer(restore, NULL);
    CHECK_INT(SQLITE_OK, sqlite3_initialize());
    CHECK(fault_each_alloc(t, FAULT_LIBRARIES, update_once, &any) > 50);
}
