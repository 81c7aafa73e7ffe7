/* valise/checkpoint.h -- checkpoints: keep the files of a workspace, and restore them.
 *
 *     valise_checkpointed kept = VALISE_CHECKPOINTED_INIT;
 *     valise_restored back = VALISE_RESTORED_INIT;
 *
 *     rc = valise_tree_checkpoint(&kept, v, "before-refactoring", NULL, NULL, err);
 *     ...                                                     (any program may change the files)
 *     rc = valise_tree_restore(&back, v, "before-refactoring", NULL, NULL, err);
 *     rc = valise_tree_restore(NULL, v, back.saved, NULL, NULL, err);         (undo the restore)
 *
 * A checkpoint has the bytes of all files in the tree. What the tree leaves out (docs/context.md),
 * .git and .valise are neither kept nor touched.
 *
 * Each of these functions is an operation that takes structs in place of JSON. `call`
 * (valise/workspace.h) says who acts and who is told the progress; NULL: as the handle says.
 *
 * Threads: many threads may call these functions on one handle. While one restore is running,
 * another one fails with VALISE_E_BUSY. */
#ifndef VALISE_CHECKPOINT_H
#define VALISE_CHECKPOINT_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/id.h>
#include <valise/workspace.h>

VALISE_BEGIN

#define VALISE_CHECKPOINT_NAME_MAX 128 /* letters, digits and . _ - */

/* What happened to a path, or why nothing did. */
enum {
    VALISE_RESTORED_CREATED,
    VALISE_RESTORED_REPLACED,
    VALISE_RESTORED_MODE, /* only its permissions differed */
    VALISE_RESTORED_DELETED,
    /* Something is at the path that must not be touched; reason says what. */
    VALISE_RESTORED_IN_THE_WAY,
    VALISE_RESTORED_LACKING, /* the checkpoint does not have the bytes; reason says why */
    /* path is the name of one more checkpoint, of files that were edited, or became readable,
     * during the restore. */
    VALISE_RESTORED_LATE,
    /* path is a file left over from a restore that was killed. */
    VALISE_RESTORED_FOUND,
};

typedef struct valise_restore_step {
    int kind; /* VALISE_RESTORED_... */
    valise_str path;
    valise_str reason; /* "": none */
} valise_restore_step;

typedef int valise_restore_fn(void *arg, const valise_restore_step *step, valise_error *err);

/* ---- keeping ---- */

enum { VALISE_TREE_CHECKPOINT_DRY_RUN = 1 /* scan, and report what would be kept */ };

typedef struct valise_tree_checkpoint_options {
    size_t size;
    unsigned flags;        /* VALISE_TREE_CHECKPOINT_... */
    valise_str dir;        /* where the files are; "": the workspace's folder */
    valise_restore_fn *fn; /* gets the first 100 LACKING steps; or NULL */
    void *arg;
} valise_tree_checkpoint_options;

#define VALISE_TREE_CHECKPOINT_OPTIONS_INIT                                                        \
    {                                                                                              \
        sizeof(valise_tree_checkpoint_options), 0, {NULL, 0}, NULL, NULL                           \
    }

typedef struct valise_checkpointed {
    size_t size;
    char name[VALISE_CHECKPOINT_NAME_MAX + 1]; /* "": it was a dry run */
    bool existed;    /* nothing had changed since the checkpoint of this name */
    int64_t version; /* of the tree */
    valise_id tree_root;
    int64_t files, dirs, links, bytes; /* in the checkpoint */
    int64_t stored, stored_bytes;      /* contents that were not stored before */
    int64_t lacking;
} valise_checkpointed;

#define VALISE_CHECKPOINTED_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_checkpointed), "", false, 0, {{0}}, 0, 0, 0, 0, 0, 0, 0                      \
    }

/* Make a checkpoint: scan, and store the bytes of all files that are not stored yet. name NULL: a
 * name is made up, and if nothing has changed since the last checkpoint, that one is used.
 * VALISE_E_EXISTS: the name is taken; VALISE_E_INVALID: it is not a name; VALISE_E_CANCELLED. out
 * and options may be NULL. Operation tree:checkpoint. */
VALISE_API int valise_tree_checkpoint(valise_checkpointed *out, valise *v, const char *name,
                                      const valise_tree_checkpoint_options *options,
                                      const valise_call *call, valise_error *err);

/* ---- bringing back ---- */

enum {
    VALISE_RESTORE_DELETE = 1,  /* remove files that the checkpoint does not have; ignored files
                                   stay */
    VALISE_RESTORE_FORCE = 2,   /* also overwrite what cannot be saved first */
    VALISE_RESTORE_DRY_RUN = 4, /* report what would be done */
};

typedef struct valise_restore_options {
    size_t size;
    unsigned flags; /* VALISE_RESTORE_DELETE, ... */
    const valise_str *paths;
    size_t path_count;     /* 0: everything */
    valise_str dir;        /* where the files are; "": the workspace's folder */
    valise_restore_fn *fn; /* gets the first 1,000 changes, and everything else there is to
                              report; or NULL */
    void *arg;
} valise_restore_options;

#define VALISE_RESTORE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(valise_restore_options), 0, NULL, 0, {NULL, 0}, NULL, NULL                          \
    }

typedef struct valise_restored {
    size_t size;
    char saved[VALISE_CHECKPOINT_NAME_MAX + 1]; /* the checkpoint that undoes it; "": none */
    int64_t restored, unchanged, deleted;
    int64_t kept; /* files that the checkpoint does not have */
    int64_t in_the_way, lacking;
    int64_t version; /* of the tree afterwards */
    valise_id tree_root;
} valise_restored;

#define VALISE_RESTORED_INIT                                                                       \
    {                                                                                              \
        sizeof(valise_restored), "", 0, 0, 0, 0, 0, 0, 0,                                          \
        {                                                                                          \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* Restore files, links and directories from a checkpoint: its name, a version "v12" of the tree, or
 * the first digits of a root. Whatever is overwritten or deleted is saved first, as a checkpoint.
 * VALISE_E_NOT_FOUND: there is no such checkpoint, or it does not have one of the paths;
 * VALISE_E_CONFLICT: something cannot be saved, and nothing was done; VALISE_E_BUSY: another
 * restore is running. After any other failure, VALISE_E_CANCELLED included, part of the work is
 * done: run it again. out and options may be NULL. Operation tree:restore. */
VALISE_API int valise_tree_restore(valise_restored *out, valise *v, const char *checkpoint,
                                   const valise_restore_options *options, const valise_call *call,
                                   valise_error *err);

/* ---- those there are ---- */

typedef struct valise_tree_checkpoint_info {
    valise_str name;
    int64_t version, time, seq;
    valise_id tree_root;
    bool partial; /* it has only what a restore was about to change */
    valise_str agent;
    int64_t files, dirs, links, bytes, lacking;
} valise_tree_checkpoint_info;

typedef int valise_tree_checkpoint_fn(void *arg, const valise_tree_checkpoint_info *checkpoint,
                                      valise_error *err);

/* List the checkpoints, the newest first. Operation checkpoint:list. */
VALISE_API int valise_tree_checkpoint_list(valise *v, valise_tree_checkpoint_fn *fn, void *arg,
                                           const valise_call *call, valise_error *err);

/* Remove a checkpoint. The next gc removes the contents that no other one needs.
 * VALISE_E_NOT_FOUND. Operation checkpoint:remove. */
VALISE_API int valise_tree_checkpoint_remove(valise *v, const char *checkpoint,
                                             const valise_call *call, valise_error *err);

VALISE_END

#endif
