/* keep.h -- what lies in the tree, and how its bytes get into the store.
 *
 *     vls_survey_take    scan, then each node of the newest version with its mode
 *     vls_hoard_known    which of the contents are stored already
 *     vls_hoard_file     read one that is not, hash it, put it into the batch
 *     vls_hoard_flush    the batch as one command
 *     vls_keep_manifest  and the checkpoint that lists them
 *
 * What is read must have the hash that the version says, else the file was changed since: who asks
 * takes another survey. At most a batch of contents is in memory; a content that is stored and that
 * no checkpoint came to need does no harm, and goes with the next `checkpoint:forget`.
 *
 * Threads: single. */
#ifndef VLS_KEEP_H
#define VLS_KEEP_H

#include "base/map.h"
#include "bus/job.h"
#include "checkpoint/manifest.h"
#include "checkpoint/ops.h"
#include "checkpoint/reach.h"
#include "checkpoint/rows.h"

#define VLS_CHECKPOINT_TRIES 3u
#define VLS_CHECKPOINT_MAX_FILE "checkpoint.max-file"
#define VLS_CHECKPOINT_MAX_FILE_USUAL ((int64_t)64 << 20)

/* ---- what is there ---- */

typedef struct vls_spot {
    valise_str path;
    vls_node node;
    uint32_t mode; /* & 0777 */
    bool strange;  /* it is not what the version says any more */
    bool known;    /* its content is stored */
    int lack;      /* VLS_LACK_...: why it cannot be kept */
} vls_spot;

typedef struct vls_survey {
    vls_arena arena;
    vls_vec(vls_spot) items; /* in the order of vls_path_compare, the root first */
    vls_tree_row tree;
} vls_survey;

/* dir: as for tree:scan. *root is the folder, of the arena. */
int vls_survey_take(vls_survey *out, const char **root, valise_job *job, valise_str dir,
                    valise_error *err);
void vls_survey_release(vls_survey *survey); /* a zeroed one is fine */

/* Scan, and nothing else: the newest version of the tree. */
int vls_survey_head(vls_tree_row *out, valise_job *job, valise_str dir, valise_error *err);

/* The one at this path, or NULL. */
vls_spot *vls_survey_find(const vls_survey *survey, valise_str path);

/* ---- bytes ---- */

typedef struct vls_hoard {
    valise_job *job;
    valise *v;
    vls_reach *reach;
    int64_t max_file;
    vls_arena arena; /* of the batch */
    vls_vec(vls_checkpoint_content *) batch;
    int64_t batch_bytes;
    int64_t stored, stored_bytes; /* contents that are new */
} vls_hoard;

int vls_hoard_open(vls_hoard *out, valise_job *job, vls_reach *reach, valise_error *err);
void vls_hoard_close(vls_hoard *hoard); /* a zeroed one is fine */

/* Fill `known`, and `lack` of what cannot be kept. */
int vls_hoard_known(vls_survey *survey, const vls_hoard *hoard, valise_error *err);

/* 0: it is in the batch. 1: it is not what it was. 2: it cannot be read; errors of the store. */
int vls_hoard_file(vls_hoard *hoard, const vls_spot *seen, valise_error *err);

/* The same from an open file, whatever its hash: that is *hash. */
int vls_hoard_fd(valise_id *hash, int64_t *size, vls_hoard *hoard, int fd, valise_str path,
                 valise_error *err);
int vls_hoard_flush(vls_hoard *hoard, valise_error *err);

/* Are the bytes that are stored really those of a file that is known? Reads them. 1, or 0. */
int vls_hoard_has(const vls_hoard *hoard, const vls_spot *seen, valise_error *err);

/* ---- the checkpoint ---- */

/* What a survey's node is in a manifest. */
vls_manifest_entry vls_spot_entry(const vls_spot *seen);

typedef struct vls_keeping {
    valise_str name;   /* "": made up */
    valise_str prefix; /* of a name that is made up */
    vls_buf manifest;
    bool partial;
    const vls_tree_row *tree;
    int64_t files, dirs, links, bytes, lacking;
} vls_keeping;

void vls_keeping_add(vls_keeping *keeping, const vls_manifest_entry *entry);

/* VALISE_E_CONFLICT: a content is not stored any more. */
int vls_keep_manifest(vls_checkpoint_made *out, vls_memory *memory, valise_job *job,
                      const vls_keeping *keeping, valise_error *err);

static inline void vls_auto_keeping(vls_keeping *keeping)
{
    vls_buf_release(&keeping->manifest);
}

#endif
