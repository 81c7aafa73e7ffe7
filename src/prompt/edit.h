/* edit.h -- what is done to the blocks of a turn on their way into a prompt.
 *
 * Threads: single. */
#ifndef VLS_PROMPT_EDIT_H
#define VLS_PROMPT_EDIT_H

#include "prompt/part.h"

/* The block with its edits, in memory of the arena; 0 when it is not there any more, else 1. from:
 * where in part->edits those of this block begin; it is left behind them. *reason: of the last one
 * that changed it, NULL where none did. Edits that do not fit what the block is are passed over:
 * the text is gone, not the prompt. */
int vls_edit_block(vls_json *out, const char **reason, vls_arena *arena, const vls_part *part,
                   vls_json block, int32_t number, size_t *from, valise_error *err);

/* A text block. */
int vls_text_block(vls_json *out, vls_arena *arena, valise_str text, valise_error *err);

#endif
