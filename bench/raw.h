/* raw.h -- the rows of a command, written by hand: what the benches of durable commands compare
 * with. [Q7]
 *
 * The raw side has a workspace of its own, made by our own code, and writes rows like those it
 * finds there, of the same sizes into the same tables, with prepared statements and the same
 * settings. It reads and hashes nothing.
 *
 *     raw_open(&raw, dir, true);
 *     raw_row *log = raw_row_like(&raw, "log", "seq");      the newest one there is
 *     raw_set_int(log, "seq", ++seq);
 *     raw_insert(log);
 *
 * The files lie in VALISE_BENCH_DIR, else in /var/tmp: on a real disk, or FULL means nothing.
 *
 * Threads: raw is single. */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include "base/base.h"

struct sqlite3;
struct valise;
struct valise_extension;
struct sqlite3_stmt;

#define RAW_ROWS 8

#define MUST(ok)                                                                                   \
    do {                                                                                           \
        if (!(ok))                                                                                 \
            raw_die(__FILE__, __LINE__, #ok);                                                      \
    } while (0)

_Noreturn void raw_die(const char *file, int line, const char *what);

/* A new folder, and the end of it. */
void raw_make_dir(char out[256], const char *name);
void raw_remove_dir(const char *dir);

/* Our side: a whole workspace, where access is checked, and indexes and subscribers follow. With
 * one more extension, or NULL. */
struct valise *raw_open_workspace(const char *dir, bool full,
                                  const struct valise_extension *extension);

typedef struct raw_row raw_row;

typedef struct raw {
    struct sqlite3 *db;
    struct sqlite3_stmt *begin, *commit;
    raw_row *rows[RAW_ROWS]; /* what raw_row_like made */
} raw;

void raw_open(raw *r, const char *dir, bool full);
void raw_close(raw *r);
void raw_begin(raw *r);
void raw_commit(raw *r);

/* Rows like the one with the highest `key`; raw_close releases it. */
raw_row *raw_row_like(raw *r, const char *table, const char *key);
int64_t raw_get_int(raw_row *row, const char *column);
/* What the next ones have in a column. Blobs and texts are of the size that the first one had. */
void raw_set_int(raw_row *row, const char *column, int64_t value);
void raw_set_bytes(raw_row *row, const char *column, const void *bytes);
void raw_insert(raw_row *row);
/* The row with the same key becomes this one, as an UPDATE of all other columns. */
void raw_update(raw_row *row);

#endif
