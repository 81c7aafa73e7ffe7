/* ring_check.h -- counts everything in a ring again, and compares. [B33] */
#ifndef TEST_RING_CHECK_H
#define TEST_RING_CHECK_H

#include "backpack/ring_impl.h"
#include "harness/test.h"

/* Every invariant of ring_impl.h. Outside of enter and leave. */
void ring_check(vls_ring *ring);

#endif
