/* rows_kit.h -- what a ledger shows, as text: two that show the same are the same.
 *
 * Threads: single. */
#ifndef ROWS_KIT_H
#define ROWS_KIT_H

#include "harness/test.h"

#include "backpack/ledger.h"

const char *show_items(test *t, const vls_ledger *ledger);
const char *show_named(test *t, const vls_ledger *ledger, const char *pattern);
const char *show_versions(test *t, const vls_ledger *ledger, const char *key);
const char *show_commits(test *t, const vls_ledger *ledger, int64_t first, int64_t last,
                         bool reverse);
const char *show_newest(test *t, const vls_ledger *ledger, const char *key);
const char *show_difference(test *t, const vls_ledger *a, const vls_ledger *b);
vls_ledger_head show_head(test *t, const vls_ledger *ledger); /* without its texts */
vls_ledger freeze_at(test *t, const vls_ledger *ledger, int64_t upto);
void thaw(vls_ledger *ledger);

#endif
