/* recipe.h -- lists of chunk numbers as bytes. The format is in object.h.
 *
 * Chunks that were written one after another have consecutive numbers, so most of a list is runs.
 * What an object shares with an older version is a run too.
 *
 * Threads: vls_recipe_reader is single; the rest are pure functions. */
#ifndef VLS_RECIPE_H
#define VLS_RECIPE_H

#include "base/bytes.h"

#define VLS_RECIPE_MAX_DEPTH 2u
#define VLS_RECIPE_MAX_NUMBER (INT64_C(1) << 60)

/* Collects numbers into runs. The buffer remembers a failure. */
typedef struct vls_recipe_writer {
    vls_buf *out;
    int64_t end;          /* behind the last run that was written */
    int64_t first, count; /* the run that goes on; count 0: none */
} vls_recipe_writer;

void vls_recipe_begin(vls_recipe_writer *writer, vls_buf *out, uint8_t depth);
void vls_recipe_add(vls_recipe_writer *writer, int64_t number);
void vls_recipe_end(vls_recipe_writer *writer);

/* Reads runs. */
typedef struct vls_recipe_reader {
    vls_reader in;
    uint8_t depth; /* 1 to VLS_RECIPE_MAX_DEPTH */
    int64_t end;
} vls_recipe_reader;

/* VALISE_E_CORRUPT. Borrows the bytes. */
int vls_recipe_open(vls_recipe_reader *out, valise_str bytes, valise_error *err);

/* 1 and count (at least 1) numbers from first (at least 1) on; 0 at the end; VALISE_E_CORRUPT. */
int vls_recipe_next(int64_t *first, int64_t *count, vls_recipe_reader *recipe, valise_error *err);

#endif
