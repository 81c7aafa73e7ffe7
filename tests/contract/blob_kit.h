/* blob_kit.h -- what the tests of blob stores share: a store on some backend, and contents. */
#ifndef BLOB_KIT_H
#define BLOB_KIT_H

#include "harness/test.h"

#include "base/hex.h"
#include "store/blob.h"

#define PIECE VLS_BLOB_PIECE_BYTES
#define NO_LIMIT UINT64_MAX

typedef struct world {
    const valise_env *env;
    vls_blobs *blobs;
} world;

/* The backend of that name: "file", "memory", or "host", whose table is that of `memory` as an
 * older header would have it: without the last function. */
const valise_blob_store_ops *backend(const char *name);

/* Open blobs in dir/blobs. */
int try_start(world *w, const valise_env *env, const char *name, const char *dir, unsigned flags,
              valise_error *err);
void start(test *t, world *w); /* the backend of t->param, made if need be */
void stop(world *w);

/* len bytes that differ for each seed. */
valise_str content(size_t len, uint64_t seed);
valise_id id_of(valise_str bytes);
valise_id put_ok(test *t, world *w, valise_str bytes);
void check_has(test *t, world *w, const valise_id *id, valise_str bytes);
void check_lacks(test *t, world *w, const valise_id *id);

/* How many blobs are listed; each is read and verified. */
size_t count_blobs(test *t, world *w);

/* The file of a blob under dir/blobs. */
const char *path_of(const char *dir, const valise_id *id);

#endif
