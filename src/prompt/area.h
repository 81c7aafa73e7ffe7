/* area.h -- the area: prompts.
 *
 * Threads: immutable tables. */
#ifndef VLS_PROMPT_AREA_H
#define VLS_PROMPT_AREA_H

#include <valise/sys/extension.h>

extern const valise_op *const vls_ops_prompt[]; /* made from src/ops.txt */
extern const valise_extension vls_area_prompt;

#endif
