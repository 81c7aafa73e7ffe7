/* rows.h -- checkpoints and contents of files as rows.
 *
 *     checkpoint     (tree, name) -> manifest (an object), version, root, counts
 *     tree_content   SHA-256 of a file's bytes -> object, or blob where it is large. QUIET
 *
 * gc looks at rows and not into manifests, so what keeps a content is its row here; and what keeps
 * that is that some manifest lists it: `checkpoint:make` refuses a manifest with a content that has
 * no row, `checkpoint:forget` removes rows only as long as the checkpoints are those for which
 * somebody found out that none of them needs these.
 *
 * The object of a content is of the kind "data" and may be shared with whatever else has the same
 * bytes. An erased content keeps its row.
 *
 * Threads: immutable tables; what takes a view is single as it is. */
#ifndef VLS_CHECKPOINT_ROWS_H
#define VLS_CHECKPOINT_ROWS_H

#include <valise/blob.h>
#include <valise/sys/view.h>

#include "base/buf.h"
#include "tree/rows.h"

#define VLS_CHECKPOINT_NAME_MAX 128u
#define VLS_CHECKPOINT_OBJECT_MAX ((int64_t)16 << 20) /* larger files are blobs */

typedef struct vls_checkpoint_row {
    valise_uuid tree;
    valise_str name;
    valise_id manifest; /* object; zero: erased */
    bool partial;       /* it has only what a restore was about to change */
    int64_t version;    /* of the tree */
    valise_id root;     /* of that version */
    int64_t time, seq;
    valise_str agent;
    int64_t files, dirs, links, bytes, lacking;
} vls_checkpoint_row;

typedef struct vls_tree_content_row {
    valise_id hash;
    valise_id object, blob; /* one of them; both zero: erased */
    int64_t size;
} vls_tree_content_row;

extern const valise_coll vls_checkpoints, vls_tree_contents;

#define VLS_CHECKPOINT_COUNT_FIELDS(type)                                                          \
    VALISE_FIELD(type, files, INT, 0, "Files in it."),                                             \
        VALISE_FIELD(type, dirs, INT, 0, "Directories in it."),                                    \
        VALISE_FIELD(type, links, INT, 0, "Symbolic links."),                                      \
        VALISE_FIELD(type, bytes, INT, 0, "Bytes of the files."),                                  \
        VALISE_FIELD(type, lacking, INT, 0, "What it lacks though it was there.")

/* Letters, digits and . _ - only, and no verb of the command line. VALISE_E_INVALID. */
int vls_checkpoint_name_check(valise_str name, valise_error *err);

/* By name, the newest one of a version "v12", of a root or manifest that begins with these digits
 * (4 or more). Those of the workspace's own tree come first; the strings live as long as the view.
 * VALISE_E_NOT_FOUND, VALISE_E_CONFLICT for a name that two other trees have. */
int vls_checkpoint_find(vls_checkpoint_row *out, valise_view *view, valise_str given,
                        valise_error *err);

/* The bytes of its manifest. VALISE_E_NOT_FOUND when they were erased. */
int vls_checkpoint_manifest(valise_str *out, valise_view *view, const vls_checkpoint_row *row,
                            valise_error *err);

/* The same as a reference that the caller lets go of: who reads many need not keep them all. */
int vls_checkpoint_open(valise_blob **out, valise_view *view, const vls_checkpoint_row *row,
                        valise_error *err);

/* A hash over all checkpoints there are: who computed what they need says so with it. */
int vls_checkpoint_state(valise_id *out, valise_view *view, valise_error *err);

/* 1: it is stored; 2: it was, and is erased; 0. */
int vls_tree_content_get(vls_tree_content_row *out, valise_view *view, const valise_id *hash,
                         valise_error *err);
int vls_tree_content_put(valise_view *view, const vls_tree_content_row *row, valise_error *err);

#endif
