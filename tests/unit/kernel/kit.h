/* kit.h -- a workspace with the counter extension, opened the way a host does. */
#ifndef KERNEL_KIT_H
#define KERNEL_KIT_H

#include <valise.h>
#include <valise/workspace.h>

#include "harness/test.h"
#include "kit/counter.h"
#include "kit/vault.h"

/* A new workspace ("memory": in memory, "sqlite": in a folder below test_tmpdir()), closed when the
 * test ends. */
valise *ws_open(test *t);
/* The one in this folder, as it is. */
valise *ws_open_at(test *t, const char *path);
/* The same for tests in which somebody is in the way: it does not wait long for others. */
valise *ws_open_hasty(test *t, const char *path);
const char *ws_path(void);

/* Dispatch as `local`; the answer as text. Must succeed. */
const char *ws_run(test *t, valise *v, const char *type, const char *payload);
/* As of a seq. */
const char *ws_run_at(test *t, valise *v, const char *type, const char *payload, const char *at);
/* Must fail with this code; the error is in t->err. */
void ws_fails(test *t, valise *v, int code, const char *type, const char *payload);
/* `validate` finds no problem, and says that the log cannot be replayed. */
void ws_is_partial(test *t, valise *v);

#endif
