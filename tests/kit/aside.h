/* aside.h -- an extension for tests: counters, some of which live in the memory of a handle alone.
 *
 * aside:add {name, by, what}, with `expect` the value: a name that begins with "m:" is apart. what:
 * "put" tries to change the workspace, "dispatch" to dispatch, "tell" tells who listens. */
#ifndef TEST_ASIDE_H
#define TEST_ASIDE_H

#include <valise/sys/extension.h>

#include "bus/bus.h"

extern const valise_extension aside_extension;

/* The value of a counter in memory; -1: there is none. */
int64_t aside_value(valise *v, const char *name);

/* Tables that were freed so far. */
extern _Atomic int aside_freed;

#endif
