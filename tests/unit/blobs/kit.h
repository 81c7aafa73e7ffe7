/* kit.h -- a workspace with blobs, and a `desk` whose sheets are made of blocks. */
#ifndef BLOBS_KIT_H
#define BLOBS_KIT_H

#include <valise.h>
#include <valise/sys/extension.h>

#include "base/hex.h"
#include "blob/receive.h"
#include "bus/bus.h"
#include "harness/test.h"

/* desk:write {name, blocks, files} holds the blobs of its blocks, as a turn does; desk:clear {name}
 * lets go of them. */
extern const valise_extension desk_extension;

#define MANUAL_BYTES ((size_t)5 << 20)

/* A new workspace ("memory", or in a folder below test_tmpdir()), closed when the test ends. */
valise *desk_open(test *t);
/* The one in this folder; middleware may be NULL. The caller closes it. */
valise *desk_open_at(test *t, const char *path, const valise_middleware *const *middleware);
const char *desk_path(void);

/* Dispatch as `local`; the answer as text. Must succeed. */
const char *desk_run(test *t, valise *v, const char *type, const char *payload);
/* Must fail with this code; the error is in t->err. */
void desk_fails(test *t, valise *v, int code, const char *type, const char *payload);
/* `validate` finds no problem. */
void desk_validate(test *t, valise *v);

valise_id desk_hash(valise_str bytes);
bool desk_has_file(test *t, valise *v, const valise_id *id);
size_t desk_count_files(test *t, valise *v);
const char *desk_file_of(const char *dir, const valise_id *id);

/* Register these bytes under a name: the id. */
valise_id desk_register(test *t, valise *v, const char *text, const char *hold);
/* How many hold it, as blob:list says; 0: it is not there. */
int64_t desk_count(test *t, valise *v, const valise_id *id);

/* Hold, or let go: 1, 0 when it was so before, or a code. */
int desk_hold(valise *v, const valise_id *id, const char *hold, const valise_call *call,
              valise_error *err);
int desk_release(valise *v, const valise_id *id, const char *hold, const valise_call *call,
                 valise_error *err);

#endif
