/* valise/checkpoint.h -- the files of a workspace with their bytes: keep them, bring them back.
 *
 *     valise_checkpointed kept = VALISE_CHECKPOINTED_INIT;
 *     valise_restored back = VALISE_RESTORED_INIT;
 *
 *     rc = valise_tree_checkpoint(&kept, v, "before-refactoring", NULL, NULL, err);
 *     ...                                                     (whatever any program does to them)
 *     rc = valise_tree_restore(&back, v, "before-refactoring", NULL, NULL, err);
 *     rc = valise_tree_restore(NULL, v, back.saved, NULL, NULL, err);        and take that back
 *
 * What rules leave out of the tree (valise/context.h), .git and .valise are neither kept nor
 * touched.
 *
 * Each of these functions is an operation, called with structs in place of JSON; `call`
 * (valise/workspace.h) says who acts and who hears of progress; NULL: as the handle says.
 *
 * Threads: all functions may be called on one handle by many threads; of two restores at once one
 * fails with VALISE_E_BUSY. */
#ifndef VALISE_CHECKPOINT_H
#define VALISE_CHECKPOINT_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/id.h>
#include <valise/workspace.h>

VALISE_BEGIN

#define VALISE_CHECKPOINT_NAME_MAX 128 /* letters, digits and . _ - */

/* What became of one path, or why nothing did. */
enum {
    VALISE_RESTORED_CREATED,
    VALISE_RESTORED_REPLACED,
    VALISE_RESTORED_MODE, /* only its permissions were others */
    VALISE_RESTORED_DELETED,
    VALISE_RESTORED_IN_THE_WAY, /* something lies there that must not be touched; reason says what
                                 */
    VALISE_RESTORED_LACKING,    /* the checkpoint does not have it; reason says why */
    VALISE_RESTORED_LATE,  /* path: one more checkpoint: of what was edited meanwhile, or readable
                             only then */
    VALISE_RESTORED_FOUND, /* path: a file that a restore which was killed left */
};

typedef struct valise_restore_step {
    int kind; /* VALISE_RESTORE_... */
    valise_str path;
    valise_str reason; /* "" */
} valise_restore_step;

typedef int valise_restore_fn(void *arg, const valise_restore_step *step, valise_error *err);

/* ---- keeping ---- */

enum { VALISE_CHECKPOINT_DRY_RUN = 1 /* scan, and say what would be kept */ };

typedef struct valise_checkpoint_options {
    size_t size;
    unsigned flags;        /* VALISE_CHECKPOINT_... */
    valise_str dir;        /* folder of the tree; "": that of the workspace */
    valise_restore_fn *fn; /* gets the first 100 that are LACKING; or NULL */
    void *arg;
} valise_checkpoint_options;

#define VALISE_CHECKPOINT_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(valise_checkpoint_options), 0, {NULL, 0}, NULL, NULL                                \
    }

typedef struct valise_checkpointed {
    size_t size;
    char name[VALISE_CHECKPOINT_NAME_MAX + 1]; /* "": a dry run */
    bool existed;                              /* nothing had changed since the one of that name */
    int64_t version;                           /* of the tree */
    valise_id root;
    int64_t files, dirs, links, bytes; /* in it */
    int64_t stored, stored_bytes;      /* contents that were not there before */
    int64_t lacking;
} valise_checkpointed;

#define VALISE_CHECKPOINTED_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_checkpointed), "", false, 0, {{0}}, 0, 0, 0, 0, 0, 0, 0                      \
    }

/* Scan, and keep the bytes of all files that are not kept yet. name NULL: made up, and no new one
 * where nothing changed since the last. VALISE_E_EXISTS, VALISE_E_INVALID for names;
 * VALISE_E_CANCELLED. out and options may be NULL. tree:checkpoint */
VALISE_API int valise_tree_checkpoint(valise_checkpointed *out, valise *v, const char *name,
                                      const valise_checkpoint_options *options,
                                      const valise_call *call, valise_error *err);

/* ---- bringing back ---- */

enum {
    VALISE_RESTORE_DELETE = 1,  /* remove what the checkpoint does not have; ignored files stay */
    VALISE_RESTORE_FORCE = 2,   /* also what cannot be saved before */
    VALISE_RESTORE_DRY_RUN = 4, /* say what would be done */
};

typedef struct valise_restore_options {
    size_t size;
    unsigned flags; /* VALISE_RESTORE_DELETE, ... */
    const valise_str *paths;
    size_t path_count;     /* 0: everything */
    valise_str dir;        /* folder of the tree; "": that of the workspace */
    valise_restore_fn *fn; /* gets the first 1,000 that changed, and what else there is to say */
    void *arg;
} valise_restore_options;

#define VALISE_RESTORE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(valise_restore_options), 0, NULL, 0, {NULL, 0}, NULL, NULL                          \
    }

typedef struct valise_restored {
    size_t size;
    char saved[VALISE_CHECKPOINT_NAME_MAX + 1]; /* the checkpoint that takes it back; "": none */
    int64_t restored, unchanged, deleted;
    int64_t kept; /* that the checkpoint does not have */
    int64_t in_the_way, lacking;
    int64_t version; /* of the tree after it */
    valise_id root;
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

/* Make files, links and directories as the checkpoint has them: a name, a version "v12" of the
 * tree, first digits of a root. What is overwritten or deleted is kept first. VALISE_E_NOT_FOUND:
 * no such checkpoint, or it has not one of the paths; VALISE_E_CONFLICT: something cannot be saved,
 * and nothing was done; VALISE_E_BUSY. After any other failure, VALISE_E_CANCELLED among them, a
 * part is done: run it again. out and options may be NULL. tree:restore */
VALISE_API int valise_tree_restore(valise_restored *out, valise *v, const char *checkpoint,
                                   const valise_restore_options *options, const valise_call *call,
                                   valise_error *err);

/* ---- those there are ---- */

typedef struct valise_checkpoint_info {
    valise_str name;
    int64_t version, time, seq;
    valise_id root;
    bool partial; /* it has only what a restore was about to change */
    valise_str agent;
    int64_t files, dirs, links, bytes, lacking;
} valise_checkpoint_info;

typedef int valise_checkpoint_fn(void *arg, const valise_checkpoint_info *checkpoint,
                                 valise_error *err);

/* Each of them, the newest first. checkpoint:list */
VALISE_API int valise_tree_checkpoint_list(valise *v, valise_checkpoint_fn *fn, void *arg,
                                           const valise_call *call, valise_error *err);

/* VALISE_E_NOT_FOUND. What no other one needs goes with gc. checkpoint:remove */
VALISE_API int valise_tree_checkpoint_remove(valise *v, const char *checkpoint,
                                             const valise_call *call, valise_error *err);

VALISE_END

#endif
