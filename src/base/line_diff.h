/* line_diff.h -- which lines of two texts differ, and how to write that down.
 *
 * A line ends with '\n', except for the rest after the last one. The '\n' belongs to the line, so a
 * last line without it differs from the same line with it.
 *
 *     vls_line_diff_make    the changes: ranges of lines of the old text, and what stands there now
 *     vls_unified_write     as diff -u has it, without the two lines on top
 *
 * The changes are as few as possible (Myers' algorithm, in linear space), as long as the effort
 * stays within its limit. Effort is counted in steps and not in time, so equal texts give equal
 * changes everywhere. Beyond the limit, a part of the text is reported as changed although less of
 * it may be; the changes are still correct, and `exact` is then false.
 *
 * Threads: single; immutable once made. */
#ifndef VLS_LINE_DIFF_H
#define VLS_LINE_DIFF_H

#include "base/buf.h"
#include "base/vec.h"

#define VLS_DIFF_TEXT_MAX ((size_t)64 << 20) /* bytes of a text */
#define VLS_DIFF_LINES_MAX ((size_t)1 << 20) /* and lines */
#define VLS_DIFF_STEPS_USUAL ((uint64_t)200000000)
#define VLS_UNIFIED_AROUND 3u

/* old_count lines from old_at on (counted from 0) became new_count lines from new_at on. One of the
 * counts may be 0. */
typedef struct vls_line_change {
    uint32_t old_at, old_count, new_at, new_count;
} vls_line_change;

typedef struct vls_lines {
    valise_str text;  /* borrowed */
    uint32_t *starts; /* count + 1 offsets: the last is the end */
    uint32_t count;
} vls_lines;

typedef struct vls_line_diff {
    const valise_env *env;
    vls_lines old, new;
    vls_vec(vls_line_change) changes; /* in order; lines between two of them are equal */
    bool exact;                       /* no fewer lines could have been deleted and inserted */
} vls_line_diff;

/* Borrows the texts. steps: the limit of the effort; 0: the usual one. VALISE_E_TOO_LARGE for texts
 * that are over the limits above. */
int vls_line_diff_make(vls_line_diff *out, const valise_env *env, valise_str old, valise_str new,
                       uint64_t steps, valise_error *err);
void vls_line_diff_release(vls_line_diff *diff); /* a zeroed one is fine */

static inline void vls_auto_line_diff(vls_line_diff *diff)
{
    vls_line_diff_release(diff);
}

/* Line number i, with its end. */
static inline valise_str vls_line(const vls_lines *lines, size_t i)
{
    return (valise_str){lines->text.ptr + lines->starts[i],
                        lines->starts[i + 1] - lines->starts[i]};
}

/* Append the changes in the format of `diff -u`, with up to `around` lines before and behind them;
 * those that are near become one. The buffer remembers a failure. */
void vls_unified_write(vls_buf *out, const vls_line_diff *diff, uint32_t around);

/* Is it no text: a NUL among the first bytes? As git has it. */
bool vls_text_is_binary(valise_str bytes);

#endif
