/* body_kit.h -- answers of the family of OpenAI, for tests.
 *
 * They are written with ' for " (wire_kit.h). */
#ifndef BODY_KIT_H
#define BODY_KIT_H

#include "wire/wire_kit.h"

/* Every allocation fails in turn while the answer is read as a whole and as a stream. */
void check_memory(test *t, const vls_adapter *adapter, const char *whole, const char *events);

/* An answer as text: its blocks, then "stop model id input/output/read/write/reasoning dropped". */
const char *answer_of(test *t, const vls_adapter *adapter, const char *whole);
/* The same of a stream, cut everywhere: all cuts say the same. */
const char *stream_of(test *t, const vls_adapter *adapter, const char *events);
/* The first line of that: the blocks. */
const char *blocks_in(const char *answer);

#define CHECK_HAS(text, part) CHECK_MSG(strstr((text), (part)), "%s", (text))

#endif
