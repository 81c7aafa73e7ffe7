/* bed.h -- a store with the collections of backpacks, and commands on it without a bus.
 *
 * Between bed_begin and bed_end there is a view, in which a command's changes gather until the end.
 *
 * Threads: single. */
#ifndef TEST_BED_H
#define TEST_BED_H

#include "harness/test.h"

#include "backpack/rows.h"

typedef struct bed {
    test *t;
    vls_store *store;
    int64_t now;
    bool writing;
    vls_txn txn;
    valise_view view; /* between begin and end */
} bed;

/* param: "memory" or "sqlite". */
void bed_open(bed *b, test *t, const char *param);
/* With these collections instead, NULL-ended. */
void bed_open_with(bed *b, test *t, const char *param, const valise_coll *const *colls);
void bed_close(bed *b);

void bed_begin(bed *b, bool writing);
void bed_internal(bed *b); /* a command that may let go of rows */
void bed_end(bed *b);      /* applies and commits what was changed */
void bed_look(bed *b, int64_t at);

/* Make a backpack, in a command of its own. */
vls_bag_row bed_make(bed *b, const char *name);

/* Fill value, value_size and the blob of a commit. NULL: it has none. */
valise_blob *bed_value(bed *b, valise_commit *commit, const char *json);

/* Append to a ledger: value NULL is a delete. */
void bed_pack(bed *b, const vls_ledger *ledger, const char *key, const char *value,
              const char *space);

/* `validate` finds nothing. */
void bed_check(bed *b);

#endif
