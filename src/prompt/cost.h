/* cost.h -- what parts cost, in tokens of our own count (base/tokens.h). [P7] [P16]
 *
 * Of JSON around a text nothing is counted but a few tokens for each block and message, as chat
 * formats need them.
 *
 * Threads: pure functions. */
#ifndef VLS_PROMPT_COST_H
#define VLS_PROMPT_COST_H

#include "json/json.h"

#define VLS_COST_MESSAGE 4
#define VLS_COST_BLOCK 4

int64_t vls_block_cost(vls_json block); /* of media without a text: nothing */
int64_t vls_media_cost(valise_str media_type, int64_t size);
int64_t vls_turn_cost(vls_json blocks); /* a message with these blocks */
int64_t vls_value_cost(vls_json value); /* as JSON: arguments, tools, items */
int64_t vls_text_cost(valise_str text); /* a block of text */

#endif
