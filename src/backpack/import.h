/* import.h -- a document on its way into a ledger.
 *
 *     import.c        parse, decode, values; fill the ledger
 *     import_seed.c   the older shape {items, history, permissions} becomes such a document
 *     import_check.c  commits and rows make sense together
 *
 * Threads: single. */
#ifndef VLS_IMPORT_H
#define VLS_IMPORT_H

#include "backpack/document.h"
#include "base/blob.h"
#include "base/hash.h"
#include "base/vec.h"
#include "json/json.h"

typedef struct vls_import_value {
    valise_id id;
    valise_blob *blob;
} vls_import_value;

/* Where a commit of the older shape stands there. */
typedef struct vls_import_place {
    const char *member; /* "items", "history" */
    size_t index;
} vls_import_place;

typedef struct vls_import {
    const valise_env *env;
    int64_t now;
    vls_arena arena;
    vls_document doc;
    const vls_import_place *places;   /* of the commits of the history; NULL: as they stand there */
    vls_vec(vls_import_value) values; /* sorted by id */
} vls_import;

/* The value with this id, or NULL. */
valise_blob *vls_import_find(const vls_import *in, const valise_id *id);

/* Hash a value and keep it: *id. It is found once all are there, and sorted. */
int vls_import_add(valise_id *id, int64_t *size, vls_import *in, vls_json v, valise_error *err);

/* Fill doc and values from {items: [[key, item]...], history, permissions}. */
int vls_import_seed(vls_import *in, vls_json v, valise_error *err);

int vls_import_check(const vls_import *in, valise_error *err);

#endif
