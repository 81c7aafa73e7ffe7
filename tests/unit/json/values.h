/* values.h -- values for tests: from text, to text, and at random. */
#ifndef VALUES_H
#define VALUES_H

#include "harness/test.h"
#include "json/json.h"

/* Parse; fails the test when that fails. The text must outlive the value. */
vls_json values_parse(test *t, vls_arena *arena, const char *text);

/* The canonical text, freed when the test ends. Values too deep to be written fail the test. */
const char *values_text(test *t, vls_json v);

/* A random value with containers up to `depth` levels. Few different keys and scalars, so that
 * equal ones meet, among them those that pointers must escape. */
vls_json values_random(test_rng *rng, vls_arena *arena, unsigned depth);

/* v with one to `most` random changes somewhere in it; shares with v what did not change. */
vls_json values_edited(test_rng *rng, vls_arena *arena, vls_json v, unsigned most);

/* An array of count integers from first on. */
vls_json values_numbers(vls_arena *arena, size_t count, int64_t first);

/* value inside `levels` arrays. */
vls_json values_nested(vls_arena *arena, vls_json value, unsigned levels);

#endif
