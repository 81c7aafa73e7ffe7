/* restore.h -- bring files back: what differs, and how it is put right.
 *
 *     vls_restore_plan_make   compare what lies there (a survey) with what a checkpoint lists
 *     vls_restore_plan_save   a partial checkpoint of what is about to change
 *     vls_writer_*            do it
 *
 * Comparing and writing what differs can be repeated: a restore that was killed is run again.
 *
 * Writing. A file is made in a folder of its own, .valise/restore, and then exchanged with what
 * lies at its place (RENAME_EXCHANGE), or put where nothing lies (RENAME_NOREPLACE). What came back
 * from an exchange is hashed: only what was saved before goes. Anything else was edited meanwhile,
 * and is saved now.
 *
 *     new-N     is being written; worth nothing
 *     swap-N    waits to be exchanged, or came back and was not looked at yet
 *     found-N   came back, and nobody knows its content: a restore was killed just then
 *
 * Threads: single. */
#ifndef VLS_RESTORE_H
#define VLS_RESTORE_H

#include "checkpoint/keep.h"
#include "checkpoint/rules.h"

/* ---- the plan ---- */

typedef struct vls_step {
    int change;                     /* VLS_RESTORE_... */
    const vls_manifest_entry *want; /* NULL: nothing shall be there */
    vls_spot *have;                 /* NULL: nothing is */
} vls_step;

typedef struct vls_restore_plan_options {
    valise_str manifest;     /* bytes, that outlive the plan */
    const valise_str *paths; /* in the order of vls_path_compare */
    size_t path_count;       /* 0: all */
    bool remove;             /* what the checkpoint does not have */
} vls_restore_plan_options;

typedef struct vls_restore_plan {
    const valise_env *env;
    vls_arena arena;
    bool partial;
    vls_vec(vls_manifest_entry) entries;
    vls_kept_rules rules;    /* where something may be removed */
    vls_vec(vls_step) steps; /* in the order of paths */
    vls_vec(vls_checkpoint_problem) in_the_way, lacking, unsaved;
    int64_t unchanged;
    int64_t kept;    /* that the checkpoint does not have */
    int64_t bytes;   /* to be written */
    bool again;      /* something can be read only afterwards */
    int64_t changed; /* steps that take something away, or change it */
} vls_restore_plan;

/* VALISE_E_NOT_FOUND for a path that the checkpoint does not have, VALISE_E_CORRUPT. */
int vls_restore_plan_make(vls_restore_plan *out, valise_job *job,
                          const vls_restore_plan_options *options, vls_survey *survey,
                          vls_reach *reach, valise_error *err);
void vls_restore_plan_release(vls_restore_plan *plan); /* a zeroed one is fine */

/* Save what the plan takes away. *made has the name: of memory. 1: something is not what it was;
 * 2: nothing is taken away. */
int vls_restore_plan_save(vls_checkpoint_made *made, vls_memory *memory,
                          const vls_restore_plan *plan, vls_survey *survey, vls_hoard *hoard,
                          bool force, valise_error *err);

/* ---- writing ---- */

typedef struct vls_writer {
    valise_job *job;
    valise *v;
    vls_reach *reach;       /* that may write */
    vls_hoard *hoard;       /* for what was edited meanwhile */
    vls_restore_plan *plan; /* gets what is in the way */
    vls_survey *survey;
    vls_arena arena;
    const char *root;  /* of the tree */
    const char *outer; /* folder that was made for the stage; NULL: none */
    const char *folder;
    int stage;               /* -1 */
    int beside;              /* directory on another disk, that the stage is in now; or -1 */
    int home;                /* then: the usual stage; else -1 */
    const char *home_folder; /* ... and its path */
    uint64_t number;
    int64_t restored, deleted;
    vls_vec(valise_str) late, found;
} vls_writer;

/* VALISE_E_BUSY: another restore is at work. */
int vls_writer_open(vls_writer *out, valise_job *job, const char *root, valise_error *err);
void vls_writer_close(vls_writer *writer); /* a zeroed one with stage -1 is fine */
int vls_writer_run(vls_writer *writer, valise_error *err);

/* A file with the bytes of an entry, under another name in the stage. */
int vls_writer_stage(char name[32], vls_writer *writer, const vls_manifest_entry *want,
                     valise_error *err);

/* About files in a directory: the stage that was beside those of another one goes home. */
void vls_stage_for(vls_writer *writer, int dir);
/* For files in a directory (with its path) that nothing can be exchanged with, since it lies on
 * another disk: a stage in it. 1; 0: that cannot be. */
int vls_stage_beside(vls_writer *writer, int dir, valise_str path, valise_error *err);
void vls_stage_home(vls_writer *writer);

/* Look through what a restore that was killed left: what some checkpoint has goes, anything else is
 * put aside, to be found. What nobody made here is left alone. */
int vls_stage_tidy(vls_writer *writer, valise_error *err);

/* renameat2; where a disk cannot tell whether something is there, by a second name or by a look
 * just before. It cannot exchange then: EINVAL. */
int vls_stage_move(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);

/* Of what lies in the stage: its hash; and put it aside, to be found. */
int vls_stage_hash(valise_id *out, int stage, const char *name, valise_error *err);
int vls_stage_keep(vls_writer *writer, const char *name, valise_error *err);

static inline void vls_auto_writer(vls_writer *writer)
{
    vls_writer_close(writer);
}

#endif
