/* notes.h -- what an import tells of what it did not take: types nobody understands, with counts,
 * and problems, with their place in the file.
 *
 * Threads: single. */
#ifndef VLS_EXCHANGE_NOTES_H
#define VLS_EXCHANGE_NOTES_H

#include "base/vec.h"

#define VLS_NOTES_PROBLEMS 100u /* that are told one by one */
#define VLS_NOTES_TYPES 256u    /* that are counted one by one; the rest is "other" */
#define VLS_NOTES_TYPE_MAX 128u /* bytes of one */

typedef struct vls_note_type {
    valise_str type;
    int64_t count;
} vls_note_type;

typedef struct vls_note_problem {
    valise_str file; /* ptr NULL: there is one only */
    int64_t line, offset;
    valise_str message;
} vls_note_problem;

typedef struct vls_notes {
    vls_arena *arena; /* of the whole import */
    bool strict;      /* a problem is an error */
    valise_str file;
    vls_vec(vls_note_type) types;
    vls_vec(vls_note_problem) problems;
    int64_t problem_count;
    int64_t orphans; /* results that no call was found for */
} vls_notes;

int vls_notes_unknown(vls_notes *notes, valise_str type, valise_error *err);

/* 0, and it is noted; with strict VALISE_E_INVALID. */
int vls_notes_problem(vls_notes *notes, uint64_t line, uint64_t offset, valise_error *err,
                      const char *format, ...) VALISE_PRINTF(5, 6);

#endif
