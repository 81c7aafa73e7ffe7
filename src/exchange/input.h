/* input.h -- the files of an import: one, or those of a folder; and the files beside them that hold
 * images.
 *
 * Only regular files are looked at in folders, links are not followed, and names of a file's
 * content are only compared with names that were found: nothing leads out of the folder. [Q26]
 *
 * Threads: single. */
#ifndef VLS_EXCHANGE_INPUT_H
#define VLS_EXCHANGE_INPUT_H

#include "base/vec.h"
#include "exchange/foreign.h"

#define VLS_INPUT_FILES_MAX 200000u
#define VLS_INPUT_DEPTH 4u               /* of folders within */
#define VLS_ASSET_MAX ((size_t)64 << 20) /* bytes of an image */

typedef struct vls_input {
    vls_arena *arena;
    const char *path;
    bool folder;
    vls_vec(valise_str) names;  /* of what a folder has, from there, sorted; NUL-ended */
    vls_vec(valise_str) chosen; /* of these the ones to read */
    bool listed;
} vls_input;

/* VALISE_E_NOT_FOUND, VALISE_E_DENIED, VALISE_E_INVALID for a folder in which nothing can be
 * imported. path lives as long as the input. */
int vls_input_open(vls_input *out, vls_arena *arena, const char *path, valise_error *err);

size_t vls_input_count(const vls_input *input);

/* The nth file: a descriptor, and its name where it is one of several. */
int vls_input_file(int *fd, valise_str *name, const vls_input *input, size_t n, valise_error *err);

/* The bytes of the file whose name begins with this id: 1, or 0. */
int vls_input_asset(vls_input *input, vls_foreign_blob *out, vls_translation *r, valise_str id,
                    valise_error *err);

#endif
