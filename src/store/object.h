/* object.h -- immutable bytes under their SHA-256.
 *
 * An object has a kind, a word, which is part of its id:
 *
 *     kind "blob"    id = SHA-256(bytes), what sha256sum prints
 *     any other      id = tagged hash "valise.KIND.1" (bytes)          docs/formats.md, "Objects"
 *
 * Up to VLS_OBJECT_INLINE_MAX bytes, an object is one row. A larger one is cut at places that
 * depend on its content (base/chunk.h); equal chunks of all objects are stored once, and the row
 * holds a recipe: which chunks, in which order. The id does not depend on the recipe. What is read
 * is hashed again, so a wrong chunk is never returned.
 *
 *     recipe    depth(1 byte) run*            depth 2: the chunks make up a recipe of depth 1
 *     run       varint(zigzag(first - end of the previous run) << 1 | more)
 *               varint(count)                 only if more; else the run is one chunk
 *
 * There are no reference counts: gc marks what rows, images and payloads refer to.
 *
 * Threads: these work on a transaction, which is single. */
#ifndef VLS_OBJECT_H
#define VLS_OBJECT_H

#include "base/blob.h"
#include "store/store.h"

#define VLS_OBJECT_INLINE_MAX 4096u
#define VLS_OBJECT_MAX ((size_t)1 << 30)
#define VLS_OBJECT_KIND_MAX 32u

/* The id that bytes have as an object of this kind. VALISE_E_INVALID for a bad kind
 * ([a-z][a-z0-9.-]*). */
int vls_object_id(valise_id *out, const char *kind, valise_str bytes, valise_error *err);

/* A reference renews the time of an object that is older than this; gc takes nothing that is
 * younger than twice as much (gc.h). */
#define VLS_OBJECT_RENEW_NS (INT64_C(1800) * 1000000000)

/* Store it under the id, which must be its own (callers just computed it; who reads it checks).
 * *existed: it was there; its time is renewed as by touch. An erased one is filled again, and so is
 * one that turns out to be damaged. */
int vls_object_put(vls_txn *txn, const valise_id *id, const char *kind, valise_str bytes,
                   int64_t time, bool *existed, valise_error *err);

/* The same for who does not know the id yet. */
int vls_object_add(valise_id *id, vls_txn *txn, const char *kind, valise_str bytes, int64_t time,
                   valise_error *err);

/* *out is a new reference. VALISE_E_NOT_FOUND (there is none; or its contents were erased, and the
 * message says so), VALISE_E_CORRUPT. */
int vls_object_get(valise_blob **out, vls_txn *txn, const valise_id *id, valise_error *err);

typedef struct vls_object_info {
    int64_t number; /* row */
    int64_t size;
    int64_t time; /* when it was last put or referred to */
    valise_id id;
    char kind[VLS_OBJECT_KIND_MAX + 1];
    bool erased;
    bool chunked;
} vls_object_info;

/* 1, or 0 when there is none. */
int vls_object_stat(vls_object_info *out, vls_txn *txn, const valise_id *id, valise_error *err);

/* A row refers to it from now on: it must be there (VALISE_E_NOT_FOUND), and its time is renewed
 * when that is older than `older_than`, so that gc sees it as young. */
int vls_object_touch(vls_txn *txn, const valise_id *id, int64_t now, int64_t older_than,
                     valise_error *err);

/* Objects whose id begins with these hex digits (1 to 64), at most max: their number. */
int vls_object_find(vls_object_info *out, size_t *count, size_t max, vls_txn *txn,
                    valise_str digits, valise_error *err);

/* All objects in order of number, for gc, validate and export; from: the first number. The kind,
 * id, ... of each; fn returns non-zero to stop, which is the result. */
typedef int vls_object_fn(void *arg, const vls_object_info *info, valise_error *err);
int vls_object_each(vls_txn *txn, int64_t from, vls_object_fn *fn, void *arg, valise_error *err);

/* Remove the contents but keep the row as erased (1, or 0 when there is none); or the row as well.
 * Chunks stay, for vls_chunk_sweep. */
int vls_object_erase(vls_txn *txn, const valise_id *id, valise_error *err);
int vls_object_delete(vls_txn *txn, int64_t number, valise_error *err);

/* Mark the chunks that an object needs in a bitmap over chunk numbers (also those of its recipe);
 * and remove those in [from, to) that are not marked. *removed, *bytes: how many. What writers
 * remember is void then (meta gc_epoch). */
typedef struct vls_bits {
    const valise_env *env;
    uint64_t *words;
    size_t word_count;
} vls_bits;
int vls_bits_set(vls_bits *bits, int64_t number, valise_error *err);
bool vls_bits_get(const vls_bits *bits, int64_t number);
void vls_bits_release(vls_bits *bits);
int vls_object_mark_chunks(vls_bits *bits, vls_txn *txn, int64_t number, valise_error *err);
int vls_chunk_sweep(int64_t *removed, int64_t *bytes, vls_txn *txn, const vls_bits *keep,
                    int64_t from, int64_t to, valise_error *err);

/* The number of the last row there is, or 0. */
int vls_chunk_last(int64_t *number, vls_txn *txn, valise_error *err);

/* What a writer remembers: from a keyed 128-bit hash of a chunk to its number. Forget everything
 * when somebody else may have removed chunks (gc_epoch changed) or a savepoint was undone. */
int vls_chunks_new(vls_chunks **out, const valise_env *env, valise_error *err);
void vls_chunks_free(vls_chunks *chunks);
void vls_chunks_forget(vls_chunks *chunks);

#endif
