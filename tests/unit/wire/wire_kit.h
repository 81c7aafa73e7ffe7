/* wire_kit.h -- prompts as requests of any adapter, for tests.
 *
 * Prompts and requests are written with ' for ". A blob is as many x as its size says, but no more
 * than eight, and three where that is not known. */
#ifndef WIRE_KIT_H
#define WIRE_KIT_H

#include "harness/test.h"
#include "wire/adapter.h"
#include "wire/lint.h"

/* The text with " for ', in memory of the test. */
const char *quoted(const char *text);

/* Released when the test ends. */
vls_arena *arena_of(test *t);

/* The body of a request, and the repairs that it took: "R1.1@0.1 R12.3(stop)". */
typedef struct request {
    const char *body, *repairs;
    const char *head; /* that it needs besides; NULL */
} request;

enum { STREAMED = 1, UNMARKED = 2 };

/* Messages, or a whole prompt, as a request. It parses, lint finds nothing in it, and nothing in
 * the plan that it was made of. In memory of the test. */
request write_request(test *t, const vls_adapter *adapter, const char *model, const char *prompt,
                      unsigned how);
/* The same of a prompt that is JSON already, or was read. */
request write_prompt(test *t, const vls_adapter *adapter, const char *model, valise_str prompt,
                     unsigned how);
request write_neutral(test *t, const vls_adapter *adapter, const char *model,
                      const vls_neutral *prompt, unsigned how);

/* What lint finds in a request: "R1.1 messages[1].content[0]; ...". */
const char *lint_of(test *t, const vls_adapter *adapter, const char *body);

#endif
