/* durable.h -- what a durable command costs, beside SQLite writing the same rows by hand. [Q7]
 *
 * A command is an entry of the log, an object, and one row of its own, or some. It is run alone and
 * 1,000 together at NORMAL, alone and by 16 threads at FULL. Both sides start from the same rows.
 * Rates are compared: a bar of 0.7 of the rate is one of 1 / 0.7 of the time. */
#ifndef BENCH_DURABLE_H
#define BENCH_DURABLE_H

#include "bench/bench.h"
#include "bench/raw.h"

#define DURABLE_MANY 1000u
#define DURABLE_MORE 5

/* What the rows of a command by hand have: of the n-th one. */
typedef struct durable_rows {
    uint64_t n;
    uint64_t mix[5]; /* instead of hashes */
    int64_t now, seq;
} durable_rows;

typedef struct durable_command {
    const char *one, *many, *one_full, *threads; /* names of the four rows of the table */
    void *(*open)(const char *dir, bool full);
    void (*close)(void *self);
    void (*run)(void *self, uint64_t n);                   /* any thread */
    void (*run_many)(void *self, uint64_t first);          /* DURABLE_MANY together */
    const char *table, *key;                               /* where its own row goes */
    void (*write)(raw_row *row, const durable_rows *rows); /* that row, by hand */
    /* Rows of further tables, by hand; table NULL ends them. */
    struct {
        const char *table, *key;
        void (*write)(raw_row *row, const durable_rows *rows);
    } more[DURABLE_MORE + 1];
} durable_command;

void durable_compare(bench *b, const durable_command *command);

#endif
