/* valise/derive.h -- frames made from frames, and whether frames still hold.
 *
 *     valise_derived *made = NULL;
 *     valise_synthesize_options how = VALISE_SYNTHESIZE_OPTIONS_INIT;
 *
 *     how.flags = VALISE_DERIVE_RECURSIVE;
 *     rc = valise_synthesize(&made, v, "lib", &how, NULL, err);      innermost directories first
 *     valise_derived_free(made);
 *     ...                                                            files and frames change
 *     rc = valise_regenerate(&made, v, "lib", NULL, NULL, err);      remake what no longer holds
 *     valise_derived_free(made);
 *
 * Nodes, frames, slots and heads are those of valise/context.h. Synthesize makes a frame about a
 * directory from the frames about its entries. It is a frame like any other and keeps its recipe;
 * regenerate uses the recipe to make the frame again when, and only when, its inputs have changed.
 * A frame that somebody wrote is never remade: reaffirm says that it still holds. Invalidate says
 * that frames are not to be relied on.
 *
 * Each of these functions is an operation that takes structs in place of JSON, with the same
 * checks, log entries and events. `call` (valise/workspace.h) says who acts and who is told the
 * progress; NULL: as the handle says.
 *
 * Results handed out through ** are one block each: everything a result points to is freed with it.
 * A result never changes, any thread may read it, and it may outlive the handle.
 *
 * Threads: many threads may call these functions on one handle. Results are immutable. */
#ifndef VALISE_DERIVE_H
#define VALISE_DERIVE_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/id.h>
#include <valise/workspace.h>

VALISE_BEGIN

/* ---- runs ---- */

/* What happened to a slot. */
enum {
    VALISE_DERIVED_MADE,         /* it has another frame, or the same again without its mark */
    VALISE_DERIVED_UNCHANGED,    /* making it again gives the same frame */
    VALISE_DERIVED_NEEDS_AUTHOR, /* somebody wrote it, and it no longer holds */
    VALISE_DERIVED_NEEDS_RUN,    /* a program makes it, and may not run now */
    VALISE_DERIVED_UNKNOWN,      /* its policy is unknown here */
    VALISE_DERIVED_ORPHANED,     /* its node no longer exists */
    VALISE_DERIVED_OUT_OF_SCOPE, /* it no longer holds, but lies outside what was asked for */
    VALISE_DERIVED_MISSING,      /* an entry without frames */
    VALISE_DERIVED_FAILED,       /* its policy failed */
    VALISE_DERIVED_STALE,        /* an input that no longer holds, but was used */
};

typedef struct valise_derived_slot {
    valise_str path, type;
    int64_t outcome;         /* VALISE_DERIVED_... */
    valise_id before, after; /* MADE, UNCHANGED: the heads; zero: none */
    valise_str why;          /* FAILED: what went wrong; NEEDS_RUN: the program; else ptr NULL */
} valise_derived_slot;

typedef struct valise_derived {
    /* In the order in which they were looked at; the first 1,000 of each outcome. */
    const valise_derived_slot *const *items;
    size_t count;
    int64_t made, unchanged, needs_author, needs_run, unknown, orphaned, out_of_scope;
    int64_t missing; /* entries without frames */
    int64_t stale;   /* inputs that no longer hold */
    int64_t failed;  /* could not be made, and are unchanged */
    valise_id frame; /* synthesize: the frame about the directory; zero: none */
    valise_id context_root;
} valise_derived;

/* Free the result of a run; NULL is fine. */
VALISE_API void valise_derived_free(valise_derived *derived);

enum {
    VALISE_DERIVE_RECURSIVE = 1,  /* everything below it as well */
    VALISE_DERIVE_DRY_RUN = 2,    /* report what would be made */
    VALISE_DERIVE_NO_SCAN = 4,    /* do not check the files first */
    VALISE_DERIVE_STRICT = 8,     /* synthesize: fail if something is missing or stale */
    VALISE_DERIVE_REPLACE = 16,   /* synthesize: also replace what somebody wrote */
    VALISE_DERIVE_FRESH = 32,     /* synthesize: use only inputs that hold */
    VALISE_DERIVE_RUN = 64,       /* regenerate: run the programs that made frames, if trusted */
    VALISE_DERIVE_VERIFY = 128,   /* synthesize: run the program twice, and fail if the results
                                     differ */
    VALISE_DERIVE_ONLY_NEW = 256, /* regenerate: only what changed since the last run */
};

/* Fields that are said to be globs take * for any text. */
typedef struct valise_synthesize_options {
    size_t size;
    unsigned flags;          /* VALISE_DERIVE_... */
    valise_str type;         /* type of the frames that go in, a glob; "": "notes" */
    valise_str output;       /* type of the result; "": that of the inputs */
    valise_str policy;       /* "": "concatenation" */
    valise_str params;       /* of the policy, JSON; "": none */
    valise_str name;         /* names of the entries to use, a glob; "": all */
    valise_str by_agent;     /* authors of the frames to use, a glob; "": all */
    int64_t max_size, limit; /* most bytes of a frame, most frames; 0: any */
    /* A program to run in place of a policy, as an absolute path. The user must trust it (`valise
     * trust`). "": none. */
    valise_str program;
} valise_synthesize_options;

