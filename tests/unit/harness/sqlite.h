/* sqlite.h -- a table with one row, for faults and power cuts; arg is the synchronous setting. */
#ifndef SQLITE_SAMPLE_H
#define SQLITE_SAMPLE_H

#include <sqlite3.h>
#include <stdlib.h>

#include "harness/kill.h"

static inline sqlite3 *sqlite_open(const char *dir)
{
    sqlite3 *db = NULL;

    if (sqlite3_open(test_format("%s/db", dir), &db) != SQLITE_OK) {
        sqlite3_close(db);
        return NULL;
    }
    return db;
}

/* The value of the row; -1 when it cannot be read. */
static inline int sqlite_value(sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    int value = -1;

    if (sqlite3_prepare_v2(db, "SELECT v FROM t", -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

static inline int sqlite_do(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/* Counts to 3, a transaction each, acknowledged when it is committed. */
static inline void sqlite_count(kill_run *run, void *arg)
{
    fault_io_pause();
    sqlite3 *db = sqlite_open(run->dir);
    CHECK(db != NULL);
    CHECK_INT(SQLITE_OK, sqlite_do(db, "PRAGMA journal_mode=WAL; CREATE TABLE t(v);"
                                       "INSERT INTO t VALUES(0)"));
    CHECK_INT(SQLITE_OK, sqlite_do(db, test_format("PRAGMA synchronous=%s", (const char *)arg)));
    fault_io_resume();
    for (int i = 1; i <= 3; i++) {
        CHECK_INT(SQLITE_OK, sqlite_do(db, "UPDATE t SET v = v + 1"));
        kill_ack(run, "%d", i);
    }
    sqlite3_close(db);
}

static inline void sqlite_verify(test *t, const kill_run *run, void *arg)
{
    sqlite3 *db = sqlite_open(run->dir);
    int value = db ? sqlite_value(db) : -1;

    (void)t;
    (void)arg;
    sqlite3_close(db);
    CHECK_MSG(value >= (int)run->acked && value <= (int)run->acked + 1,
              "%zu commits were acknowledged, %d are there", run->acked, value);
}

#endif
