/* pour.h -- a request, written piece by piece: no blob is in memory as a whole. [P4]
 *
 * Threads: single. */
#ifndef VLS_PROMPT_POUR_H
#define VLS_PROMPT_POUR_H

#include "store/blob.h"
#include "wire/wire.h"

#define VLS_WIRE_ANSWER_MAX ((int64_t)16 << 20) /* bytes of a request that is part of an answer */

typedef int vls_pour_fn(void *arg, valise_str bytes, valise_error *err);

/* All bytes to fn, in their order. blobs may be NULL: VALISE_E_UNSUPPORTED where one is needed.
 * VALISE_E_NOT_FOUND: a blob is gone. */
int vls_wire_pour(const vls_wire *wire, vls_blobs *blobs, vls_pour_fn *fn, void *arg,
                  valise_error *err);

/* The whole of it, in memory of the arena. VALISE_E_TOO_LARGE. */
int vls_wire_gather(valise_str *out, vls_arena *arena, const vls_wire *wire, vls_blobs *blobs,
                    valise_error *err);

/* Into a file, which has its name once all of it is there; *bytes says how much that is. */
int vls_wire_save(int64_t *bytes, const vls_wire *wire, vls_blobs *blobs, valise_str path,
                  bool force, valise_error *err);

#endif
