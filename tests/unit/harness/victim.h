/* victim.h -- running harness-victim, whose tests fail on purpose. */
#ifndef VICTIM_H
#define VICTIM_H

#include "harness/process.h"
#include "harness/test.h"

/* Run its tests that fit the pattern, with a fixed seed and a short timeout. */
void victim_run(process_result *out, const char *only, const char *const *env);

/* One test of it must fail, saying this. */
void victim_must_fail(const char *name, const char *message);

/* The text must stand in there. */
#define CHECK_HAS(text, needle) victim_check_has(__FILE__, __LINE__, (text), (needle))
void victim_check_has(const char *file, int line, valise_str text, const char *needle);

#endif
