/* kit.h -- a workspace whose clock can be moved, and operations on it as JSON.
 *
 * Threads: single. */
#ifndef MEMORY_KIT_H
#define MEMORY_KIT_H

#include <valise.h>
#include <valise/sys/extension.h>

#include "harness/test.h"

typedef struct den {
    test *t;
    valise *v;
    const char *dir; /* NULL: in memory */
    valise_env env;
} den;

/* As t->param says: "memory" or "sqlite"; closed when the test ends. With the extension whose
 * `crowd:sessions` puts many at once. */
den *den_open(test *t);
void den_reopen(den *d); /* sqlite */

/* So much later from now on. */
void den_wait(den *d, int64_t ns);
#define HOUR ((int64_t)3600 * 1000000000)

/* The answer, which must be one. */
const char *den_run(den *d, const char *op, const char *json);
const char *den_at(den *d, const char *op, const char *json, const char *at);
int den_try(den *d, const char *op, const char *json); /* the error is in t->err */
int den_try_as(den *d, const char *actor, const char *op, const char *json);
/* It must fail so, and say this. */
void den_refused(den *d, int code, const char *says, const char *op, const char *json);

/* "a":3 as "3", "a":"x" as "x"; "" when there is none. The first of that name. */
const char *den_member(const char *json, const char *name);
int den_times(const char *text, const char *part); /* how often it is in it */
int64_t den_seq(den *d);

/* `validate` finds nothing, the indexes say what the store does, and the log gives the same state
 * again. */
void den_check(den *d);
/* Some file of the workspace has the bytes; of one in memory the answer is always no. */
bool den_has_bytes(den *d, const char *bytes);

#endif
