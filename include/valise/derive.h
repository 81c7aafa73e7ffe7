/* valise/derive.h -- what follows from what is known: frames made of frames, and whether they hold.
 *
 *     valise_derived *made = NULL;
 *     valise_synthesize_options how = VALISE_SYNTHESIZE_OPTIONS_INIT;
 *
 *     how.flags = VALISE_DERIVE_RECURSIVE;
 *     rc = valise_synthesize(&made, v, "lib", &how, NULL, err);      from the innermost outwards
 *     valise_derived_free(made);
 *     ...                                                            files change, others write
 *     rc = valise_regenerate(&made, v, "lib", NULL, NULL, err);      what no longer holds, anew
 *     valise_derived_free(made);
 *
 * Nodes, frames, slots and heads are those of valise/context.h. What synthesize makes of a
 * directory is a frame like any other, with its recipe: regenerate makes it again by that, once
 * what goes in is something else, and only then. What somebody wrote is never made anew; reaffirm
 * says that it still holds, and invalidate that something is not to be relied on.
 *
 * Each of these functions is an operation, called with structs in place of JSON: the same checks,
 * the same log, the same events. `call` (valise/workspace.h) says who acts and who hears of
 * progress; NULL: as the handle says.
 *
 * What is handed out with ** is one block: everything it points to goes with it. It does not change
 * any more, can be read by any thread, and may outlive the handle it came from.
 *
 * Threads: all functions may be called on one handle by many threads. Results are immutable. */
#ifndef VALISE_DERIVE_H
#define VALISE_DERIVE_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/id.h>
#include <valise/workspace.h>

VALISE_BEGIN

/* ---- runs ---- */

/* What became of a slot. */
enum {
    VALISE_DERIVED_MADE,         /* another frame, or the same once more where there was a mark */
    VALISE_DERIVED_UNCHANGED,    /* it is what it would be */
    VALISE_DERIVED_NEEDS_AUTHOR, /* somebody wrote it, and it no longer holds */
    VALISE_DERIVED_NEEDS_RUN,    /* a program makes it, and may not now */
    VALISE_DERIVED_UNKNOWN,      /* nobody here knows its policy */
    VALISE_DERIVED_ORPHANED,     /* there is nothing it could be about */
    VALISE_DERIVED_OUT_OF_SCOPE, /* it no longer holds, but was not meant */
    VALISE_DERIVED_MISSING,      /* an entry about which nothing is said */
    VALISE_DERIVED_FAILED,       /* its policy failed */
    VALISE_DERIVED_STALE,        /* an input that is not true any more, and went in */
};

typedef struct valise_derived_slot {
    valise_str path, type;
    int64_t outcome;   /* VALISE_DERIVED_... */
    valise_id was, is; /* MADE, UNCHANGED: heads; zero: none */
    valise_str why;    /* FAILED, NEEDS_RUN: what went wrong, the program; else ptr NULL */
} valise_derived_slot;

typedef struct valise_derived {
    const valise_derived_slot *const *items; /* in the order they were looked at; the first 1,000 of
                                                each outcome */
    size_t count;
    int64_t made, unchanged, needs_author, needs_run, unknown, orphaned, out_of_scope;
    int64_t missing; /* entries about which nothing is said */
    int64_t stale;   /* inputs that no longer hold */
    int64_t failed;  /* could not be made, and are as they were */
    valise_id frame; /* synthesize: the frame of the directory; zero: none */
    valise_id context_root;
} valise_derived;

VALISE_API void valise_derived_free(valise_derived *derived); /* NULL is fine */

enum {
    VALISE_DERIVE_RECURSIVE = 1,  /* what lies under it, too */
    VALISE_DERIVE_DRY_RUN = 2,    /* say what would be made */
    VALISE_DERIVE_NO_SCAN = 4,    /* do not look at the files first */
    VALISE_DERIVE_STRICT = 8,     /* synthesize: fail where something is missing or stale */
    VALISE_DERIVE_REPLACE = 16,   /* synthesize: also what somebody wrote */
    VALISE_DERIVE_FRESH = 32,     /* synthesize: only of what holds */
    VALISE_DERIVE_RUN = 64,       /* regenerate: run programs that made frames, where trusted */
    VALISE_DERIVE_VERIFY = 128,   /* synthesize: run the program twice, refuse a difference */
    VALISE_DERIVE_ONLY_NEW = 256, /* regenerate: what nobody looked at since it changed */
};

/* The text fields are globs where it says so: * stands for anything. */
typedef struct valise_synthesize_options {
    size_t size;
    unsigned flags;          /* VALISE_DERIVE_... */
    valise_str type;         /* of frames of files that go in, a glob; "": "notes" */
    valise_str output;       /* of what comes out; "": as what goes in */
    valise_str policy;       /* "": "concatenation" */
    valise_str params;       /* of the policy, JSON; "": none */
    valise_str name;         /* of entries that count, a glob; "": all */
    valise_str by_agent;     /* whose frames count, a glob; "": all */
    int64_t max_size, limit; /* bytes of a frame, and how many frames, at most; 0: any */
    valise_str program;      /* absolute path of one in place of a policy; the user must
                                trust it (`valise trust`); "": none */
} valise_synthesize_options;

#define VALISE_SYNTHESIZE_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(valise_synthesize_options), 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0},          \
            {NULL, 0}, {NULL, 0}, 0, 0,                                                            \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* Say of a directory what is said of what lies in it. The same inputs give the same frame, and a
 * second run writes nothing. All heads move at once, or none. VALISE_E_NOT_FOUND: no such node or
 * policy; VALISE_E_CONFLICT: somebody wrote what is there (REPLACE), something is missing (STRICT),
 * or others kept writing. out and options may be NULL. context:synthesize */
