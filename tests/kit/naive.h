/* naive.h -- a ledger that is obviously right: the oracle of models, and the test bed of what is
 * written over ledgers.
 *
 * An array of commits and arrays of rows, all deep copies; every answer is computed from them by
 * going through all of it. A state of the past is (array, upto). Nothing is ever dropped: what lies
 * before the edge is only not shown.
 *
 * It is strict with its callers: what the contract allows only between enter and leave, or only
 * outside, fails the test anywhere else; commits and strings that were handed out are gone at
 * leave, or when the callback returns, so that ASan sees who keeps them.
 *
 * Threads: single. */
#ifndef TEST_NAIVE_H
#define TEST_NAIVE_H

#include "backpack/ledger.h"

typedef struct naive naive;

typedef struct naive_options {
    valise_uuid id;
    valise_str name;
    bool lenient, taint;
    valise_list sticky;
    bool no_difference; /* each_difference is VALISE_E_UNSUPPORTED */
    bool no_rows;       /* rows cannot be put: VALISE_E_UNSUPPORTED, as in a query */
} naive_options;

int naive_new(naive **out, const valise_env *env, const naive_options *options, valise_error *err);
void naive_free(naive *n); /* NULL is fine; forks of it first */

/* Starts with the state that `from` (of a naive) shows, and with its permissions and rules. */
int naive_fork(naive **out, const vls_ledger *from, const naive_options *options,
               valise_error *err);

vls_ledger naive_ledger(naive *n);

/* Whether rows can be put. */
void naive_allow_rows(naive *n, bool allow);

/* Show nothing before this any more, as a bound would have it. */
void naive_set_edge(naive *n, int64_t edge);

static inline void vls_auto_naive(naive **n)
{
    naive_free(*n);
}

#endif
