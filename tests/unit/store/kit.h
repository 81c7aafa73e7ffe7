/* kit.h -- stores for the tests of src/store, on each backend.
 *
 * TEST_PARAMS(suite, "memory", "sqlite") runs a suite on both; kit_open(t, ...) opens a store on
 * t->param's backend in the test's directory. */
#ifndef STORE_KIT_H
#define STORE_KIT_H

#include "harness/test.h"
#include "store/own.h"
#include "store/store.h"

#define KIT_BACKENDS "memory", "sqlite"

/* For functions that have no test at hand. */
extern const char *kit_backend;

const valise_store_ops *kit_ops(const char *backend);

/* Does this test's backend keep anything when it is closed? */
bool kit_keeps(const test *t);

/* Options for a store in the test's directory: CREATE, not synced, waits for a second. */
vls_store_options kit_options(const test *t, const valise_coll *const *colls);

vls_store *kit_open(test *t, const valise_coll *const *colls);
void kit_close(vls_store *store);
void kit_remove(void); /* what is on disk: the next one is new */

/* A transaction that must begin, and one that must be kept. */
void kit_begin(test *t, vls_txn *txn, vls_store *store, int mode);
void kit_commit(test *t, vls_txn *txn);

/* Change one cell of a row behind the store's back: the sum stays as it was. */
void kit_damage(test *t, vls_store *store, uint32_t table, int64_t number, uint16_t column,
                size_t bit);

#endif