VALISE_API int valise_synthesize(valise_derived **out, valise *v, const char *node,
                                 const valise_synthesize_options *options, const valise_call *call,
                                 valise_error *err);

typedef struct valise_regenerate_options {
    size_t size;
    unsigned flags; /* VALISE_DERIVE_... */
    int64_t up;     /* so many directories above it, too */
} valise_regenerate_options;

#define VALISE_REGENERATE_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(valise_regenerate_options), 0, 0                                                    \
    }

/* Make again, by its recipe, what was made of something that has changed or was invalidated; where
 * the result says the same, what lies above is left alone. What needs its author is listed. All
 * heads move at once, or none. VALISE_E_NOT_FOUND; VALISE_E_CONFLICT: others kept writing. out and
 * options may be NULL. context:regenerate */
VALISE_API int valise_regenerate(valise_derived **out, valise *v, const char *node,
                                 const valise_regenerate_options *options, const valise_call *call,
                                 valise_error *err);

/* ---- marks ---- */

typedef struct valise_invalidate_options {
    size_t size;
    unsigned flags;    /* VALISE_DERIVE_RECURSIVE */
    valise_str type;   /* only the slot of this type; "": all of the node's */
    valise_str reason; /* "": not told */
} valise_invalidate_options;

#define VALISE_INVALIDATE_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(valise_invalidate_options), 0, {NULL, 0},                                           \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

typedef struct valise_invalidated {
    size_t size;
    int64_t marked;
    int64_t already; /* that were before */
    valise_id context_root;
} valise_invalidated;

#define VALISE_INVALIDATED_INIT                                                                    \
    {                                                                                              \
        sizeof(valise_invalidated), 0, 0,                                                          \
        {                                                                                          \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* Say that what is said about a node is not to be relied on: its heads are marked, and nothing is
 * deleted. VALISE_E_NOT_FOUND: nothing is said about it. out and options may be NULL.
 * slot:invalidate */
VALISE_API int valise_invalidate(valise_invalidated *out, valise *v, const char *node,
                                 const valise_invalidate_options *options, const valise_call *call,
                                 valise_error *err);

typedef struct valise_reaffirmed {
    size_t size;
    valise_id frame;         /* the head now */
    valise_id previous_head; /* ... and before */
    bool changed;            /* something was written */
    valise_id context_root;
} valise_reaffirmed;

#define VALISE_REAFFIRMED_INIT                                                                     \
    {                                                                                              \
        sizeof(valise_reaffirmed), {{0}}, {{0}}, false,                                            \
        {                                                                                          \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* Say that what was written about a node still holds: the same words by the same author, about the
 * node as it is, without a mark. type NULL: "notes". flags: VALISE_DERIVE_NO_SCAN.
 * VALISE_E_NOT_FOUND: nothing was written; VALISE_E_CONFLICT: it was made of something else, and
 * regenerate makes it again. out may be NULL. slot:reaffirm */
VALISE_API int valise_reaffirm(valise_reaffirmed *out, valise *v, const char *node,
                               const char *type, unsigned flags, const valise_call *call,
                               valise_error *err);

/* ---- how much is known ---- */

enum { VALISE_REPORT_TEXT, VALISE_REPORT_JSON, VALISE_REPORT_MARKDOWN, VALISE_REPORT_JUNIT };

enum { /* What may be wrong with a head, as bits. */
       VALISE_REPORT_STALE = 1,
       VALISE_REPORT_INVALIDATED = 2,
       VALISE_REPORT_ORPHANED = 4,
       VALISE_REPORT_NEEDS_AUTHOR = 8,
       VALISE_REPORT_CORRUPT = 16,
};

typedef struct valise_report_options {
    size_t size;
    unsigned fail_on; /* VALISE_REPORT_STALE, ...: failed says whether there is one of these */
    int format;       /* MARKDOWN, JUNIT: with a document; else without */
} valise_report_options;

#define VALISE_REPORT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(valise_report_options), 0, VALISE_REPORT_TEXT                                       \
    }

/* Heads of a type, or of an agent. */
typedef struct valise_report_line {
    valise_str name;
    int64_t heads, fresh, stale, invalidated, orphaned;
    int64_t files, dirs; /* with one that holds */
} valise_report_line;

typedef struct valise_report_item {
    valise_str path, type, agent;
    valise_id frame;
    int64_t state; /* VALISE_STATE_... of valise/context.h; of what is corrupt VALISE_NONE */
} valise_report_item;

typedef struct valise_report_kind {
    int64_t count;
    const valise_report_item *first; /* the first 100, by path */
    size_t first_count;
} valise_report_kind;

typedef struct valise_report {
    int64_t files, dirs;                 /* in the tree */
    int64_t covered_files, covered_dirs; /* with a head that holds */
    int64_t heads, fresh;
    valise_report_kind stale, invalidated, orphaned;
    valise_report_kind needs_author; /* written, and stale or marked */
    valise_report_kind corrupt;      /* damaged: nobody can tell */
    const valise_report_line *types, *agents;
    size_t type_count, agent_count;
    bool failed;
    valise_str document; /* ptr NULL: none was asked for */
    valise_id tree_root, context_root;
} valise_report;

VALISE_API void valise_report_free(valise_report *report); /* NULL is fine */

/* Count what is known about the files at and under a path (NULL: all), and how much of it holds.
 * options may be NULL. VALISE_E_NOT_FOUND. context:report */
VALISE_API int valise_context_report(valise_report **out, valise *v, const char *path,
                                     const valise_report_options *options, const valise_call *call,
                                     valise_error *err);

VALISE_END

#endif
