/* counted.h -- a workspace with policies that count how often they are asked.
 *
 *     toy.join     all inputs, each behind its name
 *     toy.lead     the first line of each
 *
 * Threads: single. */
#ifndef DERIVE_COUNTED_H
#define DERIVE_COUNTED_H

#include "context/kit.h"

/* As yard_open, in a folder of this name; the policies have this version (1 or 2), 0: there are
 * none. Closed when the test ends. */
yard *counted_open(test *t, const char *name, int version);
yard *counted_open_at(test *t, const char *dir, int version); /* a folder, or ":memory:" */

/* Calls of `make` since this was asked before. */
int counted_calls(void);

/* What happens in the middle of each call from now on: others write meanwhile. NULL: nothing. */
void counted_meanwhile(void (*fn)(void *arg), void *arg);

#endif