#define VALISE_SYNTHESIZE_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(valise_synthesize_options), 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0},          \
            {NULL, 0}, {NULL, 0}, 0, 0,                                                            \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* Synthesize: make a frame about a directory from the frames about its entries. The same inputs
 * give the same frame, and a second run writes nothing. All heads move together, or none.
 * VALISE_E_NOT_FOUND: there is no such node or policy; VALISE_E_CONFLICT: somebody wrote the frame
 * that is there (see REPLACE), something is missing or stale (see STRICT), or others kept writing.
 * out and options may be NULL. Operation context:synthesize. */
VALISE_API int valise_synthesize(valise_derived **out, valise *v, const char *node,
                                 const valise_synthesize_options *options, const valise_call *call,
                                 valise_error *err);

typedef struct valise_regenerate_options {
    size_t size;
    unsigned flags; /* VALISE_DERIVE_... */
    int64_t up;     /* how many directories above it as well */
} valise_regenerate_options;

#define VALISE_REGENERATE_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(valise_regenerate_options), 0, 0                                                    \
    }

/* Regenerate: use their recipes to make every frame again whose inputs have changed or that was
 * invalidated. If a new frame says the same as the old one, the frames made from it are left alone.
 * Frames that need their author are listed. All heads move together, or none. VALISE_E_NOT_FOUND;
 * VALISE_E_CONFLICT: others kept writing. out and options may be NULL. Operation
 * context:regenerate. */
VALISE_API int valise_regenerate(valise_derived **out, valise *v, const char *node,
                                 const valise_regenerate_options *options, const valise_call *call,
                                 valise_error *err);

/* ---- marks ---- */

typedef struct valise_invalidate_options {
    size_t size;
    unsigned flags;    /* VALISE_DERIVE_RECURSIVE, VALISE_DERIVE_NO_SCAN */
    valise_str type;   /* only the slot of this type; "": all slots of the node */
    valise_str reason; /* "": not given */
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
    int64_t already; /* were marked already */
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

/* Invalidate: mark the heads of a node as not to be relied on. Nothing is deleted.
 * VALISE_E_NOT_FOUND: there are no frames about it. out and options may be NULL. Operation
 * slot:invalidate. */
VALISE_API int valise_invalidate(valise_invalidated *out, valise *v, const char *node,
                                 const valise_invalidate_options *options, const valise_call *call,
                                 valise_error *err);

typedef struct valise_reaffirmed {
    size_t size;
    valise_id frame;         /* the head now */
    valise_id previous_head; /* the head before */
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

/* Reaffirm: say that what somebody wrote about a node still holds. The head becomes a frame with
 * the same content and author, about the node as it is now, without a mark. type NULL: "notes".
 * flags: VALISE_DERIVE_NO_SCAN. VALISE_E_NOT_FOUND: nothing was written; VALISE_E_CONFLICT: the
 * frame was made from others, and regenerate makes it again. out may be NULL. Operation
 * slot:reaffirm. */
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
    unsigned fail_on; /* bits VALISE_REPORT_STALE, ...: `failed` says whether any of these was
                         found */
    int format;       /* MARKDOWN, JUNIT: make a document in this format; else none */
} valise_report_options;

#define VALISE_REPORT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(valise_report_options), 0, VALISE_REPORT_TEXT                                       \
    }

/* The heads of one type, or of one agent. */
typedef struct valise_report_line {
    valise_str name;
    int64_t heads, fresh, stale, invalidated, orphaned;
    int64_t files, dirs; /* with a head that holds */
} valise_report_line;

typedef struct valise_report_item {
    valise_str path, type, agent;
    valise_id frame;
    int64_t state; /* VALISE_STATE_... of valise/context.h; VALISE_NONE for corrupt ones */
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
    valise_report_kind needs_author; /* written by somebody, and stale or marked */
    valise_report_kind corrupt;      /* damaged: their state is unknown */
    const valise_report_line *types, *agents;
    size_t type_count, agent_count;
    bool failed;
    valise_str document; /* ptr NULL: none was asked for */
    valise_id tree_root, context_root;
} valise_report;

/* Free a report; NULL is fine. */
VALISE_API void valise_report_free(valise_report *report);

/* Report how many of the files at and below a path (NULL: all) have frames, and how many of these
 * hold. options may be NULL. VALISE_E_NOT_FOUND. Operation context:report. */
VALISE_API int valise_context_report(valise_report **out, valise *v, const char *path,
                                     const valise_report_options *options, const valise_call *call,
                                     valise_error *err);

VALISE_END

#endif
