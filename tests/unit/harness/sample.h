/* sample.h -- a small piece of code as Valise has many, with bugs that can be switched on.
 *
 * It saves a text as DIR/file, so that a crash leaves the old file or the new one. The harness's
 * own tests run it without bugs (all must pass) and with each bug (which must be caught). */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "base/base.h"

enum {
    BUG_LEAK = 1,           /* memory is not freed when the second allocation fails */
    BUG_WRONG_CODE = 2,     /* NO_MEMORY is reported as INVALID */
    BUG_SWALLOW_MEMORY = 4, /* a failed allocation is taken for an empty text */
    BUG_SWALLOW_ENOSPC = 8, /* a full disk is ignored */
    BUG_NO_REPEAT = 16,     /* EINTR is an error */
    BUG_SHORT_WRITE = 32,   /* what write() did not take is lost */
    BUG_LEAK_FILE = 64,     /* the file stays open when write fails */
    BUG_IN_PLACE = 128,     /* the old file is overwritten */
    BUG_RENAME_FIRST = 256, /* renamed before it is synced */
    BUG_NO_DIR_SYNC = 512,  /* the rename itself is never synced */
};

int sample_save(const valise_env *env, const char *dir, valise_str text, unsigned bugs,
                valise_error *err);

#endif
