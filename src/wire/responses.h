/* responses.h -- OpenAI Responses: what its files share.
 *
 *     {"model","stream"?,"store":false,"include":[...],...,"tools"?,"tool_choice"?,"instructions"?,
 *      "input":[{"type":"message","role":"user","content":[{"type":"input_text",...}]},
 *               {"type":"reasoning","id","summary":[...],"encrypted_content"},
 *               {"type":"function_call","id"?,"call_id","name","arguments"},
 *               {"type":"function_call_output","call_id","output":[...]}]}
 *
 * Nothing is kept there (store: false), so that reasoning goes back encrypted. A block of an answer
 * keeps in meta.openai what its item was:
 *
 *     item_id             of the item
 *     index               its number in the answer: what stood before it can be missed
 *     encrypted_content   reasoning
 *     summary, content    reasoning, where the text of the block does not say them
 *     phase, status, annotations, refusal     messages, where there are any
 *
 *     responses.c          settle and write
 *     responses_read.c     requests, for lint
 *     responses_answer.c   answers, whole and as a stream
 *
 * Threads: pure functions. */
#ifndef VLS_RESPONSES_H
#define VLS_RESPONSES_H

#include "wire/parts.h"

int vls_responses_read(vls_json *out, vls_arena *arena, const vls_adapter *adapter,
                       vls_json request, valise_error *err);
int vls_responses_look(vls_looking *looking, vls_json request, valise_error *err);
int vls_responses_answer(vls_stream *stream, vls_json response, valise_error *err);
int vls_responses_event(vls_stream *stream, valise_str name, vls_json data, valise_error *err);

#endif
