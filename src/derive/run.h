/* run.h -- one run: slots of directories are made of what is said about what lies in them, for the
 * first time (synthesize) or again (regenerate). [C15] to [C24]
 *
 *     queue     slots, those of deeper paths first: each comes behind all it can be made of
 *     made      frames that are to become heads; what comes later in the queue sees them already
 *     rows      what became of each slot
 *
 * A run reads one state after another (each for a second at most), stores what it made in between,
 * runs programs while none is held (external.c), and moves all heads in one transaction at the end
 * (op_slot_advance.c). Where others wrote meanwhile, what no longer holds is made again.
 *
 * Threads: single. */
#ifndef VLS_DERIVE_RUN_H
#define VLS_DERIVE_RUN_H

#include <valise/derive.h>

#include "base/map.h"
#include "base/sealed.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "context/ops.h"
#include "context/recipe.h"

/* What became of a slot. */
enum {
    VLS_RUN_MADE,         /* another frame, or the same once more where there was a mark */
    VLS_RUN_UNCHANGED,    /* it is what it would be */
    VLS_RUN_NEEDS_AUTHOR, /* somebody wrote it, and it no longer holds */
    VLS_RUN_NEEDS_RUN,    /* a program makes it, and may not now */
    VLS_RUN_UNKNOWN,      /* nobody here knows its policy */
    VLS_RUN_ORPHANED,     /* there is nothing it could be about */
    VLS_RUN_OUT_OF_SCOPE, /* it no longer holds, but is not meant */
    VLS_RUN_MISSING,      /* an entry about which nothing is said */
    VLS_RUN_FAILED,       /* its policy failed */
    VLS_RUN_STALE,        /* an input that is not true any more, and went in */
    VLS_RUN_OUTCOMES,
};
extern const char *const vls_run_outcomes[]; /* NULL-ended */

#define VLS_RUN_ROWS_MAX 1000u /* of each outcome, that are told; more are only counted */

typedef valise_derived_slot vls_derived_row;

typedef struct vls_run_options {
    valise_job *job;
    valise_str path;
    bool recursive;
    int64_t up; /* directories above that are meant too */
    bool dry_run;
    bool programs; /* may be run, where they are trusted */
    bool only_new; /* what nobody looked at since it changed; that it was looked at is remembered */

    /* synthesize: every directory in scope gets a slot of this type by this recipe */
    const vls_recipe *recipe; /* NULL: regenerate */
    valise_str type;
    bool replace;              /* also what somebody wrote */
    bool strict;               /* nothing may be missing or stale */
    const vls_sealed *program; /* that of the recipe, which may run; NULL: none */
    bool verify;               /* run it twice, and even where it need not run */
} vls_run_options;

typedef struct vls_run_report {
    valise_list rows; /* of const vls_derived_row *, in the order in which they were looked at;
                         missing and stale ones behind all others */
    int64_t counts[VLS_RUN_OUTCOMES];
    valise_id root;  /* of the context, afterwards */
    valise_id frame; /* synthesize: that of the target */
} vls_run_report;

/* What the report holds is in the job's memory. */
int vls_derive_run(vls_run_report *out, const vls_run_options *options, valise_error *err);

#endif
