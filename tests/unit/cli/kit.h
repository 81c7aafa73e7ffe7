/* kit.h -- a catalog of toy operations that have a field of every type, and short ways to ask. */
#ifndef CLI_KIT_H
#define CLI_KIT_H

#include "harness/test.h"

#include "cli/output.h"
#include "cli/words.h"

/* A run over the toy operations; released when the test ends. stdout is a plain buffer. */
cli *kit_new(test *t);

/* The payload of these words, "demo:put {...}", or "USAGE: message" and the like with the hint
 * behind " | ". */
const char *kit_payload(test *t, const char *const *words);
#define PAYLOAD(...) kit_payload(t, (const char *const[]){__VA_ARGS__, NULL})

/* What the fields of an operation make of a text that a shell would split into words. */
const valise_op *kit_op(const char *name);

extern const valise_op *const kit_ops[];

#endif
