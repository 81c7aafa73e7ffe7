/* laid.h -- a ledger of rows that stays while commands come and go, for suites over ledgers.
 *
 * Each walk has a view of its own, and so has what happens between enter and leave; the first
 * change there begins a command, which leave commits. So what is shown was stored and read back.
 *
 * Threads: single. */
#ifndef TEST_LAID_H
#define TEST_LAID_H

#include "backpack/ledger.h"

typedef struct laid laid;

/* backend: "memory" or "sqlite". What must not fail is checked. */
laid *laid_open(const valise_env *env, const char *backend, const vls_bag_row *bag);
laid *laid_fork(const vls_ledger *from, const vls_bag_row *bag); /* its origin is set here */
void laid_close(laid *l);                                        /* forks first */

vls_ledger laid_ledger(laid *l);

/* Let history up to a commit expire. */
void laid_forget(laid *l, int64_t edge);

#endif
