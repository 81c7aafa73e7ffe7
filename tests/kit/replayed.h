/* replayed.h -- a log, run once more from its beginning.
 *
 * Threads: single. */
#ifndef KIT_REPLAYED_H
#define KIT_REPLAYED_H

#include <valise/workspace.h>

#include "harness/test.h"

/* The state hash of v as it is, and the one that a replay of its log in memory gives. */
const char *state_of(test *t, valise *v);
const char *replayed(test *t, valise *v);

#endif
