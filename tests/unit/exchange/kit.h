/* kit.h -- a workspace to import into, and files to import.
 *
 * Threads: single. */
#ifndef EXCHANGE_KIT_H
#define EXCHANGE_KIT_H

#include <valise.h>

#include "harness/test.h"

typedef struct desk {
    test *t;
    valise *v;
} desk;

/* In memory, or with t->param "sqlite" in a folder; closed when the test ends. */
desk *desk_open(test *t);

/* Run an operation with these members of its payload ("\"a\":1"). The answer, which must be one. */
const char *desk_run(desk *d, const char *op, const char *members);
int desk_try(desk *d, const char *op, const char *members); /* the error is in t->err */

/* session:import of a file with this text; more: further members, or "". */
const char *desk_import(desk *d, const char *text, const char *more);
const char *desk_import_path(desk *d, const char *path);

/* The text of session:export. */
const char *desk_export(desk *d, const char *members);

/* "turns":3 as "3"; "" when there is none. The first of that name. */
const char *desk_member(const char *json, const char *name);
/* The last of that name. */
long desk_number(const char *json, const char *name);

long desk_seq(desk *d);
void desk_validate(desk *d); /* it finds nothing: where something was erased there is no replay */
void desk_check(desk *d);    /* `validate` finds nothing, and the log gives the same state again */

/* A file of tests/unit/exchange/data. */
const char *desk_data(const char *name);

#endif
