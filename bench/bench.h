/* bench.h -- ratios against a raw baseline measured in the same run.
 *
 * Machines are noisy and differ, so no number here means anything alone: each row times ours and
 * a baseline (the least any program could do for the same effect) in turns, many short rounds of
 * each, and prints the median of the rounds' ratios. A growth row times one operation at growing
 * sizes and prints the exponent that fits, beside the one that is promised. [Q15]
 *
 *     static void hash_ours(void *arg, size_t times) { ... }
 *
 *     BENCH(hash)
 *     {
 *         bench_compare(b, &(bench_row){.name = "SHA-256, 64 B", .ours = hash_ours,
 *                                       .baseline = hash_raw, .arg = &state, .at_most = 1.2});
 *     }
 */
#ifndef BENCH_H
#define BENCH_H

#include "base/base.h"

typedef struct bench bench;

/* Do the operation `times` times. */
typedef void bench_fn(void *arg, size_t times);

typedef struct bench_row {
    const char *name;     /* what is measured */
    const char *against;  /* what the baseline is */
    const char *requires; /* the requirement this is the bar of, such as "Q1", or NULL */
    bench_fn *ours, *baseline;
    void *arg;
    double at_most; /* the bar: ours takes at most this many times the baseline; 0: no bar */
    double per;     /* baseline operations that equal one of ours; 0 counts as 1 */
    size_t bytes;   /* bytes one operation handles: prints MB/s; 0: none */
    bool cpu;       /* in CPU time of the process: nothing waits, and others may be busy */
} bench_row;

void bench_compare(bench *b, const bench_row *row);

/* Whether the run was asked to be short: groups with much to prepare prepare less. */
bool bench_is_quick(const bench *b);

/* Time `fn` per operation after `setup(size)`, for each size; promised is the exponent of cost
 * over size (0: flat, 1: linear). setup returns the argument, teardown releases it. */
typedef struct bench_growth_row {
    const char *name;
    void *(*setup)(size_t size);
    void (*teardown)(void *arg);
    bench_fn *fn;
    size_t sizes[4]; /* ends in 0 */
    double promised;
    bool cpu; /* as in bench_row */
} bench_growth_row;

void bench_growth(bench *b, const bench_growth_row *row);

/* A fact that is no time: bytes, counts, bytes per key. Printed as it is. */
void bench_fact(bench *b, const char *name, double value, const char *unit, double at_most);

/* Keep the compiler from dropping what it thinks nobody uses. */
static inline void bench_use(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

typedef struct bench_group {
    const char *name;
    void (*run)(bench *b);
    struct bench_group *next;
} bench_group;

void bench_register(bench_group *g);

#define BENCH(group_)                                                                              \
    static void bench_##group_(bench *b);                                                          \
    __attribute__((constructor)) static void register_##group_(void)                               \
    {                                                                                              \
        static bench_group g = {#group_, bench_##group_, NULL};                                    \
        bench_register(&g);                                                                        \
    }                                                                                              \
    static void bench_##group_(bench *b)

#endif
