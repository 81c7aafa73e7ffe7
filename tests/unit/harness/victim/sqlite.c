/* sqlite.c -- SQLite told not to sync. Run by unit/harness/sqlite.c. */
#include "../sqlite.h"

TEST(sqlite, without_sync)
{
    char off[] = "OFF";

    kill_each_power_cut(t, FAULT_CHANGES, sqlite_count, sqlite_verify, off);
}
