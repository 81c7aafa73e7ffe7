/* fuzz.h -- what a fuzz target is written with.
 *
 *     #include "fuzz/fuzz.h"
 *
 *     int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
 *     {
 *         ...feed data to a parser, then state what must hold of the result...
 *         FUZZ_CHECK(written.len <= size);
 *         return 0;
 *     }
 *
 * The same file becomes two programs: linked with replay.c it runs its corpus as a test;
 * linked with libFuzzer it looks for new inputs. A broken promise aborts, which both report
 * with the input that did it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(ok)                                                                             \
    do {                                                                                           \
        if (!(ok)) {                                                                               \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #ok);                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
