/* edit.h -- what is done to the blocks of a turn on their way into a prompt.
 *
 * Threads: single. */
#ifndef VLS_PROMPT_EDIT_H
#define VLS_PROMPT_EDIT_H

#include "prompt/part.h"

/* What a blob says that is text, or the word that stands for it. */
typedef int vls_file_text_fn(valise_str *out, void *arg, const vls_part *part,
                             const vls_prompt_edit *edit, const valise_id *blob, valise_error *err);

typedef struct vls_editing {
    vls_arena *arena;
    const vls_part *part;
    vls_file_text_fn *file_text; /* NULL: it does not matter what files say */
    void *arg;
} vls_editing;

/* The block with its edits, in memory of the arena; 0 when it is not there any more, else 1. from:
 * where in the part's edits those of this block begin; it is left behind them. *reason: of the last
 * one that changed it, NULL where none did. Edits that do not fit what the block is are passed
 * over: the text is gone, not the prompt. */
int vls_edit_block(vls_json *out, const char **reason, const vls_editing *editing, vls_json block,
                   int32_t number, size_t *from, valise_error *err);

/* A text block. */
int vls_text_block(vls_json *out, vls_arena *arena, valise_str text, valise_error *err);

#endif
