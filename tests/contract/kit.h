/* kit.h -- what the tests of stores share: opening one, cells, rows as text.
 *
 * A suite that runs over all backends says TEST_PARAMS(suite, "memory", "sqlite"); kit_open reads
 * t->param. A kit is closed when the test ends. */
#ifndef CONTRACT_KIT_H
#define CONTRACT_KIT_H

#include "harness/test.h"

#include <valise/sys/store.h>

/* The tables every kit has. */
enum {
    KIT_NOTE, /* (a TEXT, b INT), c TEXT?, d BLOB?, e REAL?, f INT; by_c(c), by_f(f, a), by_e(e) */
    KIT_NUMBER, /* numbered: (id), body BLOB, tag INT?; by_tag(tag) */
    KIT_PLACE,  /* (x INT, y TEXT), z INT?, w TEXT?; by_z(z), by_zw(z, w), by_yz(y, z) */
    KIT_REAL,   /* (r REAL), by_v(v): v REAL? */
    KIT_BLOB,   /* (k BLOB), v BLOB?; by_v(v) */
    KIT_TABLES,
};

extern const valise_table kit_tables[KIT_TABLES];

typedef struct kit {
    test *t;
    const valise_store_ops *ops;
    void *self; /* NULL: closed */
    valise_store_open how;
} kit;

const valise_store_ops *kit_ops(const char *param);

/* A new store, with the tables; sqlite in a folder of its own. */
kit *kit_open(test *t);
/* The same, not opened yet: the test changes k->how first. */
kit *kit_new(test *t);
int kit_try_open(kit *k);
void kit_close(kit *k);
/* Close and open again; a store in memory stays open. */
void kit_reopen(kit *k);
bool kit_is_memory(const kit *k);

/* Transactions that must begin and commit. */
void *kit_begin(kit *k, int mode);
void kit_commit(kit *k, void *txn);

/* ---- cells ---- */

#define CELL_NULL ((valise_cell){.type = VALISE_CELL_NULL})
valise_cell cell_int(int64_t value);
valise_cell cell_real(double value);
valise_cell cell_text(const char *text); /* NULL gives a NULL */
valise_cell cell_blob(valise_str bytes);
valise_cell cell_str(valise_str text); /* TEXT */

int cell_compare(const valise_cell *a, const valise_cell *b);
bool cell_equal(const valise_cell *a, const valise_cell *b);

/* ---- rows ---- */

/* A row as "(a 1 - 'c' 2.5)": texts as they are, blobs in quotes, NULL as "-". */
const char *kit_row_text(const valise_table *table, const valise_cell *row);

/* All rows of a range, the first `columns` cells of each; rows are separated by a space. */
const char *kit_scan(kit *k, void *txn, const valise_range *range, unsigned columns);
const char *kit_all(kit *k, void *txn, uint32_t table, unsigned columns);

void kit_put_note(kit *k, void *txn, const char *a, int64_t b, const char *c, int64_t f);
void kit_put_number(kit *k, void *txn, int64_t id, const char *body, int64_t tag);
bool kit_has_number(kit *k, void *txn, int64_t id);
size_t kit_count(kit *k, void *txn, uint32_t table, int32_t index);

#endif
