/* kit.h -- a workspace with files, that can be wrecked and compared.
 *
 * Threads: single. */
#ifndef CHECKPOINT_KIT_H
#define CHECKPOINT_KIT_H

#include <valise.h>

#include "harness/test.h"

typedef struct shed {
    test *t;
    valise *v;
    const char *dir; /* of the files */
    bool memory;     /* the workspace has no folder of its own */
} shed;

/* As t->param says: "memory" (the folder is named in each call), "sqlite", or "user": the same as
 * somebody who may not do everything; closed when the test ends. */
shed *shed_open(test *t);
shed *shed_open_in(test *t, const char *dir, bool memory);

/* Run an operation with these members of its payload ("\"a\":1", or ""); operations on files get
 * the folder. The answer, which must be one. */
const char *shed_run(shed *s, const char *op, const char *members);
int shed_try(shed *s, const char *op, const char *members); /* the error is in t->err */

/* "kept":3 as "3", "saved":"x" as "x"; "" when there is none. The first of that name. */
const char *shed_member(const char *json, const char *name);

/* Files, by their path in the folder. */
const char *shed_path(const shed *s, const char *path);
void shed_write(shed *s, const char *path, const char *text, unsigned mode); /* and its folders */
void shed_dir(shed *s, const char *path, unsigned mode);
void shed_link(shed *s, const char *path, const char *target);
void shed_remove(shed *s, const char *path); /* with all in it */

/* All there is: kind, mode, path and content, a line each, in order; without .valise. under "": all
 * of it. */
const char *shed_text(const char *dir);

void shed_check(shed *s); /* `validate` finds nothing, and the log gives the same state again */

#endif
