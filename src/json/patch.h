/* patch.h -- JSON Patch (RFC 6902): a list of edits applied to a value, all or nothing.
 *
 *     [{"op": "test",    "path": "/a/b", "value": 5},
 *      {"op": "replace", "path": "/a/b", "value": 6},
 *      {"op": "add",     "path": "/list/-", "value": "x"},
 *      {"op": "remove",  "path": "/old"},
 *      {"op": "move",    "from": "/x", "path": "/y"},
 *      {"op": "copy",    "from": "/y", "path": "/z"}]
 *
 * Values never change, so "all or nothing" costs nothing: the result is a new value that shares
 * every subtree that no edit went through with the document and the patch.
 *
 * Threads: as the values: the arena is single. */
#ifndef VLS_PATCH_H
#define VLS_PATCH_H

#include "json/json.h"

/* Well under a second: 2,600 insertions at the front of 100,000 items. */
#define VLS_PATCH_MAX_WORK_BYTES ((uint64_t)4 << 30)

/* How much work patches may do, in bytes: what is copied or shifted, and the whole size of every
 * value an operation brings in, so that copies of copies cannot double a document fifty times.
 * One budget may be used for several patches in a row. */
typedef struct vls_patch_budget {
    uint64_t max_bytes; /* 0: VLS_PATCH_MAX_WORK_BYTES */
    uint64_t used_bytes;
} vls_patch_budget;

/* Apply patch to document. On success *out shares with both, and lives in arena where it is new;
 * all three must outlive it. On failure *out is untouched and the arena as it was.
 *
 * VALISE_E_CONFLICT    a test found something else
 * VALISE_E_NOT_FOUND   a path or from leads nowhere
 * VALISE_E_INVALID     the patch is malformed, moves a value into itself, removes the document
 * VALISE_E_LIMIT       the budget is used up, or the result is deeper than VLS_JSON_MAX_DEPTH
 * VALISE_E_TOO_LARGE, VALISE_E_NO_MEMORY   the arena
 *
 * Messages name the operation: "patch[3] test /a/b: value is 5, expected 6". Members of an
 * operation that the RFC does not know are ignored, as it demands. budget may be NULL. */
int vls_json_patch(vls_json *out, vls_arena *arena, vls_json document, vls_json patch,
                   vls_patch_budget *budget, valise_error *err);

#endif
